/*
 * From hits to the carving stage: pairs headers with footers (carve/pair.h), puts the candidates in
 * order (with --compat scalpel: in Scalpel's), and offers them to the carving stage. Keeps one that
 * the stage could not take yet.
 */
#ifndef BURIN_RUN_CANDIDATES_H
#define BURIN_RUN_CANDIDATES_H

#include "base/codec.h"
#include "base/error.h"
#include "carve/carving.h"
#include "run/run_options.h"
#include "run/scope.h"

struct candidates;

struct candidates_options {
	const struct run_options *options;
	const struct scope *scope;
	/* Candidates start here or later; before the scope's begin: there. */
	uint64_t begin;
	/* The hits of some part of the image only: no rules whose candidates need a footer, which
	 * may be in another part. */
	bool precheck;
	/* Makes the file for what does not fit into memory (carve/fifo.h); NULL: all must fit. */
	int (*create_spill)(void *context, struct error *error);
	void *context;
	struct tallies *rejected, *skipped; /* reasons why candidates were dropped */
};

/* Returns 0 or a negative errno with error set, as do all that return int. One thread. */
int candidates_new(struct candidates **candidates, const struct candidates_options *options,
	struct error *error);

/* A hit, in order of (offset, pattern). len: bytes of the match, where they are wanted. */
void candidates_hit(struct candidates *candidates, uint64_t offset, uint32_t pattern, uint32_t len);
/* The same, where the candidate of that rule was checked already: it gets the rejection
 * (carve/candidate.h). */
void candidates_checked_hit(struct candidates *candidates, uint64_t offset, uint32_t pattern,
	uint32_t len, uint32_t rule, uint32_t rejection);
/* By pattern: whether the length of a match is wanted. As long as the candidates. */
const bool *candidates_want_lengths(const struct candidates *candidates);
/* All hits before position were given. */
void candidates_advance(struct candidates *candidates, uint64_t position);
/* All hits were given. */
void candidates_finish(struct candidates *candidates);

/* Offers what is settled. The carving stage may refuse a candidate for now (-EAGAIN of
 * carving_offer): it is kept, with all that come after. Ends early when a signal was caught. */
int candidates_offer(struct candidates *candidates, struct carving *carving, struct error *error);
/* The candidate that was refused; NULL when there is none. */
const struct candidate *candidates_refused(const struct candidates *candidates);
/* No candidate that starts before this will come any more. */
uint64_t candidates_reached(const struct candidates *candidates);
/* Found and not offered yet, headers that wait for a footer included. */
uint64_t candidates_waiting(const struct candidates *candidates);

/* For a checkpoint. A failure to read what was spilled fails the writer. candidates_load fills a new
 * object with the same options; what can't be fails the reader. */
void candidates_save(struct candidates *candidates, struct codec_writer *writer);
int candidates_load(
	struct candidates *candidates, struct codec_reader *reader, struct error *error);
/* NULL is fine. */
void candidates_free(struct candidates *candidates);

#endif
