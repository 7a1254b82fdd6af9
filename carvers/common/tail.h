/* Whether data that is stored as it is goes on to its end as it began. */
#ifndef BURIN_CARVERS_COMMON_TAIL_H
#define BURIN_CARVERS_COMMON_TAIL_H

#include <stdbool.h>

#include "carver.h"

enum tail {
	TAIL_GOES_ON, /* the last bytes are what those before let expect */
	TAIL_FOREIGN, /* others begin at *at, to about 32 bytes */
	TAIL_UNKNOWN, /* they can't be foretold: noise, or too few to tell */
};

/* Looks at the stored bytes [start, end), rows of row_len bytes, pixels of pixel_len (both at
 * least 1), the last 64 KiB of them. Fewer than 32 bytes go on: they are too few to lose. */
enum tail tail_check(struct view *view, uint64_t start, uint64_t end, uint64_t row_len,
	uint64_t pixel_len, uint64_t *at);

/* Whether the last bytes of [start, end), which no structure bears out, are a handful, or text
 * (UTF-8), or numbers, most of whose bytes are 0: neither coded data nor random bytes look so, and
 * what was wiped has more zeros. Not for coded data, behind which text may stand. */
bool tail_is_plain(struct view *view, uint64_t start, uint64_t end);

#endif
