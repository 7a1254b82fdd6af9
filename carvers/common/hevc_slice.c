/*
 * Slices of H.265 (ITU-T H.265, 7.3.6 and 7.3.8) of pictures that are coded alone: the codes of coding tree units, one after the
 * other. Of what pictures look like only the modes of prediction are kept, on which the order of coefficients depends.
 */
#include <stdlib.h>
#include <string.h>

#include "hevc_decoder.h"

#define BYTE_WORK 24
#define UNIT_WORK 64
#define AHEAD_MAX 8 /* bytes that are read past the end of a unit */
#define HEAD_LEN 2
#define DC HEVC_MODE_DC
#define EXTENSION_MAX 256

enum { PLANAR = 0, ANGULAR_10 = 10, ANGULAR_26 = 26, ANGULAR_34 = 34 };
enum { SLICE_I = 2 };
enum { NAL_IRAP = 16, NAL_IDR_RADL = 19, NAL_IDR = 20, NAL_IRAP_LAST = 23 };

struct hevc_decoder *hevc_decoder_new(void)
{
	return calloc(1, sizeof(struct hevc_decoder));
}

/* ---- coding tree units ----------------------------------------------------------------------- */

static bool is_lost(const struct hevc_decoder *d)
{
	return d->invalid || d->bits.forbidden || d->bits.missing > AHEAD_MAX;
}

/* 7.3.8.3 */
static void read_offsets_of(struct hevc_decoder *d, unsigned component, unsigned *type)
{
	unsigned bits = component ? d->sps->chroma_bits : d->sps->luma_bits, values[4];
	unsigned most = (1u << ((bits < 10 ? bits : 10) - 5)) - 1;

	if (component < 2)
		*type = !hevc_bin(d, HEVC_SAO_TYPE) ? 0 : hevc_bypass(d) ? 2 : 1;
	if (!*type)
		return;
	for (unsigned i = 0; i < 4; i++) {
		values[i] = 0;
		while (values[i] < most && hevc_bypass(d))
			values[i]++;
	}
	if (*type == 1) {
		for (unsigned i = 0; i < 4; i++)
			if (values[i])
				hevc_bypass(d);
		hevc_bypasses(d, 5);
	} else if (component < 2) {
		hevc_bypasses(d, 2);
	}
}

static void read_offsets(struct hevc_decoder *d)
{
	unsigned type = 0;

	if (!d->luma_offsets && !d->chroma_offsets)
		return;
	if (d->has_left && hevc_bin(d, HEVC_SAO_MERGE))
		return;
	if (d->has_above && hevc_bin(d, HEVC_SAO_MERGE))
		return;
	if (d->luma_offsets)
		read_offsets_of(d, 0, &type);
	if (d->chroma_offsets) {
		read_offsets_of(d, 1, &type);
		read_offsets_of(d, 2, &type);
	}
}

/* A coding block, and how it is split. */
struct coding {
	unsigned size;
	bool bypass;
	bool is_split;     /* IntraSplitFlag */
	uint8_t luma[4];   /* modes of prediction, */
	uint8_t chroma[4]; /* and of 4:4:4 those of each part */
	unsigned depth;    /* MaxTrafoDepth */
};

/* A transform block: of which blocks of chroma there are coefficients, bit by bit, cb first; of 4:2:2 the lower one's are the
 * higher bits. */
struct transform {
	uint32_t x, y, base_x, base_y;
	unsigned size, depth, index;
	unsigned cb, cr;
};

static void read_chroma(struct hevc_decoder *d, const struct coding *c, unsigned coded,
	unsigned size, unsigned part)
{
	struct hevc_block block = {
		.size = size, .component = 1, .mode = c->chroma[part], .bypass = c->bypass
	};

	for (; coded; coded >>= 1)
		if (coded & 1)
			hevc_residual(d, &block);
}

/* 7.3.8.14 */
static void read_delta(struct hevc_decoder *d)
{
	unsigned value = 0, bits = 0;

	d->delta_coded = true;
	while (value < 5 && hevc_bin(d, HEVC_DELTA + (value != 0)))
		value++;
	if (value == 5) {
		while (bits < 8 && hevc_bypass(d))
			value += 1u << bits++;
		value += hevc_bypasses(d, bits);
	}
	if (value > 26u + 3 * (d->sps->luma_bits - 8u))
		d->invalid = true;
	if (value)
		hevc_bypass(d);
}

