/*
 * Coefficients of a block of H.265 (ITU-T H.265, 7.3.8.11 and 9.3.4.2.4 to 9.3.4.2.7).
 */
#include "hevc_decoder.h"

#define LEVEL_MAX 32768
#define PREFIX_MAX 20 /* of coeff_abs_level_remaining; that of a longer one is above LEVEL_MAX */
#define GREATER_MAX 8 /* flags of a group */

enum scan { DIAGONAL, HORIZONTAL, VERTICAL };

/* Places of a 4x4 group in the order of each scan, and of groups in blocks of 2x2 and 8x8 by the diagonal one: y << 4 | x. */
static const uint8_t order4[3][16] = { { 0x00, 0x10, 0x01, 0x20, 0x11, 0x02, 0x30, 0x21, 0x12, 0x03,
					       0x31, 0x22, 0x13, 0x32, 0x23, 0x33 },
	{ 0x00, 0x01, 0x02, 0x03, 0x10, 0x11, 0x12, 0x13, 0x20, 0x21, 0x22, 0x23, 0x30, 0x31, 0x32,
		0x33 },
	{ 0x00, 0x10, 0x20, 0x30, 0x01, 0x11, 0x21, 0x31, 0x02, 0x12, 0x22, 0x32, 0x03, 0x13, 0x23,
		0x33 } };
static const uint8_t order2[3][4] = { { 0x00, 0x10, 0x01, 0x11 }, { 0x00, 0x01, 0x10, 0x11 },
	{ 0x00, 0x10, 0x01, 0x11 } };
static const uint8_t order8[64] = { 0x00, 0x10, 0x01, 0x20, 0x11, 0x02, 0x30, 0x21, 0x12, 0x03,
	0x40, 0x31, 0x22, 0x13, 0x04, 0x50, 0x41, 0x32, 0x23, 0x14, 0x05, 0x60, 0x51, 0x42, 0x33,
	0x24, 0x15, 0x06, 0x70, 0x61, 0x52, 0x43, 0x34, 0x25, 0x16, 0x07, 0x71, 0x62, 0x53, 0x44,
	0x35, 0x26, 0x17, 0x72, 0x63, 0x54, 0x45, 0x36, 0x27, 0x73, 0x64, 0x55, 0x46, 0x37, 0x74,
	0x65, 0x56, 0x47, 0x75, 0x66, 0x57, 0x76, 0x67, 0x77 };

struct residual {
	struct hevc_decoder *d;
	const struct hevc_block *block;
	enum scan scan;
	unsigned last_x, last_y;
	uint8_t coded[9][9]; /* groups, with a border of zeros */
	unsigned greater1;   /* greater1Ctx */
	bool first;          /* group */
};

/* 6.5.3 to 6.5.5, 7.4.9.11 */
static enum scan choose_scan(const struct hevc_decoder *d, const struct hevc_block *block)
{
	if (block->size != 2 && (block->size != 3 || (block->component && d->sps->chroma != 3)))
		return DIAGONAL;
	if (block->mode >= 6 && block->mode <= 14)
		return VERTICAL;
	return block->mode >= 22 && block->mode <= 30 ? HORIZONTAL : DIAGONAL;
}

static unsigned read_prefix(const struct residual *r, unsigned contexts)
{
	unsigned size = r->block->size, most = 2 * size - 1, prefix = 0, offset, shift;

	if (r->block->component) {
		offset = 15;
		shift = size - 2;
	} else {
		offset = 3 * (size - 2) + ((size - 1) >> 2);
		shift = (size + 1) >> 2;
	}
	while (prefix < most && hevc_bin(r->d, contexts + offset + (prefix >> shift)))
		prefix++;
	return prefix;
}

static unsigned read_suffix(const struct residual *r, unsigned prefix)
{
	unsigned bits = prefix / 2 - 1;

	if (prefix < 4)
		return prefix;
	return (1u << bits) * (2 + prefix % 2) + hevc_bypasses(r->d, bits);
}

static void read_last(struct residual *r)
{
	unsigned x = read_prefix(r, HEVC_LAST_X), y = read_prefix(r, HEVC_LAST_Y);

	x = read_suffix(r, x);
	y = read_suffix(r, y);
	r->last_x = r->scan == VERTICAL ? y : x;
	r->last_y = r->scan == VERTICAL ? x : y;
}

static uint8_t group_place(const struct residual *r, unsigned index)
{
	switch (r->block->size) {
	case 2:
		return 0;
	case 3:
		return order2[r->scan][index];
	case 4:
		return order4[DIAGONAL][index];
	default:
		return order8[index];
	}
}

