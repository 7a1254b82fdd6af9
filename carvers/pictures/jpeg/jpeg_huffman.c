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
 *
 * This file has the scans, and a plain decoder for each kind of block; jpeg_fast.c decodes the same
 * blocks faster, and leaves to this one those that are invalid or unusual; jpeg_stretch.c does not decode again what
 * another check has.
 */
#include <stdlib.h>
#include <string.h>

#include "coded.h"
#include "jpeg_decoder.h"
#include "jpeg_seam.h"

/* Blocks whose history is kept: 32 MiB, for pictures of 150 million pixels. Larger ones are not
 * decoded. */
#define HISTORY_BLOCKS (4u << 20)
/* Bytes that some programs leave between a scan's last block, or restart interval, and the next
 * marker. */
#define SLACK CODED_SLACK
/* As many of them may be any bytes. */
#define SLACK_FEW 3
/* Blocks visited in all scans together; a picture with more is not decoded further. Sequential
 * scans take bits for each block, but progressive ones skip thousands with one code, and a hostile
 * file has many such scans. The ten scans that programs usually write visit each block of the
 * largest picture five or six times. */
#define VISITS (32u << 20)
/* Units of work (view_work) for a block, which may take no bits at all, and for a byte. Most bytes
 * are decoded in 3 to 10 ns; where coefficients are refined, two bits can be a symbol of 8 ns. */
#define BLOCK_WORK 2
#define BYTE_WORK 1
#define REFINED_BLOCK_WORK 4
#define REFINED_BYTE_WORK 6

/* Bytes that are decoded, after which large lookup tables are worth building. */
#define LARGE_TABLES 16384
/* MCUs of a restart interval for which lanes are of use. */
#define LANES_INTERVAL 64
/* Units of work for the lookup tables of a scan's component. */
#define LOOKUP_WORK 256
/* Units of work for a trial, beside what it reads and decodes, whether it decodes that or passes over it. They bound the
 * trials of a file: as many as when each read up to 64 KiB at once. */
#define RESUME_WORK 49152
/* What a marker proves beside the count of what is before it (view_proved). */
#define MARKER_BITS 3

/* ---- blocks ---- */

/* Running out of bits explains any failure after it. */
static bool fail(struct jpeg_decoder *d, const char *problem)
{
	d->used_up = jpeg_bits_left(&d->bits) < 0;
	if (d->used_up)
		problem = d->bits.at_end ? NULL : "a marker in the middle of coded data";
	d->problem = problem;
	d->valid_end = jpeg_bits_offset(&d->bits);
	return false;
}

/* Decodes the next code: its value, or -1. After it at least 40 bits can still be taken. */
static int decode(struct jpeg_decoder *d, const struct jpeg_one *one)
{
	jpeg_refill(&d->bits.buffer);
	return jpeg_one_take(one, &d->bits.buffer);
}

/* A coefficient's value: ISO/IEC 10918-1, F.2.2.1 (EXTEND). */
static int32_t extend(uint32_t value, unsigned size)
{
	return value < 1u << (size - 1) ? (int32_t)value - (1 << size) + 1 : (int32_t)value;
}

/* Decodes the DC coefficient's difference to the previous block's. No 8-bit picture needs more than
 * +-1024 once multiplied by the quantization; twice as much is accepted for encoders that
 * overshoot. */
static bool decode_dc(struct jpeg_decoder *d, const struct jpeg_component *c, int shift)
{
	struct jpeg *jpeg = d->jpeg;
	int32_t *dc = &d->dc[c - jpeg->components];
	int size = decode(d, &d->tables->one[0][c->dc_table]);
	int64_t brightness, bound = 1 << (jpeg->precision + 3);

	if (size < 0 || size > 15)
		return fail(d, "an unknown Huffman code");
	if (size == 0)
		return true;
	*dc += extend(jpeg_take(&d->bits.buffer, (unsigned)size), (unsigned)size);
	brightness = (int64_t)*dc * (1 << shift);
	if (jpeg->quant[c->quant][0]) {
		brightness *= jpeg->quant[c->quant][0];
		bound += jpeg->quant[c->quant][0];
	}
	if (brightness > bound || brightness < -bound)
		return fail(d, "a brightness out of range");
	return true;
}

