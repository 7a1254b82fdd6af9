/*
 * LZW: codes of first_size + 1 to 12 bits. Codes below 1 << first_size are values (pixels, or bytes
 * of them), the next two clear the table and end the data, each later one is a string: the previous
 * code's string and one more value. The lengths of the strings suffice to count the values; which
 * values they are matters only to who wants them. A code that the table does not have yet, or more values
 * than the picture has, cannot come from an encoder: random bytes get there within some ten bytes,
 * but with a full table (which has all codes) only when the picture is full.
 *
 * GIF has a code's lowest bit first, and may continue with a full table. TIFF (6.0, section 13) has
 * the highest bit first, makes codes longer one code earlier than it has to, and clears a table
 * before it is full.
 */
#include "lzw.h"

static void clear_table(struct lzw *lzw)
{
	lzw->code_size = lzw->first_size + 1;
	lzw->next = (1u << lzw->first_size) + 2;
	lzw->last_len = 0;
}

void lzw_start(struct lzw *lzw, enum lzw_kind kind, int first_size, uint64_t left)
{
	*lzw = (struct lzw){ .kind = kind, .first_size = first_size, .left = left };
	for (uint32_t i = 0; i < 1u << first_size; i++)
		lzw->lens[i] = 1;
	clear_table(lzw);
}

/* Adds a code's string to the values: it is where the table's entry was made, or goes on with what it begins. */
static void add_string(const struct lzw *lzw, uint32_t code, uint32_t len)
{
	struct lzw_values *values = lzw->values;
	uint8_t *bytes = values->bytes + values->count;
	const uint8_t *from =
		values->bytes + (code == lzw->next ? values->last_place : values->places[code]);

	for (uint32_t i = 0; i < len; i++) {
		bytes[i] = code < 1u << lzw->first_size ? (uint8_t)code : from[i];
		values->codes[values->count + i] = i ? LZW_CODES : (uint16_t)code;
	}
	if (lzw->last_len && lzw->next < LZW_CODES)
		values->places[lzw->next] = values->last_place;
	values->last_place = values->count;
	values->count += len;
}

/* Decodes a code for values. */
static bool decode_values(struct lzw *lzw, uint32_t code)
{
	bool early = lzw->kind == LZW_TIFF;
	uint32_t len;

	if (code > lzw->next || (code == lzw->next && !lzw->last_len))
		return false;
	/* The code that is being defined: the previous code's string, and its first value again. */
	len = code == lzw->next ? lzw->last_len + 1 : lzw->lens[code];
	if (len > lzw->left)
		return false;
	lzw->left -= len;
	if (lzw->values)
		add_string(lzw, code, len);
	if (lzw->last_len && lzw->next < LZW_CODES) {
		lzw->lens[lzw->next++] = lzw->last_len + 1;
		if (lzw->next + early == 1u << lzw->code_size && lzw->code_size < 12)
			lzw->code_size++;
	} else if (lzw->last_len && lzw->kind == LZW_TIFF) {
		return false;
	}
	lzw->last_len = len;
	return true;
}

static bool decode_code(struct lzw *lzw, uint32_t code)
{
	if (code == 1u << lzw->first_size) {
		lzw->cleared = true;
		clear_table(lzw);
		return true;
	}
	if (code == (1u << lzw->first_size) + 1) {
		lzw->ended = true;
		return true;
	}
	return decode_values(lzw, code);
}

/* Reads the next code, for which there are enough bits. */
static uint32_t next_code(struct lzw *lzw)
{
	uint32_t mask = (1u << lzw->code_size) - 1, code = lzw->bits & mask;

	lzw->bit_count -= (uint32_t)lzw->code_size;
	if (lzw->kind == LZW_TIFF)
		return lzw->bits >> lzw->bit_count & mask;
	lzw->bits >>= lzw->code_size;
	return code;
}

bool lzw_feed(struct lzw *lzw, const uint8_t *bytes, size_t len, size_t *used)
{
	*used = 0;
	if (lzw->ended && len)
		return false;
	for (size_t i = 0; i < len && !lzw->ended; i++) {
		*used = i;
		if (lzw->kind == LZW_TIFF)
			lzw->bits = lzw->bits << 8 | bytes[i];
		else
			lzw->bits |= (uint32_t)bytes[i] << lzw->bit_count;
		lzw->bit_count += 8;
		while (lzw->bit_count >= (uint32_t)lzw->code_size && !lzw->ended)
			if (!decode_code(lzw, next_code(lzw)))
				return false;
		*used = i + 1;
	}
	return true;
}
