/* What a run that did not come to its end has left in its output folder, as far as one must know it
 * to resume the run. */
#ifndef BURIN_RUN_RUN_LEFT_H
#define BURIN_RUN_RUN_LEFT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/codec.h"

struct run_left {
	bool batch;       /* several images, each with a folder of its own in this one */
	char *directory;  /* in which the run was started */
	char *image_path; /* as given; "" for a batch */
	int exit;         /* the code of a run that has come to its end */
	char **arguments; /* the command line, ended by NULL */
};

enum run_left_kind {
	RUN_LEFT_RESUMABLE,
	RUN_LEFT_FINISHED, /* nothing is left to do */
	RUN_LEFT_NOTHING,  /* it can't be resumed: no checkpoint is there */
};

/* Looks into an output folder. *left is the caller's when the result is RUN_LEFT_RESUMABLE. A
 * negative errno with error set when the checkpoint can't be read, or is damaged. */
int run_left_find(struct run_left *left, const char *output, struct error *error);
/* Whether a run in the folder can be resumed. */
bool run_left_is_there(const char *output);
void run_left_free(struct run_left *left);

/* The head of a checkpoint. */
void run_left_put(
	struct codec_writer *writer, bool batch, const char *image_path, char **arguments);
/* What comes next in the reader is the head. */
void run_left_get(struct run_left *left, struct codec_reader *reader);
/* Opens the checkpoint in a folder. -ENOENT, without words, when there is none; else a negative
 * errno with error set. Returns the descriptor. */
int run_left_open(
	int dir_fd, const char *output, struct codec_reader **reader, struct error *error);

/* Notes that a batch has begun in the folder, which is made where it is missing. Error when one was
 * left there. */
int run_left_begin_batch(const char *output, char **arguments, struct error *error);
void run_left_end_batch(const char *output);

#endif
