/*
 * Decides, in order of file start, which candidates become files. Serial, so that the result never
 * depends on threads. All candidates of one start are decided together. One thread.
 */
#ifndef BURIN_CARVE_DECIDE_H
#define BURIN_CARVE_DECIDE_H

#include "carve/check.h"

struct decide_options {
	bool nested;                             /* keep what starts inside a complete file */
	bool strict;                             /* keep complete files only */
	bool any_order;                          /* candidates do not come in order of start */
	uint64_t max_files, max_bytes;           /* in all; 0: no limit */
	uint64_t max_files_type, max_bytes_type; /* of each rule */
	uint64_t searched_len; /* bytes that are searched: bounds the checks' work; 0: no bound */
};

struct quota_state {
	uint64_t kept_bytes;
	uint64_t over_files, over_bytes; /* left out for max_bytes */
	bool other;                      /* something was left out for another quota */
};

struct decider;
struct tallies;

/* A candidate and the outcome of its check. */
struct decision {
	const struct candidate *candidate;
	const struct outcome *outcome;
	bool keep; /* result */
	bool unused; /* result: it is hidden or a part, so the outcome, if there is one, says nothing */
	bool unchecked;  /* result: its check took more work than its rule had left */
	bool over_quota; /* result: it was left out for a limit */
	bool overlaps;   /* result: it starts in an unverified part of a complete file... */
	uint64_t outer;  /* ... which starts there */
};

/* rejected, skipped: where candidates that are not kept are counted. These and the rules must outlive it. Never NULL. */
struct decider *decider_new(const struct rules *rules, const struct decide_options *options,
	struct tallies *rejected, struct tallies *skipped);
/* Decides on all candidates of one start, in order of rule; count at least 1. Sets keep in each.
 * Groups come in order of start. */
void decide_group(struct decider *decider, struct decision *decisions, size_t count);
/* Whether a candidate already decided on named this one as its part (view_part): then its outcome
 * is not used, and its check need not be made. */
bool decider_is_part(const struct decider *decider, const struct candidate *candidate);
/* Whether candidates that start there are known to be hidden, whatever their check would find. */
bool decider_hides(const struct decider *decider, uint64_t start);
/* All undecided candidates that start before this are. */
uint64_t decider_hidden_until(const struct decider *decider);
/* Another process has decided that what starts before this is hidden. */
void decider_hide(struct decider *decider, uint64_t until);
/* If the candidate is already known to be hidden, counts it as such and returns true: it needs no
 * check and no decision. */
bool decider_skip_hidden(struct decider *decider, const struct candidate *candidate);
/* Counts as many as hidden: they start before decider_hidden_until. */
void decider_skip_many(struct decider *decider, uint64_t count);
/* Decides on `count` candidates that are next and all hidden, of which the last starts at `start`. */
void decider_pass_hidden(struct decider *decider, uint64_t start, size_t count);
/* The most work that the candidate's check may take: a check that takes more will be found
 * unchecked when it is decided on. */
uint64_t decider_work_left(const struct decider *decider, const struct candidate *candidate);
/* Whether that is too little: then the decision on the candidate, which is next, uses no outcome. A rule that has too little
 * for one check saves until it has enough for several (DECIDE_SAVED), so that these can be made together. */
#define DECIDE_SAVED (4 * CHECK_WORK_LEAST)
bool decider_is_spent(const struct decider *decider, const struct candidate *candidate);
/* At least decider_work_left, when the check starts, by any thread and however far ahead of the decisions. */
uint64_t decider_work_cap(const struct decider *decider, const struct candidate *candidate);
/* For any thread: units that a check of the rule took which was made (begin), but is not decided on or dropped yet (end). */
void decider_begin_pending(struct decider *decider, uint32_t rule, uint64_t work);
void decider_end_pending(struct decider *decider, uint32_t rule, uint64_t work);
/* For any thread: the work that the candidate's check may take ahead of its decision, which is a share of what those
 * leave of decider_work_cap. 0: too little for several checks, so that it had better wait until they are decided on, or
 * each batch would end after a check or two. next: it is made right after one that everything waits for, by the same
 * thread: then it may take DECIDE_SAVED all the same. */
uint64_t decider_work_ahead(
	const struct decider *decider, const struct candidate *candidate, bool next);
/* For any thread: whether others have taken so much since it began that too little is left for one check. */
bool decider_seems_spent(
	const struct decider *decider, const struct candidate *candidate, bool next);
/* How many checks may be under way at the same time; 1 before. */
void decider_share_work(struct decider *decider, unsigned checks);
/* How many candidates were found unchecked. */
uint64_t decider_unchecked(const struct decider *decider);
/* Candidates that are left out because their checks crashed, and the first of them. */
#define CRASHES_NAMED 8
struct crashed_checks {
	uint64_t count;
	struct {
		uint64_t start; /* in the image */
		uint32_t rule;
	} first[CRASHES_NAMED];
};
const struct crashed_checks *decider_crashed(const struct decider *decider);
/* Adds, for each rule, how many checks it was charged for and their work. The same whatever engine,
 * threads and processes made the checks. */
void decider_tally_checks(const struct decider *decider, struct tallies *checks);
/* What was kept so far, and what was left out for quotas. */
void decider_quota(const struct decider *decider, struct quota_state *quota);
/* Just past the last start that was decided on. */
uint64_t decider_position(const struct decider *decider);
/* For a checkpoint. */
void decider_save(const struct decider *decider, struct codec_writer *writer);
/* Into a new one of the same rules and options. limit: the image's size. */
void decider_load(struct decider *decider, uint64_t limit, struct codec_reader *reader);
/* NULL is fine. */
void decider_free(struct decider *decider);

#endif
