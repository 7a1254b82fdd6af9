/*
 * The table has two levels: a byte for each pair, set when any pattern has it, 64 KiB that stay in
 * the nearest caches, and the list of these patterns. Eight places are looked up at a time, as
 * mostly all of them miss.
 *
 * A pattern is in the list of each pair that agrees with two of its neighbouring bytes: one if they
 * are exact, 256 if one is wild. Patterns with so few fixed bits that the lists would grow too long
 * are tried at every byte, where they match often anyway.
 */
#include "scan/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	PAIRS = 65536,
	ENTRIES_MAX = 8 << 20, /* in all lists together */
	STEP = 8,              /* places that are looked up at a time */
};

struct pairs {
	const struct pattern_set *set;
	uint8_t listed[PAIRS];     /* 1: the list is not empty */
	uint32_t first[PAIRS + 1]; /* the list of pair p is entries[first[p] .. first[p + 1]) */
	uint32_t *entries;         /* pattern ids */
	uint32_t *places;          /* by pattern id: where in the pattern its pair is, bytes */
	uint32_t reach;            /* the largest of these */
	uint32_t *everywhere;      /* ids of the patterns that are in no list */
	uint32_t everywhere_count;
};

/* A pattern's two bytes at a place, the first in the low half; past its end all is wild. */
struct pair {
	uint16_t bytes, mask;
};

static struct pair pair_at(const struct pattern *pattern, uint32_t at)
{
	struct pair pair = { pattern->bytes[at], pattern->mask[at] };

	if (at + 1 < pattern->len) {
		pair.bytes |= (uint16_t)(pattern->bytes[at + 1] << 8);
		pair.mask |= (uint16_t)(pattern->mask[at + 1] << 8);
	}
	return pair;
}

/* The place with the most fixed bits; two equal bytes count half, as runs are common on disks. */
static uint32_t choose_place(const struct pattern *pattern)
{
	uint32_t best = 0;
	int best_score = -1;

	for (uint32_t at = 0; at + 1 < pattern->len || at == 0; at++) {
		struct pair pair = pair_at(pattern, at);
		int score = 2 * __builtin_popcount(pair.mask);

		if ((pair.bytes & 0xff) == pair.bytes >> 8 && pair.mask == 0xffff)
			score /= 2;
		if (score > best_score) {
			best_score = score;
			best = at;
		}
	}
	return best;
}

/* The next value of the wild bits, in rising order; 0 after the last. */
static uint32_t next_pair(uint32_t pair, struct pair fixed)
{
	return ((pair | fixed.mask) + 1) & (uint16_t)~fixed.mask;
}

static void list_pattern(struct pairs *pairs, uint32_t id, uint32_t *room)
{
	struct pair pair = pair_at(&pairs->set->patterns[id], pairs->places[id]);
	uint32_t wild = 0;

	do {
		pairs->entries[room[pair.bytes | wild]++] = id;
		wild = next_pair(wild, pair);
	} while (wild);
}

/* The length of each list, as first[pair + 1]; patterns that don't fit are tried everywhere. */
static void count_entries(struct pairs *pairs, const uint32_t *ids, uint32_t count, bool *listed)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct pair pair = pair_at(&pairs->set->patterns[ids[i]], pairs->places[ids[i]]);
		uint32_t entries = 1u << (16 - __builtin_popcount(pair.mask)), wild = 0;

		listed[i] = pair.mask && entries <= ENTRIES_MAX - total;
		if (!listed[i]) {
			pairs->everywhere[pairs->everywhere_count++] = ids[i];
			continue;
		}
		total += entries;
		do {
			pairs->first[(pair.bytes | wild) + 1]++;
			wild = next_pair(wild, pair);
		} while (wild);
	}
}

