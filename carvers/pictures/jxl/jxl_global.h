/* The start of a JPEG XL frame's first section. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_GLOBAL_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_GLOBAL_H

#include "jxl_frame.h"
#include "jxl_tree.h"

/* Reads it up to the tree and its code, which it has if tree->nodes is set. False: it is invalid.
 * jxl_tree_free in either case. */
bool jxl_global_read(struct jxl_bits *bits, const struct jxl_image *image,
	const struct jxl_frame *frame, struct jxl_tree *tree);

#endif
