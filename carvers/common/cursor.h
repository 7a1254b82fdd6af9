/*
 * Reading byte by byte, for formats made of text. A cursor keeps the result of a view_peek as its
 * window: after any other peek at the view, call cursor_forget.
 */
#ifndef BURIN_CARVERS_COMMON_CURSOR_H
#define BURIN_CARVERS_COMMON_CURSOR_H

#include "carver.h"

struct cursor {
	struct view *view;
	uint64_t at; /* the next byte; the caller may change it */
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len; /* 0: no window */
};

/* Moves the window to the byte at cursor->at. Returns the byte, or -1 when it is not readable. */
int cursor_fill(struct cursor *cursor);

/* Returns len bytes (at most 4096) at the cursor, or NULL when they are not all readable. */
const uint8_t *cursor_bytes(struct cursor *cursor, size_t len);

/* Whether the bytes at the cursor are `text`. */
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

/* The same, and advances the cursor past it. */
static inline int cursor_next(struct cursor *cursor)
{
	int byte = cursor_peek(cursor);

	cursor->at += byte >= 0;
	return byte;
}

/* Moves past blanks, tabs and line ends. Returns the byte after them, or -1. */
static inline int cursor_skip_blanks(struct cursor *cursor)
{
	int byte;

	while ((byte = cursor_peek(cursor)) == ' ' || byte == '\n' || byte == '\r' || byte == '\t')
		cursor->at++;
	return byte;
}

/* Reads a decimal number up to max, which is less than 2^60. False: there is none, or it is larger. */
bool cursor_decimal(struct cursor *cursor, uint64_t max, uint64_t *number);

/* Reads a number of 7 bits a byte, the lowest first, in at most 10 bytes. False: there is none. */
bool cursor_varint(struct cursor *cursor, uint64_t *number);

/* Moves the cursor to the next `text` before end. Returns whether there is one. */
int cursor_find(struct cursor *cursor, uint64_t end, const char *text);

#endif
