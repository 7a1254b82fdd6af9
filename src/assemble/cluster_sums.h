/*
 * Sums of the CRC registers of the clusters around broken files whose formats have CRCs: with them the CRC
 * of bytes that are put together from pieces is known without reading them again. Made once, before the
 * first pass that asks for it; all threads read it.
 *
 * With X for what multiplies a register as a cluster of zeros does, and c(0), c(1), ... for the registers of
 * the clusters of a range, each from 0 on, the sums are G(k) = c(0) / X + c(1) / X^2 + ... + c(k-1) / X^k.
 * The register of the clusters from k to n is X^n (G(n) + G(k)): where pieces change over, sums change
 * over, too. All are kept as crc_root_of makes them, so that X is x. Sums of words are kept as they are (crc_algebra.h).
 */
#ifndef BURIN_ASSEMBLE_CLUSTER_SUMS_H
#define BURIN_ASSEMBLE_CLUSTER_SUMS_H

#include "assemble/crc_algebra.h"
#include "base/pool.h"
#include "base/ranges.h"
#include "carvers/carver.h"
#include "evidence/image.h"

struct cluster_sums;

/* Of the CRCs that a carver's map finds, or the sums. */
static inline enum crc_order crc_order_of(const struct carve_map *map)
{
	return map->sums_words      ? SUM_OF_WORDS
	       : map->highest_first ? CRC_HIGHEST_FIRST
				    : CRC_LOWEST_FIRST;
}

/* Empty, for clusters of that size that begin at offsets of the remainder `origin`. Never NULL. */
struct cluster_sums *cluster_sums_new(uint64_t size, uint64_t origin);
/* Adds those that are wholly in a range of the image. */
void cluster_sums_add(
	struct cluster_sums *sums, enum crc_order order, uint64_t offset, uint64_t length);
/* All was added: reads at most `most` bytes from the first cluster on, with the pool's threads. Clusters that are taken are
 * not read: what they add is cluster_sums_of_taken, as no piece has one. False: interrupted, or the image became
 * unreadable; there are none then. */
bool cluster_sums_find(struct cluster_sums *sums, struct image *image, const struct ranges *taken,
	uint64_t most, struct pool *pool, bool (*interrupted)(void));
/* What stands for the sum of bytes that a complete file has, at this offset: it agrees with others by chance only. */
uint32_t cluster_sums_of_taken(uint64_t offset);
/* The ranges of the image whose clusters were read. */
const struct ranges *cluster_sums_ranges(const struct cluster_sums *sums, enum crc_order order);
/* What made X an x. */
const struct crc_root *cluster_sums_root(const struct cluster_sums *sums);
/* G(0), G(1), ... to that after all clusters of the range with this number. */
const uint32_t *cluster_sums_of(
	const struct cluster_sums *sums, enum crc_order order, size_t number);
/* NULL is fine. */
void cluster_sums_free(struct cluster_sums *sums);

#endif
