/* Icons and cursors, in files of their own and in animated cursors. */
#ifndef BURIN_CARVERS_PICTURES_ICO_H
#define BURIN_CARVERS_PICTURES_ICO_H

#include <stdbool.h>

#include "carver.h"

#define ICO_HEAD_LEN 6
#define ICO_ENTRY_LEN 16

enum ico_state {
	ICO_DONE,
	ICO_CUT,    /* the view ends before ico->end */
	ICO_BROKEN, /* ico->problem at ico->at */
};

struct ico {
	uint64_t end;       /* end of all images */
	uint64_t valid_end; /* end of what was recognised */
	uint64_t at;
	const char *problem;
	const char *odd; /* a reason for doubt, or NULL */
	bool agrees;     /* the only doubt is that nothing verifies the last pixels */
	bool cursor;
	bool unproved; /* the last image's pixels do not continue to its end, as far as they show */
	int images;    /* recognised ones */
	uint64_t pixels, row_len; /* of the last one; 0: it is a PNG */
	uint64_t mask;            /* ... if its pixels have an alpha channel; else 0 */
	bool assembles;           /* it is put together, and all is checked */
};

/* Reads the head, before `count` entries. False: it is none. */
bool ico_read_head(struct view *view, uint64_t base, struct ico *ico, uint32_t *count);

/* Walks the icon or cursor that starts at base; all offsets of the result count from the view's
 * start. */
enum ico_state ico_walk(struct view *view, uint64_t base, struct ico *ico);

/* For icons in pieces (ico_map.c). */
extern const struct carve_map ico_map;

#endif
