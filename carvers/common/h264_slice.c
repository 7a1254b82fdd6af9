/*
 * Slices of H.264 (ITU-T H.264, 7.3.3 and 7.3.4): the header, and macroblocks up to the end of the NAL unit. A slice by CABAC
 * says after each macroblock whether it was the last: it has to be where the next slice begins or the picture ends, and the
 * codes have to end with the unit. Not followed: frames whose macroblocks may be fields (MBAFF), groups of slices, partitions
 * of data, slices that switch streams, redundant pictures, and others than 8 bits of 4:2:0.
 */
#include <stdlib.h>
#include <string.h>

#include "h264_decoder.h"

/* Units of work (view_work) for a byte, and for a macroblock. */
#define BYTE_WORK 5
#define MACROBLOCK_WORK 2
/* Bytes past a unit's end that are read before it is noticed. */
#define AHEAD_MAX 8
#define REFS_MAX 32
#define LIST_MAX 66 /* changes of a list of references, or of what is kept */

struct h264_decoder *h264_decoder_new(void)
{
	return malloc(sizeof(struct h264_decoder));
}

static const struct h264_pps *find_pps(const struct h264_params *params, uint32_t id)
{
	for (size_t i = 0; i < H264_PPS_MAX; i++)
		if (params->pps[i].set && params->pps[i].id == id)
			return &params->pps[i];
	return NULL;
}

static const struct h264_sps *find_sps(const struct h264_params *params, uint8_t id)
{
	for (size_t i = 0; i < H264_SPS_MAX; i++)
		if (params->sps[i].set && params->sps[i].id == id)
			return &params->sps[i];
	return NULL;
}

/* 7.3.3.1 */
static bool skip_list_changes(struct h264_decoder *d)
{
	for (int list = 0; list < (d->kind == H264_B ? 2 : 1); list++) {
		uint32_t change = 0;

		if (!h264_take(&d->bits, 1))
			continue;
		for (int i = 0; i < LIST_MAX && change != 3; i++) {
			change = h264_ue(&d->bits);
			if (change > 3 || (change < 3 && h264_ue(&d->bits) == UINT32_MAX))
				return false;
		}
		if (change != 3)
			return false;
	}
	return true;
}

static bool take_weight(struct h264_decoder *d)
{
	int32_t weight = h264_se(&d->bits), offset = h264_se(&d->bits);

	return weight >= -128 && weight <= 127 && offset >= -128 && offset <= 127;
}

/* 7.3.3.2 */
static bool skip_weights(struct h264_decoder *d)
{
	if (h264_ue(&d->bits) > 7 || h264_ue(&d->bits) > 7)
		return false;
	for (int list = 0; list < (d->kind == H264_B ? 2 : 1); list++)
		for (unsigned i = 0; i < d->refs[list]; i++) {
			if (h264_take(&d->bits, 1) && !take_weight(d))
				return false;
			if (h264_take(&d->bits, 1) && (!take_weight(d) || !take_weight(d)))
				return false;
		}
	return true;
}

/* 7.3.3.3 */
static bool skip_marking(struct h264_decoder *d, bool idr)
{
	if (idr) {
		h264_take(&d->bits, 2);
		return true;
	}
	if (!h264_take(&d->bits, 1))
		return true;
	for (int i = 0; i < LIST_MAX; i++) {
		uint32_t operation = h264_ue(&d->bits);

		if (!operation)
			return true;
		if (operation > 6)
			return false;
		if (operation != 5 && h264_ue(&d->bits) == UINT32_MAX)
			return false;
		if (operation == 3 && h264_ue(&d->bits) == UINT32_MAX)
			return false;
	}
	return false;
}

static bool take_refs(struct h264_decoder *d)
{
	d->refs[0] = d->pps->refs[0];
	d->refs[1] = d->pps->refs[1];
	if (!h264_take(&d->bits, 1))
		return true;
	for (int list = 0; list < (d->kind == H264_B ? 2 : 1); list++) {
		uint32_t refs = h264_ue(&d->bits);

		if (refs >= REFS_MAX)
			return false;
		d->refs[list] = refs + 1;
	}
	return true;
}