/* 7.3.8.10 */
static void read_transform(
	struct hevc_decoder *d, const struct coding *c, const struct transform *t)
{
	unsigned chroma = d->sps->chroma, part = c->is_split && t->depth ? t->index : 0;
	bool is_luma = hevc_bin(d, HEVC_CBF_LUMA + !t->depth), shares = chroma != 3 && t->size == 2;
	struct hevc_block block = { .size = t->size, .bypass = c->bypass };

	/* Where blocks are split again all are of the same part. */
	if (c->is_split) {
		unsigned half = c->size - 1;

		part = (t->y >> half & 1) << 1 | (t->x >> half & 1);
	}
	block.mode = c->luma[part];
	if (!is_luma && !t->cb && !t->cr)
		return;
	if (d->pps->deltas && !d->delta_coded)
		read_delta(d);
	if (is_luma)
		hevc_residual(d, &block);
	if (!shares) {
		unsigned size = chroma == 3 ? t->size : t->size - 1;

		read_chroma(d, c, t->cb, size, chroma == 3 ? part : 0);
		read_chroma(d, c, t->cr, size, chroma == 3 ? part : 0);
	} else if (t->index == 3) {
		read_chroma(d, c, t->cb, 2, 0);
		read_chroma(d, c, t->cr, 2, 0);
	}
}

static unsigned read_chroma_flags(
	struct hevc_decoder *d, unsigned parent, unsigned depth, bool has_two)
{
	unsigned coded;

	if (!parent)
		return 0;
	coded = hevc_bin(d, HEVC_CBF_CHROMA + depth);
	if (has_two)
		coded |= hevc_bin(d, HEVC_CBF_CHROMA + depth) << 1;
	return coded;
}

/* 7.3.8.8. Its depth is bounded: at most 4. */
static void read_tree(struct hevc_decoder *d, const struct coding *c, struct transform t)
{
	const struct hevc_sps *sps = d->sps;
	bool is_split;

	if (t.size <= sps->max_transform && t.size > sps->min_transform && t.depth < c->depth &&
		!(c->is_split && !t.depth))
		is_split = hevc_bin(d, HEVC_SPLIT_TRANSFORM + 5 - t.size);
	else
		is_split = t.size > sps->max_transform || (c->is_split && !t.depth);
	if ((t.size > 2 && sps->chroma) || sps->chroma == 3) {
		bool has_two = sps->chroma == 2 && (!is_split || t.size == 3);

		t.cb = read_chroma_flags(d, t.cb, t.depth, has_two);
		t.cr = read_chroma_flags(d, t.cr, t.depth, has_two);
	}
	if (is_lost(d))
		return;
	if (!is_split) {
		read_transform(d, c, &t);
		return;
	}
	for (unsigned i = 0; i < 4 && !is_lost(d); i++) {
		struct transform next = t;

		next.size--;
		next.depth++;
		next.index = i;
		next.x += (i & 1) << next.size;
		next.y += (i >> 1) << next.size;
		read_tree(d, c, next);
	}
}

/* 8.4.2: the three likeliest modes of the part at x, y. */
static void likely_modes(const struct hevc_decoder *d, uint32_t x, uint32_t y, uint8_t modes[3])
{
	unsigned column = (x - d->x) / 4 + 1, row = (y - d->y) / 4 + 1;
	uint8_t left = d->modes[row][column - 1], above = row > 1 ? d->modes[row - 1][column] : DC;

	if (left == above && left < 2) {
		modes[0] = PLANAR;
		modes[1] = DC;
		modes[2] = ANGULAR_26;
		return;
	}
	modes[0] = left;
	if (left == above) {
		modes[1] = (uint8_t)(2 + (left + 29) % 32);
		modes[2] = (uint8_t)(2 + (left - 2 + 1) % 32);
		return;
	}
	modes[1] = above;
	if (left != PLANAR && above != PLANAR)
		modes[2] = PLANAR;
	else
		modes[2] = left != DC && above != DC ? DC : ANGULAR_26;
}

static void swap_if_above(uint8_t *a, uint8_t *b)
{
	uint8_t kept = *a;

	if (*a > *b) {
		*a = *b;
		*b = kept;
	}
}

/* The mode with this number of those that are not likely. */
static uint8_t other_mode(uint8_t modes[3], unsigned number)
{
	swap_if_above(&modes[0], &modes[1]);
	swap_if_above(&modes[0], &modes[2]);
	swap_if_above(&modes[1], &modes[2]);
	for (unsigned i = 0; i < 3; i++)
		number += number >= modes[i];
	return (uint8_t)number;
}

static void fill_modes(struct hevc_decoder *d, uint32_t x, uint32_t y, unsigned size, uint8_t mode)
{
	unsigned column = (x - d->x) / 4 + 1, row = (y - d->y) / 4 + 1, count = (1u << size) / 4;

	for (unsigned i = 0; i < count; i++)
		memset(&d->modes[row + i][column], mode, count);
}

