/* Which files of a side cover an offset: their pieces in order of start, each with the furthest end
 * so far, so that a lookup is one binary search. */
#ifndef BURIN_COMPARE_COVERS_H
#define BURIN_COMPARE_COVERS_H

#include "compare/listing.h"

struct cover {
	uint64_t start, end;
	const struct listed *file;
	size_t furthest; /* index of the cover with the furthest end among this and those before */
};

/* Zero-initialise; covers_free when done. The files stay the caller's. */
struct covers {
	struct cover *items;
	size_t count, capacity;
};

void covers_add(struct covers *covers, const struct listed *file);
/* After the last covers_add, before the first covers_find. */
void covers_order(struct covers *covers);
/* A file that starts before the offset and covers it; NULL for none. */
const struct listed *covers_find(const struct covers *covers, uint64_t offset);
void covers_free(struct covers *covers);

#endif
