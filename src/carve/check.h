/* Examines a candidate's bytes: what its rule demands, its length field, its carver. Has no side
 * effects and runs in parallel. */
#ifndef BURIN_CARVE_CHECK_H
#define BURIN_CARVE_CHECK_H

#include "carve/candidate.h"
#include "carve/view.h"

/* The result of a check. Offsets are in the image. */
struct outcome {
	enum verdict verdict; /* CARVE_REJECT: finding.why says why */
	uint64_t length;      /* bytes, inside the image; 0 when rejected */
	enum file_end end;
	struct finding finding;
	uint64_t *parts; /* what the carver named as parts of this file (view_part), rising */
	size_t part_count;
	uint64_t *embedded; /* the same for view_embedded, in any order */
	size_t embedded_count;
};

/* Frees what it owns, not the outcome itself. */
void outcome_free(struct outcome *outcome);
/* A deep copy. */
struct outcome outcome_copy(const struct outcome *outcome);
/* Bytes that it owns beside itself. */
size_t outcome_extra_len(const struct outcome *outcome);

/* True when checking a candidate of the rule means reading the image. */
bool check_needed(const struct rule *rule);

/* Fills outcome, without freeing what it held before. view: scratch of the calling thread. */
void check_candidate(struct view *view, struct image *image, const struct rule *rule,
	const struct candidate *candidate, struct outcome *outcome);

#endif
