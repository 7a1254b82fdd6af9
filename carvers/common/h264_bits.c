#include "h264_bits.h"

#define WINDOW_LEN 4096

/* The unit's end before zeros that may follow it (7.4.1, cabac_zero_word among them). */
static uint64_t end_without_zeros(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p;

	while (end - at >= 3 && (p = view_peek(view, end - 3, 3))) {
		if (!p[2] || (p[2] == 3 && !p[0] && !p[1]))
			end--;
		else
			break;
	}
	return end;
}

void h264_bits_open(struct h264_bits *bits, struct view *view, uint64_t at, uint64_t end)
{
	*bits = (struct h264_bits){ .view = view, .at = at };
	bits->end = end_without_zeros(view, at, end);
}

bool h264_refill(struct h264_bits *bits)
{
	uint64_t left = bits->end - bits->at;
	size_t len = left < WINDOW_LEN ? (size_t)left : WINDOW_LEN;

	bits->window = len ? view_peek(bits->view, bits->at, len) : NULL;
	bits->used = 0;
	bits->held = bits->window ? len : 0;
	bits->at += bits->held;
	bits->unread |= len && !bits->window;
	return bits->held != 0;
}

uint8_t h264_after_zeros(struct h264_bits *bits, uint8_t byte)
{
	if (byte < 3) {
		bits->forbidden = true;
		bits->zeros = byte ? 0 : bits->zeros + 1;
		bits->last = byte;
		return byte;
	}
	bits->zeros = 0;
	if (bits->used == bits->held && !h264_refill(bits)) {
		bits->missing++;
		return 0;
	}
	byte = bits->window[bits->used++];
	if (byte > 3)
		bits->forbidden = true;
	bits->zeros = byte ? 0 : 1;
	bits->last = byte;
	return byte;
}

uint32_t h264_ue(struct h264_bits *bits)
{
	uint32_t ahead = h264_peek(bits, 32);
	int zeros = ahead ? __builtin_clz(ahead) : 32;

	if (zeros > 20) {
		h264_take(bits, 32);
		return UINT32_MAX;
	}
	h264_take(bits, zeros);
	return h264_take(bits, zeros + 1) - 1;
}

int32_t h264_se(struct h264_bits *bits)
{
	uint32_t code = h264_ue(bits);

	if (code == UINT32_MAX)
		return INT32_MAX;
	return code & 1 ? (int32_t)(code / 2 + 1) : -(int32_t)(code / 2);
}

int64_t h264_left(struct h264_bits *bits)
{
	int stop;

	while (bits->bits.count <= 32 && !bits->missing)
		msb_push(&bits->bits, h264_byte(bits));
	if (!bits->missing)
		return INT64_MAX;
	stop = bits->last ? __builtin_ctz(bits->last) : 8;
	return (int64_t)bits->bits.count - 8 * (int64_t)bits->missing - stop - 1;
}
