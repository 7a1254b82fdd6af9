/*
 * Apple Mail's messages (EMLX).
 *
 *	file: length of the message in decimal, blanks, LF; the message; a property list in XML (flags, date)
 *
 * The message and then the property list's end give the length.
 */
#include <inttypes.h>
#include <string.h>

#include "cursor.h"
#include "title.h"
#include "walk.h"

#define DIGITS_MAX 10
#define MESSAGE_MAX (UINT64_C(1) << 30)
#define LIST_MAX 65536

/* Reads the length and its line. False: there is none. */
static bool read_length(struct cursor *cursor, uint64_t *len)
{
	int byte, digits = 0;

	*len = 0;
	for (; (byte = cursor_next(cursor)) >= '0' && byte <= '9' && digits < DIGITS_MAX; digits++)
		*len = *len * 10 + (uint64_t)(byte - '0');
	while (byte == ' ' && cursor->at < 32)
		byte = cursor_next(cursor);
	return digits && byte == '\n' && *len && *len < MESSAGE_MAX;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	static const char list[] = "<?xml ", list_end[] = "</plist>";
	struct cursor cursor = { .view = view };
	uint64_t len, end, start, stop, size = view_size(view);

	if (!read_length(&cursor, &len))
		return verdict_because(CARVE_REJECT, finding, "no length at 0");
	start = cursor.at;
	end = start + len;
	view_embedded(view, start);
	finding->length = end;
	if (end > size)
		return walk_cut(view, finding, end, size);
	cursor.at = end;
	if (!cursor_at_text(&cursor, list)) {
		finding->length = start;
		return verdict_because(CARVE_TRUNCATED, finding,
			"no property list after the message, at %" PRIu64, end);
	}
	stop = end + LIST_MAX < size ? end + LIST_MAX : size;
	if (!cursor_find(&cursor, stop, list_end))
		return stop == size ? walk_cut(view, finding, size + 1, size)
				    : verdict_because(CARVE_TRUNCATED, finding,
					      "no end of the property list at %" PRIu64, end);
	cursor.at += sizeof(list_end) - 1;
	if (cursor_peek(&cursor) == '\n')
		cursor.at++;
	view_unverified(view, start, end);
	view_holds(view, start, end);
	finding->length = cursor.at;
	return CARVE_COMPLETE;
}

const struct carver emlx_carver = {
	.name = "emlx",
	.summary = "Apple Mail's messages, by their length and property list",
	.check = check,
};
