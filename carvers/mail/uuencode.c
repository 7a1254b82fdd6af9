/*
 * Files encoded as text by uuencode (POSIX), also in base64.
 *
 *	first line: 'begin', or 'begin-base64', permissions (3 or 4 octal digits), name
 *	data line:  number of bytes plus 20h, then 4 characters of 20h to 60h for 3 bytes; perhaps one more character.
 *	            Blanks at a line's end may be lost, where blanks stand for 0
 *	last lines: one of 0 bytes, 'end'; in base64 '===='
 *
 * Each line is checked, and the last lines end the file. The title is the name.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base64.h"
#include "bytes.h"
#include "lines.h"
#include "title.h"
#include "walk.h"

#define LINE_BYTES_MAX 45 /* encoders never put more into a line */
#define BASE64_LINE_MAX 76

struct uuencode {
	bool base64;
	bool accents; /* 0 is encoded as '`', not as a blank */
	bool full;    /* all data lines so far, as all but the last one are */
	unsigned line_bytes;
	uint64_t count; /* data lines */
};

/* Reads the first line. */
static bool read_first(struct uuencode *uu, const struct line *line, struct finding *finding)
{
	size_t at = 6, digits = 0;

	if (!line->ended || line->len < 12 || memcmp(line->bytes, "begin", 5) != 0)
		return false;
	uu->base64 = line->len > 20 && memcmp(line->bytes + 5, "-base64 ", 8) == 0;
	if (uu->base64)
		at = 13;
	else if (line->bytes[5] != ' ')
		return false;
	for (; at < line->len && line->bytes[at] >= '0' && line->bytes[at] <= '7'; at++)
		digits++;
	if ((digits != 3 && digits != 4) || at + 1 >= line->len || line->bytes[at] != ' ')
		return false;
	finding_set_title(finding, line->bytes + at + 1, line->len - at - 1);
	return finding->title[0] != 0;
}

static bool is_base64(const struct line *line)
{
	return line->len <= BASE64_LINE_MAX && line->len % 4 == 0 &&
	       base64_text(line->bytes, line->len);
}

/* Whether the line has the number of bytes that it says, at least one. */
static bool is_data(struct uuencode *uu, const struct line *line)
{
	unsigned bytes = line->len ? (unsigned)(line->bytes[0] - 0x20) : 0;
	size_t len = 1 + (size_t)(bytes + 2) / 3 * 4;

	if (!bytes || bytes > LINE_BYTES_MAX || line->len > len + 1)
		return false;
	for (size_t i = 1; i < line->len; i++) {
		if (line->bytes[i] < 0x20 || line->bytes[i] > 0x60)
			return false;
		uu->accents |= line->bytes[i] == '`';
	}
	/* The last group may be short, too. */
	if (line->len + 2 < len && uu->accents)
		return false;
	if (!uu->count)
		uu->line_bytes = bytes;
	if (!uu->full || bytes > uu->line_bytes)
		return false;
	uu->full = bytes == uu->line_bytes;
	return true;
}

static bool is_empty(const struct line *line)
{
	return !line->len || (line->len <= 2 && (line->bytes[0] == '`' || line->bytes[0] == ' '));
}

static enum verdict judge_stop(struct view *view, struct finding *finding,
	const struct uuencode *uu, const struct line *line, uint64_t at)
{
	if (!uu->count) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "no line of data at %" PRIu64, at);
	}
	if (line && !line->ended && !line->broken)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : at);
	finding->length = at;
	return verdict_because(CARVE_TRUNCATED, finding,
		"neither a line of data nor the last one at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct uuencode uu = { .full = true };
	struct line line;
	uint64_t at;

	if (!line_read(view, 0, &line) || !read_first(&uu, &line, finding)) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "no first line at 0");
	}
	for (at = line.next; line_read(view, at, &line); at = line.next) {
		bool last = uu.base64 ? line_is(&line, "====") : line_is(&line, "end");

		if (last && uu.count && (line.ended || !line.broken)) {
			finding->length = line.next;
			return line.ended ? CARVE_COMPLETE
					  : verdict_because(CARVE_UNVERIFIED, finding,
						    "the last line has no end at %" PRIu64,
						    finding->length);
		}
		if (!line.ended)
			return judge_stop(view, finding, &uu, &line, at);
		if (uu.base64 ? is_base64(&line) : is_data(&uu, &line))
			uu.count++;
		else if (uu.base64 || !uu.count || !is_empty(&line))
			return judge_stop(view, finding, &uu, &line, at);
	}
	return judge_stop(view, finding, &uu, NULL, at);
}

const struct carver uuencode_carver = {
	.name = "uuencode",
	.summary = "uuencoded files, by their lines",
	.check = check,
};
