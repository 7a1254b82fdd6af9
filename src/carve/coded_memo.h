/*
 * What trials of files in pieces share of the coded data that they decode (carvers/coded.h): a table of fixed size, of one image,
 * for all threads of a process. What it has changes nothing but time, so anything in it may be replaced at any time.
 */
#ifndef BURIN_CARVE_CODED_MEMO_H
#define BURIN_CARVE_CODED_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carvers/coded.h"

struct coded_memo;

/* Takes 12 MiB once it is used. Never NULL. */
struct coded_memo *coded_memo_new(void);
/* NULL is fine. */
void coded_memo_free(struct coded_memo *memo);

/* The number of a coding, the same for the same bytes, and what was made of it; 0: there are too many. From any thread, as the
 * others. */
uint32_t coded_memo_coding(
	struct coded_memo *memo, const struct coded_coding *coding, const void **made);
/* What decoding so comes to from a bit of the image on, counted from its first. False: that is not known. */
bool coded_memo_find(const struct coded_memo *memo, uint32_t coding, uint64_t bit,
	struct coded_stretch *stretch);
void coded_memo_add(struct coded_memo *memo, uint32_t coding, uint64_t bit,
	const struct coded_stretch *stretch);

#endif
