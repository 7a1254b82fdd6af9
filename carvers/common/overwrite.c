/*
 * A file that lost its end lost whole sectors: the blocks from some sector on were wiped, or hold
 * another file. Most files start at a sector themselves, so the lost end starts at a multiple of
 * 512 in them. In coded data that breaks the code; stored pixels can be anything, zeros and text
 * included. So what counts is where those begin. If it is exactly at a sector, but neither at a row
 * nor at the start of the data, the file was cut there: by chance this happens once in 512 times.
 * Zeros that reach the end and begin earlier prove nothing: the picture may be black down to its
 * end, or may have been black where it was cut.
 *
 * A wiped area need not reach the end. But a picture with one black area has many, so only the
 * first one counts, and it makes an overwrite possible, no more, unless it is a whole cluster from a
 * cluster's start on: that happens by chance once in 4096 times.
 */
#include "overwrite.h"

#include <string.h>

#include "plain_text.h"
#include "walk.h"

#define FEW 16  /* bytes at the end that are not checked */
#define RUN 128 /* length from which an area of equal bytes is noticed */
#define FILL_CERTAIN 256
#define TEXT_MIN 64

static uint64_t next_sector(uint64_t at)
{
	return (at + SECTOR - 1) / SECTOR * SECTOR;
}

static const char *name_fill(uint8_t byte)
{
	return byte == 0 ? "zeros" : byte == 0xff ? "bytes of FF" : "equal bytes";
}

/* Equal bytes that reach the end. */
static enum overwrite find_last_fill(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, uint64_t *at, const char **what)
{
	uint64_t run = walk_before_fill(view, 0, end), sector = next_sector(run);
	const uint8_t *p = view_peek(view, end - 1, 1);
	bool by_row = run == start || (run > start && row_len > 1 && (run - start) % row_len == 0);

	if (!p || sector >= end || end - sector < FEW)
		return OVERWRITE_NONE;
	*at = sector;
	*what = name_fill(*p);
	if (run == sector && !by_row && end - sector >= FILL_CERTAIN)
		return OVERWRITE_CERTAIN;
	return *p == 0 ? OVERWRITE_POSSIBLE : OVERWRITE_NONE;
}

static bool is_fill(const uint8_t *p, size_t len)
{
	return memcmp(p, p + 1, len - 1) == 0;
}

/* The first areas of zeros and of FF, if one starts with a sector and not with a row. */
static enum overwrite find_first_fill(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, uint64_t *at, const char **what)
{
	bool seen[2] = { false };
	const uint8_t *window;
	size_t len;

	*at = start + RUN <= end ? walk_before_fill(view, 0, start + RUN) : start;
	if (*at < start && *at % SECTOR == 0) {
		*what = "equal bytes";
		return OVERWRITE_POSSIBLE;
	}
	for (uint64_t from = start / RUN * RUN + RUN; from < end; from += len) {
		window = walk_window(view, from - 1, end, &len);
		len = window && len > RUN ? (len - 1) / RUN * RUN : 0;
		if (!len)
			break;
		for (size_t i = 0; i < len; i += RUN) {
			const uint8_t *p = window + 1 + i;
			uint64_t here = from + i;

			if ((*p && *p != 0xff) || seen[*p & 1] || !is_fill(p, RUN))
				continue;
			seen[*p & 1] = true;
			if (here % SECTOR || p[-1] == *p ||
				(row_len > 1 && (here - start) % row_len == 0))
				continue;
			*at = here;
			*what = name_fill(*p);
			p = here % USUAL_CLUSTER || end - here < USUAL_CLUSTER
				    ? NULL
				    : view_peek(view, here, USUAL_CLUSTER);
			return p && is_fill(p, USUAL_CLUSTER) ? OVERWRITE_CERTAIN
							      : OVERWRITE_POSSIBLE;
		}
	}
	return OVERWRITE_NONE;
}

/* Whether the bytes are words: all text, with many lower-case letters and blanks. Pixels may have
 * values between ' ' and '~', but not in this mixture. */
