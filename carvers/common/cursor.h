/*
 * Reading byte by byte, for formats made of text. The window under a cursor is a view_peek's
 * result: after any other look at the view, cursor_forget.
 */
#ifndef BURIN_CARVERS_COMMON_CURSOR_H
#define BURIN_CARVERS_COMMON_CURSOR_H

#include "carver.h"

struct cursor {
	struct view *view;
	uint64_t at; /* the next byte; may be set at will */
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len; /* 0: nothing held */
};

/* Brings the byte at cursor->at into the window: it, or -1 when it can't be had. */
int cursor_fill(struct cursor *cursor);

/* len bytes (at most 4096) at the cursor, or NULL when they are not all there. */
const uint8_t *cursor_look(struct cursor *cursor, size_t len);

/* Whether `text` stands at the cursor. */
int cursor_at_text(struct cursor *cursor, const char *text);

static inline void cursor_forget(struct cursor *cursor)
{
	cursor->window_len = 0;
}

/* The byte at the cursor, or -1. */
static inline int cursor_peek(struct cursor *cursor)
{
	uint64_t in = cursor->at - cursor->window_at;

	return in < cursor->window_len ? cursor->window[in] : cursor_fill(cursor);
}

/* The same, and the cursor goes on by one. */
static inline int cursor_take(struct cursor *cursor)
{
	int byte = cursor_peek(cursor);

	cursor->at += byte >= 0;
	return byte;
}

/* Moves the cursor to `text`, no further than end; whether it is there. */
int cursor_find(struct cursor *cursor, uint64_t end, const char *text);

#endif
