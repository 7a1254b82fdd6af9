/* The headers of a JPEG XL codestream before its frames. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_HEADER_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_HEADER_H

#include "jxl_bits.h"

#define JXL_EXTRA_MAX 256

struct jxl_image {
	uint32_t width, height;
	uint32_t preview_width, preview_height; /* 0: none */
	bool animated, timecodes, xyb, grey, profile;
	uint32_t extra_count; /* of channels besides colour */
	uint8_t extra_shift[JXL_EXTRA_MAX];
};

/* Reads them from the signature to the first frame. Returns what is wrong, or NULL. */
const char *jxl_header_read(struct jxl_bits *bits, struct jxl_image *image);

#endif
