/*
 * Macroblocks of H.264 (ITU-T H.264, 7.3.5), by either kind of codes.
 */
#include "h264_decoder.h"

#include <string.h>

#define PCM_LEN 384

enum { L0 = 1, L1 = 2, BI = 3 };
enum { WHOLE, WIDE, TALL, QUARTERS };
enum { LUMA_ALL = 15, CHROMA_DC = 0x10, CHROMA_AC = 0x20 };

/* An 8x8 block's parts: their number across and down. */
struct sub {
	uint8_t lists, across, down;
};
static const struct sub p_subs[] = { { L0, 1, 1 }, { L0, 1, 2 }, { L0, 2, 1 }, { L0, 2, 2 } };
/* The first, direct, has no motion of its own. */
static const struct sub b_subs[] = { { 0, 0, 0 }, { L0, 1, 1 }, { L1, 1, 1 }, { BI, 1, 1 },
	{ L0, 1, 2 }, { L0, 2, 1 }, { L1, 1, 2 }, { L1, 2, 1 }, { BI, 1, 2 }, { BI, 2, 1 },
	{ L0, 2, 2 }, { L1, 2, 2 }, { BI, 2, 2 } };

bool h264_intra_type(unsigned number, struct h264_type *type)
{
	unsigned chroma;

	*type = (struct h264_type){ .kind = number ? H264_I_16X16 : H264_I_NXN };
	if (number == 25)
		type->kind = H264_PCM;
	if (number == 0 || number >= 25)
		return number <= 25;
	chroma = (number - 1) / 4 % 3;
	type->pattern = (uint8_t)((number > 12 ? LUMA_ALL : 0) | chroma << 4);
	return true;
}

bool h264_p_type(unsigned number, struct h264_type *type)
{
	*type = (struct h264_type){ .kind = H264_INTER,
		.inter = { .shape = (uint8_t)(number == 4 ? QUARTERS : number),
			.lists = { L0, L0 },
			.first_ref = number == 4 } };
	return number <= 4;
}

bool h264_b_type(unsigned number, struct h264_type *type)
{
	static const uint8_t inters[23][3] = { { 0 }, { WHOLE, L0 }, { WHOLE, L1 }, { WHOLE, BI },
		{ WIDE, L0, L0 }, { TALL, L0, L0 }, { WIDE, L1, L1 }, { TALL, L1, L1 },
		{ WIDE, L0, L1 }, { TALL, L0, L1 }, { WIDE, L1, L0 }, { TALL, L1, L0 },
		{ WIDE, L0, BI }, { TALL, L0, BI }, { WIDE, L1, BI }, { TALL, L1, BI },
		{ WIDE, BI, L0 }, { TALL, BI, L0 }, { WIDE, BI, L1 }, { TALL, BI, L1 },
		{ WIDE, BI, BI }, { TALL, BI, BI }, { QUARTERS } };

	if (number > 22)
		return false;
	*type = (struct h264_type){ .kind = number ? H264_INTER : H264_DIRECT,
		.inter = { .shape = inters[number][0],
			.lists = { inters[number][1], inters[number][2] } } };
	return true;
}

static uint8_t take_ref(struct h264_decoder *d, int list, int x, int y)
{
	uint32_t ref;

	if (d->refs[list] < 2)
		return 0;
	if (d->pps->cabac)
		return (uint8_t)h264_cabac_ref(d, list, x, y);
	ref = d->refs[list] == 2 ? !h264_take(&d->bits, 1) : h264_ue(&d->bits);
	if (ref >= d->refs[list])
		d->invalid = true;
	return ref != 0;
}

/* The motion of a part, in blocks of 4x4. */
static void take_motion(struct h264_decoder *d, int list, int x, int y, int across, int down)
{
	uint8_t vector[2];

	if (!d->pps->cabac) {
		for (int i = 0; i < 2; i++)
			if (h264_se(&d->bits) == INT32_MAX)
				d->invalid = true;
		return;
	}
	h264_cabac_mvd(d, list, x, y, vector);
	for (int row = y; row < y + down; row++)
		for (int column = x; column < x + across; column++)
			memcpy(d->now->mvd[list][column + 4 * row], vector, 2);
}

