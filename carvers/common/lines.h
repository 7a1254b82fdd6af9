/* Lines of text, and where text gives way to other bytes. */
#ifndef BURIN_CARVERS_COMMON_LINES_H
#define BURIN_CARVERS_COMMON_LINES_H

#include <stdbool.h>

#include "carver.h"

struct line {
	const uint8_t *bytes; /* good until the next look at the view */
	size_t len;           /* without what ends it */
	uint64_t at;          /* where it starts */
	uint64_t text;        /* behind what of it is text: within the line if it is broken */
	uint64_t next;        /* where the next line starts */
	bool ended;           /* by LF, or CR and LF */
	bool broken;          /* bytes stand in it that no text has, or it is too long */
};

/* Reads the line at `at`: false when no text stands there. A line that is neither ended nor broken
 * is the view's last. */
bool line_read(struct view *view, uint64_t at, struct line *line);

/* Whether the text that ends at `end` was written over from a sector's beginning on, *at: it breaks
 * off within a line there, but for a few bytes that chance makes, and other bytes than zeros
 * follow. */
bool text_cut(struct view *view, uint64_t end, uint64_t *at);

/* Whether the line starts with `prefix`, in either case. */
bool line_starts(const struct line *line, const char *prefix);

/* Whether it is `text`, in either case; blanks at its end don't count. */
bool line_is(const struct line *line, const char *text);

#endif
