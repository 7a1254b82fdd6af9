/*
 * Where damaged picture data becomes invalid.
 *
 * A chunk's CRC shows that something in it is wrong, but not where, and many programs put the whole
 * picture into one IDAT chunk. So when a CRC is wrong, the deflate stream that runs through all
 * IDAT chunks is inflated until it is invalid. Random bytes may pass for deflate for some KB, but
 * not for rows of pixels: each row starts with a byte from 0 to 4, the number of its filter. The
 * result is exact to PNG_DATA_PIECE bytes of input, and to a row of pixels of output.
 */
#include "png.h"

#include "bytes.h"
#include "inflated.h"

/* The most bytes that are inflated: a small file can be made that takes hours. */
#define OUTPUT_MAX (256u << 20)

/* The position of the output in the picture; pass counts Adam7's seven. */
struct rows {
	const struct png_shape *shape;
	int pass;
	uint32_t left;    /* rows of this pass not started yet */
	uint64_t row_len; /* bytes of a row after its filter byte */
	uint64_t to_go;   /* bytes of it still to come */
};

static uint32_t step_count(uint32_t size, uint32_t first, uint32_t step)
{
	return size > first ? (size - first + step - 1) / step : 0;
}

/* Sets up rows->pass, or the next one that has pixels. False when the picture is full. */
static bool start_pass(struct rows *rows)
{
	static const uint8_t x[] = { 0, 4, 0, 2, 0, 1, 0 }, dx[] = { 8, 8, 4, 4, 2, 2, 1 };
	static const uint8_t y[] = { 0, 0, 4, 0, 2, 0, 1 }, dy[] = { 8, 8, 8, 4, 4, 2, 2 };
	static const uint8_t channels[] = { 1, 0, 3, 1, 2, 0, 4 };
	const struct png_shape *shape = rows->shape;

	for (; rows->pass < (shape->interlaced ? 7 : 1); rows->pass++) {
		bool all = !shape->interlaced;
		int i = rows->pass;
		uint64_t width = all ? shape->width : step_count(shape->width, x[i], dx[i]);

		rows->left = all ? shape->height : step_count(shape->height, y[i], dy[i]);
		rows->row_len = (width * channels[shape->colour] * shape->depth + 7) / 8;
		if (width && rows->left)
			return true;
	}
	return false;
}

/* Starts a row with the next byte. False after the last row, where no more bytes belong. */
static bool start_row(struct rows *rows)
{
	if (!rows->left) {
		rows->pass++;
		if (!start_pass(rows))
			return false;
	}
	rows->left--;
	rows->to_go = rows->row_len;
	return true;
}

static bool inspect_rows(void *context, const uint8_t *bytes, size_t len)
{
	struct rows *rows = context;

	for (size_t i = 0; i < len;) {
		size_t step = len - i < rows->to_go ? len - i : (size_t)rows->to_go;

		if (step == 0) {
			if (bytes[i++] > 4 || !start_row(rows))
				return false;
			continue;
		}
		rows->to_go -= step;
		i += step;
	}
	return true;
}

/* Inflates [at, end), a chunk's data. True: all of it is valid; false: *valid_end is where it is
 * not, or where the stream has ended. */
static bool feed_chunk(struct view *view, struct inflated *inflated, uint64_t at, uint64_t end,
	uint64_t *valid_end, bool *ended)
{
	while (at < end) {
		size_t len = end - at < PNG_DATA_PIECE ? (size_t)(end - at) : PNG_DATA_PIECE, used;
		const uint8_t *piece = view_peek(view, at, len);
		enum inflated_state state;

		*valid_end = at;
		if (!piece)
			return false;
		state = inflated_feed(inflated, piece, len, &used);
		if (state == INFLATED_DONE)
			*valid_end = at + used;
		*ended = state == INFLATED_DONE;
		if (state != INFLATED_MORE || inflated->output_len > OUTPUT_MAX)
			return false;
		at += len;
	}
	*valid_end = end;
	return true;
}

uint64_t png_data_end(struct view *view, const struct png_shape *shape, uint64_t first_idat,
	uint64_t limit, enum png_data *state)
{
	struct rows rows = { .shape = shape };
	struct inflated inflated = { .inspect = inspect_rows, .context = &rows };
	uint64_t valid_end = first_idat;
	bool ended = false, whole;

	if (state)
		*state = PNG_DATA_DAMAGED;
	start_pass(&rows);
	if (!inflated_open(&inflated, view, shape->bare ? INFLATED_RAW : INFLATED_ZLIB))
		return valid_end;
	for (uint64_t at = first_idat; at < limit;) {
		const uint8_t *head = view_peek(view, at, 8);
		uint64_t end = head ? at + 8 + be32(head) : 0;

		if (!head || !feed_chunk(view, &inflated, at + 8, end < limit ? end : limit,
				     &valid_end, &ended))
			break;
		at = end + 4;
	}
	inflated_close(&inflated);
	whole = ended && !rows.left && !rows.to_go && !shape->bare;
	if (state && whole)
		*state = PNG_DATA_WHOLE;
	else if (state && (valid_end >= limit || inflated.output_len > OUTPUT_MAX))
		*state = PNG_DATA_VALID;
	return valid_end;
}
