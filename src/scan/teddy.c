/*
 * The patterns are distributed over 16 buckets, each pattern with three of its bytes in a row
 * (teddy_plan.h). For each of the three places and each half of a byte, a table maps the 16 values
 * of the half to the buckets in which some pattern allows it: one shuffle instruction looks up 32
 * halves at once. Where all six results have a bucket in common, its patterns are compared with the
 * text. 16 buckets take two tables each.
 */
#include "scan/teddy.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scan/teddy_plan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
	STEP = 32,
	PAD = STEP + TEDDY_PLACES,
	AHEAD = 2048,
};

/* With more comparisons a place than this it falls to half its speed, and other matchers are
 * faster. */
#define BUSY 0.03

struct teddy {
	const struct pattern_set *set;
	uint8_t tables[2][TEDDY_PLACES][2][16]; /* buckets 0-7 and 8-15, place, low and high half */
	uint32_t first[TEDDY_BUCKETS + 1];      /* bucket b has entries[first[b] .. first[b + 1]) */
	uint32_t reach;                         /* the largest place */
	struct teddy_entry entries[];
};

/* ---- tables -------------------------------------------------------------------------------- */

static void fill_tables(struct teddy *teddy, uint32_t number, const struct teddy_halves *halves)
{
	uint8_t bit = (uint8_t)(1u << number % 8);

	for (int i = 0; i < TEDDY_PLACES; i++)
		for (unsigned half = 0; half < 16; half++) {
			if (halves->low[i] >> half & 1)
				teddy->tables[number / 8][i][0][half] |= bit;
			if (halves->high[i] >> half & 1)
				teddy->tables[number / 8][i][1][half] |= bit;
		}
}

static struct teddy *build(
	const struct pattern_set *set, const struct teddy_plan *plan, uint32_t count)
{
	struct teddy *teddy = xcalloc(1, sizeof(*teddy) + count * sizeof(teddy->entries[0]));
	uint32_t used = 0;

	teddy->set = set;
	for (uint32_t b = 0; b < TEDDY_BUCKETS; b++) {
		teddy->first[b] = used;
		if (b >= plan->count)
			continue;
		fill_tables(teddy, b, &plan->buckets[b].halves);
		for (uint32_t m = 0; m < plan->buckets[b].count; m++) {
			const struct teddy_entry *entry =
				&plan->entries[plan->buckets[b].members[m]];

			teddy->entries[used++] = *entry;
			if (teddy->reach < entry->place)
				teddy->reach = entry->place;
		}
	}
	teddy->first[TEDDY_BUCKETS] = used;
	return teddy;
}

static bool is_supported(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx2");
#else
	return false;
#endif
}

struct teddy *teddy_new(const struct pattern_set *set, const uint32_t *ids, uint32_t count)
{
	struct teddy *teddy = NULL;
	struct teddy_plan plan;

	if (!is_supported() || !count || count > TEDDY_PATTERNS_MAX)
		return NULL;
	teddy_plan_make(&plan, set, ids, count);
	if (teddy_plan_busy(&plan) < BUSY)
		teddy = build(set, &plan, count);
	teddy_plan_free(&plan);
	return teddy;
}

void teddy_free(struct teddy *teddy)
{
	free(teddy);
}

/* ---- searching ----------------------------------------------------------------------------- */

#if defined(__x86_64__)

struct search {
	const struct teddy *teddy;
	const uint8_t *text;
	size_t len, text_len;
	uint64_t offset;
	struct hit_sink *sink;
	size_t effort;
};

/* Compares the buckets' patterns at a place; window: the bytes there. False: the sink is
 * full. */
static bool confirm(struct search *search, uint32_t buckets, size_t at, uint32_t window)
{
	const struct teddy *teddy = search->teddy;

	for (; buckets; buckets &= buckets - 1) {
		uint32_t bucket = (uint32_t)__builtin_ctz(buckets);

		search->effort += teddy->first[bucket + 1] - teddy->first[bucket];
		for (uint32_t i = teddy->first[bucket]; i < teddy->first[bucket + 1]; i++) {
			const struct teddy_entry *entry = &teddy->entries[i];
			size_t start = at - entry->place;

			if ((window ^ entry->value) & entry->mask || at < entry->place ||
				start >= search->len)
				continue;
			if (pattern_matches(&teddy->set->patterns[entry->id], search->text + start,
				    search->text_len - start) &&
				!matcher_add(&teddy->set->patterns[entry->id], entry->id,
					search->text, start, search->text_len, search->offset,
					search->sink))
				return false;
		}
	}
	return true;
}

