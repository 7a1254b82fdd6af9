/*
 * Parameter sets of H.265 (ITU-T H.265, 7.3.2.2 and 7.3.2.3): what its slices cannot be read without.
 */
#include "hevc.h"

#include "h264_bits.h"

#define HEAD_LEN 2 /* of a NAL unit */
#define LAYERS_MAX 7
#define REFERENCES_MAX 64 /* sets of them; a set's pictures are */
#define PICTURES_MAX 16   /* at most */
#define WIDE_ASPECT 255   /* aspect_ratio_idc: it is written out */

static bool flag(struct h264_bits *bits)
{
	return h264_take(bits, 1);
}

/* 7.3.3. Of the flags that say what profile it is nothing is needed. */
static void skip_profile(struct h264_bits *bits, unsigned layers)
{
	unsigned profiles = 0, levels = 0;

	for (unsigned i = 0; i < 3; i++)
		h264_take(bits, 32);
	for (unsigned i = 0; i < layers; i++) {
		profiles += flag(bits);
		levels += flag(bits);
	}
	if (layers)
		h264_take(bits, (int)(2 * (8 - layers)));
	for (unsigned i = 0; i < profiles; i++) {
		h264_take(bits, 32);
		h264_take(bits, 32);
		h264_take(bits, 24);
	}
	for (unsigned i = 0; i < levels; i++)
		h264_take(bits, 8);
}

/* 7.3.4 */
static void skip_scales(struct h264_bits *bits)
{
	for (unsigned size = 0; size < 4; size++)
		for (unsigned matrix = 0; matrix < 6; matrix += size == 3 ? 3 : 1) {
			if (!flag(bits)) {
				h264_ue(bits);
				continue;
			}
			if (size > 1)
				h264_se(bits);
			for (unsigned i = 0; i < (size ? 64 : 16); i++)
				h264_se(bits);
		}
}

/* 7.3.7; a set after the first may be told by one before. False: there is no valid set. */
static bool skip_references(struct h264_bits *bits, unsigned count)
{
	unsigned pictures[REFERENCES_MAX] = { 0 };

	for (unsigned i = 0; i < count; i++) {
		uint32_t before, after;

		if (i && flag(bits)) {
			flag(bits);
			h264_ue(bits);
			for (unsigned k = 0, old = pictures[i - 1]; k <= old; k++)
				pictures[i] += flag(bits) || flag(bits);
			if (pictures[i] > PICTURES_MAX)
				return false;
			continue;
		}
		before = h264_ue(bits);
		after = h264_ue(bits);
		if (before > PICTURES_MAX || after > PICTURES_MAX)
			return false;
		pictures[i] = before + after;
		for (unsigned k = 0; k < pictures[i]; k++) {
			h264_ue(bits);
			flag(bits);
		}
	}
	return true;
}

/* E.2.1. False: it has times of a stream's decoding, after which nothing is found. */
static bool skip_usability(struct h264_bits *bits)
{
	if (flag(bits) && h264_take(bits, 8) == WIDE_ASPECT)
		h264_take(bits, 32);
	if (flag(bits))
		flag(bits);
	if (flag(bits)) {
		h264_take(bits, 4);
		if (flag(bits))
			h264_take(bits, 24);
	}
	if (flag(bits)) {
		h264_ue(bits);
		h264_ue(bits);
	}
	h264_take(bits, 3);
	if (flag(bits))
		for (unsigned i = 0; i < 4; i++)
			h264_ue(bits);
	if (flag(bits)) {
		h264_take(bits, 32);
		h264_take(bits, 32);
		if (flag(bits))
			h264_ue(bits);
		if (flag(bits))
			return false;
	}
	if (flag(bits)) {
		h264_take(bits, 3);
		for (unsigned i = 0; i < 5; i++)
			h264_ue(bits);
	}
	return true;
}

static uint8_t small(struct h264_bits *bits, unsigned add)
{
	uint32_t number = h264_ue(bits);

	return number > 32 ? 64 : (uint8_t)(number + add);
}

static bool read_blocks(struct h264_bits *bits, struct hevc_sps *sps)
{
	sps->min_block = small(bits, 3);
	sps->max_block = small(bits, sps->min_block);
	sps->min_transform = small(bits, 2);
	sps->max_transform = small(bits, sps->min_transform);
	h264_ue(bits);
	sps->depth = small(bits, 0);
	return sps->max_block >= 4 && sps->max_block <= 6 && sps->max_transform <= 5 &&
	       sps->min_transform < sps->min_block && sps->max_transform <= sps->max_block &&
	       sps->depth <= sps->max_block - sps->min_transform;
}

static bool read_pcm(struct h264_bits *bits, struct hevc_sps *sps)
{
	sps->pcm = flag(bits);
	if (!sps->pcm)
		return true;
	sps->pcm_luma_bits = (uint8_t)(h264_take(bits, 4) + 1);
	sps->pcm_chroma_bits = (uint8_t)(h264_take(bits, 4) + 1);
	sps->min_pcm = small(bits, 3);
	sps->max_pcm = small(bits, sps->min_pcm);
	flag(bits);
	return sps->max_pcm <= 5;
}

