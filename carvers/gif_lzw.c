/*
 * LZW in GIF: codes of code_size + 1 to 12 bits, the lowest bit first. Codes below 1 << code_size
 * are pixels, the next two clear the table and end the data, each later one is a string: what the
 * code before stood for, and a pixel more. How long each string is tells how many pixels a code
 * makes; which they are does not matter here. A code that the table does not have yet, or more
 * pixels than the picture has, can't be from an encoder: random bytes come to that within some ten
 * bytes, but with a full table (it holds all codes) only when the picture is full.
 */
#include "gif.h"

static void clear(struct gif_lzw *lzw)
{
	lzw->code_size = lzw->first_size + 1;
	lzw->next = (1u << lzw->first_size) + 2;
	lzw->last_len = 0;
}

void gif_lzw_start(struct gif_lzw *lzw, int code_size, uint64_t pixels)
{
	*lzw = (struct gif_lzw){ .first_size = code_size, .left = pixels };
	for (uint32_t i = 0; i < 1u << code_size; i++)
		lzw->lens[i] = 1;
	clear(lzw);
}

/* A code that stands for pixels. */
static bool take_pixels(struct gif_lzw *lzw, uint32_t code)
{
	uint32_t len;

	if (code > lzw->next || (code == lzw->next && !lzw->last_len))
		return false;
	/* The code that is just being made: what the one before stood for, and its first pixel
	 * again. */
	len = code == lzw->next ? lzw->last_len + 1 : lzw->lens[code];
	if (len > lzw->left)
		return false;
	lzw->left -= len;
	if (lzw->last_len && lzw->next < GIF_CODES) {
		lzw->lens[lzw->next++] = lzw->last_len + 1;
		if (lzw->next == 1u << lzw->code_size && lzw->code_size < 12)
			lzw->code_size++;
	}
	lzw->last_len = len;
	return true;
}

static bool take_code(struct gif_lzw *lzw, uint32_t code)
{
	if (code == 1u << lzw->first_size) {
		lzw->cleared = true;
		clear(lzw);
		return true;
	}
	if (code == (1u << lzw->first_size) + 1) {
		lzw->ended = true;
		return true;
	}
	return take_pixels(lzw, code);
}

bool gif_lzw_feed(struct gif_lzw *lzw, const uint8_t *bytes, size_t len, size_t *used)
{
	*used = 0;
	if (lzw->ended && len)
		return false;
	for (size_t i = 0; i < len && !lzw->ended; i++) {
		*used = i;
		lzw->bits |= (uint32_t)bytes[i] << lzw->bit_count;
		lzw->bit_count += 8;
		while (lzw->bit_count >= (uint32_t)lzw->code_size && !lzw->ended) {
			int size = lzw->code_size;

			if (!take_code(lzw, lzw->bits & ((1u << size) - 1)))
				return false;
			lzw->bits >>= size;
			lzw->bit_count -= (uint32_t)size;
		}
	}
	*used = len;
	return true;
}
