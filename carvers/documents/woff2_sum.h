/* The sum of a font that is compressed as WOFF 2.0, as its head table states it. */
#ifndef BURIN_CARVERS_DOCUMENTS_WOFF2_SUM_H
#define BURIN_CARVERS_DOCUMENTS_WOFF2_SUM_H

#include "carver.h"
#include "woff2.h"

enum woff2_sum {
	WOFF2_SUM_AGREES,
	WOFF2_SUM_INVALID, /* the outlines can't be restored */
	/* Tables other than outlines are transformed, no head table states a sum, or it states another one: some encoders do not set
	 * it. */
	WOFF2_SUM_UNKNOWN,
};

/* Restores the font from the tables, one after the other in `plain`, and compares its sum with that which its head table
 * states (checkSumAdjustment). */
enum woff2_sum woff2_sum_check(struct view *view, uint32_t flavor,
	const struct woff2_tables *tables, const uint8_t *plain);

#endif
