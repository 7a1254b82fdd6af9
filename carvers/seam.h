/* Whether stored data was wiped or written over, from a sector's beginning on. */
#ifndef BURIN_SEAM_H
#define BURIN_SEAM_H

#include "carver.h"

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
