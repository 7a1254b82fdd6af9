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
	WALK_TABLE,   /* a text: the partition table's type */
	WALK_VOLUME,  /* a struct volume */
	WALK_IN_USE,  /* struct range's: bytes of the image that the file system uses, rising */
	WALK_FOLDER,  /* a text, "Users/me/": the folder of the files that follow */
	WALK_FILE,    /* a char, 1 for a deleted file, then its name */
	WALK_RUNS,    /* struct range's: where the last file's bytes are */
	WALK_PROBLEM, /* a text: why something is missing */
};

/* The largest number of ranges in one message. */
#define WALK_RANGES_MAX 1024

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

#endif
