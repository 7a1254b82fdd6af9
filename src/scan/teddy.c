/*
 * The patterns are distributed over 16 buckets, each pattern with three of its bytes in a row
 * (teddy_plan.h). For each of the three places and each half of a byte, a table maps the 16 values
 * of the half to the buckets in which some pattern allows it: one shuffle instruction looks up 32
 * halves at once. Where all six results have a bucket in common, its patterns are compared with the
 * text (places.h). 16 buckets take two tables each. With AVX-512 and VBMI the tables are of whole bytes, and 64
 * are looked up at once.
 *
 * Many passes are real: in programs two small numbers are often what some pattern has for bytes. So 16 bytes of a pattern are compared
 * at once, those in a row that are the rarest, before all of it is.
 */
#include "scan/teddy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/byte_tables.h"
#include "scan/places.h"
#include "scan/teddy_plan.h"

enum {
	STEP = 32, /* places that are looked up at once: by AVX2, */
	WIDE = 64, /* and with VBMI */
	PAD = STEP + TEDDY_PLACES,
	AHEAD = 2048,
	WINDOW = 16, /* bytes of a pattern that are compared first */
};

/* With more comparisons a place than this it falls to half its speed, and other matchers are
 * faster. */
#define BUSY 0.03

/* A pattern: the bytes of it that are compared first. */
struct entry {
	_Alignas(WINDOW) uint8_t bytes[WINDOW];
	uint8_t mask[WINDOW]; /* 0 past the pattern's end */
	uint32_t from;        /* where these are in the pattern */
	uint32_t id, place;
};

struct teddy {
	const struct pattern_set *set;
	enum teddy_way way;
	uint8_t tables[2][TEDDY_PLACES][2][16]; /* buckets 0-7 and 8-15, place, low and high half */
	uint32_t first[TEDDY_BUCKETS + 1];      /* bucket b has entries[first[b] .. first[b + 1]) */
	/* The buckets that allow a byte at a place, as for tables. */
	uint8_t bytes[2][TEDDY_PLACES][256];
	uint32_t reach; /* the largest place */
	uint32_t after; /* bytes from a place on that are compared first, at most */
	struct entry entries[];
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

/* The bytes that are the rarest in a row. */
static struct entry make_entry(const struct pattern_set *set, const struct teddy_entry *planned,
	const float share[RARITY_KINDS][256])
{
	const struct pattern *pattern = &set->patterns[planned->id];
	struct entry entry = { .id = planned->id, .place = planned->place };
	uint32_t len = pattern->len < WINDOW ? pattern->len : WINDOW;
	double best = 2;

	for (uint32_t from = 0; from + len <= pattern->len; from++) {
		double chance = rarity_run(share, pattern->bytes + from, pattern->mask + from, len);

		if (chance < best) {
			best = chance;
			entry.from = from;
		}
	}
	memcpy(entry.bytes, pattern->bytes + entry.from, len);
	memcpy(entry.mask, pattern->mask + entry.from, len);
	return entry;
}

/* What the tables of bytes, and the ends, have of a pattern. */
static void note_entry(struct teddy *teddy, uint32_t bucket, const struct teddy_entry *planned,
	const struct entry *entry)
{
	uint32_t after = WINDOW + entry->from;

	for (unsigned i = 0; i < TEDDY_PLACES; i++)
		for (unsigned byte = 0; byte < 256; byte++)
			if (!(((planned->value >> 8 * i) ^ byte) & (planned->mask >> 8 * i) & 255))
				teddy->bytes[bucket / 8][i][byte] |= (uint8_t)(1u << bucket % 8);
	if (teddy->reach < entry->place)
		teddy->reach = entry->place;
	after = after > entry->place ? after - entry->place : 0;
	if (teddy->after < after)
		teddy->after = after;
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
			const struct teddy_entry *planned =
				&plan->entries[plan->buckets[b].members[m]];

			teddy->entries[used] = make_entry(set, planned, plan->share);
			note_entry(teddy, b, planned, &teddy->entries[used++]);
		}
	}
	teddy->first[TEDDY_BUCKETS] = used;
	return teddy;
}

bool teddy_can(enum teddy_way way)
{
#if defined(__x86_64__)
	if (way == TEDDY_VBMI)
		return teddy_can(TEDDY_AVX2) && byte_tables_can();
	return way == TEDDY_AVX2 && __builtin_cpu_supports("avx2") &&
	       __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
#else
	(void)way;
	return false;
#endif
}

void teddy_choose(struct teddy *teddy, enum teddy_way way)
{
	teddy->way = way;
}

struct teddy *teddy_new(const struct pattern_set *set, const uint32_t *ids, uint32_t count)
{
	struct teddy *teddy = NULL;
	struct teddy_plan plan;

