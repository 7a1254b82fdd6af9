/*
 * Tables that the decoder of Huffman-coded data looks the next bits up in. The bits after a code
 * (a coefficient's value) matter only by their number, so an entry covers as many whole symbols as
 * the looked-up bits have, and the last one's value may even extend past them. Building a table
 * costs more than decoding a small picture, so tables are small first.
 */
#ifndef BURIN_CARVERS_PICTURES_JPEG_JPEG_LOOKUP_H
#define BURIN_CARVERS_PICTURES_JPEG_JPEG_LOOKUP_H

#include "jpeg_bits.h"

#define JPEG_ONE_BITS 9
#define JPEG_MANY_BITS 12  /* at most, of struct jpeg_many */
#define JPEG_BANDS_BITS 12 /* at most, of struct jpeg_bands */

/* One symbol. Codes of up to JPEG_ONE_BITS bits: length << 8 | value, 0 for longer ones. Those are
 * compared, as 16 bits from the left, with limit[length], one more than the last code of that
 * length. */
struct jpeg_one {
	uint16_t fast[1 << JPEG_ONE_BITS];
	uint32_t limit[17];
	int32_t first[17]; /* index in values that code 0 of this length would have */
	const uint8_t *values;
};

void jpeg_one_build(struct jpeg_one *one, const struct jpeg_code *code);

/* Takes a code: its value, or -1 and nothing is taken. Refill before; at least 40 bits are left. */
JPEG_INLINE int jpeg_one_take(const struct jpeg_one *one, struct jpeg_buffer *buffer)
{
	uint16_t entry = one->fast[buffer->held >> (64 - JPEG_ONE_BITS)];
	uint32_t code;

	if (entry) {
		jpeg_skip(buffer, entry >> 8);
		return entry & 0xff;
	}
	code = (uint32_t)(buffer->held >> 48);
	for (unsigned bits = JPEG_ONE_BITS + 1; bits <= 16; bits++) {
		if (code < one->limit[bits]) {
			jpeg_skip(buffer, bits);
			return one->values[(one->first[bits] + (int32_t)(code >> (16 - bits))) &
					   0xff];
		}
	}
	return -1;
}

/* DC: size << 8 | length, of codes of up to JPEG_ONE_BITS bits for values of up to 11 bits; 0 for
 * others. */
void jpeg_dc_build(uint16_t *dc, const struct jpeg_one *one);

/* AC of sequential scans. Entries are coefficients << 6 | bits, where coefficients are those
 * covered, JPEG_MANY_EOB more when the block ends after them, and JPEG_MANY_NONE when the bits have
 * no whole code. The table for `bits` bits starts at entry 1 << bits. */
#define JPEG_MANY_EOB 256u
#define JPEG_MANY_NONE 512u
struct jpeg_many {
	uint16_t entries[2 << JPEG_MANY_BITS];
};

void jpeg_many_build(struct jpeg_many *many, const struct jpeg_code *code, unsigned bits);

/* AC of progressive scans, with values of up to size_max bits: those of refinement scans have 1.
 * Entries have the bits in bits 0 to 5, the coefficients covered (16 at most) in 6 to 10, the n of
 * EOBn in 11 to 14 (15: no whole code), JPEG_BANDS_EOB, and from bit 16 on a bit for each of the
 * coefficients: whether it is not 0. */
#define JPEG_BANDS_EOB 0x8000u
#define JPEG_BANDS_NONE (JPEG_BANDS_EOB | 15 << 11)
struct jpeg_bands {
	uint32_t entries[2 << JPEG_BANDS_BITS];
};

void jpeg_bands_build(
	struct jpeg_bands *bands, const struct jpeg_code *code, unsigned bits, unsigned size_max);

/* AC of refinement scans where bits of coefficients that were not 0 before are among the symbols.
 * Entries have the bits of one symbol, with a new coefficient's sign, in bits 0 to 5, the run of
 * zeros or the n of EOBn in 6 to 9, and flags; JPEG_REFINED_NONE where the bits have no whole code. */
#define JPEG_REFINED_BITS JPEG_ONE_BITS
#define JPEG_REFINED_MARK 0x400u
#define JPEG_REFINED_EOB 0x800u
#define JPEG_REFINED_NONE 0x1000u
struct jpeg_refined {
	uint16_t entries[1 << JPEG_REFINED_BITS];
	uint16_t runs[1 << JPEG_REFINED_BITS]; /* jpeg_refined_run of each */
};

void jpeg_refined_build(struct jpeg_refined *refined, const struct jpeg_one *one);

/* The entry for a code of len bits. */
static inline uint16_t jpeg_refined_entry(unsigned len, uint8_t code)
{
	unsigned size = code & 15, run = code >> 4;

	if (size > 1)
		return JPEG_REFINED_NONE;
	return (uint16_t)((len + size) | run << 6 |
			  (size              ? JPEG_REFINED_MARK
				  : run < 15 ? JPEG_REFINED_EOB
					     : 0));
}

/* 1 << the run of zeros; 0: an entry has none. */
static inline uint16_t jpeg_refined_run(uint32_t entry)
{
	return entry & (JPEG_REFINED_EOB | JPEG_REFINED_NONE) ? 0
							      : (uint16_t)(1u << (entry >> 6 & 15));
}

#endif
