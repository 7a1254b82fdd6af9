/*
 * Where the words of the formats' tables (struct carve_map) are in the image: parts of files that were
 * found broken. Made once, before the first pass that asks for it; all threads read it.
 */
#ifndef BURIN_ASSEMBLE_INNER_HITS_H
#define BURIN_ASSEMBLE_INNER_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assemble/clusters.h"
#include "assemble/searcher.h"
#include "base/pool.h"
#include "base/ranges.h"
#include "carvers/carver.h"
#include "evidence/image.h"

struct inner_hits;

/* Empty. Never NULL. */
struct inner_hits *inner_hits_new(void);
/* Adds the words of a map, unless it was added before. */
void inner_hits_add_map(struct inner_hits *hits, const struct carve_map *map);
/* Adds a range of the image, in which the words will be searched. */
void inner_hits_add_window(struct inner_hits *hits, uint64_t offset, uint64_t length);
/* What is searched, and who may be asked first. */
struct inner_hits_source {
	struct image *image;
	struct searcher *searcher; /* NULL: nobody */
	const struct kept_text
		*kept; /* of the image by the scan, for the searcher's device; NULL: nothing */
};
/* All was added: searches the windows but for the taken ranges, at most `most` bytes from the first
 * one on, with the pool's threads. Hits do not depend on who is asked. False: interrupted, or the image
 * became unreadable; there are no hits then. */
bool inner_hits_find(struct inner_hits *hits, const struct inner_hits_source *source,
	const struct ranges *taken, uint64_t most, struct pool *pool, bool (*interrupted)(void));

/* The hits of a word of a map that was added: *count rising offsets. keys: NULL, or set to each hit's key (word_search.h), with zeros past
 * the image, by which most hits that are not what is looked for need not be read again. */
const uint64_t *inner_hits_of(const struct inner_hits *hits, const struct carve_map *map,
	unsigned word, const uint32_t **keys, size_t *count);
/* Those hits that have this remainder when their offset is divided by SECTOR, and, unless key is NULL, that key, in order of
 * keys and then of offsets; and their keys. */
const uint64_t *inner_hits_at(const struct inner_hits *hits, const struct carve_map *map,
	unsigned word, uint64_t remainder, const uint32_t *key, const uint32_t **keys,
	size_t *count);
/* Where a hit's key begins, counted from its word's start. */
size_t inner_hits_key_at(const struct carve_map *map, unsigned word);
/* NULL is fine. */
void inner_hits_free(struct inner_hits *hits);

#endif
