/* What a JPEG XL codestream says of its picture in front of the frames. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_HEADER_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_HEADER_H

#include "jxl_bits.h"

#define JXL_EXTRA_MOST 256

struct jxl_image {
	uint32_t width, height;
	uint32_t preview_width, preview_height; /* 0: none */
	bool animated, timecodes, xyb, grey, profile;
	uint32_t extra_count; /* of channels besides colour */
	uint8_t extra_shift[JXL_EXTRA_MOST];
};

/* Reads it from the signature up to the first frame. What is wrong, or NULL. */
const char *jxl_header_read(struct jxl_bits *bits, struct jxl_image *image);

#endif