/* Takes the value of the coefficient with index k, which may be past the last. */
static void take_value(struct jpeg_decoder *d, unsigned size, int k)
{
	if (d->coefficients && size && k < 64)
		d->coefficients[k] = extend(jpeg_take(&d->bits.buffer, size), size);
	else
		jpeg_skip(&d->bits.buffer, size);
}

static bool sequential_block(struct jpeg_decoder *d, struct jpeg_component *c, uint64_t *history)
{
	const struct jpeg_one *one = &d->tables->one[1][c->ac_table];
	int k = 1;

	(void)history;
	if (!decode_dc(d, c, 0))
		return false;
	while (k < 64) {
		int code = decode(d, one);

		if (code == 0)
			return true;
		if (code < 0 || ((code & 15) == 0 && code != 0xf0))
			return fail(d, "an unknown Huffman code");
		k += code >> 4;
		take_value(d, (unsigned)code & 15, k++);
	}
	return k == 64 || fail(d, "more than 64 coefficients in a block");
}

static bool first_dc_block(struct jpeg_decoder *d, struct jpeg_component *c, uint64_t *history)
{
	(void)history;
	return decode_dc(d, c, d->jpeg->approx_low);
}

static bool refined_dc_block(struct jpeg_decoder *d, struct jpeg_component *c, uint64_t *history)
{
	(void)c;
	(void)history;
	jpeg_refill(&d->bits.buffer);
	jpeg_skip(&d->bits.buffer, 1);
	return true;
}

/* The code EOBn: this block and the given number of blocks after it have no more coefficients. */
static void start_eob_run(struct jpeg_decoder *d, int n)
{
	jpeg_refill(&d->bits.buffer);
	d->eob_run = (1u << n) + jpeg_take(&d->bits.buffer, (unsigned)n);
}

