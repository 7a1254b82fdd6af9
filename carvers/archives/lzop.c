/*
 * lzop (lzop 1.x; LZO1X as in Linux's Documentation/staging/lzo.rst).
 *
 *	file:   magic, header, blocks, a length of 0; another file may follow
 *	header: version, library, [version needed] (2 bytes each), method, [level], flags (4), [filter (4)],
 *	        mode (4), time (4), [its upper half (4)], length of the name (1), name, checksum (4); what is
 *	        in brackets is there from version 0.94 on, or with a flag
 *	block:  length (4), compressed length (4), checksums of the content and, unless it is stored, of the
 *	        compressed data, as the flags tell, data
 *
 * All integers are big-endian. Blocks are decompressed, and their Adler-32 or CRC-32 is checked; a file
 * without these checksums is complete if all its blocks decompress to their lengths. It is truncated
 * before the first block that does not.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "cursor.h"
#include "title.h"
#include "walk.h"

#define MAGIC_LEN 9
#define HEADER_MAX 512
#define BLOCK_MAX (UINT32_C(64) << 20) /* lzop's */
#define VERSION_0_94 0x940
#define METHOD_MAX 3

enum {
	ADLER_CONTENT = 1,
	ADLER_COMPRESSED = 2,
	CRC_CONTENT = 0x100,
	CRC_COMPRESSED = 0x200,
	FILTERED = 0x800,
	HEADER_CRC = 0x1000,
};

enum lzop_step { LZOP_ON, LZOP_END, LZOP_BROKEN, LZOP_CUT, LZOP_STOP };

struct lzop {
	struct view *view;
	struct finding *finding;
	uint32_t flags;
	uint64_t at; /* the next block */
};

/* One block's decompression. */
struct lzo {
	struct cursor cursor;
	uint64_t end; /* of the compressed data */
	uint8_t *out;
	uint32_t len, done;
};

static int next_byte(struct lzo *lzo)
{
	return lzo->cursor.at < lzo->end ? cursor_next(&lzo->cursor) : -1;
}

/* The length in an instruction's bits, or if those are 0, after it: `more`, 255 for each zero byte and the
 * first other one. UINT32_MAX: too long. */
static uint32_t read_length(struct lzo *lzo, uint32_t bits, uint32_t more)
{
	int byte;

	if (bits)
		return bits;
	while ((byte = next_byte(lzo)) == 0)
		if ((more += 255) > lzo->len)
			return UINT32_MAX;
	return byte < 0 ? UINT32_MAX : more + (uint32_t)byte;
}

static bool copy_literals(struct lzo *lzo, uint32_t count)
{
	if (count > lzo->len - lzo->done)
		return false;
	for (; count; count--) {
		int byte = next_byte(lzo);

		if (byte < 0)
			return false;
		lzo->out[lzo->done++] = (uint8_t)byte;
	}
	return true;
}

static bool copy_match(struct lzo *lzo, uint32_t distance, uint32_t count)
{
	if (distance > lzo->done || count > lzo->len - lzo->done)
		return false;
	for (; count; count--, lzo->done++)
		lzo->out[lzo->done] = lzo->out[lzo->done - distance];
	return true;
}

/* Reads the two bytes after a long match's instruction: 14 bits of distance, two of literals. */
static int read_distance(struct lzo *lzo)
{
	int low = next_byte(lzo), high = next_byte(lzo);

	return low < 0 || high < 0 ? -1 : high << 8 | low;
}

