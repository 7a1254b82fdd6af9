/* The blocks of RAR archives: rar4.c and rar5.c read a block of their format, rar.c walks them. */
#ifndef BURIN_CARVERS_COMMON_RAR_H
#define BURIN_CARVERS_COMMON_RAR_H

#include <stdbool.h>

#include "carver.h"

enum rar_kind {
	RAR_MAIN,
	RAR_FILE,
	RAR_OTHER,
	RAR_END,
	RAR_ENCRYPTED, /* all later headers are encrypted */
};

struct rar_block {
	uint64_t header_end, end; /* the block's data, if any, is in between */
	enum rar_kind kind;
	int64_t time;   /* of a file, or 0 */
	bool needs_end; /* programs that write such a file also write an end block */
};

enum rar_found {
	RAR_FOUND, /* its header's CRC matches */
	RAR_CUT,
	RAR_NONE,
};

/* Read the block at `at`. */
enum rar_found rar4_read(struct view *view, uint64_t at, struct rar_block *block);
enum rar_found rar5_read(struct view *view, uint64_t at, struct rar_block *block);

/* Where the archive that starts at `start` ends; 0 when its blocks do not lead to an end block. */
uint64_t rar_end(struct view *view, uint64_t start);

#endif
