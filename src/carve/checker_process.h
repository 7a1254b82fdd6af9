/*
 * burin-carver (src/checker), as burin sees it: it is started, gets the image and the rules, confines itself,
 * asks for bytes, and ends, or is ended. What it does for burin is said elsewhere: carve/check_worker.h,
 * assemble/confined.h.
 */
#ifndef BURIN_CARVE_CHECKER_PROCESS_H
#define BURIN_CARVE_CHECKER_PROCESS_H

#include "base/channel.h"
#include "base/error.h"
#include "carve/check_messages.h"
#include "carve/defer.h"
#include "carve/lost_processes.h"
#include "evidence/image_share.h"
#include "rules/rules.h"

/* What all processes of a stage are given. */
struct check_workers {
	struct image *image;
	const struct rules *rules;
	struct image_share *share;
	struct defer *defer; /* what all that check share; NULL: nothing */
	bool has_searches;   /* they ask a device; the caller sets it */
	struct lost_processes
		*lost; /* told of those that are lost; the caller sets it; NULL: nobody is */
	struct codec_writer start; /* the message */
};

/* What is given must outlive it, and stay as it is. threads: that put files together; 0: it is for checks. defer: of
 * those for which candidates are checked, as many as workers; or NULL. Never NULL. */
struct check_workers *check_workers_new(struct image *image, const struct rules *rules, bool nested,
	unsigned threads, struct defer *defer, unsigned workers);
/* NULL is fine. */
void check_workers_free(struct check_workers *workers);

/* False with the reason: burin-carver is not where it belongs. */
bool checker_program_is_there(char *reason, size_t reason_len);

/* Zero-initialise. */
struct checker_process {
	struct sandbox_child *child; /* NULL: none was started, or it ended */
	struct check_shared *shared; /* from the first start on, also after the end */
	int shared_fd;
	struct channel channel;
	int searches[CHECK_SEARCHES]; /* other sockets... */
	size_t search_count;          /* ...all of them, or none */
	struct codec_writer writer;   /* scratch for messages */
	unsigned sleeps;              /* times that it was found asleep */
	double used_before;           /* at the last progress; negative: not measured since */
	char how[96]; /* it failed, in words that follow "the check"; "" if it did not */
};

/* From now on channel_receive waits for CHECKER_WATCH_SECONDS at most. Returns 0, or a negative errno with error set
 * (EXIT_IO). */
#define CHECKER_WATCH_SECONDS 0.004
int checker_start(
	struct checker_process *process, const struct check_workers *given, struct error *error);
/* Ends it whatever it is doing: nobody reads from its other sockets any more. */
void checker_end(struct checker_process *process);
/* Ends it, and frees what the struct owns. */
void checker_free(struct checker_process *process);
/* Notes how it failed, and returns false. */
bool checker_fail(struct checker_process *process, const char *how);
/* Answers what it asked. False: it is gone. */
bool checker_answer(struct checker_process *process, int status);
/* Answers CHECK_READ: bytes that are in no plain file, or that it could not read. False: it failed. *cut: whether
 * the image can't be read any longer (image_was_cut). */
bool checker_give_bytes(
	struct checker_process *process, struct image *image, struct codec_reader *body, bool *cut);

/* It gets something to do. */
void checker_begin(struct checker_process *process);
/* It has done a part of it. */
void checker_note_progress(struct checker_process *process);
/* Some ten times a second. seconds: of processor time that the work since the last progress may take. False: it
 * computes without counting, or it does nothing at all. */
bool checker_measure(struct checker_process *process, double seconds);
/* Whether this process has no more memory than the other one may have: one that was taken over must not end the run
 * by saying so. */
bool checker_memory_is_short(void);
/* For outcome_load: an extension that a process names. NULL: it can't be one. Thread-safe. */
const char *checker_keep_extension(const char *text);

#endif
