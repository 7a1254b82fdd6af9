/*
 * Each pattern is represented by three of its bytes in a row, those that are rarest on disks. The
 * patterns are dealt to 16 buckets. For each of the three places and each half of a byte there is a
 * table from the 16 values of the half to the buckets in which some pattern allows it: one shuffle
 * instruction looks up 32 halves at once. Where a bucket is in all six results, its patterns are
 * compared with the text; 16 buckets take two tables each.
 *
 * What a bucket lets through are all combinations of the halves that its patterns have, so patterns
 * that are alike share a bucket: starting from a bucket for each, the two whose union lets through
 * the least more are united until 16 are left. How much is by the model of what stands on disks
 * (gpu/rarity.c).
 */
#include "scan/teddy.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scan/rarity.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
	PLACES = 3, /* bytes that the vectors look at */
	WINDOW = 4, /* and these together are compared first */
	BUCKETS = 16,
	PATTERNS_MAX = 160, /* sorting out more takes too long */
	STEP = 32,
	PAD = STEP + PLACES,
	AHEAD = 2048,
};

/* More comparisons a place than this, and it falls to half its speed: other ways are faster then.
 */
#define BUSY 0.03

/* What stands at the places: bit h of low is set when the low half may be h. */
struct halves {
	uint16_t low[PLACES], high[PLACES];
};

struct entry {
	uint32_t value, mask; /* of the WINDOW bytes, little-endian */
	uint32_t id, place;
};

struct teddy {
	const struct pattern_set *set;
	uint8_t tables[2][PLACES][2][16]; /* buckets 0-7 and 8-15, place, low and high half */
	uint32_t first[BUCKETS + 1];      /* bucket b has entries[first[b] .. first[b + 1]) */
	uint32_t reach;                   /* the largest place */
	struct entry entries[];
};

/* ---- choosing ---------------------------------------------------------------------------------
 */

struct bucket {
	struct halves halves;
	double chance;            /* that it lets a place through */
	uint32_t count, *members; /* indices */
};

struct plan {
	float share[RARITY_KINDS][256];
	struct entry *entries;
	struct bucket *buckets;
	uint32_t count; /* of buckets */
};

static uint16_t allowed(uint8_t value, uint8_t mask)
{
	uint16_t set = 0;

	for (unsigned half = 0; half < 16; half++)
		if (((half ^ value) & mask & 15) == 0)
			set |= (uint16_t)(1u << half);
	return set;
}

static double byte_chance(const float share[256], uint16_t low, uint16_t high)
{
	double sum = 0;

	for (unsigned h = 0; h < 16; h++)
		for (unsigned l = 0; high >> h & 1 && l < 16; l++)
			if (low >> l & 1)
				sum += share[h << 4 | l];
	return sum;
}

static double chance_of(const struct plan *plan, const struct halves *halves)
{
	double sum = 0;

	for (int kind = 0; kind < RARITY_KINDS; kind++) {
		double product = rarity_weight[kind];

		for (int i = 0; i < PLACES && product > 0; i++)
			product *= byte_chance(plan->share[kind], halves->low[i], halves->high[i]);
		sum += product;
	}
	return sum;
}

/* The pattern's window at a place; behind its end all is wild. */
static struct entry window_at(const struct pattern *pattern, uint32_t id, uint32_t place)
{
	struct entry entry = { .id = id, .place = place };

	for (uint32_t i = 0; i < WINDOW && place + i < pattern->len; i++) {
		entry.value |= (uint32_t)pattern->bytes[place + i] << 8 * i;
		entry.mask |= (uint32_t)pattern->mask[place + i] << 8 * i;
	}
	return entry;
}

static struct halves halves_of(const struct entry *entry)
{
	struct halves halves;

	for (int i = 0; i < PLACES; i++) {
		uint8_t value = (uint8_t)(entry->value >> 8 * i),
			mask = (uint8_t)(entry->mask >> 8 * i);

		halves.low[i] = allowed(value, mask);
		halves.high[i] = allowed(value >> 4, mask >> 4);
	}
	return halves;
}

/* The window whose places are the rarest, as a bucket of its own. */
static void add_pattern(struct plan *plan, const struct pattern *pattern, uint32_t id)
{
	struct bucket *bucket = &plan->buckets[plan->count];
	struct entry *best = &plan->entries[plan->count];

	bucket->chance = 2;
	for (uint32_t place = 0; place < pattern->len; place++) {
		struct entry entry = window_at(pattern, id, place);
		struct halves halves = halves_of(&entry);
		double chance = chance_of(plan, &halves);

		if (chance < bucket->chance) {
			bucket->chance = chance;
			bucket->halves = halves;
			*best = entry;
		}
	}
	bucket->members = xcalloc(1, sizeof(*bucket->members));
	bucket->members[bucket->count++] = plan->count++;
}

