/*
 * BinHex 4.0 (RFC 1741, appendix A).
 *
 *	file:  a line '(This file must be converted with BinHex 4.0)', lines, ':', characters, ':'
 *	characters of 6 bits each give bytes, in which 90 and a count repeat the byte before (0: 90 itself)
 *	bytes: length of the name, name, 0, type, creator, flags (2), lengths of both forks (4 each), CRC; fork,
 *	       CRC; fork, CRC
 *
 * All three CRCs (CCITT's) have to match, and the last one to be followed by a colon.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base64.h"
#include "bytes.h"
#include "cursor.h"
#include "title.h"
#include "walk.h"

#define TEXT "(This file must be converted with BinHex"
#define PREAMBLE_MAX 1024
#define REPEAT 0x90

struct hqx {
	struct cursor cursor;
	uint64_t end; /* after the last character that was taken */
	struct base64_bits bits;
	uint8_t last;
	unsigned repeat; /* of it, still to come */
	uint16_t crc;
	bool broken;
};

/* The next 6 bits; -1: another character, which is not taken. */
static int next_bits(struct hqx *hqx)
{
	static const char letters[] =
		"!\"#$%&'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr";
	int byte = cursor_skip_blanks(&hqx->cursor);
	const char *found = byte > 0 ? strchr(letters, byte) : NULL;

	if (!found)
		return -1;
	hqx->end = ++hqx->cursor.at;
	return (int)(found - letters);
}

/* The next byte of 8 bits, before counts are obeyed. */
static int next_coded(struct hqx *hqx)
{
	uint8_t byte;
	int bits;

	do {
		bits = next_bits(hqx);
		if (bits < 0)
			return -1;
	} while (!base64_add(&hqx->bits, bits, &byte));
	return byte;
}

static uint8_t next_byte(struct hqx *hqx)
{
	int byte;

	if (!view_work(hqx->cursor.view, 1))
		hqx->broken = true;
	if (hqx->repeat) {
		hqx->repeat--;
		return hqx->last;
	}
	byte = next_coded(hqx);
	if (byte == REPEAT) {
		int count = next_coded(hqx);

		if (count > 1) {
			hqx->repeat = (unsigned)count - 2;
			byte = hqx->last;
		} else if (count) {
			byte = -1;
		}
	}
	if (byte < 0)
		hqx->broken = true;
	hqx->last = (uint8_t)byte;
	return hqx->last;
}

static void add_crc(struct hqx *hqx, uint8_t byte)
{
	for (int bit = 7; bit >= 0; bit--) {
		bool carry = hqx->crc & 0x8000;

		hqx->crc = (uint16_t)(hqx->crc << 1 | (byte >> bit & 1));
		if (carry)
			hqx->crc ^= 0x1021;
	}
}

/* Reads len bytes and their CRC; keeps the first `keep` at bytes. False: they do not match. */
static bool read_part(struct hqx *hqx, uint64_t len, uint8_t *bytes, size_t keep)
{
	for (uint64_t i = 0; i < len && !hqx->broken; i++) {
		uint8_t byte = next_byte(hqx);

		add_crc(hqx, byte);
		if (i < keep)
			bytes[i] = byte;
	}
	/* As if the CRC itself were zeros. */
	add_crc(hqx, 0);
	add_crc(hqx, 0);
	for (int i = 0; i < 2 && !hqx->broken; i++)
		if (next_byte(hqx) != (uint8_t)(hqx->crc >> (8 - 8 * i)))
			return false;
	hqx->crc = 0;
	return !hqx->broken;
}

/* Reads the bytes up to the first CRC. */
static bool read_header(struct hqx *hqx, uint8_t *header, struct finding *finding)
{
	uint8_t len = next_byte(hqx);

	if (!len || len > 63)
		return false;
	add_crc(hqx, len);
	if (!read_part(hqx, len + UINT64_C(19), header, len + 19))
		return false;
	finding_set_title_latin1(finding, header, len);
	memmove(header, header + len, 19);
	return true;
}

/* Moves the cursor past the first colon that begins a line. Another file after this one may end lines by the
 * other character. */
static bool skip_to_characters(struct cursor *cursor)
{
	static const char *const starts[] = { "\n:", "\r:" };
	uint64_t begin = cursor->at, end = PREAMBLE_MAX;

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		cursor->at = begin;
		if (cursor_find(cursor, end, starts[i]))
			end = cursor->at;
	}
	cursor->at = end + strlen(starts[0]);
	return end < PREAMBLE_MAX;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct hqx hqx = { .cursor.view = view };
	uint8_t header[64 + 19];

	if (!cursor_at_text(&hqx.cursor, TEXT) || !skip_to_characters(&hqx.cursor))
		return verdict_because(CARVE_REJECT, finding, "no first line at 0");
	if (!read_header(&hqx, header, finding))
		return verdict_because(CARVE_REJECT, finding, "no header up to %" PRIu64, hqx.end);
	if (read_part(&hqx, be32(header + 11), NULL, 0) &&
		read_part(&hqx, be32(header + 15), NULL, 0)) {
		/* The last bits may fill a character of their own. */
		while (cursor_skip_blanks(&hqx.cursor) != ':' && next_bits(&hqx) >= 0)
			;
		if (cursor_next(&hqx.cursor) == ':') {
			if (cursor_peek(&hqx.cursor) == '\r')
				hqx.cursor.at++;
			if (cursor_peek(&hqx.cursor) == '\n')
				hqx.cursor.at++;
			finding->length = hqx.cursor.at;
			return CARVE_COMPLETE;
		}
	}
	if (hqx.cursor.at >= view_size(view))
		return walk_cut(view, finding, view_size(view) + 1, hqx.end);
	finding->length = hqx.end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "no valid character or CRC at %" PRIu64, hqx.end);
}

const struct carver hqx_carver = {
	.name = "hqx",
	.summary = "BinHex 4.0, by its CRCs",
	.check = check,
};