	if (!teddy_can(TEDDY_AVX2) || !count || count > TEDDY_PATTERNS_MAX)
		return NULL;
	teddy_plan_make(&plan, set, ids, count);
	if (teddy_plan_busy(&plan) < BUSY)
		teddy = build(set, &plan, count);
	teddy_plan_free(&plan);
	if (teddy)
		teddy->way = teddy_can(TEDDY_VBMI) ? TEDDY_VBMI : TEDDY_AVX2;
	return teddy;
}

void teddy_free(struct teddy *teddy)
{
	free(teddy);
}

/* ---- searching ----------------------------------------------------------------------------- */

#if defined(__x86_64__)

#define TEDDY_TARGET "avx2,bmi,popcnt"

struct search {
	const struct teddy *teddy;
	const uint8_t *text;
	size_t len, text_len;
	uint64_t offset;
	struct hit_sink *sink;
	size_t effort;
};

/* A pattern whose place is `at` may match. False: the sink is full. */
static __attribute__((noinline)) bool compare(
	struct search *search, const struct entry *entry, size_t at)
{
	const struct pattern *pattern = &search->teddy->set->patterns[entry->id];
	size_t start = at - entry->place;

	return at < entry->place || start >= search->len ||
	       !pattern_matches(pattern, search->text + start, search->text_len - start) ||
	       matcher_add(pattern, entry->id, search->text, start, search->text_len,
		       search->offset, search->sink);
}

/* Whether the bytes of a pattern that are compared first match where its place is `at`. All of them can be read. */
__attribute__((target(TEDDY_TARGET))) static inline bool may_match(
	const struct entry *entry, const uint8_t *at)
{
	__m128i text = _mm_loadu_si128((const __m128i *)(at + entry->from - entry->place));
	__m128i other = _mm_xor_si128(text, _mm_load_si128((const __m128i *)entry->bytes));

	return _mm_testz_si128(other, _mm_load_si128((const __m128i *)entry->mask));
}

/* Which of eight buckets allow all the bytes. */
static inline uint8_t buckets_of(const uint8_t tables[TEDDY_PLACES][256], const uint8_t *bytes)
{
	return tables[0][bytes[0]] & tables[1][bytes[1]] & tables[2][bytes[2]];
}

/* Compares the patterns that may be at a place, where the text has these bytes, TEDDY_PLACES at least. False: the sink is
 * full. */
__attribute__((target(TEDDY_TARGET))) static inline bool confirm(
	struct search *search, const uint8_t *bytes, size_t at)
{
	const struct teddy *teddy = search->teddy;
	bool is_inside = at >= teddy->reach && search->text_len - at >= teddy->after;
	uint32_t buckets = buckets_of(teddy->bytes[0], bytes) |
			   (uint32_t)buckets_of(teddy->bytes[1], bytes) << 8;

	for (; buckets; buckets &= buckets - 1) {
		uint32_t bucket = (uint32_t)__builtin_ctz(buckets), end = teddy->first[bucket + 1];

		search->effort += end - teddy->first[bucket];
		for (uint32_t i = teddy->first[bucket]; i < end; i++) {
			const struct entry *entry = &teddy->entries[i];

			if ((!is_inside || may_match(entry, search->text + at)) &&
				!compare(search, entry, at))
				return false;
		}
	}
	return true;
}

__attribute__((target(TEDDY_TARGET))) static inline __m256i table(const uint8_t halves[16])
{
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)halves));
}

struct tables {
	__m256i low[2][TEDDY_PLACES], high[2][TEDDY_PLACES];
};

