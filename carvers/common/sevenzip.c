/*
 * 7z (7-Zip's 7zFormat.txt).
 *
 *	file:  start header (32 bytes), packed streams, header (mostly packed itself)
 *	start: '7z' BC AF 27 1C, version (2 bytes), CRC-32 of the rest; where the header starts
 *		behind these 32 bytes, its length, its CRC-32 (8, 8 and 4 bytes, little-endian)
 *
 * The header comes last, so its end is the file's, and both CRCs prove it. Streams are not
 * unpacked: what they are is written in the header.
 *
 * Damage. Without the header nothing is known of the streams. Most are LZMA2 though: sound is what
 * unpacks as such.
 */
#include "sevenzip.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "compressed.h"
#include "walk.h"

enum {
	START_LEN = 32,
	SURE_LEN = 64,
};

/* How far the packed streams are LZMA2. What breaks early is something else. */
static uint64_t walk_streams(struct view *view, uint64_t end)
{
	uint64_t at = START_LEN;
	struct compressed packed;
	enum compressed_state state;

	do {
		state = compressed_walk(view, COMPRESSED_LZMA2, at, end, &packed);
		if (state != COMPRESSED_DONE && packed.end < at + SURE_LEN)
			break;
		at = packed.end;
	} while (state == COMPRESSED_DONE && at < end);
	return walk_before_fill(view, START_LEN, at);
}

const char *sevenzip_read(struct view *view, uint64_t start, struct sevenzip *head)
{
	const uint8_t *p = view_peek(view, start, START_LEN);
	uint32_t crc = 0, want;

	if (!p || memcmp(p, "7z\xbc\xaf\x27\x1c\0", 7) != 0)
		return "no signature at 0";
	want = le32(p + 8);
	*head = (struct sevenzip){ .at = le64(p + 12), .len = le64(p + 20), .crc = le32(p + 28) };
	if (!walk_crc32(view, start + 12, 20, &crc) || crc != want)
		return "the start header's CRC is wrong at 8";
	if (head->at > INT64_MAX / 2 || head->len > INT64_MAX / 2)
		return "impossible lengths at 12";
	head->at += start + START_LEN;
	head->end = head->at + head->len;
	return NULL;
}

bool sevenzip_header_valid(struct view *view, const struct sevenzip *head)
{
	uint32_t crc = 0;

	return head->end <= view_size(view) && walk_crc32(view, head->at, head->len, &crc) &&
	       crc == head->crc;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t size = view_size(view), sound;
	struct sevenzip head;
	const char *problem = sevenzip_read(view, 0, &head);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	finding->length = head.end;
	if (sevenzip_header_valid(view, &head))
		return CARVE_COMPLETE;
	sound = walk_streams(view, head.at < size ? head.at : size);
	if (head.end > size)
		return walk_cut(view, finding, head.end,
			view_ends_with_image(view) ? walk_before_fill(view, sound, size) : sound);
	finding->length = sound;
	return verdict_because(
		CARVE_TRUNCATED, finding, "the header's CRC is wrong at %" PRIu64, head.at);
}

const struct carver sevenzip_carver = {
	.name = "sevenzip",
	.summary = "7z archives, by the CRCs of both headers",
	.check = check,
};
