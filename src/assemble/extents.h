/* The extents of a file, or of one that is being tried: ranges of the evidence in file order. */
#ifndef BURIN_ASSEMBLE_EXTENTS_H
#define BURIN_ASSEMBLE_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"

/* Zero-initialise; extents_free when done. */
struct extents {
	struct range *runs;
	size_t count, capacity;
};

void extents_clear(struct extents *extents);
/* Makes room for a run more. */
void extents_grow(struct extents *extents);

/* Adds bytes at the file's end; a run that continues the last one becomes part of it. Each trial lays out up to some
 * hundred runs. */
static inline void extents_add(struct extents *extents, uint64_t offset, uint64_t length)
{
	struct range *last = extents->count ? &extents->runs[extents->count - 1] : NULL;

	if (!length)
		return;
	if (last && last->offset + last->length == offset) {
		last->length += length;
		return;
	}
	if (extents->count == extents->capacity)
		extents_grow(extents);
	extents->runs[extents->count++] = (struct range){ offset, length };
}

/* Adds runs none of which continues the one before it, nor the file's last one. */
void extents_add_apart(struct extents *extents, const struct range *runs, size_t count);
/* Makes it the file with these runs, which are not its own. */
void extents_set(struct extents *extents, const struct range *runs, size_t count);
/* The same with only the first `length` bytes of them. */
void extents_set_first(
	struct extents *extents, const struct range *runs, size_t count, uint64_t length);
/* Cuts the file to this many bytes. */
void extents_cut(struct extents *extents, uint64_t length);
/* Makes two adjoining runs of the one that has this offset of the file inside, so that a view shows what is proved there. */
void extents_split(struct extents *extents, uint64_t at);
/* Where the byte after its first `at` ones is in the evidence, if the piece that has those before goes on.
 * UINT64_MAX: it has fewer. */
uint64_t extents_place(const struct extents *extents, uint64_t at);
/* Of its first `length` bytes: where they are. */
uint64_t extents_hash(const struct extents *extents, uint64_t length);
/* Whether a byte of the evidence is in it twice. */
bool extents_overlaps_itself(const struct extents *extents);
void extents_free(struct extents *extents);

#endif
