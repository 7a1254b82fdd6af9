/* The section of an LF group of a JPEG XL frame with coefficients. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_LF_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_LF_H

#include "jxl_frame.h"
#include "jxl_modular.h"

/* Reads the first group's: the coarsest coefficients, `more` channels in modular mode, and how the
 * blocks are divided. */
enum jxl_outcome jxl_lf_read(struct jxl_bits *bits, const struct jxl_frame *frame,
	struct jxl_channels *more, struct jxl_tree *tree, uint64_t *work);

#endif
