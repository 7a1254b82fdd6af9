/*
 * The quick rejection of weak headers. Random data has sixteen thousand hits a GiB of a header of
 * two bytes, and nearly all of them are rejected by the first bytes after it. So the check of such
 * a candidate is tried where the hit is found, on the bytes that were just scanned; only what it
 * does not reject becomes work for others.
 *
 * It is the same check, which sees those bytes alone. Where it asks for others, it has rejected
 * nothing. So whether a candidate is tried, and with how many bytes, changes no result.
 */
#ifndef BURIN_CARVE_QUICK_H
#define BURIN_CARVE_QUICK_H

#include <stdbool.h>
#include <stdint.h>

#include "carve/rejections.h"

struct quick;

struct quick_options {
	const struct rules *rules;
	struct image *image; /* that is searched */
	bool scalpel;        /* as in pairing_options */
	unsigned threads;
	bool confined; /* carvers are for other processes: only the rules' own demands are tried */
};

/* What options point to must outlive it. */
struct quick *quick_new(const struct quick_options *options, struct rejections *rejections);
/* NULL is fine. */
void quick_free(struct quick *quick);

/* The rule whose candidates are tried at hits of the pattern; UINT32_MAX: none. */
uint32_t quick_rule(const struct quick *quick, uint32_t pattern);
/* Tries the candidate of that rule at a hit. bytes: the image's [offset, offset + len), which hold
 * the hit. Returns a note of the rejection (carve/rejections.h); 0: none. From any thread; worker:
 * its number below `threads`. */
uint32_t quick_try(struct quick *quick, unsigned worker, const uint8_t *bytes, uint64_t offset,
	size_t len, uint64_t hit, uint32_t pattern);

#endif
