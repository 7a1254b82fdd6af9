/*
 * A file that lost its end lost whole sectors: the blocks behind a sector's beginning were wiped,
 * or hold another file. Mostly it starts at a sector itself, so its lost end begins at a multiple
 * of 512 in it. In coded data that breaks the code; stored pixels can be anything, zeros and text
 * too. So what counts is where these begin. If that is a sector's first byte, and neither a row's
 * nor the data's, the file was cut there: by chance, it is so once in 512 times. Zeros that reach
 * the end and begin earlier prove nothing: a picture may be black up to its end, but it may have
 * been black where it was cut, too.
 *
 * What was wiped need not reach the end. But in a picture with one black area are many, so only
 * the first one counts, and leaves no more than doubt.
 */
#include "seam.h"

#include <string.h>

#include "program.h"
#include "walk.h"

#define SECTOR 512
#define FEW 16  /* bytes at the end that are not looked at */
#define RUN 128 /* where an area of equal bytes is noticed */
#define FILL_SURE 256
#define TEXT_LEAST 64

static uint64_t next_sector(uint64_t at)
{
	return (at + SECTOR - 1) / SECTOR * SECTOR;
}

static const char *name_fill(uint8_t byte)
{
	return byte == 0 ? "zeros" : byte == 0xff ? "bytes of FF" : "equal bytes";
}

/* Equal bytes that reach the end. */
static enum seam find_last(struct view *view, uint64_t start, uint64_t end, uint64_t row_len,
	uint64_t *at, const char **what)
{
	uint64_t run = walk_before_fill(view, 0, end), sector = next_sector(run);
	const uint8_t *p = view_peek(view, end - 1, 1);
	bool by_row = run == start || (run > start && row_len > 1 && (run - start) % row_len == 0);

	if (!p || sector >= end || end - sector < FEW)
		return SEAM_NONE;
	*at = sector;
	*what = name_fill(*p);
	if (run == sector && !by_row && end - sector >= FILL_SURE)
		return SEAM_SURE;
	return *p == 0 ? SEAM_DOUBTFUL : SEAM_NONE;
}

static bool is_fill(const uint8_t *p, size_t len)
{
	return memcmp(p, p + 1, len - 1) == 0;
}

/* The first areas of zeros and of FF, if one begins with a sector and not with a row. */
static enum seam find_first(struct view *view, uint64_t start, uint64_t end, uint64_t row_len,
	uint64_t *at, const char **what)
{
	bool seen[2] = { false };
	const uint8_t *window;
	size_t len;

	*at = start + RUN <= end ? walk_before_fill(view, 0, start + RUN) : start;
	if (*at < start && *at % SECTOR == 0) {
		*what = "equal bytes";
		return SEAM_DOUBTFUL;
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
			return SEAM_DOUBTFUL;
		}
	}
	return SEAM_NONE;
}

/* Whether words stand there: small letters and blanks, and nothing but text. Pixels may have values
 * between ' ' and '~', but not in this mixture. */
static bool has_words(const uint8_t *p, size_t len)
{
	size_t blanks = 0, letters = 0;

	for (size_t i = 0; i < len; i++) {
		if (!program_text(p[i]))
			return false;
		blanks += p[i] == ' ' || p[i] == '\n';
		letters += p[i] >= 'a' && p[i] <= 'z';
	}
	return blanks >= len / 16 && letters >= len / 2;
}

/* Bytes that are no words give way to them at a sector's beginning, or did so before the data. What
 * begins in the first sector was not written over: the header in front of it is there. */
static bool find_text(struct view *view, uint64_t start, uint64_t end, uint64_t *at)
{
	bool words = false;

	for (*at = start / SECTOR * SECTOR; *at < end; *at += SECTOR) {
		uint64_t from = *at > start ? *at : start, rest = *at + SECTOR - from;
		size_t len = end - from < rest ? (size_t)(end - from) : (size_t)rest;
		const uint8_t *p = len < TEXT_LEAST ? NULL : view_peek(view, from, len);
		bool before = words;

		words = p && has_words(p, len);
		if (words && !before && *at)
			return true;
	}
	return false;
}

enum seam seam_find(struct view *view, uint64_t start, uint64_t end, uint64_t row_len, uint64_t *at,
	const char **what)
{
	enum seam seam;

	if (end <= start)
		return SEAM_NONE;
	if (find_text(view, start, end, at)) {
		*what = "text";
		return SEAM_SURE;
	}
	seam = find_last(view, start, end, row_len, at, what);
	return seam == SEAM_NONE ? find_first(view, start, end, row_len, at, what) : seam;
}
