/*
 * Parameter sets of H.264 (ITU-T H.264, 7.3.2.1.1 and 7.3.2.2): what its slices cannot be read without.
 */
#include "h264.h"

#include "h264_bits.h"

enum { BASELINE = 66, EXTENDED = 88 };

/* Macroblocks of a picture that a level allows (table A-1). */
#define MACROBLOCKS_MAX 139264
#define LEVEL_MIN 9   /* level_idc */
#define DEPTH_MAX 6   /* bits of a sample beyond 8 */
#define FRAMES_MAX 16 /* max_num_ref_frames */

/* 7.3.2.1.1.1: a list of scales; only its codes are of interest. */
static bool skip_scales(struct h264_bits *bits, unsigned count)
{
	int last = 8, next = 8;

	for (unsigned i = 0; i < count; i++) {
		if (next) {
			int32_t delta = h264_se(bits);

			if (delta < -128 || delta > 127)
				return false;
			next = (last + delta + 256) % 256;
		}
		last = next ? next : last;
	}
	return true;
}

static bool skip_matrices(struct h264_bits *bits, unsigned lists)
{
	for (unsigned i = 0; i < lists; i++)
		if (h264_take(bits, 1) && !skip_scales(bits, i < 6 ? 16 : 64))
			return false;
	return true;
}

static bool has_chroma_format(unsigned profile)
{
	switch (profile) {
	case 100:
	case 110:
	case 122:
	case 244:
	case 44:
	case 83:
	case 86:
	case 118:
	case 128:
	case 138:
	case 139:
	case 134:
	case 135:
		return true;
	}
	return false;
}

/* True: it is understood. *sps tells whether it is followed. */
static bool read_sps(struct h264_bits *bits, struct h264_sps *sps)
{
	unsigned profile = h264_take(bits, 8);
	uint32_t value, width, height, format = 1, depth = 0;
	bool reserved;

	h264_take(bits, 6);
	reserved = h264_take(bits, 2);
	if (reserved || h264_take(bits, 8) < LEVEL_MIN)
		return false;
	value = h264_ue(bits);
	if (value > 31)
		return false;
	*sps = (struct h264_sps){ .set = true, .followed = true, .id = (uint8_t)value };
	sps->any_order = profile == BASELINE || profile == EXTENDED;
	if (has_chroma_format(profile)) {
		format = h264_ue(bits);
		if (format > 3)
			return false;
		if (format == 3)
			h264_take(bits, 1);
		for (int i = 0; i < 2; i++) {
			value = h264_ue(bits);
			if (value > DEPTH_MAX)
				return false;
			depth |= value;
		}
		h264_take(bits, 1);
		if (h264_take(bits, 1) && !skip_matrices(bits, format == 3 ? 12 : 8))
			return false;
	}
	value = h264_ue(bits);
	if (value > 12)
		return false;
	sps->frame_num_bits = (uint8_t)(value + 4);
	value = h264_ue(bits);
	if (value > 2)
		return false;
	sps->order_type = (uint8_t)value;
	if (value == 0) {
		value = h264_ue(bits);
		if (value > 12)
			return false;
		sps->order_bits = (uint8_t)(value + 4);
	} else if (value == 1) {
		sps->order_always_zero = h264_take(bits, 1);
		h264_se(bits);
		h264_se(bits);
		value = h264_ue(bits);
		if (value > 255)
			return false;
		while (value--)
			h264_se(bits);
	}
	if (h264_ue(bits) > FRAMES_MAX)
		return false;
	h264_take(bits, 1);
	width = h264_ue(bits);
	height = h264_ue(bits);
	sps->frames_only = h264_take(bits, 1);
	if (!sps->frames_only)
		sps->adaptive_frames = h264_take(bits, 1);
	sps->direct_8x8 = h264_take(bits, 1);
	if (width >= H264_SIDE_MAX || height >= H264_SIDE_MAX)
		return false;
	width++;
	height = (height + 1) * (sps->frames_only ? 1 : 2);
	if (width * height > MACROBLOCKS_MAX)
		return false;
	sps->width = (uint16_t)width;
	sps->height = (uint16_t)height;
	if (format != 1 || depth)
		sps->followed = false;
	return h264_left(bits) >= 0;
}

bool h264_sps_read(struct view *view, uint64_t at, uint64_t end, struct h264_sps *sps)
{
	const uint8_t *p = at < end ? view_peek(view, at, 1) : NULL;
	struct h264_bits bits;

	if (!p || (*p & 31) != H264_NAL_SPS)
		return false;
	h264_bits_open(&bits, view, at + 1, end);
	return read_sps(&bits, sps);
}

static bool read_pps(struct h264_bits *bits, struct h264_pps *pps)
{
	uint32_t id = h264_ue(bits), sps_id = h264_ue(bits), value;
	int32_t qp;

	if (id > 255 || sps_id > 31)
		return false;
	*pps = (struct h264_pps){
		.set = true, .followed = true, .id = (uint8_t)id, .sps_id = (uint8_t)sps_id
	};
	pps->cabac = h264_take(bits, 1);
	pps->frame_order = h264_take(bits, 1);
	if (h264_ue(bits)) { /* groups of slices */
		pps->followed = false;
		return true;
	}
	for (int i = 0; i < 2; i++) {
		value = h264_ue(bits);
		if (value > 31)
			return false;
		pps->refs[i] = (uint8_t)(value + 1);
	}
	pps->weighted = h264_take(bits, 1);
	pps->weighted_b = (uint8_t)h264_take(bits, 2);
	qp = h264_se(bits);
	if (qp < -26 - 36 || qp > 25)
		return false;
	pps->qp = (int8_t)(26 + qp);
	h264_se(bits);
	h264_se(bits);
	pps->deblocking = h264_take(bits, 1);
	h264_take(bits, 1);
	pps->redundant = h264_take(bits, 1);
	if (h264_left(bits) > 0)
		pps->transform_8x8 = h264_take(bits, 1);
	return h264_left(bits) >= 0;
}

/* False: there is no room. */
static bool keep_sps(struct h264_params *params, const struct h264_sps *sps)
{
	size_t i = 0;

	while (i < H264_SPS_MAX && params->sps[i].set && params->sps[i].id != sps->id)
		i++;
	if (i < H264_SPS_MAX)
		params->sps[i] = *sps;
	return i < H264_SPS_MAX;
}

static bool keep_pps(struct h264_params *params, const struct h264_pps *pps)
{
	size_t i = 0;

	while (i < H264_PPS_MAX && params->pps[i].set && params->pps[i].id != pps->id)
		i++;
	if (i < H264_PPS_MAX)
		params->pps[i] = *pps;
	return i < H264_PPS_MAX;
}

void h264_add(struct h264_params *params, struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = at < end ? view_peek(view, at, 1) : NULL;
	unsigned type = p ? *p & 31 : 0;
	struct h264_bits bits;
	struct h264_sps sps;
	struct h264_pps pps;
	bool kept = true;

	if (type == H264_NAL_SPS) {
		kept = h264_sps_read(view, at, end, &sps) && keep_sps(params, &sps);
	} else if (type == H264_NAL_PPS) {
		h264_bits_open(&bits, view, at + 1, end);
		kept = read_pps(&bits, &pps) && keep_pps(params, &pps);
	}
	params->lost |= !kept;
}
