/*
 * Offsets that are known to be parts of files already checked (view_part in carvers/carver.h):
 * members of an archive that begin as the archive itself does. The decider keeps one set a rule.
 */
#ifndef BURIN_CARVE_PARTS_H
#define BURIN_CARVE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/codec.h"

/* All zero when empty. */
struct parts {
	uint64_t *slots; /* offsets in the image; 0: free */
	size_t size, count;
	uint64_t last; /* the furthest */
};

/* Adds an offset; 0 is ignored. A full set ignores more of them: these are then checked. */
void parts_add(struct parts *parts, uint64_t offset);
bool parts_has(const struct parts *parts, uint64_t offset);
/* Nothing before this offset will be looked up any more. */
void parts_forget_before(struct parts *parts, uint64_t offset);
void parts_save(const struct parts *parts, struct codec_writer *writer);
/* Into an empty set. limit: the image's size. */
void parts_load(struct parts *parts, uint64_t limit, struct codec_reader *reader);
void parts_free(struct parts *parts);

#endif
