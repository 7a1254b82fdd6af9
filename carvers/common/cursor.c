#include "cursor.h"

#include <string.h>

#include "walk.h"

#define FIRST_WINDOW 1024
#define BYTES_MAX 4096
#define VARINT_MAX 10

/* Windows grow as long as they follow each other, so a walk that jumps about reads little. */
static const uint8_t *fill(struct cursor *cursor)
{
	uint64_t size = view_size(cursor->view);
	uint64_t window_end = cursor->window_at + cursor->window_len;
	size_t want = FIRST_WINDOW;

	if (cursor->at >= size)
		return NULL;
	if (cursor->window_len && cursor->at >= cursor->window_at &&
		cursor->at <= window_end + FIRST_WINDOW)
		want = cursor->window_len * 4;
	if (want > walk_ahead(cursor->view))
		want = walk_ahead(cursor->view);
	if (want > size - cursor->at)
		want = (size_t)(size - cursor->at);
	cursor->window = view_peek(cursor->view, cursor->at, want);
	cursor->window_at = cursor->at;
	cursor->window_len = cursor->window ? want : 0;
	/* Reading byte by byte takes a few nanoseconds each. */
	if (cursor->window && !view_work(cursor->view, want))
		cursor->window_len = 0;
	return cursor->window_len ? cursor->window : NULL;
}

int cursor_fill(struct cursor *cursor)
{
	const uint8_t *window = fill(cursor);

	return window ? window[0] : -1;
}

const uint8_t *cursor_bytes(struct cursor *cursor, size_t len)
{
	uint64_t in = cursor->at - cursor->window_at;

	if (in < cursor->window_len && len <= cursor->window_len - in)
		return cursor->window + in;
	if (len > BYTES_MAX || len > view_size(cursor->view) ||
		cursor->at > view_size(cursor->view) - len)
		return NULL;
	/* The first windows may be shorter than len. */
	while (fill(cursor))
		if (cursor->window_len >= len)
			return cursor->window;
	return NULL;
}

int cursor_at_text(struct cursor *cursor, const char *text)
{
	size_t len = strlen(text);
	const uint8_t *p = cursor_bytes(cursor, len);

	return p && memcmp(p, text, len) == 0;
}

bool cursor_decimal(struct cursor *cursor, uint64_t max, uint64_t *number)
{
	uint64_t start = cursor->at;
	int byte;

	*number = 0;
	while ((byte = cursor_peek(cursor)) >= '0' && byte <= '9') {
		*number = *number * 10 + (uint64_t)(byte - '0');
		if (*number > max)
			return false;
		cursor->at++;
	}
	return cursor->at > start;
}

bool cursor_varint(struct cursor *cursor, uint64_t *number)
{
	*number = 0;
	for (int i = 0; i < VARINT_MAX; i++) {
		int byte = cursor_next(cursor);

		if (byte < 0)
			return false;
		*number |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

int cursor_find(struct cursor *cursor, uint64_t end, const char *text)
{
	size_t len = strlen(text);
	const uint8_t *window, *found;
	size_t window_len;

	cursor_forget(cursor);
	while ((window = walk_window(cursor->view, cursor->at, end, &window_len))) {
		found = memmem(window, window_len, text, len);
		if (found) {
			cursor->at += (uint64_t)(found - window);
			return 1;
		}
		if (window_len < len || window_len < VIEW_MAX_PEEK)
			return 0;
		cursor->at += window_len - len + 1;
	}
	return 0;
}
