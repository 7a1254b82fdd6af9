/* Makes the tables of the Bloom filter (gpu/bloom.h): for each pattern the rarest window without
 * too many variants. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/bloom.h"
#include "patterns/rarity.h"
#include "patterns/pattern_set.h"

#define VARIANTS_MAX 256 /* of one window; each is put into the filter */
#define WINDOWS_MAX 256  /* windows that are weighed for one pattern */

struct bloom_program {
	struct bloom_tables tables;
	double candidates; /* expected for a byte */
};

struct builder {
	float share[RARITY_KINDS][256];
	uint32_t window_len;
	uint32_t *filter;
	struct confirm_choice *choices;
	double rate; /* expected windows of patterns for a byte */
	uint32_t reach;
};

const struct bloom_tables *bloom_tables(const struct gpu_program *program)
{
	return &((const struct bloom_program *)program)->tables;
}

/* How many ways there are to fill the wild bits, or UINT32_MAX when there are more than
 * VARIANTS_MAX. */
static uint32_t window_variants(const struct pattern *pattern, uint32_t back, uint32_t len)
{
	unsigned wild = 0;
	for (uint32_t i = 0; i < len; i++)
		wild += 8 - __builtin_popcount(pattern->mask[back + i]);
	return wild <= 8 ? 1u << wild : UINT32_MAX;
}

/* The rarest window of window_len bytes; false when none has few enough variants. */
static bool choose_window(
	const struct builder *builder, const struct pattern *pattern, uint32_t *best, double *rate)
{
	bool found = false;
	uint32_t weighed = 0;
	for (uint32_t back = 0;
		(uint64_t)back + builder->window_len <= pattern->len && weighed < WINDOWS_MAX;
		back++) {
		if (window_variants(pattern, back, builder->window_len) > VARIANTS_MAX)
			continue;
		weighed++;
		double weight = rarity_run(builder->share, pattern->bytes + back,
			pattern->mask + back, builder->window_len);
		if (!found || weight < *rate) {
			found = true;
			*rate = weight;
			*best = back;
		}
	}
	return found;
}

/* Puts all variants of a window into the filter. */
static void add_window(struct builder *builder, const struct pattern *pattern, uint32_t back)
{
	uint32_t half[2][2] = { { 0 } }; /* of each four bytes: value, mask */
	for (uint32_t i = 0; i < builder->window_len / 4; i++)
		confirm_window_of(pattern, (int64_t)back + 4 * i, &half[i][0], &half[i][1]);
	uint64_t mask = half[0][1] | (uint64_t)half[1][1] << 32;
	uint64_t value = half[0][0] | (uint64_t)half[1][0] << 32;
	uint64_t wild = ~mask & (builder->window_len == 8 ? UINT64_MAX : UINT32_MAX), part = 0;
	do {
		uint64_t variant = value | part;
		uint32_t hash = bloom_hash((uint32_t)variant, (uint32_t)(variant >> 32));
		builder->filter[bloom_offset(hash) / 4] |=
			1u << (hash & 31) | 1u << (hash >> 5 & 31) | 1u << (hash >> 10 & 31);
		part = (part - wild) & wild;
	} while (part);
}

/* Chooses windows for all; returns the pattern that has none, or UINT32_MAX. */
static uint32_t place_patterns(struct builder *builder, const struct pattern_set *set)
{
	memset(builder->filter, 0, BLOOM_TABLE_LEN);
	builder->rate = 0;
	builder->reach = 0;
	for (uint32_t p = 0; p < set->count; p++) {
		const struct pattern *pattern = &set->patterns[p];
		uint32_t back = 0;
		double rate = 0;
		if (!choose_window(builder, pattern, &back, &rate))
			return p;
		builder->rate += rate;
		if (back > builder->reach)
			builder->reach = back;
		add_window(builder, pattern, back);
		struct confirm_choice *choice = &builder->choices[p];
		*choice = (struct confirm_choice){ .pattern = p, .back = (int32_t)back };
		confirm_window_of(pattern, back, &choice->value, &choice->mask);
	}
	return UINT32_MAX;
}

/* The share of random windows that pass. */
static double false_rate(const uint32_t *filter)
{
	double sum = 0;
	for (uint32_t i = 0; i < BLOOM_WORDS; i++) {
		double filled = __builtin_popcount(filter[i]) / 32.0;
		sum += filled * filled * filled;
	}
	return sum / BLOOM_WORDS;
}

int bloom_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	(void)tuning;
	struct builder builder = { .window_len = 8 };
	rarity_bytes(builder.share);
	builder.filter = xcalloc(BLOOM_WORDS, sizeof(*builder.filter));
	builder.choices = xcalloc(set->count, sizeof(*builder.choices));
	uint32_t lacking = place_patterns(&builder, set);
	if (lacking != UINT32_MAX) {
		builder.window_len = 4;
		lacking = place_patterns(&builder, set);
	}
	if (lacking != UINT32_MAX) {
		free(builder.filter);
		free(builder.choices);
		return error_set(error, EXIT_NO_ENGINE, EINVAL,
			"the kernel 'bloom' needs four bytes in a row with at most eight wild bits "
			"in every pattern, and %.200s has none; use another kernel",
			set->patterns[lacking].text);
	}
	struct bloom_program *bloom = xcalloc(1, sizeof(*bloom));
	bloom->tables.filter = builder.filter;
	bloom->tables.window_len = builder.window_len;
	bloom->tables.reach = builder.reach;
	bloom->candidates = builder.rate + false_rate(builder.filter);
	confirm_build(&bloom->tables.confirm, set, builder.choices, set->count);
	free(builder.choices);
	*program = (struct gpu_program *)bloom;
	return 0;
}

void bloom_free(struct gpu_program *program)
{
	struct bloom_program *bloom = (struct bloom_program *)program;
	if (!bloom)
		return;
	free((void *)bloom->tables.filter);
	confirm_free(&bloom->tables.confirm);
	free(bloom);
}

/* 16 random lookups for 16 bytes, 3.4 wavefronts each, and about 15 instructions for each; then the
 * candidates. */
double bloom_cost(const struct gpu_program *program)
{
	const struct bloom_program *bloom = (const struct bloom_program *)program;
	return 16 * 3.4 + 42 + 5 * 512 * bloom->candidates;
}

void bloom_describe(const struct gpu_program *program, char *text, size_t len)
{
	snprintf(text, len, "bloom (windows of %u bytes)", bloom_tables(program)->window_len);
}
