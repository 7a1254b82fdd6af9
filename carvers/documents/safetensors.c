/*
 * Weights of models: safetensors (Hugging Face's format).
 *
 *	file:   length of the header (8 bytes, little-endian), header (JSON, padded with blanks), data
 *	header: an object with a name for each tensor: "dtype", "shape", "data_offsets": [from, to) in the data
 *
 * Tensors fill the data without gaps, so the highest end is its length, which nothing verifies.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "foreign.h"

#define HEADER_AT 8
#define HEADER_MAX (UINT64_C(100) << 20)

/* Reads a number after blanks. */
static bool read_number(struct cursor *cursor, uint64_t *value)
{
	int byte;
	bool any = false;

	*value = 0;
	while ((byte = cursor_peek(cursor)) == ' ')
		cursor->at++;
	for (; byte >= '0' && byte <= '9' && *value < UINT64_MAX / 100;
		byte = cursor_peek(cursor)) {
		*value = *value * 10 + (uint64_t)(byte - '0');
		cursor->at++;
		any = true;
	}
	return any;
}

/* Adds up the tensors of the header, which ends at `end`: their number, 0 if one is impossible. */
static uint64_t read_tensors(struct cursor *cursor, uint64_t end, uint64_t *data_len)
{
	static const char name[] = "\"data_offsets\":";
	uint64_t count = 0, sum = 0, from, to;

	*data_len = 0;
	for (; cursor_find(cursor, end, name); count++) {
		cursor->at += sizeof(name) - 1;
		while (cursor_peek(cursor) == ' ')
			cursor->at++;
		if (cursor_next(cursor) != '[' || !read_number(cursor, &from) ||
			cursor_next(cursor) != ',' || !read_number(cursor, &to) || from > to ||
			to - from > UINT64_MAX - sum)
			return 0;
		sum += to - from;
		*data_len = to > *data_len ? to : *data_len;
	}
	return sum == *data_len ? count : 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct cursor cursor = { .view = view, .at = HEADER_AT };
	const uint8_t *p = view_peek(view, 0, HEADER_AT + 2);
	uint64_t end, data_len, size = view_size(view);

	if (!p || le64(p) > HEADER_MAX || le64(p) < 2 || memcmp(p + HEADER_AT, "{\"", 2) != 0)
		return verdict_because(CARVE_REJECT, finding, "no length and no object at 0");
	end = HEADER_AT + le64(p);
	p = end <= size ? view_peek(view, end - 1, 1) : NULL;
	if (!p || (*p != '}' && *p != ' ') || !read_tensors(&cursor, end, &data_len))
		return verdict_because(CARVE_REJECT, finding, "no tensors that fill the data");
	if (data_len > size || end > size - data_len)
		return foreign_cut(view, finding, end,
			data_len < UINT64_MAX - end ? end + data_len : UINT64_MAX,
			"a tensor past the image", end);
	finding->length = end + data_len;
	view_unverified(view, end, finding->length);
	return verdict_because(
		CARVE_UNVERIFIED, finding, "nothing verifies the tensors from %" PRIu64 " on", end);
}

const struct carver safetensors_carver = {
	.name = "safetensors",
	.summary = "weights of models in safetensors, by their header",
	.check = check,
};
