/*
 * Makes the tables of the paired-gram filter. For each pattern two windows are chosen, one for each
 * parity of its position, and put into buckets so that the expected number of candidates on the
 * model of disk content (patterns/rarity.c) is least: greedily, the patterns that have the worst
 * windows first. A hash maps a gram to an address in the table; several are tried, and the
 * shared-memory cost of a table with fewer copies is weighed against the candidates of one with
 * fewer entries.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/gram.h"
#include "patterns/rarity.h"
#include "patterns/pattern_set.h"

#define ADDRESSES (GRAM_TABLE_LEN / 2)
#define WINDOWS_MAX 48      /* windows that are weighed for one pattern and parity */
#define SEARCH_PATTERNS 400 /* sets up to this size are tried with several hashes */

struct window {
	uint32_t value, mask;
	int32_t back;
	float mass[2][RARITY_KINDS]; /* of the first gram and of the second */
};

/* The filter while it is made. */
struct builder {
	const struct pattern_set *set;
	float byte_share[RARITY_KINDS][256];
	struct gram_hash hash;
	float share[ADDRESSES][RARITY_KINDS]; /* of the grams with this address */
	uint16_t entries[ADDRESSES];          /* as in the table, by address / 2, lane bits 0 */
	float mass[2][CONFIRM_BUCKETS][RARITY_KINDS];
	uint32_t seen[ADDRESSES], turn; /* addresses met in this turn */
	struct confirm_choice *choices; /* two a pattern */
	uint32_t *order;                /* of patterns */
	uint32_t reach;
	double rate;        /* expected candidates a gram */
	double comparisons; /* expected windows of patterns a gram */
};

struct gram_program {
	struct gram_tables tables;
	double rate, cost;
};

const struct gram_tables *gram_tables(const struct gpu_program *program)
{
	return &((const struct gram_program *)program)->tables;
}

/* ---- what a gram and a window weigh ---- */

static uint32_t gram_address(const struct builder *builder, uint32_t gram)
{
	return (gram * builder->hash.multiplier & builder->hash.mask) / 2;
}

static void fold_shares(struct builder *builder)
{
	memset(builder->share, 0, sizeof(builder->share));
	for (uint32_t gram = 0; gram < 65536; gram++) {
		float *share = builder->share[gram_address(builder, gram)];
		for (int k = 0; k < RARITY_KINDS; k++)
			share[k] += builder->byte_share[k][gram & 0xff] *
				    builder->byte_share[k][gram >> 8];
	}
}

/* The share of the grams that agree with value in mask, each address counted once. */
static void set_mass(
	struct builder *builder, uint32_t value, uint32_t mask, float mass[RARITY_KINDS])
{
	if (mask == 0) {
		for (int k = 0; k < RARITY_KINDS; k++)
			mass[k] = 1;
		return;
	}
	memset(mass, 0, RARITY_KINDS * sizeof(mass[0]));
	builder->turn++;
	uint32_t wild = ~mask & 0xffff, part = 0;
	do {
		uint32_t address = gram_address(builder, value | part);
		if (builder->seen[address] != builder->turn)
			for (int k = 0; k < RARITY_KINDS; k++)
				mass[k] += builder->share[address][k];
		builder->seen[address] = builder->turn;
		part = (part - wild) & wild; /* the next subset of the wild bits */
	} while (part);
}

/* Puts a gram set into a bucket; half: 0 first, 1 second. */
static void add_grams(
	struct builder *builder, uint32_t value, uint32_t mask, uint32_t bucket, uint32_t half)
{
	uint16_t bit = (uint16_t)(1u << bucket << 8 * half);
	uint32_t wild = ~mask & 0xffff, part = 0;
	do {
		uint32_t address = gram_address(builder, value | part);
		if (!(builder->entries[address] & bit))
			for (int k = 0; k < RARITY_KINDS; k++)
				builder->mass[half][bucket][k] += builder->share[address][k];
		builder->entries[address] |= bit;
		part = (part - wild) & wild;
	} while (part);
}

static double window_rate(const struct window *window)
{
	double rate = 0;
	for (int k = 0; k < RARITY_KINDS; k++)
		rate += rarity_weight[k] * window->mass[0][k] * window->mass[1][k];
	return rate;
}

