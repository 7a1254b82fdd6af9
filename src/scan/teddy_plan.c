#include "scan/teddy_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static uint16_t allowed(uint8_t value, uint8_t mask)
{
	uint16_t set = 0;

	for (unsigned half = 0; half < 16; half++)
		if (((half ^ value) & mask & 15) == 0)
			set |= (uint16_t)(1u << half);
	return set;
}

/* For the bytes of one kind of data. */
static double byte_chance(const struct teddy_plan *plan, int kind, uint16_t low, uint16_t high)
{
	double sum = 0;

	/* As the sums of these come out. */
	if (kind == RARITY_ZERO)
		return low & high & 1;
	if (kind == RARITY_FILL)
		return (low & high) >> 15;
	if (kind == RARITY_RANDOM)
		return __builtin_popcount(low) * __builtin_popcount(high) / 256.0;
	for (unsigned h = high; h; h &= h - 1) {
		unsigned row = (unsigned)__builtin_ctz(h);

		if (low == 0xffff) {
			sum += plan->rows[kind][row];
			continue;
		}
		for (unsigned l = low; l; l &= l - 1)
			sum += plan->share[kind][row << 4 | (unsigned)__builtin_ctz(l)];
	}
	return sum;
}

static double chance_of(const struct teddy_plan *plan, const struct teddy_halves *halves)
{
	double sum = 0;

	for (int kind = 0; kind < RARITY_KINDS; kind++) {
		double product = rarity_weight[kind];

		for (int i = 0; i < TEDDY_PLACES && product > 0; i++)
			product *= byte_chance(plan, kind, halves->low[i], halves->high[i]);
		sum += product;
	}
	return sum;
}

/* The pattern's window at a place; past its end all is wild. */
static struct teddy_entry window_at(const struct pattern *pattern, uint32_t id, uint32_t place)
{
	struct teddy_entry entry = { .id = id, .place = place };

	for (uint32_t i = 0; i < TEDDY_PLACES && place + i < pattern->len; i++) {
		entry.value |= (uint32_t)pattern->bytes[place + i] << 8 * i;
		entry.mask |= (uint32_t)pattern->mask[place + i] << 8 * i;
	}
	return entry;
}

static struct teddy_halves halves_of(const struct teddy_entry *entry)
{
	struct teddy_halves halves;

	for (int i = 0; i < TEDDY_PLACES; i++) {
		uint8_t value = (uint8_t)(entry->value >> 8 * i),
			mask = (uint8_t)(entry->mask >> 8 * i);

		halves.low[i] = allowed(value, mask);
		halves.high[i] = allowed(value >> 4, mask >> 4);
	}
	return halves;
}

/* The window whose places are the rarest, as a bucket of its own. */
static void add_pattern(struct teddy_plan *plan, const struct pattern *pattern, uint32_t id)
{
	struct teddy_bucket *bucket = &plan->buckets[plan->count];
	struct teddy_entry *best = &plan->entries[plan->count];

	bucket->chance = 2;
	for (uint32_t place = 0; place < pattern->len; place++) {
		struct teddy_entry entry = window_at(pattern, id, place);
		struct teddy_halves halves = halves_of(&entry);
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

static struct teddy_halves unite(const struct teddy_halves *a, const struct teddy_halves *b)
{
	struct teddy_halves united;

	for (int i = 0; i < TEDDY_PLACES; i++) {
		united.low[i] = a->low[i] | b->low[i];
		united.high[i] = a->high[i] | b->high[i];
	}
	return united;
}

/* What uniting two buckets costs: places that pass, each to be compared with all
 * members. */
static double cost_of(
	const struct teddy_plan *plan, const struct teddy_bucket *a, const struct teddy_bucket *b)
{
	struct teddy_halves halves = unite(&a->halves, &b->halves);

	return chance_of(plan, &halves) * (1 + a->count + b->count) - a->chance * (1 + a->count) -
	       b->chance * (1 + b->count);
}

static void merge(struct teddy_plan *plan, uint32_t into, uint32_t from)
{
	struct teddy_bucket *a = &plan->buckets[into], *b = &plan->buckets[from];

	a->halves = unite(&a->halves, &b->halves);
	a->chance = chance_of(plan, &a->halves);
	a->members = xreallocarray(a->members, a->count + b->count, sizeof(*a->members));
	memcpy(a->members + a->count, b->members, b->count * sizeof(*b->members));
	a->count += b->count;
	free(b->members);
	*b = plan->buckets[--plan->count];
}

/* costs[a][b], a < b, is what uniting two buckets costs. */
static void find_cheapest(const struct teddy_plan *plan, double (*costs)[TEDDY_PATTERNS_MAX],
	uint32_t *into, uint32_t *from)
{
	*into = 0;
	*from = 1;
	for (uint32_t b = 1; b < plan->count; b++)
		for (uint32_t a = 0; a < b; a++)
			if (costs[a][b] < costs[*into][*from]) {
				*into = a;
				*from = b;
			}
}

/* After a bucket has changed; it may be gone. */
static void update_costs(
	const struct teddy_plan *plan, double (*costs)[TEDDY_PATTERNS_MAX], uint32_t changed)
{
	for (uint32_t i = 0; i < plan->count && changed < plan->count; i++) {
		uint32_t a = changed < i ? changed : i, b = changed < i ? i : changed;

		if (a < b)
			costs[a][b] = cost_of(plan, &plan->buckets[a], &plan->buckets[b]);
	}
}

/* The costs are kept up to date, so that a step costs no more than two rows of them. */
static void merge_all(struct teddy_plan *plan)
{
	double(*costs)[TEDDY_PATTERNS_MAX] = xcalloc(plan->count, sizeof(*costs));
	uint32_t into, from;

	for (uint32_t i = 0; i < plan->count; i++)
		update_costs(plan, costs, i);
	while (plan->count > TEDDY_BUCKETS) {
		find_cheapest(plan, costs, &into, &from);
		merge(plan, into, from);
		update_costs(plan, costs, into);
		update_costs(plan, costs, from);
	}
	free(costs);
}

void teddy_plan_make(
	struct teddy_plan *plan, const struct pattern_set *set, const uint32_t *ids, uint32_t count)
{
	*plan = (struct teddy_plan){ .count = 0 };
	rarity_bytes(plan->share);
	for (int kind = 0; kind < RARITY_KINDS; kind++)
		for (int byte = 0; byte < 256; byte++)
			plan->rows[kind][byte >> 4] += plan->share[kind][byte];
	plan->entries = xcalloc(count, sizeof(*plan->entries));
	plan->buckets = xcalloc(count, sizeof(*plan->buckets));
	for (uint32_t i = 0; i < count; i++)
		add_pattern(plan, &set->patterns[ids[i]], ids[i]);
	merge_all(plan);
}

double teddy_plan_busy(const struct teddy_plan *plan)
{
	double busy = 0;

	for (uint32_t b = 0; b < plan->count; b++)
		busy += plan->buckets[b].chance * (1 + plan->buckets[b].count);
	return busy;
}

void teddy_plan_free(struct teddy_plan *plan)
{
	for (uint32_t b = 0; b < plan->count; b++)
		free(plan->buckets[b].members);
	free(plan->buckets);
	free(plan->entries);
}
