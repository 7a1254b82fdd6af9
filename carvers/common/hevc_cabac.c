/*
 * H.265's arithmetic decoder (ITU-T H.265, 9.3), whose arithmetic is that of H.264.
 */
#include <string.h>

#include "h264_tables.h"
#include "hevc_decoder.h"

/* initValue of each context for slices of pictures that are coded alone (tables 9-5 to 9-37). */
static const uint8_t init_values[HEVC_CONTEXTS] = { 153, 200, 139, 141, 157, 154, 154, 154, 184,
	184, 63, 153, 138, 138, 111, 141, 94, 138, 182, 154, 139, 139,
	/* last_sig_coeff_x_prefix, and y */
	110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79, 108, 123, 63, 110,
	110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79, 108, 123, 63,
	/* coded_sub_block_flag, sig_coeff_flag */
	91, 171, 134, 141, 111, 111, 125, 110, 110, 94, 124, 108, 124, 107, 125, 141, 179, 153, 125,
	107, 125, 141, 179, 153, 125, 107, 125, 141, 179, 153, 125, 140, 139, 182, 182, 152, 136,
	152, 136, 153, 136, 139, 111, 136, 139, 111,
	/* coeff_abs_level_greater1_flag, coeff_abs_level_greater2_flag */
	140, 92, 137, 138, 140, 152, 138, 139, 153, 74, 149, 92, 139, 107, 122, 152, 140, 179, 166,
	182, 140, 227, 122, 197, 138, 153, 136, 167, 152, 152 };

static inline void read_ahead(struct hevc_decoder *d)
{
	uint8_t byte = h264_byte(&d->bits);

	d->value = d->value << 8 | byte;
	d->raw = d->raw << 8 | byte;
	d->ahead += 8;
}

static inline void refill(struct hevc_decoder *d)
{
	while (d->ahead < 16)
		read_ahead(d);
}

unsigned hevc_bin(struct hevc_decoder *d, unsigned context)
{
	uint8_t *state = &d->states[context];
	unsigned lps = h264_lps[*state >> 1][d->range >> 6 & 3], bin = *state & 1;
	int shift;

	refill(d);
	d->range -= lps;
	if (d->value < (uint64_t)d->range << d->ahead) {
		if (*state < 2 * 62)
			*state = (uint8_t)(*state + 2);
		if (d->range < 256) {
			d->range <<= 1;
			d->ahead--;
		}
		return bin;
	}
	d->value -= (uint64_t)d->range << d->ahead;
	shift = __builtin_clz(lps) - 23;
	d->range = lps << shift;
	d->ahead -= shift;
	if (*state < 2)
		*state ^= 1;
	else
		*state = (uint8_t)(h264_after_lps[*state >> 1] << 1 | bin);
	return bin ^ 1;
}

unsigned hevc_bypass(struct hevc_decoder *d)
{
	refill(d);
	d->ahead--;
	if (d->value < (uint64_t)d->range << d->ahead)
		return 0;
	d->value -= (uint64_t)d->range << d->ahead;
	return 1;
}

unsigned hevc_bypasses(struct hevc_decoder *d, unsigned count)
{
	unsigned value = 0;

	while (count--)
		value = value << 1 | hevc_bypass(d);
	return value;
}

bool hevc_terminates(struct hevc_decoder *d)
{
	refill(d);
	d->range -= 2;
	if (d->value >= (uint64_t)d->range << d->ahead)
		return true;
	if (d->range < 256) {
		d->range <<= 1;
		d->ahead--;
	}
	return false;
}

/* Begins with 9 bits, of which those of so many bytes were read already. */
static void begin(struct hevc_decoder *d, unsigned held)
{
	d->value = d->raw & ((1ull << 8 * held) - 1);
	d->ahead = 8 * (int)held - 9;
	d->range = 510;
	refill(d);
}

void hevc_cabac_begin(struct hevc_decoder *d)
{
	unsigned held = (unsigned)d->bits.bits.count / 8;

	h264_take(&d->bits, d->bits.bits.count % 8);
	d->raw = 0;
	d->data = d->part = h264_at(&d->bits) - held;
	for (unsigned i = 0; i < held; i++)
		d->raw = d->raw << 8 | h264_take(&d->bits, 8);
	begin(d, held);
}

void hevc_cabac_reset(struct hevc_decoder *d)
{
	int qp = d->qp < 0 ? 0 : d->qp > 51 ? 51 : d->qp;

	for (unsigned i = 0; i < HEVC_CONTEXTS; i++) {
		int slope = (init_values[i] >> 4) * 5 - 45, offset = (init_values[i] & 15) * 8 - 16,
		    state = (slope * qp >> 4) + offset;

		state = state < 1 ? 1 : state > 126 ? 126 : state;
		d->states[i] = (uint8_t)(state <= 63 ? (63 - state) << 1 : (state - 64) << 1 | 1);
	}
}

/* The last of the nine bits is the one that ends a part (9.3.2.5), and zeros fill its byte. */
static bool is_aligned(const struct hevc_decoder *d)
{
	unsigned end = (unsigned)d->ahead, byte = end / 8 * 8;

	return d->raw >> end & 1 && !(d->raw >> byte & ((1ull << (end - byte)) - 1));
}

void hevc_cabac_pass(struct hevc_decoder *d, unsigned len)
{
	unsigned held = (unsigned)d->ahead / 8;

	if (!is_aligned(d) || d->bits.missing)
		d->invalid = true;
	for (; len && !d->bits.missing; len--)
		if (held)
			held--;
		else
			h264_byte(&d->bits);
	begin(d, held);
}

/* A byte that only prevents a start code may be among those that were read ahead. */
void hevc_cabac_next_part(struct hevc_decoder *d)
{
	uint64_t at = h264_at(&d->bits) - (unsigned)d->ahead / 8, entry;

	if (d->part_number < d->entry_count) {
		entry = d->data + d->entries[d->part_number];
		if (at != entry && at != entry + 1)
			d->invalid = true;
	}
	hevc_cabac_pass(d, 0);
	if (d->invalid)
		return;
	d->part = at;
	d->part_number++;
}

bool hevc_cabac_ends(struct hevc_decoder *d)
{
	refill(d);
	while (!d->bits.missing && d->ahead < 48)
		read_ahead(d);
	return d->bits.missing && (unsigned)d->ahead / 8 == d->bits.missing && is_aligned(d);
}
