/*
 * Huffman-coded scans, sequential and progressive (ISO/IEC 10918-1, annexes F and G), decoded as
 * far as necessary to locate each coefficient's bits; pixels are not computed.
 *
 * The frame determines how many blocks a scan has, so its end is known, not guessed, and data that
 * is not the picture's soon fails to decode: a code that is in no table, more than 64 coefficients
 * in a block, an average brightness (DC) out of range, a marker in the middle. In random data that
 * takes some hundred bytes, and in text no more. Zeros are the exception: with common tables they
 * decode to blocks full of equal coefficients, and no picture has two of those in a row.
 *
 * Refinement scans (annex G.1.2.3) have a bit for each coefficient that is not 0 already, so the
 * decoder keeps a bit for each coefficient.
 */
#include "jpeg.h"

#include <stdlib.h>
#include <string.h>

#include "jpeg_bits.h"

/* Blocks whose history is kept: 32 MiB, for pictures of 150 million pixels. Larger ones are not
 * decoded. */
#define HISTORY_BLOCKS (4u << 20)
/* Bytes that some programs leave between a scan's last block, or restart interval, and the next
 * marker. */
#define SLACK 512
/* Blocks visited in all scans together; a picture with more is not decoded further. Sequential
 * scans take bits for each block, but progressive ones skip thousands with one code, and a hostile
 * file has many such scans. The ten scans that programs usually write visit each block of the
 * largest picture five or six times. */
#define VISITS (32u << 20)
/* Units of work for a block, which may take no bits at all; and where coefficients are refined,
 * which a few bits make the decoder look at one by one. */
#define BLOCK_WORK 2
#define REFINED_WORK 12

struct decoder {
	struct jpeg *jpeg;
	struct jpeg_bits bits;
	const char *problem; /* why the scan failed; NULL when the view ended */
	uint64_t valid_end;  /* then: how far it is valid, about */
	bool (*block)(struct decoder *, struct jpeg_component *, uint64_t *history);
	int32_t dc[JPEG_COMPONENTS]; /* predictions, in order of jpeg->components */
	uint32_t eob_run;            /* progressive: blocks that end at once */
	int zero_blocks;             /* long ones in a row */
	uint64_t work;               /* for blocks, not counted by the view yet */
	unsigned block_work;
};

/* ---- blocks ---- */

/* Running out of bits explains any failure after it. */
static bool fail(struct decoder *d, const char *problem)
{
	if (d->bits.buffer.count < 0)
		problem = d->bits.at_end ? NULL : "a marker in the middle of coded data";
	d->problem = problem;
	d->valid_end = jpeg_bits_byte_offset(&d->bits);
	return false;
}

/* Decodes the DC coefficient's difference to the previous block's. No 8-bit picture needs more than
 * +-1024 once multiplied by the quantization; twice as much is accepted for encoders that
 * overshoot. */
static inline bool decode_dc(struct decoder *d, const struct jpeg_component *c, int shift)
{
	struct jpeg *jpeg = d->jpeg;
	int32_t *dc = &d->dc[c - jpeg->components];
	int size = jpeg_bits_decode(&d->bits, &jpeg->tables[0][c->dc_table]);
	int32_t value;
	int64_t brightness, bound = 1 << (jpeg->precision + 3);

	if (size < 0 || size > 15)
		return fail(d, "an unknown Huffman code");
	if (size == 0)
		return true;
	value = (int32_t)jpeg_bits_take(&d->bits, size);
	*dc += value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
	brightness = (int64_t)*dc * (1 << shift);
	if (jpeg->dc_quant[c->quant]) {
		brightness *= jpeg->dc_quant[c->quant];
		bound += jpeg->dc_quant[c->quant];
	}
	if (brightness > bound || brightness < -bound)
		return fail(d, "a brightness out of range");
	return true;
}

