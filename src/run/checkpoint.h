/*
 * Checkpoints: everything that the rest of a run depends on, in a file of the output folder. A run
 * that did not come to its end is resumed from its last one.
 *
 * The file is a header (how the run was started), the run's traits, and the parts of a table that
 * the run gives: one row a part, in the order of the file.
 *
 * A new checkpoint is written under a temporary name. Before it replaces the last one, all that it
 * says was done must be on the disk; a thread waits for that while the run goes on.
 */
#ifndef BURIN_RUN_CHECKPOINT_H
#define BURIN_RUN_CHECKPOINT_H

#include <stdbool.h>

#include "base/codec.h"
#include "base/error.h"
#include "output/output_dir.h"
#include "run/traits.h"

/* ---- the checkpoints of one run ------------------------------------------------------------ */

/* When a part is loaded: what the set-up needs to know first, what opens the reports, the rest. */
enum checkpoint_stage { CHECKPOINT_SUMS, CHECKPOINT_REPORT, CHECKPOINT_STATE };

/* A row of the table, which name NULL ends. Rows are in the order of their stages. */
struct checkpoint_part {
	const char *name;
	enum checkpoint_stage stage;
	void (*save)(void *run, struct codec_writer *writer);
	/* 0 or a negative errno with error set; what can't have been saved fails the reader. */
	int (*load)(void *run, struct codec_reader *reader, struct error *error);
};

struct checkpoint_options {
	const char *image_path;
	char **arguments; /* the command line, ended by NULL */
	const struct traits *traits;
	struct output_dir *output_dir;
	uint64_t interval; /* milliseconds; 0: none are written */
	const struct checkpoint_part *parts;
	void *run; /* for the parts' functions */
};

struct checkpoint;

/* What options point to must outlive it. Never NULL. One thread. */
struct checkpoint *checkpoint_new(const struct checkpoint_options *options);

/* Opens the folder's checkpoint, compares the traits, and loads CHECKPOINT_SUMS. Returns 0 or a
 * negative errno with error set. */
int checkpoint_resume(struct checkpoint *checkpoint, struct error *error);
/* Whether the one that is resumed from has the parts: the run had begun. */
bool checkpoint_has_parts(const struct checkpoint *checkpoint);
/* Loads the parts of the next stage, if there are any. As checkpoint_resume. */
int checkpoint_load(
	struct checkpoint *checkpoint, enum checkpoint_stage stage, struct error *error);
/* The run has acted on all that was loaded: new checkpoints may be written. */
void checkpoint_loaded(struct checkpoint *checkpoint);

/* From now on checkpoints are written. Writes the first, without parts, unless one exists. */
void checkpoint_begin(struct checkpoint *checkpoint);
/* From now on they have the parts. */
void checkpoint_begin_parts(struct checkpoint *checkpoint);
/* Whether it is time for one, and the disk is done with the last. */
bool checkpoint_is_due(struct checkpoint *checkpoint);
/* It is time for one now. */
void checkpoint_hasten(struct checkpoint *checkpoint);
/* Writes one, after checkpoint_is_due. position: for the log. A failure is logged, and the last
 * one stays: no reason to end the run. */
void checkpoint_write(struct checkpoint *checkpoint, uint64_t position);
/* The run ends early: writes one and waits until it is in its place. */
void checkpoint_write_last(struct checkpoint *checkpoint);
/* The reports are closed. Removes the checkpoint unless the run can be resumed, and returns whether
 * it can. Frees. NULL is fine. */
bool checkpoint_end(struct checkpoint *checkpoint, bool finished);

/* ---- what a run has left in its output folder ---------------------------------------------- */

struct checkpoint_header {
	bool batch;       /* several images, each with a folder of its own in this one */
	char *directory;  /* in which the run was started */
	char *image_path; /* as given; "" for a batch */
	int exit;         /* CHECKPOINT_FINISHED: the run's exit code */
	char **arguments; /* the command line, ended by NULL */
};

enum checkpoint_found {
	CHECKPOINT_RESUMABLE,
	CHECKPOINT_FINISHED, /* nothing remains to be done */
	CHECKPOINT_NONE,     /* there is none, so the run can't be resumed */
};

/* Looks into an output folder. *header is the caller's when the result is CHECKPOINT_RESUMABLE. A
 * negative errno with error set when the checkpoint can't be read, or is damaged. */
int checkpoint_find(struct checkpoint_header *header, const char *output, struct error *error);
/* Whether a run in the folder can be resumed. */
bool checkpoint_exists(const char *output);
/* The next thing in the reader is a header. */
void checkpoint_header_load(struct checkpoint_header *header, struct codec_reader *reader);
void checkpoint_header_free(struct checkpoint_header *header);

/* Notes that a batch has begun in the folder, which is made where it is missing. An error when there
 * is one already that did not come to its end. */
int checkpoint_begin_batch(const char *output, char **arguments, struct error *error);
void checkpoint_end_batch(const char *output);

#endif
