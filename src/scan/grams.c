/*
 * A pattern of four fixed bytes or more has three in a row at an even place, and three at an odd
 * one. So wherever it starts, one of its two grams is at an even place of the text, and only these
 * places are looked at: the gram's hash selects one bit of a table of 32 KiB, which stays in the
 * nearest caches. Of each pattern rare grams are chosen, by the model of what disks hold
 * (patterns/rarity.c), those with the fewest wild bits; a pattern is worth finding this way if both are rare. Grams with a few wild
 * bits (letters of either case) are entered with every value of these.
 *
 * Where the table has a bit, the gram itself is compared, and then the pattern (places.h).
 *
 * With AVX-512 and its permutations of bytes (VBMI) a sieve comes first: the grams are distributed over 32 classes, and for
 * each of a gram's three places a table maps the 256 bytes to the classes of which some gram has it there. Where all three
 * have a class in common, a place is looked up as above: one in 9 in programs, one in 50 in compressed data. 64 places are sieved
 * at a time.
 */
#include "scan/grams.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "patterns/rarity.h"
#include "base/byte_tables.h"
#include "scan/places.h"

enum {
	GRAM = 3,           /* bytes */
	STRIDE = 2,         /* every other place */
	BITS = 18,          /* of a hash */
	WILD_MAX = 4,       /* bits of a gram */
	ENTRIES_MAX = 5120, /* 2 % of the bits: with more set too many places pass */
	PATTERNS_MIN = 32,  /* fewer are not worth a pass over the text */
	STEP = 128,         /* bytes that are looked up at a time */
	CLASSES = 32,
	AHEAD = 2048,
};

#define FACTOR UINT32_C(0x3779B100) /* of a hash */

/* A gram found at a larger share of all places costs more to confirm than it saves. */
#define RARE 1e-5

struct entry {
	uint32_t gram, id, place;
};

struct grams {
	const struct pattern_set *set;
	enum grams_way way;
	uint64_t table[1 << (BITS - 6)]; /* a bit for each hash: its list is not empty */
	/* The list of hash h is entries[first[h] .. first[h + 1]). */
	uint16_t first[(1 << BITS) + 1];
	struct entry *entries;
	size_t entry_count, entry_capacity;
	uint32_t count; /* of patterns */
	uint32_t reach; /* the largest place, and the gram there */
	/* A bit for each of eight classes that have a byte at a place. */
	_Alignas(64) uint8_t sieve[CLASSES / 8][GRAM][256];
};

