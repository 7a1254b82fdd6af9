/* Fonts of WOFF 2.0: the stream that all their tables are packed in. */
#ifndef BURIN_CARVERS_DOCUMENTS_WOFF2_H
#define BURIN_CARVERS_DOCUMENTS_WOFF2_H

#include "carver.h"

enum woff2_state {
	WOFF2_DONE,    /* it ends where it should, and gives as many bytes as the tables have */
	WOFF2_BROKEN,  /* not, from about *at on */
	WOFF2_REFUSED, /* it would give more than is bearable */
	WOFF2_NONE,    /* no directory of tables, at *at */
};

/* Walks the directory of `count` tables, and the fonts of a collection, behind the header; *at is
 * set behind them, where the packed tables start. */
enum woff2_state woff2_directory(
	struct view *view, uint32_t count, int collection, uint64_t *at, uint64_t *plain_len);

/* Unpacks the tables [*at, end), which should give plain_len bytes. */
enum woff2_state woff2_unpack(struct view *view, uint64_t *at, uint64_t end, uint64_t plain_len);

#endif