/* A bit for each of the 32 places from bytes on that passes; PAD bytes can be read. */
__attribute__((target(TEDDY_TARGET))) static inline uint32_t look_up(
	const struct tables *tables, const uint8_t *bytes)
{
	const __m256i half = _mm256_set1_epi8(15);
	__m256i found[2] = { _mm256_set1_epi8(-1), _mm256_set1_epi8(-1) }, none;

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
	none = _mm256_cmpeq_epi8(_mm256_or_si256(found[0], found[1]), _mm256_setzero_si256());
	return ~(uint32_t)_mm256_movemask_epi8(none);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The last places, with zeros after them: these may let more pass, never less. None of them passes alone, as no bucket passes
 * three zeros: that would be more than BUSY. */
__attribute__((target(TEDDY_TARGET))) static void find_last(
	struct search *search, const struct tables *tables, size_t at, size_t end)
{
	for (; at < end; at += STEP) {
		uint8_t last[STEP + PAD] = { 0 };

		memcpy(last, search->text + at, smaller(search->text_len - at, PAD));
		for (uint32_t bits = look_up(tables, last); bits; bits &= bits - 1) {
			unsigned i = (unsigned)__builtin_ctz(bits);

			assert(at + i < search->text_len);
			if (!confirm(search, last + i, at + i))
				return;
		}
	}
}

/* The places of a part of the text that passed. */
struct passed {
	uint16_t places[PLACES_PART + PLACES_FEW];
	size_t count;
};

/* Confirms those of the part at `at`. False: the sink is full. */
__attribute__((target(TEDDY_TARGET))) static inline bool confirm_passed(
	struct search *search, const struct passed *passed, size_t at)
{
	for (size_t i = 0; i < passed->count; i++)
		if (!confirm(search, search->text + at + passed->places[i], at + passed->places[i]))
			return false;
	return true;
}

/* The steps of the next part, each of which reads that many bytes; at least one. */
static size_t steps_from(
	const struct search *search, size_t at, size_t end, size_t step, size_t readable)
{
	size_t steps = smaller(
		(end - at + step - 1) / step, (search->text_len - at - readable) / step + 1);

	return smaller(steps, PLACES_PART / step);
}

__attribute__((target(TEDDY_TARGET))) static void find(struct search *search, size_t at, size_t end)
{
	const struct teddy *teddy = search->teddy;
	struct passed passed;
	struct tables tables;
	size_t steps;

	for (int set = 0; set < 2; set++)
		for (int i = 0; i < TEDDY_PLACES; i++) {
			tables.low[set][i] = table(teddy->tables[set][i][0]);
			tables.high[set][i] = table(teddy->tables[set][i][1]);
		}
	for (; at < end && search->text_len - at >= PAD; at += steps * STEP) {
		uint64_t words[PLACES_PART / 64];

		steps = steps_from(search, at, end, STEP, PAD);
		for (size_t i = 0; i < steps; i++) {
			const uint8_t *text = search->text + at + i * STEP;
			uint64_t bits = look_up(&tables, text);

			/* Text that another processor has just read in is in its cache, and the
			 * hardware does not prefetch far enough: this doubles the speed. */
			_mm_prefetch((const char *)text + AHEAD, _MM_HINT_T0);
			words[i / 2] = i % 2 ? words[i / 2] | bits << STEP : bits;
		}
		passed.count = places_list(words, (steps + 1) / 2, passed.places);
		if (!confirm_passed(search, &passed, at))
			return;
	}
	find_last(search, &tables, at, end);
}

struct byte_tables {
	struct byte_table items[2][TEDDY_PLACES];
};

/* A bit for each of the WIDE places from text on that passes; TEDDY_PLACES - 1 bytes more can be read. */
__attribute__((target(BYTE_TABLES_TARGET))) static inline uint64_t look_up_wide(
	const struct byte_tables *tables, const uint8_t *text)
{
	__m512i found[2] = { _mm512_set1_epi8(-1), _mm512_set1_epi8(-1) };

	for (int i = 0; i < TEDDY_PLACES; i++) {
		__m512i bytes = _mm512_loadu_si512(text + i);
		__mmask64 high = _mm512_movepi8_mask(bytes);

		for (int set = 0; set < 2; set++)
			found[set] = _mm512_and_si512(found[set],
				byte_table_look_up(&tables->items[set][i], bytes, high));
	}
	found[0] = _mm512_or_si512(found[0], found[1]);
	return _mm512_test_epi8_mask(found[0], found[0]);
}

__attribute__((target(TEDDY_TARGET "," BYTE_TABLES_TARGET))) static void find_wide(
	struct search *search, size_t end)
{
	uint64_t words[PLACES_PART / WIDE];
	struct byte_tables tables;
	struct passed passed;
	size_t at = 0, steps;

	for (int set = 0; set < 2; set++)
		for (int i = 0; i < TEDDY_PLACES; i++)
			tables.items[set][i] = byte_table_load(search->teddy->bytes[set][i]);
	for (; at < end && search->text_len - at >= WIDE + TEDDY_PLACES; at += steps * WIDE) {
		steps = steps_from(search, at, end, WIDE, WIDE + TEDDY_PLACES);
		for (size_t i = 0; i < steps; i++) {
			const uint8_t *text = search->text + at + i * WIDE;

			_mm_prefetch((const char *)text + AHEAD, _MM_HINT_T0);
			words[i] = look_up_wide(&tables, text);
		}
		passed.count = places_list(words, steps, passed.places);
		if (!confirm_passed(search, &passed, at))
			return;
	}
	find(search, at, end);
}

size_t teddy_find(const struct teddy *teddy, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	struct search search = { teddy, text, len, text_len, offset, sink, 0 };

	size_t end = text_len - len < teddy->reach ? text_len : len + teddy->reach;

	if (teddy->way == TEDDY_VBMI)
		find_wide(&search, end);
	else
		find(&search, 0, end);
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
