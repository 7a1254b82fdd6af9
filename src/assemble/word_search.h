/* Breaks with which a sum of words agrees: what a search_device does for CRCs, with the arithmetic of SUM_OF_WORDS. */
#ifndef BURIN_ASSEMBLE_WORD_SEARCH_H
#define BURIN_ASSEMBLE_WORD_SEARCH_H

#include "assemble/search_device.h"

/* The same question, where sums are differences, and x is 1:
 *
 *	one break:   known[k] - sums[i+k] = ends[i]
 *	two breaks:  known[j] - sums[i+j] = rest[k] - sums[i+k]    and j < k
 */
void word_search_find_breaks(const struct crc_search *search, struct crc_hits *hits);

#endif
