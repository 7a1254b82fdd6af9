#include "carve/precheck_cache.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

#define FIRST_SIZE 256 /* a power of two, as all sizes */

struct cached {
	uint64_t start;
	uint32_t rule;
	struct outcome outcome;
};

/* A ring: entry n is at n modulo size. */
struct precheck_cache {
	struct cached *entries;
	size_t size;
	uint64_t taken, added; /* since the start */
	size_t used;           /* bytes of entries and their parts */
};

static struct cached *entry_at(const struct precheck_cache *cache, uint64_t number)
{
	assert(number >= cache->taken && number - cache->taken < cache->size);
	return &cache->entries[number & (cache->size - 1)];
}

static size_t cost_of(const struct outcome *outcome)
{
	return sizeof(struct cached) + outcome_extra_len(outcome);
}

struct precheck_cache *precheck_cache_new(void)
{
	return xcalloc(1, sizeof(struct precheck_cache));
}

void precheck_cache_free(struct precheck_cache *cache)
{
	if (!cache)
		return;
	for (uint64_t n = cache->taken; n < cache->added; n++)
		outcome_free(&entry_at(cache, n)->outcome);
	free(cache->entries);
	free(cache);
}

static void grow(struct precheck_cache *cache)
{
	struct precheck_cache larger = *cache;

	larger.size = cache->size ? cache->size * 2 : FIRST_SIZE;
	larger.entries = xcalloc(larger.size, sizeof(*larger.entries));
	for (uint64_t n = cache->taken; n < cache->added; n++)
		*entry_at(&larger, n) = *entry_at(cache, n);
	free(cache->entries);
	*cache = larger;
}

void precheck_cache_add(
	struct precheck_cache *cache, uint64_t start, uint32_t rule, struct outcome *outcome)
{
	size_t cost = cost_of(outcome);

	if (cost > PRECHECK_CACHE_MAX - cache->used) {
		outcome_free(outcome);
		return;
	}
	if (cache->added - cache->taken == cache->size)
		grow(cache);
	*entry_at(cache, cache->added++) = (struct cached){ start, rule, *outcome };
	cache->used += cost;
	*outcome = (struct outcome){ 0 };
}

static bool is_before(const struct cached *entry, const struct candidate *candidate)
{
	return candidate_is_before(
		&(struct candidate){ .start = entry->start, .rule = entry->rule }, candidate);
}

void precheck_cache_skip(struct precheck_cache *cache, const struct candidate *candidate)
{
	while (cache->taken < cache->added && is_before(entry_at(cache, cache->taken), candidate)) {
		struct cached *entry = entry_at(cache, cache->taken);

		cache->used -= cost_of(&entry->outcome);
		outcome_free(&entry->outcome);
		cache->taken++;
	}
}

bool precheck_cache_take(
	struct precheck_cache *cache, const struct candidate *candidate, struct outcome *outcome)
{
	const struct cached *entry;

	precheck_cache_skip(cache, candidate);
	if (cache->taken == cache->added)
		return false;
	entry = entry_at(cache, cache->taken);
	if (entry->start != candidate->start || entry->rule != candidate->rule)
		return false;
	cache->taken++;
	cache->used -= cost_of(&entry->outcome);
	*outcome = entry->outcome;
	return true;
}
