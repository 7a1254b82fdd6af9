/*
 * LfGroup (ISO/IEC 18181-1, G.2) of a frame with coefficients: the picture at an eighth of its
 * size, and for each block its transform, quantization and filter strength. All of it is in modular
 * mode, in streams of their own.
 */
#include "jxl_lf.h"

#define BLOCK 8
#define TILE 8

/* The stream numbers of the first of `count` LF groups. */
#define STREAM_COARSE(count) (1)
#define STREAM_MORE(count) (1 + (uint32_t)(count))
#define STREAM_BLOCKS(count) (1 + 2 * (uint32_t)(count))

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The blocks on a side of the frame, at the chroma channels' resolution. */
static uint32_t blocks(uint32_t side, bool halved)
{
	uint32_t step = halved ? 2 * BLOCK : BLOCK;

	return (side / step + (side % step != 0)) * (halved ? 2 : 1);
}

enum jxl_outcome jxl_lf_read(struct jxl_bits *bits, const struct jxl_frame *frame,
	struct jxl_channels *more, struct jxl_tree *tree, uint64_t *work)
{
	/* The possible subsamplings of YCbCr channels: 4:4:4, 4:2:0, 4:2:2, 4:4:0. */
	static const bool halves_x[4] = { false, true, true, false };
	static const bool halves_y[4] = { false, true, false, true };
	struct jxl_channels channels = { 0 };
	bool fine_x = false, fine_y = false;
	enum jxl_outcome outcome = JXL_VALID;
	uint32_t width, height, count;

	for (unsigned i = 0; i < 3; i++) {
		fine_x = fine_x || halves_x[frame->chroma[i]];
		fine_y = fine_y || halves_y[frame->chroma[i]];
	}
	width = min_u32(blocks(frame->width, fine_x), frame->group_len);
	height = min_u32(blocks(frame->height, fine_y), frame->group_len);
	if (!(frame->flags & JXL_USE_LF)) {
		/* Luma, which is the second, comes first. */
		static const uint8_t order[3] = { 1, 0, 2 };

		jxl_bits_read(bits, 2);
		for (unsigned i = 0; i < 3; i++) {
			unsigned mode = frame->chroma[order[i]];

			jxl_channels_add(&channels, width >> (fine_x && !halves_x[mode]),
				height >> (fine_y && !halves_y[mode]), 0);
		}
		outcome = jxl_modular_read(bits, &channels, UINT32_MAX,
			STREAM_COARSE(frame->lf_group_count), tree, work);
	}
	if (outcome == JXL_VALID && more)
		outcome = jxl_modular_read(
			bits, more, UINT32_MAX, STREAM_MORE(frame->lf_group_count), tree, work);
	if (outcome != JXL_VALID)
		return outcome;
	count = jxl_bits_read(bits, jxl_bit_len(width * height - 1)) + 1;
	jxl_bits_expect(bits, count <= width * height);
	channels.count = channels.meta_count = 0;
	for (unsigned i = 0; i < 2; i++)
		jxl_channels_add(&channels, width / TILE + (width % TILE != 0),
			height / TILE + (height % TILE != 0), 3);
	jxl_channels_add(&channels, count, 2, 0);
	jxl_channels_add(&channels, width, height, 0);
	if (!jxl_bits_ok(bits))
		return JXL_BROKEN;
	return jxl_modular_read(
		bits, &channels, UINT32_MAX, STREAM_BLOCKS(frame->lf_group_count), tree, work);
}
