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
	uint64_t max_files, max_bytes;           /* in all; 0: no limit */
	uint64_t max_files_type, max_bytes_type; /* of each rule */
};

struct decider;
struct tallies;

/* A candidate and the outcome of its check. */
struct decision {
	const struct candidate *candidate;
	const struct outcome *outcome;
	bool keep; /* result */
};

struct decider *decider_new(const struct rules *rules, const struct decide_options *options,
	struct tallies *rejected, struct tallies *skipped);
/* Decides on all candidates of one start, in order of rule; count at least 1. Sets keep in each.
 * Groups come in order of start. */
void decide_group(struct decider *decider, struct decision *decisions, size_t count);
/* Whether a candidate already decided on named this one as its part (view_part): then its outcome
 * is not used, and its check need not be made. */
bool decider_is_part(const struct decider *decider, const struct candidate *candidate);
/* Undecided candidates that start before this are hidden whatever their check would find. */
uint64_t decider_hidden_until(const struct decider *decider);
/* Another process has decided that what starts before this is hidden. */
void decider_hide(struct decider *decider, uint64_t until);
/* If the candidate is already known to be hidden, counts it as such and returns true: it needs no
 * check and no decision. */
bool decider_skip_hidden(struct decider *decider, const struct candidate *candidate);
/* True once something was left out for a quota. */
bool decider_quota_reached(const struct decider *decider);
/* For a checkpoint. */
void decider_save(const struct decider *decider, struct codec_writer *writer);
/* Into a new one of the same rules and options. limit: the image's size. */
void decider_load(struct decider *decider, uint64_t limit, struct codec_reader *reader);
/* NULL is fine. */
void decider_free(struct decider *decider);

#endif