/* How many candidates the window adds in a bucket. */
static double added_rate(
	const struct builder *builder, const struct window *window, uint32_t bucket)
{
	const float *added[2] = { window->mass[0], window->mass[1] };
	static const float none[RARITY_KINDS];
	for (int half = 0; half < 2; half++) {
		uint32_t mask = window->mask >> 16 * half & 0xffff;
		uint32_t gram = window->value >> 16 * half & 0xffff;
		if (mask == 0xffff &&
			builder->entries[gram_address(builder, gram)] >> 8 * half >> bucket & 1)
			added[half] = none;
	}
	double rate = 0;
	for (int k = 0; k < RARITY_KINDS; k++) {
		float first = builder->mass[0][bucket][k], second = builder->mass[1][bucket][k];
		float more_first = first + added[0][k], more_second = second + added[1][k];
		rate += rarity_weight[k] *
			((more_first > 1 ? 1 : more_first) * (more_second > 1 ? 1 : more_second) -
				(first > 1 ? 1 : first) * (second > 1 ? 1 : second));
	}
	return rate;
}

/* ---- choosing ---- */

static void weigh_window(
	struct builder *builder, const struct pattern *pattern, int64_t back, struct window *window)
{
	confirm_window_of(pattern, back, &window->value, &window->mask);
	window->back = (int32_t)back;
	for (int half = 0; half < 2; half++)
		set_mass(builder, window->value >> 16 * half & 0xffff,
			window->mask >> 16 * half & 0xffff, window->mass[half]);
}

/* Finds the best window of a pattern for one parity of its start, and with it the best bucket.
 * Returns the rate it adds. */
static double choose_window(struct builder *builder, const struct pattern *pattern, int parity,
	struct window *best, uint32_t *best_bucket)
{
	double least = -1;
	int weighed = 0;
	for (int64_t back = -parity; back < pattern->len && weighed < WINDOWS_MAX; back += 2) {
		struct window window;
		weigh_window(builder, pattern, back, &window);
		if (!window.mask)
			continue;
		weighed++;
		/* A window that is good by itself is better than one that only fits a bucket. */
		for (uint32_t bucket = 0; bucket < CONFIRM_BUCKETS; bucket++) {
			double rate =
				added_rate(builder, &window, bucket) + 1e-3 * window_rate(&window);
			if (least < 0 || rate < least) {
				least = rate;
				*best = window;
				*best_bucket = bucket;
			}
		}
	}
	return least;
}

/* The rate of a pattern's best windows taken alone: the order of placing. */
static void sort_patterns(struct builder *builder)
{
	uint32_t count = builder->set->count;
	double *rates = xcalloc(count, sizeof(*rates));
	for (uint32_t i = 0; i < count; i++) {
		struct window window;
		uint32_t bucket;
		for (int parity = 0; parity < 2; parity++)
			rates[i] += choose_window(
				builder, &builder->set->patterns[i], parity, &window, &bucket);
		uint32_t at = i;
		if (count <= SEARCH_PATTERNS)
			for (; at > 0 && rates[builder->order[at - 1]] < rates[i]; at--)
				builder->order[at] = builder->order[at - 1];
		builder->order[at] = i;
	}
	free(rates);
}

static double total_rate(const struct builder *builder)
{
	double rate = 0;
	for (uint32_t bucket = 0; bucket < CONFIRM_BUCKETS; bucket++)
		for (int k = 0; k < RARITY_KINDS; k++)
			rate += rarity_weight[k] * builder->mass[0][bucket][k] *
				builder->mass[1][bucket][k];
	return rate;
}

/* Fills the filter for a hash. Stops when the rate exceeds `enough`. */
static void place_patterns(struct builder *builder, struct gram_hash hash, double enough)
{
	builder->hash = hash;
	fold_shares(builder);
	memset(builder->entries, 0, sizeof(builder->entries));
	memset(builder->mass, 0, sizeof(builder->mass));
	sort_patterns(builder);
	builder->reach = 0;
	builder->comparisons = 0;
	for (uint32_t i = 0; i < builder->set->count; i++) {
		uint32_t pattern = builder->order[i];
		for (int parity = 0; parity < 2; parity++) {
			struct window window = { 0 };
			uint32_t bucket = 0;
			choose_window(builder, &builder->set->patterns[pattern], parity, &window,
				&bucket);
			builder->comparisons += window_rate(&window);
			for (uint32_t half = 0; half < 2; half++)
				add_grams(builder, window.value >> 16 * half & 0xffff,
					window.mask >> 16 * half & 0xffff, bucket, half);
			builder->choices[2 * i + parity] = (struct confirm_choice){ window.value,
				window.mask, pattern, window.back, bucket };
			if (window.back > 0 && (uint32_t)window.back > builder->reach)
				builder->reach = (uint32_t)window.back;
		}
		if (i % 16 == 15 && total_rate(builder) > enough)
			break;
	}
	builder->rate = total_rate(builder);
}

