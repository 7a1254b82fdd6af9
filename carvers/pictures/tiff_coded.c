/*
 * Whether a strip decompresses: LZW (TIFF 6.0, section 13), PackBits (section 9), deflate (Adobe's
 * TIFF Technical Note 2), JPEG. The output is counted, not kept: LZW and PackBits must produce
 * exactly the strip's pixels. Strips in other codes are not checked.
 */
#include "tiff.h"

#include <stdlib.h>
#include <string.h>

#include "inflated.h"
#include "jpeg/jpeg.h"
#include "lzw.h"
#include "walk.h"

#define ADLER_BITS 32 /* see view_proved */

#define MARK_LEN 2 /* of JPEG */
#define START_LEN 4
#define REVERSED_LEN 1024

/* Names a strip as unverified, but for its first bytes, which can be a JPEG's. Returns its end. */
static uint64_t skip_strip(struct tiff_walk *walk, uint64_t at, uint64_t end)
{
	view_unverified(walk->tiff.view, at + START_LEN, end);
	return end;
}

/* Coded bytes of a strip, in which the first bit is the highest. */
struct coded {
	struct view *view;
	bool reversed; /* as stored */
	uint8_t bytes[REVERSED_LEN];
};

static struct coded coded_of(const struct tiff_walk *walk, const struct tiff_page *page)
{
	return (struct coded){ .view = walk->tiff.view,
		.reversed = page->fill_order == TIFF_REVERSED };
}

/* Each bit in its place, counted from the other end. */
static uint8_t reversed(uint8_t byte)
{
	byte = (uint8_t)(byte << 4 | byte >> 4);
	byte = (uint8_t)((byte & 0x33) << 2 | (byte >> 2 & 0x33));
	return (uint8_t)((byte & 0x55) << 1 | (byte >> 1 & 0x55));
}

/* As walk_window. */
static const uint8_t *coded_window(struct coded *coded, uint64_t at, uint64_t end, size_t *len)
{
	const uint8_t *p = walk_window(coded->view, at, end, len);

	if (!p || !coded->reversed)
		return p;
	if (*len > sizeof(coded->bytes))
		*len = sizeof(coded->bytes);
	for (size_t i = 0; i < *len; i++)
		coded->bytes[i] = reversed(p[i]);
	return coded->bytes;
}

/* Each check_... function returns where in [at, end) the code is invalid, or end. */
static uint64_t check_lzw(struct tiff_walk *walk, const struct tiff_page *page, uint64_t at,
	uint64_t end, uint64_t want)
{
	struct coded coded = coded_of(walk, page);
	size_t len, used;
	const uint8_t *p = coded_window(&coded, at, end, &len);
	struct lzw lzw;

	/* A clear code comes first. In the LZW of older versions of TIFF it is 00 01. */
	if (!p || p[0] != 0x80)
		return p && p[0] == 0 ? skip_strip(walk, at, end) : at;
	lzw_start(&lzw, LZW_TIFF, 8, want ? want : UINT64_MAX);
	for (; (p = coded_window(&coded, at, end, &len)); at += len) {
		if (!lzw_feed(&lzw, p, len, &used))
			return at + used;
		if (lzw.ended) {
			tiff_confirm(walk, at + used);
			return end;
		}
	}
	if (want && lzw.left)
		return end - 1;
	if (want)
		tiff_confirm(walk, end);
	return end;
}

static uint64_t check_packbits(struct tiff_walk *walk, const struct tiff_page *page, uint64_t at,
	uint64_t end, uint64_t want)
{
	bool is_reversed = page->fill_order == TIFF_REVERSED;
	uint64_t left = want ? want : UINT64_MAX;

	while (at < end) {
		const uint8_t *p = view_peek(walk->tiff.view, at, 1);
		uint64_t len = p ? (is_reversed ? reversed(*p) : *p) : 0,
			 out = len < 128 ? len + 1 : 257 - len;

		if (!p || (len != 128 && out > left))
			return at;
		if (len == 128)
			out = 0;
		/* After the last row comes padding. */
		left -= out;
		at += len < 128 ? len + 2 : len > 128 ? 2 : 1;
		if (!left) {
			tiff_confirm(walk, at < end ? at : end);
			return end;
		}
	}
	return want ? end - 1 : end;
}

/* Whether the caller wants to know what is likely wrong, and not only what is invalid: a file may be in pieces. */
static bool is_strict(const struct tiff_walk *walk)
{
	return view_is_trial(walk->tiff.view) || view_thorough(walk->tiff.view);
}

