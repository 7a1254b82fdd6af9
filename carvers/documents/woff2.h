/* Fonts of WOFF 2.0: the stream that contains all their compressed tables. */
#ifndef BURIN_CARVERS_DOCUMENTS_WOFF2_H
#define BURIN_CARVERS_DOCUMENTS_WOFF2_H

#include "carver.h"

enum woff2_state {
	WOFF2_DONE,    /* it ends where it should, and yields as many bytes as the tables have */
	WOFF2_BROKEN,  /* it does not, from about *at on */
	WOFF2_REFUSED, /* it would yield too much */
	WOFF2_NONE,    /* no table directory, at *at */
};

/* Walks the directory of `count` tables, and the fonts of a collection, after the header; *at is
 * set to their end, where the compressed tables start. */
enum woff2_state woff2_directory(
	struct view *view, uint32_t count, int collection, uint64_t *at, uint64_t *plain_len);

/* Decompresses the tables [*at, end), which should yield plain_len bytes. */
enum woff2_state woff2_decompress(
	struct view *view, uint64_t *at, uint64_t end, uint64_t plain_len);

#endif
