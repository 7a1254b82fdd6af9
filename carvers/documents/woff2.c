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
#define INPUT_WORK 2   /* units that a compressed byte takes, besides that of its peek... */
#define OUTPUT_UNIT 16 /* ...and as many that it yields take one */

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

/* The tags with numbers (WOFF 2.0, section 4.1). */
static uint32_t known_tag(unsigned number)
{
	static const char tags[] =
		"cmapheadhheahmtxmaxpnameOS/2postcvt fpgmglyflocaprepCFF VORGEBDTEBLCgasphdmxkern"
		"LTSHPCLTVDMXvheavmtxBASEGDEFGPOSGSUBEBSCJSTFMATHCBDTCBLCCOLRCPALSVG sbixacntavar"
		"bdatblocbslncvarfdscfeatfmtxfvargvarhstyjustlcarmortmorxopbdproptrakZapfSilfGlat"
		"GlocFeatSill";

	return be32((const uint8_t *)tags + 4 * number);
}

/* Reads the directory of 2.0: known tags are a number below 63; glyf and loca are transformed
 * unless their version is 3, others only if it is not 0. */
static bool read_directory(struct view *view, uint64_t *at, struct woff2_tables *tables)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		struct woff2_table *table = &tables->items[i];
		const uint8_t *p = view_peek(view, *at, 5);
		uint32_t tag = p ? *p & 63u : 0, version = p ? *p >> 6 : 0;
		bool outlines = tag == 10 || tag == 11;

		if (!p || (tag == 63 && !sfnt_is_tag(p + 1)))
			return false;
		*at += tag == 63 ? 5 : 1;
		table->tag = tag == 63 ? be32(p + 1) : known_tag(tag);
		table->is_transformed = outlines ? version != 3 : version != 0;
		if (!read_number(view, at, &table->plain_len))
			return false;
		table->len = table->plain_len;
		if (table->is_transformed && !read_number(view, at, &table->len))
			return false;
		tables->all_len += table->len;
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
	struct view *view, bool collection, uint64_t *at, struct woff2_tables *tables)
{
	*at = 48;
	tables->all_len = 0;
	if (!read_directory(view, at, tables))
		return WOFF2_NONE;
	return collection && !skip_fonts(view, tables->count, at) ? WOFF2_NONE : WOFF2_DONE;
}

/* Where decompressed bytes go. */
struct output {
	uint8_t *bytes;
	uint64_t plain_len; /* as many should come */
	bool is_kept; /* all of them, and room for one more; else OUTPUT_LEN of them, again and again */
};

static enum woff2_state feed(struct view *view, BrotliDecoderState *decoder,
	const struct output *output, uint64_t *at, uint64_t end)
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
			size_t room = output->is_kept ? (size_t)output->plain_len + 1 - total
						      : OUTPUT_LEN;
			uint8_t *out = output->bytes + (output->is_kept ? total : 0);
			size_t before = total, given = left;

			result = BrotliDecoderDecompressStream(
				decoder, &left, &p, &room, &out, &total);
			if (!view_work(view,
				    INPUT_WORK * (given - left) + (total - before) / OUTPUT_UNIT))
				return WOFF2_BROKEN;
		} while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT &&
			 total <= output->plain_len);
		*at += len - left;
	}
	if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && *at == view_size(view) &&
		*at < end && total <= output->plain_len)
		return WOFF2_CUT;
	return result == BROTLI_DECODER_RESULT_SUCCESS && total == output->plain_len && *at == end
		       ? WOFF2_DONE
		       : WOFF2_BROKEN;
}

/* The decoder allocates as it goes. */
static bool lacked_memory(BrotliDecoderState *decoder)
{
	BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(decoder);

	return code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
	       code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
}

enum woff2_state woff2_decompress(
	struct view *view, uint64_t *at, uint64_t end, uint64_t plain_len, uint8_t *plain)
{
	struct output output = { .bytes = plain, .plain_len = plain_len, .is_kept = plain };
	BrotliDecoderState *decoder;
	enum woff2_state state = WOFF2_REFUSED;

	if (plain_len > PLAIN_MAX)
		return WOFF2_REFUSED;
	decoder = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	if (!plain)
		output.bytes = malloc(OUTPUT_LEN);
	if (decoder && output.bytes)
		state = feed(view, decoder, &output, at, end);
	if (!decoder || !output.bytes || lacked_memory(decoder))
		view_no_memory(view);
	if (decoder)
		BrotliDecoderDestroyInstance(decoder);
	if (!plain)
		free(output.bytes);
	return state;
}
