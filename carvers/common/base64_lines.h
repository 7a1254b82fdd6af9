/* Whether lines of base64 are of one width, and whether clusters of other bytes lie in data of base64 within a text. */
#ifndef BURIN_CARVERS_COMMON_BASE64_LINES_H
#define BURIN_CARVERS_COMMON_BASE64_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view;

/* Lines from base64_lines_begin on. */
struct base64_lines {
	size_t width;       /* characters of a line but the last one; 0: there is none yet */
	unsigned count;     /* lines of that width */
	bool is_irregular;  /* they differ in width */
	bool was_last;      /* the line before was shorter, as the last one is */
	uint64_t valid_end; /* of the last line of that width */
};

void base64_lines_begin(struct base64_lines *lines, uint64_t at);

/* Adds a line of len characters, at least one, that begins at `at`; the next one begins at `next`, and `padded` says that `=` ends this one. False: a
 * line before it was the last one, or it is too long, from *wrong_at on, and a sector, at *break_at, begins there. */
bool base64_lines_add(struct base64_lines *lines, uint64_t at, size_t len, bool padded,
	uint64_t next, uint64_t *wrong_at, uint64_t *break_at);

/* Where a sector begins between the last line that is valid and what is wrong at `wrong_at`; 0: nowhere. */
uint64_t base64_lines_break(const struct base64_lines *lines, uint64_t wrong_at);

/* Finds data URIs (RFC 2397) of base64 within the first `end` bytes of a text that are cut by a sector's start *from: up to *to, where that is noticed. False:
 * there are none. */
bool base64_find_cut(struct view *view, uint64_t end, uint64_t *from, uint64_t *to);

#endif