static void fill_lists(struct pairs *pairs, const uint32_t *ids, uint32_t count, const bool *listed)
{
	uint32_t *room = xmalloc(PAIRS * sizeof(*room));

	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		pairs->listed[pair] = pairs->first[pair + 1] > 0;
		pairs->first[pair + 1] += pairs->first[pair];
		room[pair] = pairs->first[pair];
	}
	pairs->entries = xcalloc(pairs->first[PAIRS], sizeof(*pairs->entries));
	for (uint32_t i = 0; i < count; i++)
		if (listed[i])
			list_pattern(pairs, ids[i], room);
	free(room);
}

struct pairs *pairs_new(const struct pattern_set *set, const uint32_t *ids, uint32_t count)
{
	struct pairs *pairs = xcalloc(1, sizeof(*pairs));
	bool *listed = xcalloc(count, sizeof(*listed));

	pairs->set = set;
	pairs->places = xcalloc(set->count, sizeof(*pairs->places));
	pairs->everywhere = xcalloc(count, sizeof(*pairs->everywhere));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t place = choose_place(&set->patterns[ids[i]]);

		pairs->places[ids[i]] = place;
		if (pairs->reach < place)
			pairs->reach = place;
	}
	count_entries(pairs, ids, count, listed);
	fill_lists(pairs, ids, count, listed);
	free(listed);
	return pairs;
}

void pairs_free(struct pairs *pairs)
{
	if (!pairs)
		return;
	free(pairs->everywhere);
	free(pairs->places);
	free(pairs->entries);
	free(pairs);
}

struct search {
	const struct pairs *pairs;
	const uint8_t *text;
	size_t len, text_len;
	uint64_t offset;
	struct hit_sink *sink;
};

static bool try_pattern(const struct search *search, uint32_t id, size_t start)
{
	const struct pattern *pattern = &search->pairs->set->patterns[id];

	return !pattern_matches(pattern, search->text + start, search->text_len - start) ||
	       matcher_add(pattern, id, search->text, start, search->text_len, search->offset,
		       search->sink);
}

/* Tries the patterns that may have this pair at this place. False: the sink is full. */
static bool try_pair(const struct search *search, uint32_t pair, size_t at)
{
	const struct pairs *pairs = search->pairs;

	for (uint32_t i = pairs->first[pair]; i < pairs->first[pair + 1]; i++) {
		uint32_t id = pairs->entries[i], place = pairs->places[id];

		if (at >= place && at - place < search->len && !try_pattern(search, id, at - place))
			return false;
	}
	return true;
}

/* The pair at a place; past the end of the text there are zeros. */
static uint32_t read_pair(const struct search *search, size_t at)
{
	uint32_t second = at + 1 < search->text_len ? search->text[at + 1] : 0;

	return search->text[at] | second << 8;
}

/* Whether any of the STEP places from text on may hold a pair; text[STEP] can be read. */
static bool any_listed(const uint8_t *listed, const uint8_t *text)
{
	uint64_t even;
	uint64_t odd;

	memcpy(&even, text, sizeof(even));
	memcpy(&odd, text + 1, sizeof(odd));
	return listed[even & 0xffff] | listed[even >> 16 & 0xffff] | listed[even >> 32 & 0xffff] |
	       listed[even >> 48] | listed[odd & 0xffff] | listed[odd >> 16 & 0xffff] |
	       listed[odd >> 32 & 0xffff] | listed[odd >> 48];
}

void pairs_find(const struct pairs *pairs, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	struct search search = { pairs, text, len, text_len, offset, sink };
	size_t end = text_len - len < pairs->reach ? text_len : len + pairs->reach, at = 0;

	while (at < end) {
		size_t stop = end;

		while (at + STEP < end && !any_listed(pairs->listed, text + at))
			at += STEP;
		if (stop > at + STEP)
			stop = at + STEP;
		for (; at < stop; at++)
			if (!try_pair(&search, read_pair(&search, at), at))
				return;
	}
	for (uint32_t i = 0; i < pairs->everywhere_count; i++)
		for (size_t start = 0; start < len; start++)
			if (!try_pattern(&search, pairs->everywhere[i], start))
				return;
}
