/*
 * The messages between burin and burin-evidence (src/confined) or burin-filesystems (src/filesystems), over a socket. First burin sends a struct
 * evidence_job, the bytes of its argument, and the secrets, each a struct evidence_secret, its path, and
 * its bytes. They are of one build, which they check, so structs go as they are.
 *
 * A walk is given the image (image_share.h): its descriptors, a uint64_t, and as many bytes that say where they
 * belong. It reports what it finds, each a struct walk_head and its bytes (walk_messages.h); to
 * WALK_READ_REQUEST, a struct walk_read, for bytes that are not in plain files, burin answers with the bytes. After WALK_DONE burin may send the next
 * job, for another walk, for starting the program costs more than a walk.
 *
 * What serves an image (served.h):
 *
 *     burin -> READ offset len       it -> DONE status len    the bytes are in shared->data
 *     burin -> LIST offset effort    it -> DONE status len    the same: where bytes are (block_job.h)
 *     it -> WANT offset len          burin -> GIVEN status      the bytes are in shared->outer
 */
#ifndef BURIN_EVIDENCE_EVIDENCE_JOB_H
#define BURIN_EVIDENCE_EVIDENCE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sandbox.h"
#include "evidence/volumes.h"

enum evidence_work {
	EVIDENCE_LIST_VOLUMES,
	EVIDENCE_WALK_ALLOCATION, /* the argument is a struct volume, for these three */
	EVIDENCE_WALK_FILES,
	EVIDENCE_WALK_STREAMS,
	EVIDENCE_SERVE,       /* an image; the argument is the kind's */
	EVIDENCE_SERVE_NAMES, /* the names of the images that there are */
};

struct evidence_job {
	uint32_t work; /* enum evidence_work */
	uint32_t mode; /* enum confine_mode */
	char kind[32]; /* of what is served */
	uint64_t size; /* of the image that is walked, or around the one that is served */
	uint32_t sector_size;
	uint32_t secret_count;
	uint64_t argument_len;
	struct sandbox_limits limits; /* of an image that is served: to open it, and no memory */
};

struct evidence_secret {
	uint64_t path_len, len;
	bool is_key;
};

/* ---- walks --------------------------------------------------------------------------------- */

struct walk_head {
	uint32_t kind, len; /* enum walk_message, or WALK_READ_REQUEST; len: bytes that follow */
};

#define WALK_READ_REQUEST 0x100
#define WALK_DONE 0x101 /* that was all; another job may follow */
/* The largest read, and the largest message. */
#define WALK_READ_MAX ((uint64_t)1 << 20)
/* For combining messages at either end: there are several for each file. */
#define WALK_BUFFER_LEN 65536

struct walk_read {
	uint64_t offset, len;
};

/* ---- images that are served ---------------------------------------------------------------- */

/* A request reads at most that. */
#define SERVED_DATA_LEN ((size_t)1 << 20)
#define SERVED_NAMES_LEN 65536
/* Libraries read sector by sector, and each reading of the outer image changes the process twice. */
#define SERVED_BLOCK_LEN ((size_t)256 << 10)

enum served_message_kind { SERVED_READ, SERVED_DONE, SERVED_WANT, SERVED_GIVEN, SERVED_LIST };

struct served_message {
	uint32_t kind;
	int32_t status;
	uint64_t offset, len;
};

/* What the processes share. */
struct served_shared {
	uint64_t size;
	uint32_t sector_size;
	char reason[512]; /* why it can't be opened */
	char how[256];
	char names[SERVED_NAMES_LEN];
	uint8_t data[SERVED_DATA_LEN], outer[SERVED_BLOCK_LEN];
};

#endif
