/*
 * Where in an image none of the words starts that searches of carvers look for (view_add_lack), of some searches and some
 * ranges. One thread.
 */
#ifndef BURIN_CARVE_LACKS_H
#define BURIN_CARVE_LACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"

#define LACKS_MAX 16 /* searches whose results are kept */

struct lack {
	const char *words; /* a static string; NULL: this one and those after it are free */
	struct ranges ranges;
};

/* Zero-initialise: nothing is known. */
struct lacks {
	struct lack items[LACKS_MAX];
};

/* Whether all of the image's [at, at + len) is known to lack the words. */
bool lacks_cover(const struct lacks *lacks, const char *words, uint64_t at, size_t len);
/* It does. Forgotten where there is no room. */
void lacks_add(struct lacks *lacks, const char *words, uint64_t at, size_t len);
/* Frees what is kept: nothing is known. */
void lacks_free(struct lacks *lacks);

#endif
