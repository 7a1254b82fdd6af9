/*
 * WOFF 2.0 (W3C, WOFF File Format 2.0; RFC 7932 for Brotli).
 *
 *	directory: of each table its tag, its length, and if it is transformed its length then
 *	fonts:     of a collection, which tables each font has
 *	tables:    all in one Brotli stream
 *
 * Brotli has no checksum, and decodes foreign bytes for a while; but it does not end exactly where
 * it should then, with exactly as many bytes as the directory states.
 */
#include "woff2.h"

#include <brotli/decode.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bytes.h"
#include "sfnt.h"
#include "walk.h"

/* Fonts with all of Unicode's characters have some tens of millions of bytes. */
#define PLAIN_MAX (UINT64_C(64) << 20)
#define OUTPUT_LEN 65536
#define WORK 2 /* units that producing a byte takes */

/* Reads a number of 2.0's directory (UIntBase128). */
static bool read_number(struct view *view, uint64_t *at, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 5; i++) {
		const uint8_t *p = view_peek(view, *at, 1);

		if (!p || (i == 0 && *p == 0x80) || *value >> 25)
			return false;
		*value = *value << 7 | (*p & 0x7f);
		(*at)++;
		if (*p < 0x80)
			return true;
	}
	return false;
}

/* Skips the directory of 2.0: known tags are a number below 63; glyf and loca are transformed
 * unless their version is 3, others only if it is not 0. */
static bool skip_directory(struct view *view, uint32_t count, uint64_t *at, uint64_t *plain_len)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *p = view_peek(view, *at, 5);
		uint32_t len, tag = p ? *p & 63u : 0, version = p ? *p >> 6 : 0;
		bool outlines = tag == 10 || tag == 11;

		if (!p || (tag == 63 && !sfnt_is_tag(p + 1)))
			return false;
		*at += tag == 63 ? 5 : 1;
		if (!read_number(view, at, &len))
			return false;
		if ((outlines ? version != 3 : version != 0) && !read_number(view, at, &len))
			return false;
		*plain_len += len;
	}
	return true;
}

/* Skips a number of a collection's list of fonts: a version, then for each font the number of
 * tables, a flavor and the tables' indexes. */
static bool skip_number(struct view *view, uint64_t *at, uint32_t *value)
{
	const uint8_t *p = view_peek(view, *at, 3);

	if (!p)
		return false;
	*value = p[0] == 253 ? be16(p + 1) : p[0] < 253 ? p[0] : p[1] + 253u * (256 - p[0]);
	*at += p[0] == 253 ? 3 : p[0] < 253 ? 1 : 2;
	return true;
}

static bool skip_fonts(struct view *view, uint32_t count, uint64_t *at)
{
	uint32_t fonts, tables, index;

	*at += 4;
	if (!skip_number(view, at, &fonts) || fonts == 0 || fonts > 1024)
		return false;
	while (fonts--) {
		if (!skip_number(view, at, &tables) || tables > 128)
			return false;
		*at += 4;
		while (tables--)
			if (!skip_number(view, at, &index) || index >= count)
				return false;
	}
	return true;
}

enum woff2_state woff2_directory(
	struct view *view, uint32_t count, int collection, uint64_t *at, uint64_t *plain_len)
{
	*at = 48;
	*plain_len = 0;
	if (!skip_directory(view, count, at, plain_len))
		return WOFF2_NONE;
	return collection && !skip_fonts(view, count, at) ? WOFF2_NONE : WOFF2_DONE;
}

/* Decompresses [*at, end) into `output`, which is reused for each part. */
static BrotliDecoderResult feed(struct view *view, BrotliDecoderState *decoder, uint8_t *output,
	uint64_t *at, uint64_t end, uint64_t plain_len)
{
	BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
	size_t total = 0;

	while (*at < end && result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
		size_t len, left;
		const uint8_t *p = walk_window(view, *at, end, &len);

		if (!p)
			break;
		left = len;
		do {
			size_t room = OUTPUT_LEN;
			uint8_t *out = output;

			result = BrotliDecoderDecompressStream(
				decoder, &left, &p, &room, &out, &total);
			if (!view_work(view, WORK * (OUTPUT_LEN - room)))
				return BROTLI_DECODER_RESULT_ERROR;
		} while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT && total <= plain_len);
		*at += len - left;
	}
	return total == plain_len ? result : BROTLI_DECODER_RESULT_ERROR;
}

/* The decoder allocates as it goes. */
static bool lacked_memory(BrotliDecoderState *decoder)
{
	BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(decoder);

	return code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
	       code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
}

enum woff2_state woff2_decompress(struct view *view, uint64_t *at, uint64_t end, uint64_t plain_len)
{
	BrotliDecoderState *decoder = NULL;
	uint8_t *output = NULL;
	enum woff2_state state = WOFF2_REFUSED;

	if (plain_len <= PLAIN_MAX) {
		decoder = BrotliDecoderCreateInstance(NULL, NULL, NULL);
		output = malloc(OUTPUT_LEN);
		if (!decoder || !output)
			view_no_memory(view);
	}
	if (decoder && output)
		state = feed(view, decoder, output, at, end, plain_len) ==
						BROTLI_DECODER_RESULT_SUCCESS &&
					*at == end
				? WOFF2_DONE
				: WOFF2_BROKEN;
	if (decoder && lacked_memory(decoder))
		view_no_memory(view);
	if (decoder)
		BrotliDecoderDestroyInstance(decoder);
	free(output);
	return state;
}
