/* The blocks of RAR archives, for the rar carver and for programs that carry an archive. */
#ifndef BURIN_CARVERS_COMMON_RAR_BLOCKS_H
#define BURIN_CARVERS_COMMON_RAR_BLOCKS_H

#include <stdbool.h>

#include "carver.h"

enum rar_kind {
	RAR_MAIN,
	RAR_FILE,
	RAR_OTHER,
	RAR_END,
	RAR_ENCRYPTED, /* all headers after this one are encrypted */
};

struct rar_block {
	uint64_t header_end, end; /* the data between them belongs to the block */
	enum rar_kind kind;
	int64_t time; /* of a file, or 0 */
	bool stored; /* crc is the CRC-32 of the data as it is: not compressed, or continued in another volume */
	bool packed; /* by itself, in RAR 5's way, to plain_len bytes with that CRC */
	uint64_t plain_len;
	uint32_t crc;
	bool needs_end; /* programs that write such a file write an end block, too */
};

enum rar_found {
	RAR_FOUND, /* its header matches its CRC */
	RAR_CUT,   /* the view ends inside the header */
	RAR_NONE,
};

struct rar_walk {
	enum rar_found found;  /* of the block after the last */
	struct rar_block last; /* the last valid block */
	bool needs_end;        /* of any block */
	uint64_t wrong_crc_at; /* the first stored data with another CRC; 0: none */
	uint64_t wrong_crc_end;
	uint32_t wrong_crc; /* that it should have */
	uint64_t
		broken_at; /* where packed data can't be unpacked, if proof is asked for; 0: nowhere */
	int64_t time;      /* the latest of any file, or 0 */
};

/* Walks the blocks of the archive at `start` up to its end block, or to where they stop, and names
 * data that no CRC verifies (view_unverified). NULL, or
 * why there is no archive; *at is then the offset of the fault. */
const char *rar_walk_blocks(struct view *view, uint64_t start, struct rar_walk *walk, uint64_t *at);

/* Where the archive that starts at `start` ends: 0 when its blocks do not lead to an end block. */
uint64_t rar_end(struct view *view, uint64_t start);

/* Read the block at `at`: rar4.c for versions 1.5 to 4, rar5.c for later ones. */
enum rar_found rar4_read(struct view *view, uint64_t at, struct rar_block *block);
enum rar_found rar5_read(struct view *view, uint64_t at, struct rar_block *block);

#endif
