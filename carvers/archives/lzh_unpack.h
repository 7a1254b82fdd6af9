/* Decompresses members of LHA and ARJ archives. */
#ifndef BURIN_CARVERS_ARCHIVES_LZH_UNPACK_H
#define BURIN_CARVERS_ARCHIVES_LZH_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "carver.h"

enum lzh_method {
	LZH_STORED,
	LZH_LH4,
	LZH_LH5,
	LZH_LH6,
	LZH_LH7,
	LZH_ARJ,      /* ARJ's methods 1 to 3 */
	LZH_ARJ_FAST, /* 4 */
};

struct lzh_data {
	enum lzh_method method;
	uint64_t at, end;   /* of the compressed bytes */
	uint64_t plain_len; /* of what they yield */
	/* Gets that, piece by piece. */
	void (*take)(void *context, const uint8_t *bytes, size_t len);
	void *context;
};

enum lzh_state {
	LZH_DONE,   /* it yields as many bytes, and ends where it should */
	LZH_BROKEN, /* it does not, from *noticed on */
	LZH_CUT,    /* the view ends before, at *noticed, or the check's work is spent */
};

enum lzh_state lzh_unpack(struct view *view, const struct lzh_data *data, uint64_t *noticed);

#endif
