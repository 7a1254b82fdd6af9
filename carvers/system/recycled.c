/*
 * What Windows notes of a file that it moves to the recycle bin ($I and six characters; since Vista).
 *
 *	version 1: 1, length of the file, when it was deleted (8 each, little-endian), its path in UTF-16 in 520
 *	           bytes, filled with zeros
 *	version 2: 2, length, time, characters of the path with a zero (4), path
 *
 * The path has to end where the lengths say. The title is the path, the time that of the deletion.
 */
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "dates.h"
#include "title.h"

#define HEAD_LEN 24
#define OLD_PATH_LEN 520
#define PATH_MAX_LEN 32768

/* Whether the bytes are a path and a zero, or more of them if `filled`. */
static bool is_path(const uint8_t *p, size_t len, bool filled)
{
	size_t i;

	if (len < 10 || le16(p + len - 2))
		return false;
	for (i = 0; i < len && le16(p + i); i += 2)
		if (le16(p + i) < ' ' || memchr("<>|*?\"", le16(p + i) < 128 ? p[i] : ' ', 6))
			return false;
	if (!filled)
		return i + 2 == len;
	while (i < len && !le16(p + i))
		i += 2;
	return i == len;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN + 10);
	uint64_t at = HEAD_LEN, end = HEAD_LEN + OLD_PATH_LEN, version = p ? le64(p) : 0;
	int64_t time = p ? filetime_seconds(le64(p + 16)) : 0;

	if (!p || (version != 1 && version != 2) || !time || le64(p + 8) >> 48)
		return verdict_because(CARVE_REJECT, finding, "no version, length and time at 0");
	if (version == 2) {
		at += 4;
		end = le32(p + HEAD_LEN) > PATH_MAX_LEN ? 0 : at + 2 * (uint64_t)le32(p + HEAD_LEN);
	}
	p = end > at ? view_peek(view, at, (size_t)(end - at)) : NULL;
	if (!p || !is_path(p, (size_t)(end - at), version == 1))
		return verdict_because(CARVE_REJECT, finding, "no path at %d", (int)at);
	finding_set_title_utf16(finding, p, (size_t)(end - at), false);
	finding->time = time;
	finding->length = end;
	return CARVE_COMPLETE;
}

const struct carver recycled_carver = {
	.name = "recycled",
	.summary = "Windows' notes of files in the recycle bin ($I), by their paths",
	.check = check,
};
