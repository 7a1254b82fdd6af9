/* What PostScript files and the DOS form of EPS share. */
#ifndef BURIN_CARVERS_DOCUMENTS_PS_H
#define BURIN_CARVERS_DOCUMENTS_PS_H

#include <stdbool.h>

#include "carver.h"

enum ps_end {
	PS_NONE,    /* no PostScript starts here */
	PS_WHOLE,   /* up to what ends a document */
	PS_MISSING, /* text up to something else, without an end: it may have none */
	PS_BINARY,  /* data that is not announced, behind which an end was found */
	PS_BROKEN,  /* data that is not announced, and no end */
	PS_CUT,     /* the view ends */
};

struct ps {
	uint64_t end; /* behind the document; if it is none of PS_WHOLE: behind what is sound */
	uint64_t broken_at;
	const char *extension;
	char title[128];
	unsigned comment_count; /* structuring comments that were seen */
	bool trailer;
};

/* Walks the PostScript that starts at `start` and ends before `limit`. */
enum ps_end ps_walk(struct view *view, uint64_t start, uint64_t limit, struct ps *ps);

#endif
