/* Tracker modules: songs made of patterns and samples, to which their headers point. */
#ifndef BURIN_CARVERS_MEDIA_TRACKER_PARTS_H
#define BURIN_CARVERS_MEDIA_TRACKER_PARTS_H

#include <stdbool.h>

#include "carver.h"

struct tracker {
	struct view *view;
	struct finding *finding;
	uint64_t head_end; /* the header and its tables: other parts begin after them */
	uint64_t end;      /* of the part that ends last so far */
	uint64_t samples;  /* where the first samples begin; 0: none so far */
	bool coded;        /* some samples are compressed */
	const char *wrong; /* the first part that is not one; NULL: none */
	uint64_t wrong_at;
};

/* Adds a part of len bytes, and looks at its first peek_len (at most len). NULL: they are not all there, or the
 * part overlaps the header, which is noted. */
const uint8_t *tracker_part(
	struct tracker *tracker, const char *name, uint64_t at, uint64_t len, size_t peek_len);

/* Adds samples, which nothing verifies. */
void tracker_samples(struct tracker *tracker, uint64_t at, uint64_t len);

/* Notes that the part at `at` is not what its name says. */
void tracker_wrong(struct tracker *tracker, const char *name, uint64_t at);

/* The verdict on a module all of whose parts were added. */
enum verdict tracker_judge(struct tracker *tracker);

#endif
