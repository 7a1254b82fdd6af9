/*
 * The start header of a 7z archive has place, length and CRC of the header at its end, and that begins with
 * place and lengths of the streams before it. So from the header at an archive's end follows what its
 * start header says of its place. Mostly the header is packed, by LZMA or LZMA2, and another one
 * describes that.
 */
#include "sevenzip_info.h"

#include <string.h>

#include "bytes.h"
#include "sevenzip_header.h"

/* One folder with one coder, after the place of what is packed. */
#define LZMA "\x07\x0b\x01\x00\x01\x23\x03\x01"
#define LZMA2 "\x07\x0b\x01\x00\x01\x21\x21\x01"
/* A header that is not packed, of streams that begin where the start header ends. */
#define PLAIN "\x01\x04\x06\x00"

#define WORD_LEN 4     /* of the shortest word */
#define BEFORE_MAX 32  /* bytes from a header's start to the word in it */
#define PLAIN_MAX 1024 /* from the start of a header to the end of its streams' lengths */
#define STREAMS_MAX 100

/* Where the packed streams end, by the description at p, which begins with their place; 0: p is not one. */
static uint64_t read_place(const uint8_t *p, size_t len)
{
	const uint8_t *end = p + len;
	uint64_t place, count, packed;

	if (!sevenzip_read_number(&p, end, &place) || !sevenzip_read_number(&p, end, &count) ||
		!count || count > STREAMS_MAX || p == end || *p++ != SEVENZIP_SIZES)
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		if (!sevenzip_read_number(&p, end, &packed) || !packed || packed > INT64_MAX ||
			place > INT64_MAX)
			return 0;
		place += packed;
	}
	return p < end && (*p == SEVENZIP_END || *p == SEVENZIP_CRCS) ? place : 0;
}

/* The start header of an archive whose header is at `end` after it. */
static bool expect_start(struct carve_table *table, uint64_t end)
{
	struct carve_anchor anchor = { .len = 20, .bytes = "7z\xbc\xaf\x27\x1c" };

	anchor.any = (uint64_t)0x3f << 6; /* version, CRC */
	put_le(anchor.bytes + 12, end, 8);
	return table->add(table, &anchor);
}

/* Reads the header around the word at `at`. */
static bool read_tail(struct view *view, uint64_t at, struct carve_table *table)
{
	uint64_t left = view_size(view) - at, end = 0;
	size_t start = at < BEFORE_MAX ? (size_t)at : BEFORE_MAX, word = start;
	size_t len = start + (left < PLAIN_MAX ? (size_t)left : PLAIN_MAX);
	const uint8_t *p = view_peek(view, at - start, len);

	if (!p || left < WORD_LEN)
		return false;
	if (p[word] == SEVENZIP_HEADER)
		end = read_place(p + word + 3, len - word - 3);
	while (!end && start-- > 0)
		if (p[start] == SEVENZIP_ENCODED_HEADER && p[start + 1] == SEVENZIP_PACK_INFO)
			end = read_place(p + start + 2, len - start - 2);
	if (!end)
		return false;
	table->from = SEVENZIP_START_LEN + end;
	table->at = table->from + (word - start);
	return expect_start(table, end);
}

const struct carve_map sevenzip_map = {
	.words = { { 6, false, "7z\xbc\xaf\x27\x1c" }, { 8, true, LZMA }, { 8, true, LZMA2 },
		{ 4, true, PLAIN } },
	.tail = read_tail,
};
