/*
 * What the engine `hyperscan` has compiled: to which of its ways of searching each pattern went,
 * and what each way needs. hyperscan_compile.c makes it, hyperscan.c searches with it.
 */
#ifndef BURIN_SCAN_HYPERSCAN_COMPILE_H
#define BURIN_SCAN_HYPERSCAN_COMPILE_H

#include <hs.h>

#include "patterns/anchor.h"
#include "scan/grams.h"
#include "scan/matcher.h"
#include "scan/pairs.h"
#include "scan/teddy.h"

/* Hyperscan's databases. */
enum { LITERALS, SHORT, REGEXES, GROUPS };

struct group {
	hs_database_t *database; /* NULL when the group is empty */
	unsigned count;
	size_t reach; /* bytes behind the last start that have to be scanned */
};

struct hyperscan {
	const struct pattern_set *set;
	struct anchor *anchors; /* one a pattern; of a regex unused */
	struct group groups[GROUPS];
	struct teddy *teddy; /* NULL when these are no patterns for it */
	uint32_t teddy_count;
	struct grams *grams; /* NULL in the same way */
	bool *taken;         /* a pattern: teddy or grams have it */
	struct pairs *pairs; /* NULL when no pattern needs them */
	struct pairs *guard; /* of the patterns that Hyperscan searches, but for regexes; NULL
				without any */
	uint32_t *guarded;   /* their ids */
	uint32_t guarded_count;
	uint32_t *paired; /* ids of the patterns that the pairs are made of */
	uint32_t paired_count;
	uint32_t *strangers; /* regexes that Hyperscan takes not: tried at each byte */
	uint32_t stranger_count;
	hs_scratch_t *scratch; /* what the threads' are cloned from */
	char kernel[96];
};

/* As a matcher's compile and free; the database is a struct hyperscan. */
int hyperscan_compile(void **database, const struct pattern_set *set, struct error *error);
void hyperscan_free(void *database);

#endif
