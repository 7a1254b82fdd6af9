/* Samples of JPEG XL's modular mode. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_MODULAR_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_MODULAR_H

#include "jxl_tree.h"

#define JXL_CHANNELS_MOST 1024

struct jxl_channel {
	uint32_t width, height;
	int8_t shift_x,
		shift_y; /* how often it was halved, by powers of two; -1: it is a palette */
	int32_t *samples;
};

struct jxl_channels {
	uint32_t count, meta_count; /* meta: palettes, in front */
	struct jxl_channel list[JXL_CHANNELS_MOST];
};

enum jxl_outcome {
	JXL_SOUND,
	JXL_BROKEN,
	JXL_UNKNOWN, /* too much to decode, or no memory */
};

/* Reads transforms, which change what channels there are, and applies them. */
enum jxl_outcome jxl_transforms_read(struct jxl_bits *bits, struct jxl_channels *channels);

/* Reads the channels' samples, up to the first that is no palette and has a side longer than
 * side_most. `stream` is the number of this part among all; global the frame's tree; work how much
 * may be done yet. */
enum jxl_outcome jxl_modular_read(struct jxl_bits *bits, struct jxl_channels *channels,
	uint32_t side_most, uint32_t stream, struct jxl_tree *global, uint64_t *work);

#endif
