/*
 * The messages between burin and burin-carver (src/checker), which checks candidates for a thread of burin, or
 * puts files in pieces together. Both are of one build, which they check.
 *
 *     burin -> descriptors of the image; that of the reader's ring, where it is shared; that of what those that check
 *              share (carve/defer.h), if they do; other sockets, CHECK_SEARCHES or none; START
 *                                                  burin-carver confines itself -> READY
 *     burin -> CHECK: a batch of candidates        burin-carver -> OUTCOMES, once or more, all in their order
 *     burin -> DESCRIBE: candidates                burin-carver -> DESCRIBED: their coded data (carve/ahead.h)
 *     burin -> TASK, once or more, ASSEMBLE        burin-carver -> after each pass FOUND, any number, and PASSED; before that,
 *                                                  where other processes make a part of it, PART, once or more
 *     burin -> PART, once or more: theirs
 *
 * Meanwhile burin-carver may ask:
 *
 *     READ offset len     burin -> ANSWER status   the bytes are in shared->data
 *     RESERVE bytes       burin -> ANSWER status   when they may be taken
 *     RECORD offset       burin -> ANSWER status, what a file system knows of the file there
 *     KEEP: what a device is asked (assemble/device_server.h)
 *                         burin -> ANSWER status, and if that is 0 what it keeps
 *
 * and, over one of the other sockets that those which put files together have, so that a device has several at a time:
 *
 *     FIND_BREAKS, FIND_CODED
 *                         burin -> ANSWER status, and if that is 0 what it found
 */
#ifndef BURIN_CARVE_CHECK_MESSAGES_H
#define BURIN_CARVE_CHECK_MESSAGES_H

#include <stdatomic.h>
#include <stdint.h>

#include "evidence/shared_image.h"

enum check_message {
	CHECK_START, /* mode of confinement, nested, threads, how many share carve/defer.h, rules (rules_codec), image (image_share) */
	CHECK_READY,
	CHECK_BATCH_IN, /* for which of those that share carve/defer.h, number of the first check, hidden_until, count; each: force, work_max, what is known of its
			   coded data (where it is, its end), candidate */
	CHECK_OUTCOMES, /* of one check or more; each: up to where the start of others may have waited for it, whether it was
			   deferred, or else its outcome */
	CHECK_READ,
	CHECK_RESERVE,
	CHECK_ANSWER,
	CHECK_NO_MEMORY, /* the machine has none: there will be no outcome */
	CHECK_TASK,      /* in parts (base/channel.h): what assembler_save_task saves */
	CHECK_ASSEMBLE, /* whether threads make no trials for each other, so that a crash shows its file; whether there
			   is a device to ask; which part of each pass this process makes, and of how many (0: all of it) */
	CHECK_PART, /* in parts: what struct assemble_others exchanges */
	CHECK_RECORD,
	CHECK_FOUND,     /* what assembler_save_files saves */
	CHECK_PASSED,    /* what assembler_save_pass saves; the last one ends it */
	CHECK_DESCRIBE,  /* number, as of a check; count; candidates */
	CHECK_DESCRIBED, /* each: whether its coded data is described, and then how (coded_codec) */
	CHECK_KEEP, /* size of clusters, where the first one is, and the end of the last; the answer: the first
			    bytes of each that are kept, and of how many */
	CHECK_FIND_BREAKS, /* a search (crc_search_codec); the answer: hits */
	CHECK_FIND_WORDS, /* words, and stretches of the image (word_search_codec); the answer: hits */
	CHECK_FIND_CODED, /* how many questions; each: first cluster, how many, coded data (coded_codec); the answer: a
			    bit for each cluster */
};

/* Sockets for questions that a device answers at the same time. */
#define CHECK_SEARCHES 8

/* The file that a thread puts together: its number in the pass, from 1 on (0: there is none), start and rule, and whether
 * it crashed the thread, and by which signal. */
struct check_trial {
	_Atomic uint64_t number, start, rule, crashed;
};
/* Threads that put files together are at most as many. */
#define CHECK_TRIALS_MAX 1024

#define CHECK_STOP_ALL UINT64_MAX
/* What the processes share. Checks are numbered from 1. */
struct check_shared {
	/* burin-carver writes: the check under way, how far in the image it has read, and the work of all
	 * checks of the batch. */
	_Atomic uint64_t number, reached, work;
	/* burin writes: the check that is to be given up; CHECK_STOP_ALL: all of the batch; CHECK_ASSEMBLING: all. */
	_Atomic uint64_t stop;
	/* burin-carver writes: what its threads put together. */
	struct check_trial trials[CHECK_TRIALS_MAX];
	uint8_t data[SHARED_ASK_MAX];
};

/* In place of the number of a check, while files are put together. */
#define CHECK_ASSEMBLING 1
/* Bytes of what all files of a pass may come to. */
#define CHECK_PART_MAX ((size_t)1 << 30)

/* Writable memory that burin-carver may take beside what its checks reserve (view_reserve); to put files together,
 * and for each of the threads that do. */
#define CHECK_MEMORY ((uint64_t)3 << 29)
#define ASSEMBLE_MEMORY ((uint64_t)4 << 30)
#define ASSEMBLE_THREAD_MEMORY ((uint64_t)128 << 20)

#endif
