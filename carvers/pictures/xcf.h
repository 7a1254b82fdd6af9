/* What the two parts of the XCF carver share: xcf.c walks the structures, xcf_tiles.c the
 * pixels. */
#ifndef BURIN_CARVERS_PICTURES_XCF_H
#define BURIN_CARVERS_PICTURES_XCF_H

#include <stdbool.h>

#include "carver.h"
#include "cursor.h"

struct xcf {
	struct view *view;
	unsigned version;
	unsigned pointer_len; /* 4 or 8 */
	uint8_t compression;  /* 0 none, 1 runs, 2 zlib */
	uint64_t extent;      /* behind all that was walked; nothing further may start before it */
	uint64_t broken_at;
	const char *problem; /* NULL: the bytes end at broken_at */
};

/* False, with why and where; NULL: the bytes end there. */
bool xcf_fail(struct xcf *xcf, uint64_t at, const char *problem);

/* A pointer at `at`. False: it is cut off. */
bool xcf_pointer(struct xcf *xcf, uint64_t at, uint64_t *value);

/* Walks the level at `at`, the pixels of a layer or channel, of depth bytes each, in tiles. */
bool xcf_read_level(struct xcf *xcf, uint64_t at, unsigned depth);

/* The same for the further levels, which have a size and a zero of 4 bytes, whatever pointers
 * have. */
bool xcf_skip_level(struct xcf *xcf, uint64_t at);

#endif