/* The 8x8 blocks of a part that begins with (x, y), as bits. */
static unsigned blocks_of(unsigned shape, int x, int y)
{
	unsigned blocks = shape == WHOLE ? 15 : shape == WIDE ? 3 : shape == TALL ? 5 : 1;

	return blocks << (x + 2 * y);
}

static void read_parts(struct h264_decoder *d, const struct h264_inter *inter)
{
	int count = inter->shape == WHOLE ? 1 : 2;
	int across = inter->shape == TALL ? 2 : 4, down = inter->shape == WIDE ? 2 : 4;

	for (int list = 0; list < 2; list++)
		for (int i = 0; i < count; i++) {
			int x = inter->shape == TALL ? i : 0, y = inter->shape == WIDE ? i : 0;

			if (inter->lists[i] >> list & 1 && take_ref(d, list, x, y))
				d->now->refs[list] |= (uint8_t)blocks_of(inter->shape, x, y);
		}
	for (int list = 0; list < 2; list++)
		for (int i = 0; i < count; i++) {
			int x = inter->shape == TALL ? 2 * i : 0;
			int y = inter->shape == WIDE ? 2 * i : 0;

			if (inter->lists[i] >> list & 1)
				take_motion(d, list, x, y, across, down);
		}
}

static void take_sub_motion(struct h264_decoder *d, const struct sub *sub, int list, int block)
{
	int across = 2 / sub->across, down = 2 / sub->down;

	for (int y = 0; y < 2; y += down)
		for (int x = 0; x < 2; x += across)
			take_motion(
				d, list, (block & 1) * 2 + x, (block >> 1) * 2 + y, across, down);
}

/* Returns whether all parts are at least 8x8, as blocks of 8x8 need. */
static bool read_quarters(struct h264_decoder *d, bool first_ref)
{
	struct sub subs[4];
	bool large = true;

	for (int i = 0; i < 4; i++) {
		unsigned number = d->pps->cabac ? h264_cabac_sub_type(d) : h264_ue(&d->bits);

		if (number > (d->kind == H264_P ? 3 : 12)) {
			d->invalid = true;
			return false;
		}
		subs[i] = d->kind == H264_P ? p_subs[number] : b_subs[number];
		large &= subs[i].across ? subs[i].across * subs[i].down == 1 : d->sps->direct_8x8;
	}
	for (int list = 0; list < 2; list++)
		for (int i = 0; i < 4; i++)
			if (subs[i].lists >> list & 1 && !first_ref &&
				take_ref(d, list, i & 1, i >> 1))
				d->now->refs[list] |= (uint8_t)(1 << i);
	for (int list = 0; list < 2; list++)
		for (int i = 0; i < 4; i++)
			if (subs[i].lists >> list & 1)
				take_sub_motion(d, &subs[i], list, i);
	return large;
}

static void read_intra(struct h264_decoder *d)
{
	struct h264_mb *now = d->now;

	if (now->kind == H264_I_NXN)
		for (int i = now->is_8x8 ? 4 : 16; i > 0; i--) {
			if (d->pps->cabac)
				h264_cabac_intra_mode(d);
			else if (!h264_take(&d->bits, 1))
				h264_take(&d->bits, 3);
		}
	now->chroma_mode = (uint8_t)(d->pps->cabac ? h264_cabac_chroma_mode(d) : h264_ue(&d->bits));
	if (now->chroma_mode > 3)
		d->invalid = true;
}

static unsigned take_block(struct h264_decoder *d, enum h264_block kind, int index)
{
	if (d->invalid)
		return 0;
	return d->pps->cabac ? h264_cabac_block(d, kind, index) : h264_cavlc_block(d, kind, index);
}

