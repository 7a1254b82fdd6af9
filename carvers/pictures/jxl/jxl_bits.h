/* Bits of a JPEG XL codestream, lowest first, and the kinds of numbers its headers are made of. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_BITS_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_BITS_H

#include <stdbool.h>

#include "carver.h"

#define JXL_BUFFER_LEN 4096

struct jxl_bits {
	struct view *view;
	uint64_t start, at, limit; /* where it was begun, the next byte to be loaded, the end */
	uint64_t word;             /* bits that were loaded and not taken */
	unsigned count;            /* of them */
	size_t next, len;          /* of buffer: taken, filled */
	bool cut;                  /* more was wanted than there is */
	bool wrong;                /* a value that the format does not allow */
	unsigned proof;            /* bits that chance would hardly have made as they are */
	uint64_t numbers; /* entropy-coded ones that were read: they may take hardly any bits */
	uint8_t buffer[JXL_BUFFER_LEN];
};

/* One of four ways in which a number is coded: so many bits, to which offset is added. */
struct jxl_choice {
	uint8_t bits;
	uint32_t offset;
};

/* Begins at the byte `at` of the view. */
void jxl_bits_begin(struct jxl_bits *bits, struct view *view, uint64_t at, uint64_t limit);

/* False once something was wrong or the bytes ended. All that is read from then on is 0. */
bool jxl_bits_sound(const struct jxl_bits *bits);

/* The next n bits, at most 32. */
uint32_t jxl_bits_take(struct jxl_bits *bits, unsigned n);

bool jxl_bits_bool(struct jxl_bits *bits);
uint32_t jxl_bits_u32(struct jxl_bits *bits, const struct jxl_choice choices[4]);
uint64_t jxl_bits_u64(struct jxl_bits *bits);

/* One of the values below 64 that are set in `allowed`. */
uint32_t jxl_bits_enum(struct jxl_bits *bits, uint64_t allowed);

/* So many half-precision numbers: neither is one infinite or none. */
void jxl_bits_f16(struct jxl_bits *bits, unsigned count);

/* A name, and extensions: none are defined, so there are none. */
void jxl_bits_name(struct jxl_bits *bits);
void jxl_bits_extensions(struct jxl_bits *bits);

/* Zeros up to the next byte. */
void jxl_bits_align(struct jxl_bits *bits);

/* Where in the view the next bit stands: the byte, and how many of its bits were taken. */
uint64_t jxl_bits_at(const struct jxl_bits *bits, unsigned *taken);

/* Something is wrong unless `right`. */
static inline void jxl_bits_expect(struct jxl_bits *bits, bool right)
{
	if (!right)
		bits->wrong = true;
}

/* How many bits it takes to tell `value` from 0: 0 for 0, 3 for 4 to 7. */
static inline unsigned jxl_bit_len(uint32_t value)
{
	return value ? 32 - (unsigned)__builtin_clz(value) : 0;
}

#endif
