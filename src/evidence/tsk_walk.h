/*
 * What libtsk reads out of an image, told piece by piece to a host: a child that passes it on
 * (walk_process.c), or a fuzzer. tsk_*.c and container.c are the only places that know libtsk.
 */
#ifndef BURIN_EVIDENCE_TSK_WALK_H
#define BURIN_EVIDENCE_TSK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/volumes.h"

/* What is told, and what its bytes are. Texts are raw bytes without a zero. */
enum told {
	TOLD_TABLE,   /* a text: the partition table's kind */
	TOLD_VOLUME,  /* a struct volume */
	TOLD_IN_USE,  /* struct range's: bytes of the image that the file system uses, rising */
	TOLD_FOLDER,  /* a text, "Users/me/": the files behind it lie there */
	TOLD_FILE,    /* a char, 1 for a deleted one, then its name */
	TOLD_RUNS,    /* struct range's: where the last file's bytes lie */
	TOLD_PROBLEM, /* a text: why it is not all */
};

/* Most ranges that are told at once. */
#define TOLD_RANGES 1024

struct walk_host {
	uint64_t size; /* of the image, bytes */
	uint32_t sector_size;
	/* Fills the buffer; bytes that can't be read are zeros. The range lies inside the image.
	 * False: the host is gone. */
	bool (*read)(struct walk_host *host, uint64_t offset, void *buffer, size_t len);
	/* False: nobody listens any more. */
	bool (*tell)(struct walk_host *host, enum told what, const void *bytes, size_t len);
};

/* tsk_list.c. Tells the partition table, and each volume. */
void walk_list(struct walk_host *host);
/* tsk_walk.c. Tells what the volume's file system has in use, TOLD_PROBLEM where that is not
 * known. */
void walk_map(struct walk_host *host, const struct volume *volume);
/* Tells its files. */
void walk_files(struct walk_host *host, const struct volume *volume);

#endif
