/*
 * Flash (Adobe, SWF File Format Specification 19).
 *
 *	head: 'FWS', 'CWS' (zlib) or 'ZWS' (LZMA), version, decompressed length of all (4 bytes)
 *	then: a rectangle: 5 bits, and four numbers of as many bits as those state; two numbers of 2 bytes,
 *	      and tags: code and length in 2 bytes, or the length in 4 more; the last one is 0
 *
 * An uncompressed file's tags lead to the stated length, the last tag being 0; a compressed one's
 * zlib stream ends with a checksum, and decompresses to that length. Without the last tag, as some
 * programs leave it, an uncompressed one is unverified. An LZMA stream follows its length, and has
 * no checksum: unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "embedded.h"
#include "inflated.h"
#include "walk.h"

#define HEAD_LEN 8
#define ADLER_BITS 32 /* see view_proved */
#define LZMA_HEAD_LEN 17

/* Bytes of a tag in which a picture or audio begins. */
#define HEADS_LOOK 16

/* Tags needed to accept a file that breaks off. */
#define TAGS_MIN 3

static bool is_known_tag(unsigned code)
{
	return code <= 94 || code == 253 || code == 255 || (code > 700 && code < 800) ||
	       code == 1023;
}

static enum verdict check_plain(struct view *view, struct finding *finding, uint64_t length)
{
	const uint8_t *p = view_peek(view, HEAD_LEN, 1);
	uint64_t at = HEAD_LEN + (5 + 4 * (uint64_t)(p ? p[0] >> 3 : 0) + 7) / 8 + 4,
		 valid_end = at;
	unsigned count = 0;

	for (;;) {
		unsigned code;
		uint64_t len, head = 2;

		p = view_peek(view, at, 2);
		if (!p)
			break;
		code = le16(p) >> 6;
		len = le16(p) & 63;
		if (len == 63) {
			p = view_peek(view, at + 2, 4);
			if (!p)
				break;
			len = le32(p);
			head = 6;
		}
		/* The end tag is empty. */
		if (!is_known_tag(code) || (code == 0 && len) || len > length ||
			at + head + len > length)
			break;
		valid_end = at;
		/* Pictures and audio, after their numbers. */
		embedded_find(view, at + head, at + head + len, HEADS_LOOK);
		at += head + len;
		if (code == 0 && at == length && at <= view_size(view)) {
			finding->length = at;
			return CARVE_COMPLETE;
		}
		/* Only the last one has this code. */
		if (code == 0) {
			at = valid_end;
			break;
		}
		count++;
	}
	if (at == length && count && length <= view_size(view)) {
		finding->length = length;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the tags fill the stated length, %" PRIu64
			", but the last is not an end tag",
			length);
	}
	if (count < TAGS_MIN)
		return verdict_because(CARVE_REJECT, finding, "no tag at %" PRIu64, at);
	if (at + 6 > view_size(view))
		return walk_cut(view, finding, length > view_size(view) ? length : at + 6,
			valid_end < view_size(view) ? view_size(view) : valid_end);
	finding->length = valid_end;
	return verdict_because(CARVE_TRUNCATED, finding, "no tag at %" PRIu64, at);
}

static enum verdict check_zlib(struct view *view, struct finding *finding, uint64_t length)
{
	struct inflated inflated = { 0 };
	enum inflated_state state = INFLATED_MORE;
	uint64_t at = HEAD_LEN, output_len;
	const uint8_t *window;
	size_t len, used;

	if (!inflated_open(&inflated, view, INFLATED_ZLIB))
		return verdict_because(CARVE_REJECT, finding, "no memory to decompress it");
	while (state == INFLATED_MORE &&
		(window = walk_stream(view, at, view_size(view), at, &len))) {
		state = inflated_feed(&inflated, window, len, &used);
		at += used;
		if (inflated.output_len > length)
			state = INFLATED_BAD;
	}
	output_len = inflated.output_len;
	inflated_close(&inflated);
	if (output_len < 32 && state != INFLATED_DONE)
		return verdict_because(CARVE_REJECT, finding, "no zlib stream at %d", HEAD_LEN);
	finding->length = at;
	if (state == INFLATED_MORE)
		return walk_cut(view, finding, view_size(view) + 1, at);
	if (state == INFLATED_BAD) {
		finding->length = walk_before_fill(view, HEAD_LEN, at);
		return verdict_because(
			CARVE_TRUNCATED, finding, "the zlib stream is corrupt before %" PRIu64, at);
	}
	if (output_len + HEAD_LEN != length)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"it decompresses to %" PRIu64 " bytes instead of %" PRIu64,
			output_len + HEAD_LEN, length);
	view_proved(view, HEAD_LEN, at, ADLER_BITS);
	return CARVE_COMPLETE;
}

static enum verdict check_lzma(struct view *view, struct finding *finding, uint64_t length)
{
	const uint8_t *p = view_peek(view, HEAD_LEN, LZMA_HEAD_LEN - HEAD_LEN + 1);
	uint64_t end = p ? LZMA_HEAD_LEN + (uint64_t)le32(p) : 0;

	/* Properties, and the first byte of a stream, which is 0. */
	if (!p || p[4] >= 225 || p[9] || end > length + length / 8 + 64 || end <= LZMA_HEAD_LEN + 5)
		return verdict_because(CARVE_REJECT, finding, "no LZMA stream at %d", HEAD_LEN);
	if (end > view_size(view))
		return walk_cut(view, finding, end, view_size(view));
	finding->length = end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the content of the LZMA stream of %" PRIu64 " bytes was not checked",
		end - LZMA_HEAD_LEN);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t length = p ? le32(p + 4) : 0;

	if (!p || memcmp(p + 1, "WS", 2) != 0 || !p[3] || p[3] > 64 || length < 16)
		return verdict_because(CARVE_REJECT, finding, "no head of a Flash file at 0");
	finding->extension = "swf";
	if (p[0] == 'F')
		return check_plain(view, finding, length);
	if (p[0] == 'C')
		return check_zlib(view, finding, length);
	if (p[0] == 'Z')
		return check_lzma(view, finding, length);
	return verdict_because(CARVE_REJECT, finding, "no head of a Flash file at 0");
}

const struct carver swf_carver = {
	.name = "swf",
	.summary = "Flash, by its tags or its zlib stream",
	.check = check,
};
