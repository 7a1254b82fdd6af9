/*
 * Outcomes of checks that were made before anybody asked for them, by whoever searched the bytes
 * (run/run_scout.c). They come, and are asked for, in the order of the candidates. Not all are kept:
 * what is not here is checked when it is needed. One thread.
 */
#ifndef BURIN_CARVE_PRECHECK_CACHE_H
#define BURIN_CARVE_PRECHECK_CACHE_H

#include "carve/check.h"

/* What is kept, outcomes and their parts, takes at most about so many bytes: one that does not
 * fit is dropped. */
#define PRECHECK_CACHE_MAX ((size_t)64 << 20)

struct precheck_cache;

struct precheck_cache *precheck_cache_new(void);
/* NULL is fine. */
void precheck_cache_free(struct precheck_cache *early);
/* Takes over what the outcome holds. */
void precheck_cache_add(
	struct precheck_cache *early, uint64_t start, uint32_t rule, struct outcome *outcome);
/* Forgets those of candidates before this one. */
void precheck_cache_skip(struct precheck_cache *early, const struct candidate *candidate);
/* The same, and gives that of this candidate, which outcome_free must follow. False: it is not
 * known. */
bool precheck_cache_take(
	struct precheck_cache *early, const struct candidate *candidate, struct outcome *outcome);

#endif
