/* Samples of JPEG XL's modular mode. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_MODULAR_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_MODULAR_H

#include "jxl_tree.h"

#define JXL_CHANNELS_MAX 1024

struct jxl_channel {
	uint32_t width, height;
	int8_t shift_x,
		shift_y; /* how often it was halved, as powers of two; -1: it is a palette */
	int32_t *samples;
};

struct jxl_channels {
	uint32_t count, meta_count; /* meta: palettes, which come first */
	struct jxl_channel list[JXL_CHANNELS_MAX];
};

enum jxl_outcome {
	JXL_VALID,
	JXL_BROKEN,
	JXL_UNKNOWN, /* too much to decode, or out of memory */
};

/* Adds a channel that was halved `shift` times in both directions. The list must have room. */
void jxl_channels_add(struct jxl_channels *channels, uint32_t width, uint32_t height, int shift);

/* Reads transforms, which change the list of channels, and applies them to it. */
enum jxl_outcome jxl_transforms_read(struct jxl_bits *bits, struct jxl_channels *channels);

/* Reads the channels' samples, up to the first that is not a palette and has a side longer than
 * side_max. `stream` is the number of this stream among all; global is the frame's tree; *work is
 * how much may still be done. */
enum jxl_outcome jxl_modular_read(struct jxl_bits *bits, struct jxl_channels *channels,
	uint32_t side_max, uint32_t stream, struct jxl_tree *global, uint64_t *work);

#endif