static uint8_t read_chroma_mode(struct hevc_decoder *d, uint8_t luma)
{
	/* Table 8-3: of pixels half as wide as high. */
	static const uint8_t narrow[35] = { 0, 1, 2, 2, 2, 2, 3, 5, 7, 8, 10, 11, 13, 15, 16, 18,
		19, 20, 21, 22, 23, 23, 24, 24, 25, 25, 26, 27, 27, 28, 28, 29, 29, 30, 31 };
	static const uint8_t modes[4] = { PLANAR, ANGULAR_26, ANGULAR_10, DC };
	uint8_t mode = luma;

	if (hevc_bin(d, HEVC_CHROMA_MODE)) {
		mode = modes[hevc_bypasses(d, 2)];
		mode = mode == luma ? ANGULAR_34 : mode;
	}
	return d->sps->chroma == 2 ? narrow[mode] : mode;
}

/* The modes by which a coding block's parts are predicted (7.3.8.5). */
static void read_modes(struct hevc_decoder *d, struct coding *c, uint32_t x, uint32_t y)
{
	unsigned parts = c->is_split ? 4 : 1, size = c->size - c->is_split;
	bool is_likely[4];

	for (unsigned i = 0; i < parts; i++)
		is_likely[i] = hevc_bin(d, HEVC_PREDICTED);
	for (unsigned i = 0; i < parts; i++) {
		uint32_t left = x + ((i & 1) << size), top = y + ((i >> 1) << size);
		uint8_t modes[3];

		likely_modes(d, left, top, modes);
		if (is_likely[i])
			c->luma[i] = modes[!hevc_bypass(d) ? 0 : hevc_bypass(d) ? 2 : 1];
		else
			c->luma[i] = other_mode(modes, hevc_bypasses(d, 5));
		fill_modes(d, left, top, size, c->luma[i]);
	}
	if (!d->sps->chroma)
		return;
	for (unsigned i = 0; i < (d->sps->chroma == 3 ? parts : 1); i++)
		c->chroma[i] = read_chroma_mode(d, c->luma[i]);
}

/* 7.3.8.7 */
static void read_samples(struct hevc_decoder *d, unsigned size)
{
	unsigned count = 1u << 2 * size, chroma = d->sps->chroma;
	unsigned other = !chroma ? 0 : chroma == 1 ? count / 2 : chroma == 2 ? count : 2 * count;

	hevc_cabac_pass(d, (count * d->sps->pcm_luma_bits + other * d->sps->pcm_chroma_bits) / 8);
}

/* 7.3.8.5 */
static void read_coding(struct hevc_decoder *d, uint32_t x, uint32_t y, unsigned size)
{
	const struct hevc_sps *sps = d->sps;
	struct coding c = { .size = size };
	struct transform t = { .x = x, .y = y, .base_x = x, .base_y = y, .size = size };

	if (d->pps->bypasses)
		c.bypass = hevc_bin(d, HEVC_BYPASS);
	if (size == sps->min_block)
		c.is_split = !hevc_bin(d, HEVC_PART);
	if (!c.is_split && sps->pcm && size >= sps->min_pcm && size <= sps->max_pcm &&
		hevc_terminates(d)) {
		fill_modes(d, x, y, size, DC);
		read_samples(d, size);
		return;
	}
	read_modes(d, &c, x, y);
	c.depth = sps->depth + c.is_split;
	t.cb = t.cr = sps->chroma != 0;
	read_tree(d, &c, t);
}

static bool splits(struct hevc_decoder *d, uint32_t x, uint32_t y, unsigned depth)
{
	bool left = x > d->x || d->has_left, above = y > d->y || d->has_above;

	return hevc_bin(d, HEVC_SPLIT + (left && d->left_depth[(y - d->y) / 8] > depth) +
				   (above && d->above_depth[x / 8] > depth));
}

/* 7.3.8.4. Its depth is bounded: at most 4. */
static void read_quadtree(
	struct hevc_decoder *d, uint32_t x, uint32_t y, unsigned size, unsigned depth)
{
	const struct hevc_sps *sps = d->sps;
	uint32_t side = 1u << size, half = side / 2;
	bool is_split = size > sps->min_block;