/* One instruction from 16 on. *literals: how many follow. False: invalid; or at the end, *ended. */
static bool long_match(struct lzo *lzo, int byte, uint32_t *literals, bool *ended)
{
	uint32_t count, distance;
	int rest;

	if (byte >= 64) {
		rest = next_byte(lzo);
		count = byte >= 128 ? 5 + ((uint32_t)byte >> 5 & 3) : 3 + ((uint32_t)byte >> 5 & 1);
		distance = ((uint32_t)rest << 3) + ((uint32_t)byte >> 2 & 7) + 1;
		*literals = (uint32_t)byte & 3;
		return rest >= 0 && copy_match(lzo, distance, count);
	}
	count = byte >= 32 ? read_length(lzo, (uint32_t)byte & 31, 31)
			   : read_length(lzo, (uint32_t)byte & 7, 7);
	rest = count == UINT32_MAX ? -1 : read_distance(lzo);
	if (rest < 0)
		return false;
	*literals = (uint32_t)rest & 3;
	distance = (uint32_t)rest >> 2;
	if (byte >= 32)
		return copy_match(lzo, distance + 1, count + 2);
	distance += (uint32_t)(byte & 8) << 11;
	*ended = !distance;
	return distance && copy_match(lzo, distance + 16384, count + 2);
}

/* One instruction below 16 after `literals` ones: few bytes that occurred not long ago. */
static bool short_match(struct lzo *lzo, int byte, uint32_t literals)
{
	int rest = next_byte(lzo);
	uint32_t distance = ((uint32_t)rest << 2) + ((uint32_t)byte >> 2) + 1;

	return rest >= 0 &&
	       (literals < 4 ? copy_match(lzo, distance, 2) : copy_match(lzo, distance + 2048, 3));
}

/* Decompresses the block. Whether it gives the length, and ends where its data do. */
static bool decompress(struct lzo *lzo)
{
	uint32_t literals = 0;
	bool ended = false;
	int byte = next_byte(lzo);

	if (byte > 17) {
		literals = (uint32_t)byte - 17;
		if (!copy_literals(lzo, literals))
			return false;
		byte = next_byte(lzo);
	}
	for (; byte >= 0; byte = next_byte(lzo)) {
		if (byte < 16 && !literals) {
			uint32_t count = read_length(lzo, (uint32_t)byte, 15);

			if (count == UINT32_MAX || !copy_literals(lzo, count + 3))
				return false;
			literals = 4;
			continue;
		}
		if (byte < 16 ? !short_match(lzo, byte, literals)
			      : !long_match(lzo, byte, &literals, &ended))
			break;
		if (byte < 16)
			literals = (uint32_t)byte & 3;
		if (!copy_literals(lzo, literals))
			return false;
	}
	return ended && lzo->done == lzo->len && lzo->cursor.at == lzo->end;
}

/* Reads the file's header at lzop->at. NULL, or what is wrong with it. */
static const char *read_header(struct lzop *lzop)
{
	uint8_t bytes[MAGIC_LEN + HEADER_MAX] = { 0 };
	size_t at = MAGIC_LEN + 4, len;
	const uint8_t *p = walk_window(lzop->view, lzop->at, lzop->at + sizeof(bytes), &len), *name;
	bool recent;
	uint32_t sum;

	if (!p || len < MAGIC_LEN || memcmp(p, "\x89LZO\0\r\n\x1a\n", MAGIC_LEN) != 0)
		return "no signature";
	memcpy(bytes, p, len);
	recent = be16(bytes + MAGIC_LEN) >= VERSION_0_94;
	at += recent ? 2 : 0;
	if (!bytes[at] || bytes[at] > METHOD_MAX)
		return "an unknown method";
	at += recent ? 2 : 1;
	lzop->flags = be32(bytes + at);
	at += 4 + (lzop->flags & FILTERED ? 4 : 0) + 4;
	if (!lzop->at)
		lzop->finding->time = be32(bytes + at);
	at += recent ? 8 : 4;
	name = bytes + at + 1;
	at += 1 + (size_t)bytes[at];
	sum = lzop->flags & HEADER_CRC
		      ? (uint32_t)crc32(0, bytes + MAGIC_LEN, (uInt)(at - MAGIC_LEN))
		      : (uint32_t)adler32(1, bytes + MAGIC_LEN, (uInt)(at - MAGIC_LEN));
	if (sum != be32(bytes + at) || at + 4 > len)
		return "a header with a wrong checksum";
	if (!lzop->at)
		finding_set_title(lzop->finding, name, (size_t)(bytes + at - name));
	lzop->at += at + 4;
	return NULL;
}

