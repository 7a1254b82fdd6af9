/* What the two halves of the PNG carver tell each other. */
#ifndef BURIN_CARVERS_PICTURES_PNG_H
#define BURIN_CARVERS_PICTURES_PNG_H

#include <stdbool.h>

#include "carver.h"

/* From IHDR: what the rows of the picture look like once unpacked. */
struct png_shape {
	uint32_t width, height;
	uint8_t depth, colour;
	bool interlaced;
	bool bare; /* Apple's variant: the deflate stream has no zlib head */
};

/* How far the picture data that starts with the IDAT chunk at first_idat is sound: the offset
 * behind it, at most limit. All chunks but the last before limit must have been walked already. */
uint64_t png_data_end(
	struct view *view, const struct png_shape *shape, uint64_t first_idat, uint64_t limit);

#endif