__attribute__((target("avx2"))) static inline __m256i table(const uint8_t halves[16])
{
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)halves));
}

struct tables {
	__m256i low[2][TEDDY_PLACES], high[2][TEDDY_PLACES];
};

/* The buckets that pass at each of the 32 places from bytes on; PAD bytes can be read. */
__attribute__((target("avx2"))) static inline void look_up(
	const struct tables *tables, const uint8_t *bytes, __m256i found[2])
{
	const __m256i half = _mm256_set1_epi8(15);

	found[0] = found[1] = _mm256_set1_epi8(-1);
	for (int i = 0; i < TEDDY_PLACES; i++) {
		__m256i text = _mm256_loadu_si256((const __m256i *)(bytes + i));
		__m256i low = _mm256_and_si256(text, half);
		__m256i high = _mm256_and_si256(_mm256_srli_epi16(text, 4), half);

		for (int set = 0; set < 2; set++) {
			__m256i both =
				_mm256_and_si256(_mm256_shuffle_epi8(tables->low[set][i], low),
					_mm256_shuffle_epi8(tables->high[set][i], high));

			found[set] = _mm256_and_si256(found[set], both);
		}
	}
}

/* Confirms what passed at 32 places; bytes: the text there, with TEDDY_WINDOW readable bytes at
 * each place; the first is place `at` of the text. False: the sink is full. */
__attribute__((target("avx2"))) static bool confirm_all(
	struct search *search, const __m256i found[2], const uint8_t *bytes, size_t at)
{
	__m256i any = _mm256_or_si256(found[0], found[1]);
	uint32_t places =
		~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(any, _mm256_setzero_si256()));
	uint8_t buckets[2][STEP];

	_mm256_storeu_si256((__m256i *)buckets[0], found[0]);
	_mm256_storeu_si256((__m256i *)buckets[1], found[1]);
	for (; places; places &= places - 1) {
		unsigned i = (unsigned)__builtin_ctz(places);
		uint32_t window;

		memcpy(&window, bytes + i, sizeof(window));
		if (!confirm(search, buckets[0][i] | (uint32_t)buckets[1][i] << 8, at + i, window))
			return false;
	}
	return true;
}

__attribute__((target("avx2"))) static void find(struct search *search, size_t end)
{
	const struct teddy *teddy = search->teddy;
	uint8_t last[STEP + PAD] = { 0 };
	struct tables tables;
	__m256i found[2];
	size_t at = 0;

	for (int set = 0; set < 2; set++)
		for (int i = 0; i < TEDDY_PLACES; i++) {
			tables.low[set][i] = table(teddy->tables[set][i][0]);
			tables.high[set][i] = table(teddy->tables[set][i][1]);
		}
	for (; at < end && search->text_len - at >= PAD; at += STEP) {
		/* Text that another processor has just read in is in its cache, and the hardware
		 * does not prefetch far enough: this doubles the speed. */
		_mm_prefetch((const char *)search->text + at + AHEAD, _MM_HINT_T0);
		look_up(&tables, search->text + at, found);
		__m256i any = _mm256_or_si256(found[0], found[1]);
		if (!_mm256_testz_si256(any, any) &&
			!confirm_all(search, found, search->text + at, at))
			return;
	}
	/* The last places, with zeros after them: these may let more pass, never less. */
	for (; at < end; at += STEP) {
		size_t left = search->text_len - at < STEP + TEDDY_WINDOW ? search->text_len - at
									  : STEP + TEDDY_WINDOW;

		memset(last, 0, sizeof(last));
		memcpy(last, search->text + at, left);
		look_up(&tables, last, found);
		if (!confirm_all(search, found, last, at))
			return;
	}
}

size_t teddy_find(const struct teddy *teddy, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	struct search search = { teddy, text, len, text_len, offset, sink, 0 };

	find(&search, text_len - len < teddy->reach ? text_len : len + teddy->reach);
	return search.effort;
}

#else

/* teddy_new returns NULL, so this is never called. */
size_t teddy_find(const struct teddy *teddy, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	(void)teddy, (void)text, (void)len, (void)text_len, (void)offset, (void)sink;
	return 0;
}

#endif
