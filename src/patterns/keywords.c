#include "patterns/keywords.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "patterns/rarity.h"

#define WEIGHED_MAX 16 /* bytes of a run that are rated: more make no difference */

/* A run of a pattern's bytes that may become its keyword. */
struct run {
	uint32_t back, len;
	uint32_t variants;
};

/* One variant, before equal ones are merged. */
struct variant {
	uint32_t at, len; /* its bytes in memory */
	struct keyword_record record;
};

static uint32_t byte_variants(uint8_t mask)
{
	return 1u << (8 - __builtin_popcount(mask));
}

/* Makes the run as long as it may be, with at most KEYWORD_VARIANTS_MAX variants. */
static void extend(const struct pattern *pattern, uint32_t longest, struct run *run)
{
	while (run->back + run->len < pattern->len && run->len < longest) {
		uint8_t mask = pattern->mask[run->back + run->len];

		if (!mask || run->variants * byte_variants(mask) > KEYWORD_VARIANTS_MAX)
			break;
		run->variants *= byte_variants(mask);
		run->len++;
	}
}

/* Leaves the run's first byte out; the longest run from the next byte on contains all others. */
static void advance(const struct pattern *pattern, struct run *run)
{
	if (run->len) {
		run->variants /= byte_variants(pattern->mask[run->back]);
		run->len--;
	}
	run->back++;
}

/*
 * Chooses the run of at most `longest` bytes, with at most KEYWORD_VARIANTS_MAX ways to fill its
 * wild bits, that is rarest on disks: of "BM ?? ?? 00 00 00" not the zeros. Every pattern has one,
 * at least a byte with several variants, because a mask is never all 0. A short enough pattern
 * without wild bits is its own keyword.
 */
static struct run choose_run(
	const struct pattern *pattern, uint32_t longest, const float share[RARITY_KINDS][256])
{
	struct run best = { 0 }, run = { .variants = 1 };
	double least = 2;

	for (; run.back < pattern->len; advance(pattern, &run)) {
		double rate;

		extend(pattern, longest, &run);
		if (run.len == 0)
			continue;
		rate = rarity_run(share, pattern->bytes + run.back, pattern->mask + run.back,
			run.len < WEIGHED_MAX ? run.len : WEIGHED_MAX);
		if (rate < least) {
			least = rate;
			best = run;
		}
		if (run.len == pattern->len - run.back)
			break; /* later starts give only shorter runs */
	}
	return best;
}

static struct run *choose_runs(
	const struct pattern_set *set, uint32_t longest, uint64_t *variant_count, uint64_t *len)
{
	struct run *runs = xcalloc(set->count, sizeof(*runs));
	float share[RARITY_KINDS][256];

	rarity_bytes(share);
	*variant_count = 0;
	*len = 0;
	for (uint32_t i = 0; i < set->count; i++) {
		runs[i] = choose_run(&set->patterns[i], longest, share);
		*variant_count += runs[i].len ? runs[i].variants : 0;
		*len += (uint64_t)runs[i].len * runs[i].variants;
	}
	return runs;
}

static uint32_t common_len(const struct keyword *a, const struct keyword *b)
{
	uint32_t len = 0;

	while (len < a->len && len < b->len && a->bytes[len] == b->bytes[len])
		len++;
	return len;
}

/* They are sorted: a keyword adds what it does not have in common with the one before it. */
uint64_t keywords_states(const struct keyword_set *keywords)
{
	uint64_t count = 1;

	for (uint32_t i = 0; i < keywords->count; i++) {
		const struct keyword *keyword = &keywords->items[i];

		count += keyword->len - (i ? common_len(keyword - 1, keyword) : 0);
	}
	return count;
}

uint64_t keywords_len(const struct pattern_set *set, uint32_t longest)
{
	uint64_t variant_count, len;

	free(choose_runs(set, longest, &variant_count, &len));
	return len;
}

/* Writes one variant: the run's bytes, with the bits of `choice` in place of the wild bits. */
static void write_variant(
	uint8_t *bytes, const struct pattern *pattern, const struct run *run, uint32_t choice)
{
	for (uint32_t i = 0; i < run->len; i++) {
		uint8_t mask = pattern->mask[run->back + i];

		bytes[i] = pattern->bytes[run->back + i] & mask;
		for (unsigned bit = 0; bit < 8; bit++)
			if (!(mask >> bit & 1)) {
				bytes[i] |= (uint8_t)((choice & 1) << bit);
				choice >>= 1;
			}
	}
}

/* By bytes, then by pattern. */
static int compare_variants(const void *a, const void *b, void *memory)
{
	const struct variant *x = a, *y = b;
	int order = memcmp((uint8_t *)memory + x->at, (uint8_t *)memory + y->at,
		x->len < y->len ? x->len : y->len);

	if (!order)
		order = (x->len > y->len) - (x->len < y->len);
	if (!order)
		order = (x->record.pattern > y->record.pattern) -
			(x->record.pattern < y->record.pattern);
	return order;
}

static struct variant *write_variants(
	struct keyword_set *keywords, const struct pattern_set *set, const struct run *runs)
{
	struct variant *variants = xcalloc(keywords->record_count, sizeof(*variants));
	uint32_t count = 0, at = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		const struct run *run = &runs[i];
		bool whole = run->len == set->patterns[i].len && run->variants == 1;

		for (uint32_t choice = 0; run->len && choice < run->variants; choice++) {
			write_variant(keywords->memory + at, &set->patterns[i], run, choice);
			variants[count++] =
				(struct variant){ at, run->len, { i, (uint16_t)run->back, whole } };
			at += run->len;
		}
		if (run->back > keywords->reach)
			keywords->reach = run->back;
	}
	qsort_r(variants, count, sizeof(*variants), compare_variants, keywords->memory);
	return variants;
}

/* Makes one keyword of variants with equal bytes. */
static void merge_equal(struct keyword_set *keywords, const struct variant *variants)
{
	struct keyword *last = NULL;

	for (uint32_t i = 0; i < keywords->record_count; i++) {
		const uint8_t *bytes = keywords->memory + variants[i].at;
		uint32_t len = variants[i].len;

		keywords->records[i] = variants[i].record;
		if (last && last->len == len && memcmp(last->bytes, bytes, len) == 0) {
			last->count++;
			continue;
		}
		last = &keywords->items[keywords->count++];
		*last = (struct keyword){ bytes, len, i, 1 };
		if (len > keywords->longest)
			keywords->longest = len;
		if (!keywords->shortest || len < keywords->shortest)
			keywords->shortest = len;
	}
}

void keywords_make(struct keyword_set *keywords, const struct pattern_set *set, uint32_t longest)
{
	uint64_t count, len;
	struct run *runs = choose_runs(set, longest, &count, &len);
	struct variant *variants;

	memset(keywords, 0, sizeof(*keywords));
	keywords->record_count = (uint32_t)count;
	keywords->memory = xmalloc(len ? len : 1);
	keywords->items = xcalloc(count, sizeof(*keywords->items));
	keywords->records = xcalloc(count, sizeof(*keywords->records));
	variants = write_variants(keywords, set, runs);
	merge_equal(keywords, variants);
	free(variants);
	free(runs);
}

void keywords_free(struct keyword_set *keywords)
{
	free(keywords->items);
	free(keywords->records);
	free(keywords->memory);
	memset(keywords, 0, sizeof(*keywords));
}
