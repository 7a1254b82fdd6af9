/*
 * What libtsk finds in an image, reported bit by bit to a host: a child that passes it on
 * (walk_process.c), or a fuzzer. Only tsk_*.c and container.c use libtsk.
 */
#ifndef BURIN_EVIDENCE_TSK_WALK_H
#define BURIN_EVIDENCE_TSK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/volumes.h"

/* What is reported, and what its bytes are. Texts are raw bytes without a zero. */
enum walk_message {
	WALK_TABLE,  /* a text: the partition table's type */
	WALK_VOLUME, /* a struct volume */
	WALK_IN_USE, /* struct range's: bytes of the image that the file system uses, rising */
	WALK_FREE,   /* struct range's: bytes among these that are free: unused file records */
	WALK_SLACK,  /* struct range's: bytes among these that hold nothing: ends of file records */
	WALK_FOLDER, /* a text, "Users/me/": the folder of the files that follow */
	WALK_FILE,   /* a struct walk_file, then the name */
	WALK_RUNS,   /* struct walk_run's: where the last file's bytes are, in file order */
	WALK_PROBLEM, /* a text: why something is missing */
};

/* The largest number of ranges or runs in one message. */
#define WALK_RANGES_MAX 1024

/* One stream of a file. */
struct walk_file {
	uint64_t inode;
	uint64_t size, valid; /* bytes; valid: from the start, that were ever written */
	uint32_t times[FS_TIME_COUNT];
	uint32_t type, id; /* of the attribute */
	uint32_t flags;    /* enum fs_flag */
	uint32_t reserved;
};

struct walk_run {
	uint64_t offset, length; /* bytes, in the image */
	uint64_t at;             /* offset in the file, or WALK_RECORD */
};

/* The run is the file's record, in which its bytes may be. */
#define WALK_RECORD UINT64_MAX

struct walk_host {
	uint64_t size; /* of the image, bytes */
	uint32_t sector_size;
	/* Fills the buffer; bytes that can't be read are zeros. The range is inside the image.
	 * False: the host is gone. */
	bool (*read)(struct walk_host *host, uint64_t offset, void *buffer, size_t len);
	/* False: the host wants no more. */
	bool (*report)(
		struct walk_host *host, enum walk_message what, const void *bytes, size_t len);
};

/* tsk_list.c. Reports the partition table, and each volume. */
void walk_list(struct walk_host *host);
/* tsk_walk.c. Reports what the volume's file system has in use, WALK_PROBLEM where that is unknown.
 */
void walk_allocation(struct walk_host *host, const struct volume *volume);
/* Reports its files. */
void walk_files(struct walk_host *host, const struct volume *volume);
/* Reports the streams of its live files whose bytes are not in the image as they are: compressed ones, and
 * ones with holes. Each has one run, with its place in a row of all of them, in which each begins at a
 * multiple of WALK_STREAM_ALIGN; and always in the same order. WALK_PROBLEM for each that is left out,
 * because the row would be too long. */
void walk_streams(struct walk_host *host, const struct volume *volume);
#define WALK_STREAM_ALIGN 4096

#endif
