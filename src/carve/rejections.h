/*
 * Rejections in four bytes each. Most candidates are rejected at their first bytes, for one of a few
 * hundred reasons (with all numbers left out); so a rejection is remembered as the number of its
 * reason and the work that it took.
 */
#ifndef BURIN_CARVE_REJECTIONS_H
#define BURIN_CARVE_REJECTIONS_H

#include <stdint.h>

#include "carve/check.h"

struct rejections;

struct rejections *rejections_new(void);
/* NULL is fine. */
void rejections_free(struct rejections *rejections);

/* Returns a note of the outcome of a rejected candidate, never 0; or 0 when there is none, because
 * its work or the number of reasons is too large. From any thread. */
uint32_t rejections_note(
	struct rejections *rejections, uint32_t rule, const struct outcome *outcome);
/* Writes what a note has of an outcome, which holds zeros, or what another note had: verdict, reason and work. The
 * reason is without the numbers. From any thread. */
void rejections_outcome(
	const struct rejections *rejections, uint32_t note, struct outcome *outcome);

/* The reason of a rejection as it is counted: so that reasons stay few, numbers are replaced by N,
 * and what was found instead of something expected is left out. len: of the text's room. */
void rejection_reason(const char *why, char *text, size_t len);

#endif