static struct halves unite(const struct halves *a, const struct halves *b)
{
	struct halves united;

	for (int i = 0; i < PLACES; i++) {
		united.low[i] = a->low[i] | b->low[i];
		united.high[i] = a->high[i] | b->high[i];
	}
	return united;
}

/* What uniting two buckets costs: places that are let through, each to be compared with all
 * members. */
static double cost_of(const struct plan *plan, const struct bucket *a, const struct bucket *b)
{
	struct halves halves = unite(&a->halves, &b->halves);

	return chance_of(plan, &halves) * (1 + a->count + b->count) - a->chance * (1 + a->count) -
	       b->chance * (1 + b->count);
}

static void merge(struct plan *plan, uint32_t into, uint32_t from)
{
	struct bucket *a = &plan->buckets[into], *b = &plan->buckets[from];

	a->halves = unite(&a->halves, &b->halves);
	a->chance = chance_of(plan, &a->halves);
	a->members = xreallocarray(a->members, a->count + b->count, sizeof(*a->members));
	memcpy(a->members + a->count, b->members, b->count * sizeof(*b->members));
	a->count += b->count;
	free(b->members);
	*b = plan->buckets[--plan->count];
}

/* costs[a * PATTERNS_MAX + b], a < b, is kept up to date, so that a step costs no more than a row
 * of it. */
