/*
 * A decoder of Huffman-coded JPEG scans as the standard describes it (ISO/IEC 10918-1, annexes F and
 * G): a bit at a time, from memory, without tables for speed. The carver's decoder has to say the
 * same about any data: whether a scan is valid, where it ends or breaks, and why.
 */
#ifndef BURIN_TESTS_JPEG_REFERENCE_H
#define BURIN_TESTS_JPEG_REFERENCE_H

#include <stdlib.h>
#include <string.h>

#include "jpeg/jpeg.h"

struct reference {
	struct jpeg *jpeg;
	const uint8_t *data;
	uint64_t size;
	uint64_t at;  /* the byte that holds the next bit */
	unsigned bit; /* 0 to 7, from the highest */
	bool over;    /* bits were taken that do not exist; they are 0 */
	uint64_t *history[JPEG_COMPONENTS];
	int32_t dc[JPEG_COMPONENTS];
	uint32_t eob_run;
	int zero_blocks;
	const char *problem;
	uint64_t valid_end;
};

/* Whether coded data has no byte at `at`: a marker, or the end. */
static bool reference_ends(const struct reference *r, uint64_t at)
{
	return at >= r->size ||
	       (r->data[at] == 0xff && (at + 1 >= r->size || r->data[at + 1] != 0));
}

static uint64_t reference_next(const struct reference *r, uint64_t at)
{
	return at + (r->data[at] == 0xff ? 2 : 1);
}

static unsigned reference_bit(struct reference *r)
{
	unsigned bit;

	if (reference_ends(r, r->at)) {
		r->over = true;
		return 0;
	}
	bit = r->data[r->at] >> (7 - r->bit) & 1;
	if (++r->bit == 8) {
		r->bit = 0;
		r->at = reference_next(r, r->at);
	}
	return bit;
}

static uint32_t reference_bits(struct reference *r, int count)
{
	uint32_t bits = 0;

	while (count--)
		bits = bits << 1 | reference_bit(r);
	return bits;
}

/* The offset of the next whole byte. */
static uint64_t reference_offset(const struct reference *r)
{
	return r->bit ? reference_next(r, r->at) : r->at;
}

static bool reference_fail(struct reference *r, const char *problem)
{
	uint64_t end = r->at;

	r->valid_end = reference_offset(r);
	while (!reference_ends(r, end))
		end = reference_next(r, end);
	if (r->over)
		problem = end + 1 < r->size ? "a marker in the middle of coded data" : NULL;
	r->problem = problem;
	return false;
}

/* A code's value, or -1: then no bit was taken. */
static int reference_code(struct reference *r, const struct jpeg_code *table)
{
	struct reference before = *r;
	uint32_t code = 0, first = 0, index = 0;

	for (int bits = 1; bits <= 16; bits++) {
		code = code << 1 | reference_bit(r);
		if (code - first < table->counts[bits])
			return table->values[index + code - first];
		index += table->counts[bits];
		first = (first + table->counts[bits]) << 1;
	}
	*r = before;
	return -1;
}

static bool reference_dc(struct reference *r, int index, int shift)
{
	const struct jpeg_component *c = &r->jpeg->components[index];
	int size = reference_code(r, &r->jpeg->codes[0][c->dc_table]);
	int64_t quant = r->jpeg->quant[c->quant][0], bound = 1 << (r->jpeg->precision + 3), value;

	if (size < 0 || size > 15)
		return reference_fail(r, "an unknown Huffman code");
	value = reference_bits(r, size);
	if (size && value < 1 << (size - 1))
		value -= (1 << size) - 1;
	r->dc[index] += (int32_t)value;
	value = (int64_t)r->dc[index] * (1 << shift) * (quant ? quant : 1);
	if (value > bound + quant || value < -bound - quant)
		return reference_fail(r, "a brightness out of range");
	return true;
}

