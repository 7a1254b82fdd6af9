/* How frequent each token is in a JPEG XL stream, and reading tokens with that distribution. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_DISTRIBUTION_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_DISTRIBUTION_H

#include "jxl_bits.h"
#include "prefix_code.h"

struct jxl_slot;

/* Frequencies for ANS. */
struct jxl_ans {
	struct jxl_slot *slots;
	unsigned slot_bits; /* log2 of how many values of the state's low bits share a slot */
};

/* Each reads a definition. False: it is invalid, or out of memory. Free the result in either
 * case. */
bool jxl_prefix_read(struct jxl_bits *bits, size_t alphabet, struct prefix_code *prefix);
bool jxl_ans_read(struct jxl_bits *bits, unsigned alpha, struct jxl_ans *ans);

/* Read the next symbol. state: of the coder, which is read from the data first. */
uint32_t jxl_prefix_next(struct jxl_bits *bits, const struct prefix_code *prefix);
uint32_t jxl_ans_next(struct jxl_bits *bits, const struct jxl_ans *ans, uint32_t *state);

#endif
