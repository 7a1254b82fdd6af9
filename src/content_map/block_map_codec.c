/*
 * What one process tells another of a piece that it has looked at: both parts of its ends, and then
 * the entry of each block that the piece has to do with. All processes are of one program on
 * machines of one kind, so numbers keep their form.
 */
#include "content_map/block_map_state.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"

#define PART_HEAD_LEN (4 * sizeof(uint64_t))

static uint8_t *tell_part(uint8_t *to, const struct block_part *part)
{
	size_t len = part->begun ? part->sample_len : 0;
	uint64_t head[] = { part->begun, part->nonzero, part->block, len };

	if (!part->begun)
		head[1] = head[2] = 0;
	memcpy(to, head, PART_HEAD_LEN);
	memcpy(to + PART_HEAD_LEN, part->sample, len);
	return to + PART_HEAD_LEN + len;
}

/* Returns its bytes; 0 when they make no sense. */
static size_t hear_part(
	const struct block_map *map, struct block_part *part, const uint8_t *from, size_t len)
{
	uint64_t head[4];

	if (len < PART_HEAD_LEN)
		return 0;
	memcpy(head, from, PART_HEAD_LEN);
	if (head[2] >= map->block_count || head[3] > sizeof(part->sample) ||
		head[3] > len - PART_HEAD_LEN)
		return 0;
	part->begun = head[0];
	part->nonzero = head[1];
	part->block = head[2];
	part->sample_len = (size_t)head[3];
	memcpy(part->sample, from + PART_HEAD_LEN, part->sample_len);
	return PART_HEAD_LEN + part->sample_len;
}

/* The blocks that runs have to do with, one after another. */
struct walk {
	const struct range *run, *end;
	uint64_t next; /* block */
};

static bool walk_on(const struct block_map *map, struct walk *walk, uint64_t *block)
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

/* One that is judged when all of it was joined. */
static bool is_end(const struct block_ends *ends, uint64_t block)
{
	return (ends->first.begun && ends->first.block == block) ||
	       (ends->last.begun && ends->last.block == block);
}

uint8_t *block_map_tell(const struct block_map *map, const struct block_ends *ends,
	const struct range *runs, size_t run_count, size_t *len)
{
	struct walk count = { runs, runs + run_count, 0 }, walk = count;
	size_t most = 2 * (PART_HEAD_LEN + CONTENT_SAMPLE_LEN);
	uint8_t *bytes, *to;
	uint64_t block;

	while (walk_on(map, &count, &block))
		most += sizeof(*map->entries);
	bytes = xmalloc(most);
	to = tell_part(tell_part(bytes, &ends->first), &ends->last);
	while (walk_on(map, &walk, &block)) {
		/* Another thread may be at work on the other part of an end. */
		uint16_t entry = is_end(ends, block) ? 0 : map->entries[block];

		memcpy(to, &entry, sizeof(entry));
		to += sizeof(entry);
	}
	*len = (size_t)(to - bytes);
	return bytes;
}

int block_map_hear(struct block_map *map, const struct range *runs, size_t run_count,
	const uint8_t *bytes, size_t len)
{
	struct walk walk = { runs, runs + run_count, 0 };
	struct block_ends ends;
	size_t first = hear_part(map, &ends.first, bytes, len);
	size_t at = first + (first ? hear_part(map, &ends.last, bytes + first, len - first) : 0);
	uint64_t block;

	if (at == first)
		return -EBADMSG;
	while (walk_on(map, &walk, &block)) {
		uint16_t entry;

		if (len - at < sizeof(entry))
			return -EBADMSG;
		memcpy(&entry, bytes + at, sizeof(entry));
		at += sizeof(entry);
		if ((entry & 0xFF) >= CONTENT_CLASSES)
			return -EBADMSG;
		if (!is_end(&ends, block))
			map->entries[block] = entry;
	}
	block_map_join(map, &ends);
	return at == len ? 0 : -EBADMSG;
}
