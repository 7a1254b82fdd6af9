#include "content_map/block_map.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/endian.h"
#include "base/memory.h"
#include "content_map/map_bin.h"

#define SPACING_MIN 512
/* Entries that are combined into one number of a checkpoint. */
#define ENTRIES_JOINED 4
#define ALL_ZERO ((uint16_t)CONTENT_ZERO)

struct block_map {
	uint64_t evidence_len, block_len, block_count;
	uint64_t spacing;       /* of a sample's pieces */
	uint16_t *entries;      /* class, and entropy * 256 */
	struct block_part open; /* joined so far of a block that may have more */
};

static uint64_t block_len_of(uint64_t evidence_len)
{
	uint64_t len = MAP_BIN_BLOCK_MIN;

	while (len < (uint64_t)1 << 62 &&
		(evidence_len - !!evidence_len) / len >= MAP_BIN_BLOCKS_MAX)
		len *= 2;
	return len;
}

struct block_map *block_map_new(uint64_t evidence_len)
{
	struct block_map *map = xcalloc(1, sizeof(*map));

	map->evidence_len = evidence_len;
	map->block_len = block_len_of(evidence_len);
	map->block_count = evidence_len / map->block_len + (evidence_len % map->block_len != 0);
	map->spacing = map->block_len / CONTENT_SNIPPETS;
	if (map->spacing < SPACING_MIN)
		map->spacing = SPACING_MIN;
	map->entries = xcalloc(map->block_count, sizeof(*map->entries));
	return map;
}

void block_map_free(struct block_map *map)
{
	if (!map)
		return;
	free(map->entries);
	free(map);
}

/* ---- looking ------------------------------------------------------------------------------- */

static uint16_t entry_of(const struct block_part *part)
{
	uint8_t entropy;
	enum content_class class;

	if (!part->nonzero)
		return ALL_ZERO;
	if (!part->sample_len) /* so little was read that none of the sample was in it */
		return CONTENT_OTHER;
	class = content_classify(part->sample, part->sample_len, &entropy);
	return (uint16_t)(class | entropy << 8);
}

/* Adds the parts of [offset, offset + len), all in one block, that belong to the sample. */
static void collect_sample(const struct block_map *map, struct block_part *part, uint64_t offset,
	const uint8_t *bytes, size_t len)
{
	uint64_t in_snippet = offset % map->spacing;
	size_t at = 0;

	if (in_snippet >= CONTENT_SNIPPET_LEN) {
		at = (size_t)(map->spacing - in_snippet);
		in_snippet = 0;
	}
	while (at < len) {
		size_t part_len = (size_t)(CONTENT_SNIPPET_LEN - in_snippet);

		if (part_len > len - at)
			part_len = len - at;
		if (part_len > sizeof(part->sample) - part->sample_len)
			return;
		memcpy(part->sample + part->sample_len, bytes + at, part_len);
		part->sample_len += part_len;
		at += (size_t)(map->spacing - in_snippet);
		in_snippet = 0;
	}
}

static void add_bytes(const struct block_map *map, struct block_part *part, uint64_t offset,
	const uint8_t *bytes, size_t len)
{
	size_t before = part->sample_len;

	collect_sample(map, part, offset, bytes, len);
	if (!part->nonzero)
		part->nonzero = !is_all_zero(part->sample + before, part->sample_len - before) ||
				!is_all_zero(bytes, len);
}

static void begin_part(struct block_part *part, uint64_t block)
{
	part->begun = true;
	part->nonzero = false;
	part->block = block;
	part->sample_len = 0;
}

static void classify_part(struct block_map *map, struct block_part *part)
{
	if (part->begun)
		map->entries[part->block] = entry_of(part);
	part->begun = false;
}

void block_map_begin(struct block_ends *ends)
{
	ends->first.begun = ends->last.begun = false;
}

/* Adds bytes of one block that are not all of it. The first block of a chunk may continue from the
 * bytes before. */
static void add_part(struct block_map *map, struct block_ends *ends, uint64_t offset,
	const uint8_t *bytes, size_t len)
{
	uint64_t block = offset / map->block_len;
	struct block_part *part = ends->first.begun ? &ends->last : &ends->first;

	if (ends->first.begun && ends->first.block == block) {
		part = &ends->first;
	} else if (!part->begun || part->block != block) {
		classify_part(map, part);
		begin_part(part, block);
	}
	add_bytes(map, part, offset, bytes, len);
}

/* A block's sample is too scattered for the processor to predict where it continues. */
static void fetch_sample(const struct block_map *map, const uint8_t *block)
{
	for (uint64_t at = 0; at < map->block_len; at += map->spacing)
		__builtin_prefetch(block + at);
}

