/*
 * From hits to candidates: headers become file starts, headers are paired with footers by their
 * rule's mode, and candidates come out in the order of (file start, rule, pattern). Streaming:
 * memory is bounded by the headers that still wait for a footer, and beyond a limit these lie in
 * a file.
 */
#ifndef BURIN_CARVE_PAIR_H
#define BURIN_CARVE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/codec.h"
#include "carve/fifo.h"
#include "report/record.h"
#include "rules/rules.h"

struct candidate {
	uint64_t start; /* of the file, in the image */
	uint64_t
		length; /* bytes that the pairing allows; beyond the image's end where the maximum reaches beyond */
	uint32_t rule, pattern;
	enum file_end end; /* END_FOOTER, END_NEXT or END_MAX_SIZE: what the length comes from */
	bool chop;         /* cut at max_size because no footer was in range: Scalpel's column */
};

struct pairing_options {
	bool both;      /* Scalpel's -b: keep a FORWARD header without a footer in range */
	uint64_t align; /* only file starts at multiples of it; 0 or 1: anywhere */
	/* Where an offset lies that must be a multiple; NULL: there. */
	uint64_t (*to_evidence)(const void *context, uint64_t offset);
	const void *context;
	bool scalpel; /* no carvers and no length fields: every rule pairs as Scalpel does */
	/* Only of rules whose candidates are checked, and need no footer: for whoever sees some
	 * of the hits. */
	bool precheck;
	uint64_t range_start, range_end; /* only files that start in it; range_end 0: no bound */
};

struct pairing;

/* The rules and the store stay the caller's. tallies: where dropped candidates are counted
 * (rejected and skipped). */
struct pairing *pairing_new(const struct rules *rules, const struct pairing_options *options,
	struct fifo_store *store, struct tallies *rejected, struct tallies *skipped);

/* A hit, in order of (offset, pattern). match_len: bytes of the match (a regex varies). */
void pairing_hit(struct pairing *pairing, uint64_t offset, uint32_t pattern, uint32_t match_len);
/* All hits that start before position have been given. */
void pairing_advance(struct pairing *pairing, uint64_t position);
/* There are no more hits. */
void pairing_finish(struct pairing *pairing);

/* The next candidate, when it is settled: false when more must be scanned first (or all are
 * out). */
bool pairing_next(struct pairing *pairing, struct candidate *candidate);

/* No candidate that starts before this will come any more, after pairing_next has answered
 * false. */
uint64_t pairing_reached(struct pairing *pairing);
/* Headers that wait. */
uint64_t pairing_pending(const struct pairing *pairing);
/* True for a pattern of which pairing wants the length of the match. */
bool pairing_wants_length(const struct pairing *pairing, uint32_t pattern);
/* All that pairing_hit has brought about and pairing_next has not taken out yet. */
void pairing_save(struct pairing *pairing, struct codec_writer *writer);
/* Into a new pairing of the same rules and options. What can't be fails the reader. */
void pairing_load(struct pairing *pairing, struct codec_reader *reader);
void candidate_save(const struct candidate *candidate, struct codec_writer *writer);
/* limit: the image's size; every file starts before. */
void candidate_load(struct candidate *candidate, const struct rules *rules, uint64_t limit,
	struct codec_reader *reader);
/* NULL is fine. */
void pairing_free(struct pairing *pairing);

#endif
