/*
 * How teddy (teddy.h) deals patterns to its buckets.
 *
 * Each pattern is represented by three of its bytes in a row, those that are rarest on disks. What
 * a bucket lets through are all combinations of the halves of bytes that its patterns have, so
 * patterns that are alike share a bucket: starting from a bucket for each, the two whose union lets
 * through the least more are united until there are few enough. How much is by the model of what
 * stands on disks (rarity.h).
 */
#ifndef BURIN_SCAN_TEDDY_PLAN_H
#define BURIN_SCAN_TEDDY_PLAN_H

#include "patterns/pattern_set.h"
#include "patterns/rarity.h"

enum {
	TEDDY_PLACES = 3, /* bytes that the vectors look at */
	TEDDY_WINDOW = 4, /* and these together are compared first */
	TEDDY_BUCKETS = 16,
	TEDDY_PATTERNS_MAX = 160, /* sorting out more takes too long */
};

/* What stands at the places: bit h of low is set when the low half may be h. */
struct teddy_halves {
	uint16_t low[TEDDY_PLACES], high[TEDDY_PLACES];
};

struct teddy_entry {
	uint32_t value, mask; /* of the TEDDY_WINDOW bytes, little-endian */
	uint32_t id, place;
};

struct teddy_bucket {
	struct teddy_halves halves;
	double chance;            /* that it lets a place through */
	uint32_t count, *members; /* indices */
};

struct teddy_plan {
	float share[RARITY_KINDS][256];
	struct teddy_entry *entries;
	struct teddy_bucket *buckets;
	uint32_t count; /* of buckets */
};

/* Deals count patterns, at least one, to TEDDY_BUCKETS buckets or fewer. */
void teddy_plan_make(struct teddy_plan *plan, const struct pattern_set *set, const uint32_t *ids,
	uint32_t count);
/* Comparisons a place of the text that the buckets ask for, by the model. */
double teddy_plan_busy(const struct teddy_plan *plan);
void teddy_plan_free(struct teddy_plan *plan);

#endif
