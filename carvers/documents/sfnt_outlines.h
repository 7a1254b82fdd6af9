/* How far the outlines in a font's table are outlines, where its checksum shows only that it is not whole; and what they prove. */
#ifndef BURIN_CARVERS_DOCUMENTS_SFNT_OUTLINES_H
#define BURIN_CARVERS_DOCUMENTS_SFNT_OUTLINES_H

#include "carver.h"

#define SFNT_SUM_BITS 32 /* of a table's checksum; see view_proved */

/* Where a font has its glyphs, and what else it says of each. */
struct sfnt_glyphs {
	uint64_t at, end;           /* the table 'glyf' */
	uint64_t places;            /* the table 'loca', */
	uint64_t place_count;       /* and its entries, 0: it is not known, */
	unsigned width;             /* of 2 or 4 bytes */
	uint64_t metrics;           /* the table 'hmtx'; */
	uint64_t metrics_end;       /* the same: there is none */
	uint64_t full_metric_count; /* of four bytes, before those of two */
};

/* How far outlines of a table are as they must be: all 0 but `note` at first, later to go on from. */
struct sfnt_followed {
	uint64_t at;     /* those before it are */
	uint32_t number; /* of the next one */
	uint32_t count;  /* of them */
	/* NULL, or is called after each. Whether it looked at bytes of the view. */
	bool (*note)(struct sfnt_followed *followed);
	void *context;
};

/* Of the table 'glyf': where the first bytes begin that are not a glyph, or the view's end, or the table's. The table's start:
 * nothing is known, as the first ones are not as expected. The places, if they are known, have to be right. */
uint64_t sfnt_follow_glyphs(
	struct view *view, const struct sfnt_glyphs *glyphs, struct sfnt_followed *followed);

/* The same of the table 'CFF ' at [at, end): where the first outline begins that does not end as one must, or the list of their places
 * is no longer one. */
uint64_t sfnt_follow_charstrings(
	struct view *view, uint64_t at, uint64_t end, struct sfnt_followed *followed);

/* Whether the glyphs of a font whose checksums agree are where `loca` has them, all but a few, as some fonts have. Declares what they
 * prove (view_proved) of a joint before them, if it is the only one near; with the checksum, if the table has several joints. */
bool sfnt_prove_glyphs(struct view *view, const struct sfnt_glyphs *glyphs);
/* The same of the outlines of the table 'CFF ' at [at, end), which end as one must. */
bool sfnt_prove_charstrings(struct view *view, uint64_t at, uint64_t end);

#endif
