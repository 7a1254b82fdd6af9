/*
 * A pattern of four fixed bytes or more has three in a row at an even place, and three at an odd
 * one. So wherever it starts, one of its two grams is at an even place of the text, and only these
 * places are looked at: the gram's hash selects one bit of a table of 32 KiB, which stays in the
 * nearest caches. Of each pattern rare grams are chosen, by the model of what disks hold
 * (patterns/rarity.c), those with the fewest wild bits; a pattern is worth finding this way if both are rare. Grams with a few wild
 * bits (letters of either case) are entered with every value of these.
 *
 * Eight places are looked up at a time, as nearly all miss. Where one hits, the gram itself is
 * compared, and then the pattern.
 *
 * On disk content this is 2.5 times as fast as Vectorscan with the 500 patterns of conf/burin.conf
 * (by FDR, as they are too many for its Teddy).
 */
#include "scan/grams.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "patterns/rarity.h"

enum {
	GRAM = 3,           /* bytes */
	STRIDE = 2,         /* every other place */
	BITS = 18,          /* of a hash */
	WILD_MAX = 4,       /* bits of a gram */
	ENTRIES_MAX = 5120, /* of 2 % of the bits: with more set too many places pass */
	PATTERNS_MIN = 32,  /* fewer are not worth a pass over the text */
	STEP = 16,          /* bytes that are looked up at a time */
	AHEAD = 2048,
};

/* A gram found at a larger share of all places costs more to confirm than it saves. */
#define RARE 1e-5

struct entry {
	uint32_t gram, id, place;
};

struct grams {
	const struct pattern_set *set;
	uint64_t table[1 << (BITS - 6)]; /* a bit for each hash: its list is not empty */
	/* The list of hash h is entries[first[h] .. first[h + 1]). */
	uint16_t first[(1 << BITS) + 1];
	struct entry *entries;
	size_t entry_count, entry_capacity;
	uint32_t count; /* of patterns */
	uint32_t reach; /* the largest place, and the gram there */
};

static uint32_t hash(uint32_t gram)
{
	return gram * UINT32_C(0x9E3779B1) >> (32 - BITS);
}

/* Three bytes of a pattern, the first in the lowest bits. */
struct choice {
	uint32_t place, bytes, mask;
	double chance;
};

static struct choice choice_at(
	const struct pattern *pattern, uint32_t place, const float share[RARITY_KINDS][256])
{
	struct choice choice = { .place = place };

	for (uint32_t i = 0; i < GRAM; i++) {
		choice.bytes |= (uint32_t)pattern->bytes[place + i] << 8 * i;
		choice.mask |= (uint32_t)pattern->mask[place + i] << 8 * i;
	}
	choice.chance =
		8 * GRAM - __builtin_popcount(choice.mask) > WILD_MAX
			? 1
			: rarity_run(share, pattern->bytes + place, pattern->mask + place, GRAM);
	return choice;
}

static uint32_t wild_bits(const struct choice *choice)
{
	return 8 * GRAM - (uint32_t)__builtin_popcount(choice->mask);
}

/* Of grams that are both rare enough, the one with fewer entries, else the rarer one. */
static bool better(const struct choice *choice, const struct choice *best)
{
	if (choice->chance < RARE && best->chance < RARE && wild_bits(choice) != wild_bits(best))
		return wild_bits(choice) < wild_bits(best);
	return choice->chance < best->chance;
}

/* The best gram for each remainder of the place. False: one is not rare enough, or missing. */
static bool choose(const struct pattern *pattern, const float share[RARITY_KINDS][256],
	struct choice best[STRIDE])
{
	for (int i = 0; i < STRIDE; i++)
		best[i].chance = 1;
	for (uint32_t place = 0; place + GRAM <= pattern->len; place++) {
		struct choice choice = choice_at(pattern, place, share);

		if (better(&choice, &best[place % STRIDE]))
			best[place % STRIDE] = choice;
	}
	for (int i = 0; i < STRIDE; i++)
		if (best[i].chance > RARE)
			return false;
	return true;
}

/* Enters the gram with every value of its wild bits. */
static void enter(struct grams *grams, uint32_t id, const struct choice *choice)
{
	uint32_t wild_bits = ~choice->mask & 0xffffff, wild = 0;

	do {
		grams->entries = xgrow(grams->entries, &grams->entry_capacity, grams->entry_count,
			sizeof(*grams->entries));
		grams->entries[grams->entry_count++] =
			(struct entry){ choice->bytes | wild, id, choice->place };
		wild = (wild - wild_bits) & wild_bits; /* the next subset */
	} while (wild);
	if (grams->reach < choice->place + GRAM)
		grams->reach = choice->place + GRAM;
}

static int compare_entries(const void *left, const void *right)
{
	uint32_t a = hash(((const struct entry *)left)->gram);
	uint32_t b = hash(((const struct entry *)right)->gram);

	return (a > b) - (a < b);
}

