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
	bool odd_runs;        /* the last tile's runs are none that GIMP writes */
	uint64_t loose;       /* bytes at the last tile's end that are values as they are */
	unsigned item_count;  /* layers, channels and masks */
	uint64_t extent;      /* end of all that was walked; nothing later may start before it */
	uint64_t broken_at;
	const char *problem; /* NULL: the bytes end at broken_at */
};

/* Returns false, and notes why and where; problem NULL: the bytes end there. */
bool xcf_fail(struct xcf *xcf, uint64_t at, const char *problem);

/* Reads the pointer at `at`. False: it is cut off. */
bool xcf_pointer(struct xcf *xcf, uint64_t at, uint64_t *value);

/* Walks the level at `at`, the pixels of a layer or channel, in tiles; depth is the bytes of a
 * pixel. */
bool xcf_read_level(struct xcf *xcf, uint64_t at, unsigned depth);

/* The same for the further levels, which have a size and a zero of 4 bytes, whatever pointer_len
 * is. */
bool xcf_skip_level(struct xcf *xcf, uint64_t at);

#endif
