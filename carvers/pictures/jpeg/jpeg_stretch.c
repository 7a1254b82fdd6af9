/*
 * Trials of a file in pieces decode the same clusters again and again, each from another break. Huffman codes synchronize
 * themselves, so most of them are soon at the same bit of the image as one before, in the same block of an MCU, and from
 * there on they decode the same. So the scan is decoded by stretches of whole MCUs, whose ends depend on the image alone: the
 * first MCU after each kilobyte of it. What one comes to is noted (carvers/coded.h), and the next check that
 * is where it begins passes over it.
 *
 * All that a block's validity depends on is in the stretch's bits and in the tables, but for three things. The DC adds up
 * from the scan's start: of a stretch it is known how far it goes up and down. Zeros are refused if two blocks in a row
 * have them: a stretch with such a block is not noted. And a scan has so many MCUs: a longer stretch is not taken. What is read
 * ahead, and counted, depends only on the position (jpeg_bits by pieces), so that neither depends on what was noted. Where
 * the work that may be done comes to its end nothing is passed over, as a check may end there in the midst of a stretch.
 */
#include <string.h>

#include "coded.h"
#include "jpeg_decoder.h"

/* MCUs of a stretch, at most. */
#define STRETCH_MCUS 256
/* Bytes of one that is noted. */
#define STRETCH_LEAST 16
#define STRETCH_MOST 32768
/* More work than reading a stretch's bytes, beside that for each of them. */
#define STRETCH_WORK 65536
#define STRETCH_BYTE_WORK 8

struct shared_scan {
	struct jpeg_decoder *d;
	uint64_t left; /* MCUs */
	struct jpeg_place place;
};

/* What identifies a scan's decoding, but for the largest DC: the kinds of an MCU's blocks, and the codes. */
struct coding {
	uint8_t blocks[CODED_BLOCKS][3];
	struct jpeg_code codes[2][4];
};

/* Makes the tables of a coding, which stays where it is. */
static void make_tables(void *made, const void *bytes)
{
	struct jpeg_tables *tables = made;
	const struct coding *coding = bytes;

	for (int i = 0; i < 4; i++) {
		if (coding->codes[0][i].defined) {
			jpeg_one_build(&tables->one[0][i], &coding->codes[0][i]);
			jpeg_dc_build(tables->dc_lookup[i], &tables->one[0][i]);
		}
		if (coding->codes[1][i].defined) {
			jpeg_one_build(&tables->one[1][i], &coding->codes[1][i]);
			jpeg_many_build(&tables->many[i], &coding->codes[1][i], JPEG_LARGE_BITS);
		}
	}
}

bool jpeg_stretches_prepare(struct jpeg_decoder *d)
{
	const struct jpeg *jpeg = d->jpeg;
	struct coding coding = { 0 };
	const struct coded_coding identity = {
		.bytes = &coding,
		.len = sizeof(coding),
		.made_len = sizeof(struct jpeg_tables),
		.make = make_tables,
	};
	const void *made;

	for (int i = 0; i < d->block_count; i++) {
		const struct jpeg_component *c = d->blocks[i].component;

		coding.blocks[i][0] = (uint8_t)(c - jpeg->components + 1);
		coding.blocks[i][1] = c->dc_table;
		coding.blocks[i][2] = c->ac_table;
		coding.codes[0][c->dc_table] = jpeg->codes[0][c->dc_table];
		coding.codes[1][c->ac_table] = jpeg->codes[1][c->ac_table];
	}
	d->coding = view_coding(jpeg->view, &identity, &made);
	if (!d->coding)
		return false;
	d->large = true;
	d->lookup_bits = JPEG_LARGE_BITS;
	jpeg_use_tables(d, made);
	for (int i = 0; i < d->block_count; i++)
		d->blocks[i].ac = d->tables->many[d->blocks[i].component->ac_table].entries +
				  (1u << d->lookup_bits);
	return true;
}

static size_t component_of(const struct jpeg_decoder *d, size_t block)
{
	return (size_t)(d->blocks[block].prediction - d->dc);
}

/* Whether no DC would be out of range. */
static bool stays_in_range(
	const struct jpeg_decoder *d, const int32_t *dc, const struct coded_stretch *stretch)
{
	for (size_t i = 0; i < (size_t)d->block_count; i++) {
		size_t c = component_of(d, i);
		int32_t bound = (int32_t)d->blocks[i].bound;

		if (dc[c] + stretch->low[c] < -bound || dc[c] + stretch->high[c] > bound)
			return false;
	}
	return true;
}

