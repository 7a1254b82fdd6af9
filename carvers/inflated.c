#include "inflated.h"

#define OUTPUT_LEN 32768

bool inflated_open(struct inflated *inflated, int wrapping)
{
	return inflateInit2(&inflated->stream, wrapping) == Z_OK;
}

enum inflated_state inflated_feed(
	struct inflated *inflated, const uint8_t *bytes, size_t len, size_t *used)
{
	z_stream *stream = &inflated->stream;
	enum inflated_state state = INFLATED_MORE;
	uint8_t output[OUTPUT_LEN];

	stream->next_in = (z_const Bytef *)bytes;
	stream->avail_in = (uInt)len;
	do {
		int code;
		size_t out_len;

		stream->next_out = output;
		stream->avail_out = sizeof(output);
		code = inflate(stream, Z_NO_FLUSH);
		out_len = sizeof(output) - stream->avail_out;
		inflated->output_len += out_len;
		inflated->crc = (uint32_t)crc32(inflated->crc, output, (uInt)out_len);
		if (code == Z_STREAM_END)
			state = INFLATED_DONE;
		else if (code != Z_OK && code != Z_BUF_ERROR)
			state = INFLATED_BAD;
		if (inflated->look && !inflated->look(inflated->context, output, out_len))
			state = INFLATED_BAD;
	} while (state == INFLATED_MORE && stream->avail_out == 0);
	if (used)
		*used = len - stream->avail_in;
	return state;
}

void inflated_close(struct inflated *inflated)
{
	inflateEnd(&inflated->stream);
}