static void make_lists(struct grams *grams)
{
	qsort(grams->entries, grams->entry_count, sizeof(*grams->entries), compare_entries);
	for (size_t i = 0; i < grams->entry_count; i++) {
		uint32_t h = hash(grams->entries[i].gram);

		grams->table[h >> 6] |= UINT64_C(1) << (h & 63);
		grams->first[h + 1]++;
	}
	for (uint32_t h = 0; h < 1 << BITS; h++)
		grams->first[h + 1] += grams->first[h];
}

struct grams *grams_new(
	const struct pattern_set *set, const uint32_t *ids, uint32_t count, bool *taken)
{
	struct grams *grams = xcalloc(1, sizeof(*grams));
	float share[RARITY_KINDS][256];
	struct choice best[STRIDE];

	grams->set = set;
	rarity_bytes(share);
	for (uint32_t i = 0; i < count && grams->entry_count <= ENTRIES_MAX; i++) {
		if (!choose(&set->patterns[ids[i]], share, best))
			continue;
		for (int k = 0; k < STRIDE; k++)
			enter(grams, ids[i], &best[k]);
		taken[ids[i]] = true;
		grams->count++;
	}
	if (grams->count < PATTERNS_MIN || grams->entry_count > ENTRIES_MAX) {
		for (uint32_t i = 0; i < count; i++)
			taken[ids[i]] = false;
		grams_free(grams);
		return NULL;
	}
	make_lists(grams);
	return grams;
}

void grams_free(struct grams *grams)
{
	if (!grams)
		return;
	free(grams->entries);
	free(grams);
}

uint32_t grams_count(const struct grams *grams)
{
	return grams->count;
}

/* ---- searching ----------------------------------------------------------------------------- */

struct search {
	const struct grams *grams;
	const uint8_t *text;
	size_t len, text_len;
	uint64_t offset;
	struct hit_sink *sink;
	size_t effort;
};

/* Confirms the patterns that have the gram at this place. False: the sink is full. */
static bool confirm(struct search *search, size_t at)
{
	const struct grams *grams = search->grams;
	const uint8_t *p = search->text + at;
	uint32_t gram = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16, h = hash(gram);

	search->effort += 1 + grams->first[h + 1] - grams->first[h];
	for (uint32_t i = grams->first[h]; i < grams->first[h + 1]; i++) {
		const struct entry *entry = &grams->entries[i];
		size_t start = at - entry->place;

		if (entry->gram != gram || at < entry->place || start >= search->len)
			continue;
		if (pattern_matches(&grams->set->patterns[entry->id], search->text + start,
			    search->text_len - start) &&
			!matcher_add(&grams->set->patterns[entry->id], entry->id, search->text,
				start, search->text_len, search->offset, search->sink))
			return false;
	}
	return true;
}

#define GRAMS_INLINE static inline __attribute__((always_inline))

/* A bit for each of the places text, text + 2 .. text + 14 that may hold a gram; 18 bytes can be
 * read. */
GRAMS_INLINE uint32_t listed(const uint64_t *table, const uint8_t *text)
{
	uint32_t places = 0;

	for (unsigned i = 0; i < STEP / STRIDE; i++) {
		uint32_t gram, h;

		memcpy(&gram, text + i * STRIDE, sizeof(gram));
		h = hash(gram & 0xffffff);
		places |= (uint32_t)(table[h >> 6] >> (h & 63) & 1) << i;
	}
	return places;
}

GRAMS_INLINE void find_in(struct search *search, size_t end)
{
	const uint64_t *table = search->grams->table;
	const uint8_t *text = search->text;
	size_t at = 0;

	for (; end - at >= STEP + sizeof(uint32_t); at += STEP) {
		/* As in teddy.c: text that another processor has read in is in its cache. */
		__builtin_prefetch(text + at + AHEAD);
		for (uint32_t places = listed(table, text + at); places; places &= places - 1)
			if (!confirm(search, at + STRIDE * (size_t)__builtin_ctz(places)))
				return;
	}
	for (; at + GRAM <= end; at += STRIDE)
		if (!confirm(search, at))
			return;
}

static void find_any(struct search *search, size_t end)
{
	find_in(search, end);
}

#ifdef __x86_64__
/* Its shifts take their count from any register. */
__attribute__((target("bmi2"))) static void find_bmi2(struct search *search, size_t end)
{
	find_in(search, end);
}
#endif

size_t grams_find(const struct grams *grams, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	struct search search = { grams, text, len, text_len, offset, sink, 0 };
	size_t end = text_len - len < grams->reach ? text_len : len + grams->reach;

#ifdef __x86_64__
	if (__builtin_cpu_supports("bmi2"))
		find_bmi2(&search, end);
	else
#endif
		find_any(&search, end);
	return search.effort;
}
