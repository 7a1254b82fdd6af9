#include "jpeg_seam.h"

#include <stdlib.h>
#include <string.h>

#include "logarithm.h"
#include "seam_bits.h"

/* Rows of MCUs without which too little is known of a picture. */
#define ROWS_MIN 4
/* Blocks after the joint that are compared, at least. */
#define COMPARED_MIN 12
/* Blocks at other places that each is compared with. */
#define OTHERS 3
/* Energy from which an edge has detail: waves of about two levels of brightness. */
#define DETAIL_MIN 400
/* Units (view_work) for a block, besides those of its bytes. */
#define BLOCK_WORK 128
/* Coefficients are limited to this once they are multiplied by their quantization: 8 times a pixel's largest value. */
#define COEFFICIENT_MAX 16384

/* See RESULTS.md. */
static const struct seam_bits measured[] = { { 5, 8 }, { 10, 10 }, { 20, 12 }, { 40, 14 },
	{ 60, 16 } };

/* Of the coefficient with index k, in the order in which they are coded: its vertical frequency << 4 | its horizontal
 * one (ISO/IEC 10918-1, figure A.6). */
static const uint8_t zigzag[64] = { 0x00, 0x01, 0x10, 0x20, 0x11, 0x02, 0x03, 0x12, 0x21, 0x30,
	0x40, 0x31, 0x22, 0x13, 0x04, 0x05, 0x14, 0x23, 0x32, 0x41, 0x50, 0x60, 0x51, 0x42, 0x33,
	0x24, 0x15, 0x06, 0x07, 0x16, 0x25, 0x34, 0x43, 0x52, 0x61, 0x70, 0x71, 0x62, 0x53, 0x44,
	0x35, 0x26, 0x17, 0x27, 0x36, 0x45, 0x54, 0x63, 0x72, 0x73, 0x64, 0x55, 0x46, 0x37, 0x47,
	0x56, 0x65, 0x74, 0x75, 0x66, 0x57, 0x67, 0x76, 0x77 };

/* What a vertical frequency gives at a block's upper edge, half a pixel above its first row, if the first two rows go on
 * in a line there: 256 times 1.5 f(0) - 0.5 f(1), f being the transform's function. At the lower edge odd ones are
 * negative. */
static const int32_t edge_weights[8] = { 91, 135, 153, 172, 181, 169, 133, 73 };

static bool run_blocks(struct jpeg_decoder *d, uint64_t *history, uint64_t mcus)
{
	int32_t *begin = d->coefficients;
	bool valid = true;

	(void)history;
	for (; valid && mcus; mcus--) {
		memset(begin, 0, (size_t)d->block_count * 64 * sizeof(*begin));
		for (int i = 0; valid && i < d->block_count; i++) {
			d->coefficients = begin + 64 * (size_t)i;
			valid = jpeg_decode_block(d, d->blocks[i].component, NULL);
			d->coefficients[0] = *d->blocks[i].prediction;
		}
		d->coefficients = begin;
	}
	return valid;
}

void jpeg_seam_start(struct jpeg_seam *seam, struct jpeg_decoder *d, uint64_t across)
{
	const struct jpeg *jpeg = d->jpeg;
	uint64_t line = 0;

	if (seam->coefficients)
		return;
	seam->joint = seam->next = UINT64_MAX;
	seam->across = across;
	for (int i = 0; i < jpeg->in_scan; i++) {
		line += across * (jpeg->in_scan == 1 ? 1 : jpeg->scan[i]->h);
		seam->starts[i + 1] = (uint32_t)line;
	}
	seam->coefficients = malloc((size_t)d->block_count * 64 * sizeof(*seam->coefficients));
	seam->above = malloc(line * sizeof(*seam->above));
	seam->bottom = malloc(line * sizeof(*seam->bottom));
	seam->top = malloc(line * sizeof(*seam->top));
	if (!seam->coefficients || !seam->above || !seam->bottom || !seam->top) {
		seam->no_memory = true;
		view_no_memory(jpeg->view);
		return;
	}
	d->coefficients = seam->coefficients;
	d->run = run_blocks;
}