/* Passes over all stretches that are known. */
static void pass_known(struct shared_scan *s)
{
	struct jpeg_decoder *d = s->d;
	struct jpeg_place place = s->place;
	struct coded_stretch stretch;
	uint64_t mcus = 0, work = STRETCH_WORK;

	while (view_recall(d->jpeg->view, d->coding, place.at, place.bit, &stretch)) {
		struct jpeg_place next = { place.at + stretch.bytes, stretch.bit, 0 };

		work += STRETCH_WORK + (uint64_t)stretch.bytes * STRETCH_BYTE_WORK +
			(uint64_t)stretch.mcus * (unsigned)d->block_count * d->block_work;
		if (stretch.mcus > s->left - mcus || !stays_in_range(d, d->dc, &stretch) ||
			!jpeg_bits_can_pass(&d->bits, next) || !view_affords(d->jpeg->view, work))
			break;
		for (int i = 0; i < JPEG_COMPONENTS; i++)
			d->dc[i] += stretch.sum[i];
		place = next;
		mcus += stretch.mcus;
	}
	if (!mcus)
		return;
	d->zero_blocks = 0;
	d->began_at += place.at - s->place.at;
	s->place = place;
	s->left -= mcus;
	jpeg_bits_pass(&d->bits, place);
	jpeg_count_work(d, mcus);
}

/* What the DCs of some MCUs come to from `before` on. False: a stretch has no room for it. */
static bool sum_up(const struct jpeg_decoder *d, const int32_t *before, const int32_t *trace,
	size_t mcus, struct coded_stretch *stretch)
{
	int32_t low[JPEG_COMPONENTS] = { 0 }, high[JPEG_COMPONENTS] = { 0 };

	for (size_t mcu = 0; mcu < mcus; mcu++) {
		for (size_t i = 0; i < (size_t)d->block_count; i++) {
			size_t c = component_of(d, i);
			int32_t change = *trace++ - before[c];

			low[c] = change < low[c] ? change : low[c];
			high[c] = change > high[c] ? change : high[c];
		}
	}
	for (int i = 0; i < JPEG_COMPONENTS; i++) {
		if (low[i] < INT16_MIN || high[i] > INT16_MAX)
			return false;
		stretch->low[i] = (int16_t)low[i];
		stretch->high[i] = (int16_t)high[i];
		stretch->sum[i] = (int16_t)(d->dc[i] - before[i]);
	}
	return true;
}

/* Notes what was decoded from a place on, up to s->place. */
static void note(const struct shared_scan *s, struct jpeg_place from, uint64_t mcus,
	const int32_t *before, const int32_t *trace)
{
	const struct jpeg_decoder *d = s->d;
	uint64_t bytes = s->place.at - from.at;
	struct coded_stretch stretch = { .bytes = (uint16_t)bytes,
		.after = (uint16_t)(jpeg_bits_end_of(&d->bits, s->place) - from.at),
		.mcus = (uint16_t)mcus,
		.bit = s->place.bit };

	if (d->coding && !d->met_zeros && bytes >= STRETCH_LEAST && bytes <= STRETCH_MOST &&
		sum_up(d, before, trace, (size_t)mcus, &stretch))
		view_note(d->jpeg->view, d->coding, from.at, from.bit, &stretch);
}

/* Decodes a stretch, and notes it. False as with d->run. */
static bool decode_stretch(struct shared_scan *s)
{
	struct jpeg_decoder *d = s->d;
	struct jpeg_bits *b = &d->bits;
	uint64_t mcus = s->left < STRETCH_MCUS ? s->left : STRETCH_MCUS;
	uint64_t next = jpeg_bits_end_of(b, s->place);
	int32_t trace[STRETCH_MCUS * CODED_BLOCKS], before[JPEG_COMPONENTS];
	struct jpeg_place from = s->place;
	bool valid, is_whole;

	memcpy(before, d->dc, sizeof(before));
	d->trace = trace;
	d->met_zeros = false;
	jpeg_bits_stop(b, next, view_stretch_end(d->jpeg->view, next));
	valid = jpeg_fast_trace(d, NULL, mcus);
	is_whole = b->stopped || mcus == STRETCH_MCUS;
	jpeg_bits_stop(b, 0, UINT64_MAX);
	mcus -= d->left;
	if (!jpeg_count_work(d, mcus + !valid) || !valid)
		return false;
	s->left -= mcus;
	s->place = jpeg_bits_place(b);
	if (is_whole)
		note(s, from, mcus, before, trace);
	return true;
}

bool jpeg_stretches_run(struct jpeg_decoder *d, uint64_t mcus)
{
	struct shared_scan s = { d, mcus, jpeg_bits_place(&d->bits) };

	while (s.left) {
		if (d->coding)
			pass_known(&s);
		if (s.left && !decode_stretch(&s))
			return false;
	}
	return true;
}