/* What is before the references: whose numbers are not needed. */
static bool skip_order(struct h264_decoder *d, bool idr)
{
	const struct h264_sps *sps = d->sps;

	if (idr && h264_ue(&d->bits) > UINT16_MAX)
		return false;
	if (sps->order_type == 0) {
		h264_take(&d->bits, sps->order_bits);
		if (d->pps->frame_order && !d->field && h264_se(&d->bits) == INT32_MAX)
			return false;
	} else if (sps->order_type == 1 && !sps->order_always_zero) {
		h264_se(&d->bits);
		if (d->pps->frame_order && !d->field)
			h264_se(&d->bits);
	}
	return true;
}

static bool take_filter(struct h264_decoder *d)
{
	uint32_t off = h264_ue(&d->bits);

	if (off > 2)
		return false;
	for (int i = 0; off != 1 && i < 2; i++) {
		int32_t offset = h264_se(&d->bits);

		if (offset < -6 || offset > 6)
			return false;
	}
	return true;
}

/* The header from the references on. */
static bool read_rest(struct h264_decoder *d, unsigned importance, bool idr)
{
	uint32_t init = 0;
	int32_t qp;

	if (d->kind == H264_B)
		h264_take(&d->bits, 1);
	if (d->kind != H264_I && (!take_refs(d) || !skip_list_changes(d)))
		return false;
	if (((d->pps->weighted && d->kind == H264_P) ||
		    (d->pps->weighted_b == 1 && d->kind == H264_B)) &&
		!skip_weights(d))
		return false;
	if (importance && !skip_marking(d, idr))
		return false;
	if (d->pps->cabac && d->kind != H264_I)
		init = h264_ue(&d->bits);
	qp = h264_se(&d->bits);
	if (init > 2 || qp > 51 + 26 || qp < -51 - 26 || d->pps->qp + qp < 0 ||
		d->pps->qp + qp > 51)
		return false;
	d->cabac_init = init;
	d->qp = (unsigned)(d->pps->qp + qp);
	return !d->pps->deblocking || take_filter(d);
}

static enum h264_outcome read_header(
	struct h264_decoder *d, const struct h264_params *params, unsigned head, uint32_t *first)
{
	bool idr = (head & 31) == H264_NAL_IDR;
	uint32_t kind;

	*first = h264_ue(&d->bits);
	kind = h264_ue(&d->bits);
	if (kind > 9)
		return H264_INVALID;
	d->pps = find_pps(params, h264_ue(&d->bits));
	d->sps = d->pps ? find_sps(params, d->pps->sps_id) : NULL;
	if (!d->sps)
		return params->lost ? H264_NOT_FOLLOWED : H264_INVALID;
	if (!d->sps->followed || !d->pps->followed)
		return H264_NOT_FOLLOWED;
	if (kind % 5 > H264_I) /* switching slices are the Extended profile's */
		return d->sps->any_order ? H264_NOT_FOLLOWED : H264_INVALID;
	d->kind = (enum h264_slice_kind)(kind % 5);
	h264_take(&d->bits, d->sps->frame_num_bits);
	d->field = !d->sps->frames_only && h264_take(&d->bits, 1);
	if (d->field)
		h264_take(&d->bits, 1);
	else if (d->sps->adaptive_frames)
		return H264_NOT_FOLLOWED;
	if (idr && d->kind != H264_I && !d->field)
		return H264_INVALID;
	if (!skip_order(d, idr))
		return H264_INVALID;
	if (d->pps->redundant && h264_ue(&d->bits))
		return H264_NOT_FOLLOWED;
	return read_rest(d, head >> 5 & 3, idr) ? H264_VALID : H264_INVALID;
}

static void skip_macroblock(struct h264_decoder *d)
{
	memset(d->now, 0, sizeof(*d->now));
	d->had_delta = false;
}

/* Sets what is around a macroblock. False: the picture ends before it. */
static bool enter(struct h264_decoder *d, uint64_t first, uint64_t address, uint64_t size)
{
	if (address >= size)
		return false;
	d->column = (unsigned)(address % d->width);
	d->left = d->column && address > first ? &d->row[d->column - 1] : NULL;
	d->top = address - first >= d->width ? &d->row[d->column] : NULL;
	d->now = &d->own;
	return true;
}