/* The four blocks of one of 8x8. */
static void read_8x8(struct h264_decoder *d, int block)
{
	struct h264_mb *now = d->now;
	int first = (block & 1) * 2 + (block >> 1) * 8;
	enum h264_block kind = now->kind == H264_I_16X16 ? H264_AC16 : H264_LUMA;

	if (now->is_8x8 && d->pps->cabac) {
		take_block(d, H264_8X8, first);
		now->coded[first] = now->coded[first + 1] = 1;
		now->coded[first + 4] = now->coded[first + 5] = 1;
		return;
	}
	for (int i = 0; i < 4; i++) {
		int index = first + (i & 1) + (i >> 1) * 4;

		now->coded[index] = (uint8_t)take_block(d, kind, index);
	}
}

static void read_blocks(struct h264_decoder *d)
{
	struct h264_mb *now = d->now;

	if (now->kind == H264_I_16X16 && take_block(d, H264_DC16, 0))
		now->dc |= 1;
	for (int i = 0; i < 4; i++)
		if (now->pattern >> i & 1)
			read_8x8(d, i);
	for (int i = 0; i < 2 && now->pattern >> 4; i++)
		if (take_block(d, H264_CHROMA_DC, i))
			now->dc |= (uint8_t)(2 << i);
	for (int i = 16; i < 24 && now->pattern & CHROMA_AC; i++)
		now->coded[i] = (uint8_t)take_block(d, H264_CHROMA_AC, i);
}

static void read_pcm(struct h264_decoder *d)
{
	struct h264_mb *now = d->now;

	now->pattern = LUMA_ALL | CHROMA_AC;
	now->dc = 7;
	memset(now->coded, 16, sizeof(now->coded));
	d->had_delta = false;
	if (d->pps->cabac) {
		h264_cabac_pcm(d, PCM_LEN);
		return;
	}
	if (h264_take(&d->bits, d->bits.bits.count % 8))
		d->invalid = true;
	for (int i = 0; i < PCM_LEN && !d->bits.missing; i++)
		h264_take(&d->bits, 8);
}

static void take_type(struct h264_decoder *d, struct h264_type *type)
{
	if (d->pps->cabac)
		h264_cabac_type(d, type);
	else
		h264_cavlc_type(d, type);
}

static unsigned take_pattern(struct h264_decoder *d)
{
	uint32_t code;

	if (d->pps->cabac)
		return h264_cabac_pattern(d);
	code = h264_ue(&d->bits);
	if (code > 47) {
		d->invalid = true;
		return 0;
	}
	return h264_patterns[d->now->kind != H264_I_NXN][code];
}

static bool take_is_8x8(struct h264_decoder *d)
{
	return d->pps->cabac ? h264_cabac_is_8x8(d) : h264_take(&d->bits, 1);
}

static int take_delta(struct h264_decoder *d)
{
	int32_t delta;

	if (d->pps->cabac)
		return h264_cabac_delta(d);
	delta = h264_se(&d->bits);
	if (delta < -26 || delta > 25)
		d->invalid = true;
	return delta;
}

void h264_macroblock(struct h264_decoder *d)
{
	struct h264_mb *now = d->now;
	struct h264_type type = { 0 };
	bool large = true;

	memset(now, 0, sizeof(*now));
	take_type(d, &type);
	if (d->invalid)
		return;
	now->kind = (uint8_t)type.kind;
	if (type.kind == H264_PCM) {
		read_pcm(d);
		return;
	}
	if (type.kind == H264_I_NXN && d->pps->transform_8x8)
		now->is_8x8 = take_is_8x8(d);
	if (h264_is_intra(now))
		read_intra(d);
	else if (type.kind == H264_DIRECT)
		large = d->sps->direct_8x8;
	else if (type.inter.shape == QUARTERS)
		large = read_quarters(d, type.inter.first_ref);
	else
		read_parts(d, &type.inter);
	if (d->invalid)
		return;
	now->pattern = type.kind == H264_I_16X16 ? type.pattern : (uint8_t)take_pattern(d);
	if (now->pattern & LUMA_ALL && d->pps->transform_8x8 && !h264_is_intra(now) && large)
		now->is_8x8 = take_is_8x8(d);
	if (!now->pattern && type.kind != H264_I_16X16) {
		d->had_delta = false;
		return;
	}
	d->had_delta = take_delta(d) != 0;
	read_blocks(d);
}
