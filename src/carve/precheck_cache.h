/*
 * Outcomes of checks that a worker made ahead of time, of what it found in the part of the image
 * that it searched. They are added, and taken out, in the order of the candidates. Not all are
 * kept: a candidate without one is checked when its turn comes. One thread.
 */
#ifndef BURIN_CARVE_PRECHECK_CACHE_H
#define BURIN_CARVE_PRECHECK_CACHE_H

#include "carve/check.h"

/* Bytes that all outcomes and their parts may take; one that does not fit is dropped. */
#define PRECHECK_CACHE_MAX ((size_t)64 << 20)

struct precheck_cache;

struct precheck_cache *precheck_cache_new(void);
/* NULL is fine. */
void precheck_cache_free(struct precheck_cache *cache);
/* Takes over what the outcome owns. */
void precheck_cache_add(
	struct precheck_cache *cache, uint64_t start, uint32_t rule, struct outcome *outcome);
/* Drops outcomes of candidates before this one. */
void precheck_cache_skip(struct precheck_cache *cache, const struct candidate *candidate);
/* Also takes out this candidate's, which the caller frees with outcome_free. False: there is
 * none. */
bool precheck_cache_take(
	struct precheck_cache *cache, const struct candidate *candidate, struct outcome *outcome);

#endif