static bool reference_sequential(struct reference *r, int index)
{
	const struct jpeg_code *table = &r->jpeg->codes[1][r->jpeg->components[index].ac_table];
	int k = 1;

	if (!reference_dc(r, index, 0))
		return false;
	while (k < 64) {
		int code = reference_code(r, table);

		if (code == 0)
			return true;
		if (code < 0 || ((code & 15) == 0 && code != 0xf0))
			return reference_fail(r, "an unknown Huffman code");
		reference_bits(r, code & 15);
		k += (code >> 4) + 1;
	}
	return k == 64 || reference_fail(r, "more than 64 coefficients in a block");
}

static bool reference_first_ac(struct reference *r, int index, uint64_t *history)
{
	const struct jpeg_code *table = &r->jpeg->codes[1][r->jpeg->components[index].ac_table];

	for (int k = r->jpeg->spectral_first; k <= r->jpeg->spectral_last && !r->eob_run; k++) {
		int code = reference_code(r, table);

		if (code < 0)
			return reference_fail(r, "an unknown Huffman code");
		if ((code & 15) == 0 && code != 0xf0) {
			r->eob_run = (1u << (code >> 4)) + reference_bits(r, code >> 4);
			break;
		}
		reference_bits(r, code & 15);
		k += code >> 4;
		if (k > r->jpeg->spectral_last)
			return reference_fail(r, "more coefficients in a block than its scan has");
		if (code & 15)
			*history |= 1ull << k;
	}
	if (r->eob_run)
		r->eob_run--;
	return true;
}

static bool reference_refined_ac(struct reference *r, int index, uint64_t *history)
{
	const struct jpeg_code *table = &r->jpeg->codes[1][r->jpeg->components[index].ac_table];
	int k = r->jpeg->spectral_first, last = r->jpeg->spectral_last;

	while (k <= last && !r->eob_run) {
		int code = reference_code(r, table), zeros;

		if (code < 0 || (code & 15) > 1)
			return reference_fail(r, "an unknown Huffman code");
		if ((code & 15) == 0 && code != 0xf0) {
			r->eob_run = (1u << (code >> 4)) + reference_bits(r, code >> 4);
			break;
		}
		reference_bits(r, code & 15);
		for (zeros = code >> 4; k <= last; k++) {
			if (*history >> k & 1)
				reference_bit(r);
			else if (zeros-- == 0)
				break;
		}
		if (k > last)
			return code == 0xf0 ||
			       reference_fail(r, "more coefficients in a block than its scan has");
		if (code & 15)
			*history |= 1ull << k;
		k++;
	}
	if (!r->eob_run)
		return true;
	for (; k <= last; k++)
		if (*history >> k & 1)
			reference_bit(r);
	r->eob_run--;
	return true;
}

/* Bits that lie between two positions, stuffing not counted. */
static uint64_t reference_distance(const struct reference *from, const struct reference *to)
{
	uint64_t bits = 0;

	for (uint64_t at = from->at; at < to->at; at = reference_next(from, at))
		bits += 8;
	return bits + to->bit - from->bit;
}

/* Whether the last 16 bytes that were taken, the current one included, are zeros; start: of the data
 * since the last marker. */
static bool reference_after_zeros(const struct reference *r, uint64_t start)
{
	uint64_t end = reference_offset(r);

	if (end - start < 16)
		return false;
	for (int i = 1; i <= 16; i++)
		if (r->data[end - (uint64_t)i] != 0)
			return false;
	/* The first of them is not stuffing. */
	return end - start == 16 || r->data[end - 17] != 0xff;
}

static bool reference_block(
	struct reference *r, int index, uint64_t row, uint64_t column, uint64_t start)
{
	struct jpeg *jpeg = r->jpeg;
	uint64_t *history = r->history[index];
	struct reference before = *r;
	bool valid;

