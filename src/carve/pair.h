/*
 * From hits to candidates: headers become file starts, each header is paired with a footer by its
 * rule's mode, and candidates come out in the order of (file start, rule, pattern). Streaming:
 * memory is bounded by the headers that still wait for a footer, and past a limit these go to a
 * file.
 */
#ifndef BURIN_CARVE_PAIR_H
#define BURIN_CARVE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/codec.h"
#include "carve/candidate.h"
#include "carve/fifo.h"
#include "rules/rules.h"

struct tallies;

struct pairing_options {
	bool both;      /* Scalpel's -b: keep a FORWARD header without a footer in range */
	uint64_t align; /* only file starts at multiples of it; 0 or 1: anywhere */
	/* Translates an offset of the searched image to the evidence, where starts are to be
	 * aligned. NULL: the two are the same. */
	uint64_t (*to_evidence)(const void *context, uint64_t offset);
	const void *context;
	bool scalpel; /* no carvers and no length fields: every rule pairs as in Scalpel */
	/* Only rules that have a check and need no footer: for a process that sees only some of
	 * the hits. */
	bool precheck;
	uint64_t range_start, range_end; /* only files that start in it; range_end 0: no bound */
};

struct pairing;

/* A rule that uses a pattern, as a header or as a footer. */
struct pattern_use {
	uint32_t rule;
	bool header;
};

/* The rules and the store stay the caller's. rejected, skipped: where dropped candidates are
 * counted. One thread. */
struct pairing *pairing_new(const struct rules *rules, const struct pairing_options *options,
	struct fifo_store *store, struct tallies *rejected, struct tallies *skipped);

/* Whether candidates of the rule get their length from a footer, or need one. */
bool pairing_needs_footer(const struct rule *rule, bool scalpel);

/* A hit, in order of (offset, pattern). match_len: bytes of the match (a regex varies). */
void pairing_hit(struct pairing *pairing, uint64_t offset, uint32_t pattern, uint32_t match_len);
/* The same for a hit whose candidate of that rule was checked: it gets the rejection. */
void pairing_checked_hit(struct pairing *pairing, uint64_t offset, uint32_t pattern,
	uint32_t match_len, uint32_t rule, uint32_t rejection);
/* All hits that start before position have been given. */
void pairing_advance(struct pairing *pairing, uint64_t position);
/* There are no more hits. */
void pairing_finish(struct pairing *pairing);

/* The next candidate whose length is known. False when more must be scanned first, or when there
 * are no more. */
bool pairing_next(struct pairing *pairing, struct candidate *candidate);

/* Drops the next candidates that start before the position, as far as their lengths are known. Returns their number. */
uint64_t pairing_skip(struct pairing *pairing, uint64_t position);

/* For hits that are never given (carve/held_hits.h): */
/* The rules that use the pattern, count of them. */
const struct pattern_use *pairing_uses(
	const struct pairing *pairing, uint32_t pattern, uint32_t *count);
/* Whether each of the rule's hits in the range is a candidate that starts there. */
bool pairing_is_plain(const struct pairing *pairing, uint32_t rule);
/* Whether candidates may start there. */
bool pairing_in_range(const struct pairing *pairing, uint64_t start);
/* Whether candidates of the rule, which needs no footer, may start there: in the range, and aligned. */
bool pairing_takes(const struct pairing *pairing, uint32_t rule, uint64_t start);
/* Instead of pairing_hit, for a pattern whose rules are all plain: how many candidates the hit would have made. */
uint32_t pairing_forget(struct pairing *pairing, uint64_t offset, uint32_t pattern);

/* After pairing_next has returned false: all remaining candidates start here or later. */
uint64_t pairing_reached(struct pairing *pairing);
/* Headers that wait. */
uint64_t pairing_pending(const struct pairing *pairing);
/* True for a pattern whose length of match pairing needs. */
bool pairing_wants_length(const struct pairing *pairing, uint32_t pattern);
/* For a checkpoint: everything that follows from the hits so far and has not come out of
 * pairing_next. */
void pairing_save(struct pairing *pairing, struct codec_writer *writer);
/* Into a new pairing of the same rules and options. Invalid values fail the reader. */
void pairing_load(struct pairing *pairing, struct codec_reader *reader);
/* NULL is fine. */
void pairing_free(struct pairing *pairing);

#endif
