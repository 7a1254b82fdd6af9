/* Two breaks with which a sum agrees: pairs of equal values, in time that their number bounds, whatever they are. */
#ifndef BURIN_ASSEMBLE_EQUAL_PAIRS_H
#define BURIN_ASSEMBLE_EQUAL_PAIRS_H

#include "assemble/search_device.h"

struct equal_pairs;

/* Values of one kind of break: the items [from, to). */
struct break_values {
	const uint32_t *items;
	size_t from, to;
};

/* For breaks whose numbers are less than `most`. Never NULL. */
struct equal_pairs *equal_pairs_new(size_t most);
/* NULL is fine. */
void equal_pairs_free(struct equal_pairs *pairs);
/* Adds as hits of a displacement all pairs j < k where firsts[j] = seconds[k], in order of k, j; not all of them once
 * there are more than CRC_HITS_MAX. */
void equal_pairs_find(struct equal_pairs *pairs, const struct break_values *firsts,
	const struct break_values *seconds, size_t displacement, struct crc_hits *hits);
void crc_hits_add(struct crc_hits *hits, size_t displacement, size_t second, size_t first);

#endif
