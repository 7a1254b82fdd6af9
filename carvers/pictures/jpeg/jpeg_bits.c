#include "jpeg_bits.h"

bool bits_ensure(struct bits *b, size_t n)
{
	uint64_t at = b->window_at + b->pos;
	size_t len;

	if (b->pos + n <= b->len)
		return true;
	len = b->size - at < VIEW_MAX_PEEK ? (size_t)(b->size - at) : VIEW_MAX_PEEK;
	if (len < n)
		return false;
	b->window = view_peek(b->view, at, len);
	b->window_at = at;
	b->pos = 0;
	b->len = b->window ? len : 0;
	return b->window != NULL;
}

void bits_refill_slowly(struct bits *b)
{
	while (b->count <= 56 && !b->at_marker && !b->at_end) {
		uint8_t byte;

		if (!bits_ensure(b, 1) || (b->window[b->pos] == 0xff && !bits_ensure(b, 2))) {
			b->at_end = true;
			return;
		}
		byte = b->window[b->pos];
		if (byte == 0xff && b->window[b->pos + 1] != 0) {
			b->at_marker = true;
			return;
		}
		b->pos += byte == 0xff ? 2 : 1;
		b->acc |= (uint64_t)byte << (56 - b->count);
		b->count += 8;
	}
}
