/* Shared by PostScript files and the DOS form of EPS. */
#ifndef BURIN_CARVERS_DOCUMENTS_PS_H
#define BURIN_CARVERS_DOCUMENTS_PS_H

#include <stdbool.h>

#include "carver.h"

/* With fewer structuring comments it is not clear that a program follows the conventions. */
#define PS_COMMENTS_MIN 3
#define PS_OPERATORS_MIN 4

enum ps_end {
	PS_NONE,    /* not PostScript */
	PS_WHOLE,   /* up to a document's end */
	PS_MISSING, /* text up to something else, without an end: it may have none */
	PS_BINARY,  /* unannounced data, followed by an end */
	PS_BROKEN,  /* unannounced data, and no end */
	PS_CUT,     /* the view ends */
};

struct ps {
	uint64_t end; /* of the document; for other results than PS_WHOLE: validated up to here */
	uint64_t broken_at;
	bool reads_data; /* the line before it reads data from the file */
	char extension[4];
	char title[128];
	unsigned comment_count; /* structuring comments that were seen */
	uint64_t comment_end;   /* of the last of them */
	unsigned
		operator_count; /* lines that end with one that most programs have, up to PS_OPERATORS_MIN */
	uint64_t line_at; /* PS_CUT: where the last line begins, whose end is missing */
	bool trailer;
	unsigned page_number,
		page_jumps; /* of the last page, 0: none; how often it is not the next one */
	unsigned pages, pages_stated; /* that begin with a comment; the number in a comment, or 0 */
};

/* Walks the PostScript that starts at `start` and ends before `limit`. from: a state that such a walk saved, or NULL. */
enum ps_end ps_walk(struct view *view, const struct carve_state *from, uint64_t start,
	uint64_t limit, struct ps *ps);

#endif