static uint64_t check_deflate(struct tiff_walk *walk, const struct tiff_page *page, uint64_t at,
	uint64_t end, uint64_t want)
{
	struct coded coded = coded_of(walk, page);
	struct inflated inflated = { 0 };
	enum inflated_state state = INFLATED_MORE;
	uint64_t start = at, valid_end = at;
	size_t used = 0;

	if (!inflated_open(&inflated, walk->tiff.view, INFLATED_ZLIB))
		return end;
	while (state == INFLATED_MORE && at < end && inflated.output_len < walk->to_unpack) {
		size_t len;
		const uint8_t *p = coded_window(&coded, at, end, &len);

		if (len > 512)
			len = 512;
		state = p ? inflated_feed(&inflated, p, len, &used) : INFLATED_BAD;
		valid_end = at;
		at += p ? len : 0;
		if (state == INFLATED_MORE && is_strict(walk) && want && inflated.output_len > want)
			state = INFLATED_BAD;
	}
	/* Other codes of the same kind may be valid to the strip's end, and then go on. */
	if (state == INFLATED_MORE && is_strict(walk) && at == end &&
		inflated.output_len < walk->to_unpack) {
		state = INFLATED_BAD;
		valid_end = end - 1;
	}
	if (state == INFLATED_DONE) {
		tiff_confirm(walk, valid_end + used);
		view_proved(walk->tiff.view, start, valid_end + used, ADLER_BITS);
	}
	/* It was not decompressed to its end. */
	if (state != INFLATED_DONE)
		skip_strip(walk, start, end);
	walk->to_unpack -=
		inflated.output_len < walk->to_unpack ? inflated.output_len : walk->to_unpack;
	inflated_close(&inflated);
	return state == INFLATED_BAD ? valid_end : end;
}

/* Reads the tables. False when they are broken, which is noted. */
static bool read_tables(struct tiff_walk *walk, struct jpeg *jpeg, const struct tiff_page *page)
{
	const char *problem;
	const uint8_t *p;

	jpeg_walk(jpeg, page->tables, &problem);
	free(jpeg->history);
	jpeg->history = NULL;
	p = jpeg->at >= page->tables + MARK_LEN && jpeg->at <= page->tables_end
		    ? view_peek(walk->tiff.view, jpeg->at - MARK_LEN, MARK_LEN)
		    : NULL;
	if (p && p[0] == 0xff && p[1] == JPEG_EOI && !jpeg->sof)
		return true;
	tiff_note_bad(walk, jpeg->valid_end < page->tables_end ? jpeg->valid_end : page->tables,
		"invalid JPEG tables");
	return false;
}

/* A strip's JPEG data may lack its tables: they are elsewhere, as a JPEG file without a picture. */
static uint64_t check_jpeg(
	struct tiff_walk *walk, const struct tiff_page *page, uint64_t at, uint64_t end)
{
	struct finding ignored = { 0 };
	struct jpeg jpeg = { .view = walk->tiff.view, .finding = &ignored };
	const uint8_t *p = view_peek(walk->tiff.view, at, 2);
	const char *problem;
	enum jpeg_walk state;

	/* Old-style JPEG in TIFF has its parts in several places. */
	if (!p || p[0] != 0xff || p[1] != JPEG_SOI)
		return skip_strip(walk, at, end);
	view_embedded(walk->tiff.view, at);
	if (page->tables && !read_tables(walk, &jpeg, page))
		return end;
	state = jpeg_walk(&jpeg, at, &problem);
	free(jpeg.history);
	if (jpeg.valid_end > end)
		return end - 1;
	if ((state == JPEG_WALK_BROKEN || state == JPEG_WALK_CUT) && jpeg.valid_end < end)
		return jpeg.valid_end;
	tiff_confirm(walk, jpeg.at < end ? jpeg.at : end);
	return end;
}

/* Deducts a strip from the bytes that may still be checked. False when it exceeds them. */
static bool may_check(struct tiff_walk *walk, uint64_t at, uint64_t len)
{
	if (!len || at > walk->size || len > walk->size - at)
		return false;
	if (len > walk->to_check) {
		walk->odd = TIFF_OVERLAPS;
		skip_strip(walk, at, at + len);
		return false;
	}
	walk->to_check -= len;
	return true;
}

/* A strip is broken from valid_end on, unless that may be because bytes in it can't be read. */
static void note_broken(struct tiff_walk *walk, uint64_t at, uint64_t valid_end, uint64_t end)
{
	uint64_t after;

	if (valid_end >= end)
		return;
	if (walk_unread(walk->tiff.view, at, end, &after))
		skip_strip(walk, at, end);
	else
		tiff_note_bad(walk, walk_before_fill(walk->tiff.view, at, valid_end),
			"a strip that does not decompress");
}

void tiff_check_jpeg(struct tiff_walk *walk, uint64_t at, uint64_t len)
{
	const struct tiff_page alone = { 0 };
	uint64_t valid_end;

	if (!may_check(walk, at, len))
		return;
	valid_end = check_jpeg(walk, &alone, at, at + len);
	note_broken(walk, at, valid_end, at + len);
}

void tiff_check_coded(struct tiff_walk *walk, const struct tiff_page *page, uint64_t at,
	uint64_t len, uint64_t want)
{
	uint64_t end = at + len, valid_end = end;

	if (!may_check(walk, at, len))
		return;
	switch (page->compression) {
	case TIFF_LZW:
		valid_end = check_lzw(walk, page, at, end, want);
		break;
	case TIFF_PACKBITS:
		valid_end = check_packbits(walk, page, at, end, want);
		break;
	case TIFF_DEFLATE:
	case TIFF_OLD_DEFLATE:
		valid_end = check_deflate(walk, page, at, end, want);
		break;
	case TIFF_JPEG:
	case TIFF_OLD_JPEG:
	case TIFF_DNG_LOSSY:
		valid_end = check_jpeg(walk, page, at, end);
		break;
	default:
		skip_strip(walk, at, end);
		walk->unchecked += len;
	}
	note_broken(walk, at, valid_end, end);
}
