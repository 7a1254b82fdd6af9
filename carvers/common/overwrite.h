/* Whether data was wiped or overwritten from the start of a sector on. */
#ifndef BURIN_CARVERS_COMMON_OVERWRITE_H
#define BURIN_CARVERS_COMMON_OVERWRITE_H

#include <stdbool.h>

#include "carver.h"

/* Whether a sector starts in [valid_end, broken]. If so, a file that is valid up to valid_end and
 * invalid at broken lost its end there; if not, it was written that way. */
static inline bool overwrite_boundary_between(uint64_t valid_end, uint64_t broken)
{
	return (valid_end + 511) / 512 * 512 <= broken;
}

enum overwrite {
	OVERWRITE_NONE,
	OVERWRITE_POSSIBLE, /* equal bytes, which may or may not be the file's own */
	OVERWRITE_CERTAIN, /* text, or equal bytes that start exactly with a sector and reach the end, or with a
			       cluster and fill it */
};

/* Searches the bytes [start, end), which are stored uncompressed, in rows of row_len bytes (1: no
 * known rows). *at is where bytes start that may not be the file's (possibly before start); *what
 * names them: "zeros". */
enum overwrite overwrite_find(struct view *view, uint64_t start, uint64_t end, uint64_t row_len,
	uint64_t *at, const char **what);

/* The first sector in [start, end) that begins as files of a known format do; end when there is none. Not for
 * data that may contain files. */
uint64_t overwrite_head(struct view *view, uint64_t start, uint64_t end);

#endif
