/*
 * The messages between burin and burin-carver (src/checker), which checks candidates for a thread of burin.
 * Both are of one build, which they check.
 *
 *     burin -> descriptors of the image; that of the reader's ring, where it is shared; START
 *                                                  burin-carver confines itself -> READY
 *     burin -> CHECK: a batch of candidates        burin-carver -> OUTCOMES, once or more, all in their order
 *
 * While it checks, burin-carver may ask:
 *
 *     READ offset len     burin -> ANSWER status   the bytes are in shared->data
 *     RESERVE bytes       burin -> ANSWER status   when they may be taken
 */
#ifndef BURIN_CARVE_CHECK_MESSAGES_H
#define BURIN_CARVE_CHECK_MESSAGES_H

#include <stdatomic.h>
#include <stdint.h>

#include "evidence/shared_image.h"

enum check_message {
	CHECK_START, /* mode of confinement, nested, rules (rules_codec), image (image_share) */
	CHECK_READY,
	CHECK_BATCH_IN, /* number of the first check, hidden_until, count; each: force, work_max, candidate */
	CHECK_OUTCOMES, /* of one check or more; each: whether it was deferred, or else its outcome */
	CHECK_READ,
	CHECK_RESERVE,
	CHECK_ANSWER,
	CHECK_NO_MEMORY, /* the machine has none: there will be no outcome */
};

/* What the processes share. Checks are numbered from 1. */
struct check_shared {
	/* burin-carver writes: the check under way, how far in the image it has read, and the work of all
	 * checks of the batch. */
	_Atomic uint64_t number, reached, work;
	/* burin writes: the check that is to be given up. */
	_Atomic uint64_t stop;
	uint8_t data[SHARED_ASK_MAX];
};

/* Writable memory that burin-carver may take beside what its checks reserve (view_reserve). */
#define CHECK_MEMORY ((uint64_t)3 << 29)

#endif
