#include "cursor_bits.h"

void cursor_bits_fill(struct cursor_bits *bits)
{
	struct msb_bits buffer = bits->buffer;

	while (buffer.count <= 56) {
		int byte = bits->cursor.at < bits->end ? cursor_peek(&bits->cursor) : 0;

		bits->cursor.at++;
		msb_push(&buffer, byte < 0 ? 0 : (uint8_t)byte);
	}
	bits->buffer = buffer;
}

int cursor_bits_take_word(struct cursor_bits *bits, const struct code_word *words, int longest)
{
	uint32_t next = cursor_bits_peek(bits, longest);

	for (; words->len; words++)
		if (next >> (longest - words->len) == words->bits) {
			msb_skip(&bits->buffer, words->len);
			return words->value;
		}
	return -1;
}
