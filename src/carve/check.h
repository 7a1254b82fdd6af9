/* Examines a candidate's bytes: what its rule demands, its length field, its carver. Has no side
 * effects and runs in parallel. */
#ifndef BURIN_CARVE_CHECK_H
#define BURIN_CARVE_CHECK_H

#include "carve/candidate.h"
#include "carve/outcome.h"
#include "carve/view.h"

/* True when checking a candidate of the rule means reading the image. */
bool check_needed(const struct rule *rule);

/* Units of work. No check is begun that may cost less. */
#define CHECK_WORK_LEAST ((uint64_t)64 << 10)
/* Whether checks of a rule that took `spent` leave too little of `left` for one more. Then it had better wait for what
 * comes of them, or each of many costly ones would take as much as all of them may. */
static inline bool check_seems_spent(uint64_t spent, uint64_t left)
{
	return left < CHECK_WORK_LEAST || spent > left - CHECK_WORK_LEAST;
}

/* Words the error of an outcome with no_memory. Returns -ENOMEM. */
int check_memory_error(
	struct error *error, const struct rule *rule, const struct candidate *candidate);

/* The outcome that a rule alone determines: of candidates that need no check. The outcome is zeros, or what this has
 * made before. */
void check_nothing(
	const struct image *image, const struct candidate *candidate, struct outcome *outcome);

/* Puts the cause before a reason, of which the end is lost if both do not fit. */
void check_name_cause(char *reason, size_t size, const char *cause);

/* Fills outcome, without freeing what it held before. view: scratch of the calling thread.
 * work_max: units of work that the check may take. */
void check_candidate(struct view *view, struct image *image, const struct rule *rule,
	const struct candidate *candidate, uint64_t work_max, struct outcome *outcome);

/* How to check a file in pieces. The states are for many checks of files that begin with the same bytes,
 * by a rule whose carver can resume; they change nothing of the outcome but its work. */
struct check_options {
	bool thorough;                  /* see view_thorough; without from */
	bool is_trial;                  /* see view_is_trial */
	const struct carve_state *from; /* NULL, or saved by a check of a file with the same
					   from->offset first bytes: the check goes on from there */
	uint64_t tail;                  /* 0, or see view_watch_tail */
	uint64_t spacing; /* 0, or the check saves states, at least this many bytes apart: then
			     view_take_states has them */
};
/* The same for a file in pieces, whose rule has a carver: the carver sees the bytes of the runs
 * (view_point_runs), cut at the rule's max_size. Offsets in the outcome are in the file. options:
 * NULL is fine. */
void check_runs(struct view *view, struct image *image, const struct rule *rule,
	const struct range *runs, size_t run_count, uint64_t work_max,
	const struct check_options *options, struct outcome *outcome);

/* Whether a look at its first bytes may reject a candidate of the rule, by its carver, too, or without. */
bool check_may_be_quick(const struct rule *rule, bool by_carver);
/* The same check, as far as it is quick, by the carver, too, or without, on what the view holds (view_hold) and with little work.
 * True: the candidate is rejected, and outcome is that of check_candidate. False: it must be
 * checked, and outcome means nothing; it must be freed all the same. */
bool check_quickly(struct view *view, struct image *image, const struct rule *rule,
	const struct candidate *candidate, uint64_t work_max, bool by_carver,
	struct outcome *outcome);

#endif