/* Whether the content has the checksum at p, if the flags say that it has one. */
static bool sum_matches(
	const struct lzop *lzop, const uint8_t *p, const uint8_t *content, uint32_t len)
{
	if (lzop->flags & ADLER_CONTENT)
		return be32(p) == (uint32_t)adler32(1, content, len);
	return !(lzop->flags & CRC_CONTENT) || be32(p) == (uint32_t)crc32(0, content, len);
}

/* Reads the block at lzop->at, whose content starts at `data`. */
static enum lzop_step read_content(
	struct lzop *lzop, uint64_t data, uint32_t len, uint32_t packed, const uint8_t sum[4])
{
	struct lzo lzo = {
		.cursor = { .view = lzop->view, .at = data }, .end = data + packed, .len = len
	};
	bool valid;

	if (!view_work(lzop->view, len / 4) || !view_reserve(lzop->view, len))
		return LZOP_STOP;
	lzo.out = malloc(len);
	if (!lzo.out) {
		view_no_memory(lzop->view);
		return LZOP_STOP;
	}
	valid = packed < len ? decompress(&lzo) : copy_literals(&lzo, len);
	valid = valid && sum_matches(lzop, sum, lzo.out, len);
	free(lzo.out);
	if (!valid)
		return LZOP_BROKEN;
	if (lzop->flags & (ADLER_CONTENT | CRC_CONTENT))
		view_proved(lzop->view, data, data + packed, 32);
	lzop->at = data + packed;
	return LZOP_ON;
}

static enum lzop_step read_block(struct lzop *lzop)
{
	const uint8_t *p = view_peek(lzop->view, lzop->at, 4);
	uint64_t at = lzop->at;
	uint32_t len, packed, sums;
	uint8_t sum[4] = { 0 };

	if (!p)
		return LZOP_CUT;
	len = be32(p);
	if (!len) {
		lzop->at += 4;
		return LZOP_END;
	}
	p = view_peek(lzop->view, at, 12);
	packed = p ? be32(p + 4) : 0;
	if (!p || !packed || packed > len || len > BLOCK_MAX)
		return p ? LZOP_BROKEN : LZOP_CUT;
	memcpy(sum, p + 8, 4);
	sums = lzop->flags & (ADLER_CONTENT | CRC_CONTENT);
	if (packed < len)
		sums |= lzop->flags & (ADLER_COMPRESSED | CRC_COMPRESSED);
	at += 8 + 4 * (uint64_t)__builtin_popcount(sums);
	if (at + packed > view_size(lzop->view))
		return LZOP_CUT;
	return read_content(lzop, at, len, packed, sum);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct lzop lzop = { .view = view, .finding = finding };
	const char *problem = read_header(&lzop);
	uint64_t first = lzop.at, start = 0;
	enum lzop_step step;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	do {
		while ((step = read_block(&lzop)) == LZOP_ON)
			;
		if (step != LZOP_END)
			break;
		start = lzop.at;
		finding->length = start;
		if (!read_header(&lzop))
			view_part(view, start);
	} while (lzop.at > start);
	if (step == LZOP_END)
		return CARVE_COMPLETE;
	if (lzop.at == first && step != LZOP_CUT)
		return verdict_because(CARVE_REJECT, finding, "no valid block at %" PRIu64, first);
	if (step != LZOP_BROKEN)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : lzop.at);
	finding->length = lzop.at;
	return verdict_because(CARVE_TRUNCATED, finding, "an invalid block at %" PRIu64, lzop.at);
}

const struct carver lzop_carver = {
	.name = "lzop",
	.summary = "lzop's compressed files, by decompressing their blocks",
	.check = check,
};
