/* Whether data was wiped or written over, from a sector's beginning on. */
#ifndef BURIN_CARVERS_COMMON_SEAM_H
#define BURIN_CARVERS_COMMON_SEAM_H

#include <stdbool.h>

#include "carver.h"

/* Whether a sector begins in [sound, broken]. A file that is sound up to the one and makes no sense
 * at the other lost its end there; where no sector begins, it was written so. */
static inline bool seam_between(uint64_t sound, uint64_t broken)
{
	return (sound + 511) / 512 * 512 <= broken;
}

enum seam {
	SEAM_NONE,
	SEAM_DOUBTFUL, /* equal bytes that may be the file's own, or not */
	SEAM_SURE,     /* text, or equal bytes up to the end that begin just with a sector */
};

/* Looks at the bytes [start, end), which are stored as they are, in rows of row_len bytes (1: none
 * are known). *at is where the bytes begin that may not be the file's (this may be before start),
 * *what calls them so: "zeros". */
enum seam seam_find(struct view *view, uint64_t start, uint64_t end, uint64_t row_len, uint64_t *at,
	const char **what);

#endif