	history = history ? history + row * jpeg->components[index].stride + column : NULL;
	if (jpeg->sof != JPEG_SOF2) {
		valid = reference_sequential(r, index);
	} else if (jpeg->spectral_first) {
		valid = jpeg->approx_high ? reference_refined_ac(r, index, history)
					  : reference_first_ac(r, index, history);
	} else if (jpeg->approx_high) {
		reference_bit(r);
		valid = true;
	} else {
		valid = reference_dc(r, index, jpeg->approx_low);
	}
	if (!valid)
		return false;
	if (r->over)
		return reference_fail(r, NULL);
	if (reference_distance(&before, r) < 128 || !reference_after_zeros(r, start)) {
		r->zero_blocks = 0;
		return true;
	}
	return ++r->zero_blocks < 2 || reference_fail(r, "zeros instead of coded data");
}

/* Whether the bytes [from, to) are few, or all equal. */
static bool reference_is_filled(const struct reference *r, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; to - from > 3 && at < to; at++)
		if (r->data[at] != r->data[from])
			return false;
	return true;
}

/* Goes to the next marker, at most 512 bytes away. */
static bool reference_marker(struct reference *r, const char *problem)
{
	uint64_t from = reference_offset(r), at = from;

	r->valid_end = from;
	while (!reference_ends(r, at) && at <= from + 512)
		at = reference_next(r, at);
	if (at <= from + 512 && at + 1 >= r->size) {
		r->at = at;
		r->problem = NULL;
		return false;
	}
	while (at <= from + 512 && at < from + 512 && at + 1 < r->size && r->data[at + 1] == 0xff)
		at++;
	r->problem = problem;
	if (at > from + 512 || at + 1 >= r->size)
		return false;
	r->at = at;
	r->bit = 0;
	return true;
}

static enum jpeg_scan reference_decode(struct reference *r)
{
	struct jpeg *jpeg = r->jpeg;
	bool single = jpeg->in_scan == 1;
	uint64_t across = single ? jpeg->scan[0]->across : jpeg->mcus_across;
	uint64_t down = single ? jpeg->scan[0]->down : jpeg->mcus_down;
	uint64_t start = r->at, mcu = 0;

	for (uint64_t row = 0; row < down; row++) {
		for (uint64_t column = 0; column < across; column++, mcu++) {
			if (jpeg->restart_interval && mcu && mcu % jpeg->restart_interval == 0) {
				uint64_t number = mcu / jpeg->restart_interval - 1;

				if (!reference_marker(r, "a restart marker is missing") ||
					!reference_is_filled(r, r->valid_end, r->at))
					return r->problem ? JPEG_SCAN_BROKEN : JPEG_SCAN_CUT;
				r->problem = "a restart marker out of order";
				if (r->data[r->at + 1] == JPEG_EOI)
					return JPEG_SCAN_SHORT;
				if (r->data[r->at + 1] != JPEG_RST0 + (number & 7))
					return JPEG_SCAN_BROKEN;
				r->at = start = r->at + 2;
				memset(r->dc, 0, sizeof(r->dc));
				r->eob_run = 0;
			}
			for (int i = 0; i < jpeg->in_scan; i++) {
				struct jpeg_component *c = jpeg->scan[i];
				int index = (int)(c - jpeg->components);
				uint64_t h = single ? 1 : c->h, v = single ? 1 : c->v;

				for (uint64_t b = 0; b < h * v; b++)
					if (!reference_block(r, index, row * v + b / h,
						    column * h + b % h, start))
						goto failed;
			}
		}
	}
	if (reference_marker(r, "no marker after a scan"))
		return JPEG_SCAN_DONE;
	return r->problem ? JPEG_SCAN_BROKEN : JPEG_SCAN_CUT;
failed:
	while (!reference_ends(r, r->at))
		r->at = reference_next(r, r->at);
	if (!r->problem)
		return JPEG_SCAN_CUT;
	if (r->over && r->data[r->at + 1] == JPEG_EOI)
		return JPEG_SCAN_SHORT;
	return JPEG_SCAN_BROKEN;
}

