/*
 * PDF's ASCII85 filter (ISO 32000-2, 7.4.3): five characters from ! to u are four bytes, z is four zeros, and ~> ends the data;
 * white space does not count. Data that were deflated before have a checksum.
 */
#include "pdf.h"

#include "inflated.h"
#include "walk.h"

#define OUTPUT_LEN 4096

struct ascii85 {
	uint64_t value; /* of the digits so far */
	unsigned digits;
	uint8_t output[OUTPUT_LEN];
	size_t len;
	bool ends; /* ~ was read, or the data are invalid */
};

static void put(struct ascii85 *ascii, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		ascii->output[ascii->len++] = (uint8_t)(ascii->value >> (24 - 8 * i));
	ascii->value = 0;
	ascii->digits = 0;
}

/* False: the character is not of the data. */
static bool add(struct ascii85 *ascii, uint8_t byte)
{
	if (byte == ' ' || (byte >= '\t' && byte <= '\r') || byte == 0)
		return true;
	if (byte == 'z' && !ascii->digits) {
		put(ascii, 4);
		return true;
	}
	if (byte < '!' || byte > 'u')
		return false;
	ascii->value = ascii->value * 85 + byte - '!';
	if (++ascii->digits < 5)
		return true;
	if (ascii->value > UINT32_MAX)
		return false;
	put(ascii, 4);
	return true;
}

/* The bytes of a last group, which is shorter. */
static void flush(struct ascii85 *ascii)
{
	unsigned count = ascii->digits ? ascii->digits - 1 : 0;

	for (unsigned i = ascii->digits; i && i < 5; i++)
		ascii->value = ascii->value * 85 + 84;
	put(ascii, count);
}

/* Decodes from bytes, up to a full output. Returns how many were decoded. */
static size_t decode(struct ascii85 *ascii, const uint8_t *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len && ascii->len + 4 <= OUTPUT_LEN; i++)
		if (!add(ascii, bytes[i])) {
			ascii->ends = true;
			break;
		}
	return i;
}

/* Whether ~> is at `at`, with white space inside at most. */
static bool is_end(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 2);

	return p && p[0] == '~' && p[1] == '>';
}

enum inflated_state pdf_ascii85_walk(struct view *view, bool flate, uint64_t *at, uint64_t end)
{
	struct inflated inflated = { 0 };
	struct ascii85 ascii = { 0 };
	enum inflated_state state = INFLATED_MORE;
	uint64_t start = *at;
	const uint8_t *p;
	size_t len;

	if (flate && !inflated_open(&inflated, view, INFLATED_ZLIB))
		return INFLATED_MORE;
	while (!ascii.ends && state != INFLATED_BAD &&
		(p = walk_stream(view, *at, end, *at - start, &len))) {
		size_t used = decode(&ascii, p, len);

		if (!view_work(view, used))
			break;
		*at += used;
		if (ascii.ends)
			flush(&ascii);
		if (flate && state == INFLATED_MORE)
			state = inflated_feed(&inflated, ascii.output, ascii.len, NULL);
		ascii.len = 0;
	}
	if (flate)
		inflated_close(&inflated);
	if (state == INFLATED_BAD || (ascii.ends && !is_end(view, *at)))
		return INFLATED_BAD;
	if (!ascii.ends)
		return INFLATED_MORE;
	*at += 2;
	return flate ? state : INFLATED_DONE;
}
