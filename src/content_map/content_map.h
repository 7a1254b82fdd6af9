/*
 * map.bin: the class of each block of the evidence (content_map/block_map.h), determined in the pass
 * that searches it. The search gives each slot that it has read; the map holds the slot while a job
 * of the pool classifies its blocks. Jobs are joined in order of the image.
 *
 * Where other processes search, they classify the blocks too: content_map_encode describes a slot's
 * blocks there, content_map_apply joins them here.
 */
#ifndef BURIN_CONTENT_MAP_CONTENT_MAP_H
#define BURIN_CONTENT_MAP_CONTENT_MAP_H

#include "base/codec.h"
#include "base/pool.h"
#include "evidence/reader.h"
#include "output/output_dir.h"
#include "content_map/content.h"

struct content_map;

struct content_map_options {
	struct image *image;      /* what is searched */
	uint64_t begin, position; /* in it: where the search began; where this process begins */
	struct reader *reader;    /* whose slots will be given; NULL: none will */
	unsigned slots;           /* of the reader */
	struct pool *pool;        /* may be NULL when no slots will be given */
};

/* All functions are called by one thread, and accept NULL for the map. */
struct content_map *content_map_new(const struct content_map_options *options);
/* The next slot in order. */
void content_map_give(struct content_map *map, struct reader_slot *slot);
/* Joins and releases the slots that were classified. searched: how many of those given the engine
 * is done with; later ones are not joined, because a run that is resumed sees them again. */
void content_map_release(struct content_map *map, uint64_t searched);
/* Waits until the oldest slot that is held can be released, if one is held. */
void content_map_wait(struct content_map *map);

/* The classes of the next slot's blocks, in *len bytes that the caller frees. Waits for its job,
 * releases the slot. */
uint8_t *content_map_encode(struct content_map *map, size_t *len);
/* Joins the classes of the slot that ends at `until`; len 0: there are none. Returns 0 or
 * -EBADMSG. */
int content_map_apply(struct content_map *map, uint64_t until, const uint8_t *bytes, size_t len);

/* For a checkpoint, all that was joined. content_map_load also reads and classifies what was
 * searched before `position` but not joined: at most a ring. */
void content_map_save(struct content_map *map, struct codec_writer *writer);
void content_map_load(struct content_map *map, uint64_t position, bool (*interrupted)(void),
	struct codec_reader *reader);

/* Waits for all jobs, writes map.bin and fills sums; they are zero when that fails. unreadable: in
 * offsets of the evidence. Frees the map. Returns 0 or a negative errno with error set. */
int content_map_finish(struct content_map *map, const struct ranges *unreadable,
	struct output_dir *output_dir, struct content_sums *sums, struct error *error);
/* Waits for all jobs and writes nothing. */
void content_map_free(struct content_map *map);

#endif
