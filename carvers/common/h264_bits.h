/*
 * Reads a NAL unit of H.264 (ITU-T H.264, 7.3.1): removes the bytes that prevent start codes from arising, and notices
 * sequences that cannot be in one.
 */
#ifndef BURIN_CARVERS_COMMON_H264_BITS_H
#define BURIN_CARVERS_COMMON_H264_BITS_H

#include <stdbool.h>

#include "bits.h"
#include "carver.h"

struct h264_bits {
	struct view *view;
	uint64_t at, end; /* not in the window yet */
	const uint8_t *window;
	size_t held, used;
	struct msb_bits bits;
	unsigned zeros;   /* bytes of zeros that were read last */
	unsigned missing; /* bytes that were read past the end: zeros */
	uint8_t last;     /* the last byte that was there */
	bool forbidden;   /* a sequence that cannot be in a unit */
	bool unread;      /* the view did not give what it has */
};

/* Reads from [at, end) of the view: the bytes of a NAL unit after its head, without zeros that may follow it. */
void h264_bits_open(struct h264_bits *bits, struct view *view, uint64_t at, uint64_t end);

/* More bytes in the window. False: there are none. */
bool h264_refill(struct h264_bits *bits);

/* A byte after three or more that begin with two of zeros (7.4.1). */
uint8_t h264_after_zeros(struct h264_bits *bits, uint8_t byte);

static inline uint8_t h264_byte(struct h264_bits *bits)
{
	uint8_t byte;

	if (bits->used == bits->held && !h264_refill(bits)) {
		bits->missing++;
		return 0;
	}
	byte = bits->window[bits->used++];
	if (bits->zeros >= 2 && byte <= 3)
		return h264_after_zeros(bits, byte);
	bits->zeros = byte ? 0 : bits->zeros + 1;
	bits->last = byte;
	return byte;
}

/* n bits, at most 32. */
static inline uint32_t h264_take(struct h264_bits *bits, int n)
{
	while (bits->bits.count < n)
		msb_push(&bits->bits, h264_byte(bits));
	return msb_take(&bits->bits, n);
}

/* The next n bits, at most 32. */
static inline uint32_t h264_peek(struct h264_bits *bits, int n)
{
	while (bits->bits.count < n)
		msb_push(&bits->bits, h264_byte(bits));
	return msb_peek(&bits->bits, n);
}

/* Numbers by Exp-Golomb codes (9.1); UINT32_MAX and INT32_MAX where they are too large. */
uint32_t h264_ue(struct h264_bits *bits);
int32_t h264_se(struct h264_bits *bits);

/* Bits that were not taken of those up to the last that is 1, which ends the unit; below 0: too many were taken, INT64_MAX: at
 * least 32. */
int64_t h264_left(struct h264_bits *bits);

/* Where the next byte is in the view. */
static inline uint64_t h264_at(const struct h264_bits *bits)
{
	return bits->at - (bits->held - bits->used);
}

#endif