static bool sequential_block(struct decoder *d, struct jpeg_component *c, uint64_t *history)
{
	const struct jpeg_table *table = &d->jpeg->tables[1][c->ac_table];
	struct jpeg_bits *b = &d->bits;
	int k = 1;

	(void)history;
	if (!decode_dc(d, c, 0))
		return false;
	while (k < 64) {
		int code = jpeg_bits_decode(b, table);

		if (code == 0)
			return true;
		if (code < 0 || ((code & 15) == 0 && code != 0xf0))
			return fail(d, "an unknown Huffman code");
		msb_skip(&b->buffer, code & 15);
		k += (code >> 4) + 1;
	}
	return k == 64 || fail(d, "more than 64 coefficients in a block");
}

static bool first_dc_block(struct decoder *d, struct jpeg_component *c, uint64_t *history)
{
	(void)history;
	return decode_dc(d, c, d->jpeg->approx_low);
}

static bool refined_dc_block(struct decoder *d, struct jpeg_component *c, uint64_t *history)
{
	(void)c;
	(void)history;
	jpeg_bits_refill(&d->bits);
	msb_skip(&d->bits.buffer, 1);
	return true;
}

/* The code EOBn: this block and the given number of blocks after it have no more coefficients. */
static void start_eob_run(struct decoder *d, int n)
{
	jpeg_bits_refill(&d->bits);
	d->eob_run = (1u << n) + jpeg_bits_take(&d->bits, n);
}

static bool first_ac_block(struct decoder *d, struct jpeg_component *c, uint64_t *history)
{
	const struct jpeg_table *table = &d->jpeg->tables[1][c->ac_table];
	int last = d->jpeg->spectral_last;
	int k = d->jpeg->spectral_first;

	if (d->eob_run) {
		d->eob_run--;
		return true;
	}
	while (k <= last) {
		int code = jpeg_bits_decode(&d->bits, table);

		if (code < 0)
			return fail(d, "an unknown Huffman code");
		if ((code & 15) == 0 && code != 0xf0) {
			start_eob_run(d, code >> 4);
			d->eob_run--;
			return true;
		}
		msb_skip(&d->bits.buffer, code & 15);
		k += code >> 4;
		if (k > last)
			return fail(d, "more coefficients in a block than its scan has");
		if (code & 15)
			*history |= 1ull << k;
		k++;
	}
	return true;
}

/* Skips coefficients from k on: a bit for each that is not 0, until `zeros` zeros are skipped and
 * the next one is reached, or the range's end. Returns the coefficient reached. */
static int skip_refined(struct decoder *d, uint64_t history, int k, int zeros)
{
	for (; k <= d->jpeg->spectral_last; k++) {
		if (history >> k & 1) {
			jpeg_bits_refill(&d->bits);
			msb_skip(&d->bits.buffer, 1);
		} else if (zeros-- == 0) {
			break;
		}
	}
	return k;
}

/* The same for all coefficients from k on. */
static void skip_all_refined(struct decoder *d, uint64_t history, int k)
{
	int last = d->jpeg->spectral_last;

	if (k > last)
		return;
	history = history >> k << k << (63 - last);
	for (int bits = __builtin_popcountll(history); bits > 0; bits -= 32) {
		jpeg_bits_refill(&d->bits);
		msb_skip(&d->bits.buffer, bits < 32 ? bits : 32);
	}
}

static bool refined_ac_block(struct decoder *d, struct jpeg_component *c, uint64_t *history)
{
	const struct jpeg_table *table = &d->jpeg->tables[1][c->ac_table];
	int last = d->jpeg->spectral_last;
	int k = d->jpeg->spectral_first;

	while (!d->eob_run && k <= last) {
		int code = jpeg_bits_decode(&d->bits, table), size = code & 15;

		if (code < 0 || size > 1)
			return fail(d, "an unknown Huffman code");
		if (size == 0 && code != 0xf0) {
			start_eob_run(d, code >> 4);
			break;
		}
		msb_skip(&d->bits.buffer, size);
		k = skip_refined(d, *history, k, code >> 4);
		if (k > last)
			return size == 0 ||
			       fail(d, "more coefficients in a block than its scan has");
		if (size)
			*history |= 1ull << k;
		k++;
	}
	if (d->eob_run) {
		skip_all_refined(d, *history, k);
		d->eob_run--;
	}
	return true;
}

