/*
 * What the passes so far have come to: all that the next one depends on beside the image and what the scan decided. With it
 * a run goes on after it was killed, and a process that makes the passes for another shows what each came to.
 */
#ifndef BURIN_ASSEMBLE_PASS_STATE_H
#define BURIN_ASSEMBLE_PASS_STATE_H

#include "assemble/assemble.h"
#include "assemble/known_trials.h"
#include "assemble/workbench.h"

/* Zero-initialise; pass_state_begin. */
struct pass_state {
	unsigned pass;               /* of strategies[], the next one */
	uint64_t work;               /* of each file in the pass before... */
	bool was_claimed;            /* ...and whether it changed what is taken */
	size_t count;                /* of broken files; for each: */
	struct assembled *found;     /* without runs: not found yet */
	struct known_trials **known; /* NULL: nothing is noted of it */
	bool *spent;                 /* its share of some pass was spent */
	/* While it is loaded: the next file may be that number at least; and room of the trials that are noted. */
	size_t next;
	uint64_t room;
};

/* What files that are loaded must fit. */
struct pass_state_limits {
	const struct broken *broken; /* as many as the state has */
	uint64_t evidence_size;
	uint64_t known_most;                   /* room for trials that are noted, of all files */
	const char *(*keep)(const char *text); /* as for outcome_load */
};

/* Frees a result, and makes it one that was not found. */
void assembled_forget(struct assembled *assembled);
/* For that many files: nothing is found yet. Frees what it had. */
void pass_state_begin(struct pass_state *state, size_t count);
void pass_state_free(struct pass_state *state);

/* Saves what there is of the files from this number on, until the writer, in memory, has `most` bytes. Returns the number of
 * the first file that is not saved. */
size_t pass_state_save_files(
	const struct pass_state *state, size_t from, size_t most, struct codec_writer *writer);
/* What one call has saved, into a state that has begun. Invalid values fail the reader. */
void pass_state_load_files(struct pass_state *state, const struct pass_state_limits *limits,
	struct codec_reader *reader);
/* The files of numbers first, first + step... that one of several processes tries in a pass. */
struct pass_part {
	size_t first, step;
};

/* Saves what the pass under way has come to for those that were tried in it. */
void pass_state_save_part(
	const struct pass_state *state, const struct pass_part *part, struct codec_writer *writer);
/* Takes over what another process has saved of its part. False: nothing was, as it is not valid. */
bool pass_state_take_part(struct pass_state *state, const struct pass_part *part,
	const struct pass_state_limits *limits, struct codec_reader *reader);

/* After the files: the rest. */
void pass_state_save_pass(const struct pass_state *state, struct codec_writer *writer);
void pass_state_load_pass(struct pass_state *state, struct codec_reader *reader);
/* All of it. */
void pass_state_save(const struct pass_state *state, struct codec_writer *writer);
void pass_state_load(struct pass_state *state, const struct pass_state_limits *limits,
	struct codec_reader *reader);

#endif
