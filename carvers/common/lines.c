/*
 * Text has no control characters except tabs, line ends, form feeds, and the escapes of some
 * Japanese mail. Where a line runs into another byte, the text ended somewhere before. The start of
 * that line still counts as text if it is too long to be chance (one random byte in three is
 * printable), or if zeros follow, as they do after the last line of a file without a final line
 * end.
 */
#include "lines.h"

#include <string.h>

#include "plain_text.h"
#include "walk.h"

#define CHANCE_LEN 6
#define FIRST_LEN 128 /* what is looked at counts as work, for each line */

/* How many bytes at p are printable ASCII. */
static size_t plain_len(const uint8_t *p, size_t len)
{
	size_t count = 0;

	while (count < len && ((p[count] >= 0x20 && p[count] < 0x7f) || p[count] == '\t'))
		count++;
	return count;
}

static void end_line(struct line *line, size_t len)
{
	line->ended = true;
	line->next = line->text_end = line->at + len + 1;
	line->len = len && line->bytes[len - 1] == '\r' ? len - 1 : len;
}

/* Ends the line at len, where the text stops. */
static void break_line(struct line *line, size_t len, bool zero)
{
	size_t plain = plain_len(line->bytes, len);

	line->broken = true;
	line->len = plain >= CHANCE_LEN || (zero && plain == len) ? plain : 0;
	line->text_end = line->next = line->at + line->len;
}

bool line_read(struct view *view, uint64_t at, struct line *line)
{
	uint64_t size = view_size(view);
	size_t want = FIRST_LEN, len = 0;

	*line = (struct line){ .at = at };
	while (at < size) {
		if (want > size - at)
			want = (size_t)(size - at);
		line->bytes = view_peek(view, at, want);
		if (!line->bytes)
			return false;
		while (len < want && line_character(line->bytes[len]))
			len++;
		if (len < want && line->bytes[len] == '\n') {
			end_line(line, len);
			return true;
		}
		if (len < want || want == VIEW_MAX_PEEK) {
			break_line(line, len, len < want && !line->bytes[len]);
			return line->len > 0;
		}
		if (want == size - at)
			break;
		want = want * 4 < VIEW_MAX_PEEK ? want * 4 : VIEW_MAX_PEEK;
	}
	line->len = len;
	line->text_end = line->next = at + len;
	return len > 0;
}

bool text_overwritten(struct view *view, uint64_t end, uint64_t *at)
{
	const uint8_t *p;

	*at = end / SECTOR * SECTOR;
	if (!*at || end - *at > CHANCE_LEN)
		return false;
	p = view_peek(view, *at - 1, 1);
	if (!p || *p == '\n')
		return false;
	p = view_peek(view, end, 1);
	return p && *p && *p != 0xff;
}

bool line_starts(const struct line *line, const char *prefix)
{
	size_t len = strlen(prefix);

	return line->len >= len && strncasecmp((const char *)line->bytes, prefix, len) == 0;
}

bool line_is(const struct line *line, const char *text)
{
	size_t len = line->len;

	while (len && (line->bytes[len - 1] == ' ' || line->bytes[len - 1] == '\t'))
		len--;
	return len == strlen(text) && line_starts(line, text);
}

uint64_t lines_skip_empty(struct view *view, uint64_t at)
{
	for (int i = 0; i < 16; i++) {
		const uint8_t *p = view_peek(view, at, 1);
		bool two = p && *p == '\r';

		if (two)
			p = view_peek(view, at + 1, 1);
		if (!p || *p != '\n')
			break;
		at += two ? 2 : 1;
	}
	return at;
}