static void merge_all(struct plan *plan)
{
	double *costs = xcalloc((size_t)plan->count * PATTERNS_MAX, sizeof(*costs));

	for (uint32_t b = 1; b < plan->count; b++)
		for (uint32_t a = 0; a < b; a++)
			costs[a * PATTERNS_MAX + b] =
				cost_of(plan, &plan->buckets[a], &plan->buckets[b]);
	while (plan->count > BUCKETS) {
		uint32_t into = 0, from = 1;

		for (uint32_t b = 1; b < plan->count; b++)
			for (uint32_t a = 0; a < b; a++)
				if (costs[a * PATTERNS_MAX + b] < costs[into * PATTERNS_MAX + from])
					into = a, from = b;
		merge(plan, into, from);
		for (uint32_t i = 0; i < plan->count; i++) {
			const uint32_t changed[] = { into, from };

			for (int c = 0; c < 2; c++) {
				uint32_t a = changed[c] < i ? changed[c] : i,
					 b = changed[c] < i ? i : changed[c];

				if (a < b && b < plan->count)
					costs[a * PATTERNS_MAX + b] =
						cost_of(plan, &plan->buckets[a], &plan->buckets[b]);
			}
		}
	}
	free(costs);
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static void fill_tables(struct teddy *teddy, uint32_t number, const struct halves *halves)
{
	uint8_t bit = (uint8_t)(1u << number % 8);

	for (int i = 0; i < PLACES; i++)
		for (unsigned half = 0; half < 16; half++) {
			if (halves->low[i] >> half & 1)
				teddy->tables[number / 8][i][0][half] |= bit;
			if (halves->high[i] >> half & 1)
				teddy->tables[number / 8][i][1][half] |= bit;
		}
}

static struct teddy *build(const struct pattern_set *set, const struct plan *plan, uint32_t count)
{
	struct teddy *teddy = xcalloc(1, sizeof(*teddy) + count * sizeof(teddy->entries[0]));
	uint32_t used = 0;

	teddy->set = set;
	for (uint32_t b = 0; b < BUCKETS; b++) {
		teddy->first[b] = used;
		if (b >= plan->count)
			continue;
		fill_tables(teddy, b, &plan->buckets[b].halves);
		for (uint32_t m = 0; m < plan->buckets[b].count; m++) {
			const struct entry *entry = &plan->entries[plan->buckets[b].members[m]];

			teddy->entries[used++] = *entry;
			if (teddy->reach < entry->place)
				teddy->reach = entry->place;
		}
	}
	teddy->first[BUCKETS] = used;
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
	struct plan plan = { .count = 0 };
	struct teddy *teddy = NULL;
	double busy = 0;

	if (!is_supported() || !count || count > PATTERNS_MAX)
		return NULL;
	rarity_bytes(plan.share);
	plan.entries = xcalloc(count, sizeof(*plan.entries));
	plan.buckets = xcalloc(count, sizeof(*plan.buckets));
	for (uint32_t i = 0; i < count; i++)
		add_pattern(&plan, &set->patterns[ids[i]], ids[i]);
	merge_all(&plan);
	for (uint32_t b = 0; b < plan.count; b++)
		busy += plan.buckets[b].chance * (1 + plan.buckets[b].count);
	if (busy < BUSY)
		teddy = build(set, &plan, count);
	for (uint32_t b = 0; b < plan.count; b++)
		free(plan.buckets[b].members);
	free(plan.buckets);
	free(plan.entries);
	return teddy;
}

void teddy_free(struct teddy *teddy)
{
	free(teddy);
}

/* ---- searching --------------------------------------------------------------------------------
 */

#if defined(__x86_64__)

struct search {
	const struct teddy *teddy;
	const uint8_t *text;
	size_t len, text_len;
	uint64_t offset;
	struct hit_sink *sink;
};

/* Compares the patterns of the buckets at a place; window: the bytes there. False: the sink is
 * full. */
static bool confirm(const struct search *search, uint32_t buckets, size_t at, uint32_t window)
{
	const struct teddy *teddy = search->teddy;

	for (; buckets; buckets &= buckets - 1) {
		uint32_t bucket = (uint32_t)__builtin_ctz(buckets);

		for (uint32_t i = teddy->first[bucket]; i < teddy->first[bucket + 1]; i++) {
			const struct entry *entry = &teddy->entries[i];
			size_t start = at - entry->place;

			if ((window ^ entry->value) & entry->mask || at < entry->place ||
				start >= search->len)
				continue;
			if (pattern_matches(&teddy->set->patterns[entry->id], search->text + start,
				    search->text_len - start) &&
				!hit_sink_add(search->sink, search->offset + start, entry->id))
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
	__m256i low[2][PLACES], high[2][PLACES];
};

/* The buckets that let each of the 32 places from bytes on through; PAD bytes can be read. */
__attribute__((target("avx2"))) static inline void look(
	const struct tables *tables, const uint8_t *bytes, __m256i found[2])
{
	const __m256i half = _mm256_set1_epi8(15);

	found[0] = found[1] = _mm256_set1_epi8(-1);
	for (int i = 0; i < PLACES; i++) {
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

/* Confirms what was found at 32 places; bytes: what the places were taken from, with WINDOW
 * readable bytes at each, the first being place `at` of the text. False: the sink is full. */
__attribute__((target("avx2"))) static bool confirm_all(
	const struct search *search, const __m256i found[2], const uint8_t *bytes, size_t at)
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

__attribute__((target("avx2"))) static void find(const struct search *search, size_t end)
{
	const struct teddy *teddy = search->teddy;
	uint8_t last[STEP + PAD] = { 0 };
	struct tables tables;
	__m256i found[2];
	size_t at = 0;

	for (int set = 0; set < 2; set++)
		for (int i = 0; i < PLACES; i++) {
			tables.low[set][i] = table(teddy->tables[set][i][0]);
			tables.high[set][i] = table(teddy->tables[set][i][1]);
		}
	for (; at < end && search->text_len - at >= PAD; at += STEP) {
		/* Text that another processor has just read in is far away, and the hardware does
		 * not look ahead far enough: this doubles the speed. */
		_mm_prefetch((const char *)search->text + at + AHEAD, _MM_HINT_T0);
		look(&tables, search->text + at, found);
		__m256i any = _mm256_or_si256(found[0], found[1]);
		if (!_mm256_testz_si256(any, any) &&
			!confirm_all(search, found, search->text + at, at))
			return;
	}
	/* The last places, with zeros behind them: these may let more through, never less. */
	for (; at < end; at += STEP) {
		size_t left = search->text_len - at < STEP + WINDOW ? search->text_len - at
								    : STEP + WINDOW;

		memset(last, 0, sizeof(last));
		memcpy(last, search->text + at, left);
		look(&tables, last, found);
		if (!confirm_all(search, found, last, at))
			return;
	}
}

void teddy_find(const struct teddy *teddy, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	struct search search = { teddy, text, len, text_len, offset, sink };

	find(&search, text_len - len < teddy->reach ? text_len : len + teddy->reach);
}

#else

/* teddy_new gives nothing to search with. */
void teddy_find(const struct teddy *teddy, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	(void)teddy, (void)text, (void)len, (void)text_len, (void)offset, (void)sink;
}

#endif
