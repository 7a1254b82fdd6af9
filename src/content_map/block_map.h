/*
 * Makes map.bin (content_map/map_bin.h) from an image that is read once, in rising order, in chunks
 * of any length. Threads classify chunks independently (block_map_add); blocks that span several
 * chunks are put together in order (block_map_join). So the result does not depend on where chunks
 * begin and end. Other processes may classify chunks, too, and send their results.
 */
#ifndef BURIN_CONTENT_MAP_BLOCK_MAP_H
#define BURIN_CONTENT_MAP_BLOCK_MAP_H

#include <stdbool.h>

#include "base/ranges.h"
#include "base/codec.h"
#include "content_map/content.h"
#include "output/output_dir.h"

struct block_map;

/* A block of which not all was seen yet. */
struct block_part {
	bool begun;   /* some of it was */
	bool nonzero; /* including a byte that is not zero */
	uint64_t block;
	size_t sample_len;
	uint8_t sample[CONTENT_SAMPLE_LEN];
};

/* A chunk's share of the blocks that may extend beyond it. */
struct block_ends {
	struct block_part first, last;
};

/* evidence_len: bytes. Never NULL. */
struct block_map *block_map_new(uint64_t evidence_len);
/* NULL is fine. */
void block_map_free(struct block_map *map);

/* Begins a chunk. */
void block_map_begin(struct block_ends *ends);
/* The next len bytes of the chunk, at offset in the evidence and inside it. Blocks that are
 * entirely in the chunk are classified at once. Thread-safe for different chunks. */
void block_map_add(struct block_map *map, struct block_ends *ends, uint64_t offset,
	const uint8_t *bytes, size_t len);
/* A chunk was classified, and so were all before it, which were joined. One thread at a time. */
void block_map_join(struct block_map *map, struct block_ends *ends);

/* The same for a chunk that another process has classified. runs: where its bytes lie in the
 * evidence, in rising order. block_map_encode describes the chunk there, in *len bytes that the
 * caller frees; block_map_apply joins it here. Returns 0, or -EBADMSG for an invalid description. */
uint8_t *block_map_encode(const struct block_map *map, const struct block_ends *ends,
	const struct range *runs, size_t run_count, size_t *len);
int block_map_apply(struct block_map *map, const struct range *runs, size_t run_count,
	const uint8_t *bytes, size_t len);

/* For a checkpoint: all that was joined. block_map_load fills a new map of the same evidence;
 * invalid data fails the reader. */
void block_map_save(const struct block_map *map, struct codec_writer *writer);
void block_map_load(struct block_map *map, struct codec_reader *reader);

/* After the last join: classifies the last block, marks what could not be read, in offsets of the
 * evidence (or NULL), writes map.bin and fills sums. Returns 0 or a negative errno with error set.
 */
int block_map_finish(struct block_map *map, const struct ranges *unreadable,
	struct output_dir *output_dir, struct content_sums *sums, struct error *error);

#endif