/* The first MCU with bits after an offset: where it ends after it. */
static void find_mcu(const struct jpeg_decoder *d, uint64_t at, uint64_t mcu, uint64_t *found)
{
	/* What was copied for the decoder is at most that far ahead. */
	if (*found == UINT64_MAX && d->bits.at >= at && jpeg_bits_offset(&d->bits) > at)
		*found = mcu;
}

static int32_t multiply(int32_t coefficient, uint16_t quant)
{
	int64_t value = (int64_t)coefficient * (quant ? quant : 1);

	return (int32_t)(value > COEFFICIENT_MAX    ? COEFFICIENT_MAX
			 : value < -COEFFICIENT_MAX ? -COEFFICIENT_MAX
						    : value);
}

static void find_edges(const int32_t *coefficients, const uint16_t *quant, struct jpeg_edge *top,
	struct jpeg_edge *bottom)
{
	*top = *bottom = (struct jpeg_edge){ { 0 } };
	for (int k = 0; k < 64; k++) {
		unsigned u = zigzag[k] & 15, v = zigzag[k] >> 4;
		int32_t value;

		if (!coefficients[k] || u >= JPEG_SEAM_FREQUENCIES)
			continue;
		value = multiply(coefficients[k], quant[k]) * edge_weights[v];
		top->at[u] += value;
		bottom->at[u] += v & 1 ? -value : value;
	}
}

/* The class of the energy of two edges' difference. */
static unsigned class_of(const struct jpeg_edge *a, const struct jpeg_edge *b)
{
	uint64_t energy = 1;
	unsigned top, class;

	for (int u = 0; u < JPEG_SEAM_FREQUENCIES; u++) {
		int64_t change = ((int64_t)a->at[u] - b->at[u]) / 64;

		energy += (uint64_t)(change * change);
	}
	top = 63 - (unsigned)__builtin_clzll(energy);
	class = 2 * top + (top ? energy >> (top - 1) & 1 : 0);
	return class < JPEG_SEAM_CLASSES ? class : JPEG_SEAM_CLASSES - 1;
}

/* Whether an edge has detail. What is flat goes on as flat in any picture. */
static bool has_detail(const struct jpeg_edge *edge)
{
	uint64_t energy = 0;

	for (int u = 1; u < JPEG_SEAM_FREQUENCIES; u++) {
		int64_t part = edge->at[u] / 64;

		energy += (uint64_t)(part * part);
	}
	return energy >= DETAIL_MIN;
}

/* How many of two edges have detail. */
static unsigned details(const struct jpeg_edge *a, const struct jpeg_edge *b)
{
	return (unsigned)has_detail(a) + has_detail(b);
}

/* Counts the differences between a block's edge and those of blocks of the row above at other places. */
static void count_others(struct jpeg_seam_counts *counts, const struct jpeg_edge *top,
	const struct jpeg_edge *above, uint32_t x, uint32_t len)
{
	for (uint32_t part = 1; part <= OTHERS; part++) {
		const struct jpeg_edge *other = &above[(x + len / (OTHERS + 1) * part) % len];

		counts->others[details(top, other)][class_of(top, other)]++;
	}
}

