/*
 * Rejects weak hits while the bytes after them are at hand (carve/quick.h): in the engine's threads,
 * or in the pool's for engines that do not sift.
 */
#ifndef BURIN_RUN_SIFT_H
#define BURIN_RUN_SIFT_H

#include "base/pool.h"
#include "carve/quick.h"
#include "scan/scan.h"

struct sift;

/* The pool must have options->threads. What options point to must outlive it, as the rejections. */
struct sift *sift_new(
	const struct quick_options *options, struct rejections *rejections, struct pool *pool);
/* NULL is fine. */
void sift_free(struct sift *sift);

/* For the engine. NULL for NULL. */
const struct scan_sifter *sift_sifter(const struct sift *sift);
/* Sifts the hits of a chunk that the engine has not sifted: in the pool, while the caller waits. */
void sift_chunk(struct sift *sift, struct chunk *chunk);
/* The rule of whose candidate a hit's note is; UINT32_MAX: none. */
uint32_t sift_rule(const struct sift *sift, const struct hit *hit);

#endif
