/*
 * Tables of Apache Arrow (IPC file format; Feather version 2).
 *
 *	file:    'ARROW1' 0 0, messages, FFFFFFFF 0 (older: 0), footer, its length (4), 'ARROW1'
 *	message: FFFFFFFF (older: nothing), length (4) of its description, description, body
 *
 * Descriptions are tables of FlatBuffers; the fourth field of a message's is the length of its body. Integers are
 * little-endian. The footer ends with its own length and the mark, which no description verifies; it has to begin right after
 * the messages.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "embedded.h"
#include "walk.h"

#define HEAD_LEN 8
#define DESCRIPTION_MAX 65536
#define FOOTER_MAX (1u << 20)
#define SCHEMA_MAX 65536
#define BODY_FIELD 3
#define MARK_LEN 10 /* with the length before it */

/* The length of the body that a description of len bytes states; UINT64_MAX if it is not one. */
static uint64_t body_len(const uint8_t *p, size_t len)
{
	uint32_t table = len >= 8 ? le32(p) : 0, fields, field;
	int64_t at;

	if (!table || table > len - 4)
		return UINT64_MAX;
	at = (int64_t)table - (int32_t)le32(p + table);
	if (at < 0 || at + 4 > (int64_t)len)
		return UINT64_MAX;
	fields = le16(p + at);
	if (fields < 4 || fields % 2 || (uint64_t)at + fields > len)
		return UINT64_MAX;
	field = fields >= 6 + 2 * BODY_FIELD ? le16(p + at + 4 + 2 * BODY_FIELD) : 0;
	if (!field)
		return 0;
	if ((uint64_t)table + field + 8 > len || le64(p + table + field) >> 48)
		return UINT64_MAX;
	return le64(p + table + field);
}

enum step { MESSAGE, LAST, BROKEN };

/* Moves *at past a message, or past the mark of the last. */
static enum step next_message(struct view *view, uint64_t *at)
{
	const uint8_t *p = view_peek(view, *at, 8);
	bool marked = p && le32(p) == UINT32_MAX;
	uint32_t len = p ? le32(marked ? p + 4 : p) : 0;
	uint64_t head = marked ? 8 : 4, body;

	if (!p || (len && (len > DESCRIPTION_MAX || len % 4)))
		return BROKEN;
	if (!len) {
		*at += head;
		return LAST;
	}
	p = view_peek(view, *at + head, len);
	body = p ? body_len(p, len) : UINT64_MAX;
	if (body == UINT64_MAX)
		return BROKEN;
	*at += head + len + body;
	return MESSAGE;
}

/* Where the footer that begins at `at` ends; 0 if there is none. */
static uint64_t footer_end(struct view *view, uint64_t at)
{
	uint64_t size = view_size(view), stop = at + FOOTER_MAX < size ? at + FOOTER_MAX : size;
	struct cursor cursor = { .view = view, .at = at };

	while (cursor_find(&cursor, stop, "ARROW1")) {
		uint64_t end = cursor.at + 6;
		const uint8_t *p = end >= at + MARK_LEN ? view_peek(view, end - MARK_LEN, 4) : NULL;

		if (p && at + le32(p) + MARK_LEN == end)
			return end;
		cursor.at = end;
		cursor_forget(&cursor);
	}
	return 0;
}

/* Where the first message begins: right after the head, or, as Polars writes it, after a schema without a length. */
static uint64_t first_message(struct view *view)
{
	uint64_t at = HEAD_LEN;
	const uint8_t *p;

	if (next_message(view, &at) == MESSAGE)
		return HEAD_LEN;
	for (at = HEAD_LEN + 8; at < SCHEMA_MAX; at += 8) {
		uint64_t next = at;

		p = view_peek(view, at, 8);
		if (p && le32(p) == UINT32_MAX && next_message(view, &next) == MESSAGE)
			return at;
	}
	return HEAD_LEN;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = HEAD_LEN, last = HEAD_LEN, size = view_size(view);
	enum step step;

	if (!p || memcmp(p, "ARROW1\0\0", HEAD_LEN) != 0)
		return verdict_because(CARVE_REJECT, finding, "no mark at 0");
	at = first_message(view);
	while ((step = next_message(view, &at)) == MESSAGE && at <= size)
		last = at;
	if (last == HEAD_LEN && at <= size)
		return verdict_because(CARVE_REJECT, finding, "no message at %d", HEAD_LEN);
	finding->length = last;
	if (at > size)
		return walk_cut(view, finding, at, size);
	if (step == BROKEN)
		return size - at < 8 ? walk_cut(view, finding, size + 1, size)
				     : verdict_because(CARVE_TRUNCATED, finding,
					       "no message at %" PRIu64, at);
	embedded_find_all(view, HEAD_LEN, at);
	view_unverified(view, HEAD_LEN, at);
	finding->length = footer_end(view, at);
	if (finding->length)
		return CARVE_COMPLETE;
	finding->length = at;
	return size - at < FOOTER_MAX && view_ends_with_image(view)
		       ? walk_cut(view, finding, size + 1, size)
		       : verdict_because(CARVE_TRUNCATED, finding, "no footer at %" PRIu64, at);
}

const struct carver arrow_carver = {
	.name = "arrow",
	.summary = "tables of Apache Arrow, by their messages and footer",
	.check = check,
};