/* What a decoder found. */
struct scan_result {
	enum jpeg_scan state;
	uint64_t at;
	const char *problem; /* where the state is JPEG_SCAN_BROKEN */
};

static bool same_result(const struct scan_result *a, const struct scan_result *b)
{
	return a->state == b->state && a->at == b->at &&
	       (!a->problem || !b->problem ? a->problem == b->problem
					   : strcmp(a->problem, b->problem) == 0);
}

/* After jpeg_can_decode: decodes the scan at jpeg->at with both decoders. jpeg has the carver's
 * state then. */
static void decode_both(struct jpeg *jpeg, const uint8_t *data, uint64_t size,
	struct scan_result *got, struct scan_result *want, bool *same_history)
{
	struct jpeg copy = *jpeg;
	struct reference r = { .jpeg = &copy, .data = data, .size = size, .at = jpeg->at };
	uint64_t blocks = 0;
	uint64_t *history = NULL;
	const char *problem = NULL;

	for (int i = 0; i < jpeg->component_count; i++)
		blocks += (uint64_t)jpeg->components[i].stride * jpeg->mcus_down *
			  jpeg->components[i].v;
	if (jpeg->history) {
		history = malloc(blocks * sizeof(*history) + 1);
		if (!history)
			abort();
		memcpy(history, jpeg->history, blocks * sizeof(*history));
		for (int i = 0; i < jpeg->component_count; i++)
			r.history[i] = history + (jpeg->components[i].history - jpeg->history);
	}
	/* Its scan points into the first one's components, which are equal. */
	for (int i = 0; i < copy.in_scan; i++)
		copy.scan[i] = &copy.components[jpeg->scan[i] - jpeg->components];
	want->state = reference_decode(&r);
	want->problem = want->state == JPEG_SCAN_BROKEN ? r.problem : NULL;
	want->at = want->state == JPEG_SCAN_BROKEN ? r.valid_end : r.at;
	got->state = jpeg_decode_scan(jpeg, &problem);
	got->problem = got->state == JPEG_SCAN_BROKEN ? problem : NULL;
	got->at = jpeg->at;
	*same_history = got->state != JPEG_SCAN_DONE || !history ||
			memcmp(history, jpeg->history, blocks * sizeof(*history)) == 0;
	free(history);
}

/* Walks a picture in memory from SOI on, and decodes each scan with both decoders. Returns the number
 * of scans; *first_difference is the first one whose results differ, or -1. */
static int compare_decoders(const uint8_t *data, uint64_t size, struct view *view, bool portable,
	bool eager, int *first_difference, struct scan_result *got, struct scan_result *want)
{
	struct finding ignored = { 0 };
	struct jpeg jpeg = {
		.view = view, .finding = &ignored, .at = 2, .portable = portable, .eager = eager
	};
	int scans = 0;

	*first_difference = -1;
	while (jpeg.at + 4 <= size && data[jpeg.at] == 0xff) {
		uint8_t marker = data[jpeg.at + 1];
		uint64_t len = (uint64_t)data[jpeg.at + 2] << 8 | data[jpeg.at + 3];
		bool same;

		if (marker == 0xff) {
			jpeg.at++;
			continue;
		}
		if (marker < JPEG_SOF0 || (marker >= JPEG_RST0 && marker <= JPEG_EOI) || len < 2 ||
			len > size - jpeg.at - 2)
			break;
		if (marker < JPEG_APP0 &&
			jpeg_read_segment(&jpeg, marker, data + jpeg.at + 4, len - 2))
			break;
		jpeg.at += 2 + len;
		if (marker != JPEG_SOS)
			continue;
		if (!jpeg_can_decode(&jpeg))
			break;
		decode_both(&jpeg, data, size, got, want, &same);
		if (!same || !same_result(got, want)) {
			*first_difference = scans;
			break;
		}
		scans++;
		if (got->state != JPEG_SCAN_DONE)
			break;
	}
	free(jpeg.history);
	return scans;
}

#endif
