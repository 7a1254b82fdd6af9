/*
 * What libtsk finds in an image, reported bit by bit to a host: the process that passes it on
 * (walk_work.c), or a row of streams (inner_streams.c).
 */
#ifndef BURIN_FILESYSTEMS_TSK_WALK_H
#define BURIN_FILESYSTEMS_TSK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/walk_messages.h"

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

#endif