static bool has_words(const uint8_t *p, size_t len)
{
	size_t blanks = 0, letters = 0;

	for (size_t i = 0; i < len; i++) {
		if (!plain_text_byte(p[i]))
			return false;
		blanks += p[i] == ' ' || p[i] == '\n';
		letters += p[i] >= 'a' && p[i] <= 'z';
	}
	return blanks >= len / 16 && letters >= len / 2;
}

/* Whether the bytes before `at` are text. */
static bool follows_text(struct view *view, uint64_t start, uint64_t at)
{
	const uint8_t *p = at >= start + FEW ? view_peek(view, at - FEW, FEW) : NULL;

	for (size_t i = 0; p && i < FEW; i++)
		if (!plain_text_byte(p[i]))
			return false;
	return p;
}

/* Finds where words start with a sector, after other bytes or before the data. Text that starts in
 * the first sector is not an overwrite: the header before it is intact. */
static bool find_text(struct view *view, uint64_t start, uint64_t end, uint64_t *at)
{
	bool words = false;

	for (*at = start / SECTOR * SECTOR; *at < end; *at += SECTOR) {
		uint64_t from = *at > start ? *at : start, rest = *at + SECTOR - from;
		size_t len = end - from < rest ? (size_t)(end - from) : (size_t)rest;
		const uint8_t *p = len < TEXT_MIN ? NULL : view_peek(view, from, len);
		bool before = words;

		words = p && has_words(p, len);
		/* Text of the file's own, if it began before the sector. */
		if (words && !before && *at && !follows_text(view, start, *at))
			return true;
	}
	return false;
}

enum overwrite overwrite_find(struct view *view, uint64_t start, uint64_t end, uint64_t row_len,
	uint64_t *at, const char **what)
{
	enum overwrite overwrite;

	if (end <= start)
		return OVERWRITE_NONE;
	if (find_text(view, start, end, at)) {
		*what = "text";
		return OVERWRITE_CERTAIN;
	}
	overwrite = find_last_fill(view, start, end, row_len, at, what);
	return overwrite == OVERWRITE_NONE ? find_first_fill(view, start, end, row_len, at, what)
					   : overwrite;
}

/* How files begin that are found often, in bytes that samples and pixels hardly ever have at a sector. */
static const struct head {
	const char *bytes;
	size_t len;
} heads[] = {
	{ "\xff\xd8\xff\xe0", 4 },
	{ "\xff\xd8\xff\xe1", 4 },
	{ "\x89PNG\r\n", 6 },
	{ "GIF89a", 6 },
	{ "GIF87a", 6 },
	{ "%PDF-1.", 7 },
	{ "PK\3\4", 4 },
	{ "Rar!\x1a\7", 6 },
	{ "7z\xbc\xaf", 4 },
	{ "RIFF", 4 },
	{ "OggS\0\2", 6 },
	{ "fLaC\0", 5 },
	{ "ID3\3\0", 5 },
	{ "ID3\4\0", 5 },
	{ "\x1a\x45\xdf\xa3", 4 },
	{ "\xd0\xcf\x11\xe0", 4 },
	{ "SQLite f", 8 },
	{ "\x7f"
	  "ELF",
		4 },
	{ "{\\rtf1", 6 },
	{ "%!PS-", 5 },
	{ "8BPS\0\1", 6 },
	{ "MThd\0\0", 6 },
	{ "!<arch>", 7 },
};

static bool is_head(const uint8_t *p)
{
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (memcmp(p, heads[i].bytes, heads[i].len) == 0)
			return true;
	return false;
}

uint64_t overwrite_head(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t at = next_sector(start);
	const uint8_t *p;
	size_t len;

	while ((p = walk_window(view, at, end, &len)) && len >= SECTOR) {
		for (size_t i = 0; i + SECTOR <= len; i += SECTOR)
			if (is_head(p + i))
				return at + i;
		at += len / SECTOR * SECTOR;
	}
	return end;
}
