#include "carve/precheck_cache.h"

#include <stdlib.h>

#include "base/memory.h"

#define FIRST_SIZE 256 /* a power of two, as all sizes */

struct entry {
	uint64_t start;
	uint32_t rule;
	struct outcome outcome;
};

/* A ring: entry n lies at n modulo size. */
struct precheck_cache {
	struct entry *entries;
	size_t size;
	uint64_t taken, added; /* since the start */
	size_t held;           /* bytes of entries and their parts */
};

static struct entry *entry_at(const struct precheck_cache *early, uint64_t number)
{
	return &early->entries[number & (early->size - 1)];
}

static size_t cost_of(const struct outcome *outcome)
{
	return sizeof(struct entry) + outcome_extra_len(outcome);
}

struct precheck_cache *precheck_cache_new(void)
{
	return xcalloc(1, sizeof(struct precheck_cache));
}

void precheck_cache_free(struct precheck_cache *early)
{
	if (!early)
		return;
	for (uint64_t n = early->taken; n < early->added; n++)
		outcome_free(&entry_at(early, n)->outcome);
	free(early->entries);
	free(early);
}

static void grow(struct precheck_cache *early)
{
	struct precheck_cache larger = *early;

	larger.size = early->size ? early->size * 2 : FIRST_SIZE;
	larger.entries = xcalloc(larger.size, sizeof(*larger.entries));
	for (uint64_t n = early->taken; n < early->added; n++)
		*entry_at(&larger, n) = *entry_at(early, n);
	free(early->entries);
	*early = larger;
}

void precheck_cache_add(
	struct precheck_cache *early, uint64_t start, uint32_t rule, struct outcome *outcome)
{
	size_t cost = cost_of(outcome);

	if (cost > PRECHECK_CACHE_MAX - early->held) {
		outcome_free(outcome);
		return;
	}
	if (early->added - early->taken == early->size)
		grow(early);
	*entry_at(early, early->added++) = (struct entry){ start, rule, *outcome };
	early->held += cost;
	*outcome = (struct outcome){ 0 };
}

static bool is_before(const struct entry *entry, const struct candidate *candidate)
{
	return entry->start != candidate->start ? entry->start < candidate->start
						: entry->rule < candidate->rule;
}

void precheck_cache_skip(struct precheck_cache *early, const struct candidate *candidate)
{
	while (early->taken < early->added && is_before(entry_at(early, early->taken), candidate)) {
		struct entry *entry = entry_at(early, early->taken++);

		early->held -= cost_of(&entry->outcome);
		outcome_free(&entry->outcome);
	}
}

bool precheck_cache_take(
	struct precheck_cache *early, const struct candidate *candidate, struct outcome *outcome)
{
	const struct entry *entry;

	precheck_cache_skip(early, candidate);
	if (early->taken == early->added)
		return false;
	entry = entry_at(early, early->taken);
	if (entry->start != candidate->start || entry->rule != candidate->rule)
		return false;
	early->taken++;
	early->held -= cost_of(&entry->outcome);
	*outcome = entry->outcome;
	return true;
}