/* 9.3.4.2.5 */
static unsigned significant_context(
	const struct residual *r, uint8_t group, uint8_t place, unsigned neighbours)
{
	static const uint8_t small[15] = { 0, 1, 4, 5, 2, 3, 4, 5, 6, 6, 8, 8, 7, 7, 8 };
	unsigned x = place & 15, y = place >> 4, size = r->block->size, context;

	if (size == 2) {
		context = small[y << 2 | x];
	} else if (!group && !place) {
		context = 0;
	} else {
		switch (neighbours) {
		case 0:
			context = x + y == 0 ? 2 : x + y < 3;
			break;
		case 1:
			context = y == 0 ? 2 : y == 1;
			break;
		case 2:
			context = x == 0 ? 2 : x == 1;
			break;
		default:
			context = 2;
		}
		if (!r->block->component) {
			context += group ? 3 : 0;
			context += size == 3 ? r->scan == DIAGONAL ? 9 : 15 : 21;
		} else {
			context += size == 3 ? 9 : 12;
		}
	}
	return HEVC_SIGNIFICANT + (r->block->component ? 27 : 0) + context;
}

/* 9.3.3.11 */
static unsigned read_remaining(struct hevc_decoder *d, unsigned rice)
{
	unsigned prefix = 0;

	while (prefix <= PREFIX_MAX && hevc_bypass(d))
		prefix++;
	if (prefix > PREFIX_MAX) {
		d->invalid = true;
		return 0;
	}
	if (prefix <= 3)
		return (prefix << rice) + hevc_bypasses(d, rice);
	return (((1u << (prefix - 3)) + 3 - 1) << rice) + hevc_bypasses(d, prefix - 3 + rice);
}

/* The levels of a group's coefficients, of which count are not 0, the first at places[0] in the order of the scan. */
static void read_levels(struct residual *r, unsigned index, const uint8_t *places, unsigned count)
{
	struct hevc_decoder *d = r->d;
	unsigned component = r->block->component, set = index && !component ? 2 : 0;
	unsigned flags = count < GREATER_MAX ? count : GREATER_MAX, base[16], rice = 0,
		 signs = count;
	unsigned first = count, contexts;

	if (!r->first && !r->greater1)
		set++;
	r->first = false;
	r->greater1 = 1;
	contexts = HEVC_GREATER1 + (component ? 16 : 0) + 4 * set;
	for (unsigned i = 0; i < count; i++)
		base[i] = 1;
	for (unsigned i = 0; i < flags; i++)
		if (hevc_bin(d, contexts + r->greater1)) {
			base[i]++;
			r->greater1 = 0;
			first = first == count ? i : first;
		} else if (r->greater1 && r->greater1 < 3) {
			r->greater1++;
		}
	if (first < count)
		base[first] += hevc_bin(d, HEVC_GREATER2 + (component ? 4 : 0) + set);
	if (d->pps->hides_signs && !r->block->bypass && places[0] - places[count - 1] > 3)
		signs--;
	hevc_bypasses(d, signs);
	for (unsigned i = 0; i < count && !d->invalid; i++) {
		unsigned most = i < GREATER_MAX ? i == first ? 3 : 2 : 1;
		unsigned level = base[i];

		if (level != most)
			continue;
		level += read_remaining(d, rice);
		if (level > LEVEL_MAX)
			d->invalid = true;
		if (level > 3u << rice && rice < 4)
			rice++;
	}
}

/* A group, of which `from` is the place after the first one that is read; `first` tells that this one is known to be coded. */
static void read_group(struct residual *r, unsigned index, unsigned last_group, unsigned last)
{
	uint8_t group = group_place(r, index), places[16];
	unsigned x = group & 15, y = group >> 4, count = 0, from = 16;
	unsigned neighbours = r->coded[y][x + 1] | (unsigned)r->coded[y + 1][x] << 1;
	bool coded = true, infers = false;

	if (index < last_group && index) {
		coded = hevc_bin(
			r->d, HEVC_GROUP + (neighbours != 0) + (r->block->component ? 2 : 0));
		infers = true;
	}
	r->coded[y][x] = coded;
	if (!coded)
		return;
	if (index == last_group) {
		places[count++] = (uint8_t)last;
		from = last;
	}
	for (unsigned n = from; n-- > 0;) {
		if (!n && infers && !count) {
			places[count++] = 0;
			break;
		}
		if (hevc_bin(r->d, significant_context(r, group, order4[r->scan][n], neighbours)))
			places[count++] = (uint8_t)n;
	}
	if (count)
		read_levels(r, index, places, count);
}

void hevc_residual(struct hevc_decoder *d, const struct hevc_block *block)
{
	struct residual r = { .d = d, .block = block, .greater1 = 1, .first = true };
	unsigned last_group = 0, last = 0;
	uint8_t group, place;

	if (d->pps->skips_transform && !block->bypass && block->size == 2)
		hevc_bin(d, HEVC_SKIP + (block->component != 0));
	r.scan = choose_scan(d, block);
	read_last(&r);
	if (r.last_x >> block->size || r.last_y >> block->size) {
		d->invalid = true;
		return;
	}
	group = (uint8_t)(r.last_y >> 2 << 4 | r.last_x >> 2);
	place = (uint8_t)((r.last_y & 3) << 4 | (r.last_x & 3));
	while (group_place(&r, last_group) != group)
		last_group++;
	while (order4[r.scan][last] != place)
		last++;
	for (unsigned index = last_group + 1; index-- > 0 && !d->invalid;)
		read_group(&r, index, last_group, last);
}
