#include "inflated.h"

#include <isa-l/crc.h>

#include "igzip.h"
#include "walk.h"

#define OUTPUT_LEN 32768

/* Units of work: one a byte of input, and one for this many bytes of output. */
#define OUTPUT_UNIT 16

bool inflated_open(struct inflated *inflated, struct view *view, int wrapping)
{
	inflated->view = view;
	if (inflateInit2(&inflated->stream, wrapping) == Z_OK)
		return true;
	view_no_memory(view);
	return false;
}

bool inflated_open_quick(struct inflated *inflated, struct view *view)
{
	inflated->view = view;
	inflated->quick = igzip_open(false);
	if (!inflated->quick)
		view_no_memory(view);
	return inflated->quick != NULL;
}

static enum inflated_state run_zlib(struct inflated *inflated, const uint8_t **in, size_t *in_left,
	uint8_t *out, size_t *out_left)
{
	z_stream *stream = &inflated->stream;
	int code;

	stream->next_in = (z_const Bytef *)*in;
	stream->avail_in = (uInt)*in_left;
	stream->next_out = out;
	stream->avail_out = (uInt)*out_left;
	code = inflate(stream, Z_NO_FLUSH);
	*in = stream->next_in;
	*in_left = stream->avail_in;
	*out_left = stream->avail_out;
	if (code == Z_STREAM_END)
		return INFLATED_DONE;
	if (code == Z_MEM_ERROR)
		view_no_memory(inflated->view);
	return code == Z_OK || code == Z_BUF_ERROR ? INFLATED_MORE : INFLATED_BAD;
}

static enum inflated_state run(struct inflated *inflated, const uint8_t **in, size_t *in_left,
	uint8_t *out, size_t *out_left)
{
	static const enum inflated_state states[] = { [IGZIP_MORE] = INFLATED_MORE,
		[IGZIP_DONE] = INFLATED_DONE,
		[IGZIP_BAD] = INFLATED_BAD };

	if (inflated->quick)
		return states[igzip_run(inflated->quick, in, in_left, out, out_left)];
	return run_zlib(inflated, in, in_left, out, out_left);
}

enum inflated_state inflated_feed(
	struct inflated *inflated, const uint8_t *bytes, size_t len, size_t *used)
{
	enum inflated_state state;
	size_t left = len, room;

	do {
		uint8_t output[OUTPUT_LEN];
		size_t out_len;

		room = sizeof(output);
		state = run(inflated, &bytes, &left, output, &room);
		out_len = sizeof(output) - room;
		/* When the work is spent, the view gives no more input: that ends the stream. */
		view_work(inflated->view, out_len / OUTPUT_UNIT);
		inflated->output_len += out_len;
		inflated->crc = crc32_gzip_refl(inflated->crc, output, out_len);
		if (inflated->inspect && !inflated->inspect(inflated->context, output, out_len))
			state = INFLATED_BAD;
	} while (state == INFLATED_MORE && room == 0);
	if (left > len) /* bytes that igzip returns must be of this piece */
		state = INFLATED_BAD;
	view_work(inflated->view, len - left);
	if (used)
		*used = len - left;
	return state;
}

void inflated_close(struct inflated *inflated)
{
	if (inflated->quick)
		igzip_close(inflated->quick);
	else
		inflateEnd(&inflated->stream);
}

enum inflated_state inflated_walk(
	struct inflated *inflated, struct view *view, int wrapping, uint64_t *at, uint64_t end)
{
	enum inflated_state state = INFLATED_MORE;
	uint64_t start = *at;
	const uint8_t *window;
	size_t len, used;

	if (!inflated_open(inflated, view, wrapping))
		return INFLATED_MORE;
	while (state == INFLATED_MORE &&
		(window = walk_stream(view, *at, end, *at - start, &len))) {
		state = inflated_feed(inflated, window, len, &used);
		*at += used;
	}
	inflated_close(inflated);
	return state;
}