static bool first_ac_block(struct jpeg_decoder *d, struct jpeg_component *c, uint64_t *history)
{
	const struct jpeg_one *one = &d->tables->one[1][c->ac_table];
	int last = d->jpeg->spectral_last;
	int k = d->jpeg->spectral_first;

	if (d->eob_run) {
		d->eob_run--;
		return true;
	}
	while (k <= last) {
		int code = decode(d, one);

		if (code < 0)
			return fail(d, "an unknown Huffman code");
		if ((code & 15) == 0 && code != 0xf0) {
			start_eob_run(d, code >> 4);
			d->eob_run--;
			return true;
		}
		jpeg_skip(&d->bits.buffer, (unsigned)code & 15);
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
static int skip_refined(struct jpeg_decoder *d, uint64_t history, int k, int zeros)
{
	for (; k <= d->jpeg->spectral_last; k++) {
		if (history >> k & 1) {
			jpeg_refill(&d->bits.buffer);
			jpeg_skip(&d->bits.buffer, 1);
		} else if (zeros-- == 0) {
			break;
		}
	}
	return k;
}

/* The same for all coefficients from k on. */
static void skip_all_refined(struct jpeg_decoder *d, uint64_t history, int k)
{
	int last = d->jpeg->spectral_last;

	if (k > last)
		return;
	history = history >> k << k << (63 - last);
	for (int bits = __builtin_popcountll(history); bits > 0; bits -= 32) {
		jpeg_refill(&d->bits.buffer);
		jpeg_skip(&d->bits.buffer, bits < 32 ? (unsigned)bits : 32);
	}
}

static bool refined_ac_block(struct jpeg_decoder *d, struct jpeg_component *c, uint64_t *history)
{
	const struct jpeg_one *one = &d->tables->one[1][c->ac_table];
	int last = d->jpeg->spectral_last;
	int k = d->jpeg->spectral_first;

	while (!d->eob_run && k <= last) {
		int code = decode(d, one), size = code & 15;

		if (code < 0 || size > 1)
			return fail(d, "an unknown Huffman code");
		if (size == 0 && code != 0xf0) {
			start_eob_run(d, code >> 4);
			break;
		}
		jpeg_skip(&d->bits.buffer, (unsigned)size);
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

/* Whether the 16 bytes before the next one are zeros. */
static bool after_zeros(const struct jpeg_bits *b)
{
	const uint8_t *next = b->buffer.next - b->buffer.count / 8;

	return !be64(next - 8) && !be64(next - 16);
}

bool jpeg_accept_block(struct jpeg_decoder *d, uint64_t bits)
{
	struct jpeg_bits *b = &d->bits;

	if (!jpeg_bits_more(b))
		return fail(d, NULL);
	if (!d->large && b->at - d->began_at > LARGE_TABLES)
		jpeg_fast_prepare(d, true);
	if (bits < 128 || !after_zeros(b)) {
		d->zero_blocks = 0;
		return true;
	}
	d->met_zeros = true;
	return ++d->zero_blocks < 2 || fail(d, "zeros instead of coded data");
}

bool jpeg_decode_block(struct jpeg_decoder *d, struct jpeg_component *c, uint64_t *history)
{
	struct jpeg_buffer start = d->bits.buffer;

	return d->block(d, c, history) && jpeg_accept_block(d, jpeg_taken(&d->bits.buffer, &start));
}

/* ---- scans ---- */

/* Whether what is between the last block and the marker is filling, all of equal bytes. Others may be a picture's, of which
 * not all was decoded, since text and another file's pixels may decode as fewer or more blocks. */
static bool is_filled(struct jpeg_decoder *d)
{
	struct jpeg_bits *b = &d->bits;
	int byte = jpeg_bits_byte(b, d->valid_end);

	if (b->at - d->valid_end <= SLACK_FEW)
		return true;
	for (uint64_t at = d->valid_end + 1; at < b->at; at++)
		if (jpeg_bits_byte(b, at) != byte)
			return false;
	return true;
}

/* Skips the rest before the next marker, which has to be near. */
static bool go_to_marker(struct jpeg_decoder *d, const char *problem)
{
	struct jpeg_bits *b = &d->bits;

	d->valid_end = jpeg_bits_offset(b);
	jpeg_bits_find_marker(b, d->valid_end, SLACK);
	/* FF may be repeated before a marker. */
	while (b->at_marker && b->at < d->valid_end + SLACK && jpeg_bits_byte(b, b->at + 1) == 0xff)
		b->at++;
	/* Some encoders leave bytes there; but so does what is put together wrongly. */
	if (b->at_marker && jpeg_bits_byte(b, b->at + 1) >= 0 &&
		(b->at == d->valid_end || !view_thorough(d->jpeg->view)))
		return true;
	d->problem = b->at_end ? NULL : problem;
	return false;
}

/* At a marker where it had to be: `count` of something were decoded in [from, marker). Of data from
 * another place, about one in `count` would have just as many up to a marker. */
static void prove_count(struct jpeg_decoder *d, uint64_t from, uint64_t count)
{
	unsigned bits = MARKER_BITS;

	for (; count > 1; count /= 2)
		bits++;
	if (d->bits.at == d->valid_end)
		view_proved(d->jpeg->view, from, d->bits.at + 2, bits);
}

static bool restart(struct jpeg_decoder *d, uint64_t number)
{
	const char *problem = "a restart marker is missing";
	struct jpeg_bits *b = &d->bits;
	uint64_t marker_at;
	int marker;

	if (!go_to_marker(d, problem))
		return false;
	if (!is_filled(d)) {
		d->problem = problem;
		return false;
	}
	marker_at = b->at;
	marker = jpeg_bits_byte(b, marker_at + 1);
	if (marker != JPEG_RST0 + (int)((number - 1) & 7)) {
		d->used_up = marker == JPEG_EOI;
		d->problem = d->used_up ? "a marker in the middle of coded data"
					: "a restart marker out of order";
		return false;
	}
	prove_count(d, d->interval_at, d->jpeg->restart_interval);
	jpeg_bits_jump(b, marker_at + 2);
	d->interval_at = marker_at + 2;
	d->eob_run = 0;
	memset(d->dc, 0, sizeof(d->dc));
	return true;
}

bool jpeg_count_work(struct jpeg_decoder *d, uint64_t mcus)
{
	if (view_work(d->jpeg->view, mcus * (uint64_t)d->block_count * d->block_work))
		return true;
	d->problem = NULL;
	d->valid_end = jpeg_bits_offset(&d->bits);
	return false;
}

/* Decodes MCUs of a row. An MCU has some blocks of each component, or a single one when the scan has
 * only one component. */
static bool decode_run(struct jpeg_decoder *d, uint64_t row, uint64_t column, uint64_t mcus)
{
	const struct jpeg_component *c = d->jpeg->scan[0];
	uint64_t *history = c->history ? c->history + row * c->stride + column : NULL;

	return jpeg_count_work(d, mcus) && d->run(d, history, mcus);
}

/* At the marker after a scan. Where there are restart markers each proves its interval; their number
 * proves what they, of which each eighth is the same, do not. */
static void prove_scan(struct jpeg_decoder *d, uint64_t mcus)
{
	uint64_t interval = d->jpeg->restart_interval;

	if (interval && mcus > interval) {
		prove_count(d, d->interval_at, (mcus - 1) % interval + 1);
		if (mcus / interval >> 2 * MARKER_BITS)
			prove_count(d, d->data, mcus / interval >> 2 * MARKER_BITS);
	} else {
		prove_count(d, d->data, mcus);
	}
}

/* Some encoders write a restart marker after the last interval, too. */
static void skip_last_restart(struct jpeg_decoder *d, uint64_t mcus)
{
	uint64_t interval = d->jpeg->restart_interval;

	if (interval && mcus % interval == 0 &&
		jpeg_bits_byte(&d->bits, d->bits.at + 1) ==
			JPEG_RST0 + (int)((mcus / interval - 1) & 7))
		d->bits.at += 2;
}

/* Decodes an MCU block by block. False: the one with number *block could not be decoded, and its bits begin
 * at d->bits if the view ended there. */
static bool decode_blocks(struct jpeg_decoder *d, unsigned *block)
{
	for (*block = 0; *block < (unsigned)d->block_count; ++*block) {
		struct jpeg_buffer start = d->bits.buffer;
		int32_t dc[JPEG_COMPONENTS];

		memcpy(dc, d->dc, sizeof(dc));
		if (jpeg_decode_block(d, d->blocks[*block].component, NULL))
			continue;
		d->bits.buffer = start;
		memcpy(d->dc, dc, sizeof(dc));
		return false;
	}
	return true;
}

/* Goes on from an MCU to where the view ends, and describes that place. */
static void describe_end(struct jpeg_decoder *d, uint64_t mcu, uint64_t count)
{
	uint64_t interval = d->jpeg->restart_interval;
	unsigned block;

	for (; mcu < count; mcu++) {
		if (interval && mcu && mcu % interval == 0 && !restart(d, mcu / interval))
			return;
		if (decode_blocks(d, &block))
			continue;
		if (!d->problem)
			jpeg_describe(d, block, count - mcu, mcu);
		return;
	}
}

/* Whether nothing but the verdict is wanted of a scan that is known to be valid up to *end. */
static bool is_known(const struct jpeg_decoder *d, uint64_t *end)
{
	const struct jpeg *jpeg = d->jpeg;

	*end = 0;
	if (jpeg->scan_count == 1 && d->block == sequential_block && !jpeg->restart_interval &&
		!jpeg->saves && !jpeg->resume && !jpeg->seam && !jpeg->coded)
		*end = view_known_end(jpeg->view, jpeg->start, d->data);
	return *end != 0;
}

/* Skips such a scan: reads the same bytes, at the same cost, but decodes nothing. False: they are not what was
 * decoded elsewhere, and nothing was skipped. */
static bool skip_known(struct jpeg_decoder *d, uint64_t mcus, uint64_t end)
{
	jpeg_bits_find_marker(&d->bits, end, 0);
	if (d->bits.at_marker && d->bits.at == end)
		return view_work(d->jpeg->view, mcus * (uint64_t)d->block_count * d->block_work);
	jpeg_bits_open(&d->bits, d->jpeg->view, d->data, BYTE_WORK);
	jpeg_bits_jump(&d->bits, d->data);
	return false;
}

/* Blocks between two states, about. */
#define STATE_BLOCKS 48

/* MCUs of a row, and rows of them. */
static uint64_t scan_across(const struct jpeg *jpeg)
{
	return jpeg->in_scan == 1 ? jpeg->scan[0]->across : jpeg->mcus_across;
}

static uint64_t scan_down(const struct jpeg *jpeg)
{
	return jpeg->in_scan == 1 ? jpeg->scan[0]->down : jpeg->mcus_down;
}

static bool decode_all(struct jpeg_decoder *d)
{
	struct jpeg *jpeg = d->jpeg;
	bool first = jpeg->scan_count <= 1;
	struct jpeg_seam *seam = first && d->block == sequential_block ? jpeg->seam : NULL;
	uint64_t across = scan_across(jpeg), down = scan_down(jpeg);
	uint64_t interval = jpeg->restart_interval, mcus, until, end;
	uint64_t apart = STATE_BLOCKS / (uint64_t)d->block_count + 1;
	uint64_t mcu = jpeg_state_load(d, across * down, &until);

	if (first && jpeg->coded && d->block == sequential_block) {
		describe_end(d, mcu, across * down);
		d->problem = NULL;
		return false;
	}
	if (seam)
		jpeg_seam_start(seam, d, across);
	if (is_known(d, &end) && skip_known(d, across * down, end))
		mcu = across * down;
	for (; mcu < across * down && mcu < until; mcu += mcus) {
		mcus = across - mcu % across;
		if (jpeg->saves)
			jpeg_state_save(d, mcu, across * down);
		if (interval && mcu && mcu % interval == 0 && !restart(d, mcu / interval))
			return false;
		if (interval && mcus > interval - mcu % interval)
			mcus = interval - mcu % interval;
		if (jpeg->saves && mcus > apart)
			mcus = apart;
		if (mcus > until - mcu)
			mcus = until - mcu;
		if (seam)
			mcus = 1;
		if (d->wants_stretches) {
			mcus = across * down - mcu;
			if (!jpeg_stretches_run(d, mcus))
				return false;
			continue;
		}
		if (d->wants_lanes) {
			mcus = across * down - mcu;
			if (interval && mcus > interval - mcu % interval)
				mcus = interval - mcu % interval;
			if (!jpeg_lanes_run(d, mcus))
				return false;
			continue;
		}
		if (!decode_run(d, mcu / across, mcu % across, mcus))
			return false;
		if (seam)
			jpeg_seam_add(seam, d, mcu);
	}
	if (mcu >= until) {
		view_start_over(jpeg->view);
		d->problem = NULL;
		return false;
	}
	if (!go_to_marker(d, "no marker after a scan"))
		return false;
	if (!d->jpeg->extra_at && !is_filled(d))
		d->jpeg->extra_at = d->valid_end;
	prove_scan(d, across * down);
	skip_last_restart(d, across * down);
	return true;
}

/* The largest DC that is accepted (decode_dc). */
static uint32_t dc_bound(const struct jpeg *jpeg, const struct jpeg_component *c)
{
	uint32_t quant = jpeg->quant[c->quant][0];
	uint32_t bound = (1u << (jpeg->precision + 3)) + quant;
	uint32_t shift = jpeg->sof == JPEG_SOF2 ? jpeg->approx_low : 0;

	return (bound / (quant ? quant : 1)) >> shift;
}

static void add_blocks(struct jpeg_decoder *d, struct jpeg_component *c)
{
	int count = d->jpeg->in_scan == 1 ? 1 : c->h * c->v;

	while (count--)
		d->blocks[d->block_count++] = (struct jpeg_block){
			.component = c,
			.prediction = &d->dc[c - d->jpeg->components],
			.number = (uint32_t)(c - d->jpeg->components),
			.bound = dc_bound(d->jpeg, c),
		};
}

/* Builds the tables of the scan's components for decoding symbol by symbol. */
static void build_tables(struct jpeg_decoder *d)
{
	struct jpeg *jpeg = d->jpeg;
	bool built[2][4] = { 0 };

	for (int i = 0; i < jpeg->in_scan; i++) {
		const uint8_t tables[2] = { jpeg->scan[i]->dc_table, jpeg->scan[i]->ac_table };

		for (int ac = 0; ac < 2; ac++) {
			const struct jpeg_code *code = &jpeg->codes[ac][tables[ac]];

			if (built[ac][tables[ac]] || !code->defined)
				continue;
			built[ac][tables[ac]] = true;
			jpeg_one_build(&d->own->tables.one[ac][tables[ac]], code);
			if (!ac)
				jpeg_dc_build(d->own->tables.dc_lookup[tables[ac]],
					&d->own->tables.one[ac][tables[ac]]);
		}
	}
}

void jpeg_use_tables(struct jpeg_decoder *d, const struct jpeg_tables *tables)
{
	d->tables = tables;
	for (int i = 0; i < d->block_count; i++) {
		const struct jpeg_component *c = d->blocks[i].component;

		d->blocks[i].dc = tables->dc_lookup[c->dc_table];
		d->blocks[i].one = &tables->one[1][c->ac_table];
	}
}

static void start_scan(struct jpeg_decoder *d, struct jpeg *jpeg)
{
	bool is_plain; /* nothing but the verdict is wanted */

	d->jpeg = jpeg;
	d->problem = NULL;
	d->valid_end = 0;
	d->used_up = false;
	memset(d->dc, 0, sizeof(d->dc));
	d->eob_run = 0;
	d->zero_blocks = 0;
	d->met_zeros = false;
	d->trace = NULL;
	d->coefficients = NULL;
	d->block = sequential_block;
	if (jpeg->sof == JPEG_SOF2) {
		if (jpeg->spectral_first)
			d->block = jpeg->approx_high ? refined_ac_block : first_ac_block;
		else
			d->block = jpeg->approx_high ? refined_dc_block : first_dc_block;
	}
	d->block_work = d->block == refined_ac_block ? REFINED_BLOCK_WORK : BLOCK_WORK;
	d->own = NULL;
	d->coding = 0;
	d->block_count = 0;
	for (int i = 0; i < jpeg->in_scan; i++)
		add_blocks(d, jpeg->scan[i]);
	is_plain = d->block == sequential_block && !jpeg->saves && !jpeg->seam && !jpeg->coded;
	d->wants_lanes = is_plain && !jpeg->resume &&
			 (jpeg->eager || !jpeg->restart_interval ||
				 jpeg->restart_interval >= LANES_INTERVAL);
	d->wants_stretches = is_plain && jpeg->resume && !jpeg->restart_interval &&
			     d->block_count <= CODED_BLOCKS;
	view_work(jpeg->view, (uint64_t)jpeg->in_scan * LOOKUP_WORK);
	if (d->wants_stretches)
		view_work(jpeg->view, RESUME_WORK);
	jpeg_fast_choose(d);
	d->data = d->interval_at = d->began_at = jpeg->at;
}

static enum jpeg_scan run_scan(struct jpeg_decoder *d, const char **problem)
{
	struct jpeg *jpeg = d->jpeg;
	struct jpeg_bits *b = &d->bits;
	bool whole;

	if (jpeg->coded && jpeg->coded->begins) {
		jpeg_describe(d, 0, scan_across(jpeg) * scan_down(jpeg), 0);
		return JPEG_SCAN_CUT;
	}
	jpeg_bits_open(b, jpeg->view, jpeg->at,
		d->block == refined_ac_block ? REFINED_BYTE_WORK : BYTE_WORK);
	b->by_pieces = d->wants_stretches;
	whole = decode_all(d);
	jpeg->at = b->at;
	if (whole)
		return JPEG_SCAN_DONE;
	if (!d->problem)
		return JPEG_SCAN_CUT;
	*problem = d->problem;
	if (b->at_marker && d->used_up && jpeg_bits_byte(b, b->at + 1) == JPEG_EOI)
		return JPEG_SCAN_SHORT;
	jpeg->at = d->valid_end;
	return JPEG_SCAN_BROKEN;
}

/* With tables of its own: many pages, which trials that need none do not touch. Few are used, so they are not set here. */
static __attribute__((noinline)) enum jpeg_scan run_alone(
	struct jpeg_decoder *d, const char **problem)
{
	struct jpeg_own own;

	own.lanes.usable = false;
	d->own = &own;
	jpeg_use_tables(d, &own.tables);
	build_tables(d);
	jpeg_fast_prepare(d, d->jpeg->eager);
	return run_scan(d, problem);
}

enum jpeg_scan jpeg_decode_scan(struct jpeg *jpeg, const char **problem)
{
	struct jpeg_decoder d;

	start_scan(&d, jpeg);
	return d.wants_stretches && jpeg_stretches_prepare(&d) ? run_scan(&d, problem)
							       : run_alone(&d, problem);
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

		if (dc && !jpeg->codes[0][c->dc_table].defined)
			return false;
		if (ac && !jpeg->codes[1][c->ac_table].defined)
			return false;
	}
	if (!progressive)
		return true;
	jpeg->visits += scan_blocks(jpeg);
	return jpeg->visits <= VISITS && (jpeg->history || keep_history(jpeg));
}
