/*
 * How teddy (teddy.h) distributes patterns over its buckets.
 *
 * Each pattern is represented by three of its bytes in a row, those that are rarest on disks. A
 * bucket passes all combinations of its patterns' half bytes, so similar patterns share a bucket:
 * starting with a bucket for each pattern, the two whose union lets the least more pass are united
 * until there are few enough. How much that is follows from the model of what disks hold
 * (patterns/rarity.h).
 */
#ifndef BURIN_SCAN_TEDDY_PLAN_H
#define BURIN_SCAN_TEDDY_PLAN_H

#include "patterns/pattern_set.h"
#include "patterns/rarity.h"

enum {
	TEDDY_PLACES = 3, /* bytes that the vectors look up */
	TEDDY_BUCKETS = 16,
	TEDDY_PATTERNS_MAX = 164, /* planning for more takes too long */
};

/* What the places may hold: bit h of low is set when the low half may be h. */
struct teddy_halves {
	uint16_t low[TEDDY_PLACES], high[TEDDY_PLACES];
};

struct teddy_entry {
	uint32_t value, mask; /* of the TEDDY_PLACES bytes, little-endian */
	uint32_t id, place;
};

struct teddy_bucket {
	struct teddy_halves halves;
	double chance;            /* that a place passes */
	uint32_t count, *members; /* indices */
};

struct teddy_plan {
	float share[RARITY_KINDS][256];
	double rows[RARITY_KINDS][16]; /* of bytes with the same high half */
	struct teddy_entry *entries;
	struct teddy_bucket *buckets;
	uint32_t count; /* of buckets */
};

/* Distributes count patterns, at least one, over TEDDY_BUCKETS buckets or fewer. */
void teddy_plan_make(struct teddy_plan *plan, const struct pattern_set *set, const uint32_t *ids,
	uint32_t count);
/* The expected number of comparisons at a place of the text, by the model. */
double teddy_plan_busy(const struct teddy_plan *plan);
void teddy_plan_free(struct teddy_plan *plan);

#endif
