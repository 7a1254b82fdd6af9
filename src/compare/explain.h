/* Why one side of a comparison lacks a file that the other has, or has a different one there. */
#ifndef BURIN_COMPARE_EXPLAIN_H
#define BURIN_COMPARE_EXPLAIN_H

#include "compare/compare.h"

struct explainer;

/* image: NULL when it is not at hand. other: what the other side is called, "A" or "B". All stays the
 * caller's. Never NULL. */
struct explainer *explainer_new(
	const struct compare_side *side, struct image *image, const char *other);
/* Sets why and text of a row that this side lacks; file is the other side's. */
void explain_missing(struct explainer *explainer, const struct listed *file, struct compared *row);
/* Sets why and text of a row with differences. */
void explain_difference(const struct listing *a, const struct listing *b, struct compared *row);
/* NULL is fine. */
void explainer_free(struct explainer *explainer);

#endif