void block_map_add(struct block_map *map, struct block_ends *ends, uint64_t offset,
	const uint8_t *bytes, size_t len)
{
	struct block_part whole;

	while (len) {
		uint64_t left = map->block_len - offset % map->block_len;
		size_t part_len = left < len ? (size_t)left : len;

		if (part_len == map->block_len) {
			if (len - part_len >= map->block_len)
				fetch_sample(map, bytes + part_len);
			begin_part(&whole, offset / map->block_len);
			add_bytes(map, &whole, offset, bytes, part_len);
			classify_part(map, &whole);
		} else {
			add_part(map, ends, offset, bytes, part_len);
		}
		offset += part_len;
		bytes += part_len;
		len -= part_len;
	}
}

static void join_part(struct block_map *map, const struct block_part *part)
{
	struct block_part *open = &map->open;
	size_t room;

	if (!part->begun)
		return;
	if (!open->begun || open->block != part->block) {
		classify_part(map, open);
		begin_part(open, part->block);
	}
	room = sizeof(open->sample) - open->sample_len;
	if (room > part->sample_len)
		room = part->sample_len;
	memcpy(open->sample + open->sample_len, part->sample, room);
	open->sample_len += room;
	open->nonzero = open->nonzero || part->nonzero;
}

void block_map_join(struct block_map *map, struct block_ends *ends)
{
	join_part(map, &ends->first);
	join_part(map, &ends->last);
}

/* ---- between processes --------------------------------------------------------------------- */

/* A message has both parts of the ends, then the entry of each block that the runs touch. All
 * processes are of one program on machines of one kind, so entries keep their form. */

static void put_part(struct codec_writer *writer, const struct block_part *part)
{
	codec_put(writer, part->begun);
	codec_put(writer, part->begun && part->nonzero);
	codec_put(writer, part->begun ? part->block : 0);
	codec_put_bytes(writer, part->sample, part->begun ? part->sample_len : 0);
}

static void get_part(
	const struct block_map *map, struct codec_reader *reader, struct block_part *part)
{
	const uint8_t *sample;

	part->begun = codec_get_flag(reader);
	part->nonzero = codec_get_flag(reader);
	part->block = codec_get(reader, map->block_count - 1);
	sample = codec_get_bytes(reader, &part->sample_len);
	if (part->sample_len > sizeof(part->sample)) {
		codec_fail(reader);
		part->sample_len = 0;
	}
	memcpy(part->sample, sample, part->sample_len);
}

/* The blocks that runs touch, one after another. */
struct block_walk {
	const struct range *run, *end;
	uint64_t next; /* block */
};

static bool next_block(const struct block_map *map, struct block_walk *walk, uint64_t *block)
{
	for (; walk->run != walk->end; walk->run++) {
		uint64_t first = walk->run->offset / map->block_len;
		uint64_t last = (walk->run->offset + walk->run->length - 1) / map->block_len;

		if (walk->next < first)
			walk->next = first;
		if (walk->next > last)
			continue;
		*block = walk->next++;
		return true;
	}
	return false;
}

/* One that is classified when all of it was joined. */
static bool is_end(const struct block_ends *ends, uint64_t block)
{
	return (ends->first.begun && ends->first.block == block) ||
	       (ends->last.begun && ends->last.block == block);
}

uint8_t *block_map_encode(const struct block_map *map, const struct block_ends *ends,
	const struct range *runs, size_t run_count, size_t *len)
{
	struct block_walk walk = { runs, runs + run_count, 0 };
	struct codec_writer writer = { 0 };
	uint16_t *entries = NULL;
	size_t count = 0, room = 0;
	uint64_t block;

	put_part(&writer, &ends->first);
	put_part(&writer, &ends->last);
	while (next_block(map, &walk, &block)) {
		entries = xgrow(entries, &room, count, sizeof(*entries));
		/* Another thread may be at work on the other part of an end. */
		entries[count++] = is_end(ends, block) ? 0 : map->entries[block];
	}
	codec_put_bytes(&writer, entries, count * sizeof(*entries));
	free(entries);
	*len = writer.len;
	return writer.bytes;
}

/* False when the entries are not those of the blocks. */
static bool apply_entries(struct block_map *map, const struct block_ends *ends,
	struct block_walk *walk, const uint8_t *bytes, size_t len)
{
	uint64_t block;
	size_t at = 0;

	while (next_block(map, walk, &block)) {
		uint16_t entry;

		if (len - at < sizeof(entry))
			return false;
		memcpy(&entry, bytes + at, sizeof(entry));
		at += sizeof(entry);
		if ((entry & 0xFF) >= CONTENT_CLASSES)
			return false;
		if (!is_end(ends, block))
			map->entries[block] = entry;
	}
	return at == len;
}

int block_map_apply(struct block_map *map, const struct range *runs, size_t run_count,
	const uint8_t *bytes, size_t len)
{
	struct codec_reader reader = codec_reader_from(bytes, len);
	struct block_walk walk = { runs, runs + run_count, 0 };
	struct block_ends ends;
	const uint8_t *entries;

	if (!map->block_count)
		return -EBADMSG;
	get_part(map, &reader, &ends.first);
	get_part(map, &reader, &ends.last);
	entries = codec_get_bytes(&reader, &len);
	if (!codec_at_end(&reader) || !apply_entries(map, &ends, &walk, entries, len))
		return -EBADMSG;
	block_map_join(map, &ends);
	return 0;
}

