/* Looks at a candidate's bytes: what its rule demands, its length field, its carver. Has no side
 * effects and runs in parallel. */
#ifndef BURIN_CARVE_CHECK_H
#define BURIN_CARVE_CHECK_H

#include "carve/pair.h"
#include "carve/view.h"

struct outcome {
	enum verdict verdict; /* CARVE_REJECT: finding.why says why */
	uint64_t length;      /* bytes, inside the image; 0 when rejected */
	enum file_end end;
	struct finding finding;
	uint64_t *
		parts; /* offsets in the image of what the carver called parts of this file (view_part), rising */
	size_t part_count;
	uint64_t *embedded; /* the same of view_embedded, in any order */
	size_t embedded_count;
};

/* Frees what it holds. */
void outcome_free(struct outcome *outcome);
/* Copies what it holds, too. */
struct outcome outcome_copy(const struct outcome *outcome);
/* Bytes of that. */
size_t outcome_extra_len(const struct outcome *outcome);

/* True when the rule has something to be checked by reading the image. */
bool check_needed(const struct rule *rule);

/* Fills outcome, whatever it held before. view: scratch of the calling thread. */
void check_candidate(struct view *view, struct image *image, const struct rule *rule,
	const struct candidate *candidate, struct outcome *outcome);

#endif
