/* A frame of a JPEG XL codestream: its header, and where its sections are. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_FRAME_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_FRAME_H

#include "jxl_header.h"

enum jxl_frame_type { JXL_REGULAR, JXL_LF, JXL_REFERENCE, JXL_SKIP };

#define JXL_NOISE 1
#define JXL_PATCHES 2
#define JXL_SPLINES 16
#define JXL_USE_LF 32

struct jxl_frame {
	enum jxl_frame_type type;
	bool modular, ycbcr, custom_size, last;
	uint64_t flags;
	unsigned chroma[3]; /* how YCbCr's channels are sampled */
	uint32_t upsampling, extra_upsampling[JXL_EXTRA_MAX];
	unsigned group_shift, pass_count, lf_level;
	uint32_t width, height;           /* as coded */
	uint32_t full_width, full_height; /* before upsampling */
	uint32_t group_len;               /* its side in pixels */
	uint64_t group_count, lf_group_count, section_count;
	bool permuted;                  /* they are in another order */
	uint64_t first, second;         /* the first two in decoding order */
	uint64_t last_one;              /* the last one that is not empty */
	uint64_t at, end;               /* of the sections, in the view */
	uint64_t first_at, first_len;   /* of the first */
	uint64_t second_at, second_len; /* of the second */
	uint64_t last_at;               /* of the last */
};

/* Reads header and table at bits, which is at a byte. Returns what is wrong, or NULL. */
const char *jxl_frame_read(struct jxl_bits *bits, const struct jxl_image *image, bool preview,
	struct jxl_frame *frame);

#endif