/* A row of MCUs is whole. */
static void end_row(struct jpeg_seam *seam, int components, uint64_t row)
{
	struct jpeg_edge *above = seam->above;
	uint64_t mcu = row * seam->across;

	for (int i = 0; row && i < components; i++) {
		const struct jpeg_edge *top = seam->top + seam->starts[i];
		const struct jpeg_edge *other = above + seam->starts[i];
		uint32_t len = seam->starts[i + 1] - seam->starts[i];
		uint32_t h = len / (uint32_t)seam->across;
		struct jpeg_seam_counts *counts = &seam->counts[i > 0];

		for (uint32_t x = 0; x < len; x++) {
			uint64_t at = mcu + x / h;
			unsigned detail = details(&top[x], &other[x]);
			unsigned class = class_of(&top[x], &other[x]);

			if (at < seam->joint || at - seam->joint >= seam->across) {
				counts->neighbours[detail][class]++;
				count_others(counts, &top[x], other, x, len);
			} else if (at < seam->next) {
				counts->joint[detail][class]++;
				seam->compared++;
			}
		}
	}
	seam->above = seam->bottom;
	seam->bottom = above;
}

void jpeg_seam_add(struct jpeg_seam *seam, struct jpeg_decoder *d, uint64_t mcu)
{
	const struct jpeg *jpeg = d->jpeg;
	const int32_t *block = seam->coefficients;
	uint64_t column = mcu % seam->across;

	if (seam->no_memory || !view_work(jpeg->view, (uint64_t)d->block_count * BLOCK_WORK))
		return;
	find_mcu(d, seam->at, mcu, &seam->joint);
	find_mcu(d, seam->end, mcu, &seam->next);
	seam->count++;
	for (int i = 0; i < jpeg->in_scan; i++) {
		const struct jpeg_component *c = jpeg->scan[i];
		uint32_t h = jpeg->in_scan == 1 ? 1 : c->h, v = jpeg->in_scan == 1 ? 1 : c->v;
		struct jpeg_edge *top = seam->top + seam->starts[i] + column * h;
		struct jpeg_edge *bottom = seam->bottom + seam->starts[i] + column * h;

		for (uint32_t n = 0; n < h * v; n++, block += 64) {
			struct jpeg_edge upper, lower;

			if (n >= h && n < h * (v - 1))
				continue;
			find_edges(block, jpeg->quant[c->quant], &upper, &lower);
			if (n < h)
				top[n] = upper;
			if (n >= h * (v - 1))
				bottom[n % h] = lower;
		}
	}
	if (column == seam->across - 1)
		end_row(seam, jpeg->in_scan, mcu / seam->across);
}

/* By how many bits, in LOG_BITs, a difference of this class is likelier between neighbours than between other blocks. */
static int32_t likelihood(const uint32_t *neighbours, const uint32_t *others, int class)
{
	uint32_t near = 1, far = 1;

	for (int i = class ? class - 1 : 0; i <= class + 1 && i < JPEG_SEAM_CLASSES; i++) {
		uint32_t weight = i == class ? 2 : 1;

		near += OTHERS * weight * neighbours[i];
		far += weight * others[i];
	}
	return log_16(near) - log_16(far);
}

/* The sum over all blocks after the joint. That detail ends speaks against it only: what is flat differs little from
 * any. */
static int64_t sum_up(const struct jpeg_seam_counts *counts)
{
	int64_t sum = 0;

	for (int detail = 1; detail <= 2; detail++) {
		for (int class = 0; class < JPEG_SEAM_CLASSES; class ++) {
			int32_t gain = likelihood(
				counts->neighbours[detail], counts->others[detail], class);

			if (detail == 2 || gain < 0)
				sum += (int64_t)counts->joint[detail][class] * gain;
		}
	}
	return sum / LOG_BIT;
}

static unsigned bits_of(int64_t sum)
{
	return seam_bits_of(measured, sizeof(measured) / sizeof(*measured), sum);
}

unsigned jpeg_seam_finish(struct jpeg_seam *seam)
{
	bool known = !seam->no_memory && seam->compared >= COMPARED_MIN &&
		     seam->count / seam->across >= ROWS_MIN;
	unsigned bits = known ? bits_of(sum_up(&seam->counts[0]) + sum_up(&seam->counts[1])) : 0;

	free(seam->coefficients);
	free(seam->above);
	free(seam->bottom);
	free(seam->top);
	return bits;
}