/* A fourth byte, the highest, changes nothing. */
static uint32_t hash(uint32_t gram)
{
	return gram * FACTOR >> (32 - BITS);
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

/* By their middle bytes, then by their first ones: of both those of a class have few. */
static uint32_t sieve_key(uint32_t gram)
{
	return (gram >> 8 & 255) << 16 | (gram & 255) << 8 | gram >> 16;
}

static int compare_keys(const void *left, const void *right)
{
	uint32_t a = sieve_key(*(const uint32_t *)left), b = sieve_key(*(const uint32_t *)right);

	return (a > b) - (a < b);
}

static void make_sieve(struct grams *grams)
{
	uint32_t *all = xcalloc(grams->entry_count, sizeof(*all));

	for (size_t i = 0; i < grams->entry_count; i++)
		all[i] = grams->entries[i].gram;
	qsort(all, grams->entry_count, sizeof(*all), compare_keys);
	for (size_t i = 0; i < grams->entry_count; i++) {
		size_t class = i * CLASSES / grams->entry_count;

		for (int k = 0; k < GRAM; k++)
			grams->sieve[class / 8][k][all[i] >> 8 * k & 255] |=
				(uint8_t)(1u << class % 8);
	}
	free(all);
}

bool grams_can(enum grams_way way)
{
#ifdef __x86_64__
	if (way == GRAMS_BMI2)
		return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
		       __builtin_cpu_supports("popcnt");
	if (way == GRAMS_SIEVE)
		return byte_tables_can();
#endif
	return way == GRAMS_PLAIN;
}

void grams_choose(struct grams *grams, enum grams_way way)
{
	grams->way = way;
}

struct grams *grams_new(
	const struct pattern_set *set, const uint32_t *ids, uint32_t count, bool *taken)
{
	struct grams *grams = xcalloc_aligned(_Alignof(struct grams), sizeof(*grams));
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
	make_sieve(grams);
	grams->way = GRAMS_WAYS;
	while (!grams_can(--grams->way))
		;
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

static uint32_t gram_at(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

/* Confirms the patterns that have the gram at this place. False: the sink is full. */
static bool confirm(struct search *search, size_t at)
{
	const struct grams *grams = search->grams;
	uint32_t gram = gram_at(search->text + at), h = hash(gram);

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

/* The places of a part of the text that passed, by number: STRIDE bytes from one to the next. The sieve stores in whole
 * vectors. */
struct passed {
	uint16_t numbers[PLACES_PART + 2 * (STEP / STRIDE)];
	size_t count;
};

/* Confirms those of the part at `at`. False: the sink is full. */
GRAMS_INLINE bool confirm_passed(struct search *search, const struct passed *passed, size_t at)
{
	for (size_t i = 0; i < passed->count; i++)
		if (!confirm(search, at + STRIDE * (size_t)passed->numbers[i]))
			return false;
	return true;
}

/* The places that are left, of which a fourth byte may not be there. */
GRAMS_INLINE void find_last(struct search *search, size_t at, size_t end)
{
	for (; at + GRAM <= end; at += STRIDE) {
		uint32_t h = hash(gram_at(search->text + at));

		if (search->grams->table[h >> 6] >> (h & 63) & 1 && !confirm(search, at))
			return;
	}
}

/* The steps of the next part, of which `more` bytes after its end can be read. 0: find_last does the rest. */
static size_t next_steps(size_t at, size_t end, size_t more)
{
	size_t steps = end - at > more ? (end - at - more) / STEP : 0;

	return steps < PLACES_PART / STEP * STRIDE ? steps : PLACES_PART / STEP * STRIDE;
}

/* Whether the table has a gram's bit, in the lowest. */
GRAMS_INLINE uint64_t is_listed(const uint64_t *table, const uint8_t *text)
{
	uint32_t gram, product;

	memcpy(&gram, text, sizeof(gram));
	product = gram * FACTOR;
	return table[product >> (32 - BITS + 6)] >> (product >> (32 - BITS) & 63) & 1;
}

/* A bit for each place of a step that may hold a gram; STEP + 2 bytes can be read. */
GRAMS_INLINE uint64_t listed(const uint64_t *table, const uint8_t *text)
{
	uint64_t places = 0;

	for (unsigned i = 0; i < STEP / STRIDE; i += 8) {
		uint64_t eight = 0;

		for (unsigned k = 0; k < 8; k++)
			eight |= is_listed(table, text + (i + k) * STRIDE) << k;
		places |= eight << i;
	}
	return places;
}

GRAMS_INLINE void find_in(struct search *search, size_t end)
{
	const uint64_t *table = search->grams->table;
	uint64_t words[PLACES_PART / 64];
	struct passed passed;
	size_t at = 0, steps;

	for (; (steps = next_steps(at, end, sizeof(uint32_t))); at += steps * STEP) {
		for (size_t i = 0; i < steps; i++) {
			const uint8_t *text = search->text + at + i * STEP;

			/* As in teddy.c: text that another processor has read in is in its cache. */
			__builtin_prefetch(text + AHEAD);
			__builtin_prefetch(text + AHEAD + STEP / 2);
			words[i] = listed(table, text);
		}
		passed.count = places_list(words, steps, passed.numbers);
		if (!confirm_passed(search, &passed, at))
			return;
	}
	find_last(search, at, end);
}

static void find_any(struct search *search, size_t end)
{
	find_in(search, end);
}

#ifdef __x86_64__

/* Its shifts take their count from any register. */
__attribute__((target("bmi,bmi2,popcnt"))) static void find_bmi2(struct search *search, size_t end)
{
	find_in(search, end);
}

/* A bit for each place of a step that passes; STEP + 2 bytes can be read. */
__attribute__((target(BYTE_TABLES_TARGET))) static inline __mmask64 sieve(
	const struct grams *grams, const uint8_t *text, __m512i even)
{
	const __m512i odd = _mm512_add_epi8(even, _mm512_set1_epi8(1));
	__m512i low = _mm512_loadu_si512(text), high = _mm512_loadu_si512(text + 64);
	__m512i bytes[GRAM] = {
		_mm512_permutex2var_epi8(low, even, high),
		_mm512_permutex2var_epi8(low, odd, high),
		_mm512_permutex2var_epi8(
			_mm512_loadu_si512(text + 2), even, _mm512_loadu_si512(text + 66)),
	};
	__m512i any = _mm512_setzero_si512();

	for (int group = 0; group < CLASSES / 8; group++) {
		__m512i classes = _mm512_set1_epi8(-1);

		for (int k = 0; k < GRAM; k++) {
			struct byte_table table = byte_table_load(grams->sieve[group][k]);

			classes = _mm512_and_si512(classes, byte_table_look_up(&table, bytes[k],
								    _mm512_movepi8_mask(bytes[k])));
		}
		any = _mm512_or_si512(any, classes);
	}
	return _mm512_test_epi8_mask(any, any);
}

/* Adds the numbers of the bits that are set, of 64 from `first` on. */
__attribute__((target(BYTE_TABLES_TARGET))) static inline void add_numbers(
	struct passed *passed, __mmask64 bits, __m512i count_up, size_t first)
{
	__m512i set = _mm512_maskz_compress_epi8(bits, count_up);
	__m512i from = _mm512_set1_epi16((short)first);
	uint16_t *numbers = passed->numbers + passed->count;

	_mm512_storeu_si512(
		numbers, _mm512_add_epi16(from, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(set))));
	_mm512_storeu_si512(numbers + 32,
		_mm512_add_epi16(from, _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(set, 1))));
	passed->count += (size_t)__builtin_popcountll(bits);
}

/* Those of them that the table has. */
GRAMS_INLINE void keep_listed(const uint64_t *table, const uint8_t *text,
	const struct passed *passed, struct passed *kept)
{
	size_t count = 0;

	for (size_t i = 0; i < passed->count; i++) {
		kept->numbers[count] = passed->numbers[i];
		count += is_listed(table, text + STRIDE * (size_t)passed->numbers[i]);
	}
	kept->count = count;
}

__attribute__((target(BYTE_TABLES_TARGET))) static void find_sieved(
	struct search *search, size_t end)
{
	const struct grams *grams = search->grams;
	__m512i count_up, even;
	uint8_t numbers[64];
	struct passed passed, kept;
	size_t at = 0, steps;

	for (unsigned i = 0; i < sizeof(numbers); i++)
		numbers[i] = (uint8_t)i;
	count_up = _mm512_loadu_si512(numbers);
	even = _mm512_add_epi8(count_up, count_up);
	for (; (steps = next_steps(at, end, sizeof(uint32_t))); at += steps * STEP) {
		passed.count = 0;
		for (size_t i = 0; i < steps; i++) {
			const uint8_t *text = search->text + at + i * STEP;

			__builtin_prefetch(text + AHEAD);
			__builtin_prefetch(text + AHEAD + STEP / 2);
			add_numbers(
				&passed, sieve(grams, text, even), count_up, i * (STEP / STRIDE));
		}
		keep_listed(grams->table, search->text + at, &passed, &kept);
		if (!confirm_passed(search, &kept, at))
			return;
	}
	find_last(search, at, end);
}

#endif

size_t grams_find(const struct grams *grams, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	struct search search = { grams, text, len, text_len, offset, sink, 0 };
	size_t end = text_len - len < grams->reach ? text_len : len + grams->reach;

#ifdef __x86_64__
	if (grams->way == GRAMS_SIEVE)
		find_sieved(&search, end);
	else if (grams->way == GRAMS_BMI2)
		find_bmi2(&search, end);
	else
#endif
		find_any(&search, end);
	return search.effort;
}