	if (is_split && x + side <= sps->width && y + side <= sps->height)
		is_split = splits(d, x, y, depth);
	if (d->pps->deltas && size + d->pps->delta_depth >= sps->max_block)
		d->delta_coded = false;
	if (is_lost(d))
		return;
	if (!is_split) {
		memset(&d->left_depth[(y - d->y) / 8], (int)depth, side / 8);
		memset(&d->above_depth[x / 8], (int)depth, side / 8);
		read_coding(d, x, y, size);
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		uint32_t left = x + (i & 1) * half, top = y + (i >> 1) * half;

		if (left < sps->width && top < sps->height)
			read_quadtree(d, left, top, size - 1, depth + 1);
	}
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Counts the work of a unit, and of the bytes since the last time. */
static bool count_work(struct hevc_decoder *d)
{
	uint64_t at = h264_at(&d->bits), len = at - d->counted;

	d->counted = at;
	return view_work(d->bits.view, UNIT_WORK + len * BYTE_WORK);
}

/* The contexts for the first unit of a row, from the row above (9.3.1). */
static void sync_row(struct hevc_decoder *d, uint32_t address)
{
	if (d->across > 1 && address >= d->across && address - d->across + 1 >= d->slice)
		memcpy(d->states, d->synced, sizeof(d->states));
	else
		hevc_cabac_reset(d);
}

static void enter(struct hevc_decoder *d, uint32_t address)
{
	uint32_t column = address % d->across;
	unsigned side = 1u << d->sps->max_block;

	d->x = column * side;
	d->y = address / d->across * side;
	d->has_left = column && address > d->slice;
	d->has_above = address >= d->across && address - d->across >= d->slice;
	for (unsigned i = 1; i < HEVC_UNITS; i++)
		d->modes[i][0] = d->has_left ? d->modes[i][side / 4] : DC;
}

/* After a unit: what ends there. Returns whether the slice does. */
static bool leaves(struct hevc_decoder *d, uint32_t address)
{
	if (d->pps->syncs && address % d->across == 1)
		memcpy(d->synced, d->states, sizeof(d->states));
	if (hevc_terminates(d))
		return true;
	if (d->pps->syncs && (address + 1) % d->across == 0) {
		if (!hevc_terminates(d))
			d->invalid = true;
		else
			hevc_cabac_next_part(d);
		sync_row(d, address + 1);
	}
	return false;
}

/* The address after the slice's last unit, or 0: it is invalid. */
static uint32_t read_units(struct hevc_decoder *d, uint32_t address, bool is_dependent)
{
	uint32_t size = d->across * d->down;
	bool ends = false;

	if (d->pps->syncs && address % d->across == 0)
		sync_row(d, address);
	else if (is_dependent)
		memcpy(d->states, d->ended, sizeof(d->states));
	else
		hevc_cabac_reset(d);
	hevc_cabac_begin(d);
	for (; !ends; address++) {
		if (address >= size || is_lost(d) || !count_work(d))
			return 0;
		enter(d, address);
		read_offsets(d);
		read_quadtree(d, d->x, d->y, d->sps->max_block, 0);
		if (is_lost(d))
			return 0;
		ends = leaves(d, address);
	}
	memcpy(d->ended, d->states, sizeof(d->states));
	return hevc_cabac_ends(d) && !d->bits.forbidden ? address : 0;
}

static bool find_sets(struct hevc_decoder *d, const struct hevc_params *params, uint32_t id)
{
	d->pps = NULL;
	d->sps = NULL;
	for (unsigned i = 0; i < HEVC_SETS_MAX; i++)
		if (params->pps[i].set && params->pps[i].id == id)
			d->pps = &params->pps[i];
	for (unsigned i = 0; d->pps && i < HEVC_SETS_MAX; i++)
		if (params->sps[i].set && params->sps[i].id == d->pps->sps_id)
			d->sps = &params->sps[i];
	return d->sps && d->pps->followed && d->sps->followed;
}

struct head {
	bool is_first, is_dependent;
	uint32_t address;
};

/* What the header has of loop filters, and of where its parts are. */
static enum hevc_outcome read_header_end(struct hevc_decoder *d)
{
	const struct hevc_pps *pps = d->pps;
	uint32_t count, len;

	d->entry_count = d->part_number = 0;
	if (pps->syncs) {
		count = h264_ue(&d->bits);
		if (count >= d->down || count > HEVC_ROWS_MAX)
			return HEVC_INVALID;
		len = count ? h264_ue(&d->bits) + 1 : 0;
		if (len > 32)
			return HEVC_INVALID;
		for (uint32_t i = 0; i < count; i++)
			d->entries[i] =
				(i ? d->entries[i - 1] : 0) + h264_take(&d->bits, (int)len) + 1;
		d->entry_count = count;
	}
	if (pps->extends) {
		len = h264_ue(&d->bits);
		if (len > EXTENSION_MAX)
			return HEVC_INVALID;
		while (len--)
			h264_take(&d->bits, 8);
	}
	if (!h264_take(&d->bits, 1))
		return HEVC_INVALID;
	len = (uint32_t)d->bits.bits.count % 8;
	return h264_take(&d->bits, (int)len) ? HEVC_INVALID : HEVC_VALID;
}

/* What only a slice's first segment has (7.3.6.1). */
static enum hevc_outcome read_independent(struct hevc_decoder *d, unsigned nal)
{
	const struct hevc_pps *pps = d->pps;
	bool filter_off = pps->filter_off;
	int32_t delta;