static bool is_lost(const struct h264_decoder *d)
{
	return d->invalid || d->bits.forbidden || d->bits.missing > AHEAD_MAX;
}

/* Counts the work of that many macroblocks, and of the bytes since the last time. */
static bool count_work(struct h264_decoder *d, uint64_t macroblocks)
{
	uint64_t at = h264_at(&d->bits), len = at - d->counted;

	d->counted = at;
	return view_work(d->bits.view, macroblocks * MACROBLOCK_WORK + len * BYTE_WORK);
}

/* The end of the slice, or 0: it is invalid. */
static uint64_t read_by_cabac(struct h264_decoder *d, uint64_t first, uint64_t size)
{
	int align = d->bits.bits.count % 8;
	uint64_t address = first;

	if (align && h264_take(&d->bits, align) != (1u << align) - 1)
		return 0;
	h264_cabac_open(d);
	do {
		if (!enter(d, first, address, size) || is_lost(d) || !count_work(d, 1))
			return 0;
		if (d->kind != H264_I && h264_cabac_skip(d))
			skip_macroblock(d);
		else
			h264_macroblock(d);
		d->row[d->column] = d->own;
		address++;
	} while (!d->invalid && !h264_cabac_terminates(d));
	return !d->invalid && h264_cabac_ends(d) && !d->bits.forbidden ? address : 0;
}

static uint64_t read_by_cavlc(struct h264_decoder *d, uint64_t first, uint64_t size)
{
	uint64_t address = first;

	do {
		uint32_t run = d->kind == H264_I ? 0 : h264_ue(&d->bits);

		/* A few bits are many macroblocks. */
		if (run > size - address || is_lost(d) || !count_work(d, run + 1))
			return 0;
		while (run--) {
			enter(d, first, address, size);
			skip_macroblock(d);
			d->row[d->column] = d->own;
			address++;
		}
		if (d->kind != H264_I && h264_left(&d->bits) <= 0)
			break;
		if (!enter(d, first, address, size))
			return 0;
		h264_macroblock(d);
		d->row[d->column] = d->own;
		address++;
	} while (!is_lost(d) && h264_left(&d->bits) > 0);
	return !is_lost(d) && h264_left(&d->bits) == 0 ? address : 0;
}

enum h264_outcome h264_slice(struct h264_decoder *d, struct view *view,
	const struct h264_params *params, struct h264_picture *picture, uint64_t at, uint64_t end,
	uint64_t *seen)
{
	const uint8_t *p = at < end ? view_peek(view, at, 1) : NULL;
	unsigned head = p ? *p : 0;
	enum h264_outcome outcome;
	uint64_t last;
	uint32_t first;

	*seen = at;
	if (!p)
		return H264_NOT_FOLLOWED;
	h264_bits_open(&d->bits, view, at + 1, end);
	d->counted = at;
	d->invalid = false;
	d->had_delta = false;
	outcome = read_header(d, params, head, &first);
	if (d->bits.unread)
		return H264_NOT_FOLLOWED;
	*seen = h264_at(&d->bits);
	if (outcome != H264_VALID)
		return outcome;
	d->width = d->sps->width;
	picture->size = (uint64_t)d->width * d->sps->height / (d->field ? 2 : 1);
	if (!d->sps->any_order && first != picture->next &&
		(first || picture->next != picture->size))
		return H264_INVALID;
	if (first >= picture->size)
		return H264_INVALID;
	last = d->pps->cabac ? read_by_cabac(d, first, picture->size)
			     : read_by_cavlc(d, first, picture->size);
	*seen = h264_at(&d->bits);
	if (last && d->sps->any_order) /* their number is right in the end */
		last = (picture->next < picture->size ? picture->next : 0) + last - first;
	picture->next = last;
	if (d->bits.unread || !view_work(view, 1))
		return H264_NOT_FOLLOWED;
	return last ? H264_VALID : H264_INVALID;
}
