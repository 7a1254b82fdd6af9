#include "jpeg_bits.h"

bool jpeg_bits_ensure(struct jpeg_bits *b, size_t n)
{
	uint64_t at = b->window_at + b->pos;
	size_t len;

	if (b->pos + n <= b->len)
		return true;
	if (!view_work(b->view, b->pos * JPEG_BYTE_WORK))
		return false;
	len = b->size - at < VIEW_MAX_PEEK ? (size_t)(b->size - at) : VIEW_MAX_PEEK;
	if (len < n)
		return false;
	b->window = view_peek(b->view, at, len);
	b->window_at = at;
	b->pos = 0;
	b->len = b->window ? len : 0;
	return b->window != NULL;
}

void jpeg_bits_refill_slowly(struct jpeg_bits *b)
{
	while (b->buffer.count <= 56 && !b->at_marker && !b->at_end) {
		uint8_t byte;

		if (!jpeg_bits_ensure(b, 1) ||
			(b->window[b->pos] == 0xff && !jpeg_bits_ensure(b, 2))) {
			b->at_end = true;
			return;
		}
		byte = b->window[b->pos];
		if (byte == 0xff && b->window[b->pos + 1] != 0) {
			b->at_marker = true;
			return;
		}
		b->pos += byte == 0xff ? 2 : 1;
		msb_push(&b->buffer, byte);
	}
}