/* ---- scans ---- */

/* Decodes a block. False when it is invalid. */
static inline bool decode_block(
	struct decoder *d, struct jpeg_component *c, uint64_t row, uint64_t column)
{
	struct jpeg_bits *b = &d->bits;
	uint64_t before = jpeg_bits_offset(b);

	d->work += d->block_work;
	if (!d->block(d, c, c->history ? c->history + row * c->stride + column : NULL))
		return false;
	if (b->buffer.count < 0)
		return fail(d, NULL);
	if (jpeg_bits_offset(b) - before < 128 || b->pos < 16 || be64(b->window + b->pos - 8) ||
		be64(b->window + b->pos - 16)) {
		d->zero_blocks = 0;
		return true;
	}
	return ++d->zero_blocks < 2 || fail(d, "zeros instead of coded data");
}

/* Decodes an MCU: some blocks of each component, or a single one when the scan has only one
 * component. */
static bool decode_mcu(struct decoder *d, uint64_t row, uint64_t column)
{
	struct jpeg *jpeg = d->jpeg;

	if (jpeg->in_scan == 1)
		return decode_block(d, jpeg->scan[0], row, column);
	for (int i = 0; i < jpeg->in_scan; i++) {
		struct jpeg_component *c = jpeg->scan[i];

		for (unsigned y = 0; y < c->v; y++)
			for (unsigned x = 0; x < c->h; x++)
				if (!decode_block(d, c, row * c->v + y, column * c->h + x))
					return false;
	}
	return true;
}

/* Skips the rest before the next marker, which has to be near. */
static bool go_to_marker(struct decoder *d, const char *problem)
{
	struct jpeg_bits *b = &d->bits;
	uint64_t limit = b->window_at + b->pos + SLACK;

	d->valid_end = jpeg_bits_byte_offset(b);
	while (!b->at_marker && !b->at_end && b->window_at + b->pos < limit) {
		b->buffer.held = 0;
		b->buffer.count = 0;
		jpeg_bits_refill(b);
	}
	/* FF may be repeated before a marker. */
	while (b->at_marker && b->window_at + b->pos < limit && jpeg_bits_ensure(b, 2) &&
		b->window[b->pos + 1] == 0xff)
		b->pos++;
	if (b->at_marker && jpeg_bits_ensure(b, 2))
		return true;
	d->problem = b->at_end ? NULL : problem;
	return false;
}

static bool restart(struct decoder *d, uint64_t number)
{
	struct jpeg_bits *b = &d->bits;

	if (!go_to_marker(d, "a restart marker is missing"))
		return false;
	if (b->window[b->pos + 1] == JPEG_EOI)
		b->buffer.count = -1;
	if (b->window[b->pos + 1] != JPEG_RST0 + ((number - 1) & 7))
		return fail(d, "a restart marker out of order");
	b->pos += 2;
	b->at_marker = false;
	b->buffer.held = 0;
	b->buffer.count = 0;
	d->eob_run = 0;
	memset(d->dc, 0, sizeof(d->dc));
	return true;
}

/* False: the check has to end, as where the view does. */
static bool count_work(struct decoder *d)
{
	uint64_t work = d->work;

	d->work = 0;
	if (view_work(d->jpeg->view, work))
		return true;
	d->problem = NULL;
	d->valid_end = jpeg_bits_byte_offset(&d->bits);
	return false;
}