/* ---- hashes ---- */

/* The address has 16 bits above bit 0; where the table is kept in c = 2^n copies the n bits from
 * bit 2 on choose the copy. */
static struct gram_hash make_hash(uint32_t multiplier, uint32_t copies)
{
	return (struct gram_hash){ multiplier, (GRAM_TABLE_LEN - 2) & ~(4 * copies - 4), copies };
}

/*
 * Clock cycles for 512 bytes on one multiprocessor, as measured on an H200: the loop, mostly the
 * wavefronts of the lookups where copies don't avoid conflicts; 6 for a candidate; and 100 for a
 * comparison with a pattern, since the other lanes of the warp mostly wait.
 */
static double expected_cost(uint32_t copies, double rate, double comparisons)
{
	double loop = copies == 32 ? 31 : copies == 16 ? 32 : 33;
	return loop + 256 * (6 * rate + 100 * comparisons);
}

/* The hashes that were best for some sets in a search of thousands: mixing the two bytes is bad, as
 * half a gram is often wild. */
static const struct {
	uint32_t multiplier, copies;
} tried[] = { { 2, 32 }, { 6, 32 }, { 0xc00c, 32 }, { 2, 16 }, { 6, 16 }, { 0x8002, 16 } };

/* Tries hashes and leaves the builder with the best. */
static void search_hash(struct builder *builder)
{
	struct gram_hash best = make_hash(2, 1);
	place_patterns(builder, best, 1e9);
	double least = expected_cost(1, builder->rate, 0);
	if (builder->set->count > SEARCH_PATTERNS)
		return;
	for (size_t trial = 0; trial < sizeof(tried) / sizeof(tried[0]); trial++) {
		struct gram_hash hash = make_hash(tried[trial].multiplier, tried[trial].copies);
		place_patterns(builder, hash, 0.1);
		double cost = expected_cost(hash.copies, builder->rate, 0);
		if (cost < least) {
			least = cost;
			best = hash;
		}
	}
	place_patterns(builder, best, 1e9);
}

/* ---- the row's functions ---- */

static uint16_t *spread_copies(const struct builder *builder)
{
	uint16_t *filter = xcalloc(ADDRESSES, sizeof(*filter));
	uint32_t lane_bits = builder->hash.copies * 2 - 2; /* of an address / 2 */
	for (uint32_t i = 0; i < ADDRESSES; i++)
		filter[i] = builder->entries[i & ~lane_bits];
	return filter;
}

int gram_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	(void)tuning;
	(void)error;
	struct builder *builder = xcalloc(1, sizeof(*builder));
	builder->set = set;
	builder->choices = xcalloc(set->count, 2 * sizeof(*builder->choices));
	builder->order = xcalloc(set->count, sizeof(*builder->order));
	rarity_bytes(builder->byte_share);
	search_hash(builder);

	struct gram_program *gram = xcalloc(1, sizeof(*gram));
	gram->tables.filter = spread_copies(builder);
	gram->tables.hash = builder->hash;
	gram->tables.reach = builder->reach;
	confirm_build(&gram->tables.confirm, set, builder->choices, 2 * set->count);
	gram->rate = builder->rate;
	gram->cost = expected_cost(builder->hash.copies, builder->rate, builder->comparisons);
	*program = (struct gpu_program *)gram;

	free(builder->order);
	free(builder->choices);
	free(builder);
	return 0;
}

void gram_free(struct gpu_program *program)
{
	struct gram_program *gram = (struct gram_program *)program;
	if (!gram)
		return;
	free((void *)gram->tables.filter);
	confirm_free(&gram->tables.confirm);
	free(gram);
}

double gram_cost(const struct gpu_program *program)
{
	return ((const struct gram_program *)program)->cost;
}

void gram_describe(const struct gpu_program *program, char *text, size_t len)
{
	const struct gram_program *gram = (const struct gram_program *)program;
	unsigned bits = 16;
	for (uint32_t copies = gram->tables.hash.copies; copies > 1; copies /= 2)
		bits--;
	snprintf(text, len, "gram (%u-bit tables, %u copies)", bits, gram->tables.hash.copies);
}