/* What a slice's header and the extensions need. False: it is not followed. */
static bool read_end(struct h264_bits *bits, struct hevc_sps *sps)
{
	uint32_t count = h264_ue(bits);

	if (count > REFERENCES_MAX || !skip_references(bits, count))
		return false;
	if (flag(bits)) {
		count = h264_ue(bits);
		if (count > REFERENCES_MAX / 2)
			return false;
		for (unsigned i = 0; i < count; i++)
			h264_take(bits, sps->order_bits + 1);
	}
	h264_take(bits, 2);
	return (!flag(bits) || skip_usability(bits)) && !flag(bits);
}

static bool read_sps(struct h264_bits *bits, struct hevc_sps *sps)
{
	unsigned layers;
	uint32_t width, height;

	h264_take(bits, 4);
	layers = h264_take(bits, 3);
	flag(bits);
	if (layers >= LAYERS_MAX)
		return false;
	skip_profile(bits, layers);
	sps->id = small(bits, 0);
	sps->chroma = small(bits, 0);
	if (sps->id > 15 || sps->chroma > 3 || (sps->chroma == 3 && flag(bits)))
		return false;
	width = h264_ue(bits);
	height = h264_ue(bits);
	if (!width || width > HEVC_SIDE_MAX || !height || height > HEVC_SIDE_MAX)
		return false;
	sps->width = (uint16_t)width;
	sps->height = (uint16_t)height;
	if (flag(bits))
		for (unsigned i = 0; i < 4; i++)
			h264_ue(bits);
	sps->luma_bits = small(bits, 8);
	sps->chroma_bits = small(bits, 8);
	sps->order_bits = small(bits, 4);
	if (sps->luma_bits > 16 || sps->chroma_bits > 16 || sps->order_bits > 16)
		return false;
	for (unsigned i = flag(bits) ? 0 : layers; i <= layers; i++)
		for (unsigned k = 0; k < 3; k++)
			h264_ue(bits);
	if (!read_blocks(bits, sps))
		return false;
	if (flag(bits) && flag(bits))
		skip_scales(bits);
	flag(bits);
	sps->offsets = flag(bits);
	sps->set = read_pcm(bits, sps);
	sps->followed = sps->set && read_end(bits, sps) && h264_left(bits) >= 0;
	return sps->set;
}

static bool read_pps(struct h264_bits *bits, struct hevc_pps *pps)
{
	int32_t qp;
	bool tiles;

	pps->id = small(bits, 0);
	pps->sps_id = small(bits, 0);
	pps->dependent = flag(bits);
	pps->output = flag(bits);
	pps->extra = (uint8_t)h264_take(bits, 3);
	pps->hides_signs = flag(bits);
	flag(bits);
	h264_ue(bits);
	h264_ue(bits);
	qp = h264_se(bits);
	if (pps->id > 63 || pps->sps_id > 15 || qp < -26 - 48 || qp > 25)
		return false;
	pps->qp = (int8_t)(26 + qp);
	flag(bits);
	pps->skips_transform = flag(bits);
	pps->deltas = flag(bits);
	pps->delta_depth = pps->deltas ? small(bits, 0) : 0;
	h264_se(bits);
	h264_se(bits);
	pps->chroma_deltas = flag(bits);
	h264_take(bits, 2);
	pps->bypasses = flag(bits);
	tiles = flag(bits);
	pps->syncs = flag(bits);
	pps->set = true;
	if (tiles || pps->delta_depth > 3)
		return true;
	pps->filters_across = flag(bits);
	if (flag(bits)) {
		pps->overrides = flag(bits);
		pps->filter_off = flag(bits);
		if (!pps->filter_off) {
			h264_se(bits);
			h264_se(bits);
		}
	}
	if (flag(bits))
		skip_scales(bits);
	flag(bits);
	h264_ue(bits);
	pps->extends = flag(bits);
	pps->followed = !flag(bits) && h264_left(bits) >= 0;
	return true;
}

static void add_sps(struct hevc_params *params, const struct hevc_sps *sps)
{
	for (unsigned i = 0; i < HEVC_SETS_MAX; i++)
		if (!params->sps[i].set || params->sps[i].id == sps->id) {
			params->sps[i] = *sps;
			return;
		}
}

static void add_pps(struct hevc_params *params, const struct hevc_pps *pps)
{
	for (unsigned i = 0; i < HEVC_SETS_MAX; i++)
		if (!params->pps[i].set || params->pps[i].id == pps->id) {
			params->pps[i] = *pps;
			return;
		}
}

void hevc_add(struct hevc_params *params, struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at > HEAD_LEN ? view_peek(view, at, HEAD_LEN) : NULL;
	unsigned type = p ? p[0] >> 1 & 63 : 0;
	struct hevc_sps sps = { 0 };
	struct hevc_pps pps = { 0 };
	struct h264_bits bits;

	if (type != HEVC_NAL_SPS && type != HEVC_NAL_PPS)
		return;
	h264_bits_open(&bits, view, at + HEAD_LEN, end);
	if (type == HEVC_NAL_SPS && read_sps(&bits, &sps))
		add_sps(params, &sps);
	if (type == HEVC_NAL_PPS && read_pps(&bits, &pps))
		add_pps(params, &pps);
}