static bool decode_all(struct decoder *d)
{
	struct jpeg *jpeg = d->jpeg;
	bool single = jpeg->in_scan == 1;
	uint64_t across = single ? jpeg->scan[0]->across : jpeg->mcus_across;
	uint64_t down = single ? jpeg->scan[0]->down : jpeg->mcus_down;
	uint64_t interval = jpeg->restart_interval, left = interval, restarts = 0;

	for (uint64_t row = 0; row < down; row++) {
		for (uint64_t column = 0; column < across; column++) {
			if (interval && left-- == 0) {
				left = interval - 1;
				if (!restart(d, ++restarts))
					return false;
			}
			if (!decode_mcu(d, row, column))
				return false;
		}
		if (!count_work(d))
			return false;
	}
	return true;
}

enum jpeg_scan jpeg_decode_scan(struct jpeg *jpeg, const char **problem)
{
	struct decoder d = {
		.jpeg = jpeg,
		.block = sequential_block,
		.block_work = BLOCK_WORK,
		.bits = { .view = jpeg->view, .window_at = jpeg->at, .size = view_size(jpeg->view) }
	};
	struct jpeg_bits *b = &d.bits;
	bool whole;

	if (jpeg->sof == JPEG_SOF2) {
		if (jpeg->spectral_first)
			d.block = jpeg->approx_high ? refined_ac_block : first_ac_block;
		else
			d.block = jpeg->approx_high ? refined_dc_block : first_dc_block;
		if (d.block == refined_ac_block)
			d.block_work = REFINED_WORK;
	}
	whole = decode_all(&d) && go_to_marker(&d, "no marker after a scan");
	view_work(jpeg->view, b->pos * JPEG_BYTE_WORK + d.work);
	jpeg->at = b->window_at + b->pos;
	if (whole)
		return JPEG_SCAN_DONE;
	if (!d.problem)
		return JPEG_SCAN_CUT;
	*problem = d.problem;
	if (b->at_marker && b->buffer.count < 0 && jpeg_bits_ensure(b, 2) &&
		b->window[b->pos + 1] == JPEG_EOI)
		return JPEG_SCAN_SHORT;
	jpeg->at = d.valid_end;
	return JPEG_SCAN_BROKEN;
}

static bool keep_history(struct jpeg *jpeg)
{
	uint64_t blocks = 0;

	for (int i = 0; i < jpeg->component_count; i++) {
		struct jpeg_component *c = &jpeg->components[i];

		blocks += (uint64_t)c->stride * jpeg->mcus_down * c->v;
	}
	if (blocks > HISTORY_BLOCKS)
		return false;
	jpeg->history = calloc(blocks, sizeof(*jpeg->history));
	if (!jpeg->history) {
		view_no_memory(jpeg->view);
		return false;
	}
	blocks = 0;
	for (int i = 0; i < jpeg->component_count; i++) {
		struct jpeg_component *c = &jpeg->components[i];

		c->history = jpeg->history + blocks;
		blocks += (uint64_t)c->stride * jpeg->mcus_down * c->v;
	}
	return true;
}

static uint64_t scan_blocks(const struct jpeg *jpeg)
{
	uint64_t blocks = 0;

	for (int i = 0; i < jpeg->in_scan; i++)
		blocks += (uint64_t)jpeg->scan[i]->stride * jpeg->mcus_down * jpeg->scan[i]->v;
	return blocks;
}

bool jpeg_can_decode(struct jpeg *jpeg)
{
	bool progressive = jpeg->sof == JPEG_SOF2;
	bool dc = !progressive || (jpeg->spectral_first == 0 && !jpeg->approx_high);
	bool ac = !progressive || jpeg->spectral_first;

	if (jpeg->sof > JPEG_SOF2 || jpeg->hierarchical || !jpeg->height)
		return false;
	for (int i = 0; i < jpeg->in_scan; i++) {
		struct jpeg_component *c = jpeg->scan[i];

		if (dc && !jpeg->tables[0][c->dc_table].defined)
			return false;
		if (ac && !jpeg->tables[1][c->ac_table].defined)
			return false;
	}
	if (!progressive)
		return true;
	jpeg->visits += scan_blocks(jpeg);
	return jpeg->visits <= VISITS && (jpeg->history || keep_history(jpeg));
}
