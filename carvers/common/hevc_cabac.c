/*
 * H.265's arithmetic decoder (ITU-T H.265, 9.3), whose arithmetic is that of H.264.
 */
#include <string.h>

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

static inline void read_byte(struct hevc_decoder *d)
{
	uint8_t byte = h264_byte(&d->bits);

	d->cabac.value = d->cabac.value << 8 | byte;
	d->raw = d->raw << 8 | byte;
	d->cabac.ahead += 8;
}

static inline struct cabac *refill(struct hevc_decoder *d)
{
	while (d->cabac.ahead < CABAC_AHEAD)
		read_byte(d);
	return &d->cabac;
}

unsigned hevc_bin(struct hevc_decoder *d, unsigned context)
{
	return cabac_bin(refill(d), &d->states[context]);
}

unsigned hevc_bypass(struct hevc_decoder *d)
{
	return cabac_bypass(refill(d));
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
	return cabac_terminates(refill(d));
}

/* Begins with 9 bits, of which those of `held` bytes were read already. */
static void begin(struct hevc_decoder *d, unsigned held)
{
	d->cabac = (struct cabac){ .value = d->raw & ((1ull << 8 * held) - 1),
		.ahead = 8 * (int)held - CABAC_BEGIN,
		.range = CABAC_RANGE };
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

		d->states[i] = cabac_state(state);
	}
}

/* The last of the nine bits is the one that ends a part (9.3.2.5), and zeros fill its byte. */
static bool is_aligned(const struct hevc_decoder *d)
{
	unsigned end = (unsigned)d->cabac.ahead, byte = end / 8 * 8;

	return d->raw >> end & 1 && !(d->raw >> byte & ((1ull << (end - byte)) - 1));
}

void hevc_cabac_pass(struct hevc_decoder *d, unsigned len)
{
	unsigned held = (unsigned)d->cabac.ahead / 8;

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
	uint64_t at = h264_at(&d->bits) - (unsigned)d->cabac.ahead / 8, entry;

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
	while (!d->bits.missing && d->cabac.ahead < 48)
		read_byte(d);
	return d->bits.missing && (unsigned)d->cabac.ahead / 8 == d->bits.missing && is_aligned(d);
}
