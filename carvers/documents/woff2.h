/* Fonts of WOFF 2.0: the stream that contains all their compressed tables. */
#ifndef BURIN_CARVERS_DOCUMENTS_WOFF2_H
#define BURIN_CARVERS_DOCUMENTS_WOFF2_H

#include <stdbool.h>

#include "carver.h"

#define WOFF2_TABLES_MAX 512

struct woff2_table {
	uint32_t tag, len, plain_len; /* len: of what is compressed */
	bool is_transformed;
};

struct woff2_tables {
	uint32_t count;                             /* at most WOFF2_TABLES_MAX */
	uint64_t all_len;                           /* of what is compressed, of all */
	struct woff2_table items[WOFF2_TABLES_MAX]; /* in the order in which they are compressed */
};

enum woff2_state {
	WOFF2_DONE,    /* it ends where it should, and yields as many bytes as the tables have */
	WOFF2_BROKEN,  /* it does not, from about *at on */
	WOFF2_CUT,     /* nothing is wrong up to the view's end, and it goes on */
	WOFF2_REFUSED, /* it would yield too much */
	WOFF2_NONE,    /* no table directory, at *at */
};

/* Walks the directory of tables->count tables, and the fonts of a collection, after the header; *at is
 * set to their end, where the compressed tables start. */
enum woff2_state woff2_directory(
	struct view *view, bool collection, uint64_t *at, struct woff2_tables *tables);

/* Decompresses the tables [*at, end), which should yield plain_len bytes; plain: NULL, or where they go, and one byte
 * more. */
enum woff2_state woff2_decompress(
	struct view *view, uint64_t *at, uint64_t end, uint64_t plain_len, uint8_t *plain);

#endif
