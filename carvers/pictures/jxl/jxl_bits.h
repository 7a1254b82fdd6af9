/* Bits of a JPEG XL codestream, lowest first, and the kinds of numbers in its headers. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_BITS_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_BITS_H

#include <stdbool.h>

#include "bits.h"
#include "carver.h"

#define JXL_BUFFER_LEN 4096

struct jxl_bits {
	struct view *view;
	uint64_t start, at, limit; /* where reading began, the next byte to load, the end */
	struct lsb_bits held;      /* bits loaded and not read yet */
	size_t next, len;          /* of buffer: used, filled */
	bool cut;                  /* the data ended too early */
	bool wrong;                /* a value that the format does not allow */
	unsigned proof;            /* bits whose values are unlikely to be chance */
	uint64_t numbers;          /* entropy-coded numbers read: they may take almost no bits */
	uint8_t buffer[JXL_BUFFER_LEN];
};

/* One of four ways in which a number is coded: a number of bits, and an offset to add. */
struct jxl_choice {
	uint8_t bits;
	uint32_t offset;
};

/* Starts at the byte `at` of the view. */
void jxl_bits_begin(struct jxl_bits *bits, struct view *view, uint64_t at, uint64_t limit);

/* False after something was wrong, or the bytes ended: everything read since is 0. */
bool jxl_bits_ok(const struct jxl_bits *bits);

/* Loads at least n bits (at most 32) into bits->held, or the rest of the data. */
void jxl_bits_fill(struct jxl_bits *bits, unsigned n);

/* Reads the next n bits, at most 32. */
uint32_t jxl_bits_read(struct jxl_bits *bits, unsigned n);

/* Read a bit, and a number in the forms U32, whose choice has two bits, and U64 of the format. */
bool jxl_bits_bool(struct jxl_bits *bits);
uint32_t jxl_bits_u32(struct jxl_bits *bits, const struct jxl_choice choices[4]);
uint64_t jxl_bits_u64(struct jxl_bits *bits);

/* Reads one of the values below 64 that are set in `allowed`. */
uint32_t jxl_bits_enum(struct jxl_bits *bits, uint64_t allowed);

/* Reads `count` half-precision numbers, which must be finite. */
void jxl_bits_f16(struct jxl_bits *bits, unsigned count);

/* Skips a name; skips extensions, of which none are defined. */
void jxl_bits_name(struct jxl_bits *bits);
void jxl_bits_extensions(struct jxl_bits *bits);

/* Skips zeros up to the next byte. */
void jxl_bits_align(struct jxl_bits *bits);

/* The offset in the view of the byte that has the next bit. */
uint64_t jxl_bits_at(const struct jxl_bits *bits);

/* Notes that something is wrong unless `right`. */
static inline void jxl_bits_expect(struct jxl_bits *bits, bool right)
{
	if (!right)
		bits->wrong = true;
}

/* The number of significant bits of `value`: 0 for 0, 3 for 4 to 7. */
static inline unsigned jxl_bit_len(uint32_t value)
{
	return value ? 32 - (unsigned)__builtin_clz(value) : 0;
}

#endif