	h264_take(&d->bits, pps->extra);
	switch (h264_ue(&d->bits)) {
	case SLICE_I:
		break;
	case 0:
	case 1:
		return HEVC_NOT_FOLLOWED;
	default:
		return HEVC_INVALID;
	}
	if (pps->output)
		h264_take(&d->bits, 1);
	if (nal != NAL_IDR && nal != NAL_IDR_RADL)
		return HEVC_NOT_FOLLOWED;
	d->luma_offsets = d->sps->offsets && h264_take(&d->bits, 1);
	d->chroma_offsets = d->sps->offsets && d->sps->chroma && h264_take(&d->bits, 1);
	delta = h264_se(&d->bits);
	if (delta < -128 || delta > 128)
		return HEVC_INVALID;
	d->qp = pps->qp + delta;
	if (d->qp > 51 || d->qp < -6 * (d->sps->luma_bits - 8))
		return HEVC_INVALID;
	if (pps->chroma_deltas) {
		h264_se(&d->bits);
		h264_se(&d->bits);
	}
	if (pps->overrides && h264_take(&d->bits, 1)) {
		filter_off = h264_take(&d->bits, 1);
		if (!filter_off) {
			h264_se(&d->bits);
			h264_se(&d->bits);
		}
	}
	if (pps->filters_across && (d->luma_offsets || d->chroma_offsets || !filter_off))
		h264_take(&d->bits, 1);
	return HEVC_VALID;
}

static enum hevc_outcome read_header(
	struct hevc_decoder *d, const struct hevc_params *params, unsigned nal, struct head *head)
{
	enum hevc_outcome outcome = HEVC_VALID;
	unsigned side;
	int bits = 0;

	head->is_first = h264_take(&d->bits, 1);
	if (nal >= NAL_IRAP && nal <= NAL_IRAP_LAST)
		h264_take(&d->bits, 1);
	if (!find_sets(d, params, h264_ue(&d->bits)))
		return HEVC_NOT_FOLLOWED;
	side = 1u << d->sps->max_block;
	d->across = (d->sps->width + side - 1) / side;
	d->down = (d->sps->height + side - 1) / side;
	if (!head->is_first) {
		head->is_dependent = d->pps->dependent && h264_take(&d->bits, 1);
		while ((uint64_t)1 << bits < (uint64_t)d->across * d->down)
			bits++;
		head->address = h264_take(&d->bits, bits);
	}
	if (!head->is_dependent) {
		d->slice = head->address;
		outcome = read_independent(d, nal);
	}
	return outcome == HEVC_VALID ? read_header_end(d) : outcome;
}

enum hevc_outcome hevc_slice(struct hevc_decoder *d, struct view *view,
	const struct hevc_params *params, struct hevc_picture *picture, uint64_t at, uint64_t end,
	uint64_t *valid)
{
	const uint8_t *p = end - at > HEAD_LEN ? view_peek(view, at, HEAD_LEN) : NULL;
	unsigned nal = p ? p[0] >> 1 & 63 : 0;
	struct head head = { 0 };
	enum hevc_outcome outcome;
	uint32_t last;

	*valid = at;
	if (!p)
		return HEVC_NOT_FOLLOWED;
	h264_bits_open(&d->bits, view, at + HEAD_LEN, end);
	d->counted = d->part = at;
	d->invalid = false;
	outcome = read_header(d, params, nal, &head);
	if (d->bits.unread)
		return HEVC_NOT_FOLLOWED;
	if (outcome != HEVC_VALID)
		return outcome;
	picture->size = d->across * d->down;
	if (head.address != (head.is_first ? 0 : picture->next) || head.address >= picture->size)
		return HEVC_INVALID;
	last = read_units(d, head.address, head.is_dependent);
	*valid = last ? end : d->part;
	picture->next = last;
	if (d->bits.unread || !view_work(view, 1))
		return HEVC_NOT_FOLLOWED;
	return last ? HEVC_VALID : HEVC_INVALID;
}
