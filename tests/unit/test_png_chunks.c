/* The chunks of a PNG, fed in parts of any length. */
#include <zlib.h>

#include "carvers/common/png_chunks.h"

#include "carver_case.h"

static void add_chunk(struct bytes *bytes, const char *type, size_t len)
{
	size_t at = bytes->len + 4;

	bytes_add_be(bytes, len, 4);
	bytes_add(bytes, type, 4);
	for (size_t i = 0; i < len; i++)
		bytes_fill(bytes, (uint8_t)(i * i), 1);
	bytes_add_be(bytes, crc32(0, bytes->data + at, (uInt)len + 4), 4);
}

/* Feeds all, `most` bytes at a time. Returns how many chunks are valid up to what is wrong, *last: the last step. */
static unsigned feed(
	const struct bytes *bytes, size_t most, struct png_chunks *chunks, enum png_step *last)
{
	unsigned count = 0;
	size_t used;

	*chunks = png_chunks_begin(0, bytes->len);
	*last = PNG_MORE;
	while (chunks->at < bytes->len) {
		size_t left = bytes->len - (size_t)chunks->at;

		*last = png_chunks_feed(
			chunks, bytes->data + chunks->at, left < most ? left : most, &used);
		count += *last == PNG_CHUNK;
		if (*last == PNG_BAD_CRC || *last == PNG_BAD_LENGTH)
			break;
	}
	return count;
}

Test(png_chunks, come_in_parts)
{
	struct bytes bytes = { 0 };
	struct png_chunks chunks;
	enum png_step last;

	add_chunk(&bytes, "IHDR", 13);
	add_chunk(&bytes, "IDAT", 100);
	add_chunk(&bytes, "IEND", 0);
	for (size_t most = 1; most < 200; most++) {
		bytes.data[40] ^= 1;
		cr_expect_eq(feed(&bytes, most, &chunks, &last), 1);
		cr_expect_eq(last, PNG_BAD_CRC);
		cr_expect_eq(chunks.chunk_at, 25);
		bytes.data[40] ^= 1;
		bytes.data[27] = 1;
		cr_expect_eq(feed(&bytes, most, &chunks, &last), 1);
		cr_expect_eq(last, PNG_BAD_LENGTH);
		cr_expect_not(chunks.is_last);
		bytes.data[27] = 0;
		cr_expect_eq(feed(&bytes, most, &chunks, &last), 3);
		cr_expect_eq(last, PNG_CHUNK);
		cr_expect(chunks.is_last);
		cr_expect_eq(chunks.chunk_at, 25 + 112);
	}
	bytes_fill(&bytes, 0xff, PNG_CHUNK_MIN - 1); /* too few for another one */
	cr_expect_eq(feed(&bytes, 7, &chunks, &last), 3);
	cr_expect_eq(last, PNG_MORE);
	free(bytes.data);
}
