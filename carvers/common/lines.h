/* Lines of text, and where text turns into other bytes. */
#ifndef BURIN_CARVERS_COMMON_LINES_H
#define BURIN_CARVERS_COMMON_LINES_H

#include <stdbool.h>

#include "carver.h"

struct line {
	const uint8_t *bytes; /* valid until the next peek at the view */
	size_t len;           /* without its line end */
	uint64_t at;          /* where it starts */
	uint64_t text_end;    /* where its text ends: inside the line if it is broken */
	uint64_t next;        /* where the next line starts */
	bool ended;           /* by LF, or CR and LF */
	bool broken;          /* it has bytes that do not occur in text, or is too long */
};

/* Reads the line at `at`. False when there is no text. A line that is neither ended nor broken is
 * the view's last. */
bool line_read(struct view *view, uint64_t at, struct line *line);

/* Where the empty lines end that begin at `at`, of which a file may have a few at its end: after at most 16 of them. */
uint64_t lines_skip_empty(struct view *view, uint64_t at);

/* Whether the text that ends at `end` was overwritten from the start of a sector, *at: it breaks
 * off within a line there, give or take a few bytes that look like text by chance, and bytes other
 * than zeros follow. */
bool text_overwritten(struct view *view, uint64_t end, uint64_t *at);

/* Whether the line starts with `prefix`, ignoring case. */
bool line_starts(const struct line *line, const char *prefix);

/* Whether the line is `text`, ignoring case and blanks at its end. */
bool line_is(const struct line *line, const char *text);

#endif