/* ---- checkpoints --------------------------------------------------------------------------- */

void block_map_save(const struct block_map *map, struct codec_writer *writer)
{
	const struct block_part *open = &map->open;

	for (uint64_t block = 0; block < map->block_count; block += ENTRIES_JOINED) {
		uint64_t joined = 0;

		for (uint64_t i = 0; i < ENTRIES_JOINED && block + i < map->block_count; i++)
			joined |= (uint64_t)map->entries[block + i] << 16 * i;
		codec_put(writer, joined);
	}
	codec_put(writer, open->begun);
	codec_put(writer, open->nonzero);
	codec_put(writer, open->block);
	codec_put(writer, open->sample_len);
	for (size_t i = 0; i < open->sample_len; i++)
		codec_put(writer, open->sample[i]);
}

void block_map_load(struct block_map *map, struct codec_reader *reader)
{
	struct block_part *open = &map->open;

	for (uint64_t block = 0; block < map->block_count; block += ENTRIES_JOINED) {
		uint64_t joined = codec_get(reader, UINT64_MAX);

		for (uint64_t i = 0; i < ENTRIES_JOINED && block + i < map->block_count; i++) {
			map->entries[block + i] = (uint16_t)(joined >> 16 * i);
			if ((map->entries[block + i] & 0xFF) >= CONTENT_CLASSES)
				codec_fail(reader);
		}
	}
	open->begun = codec_get_flag(reader);
	open->nonzero = codec_get_flag(reader);
	open->block = codec_get(reader, map->block_count ? map->block_count - 1 : 0);
	open->sample_len = (size_t)codec_get(reader, sizeof(open->sample));
	for (size_t i = 0; i < open->sample_len; i++)
		open->sample[i] = (uint8_t)codec_get(reader, UINT8_MAX);
	if (!codec_ok(reader) || !map->block_count)
		open->begun = false;
	if (!codec_ok(reader)) /* no entry may have an unknown class */
		memset(map->entries, 0, map->block_count * sizeof(*map->entries));
}

/* ---- the end ------------------------------------------------------------------------------- */

static void mark_unreadable(struct block_map *map, const struct ranges *unreadable)
{
	for (size_t i = 0; unreadable && i < unreadable->count; i++) {
		const struct range *range = &unreadable->items[i];
		uint64_t last = (range->offset + range->length - 1) / map->block_len;

		for (uint64_t block = range->offset / map->block_len;
			block <= last && block < map->block_count; block++)
			if (map->entries[block] != CONTENT_NOT_READ)
				map->entries[block] = (uint16_t)((map->entries[block] & 0xFF00) |
								 CONTENT_UNREADABLE);
	}
}

static void sum_up(const struct block_map *map, struct content_sums *sums)
{
	*sums = (struct content_sums){ .block_len = map->block_len };
	for (uint64_t block = 0; block < map->block_count; block++) {
		uint64_t left = map->evidence_len - block * map->block_len;

		assert((map->entries[block] & 0xFF) < CONTENT_CLASSES);
		sums->bytes[map->entries[block] & 0xFF] +=
			left < map->block_len ? left : map->block_len;
	}
}

static int write_map(struct block_map *map, int fd)
{
	uint8_t head[MAP_BIN_HEAD_LEN] = { 0 };
	uint64_t sample = map->block_len / map->spacing * CONTENT_SNIPPET_LEN;
	int status;

	memcpy(head, MAP_BIN_MAGIC, 8);
	endian_put(head + 8, MAP_BIN_VERSION, 4);
	endian_put(head + 12, MAP_BIN_HEAD_LEN, 4);
	endian_put(head + 16, map->evidence_len, 8);
	endian_put(head + 24, map->block_len, 8);
	endian_put(head + 32, map->block_count, 8);
	endian_put(head + 40, MAP_BIN_ENTRY_LEN, 4);
	endian_put(head + 44, sample, 4);
	status = file_write(fd, head, sizeof(head));
	if (!status) {
		for (uint64_t block = 0; block < map->block_count; block++)
			map->entries[block] = htole16(map->entries[block]);
		status = file_write(fd, map->entries, map->block_count * sizeof(*map->entries));
	}
	return status;
}

int block_map_finish(struct block_map *map, const struct ranges *unreadable,
	struct output_dir *output_dir, struct content_sums *sums, struct error *error)
{
	struct output_dir_file file;
	int status;

	classify_part(map, &map->open);
	mark_unreadable(map, unreadable);
	sum_up(map, sums);
	output_dir_discard(output_dir, MAP_BIN_NAME); /* of an interrupted run that was resumed */
	status = output_dir_begin(output_dir, MAP_BIN_NAME, &file, error);
	if (status)
		return status;
	status = write_map(map, file.fd);
	if (!status)
		return output_dir_finish(output_dir, MAP_BIN_NAME, &file, error);
	output_dir_drop(&file);
	return output_dir_error(output_dir, MAP_BIN_NAME, -status, error);
}
