/* PNG (Portable Network Graphics Specification, 3rd edition, 5.3): chunks one after another, up to IEND. */
#include "png_chunks.h"

#include <string.h>

#include <zlib.h>

#include "bytes.h"

#define HEAD_LEN 8 /* length and type */

bool png_is_signature(const uint8_t p[PNG_SIGNATURE_LEN])
{
	return memcmp(p, "\x89PNG\r\n\x1a\n", PNG_SIGNATURE_LEN) == 0;
}

static uint64_t data_end(const struct png_chunks *chunks)
{
	return chunks->chunk_at + HEAD_LEN + be32(chunks->head);
}

enum png_step png_chunks_feed(
	struct png_chunks *chunks, const uint8_t *bytes, size_t len, size_t *used)
{
	*used = 0;
	if (chunks->is_over)
		chunks->chunk_at = chunks->at;
	chunks->is_over = false;
	while (*used < len) {
		uint64_t in = chunks->at - chunks->chunk_at;
		const uint8_t *p = bytes + *used;
		size_t some = len - *used;

		if (chunks->end - chunks->chunk_at < PNG_CHUNK_MIN) { /* too few for one more */
			*used = len;
			chunks->at += some;
			break;
		}
		if (in < HEAD_LEN) {
			some = some < HEAD_LEN - in ? some : HEAD_LEN - (size_t)in;
			memcpy(chunks->head + in, p, some);
			if (in + some == HEAD_LEN) {
				if (be32(chunks->head) >
					chunks->end - chunks->chunk_at - PNG_CHUNK_MIN)
					return PNG_BAD_LENGTH;
				chunks->is_last = memcmp(chunks->head + 4, "IEND", 4) == 0;
				chunks->crc = (uint32_t)crc32(0, chunks->head + 4, 4);
			}
		} else if (chunks->at < data_end(chunks)) {
			if (some > data_end(chunks) - chunks->at)
				some = (size_t)(data_end(chunks) - chunks->at);
			chunks->crc = (uint32_t)crc32(chunks->crc, p, (uInt)some);
		} else {
			size_t from = (size_t)(chunks->at - data_end(chunks));

			some = some < sizeof(chunks->stored) - from ? some
								    : sizeof(chunks->stored) - from;
			memcpy(chunks->stored + from, p, some);
			if (from + some == sizeof(chunks->stored)) {
				*used += some;
				chunks->at += some;
				chunks->is_over = true;
				return be32(chunks->stored) == chunks->crc ? PNG_CHUNK
									   : PNG_BAD_CRC;
			}
		}
		*used += some;
		chunks->at += some;
	}
	return PNG_MORE;
}
