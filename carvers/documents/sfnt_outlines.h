/* How far the outlines in a font's table are outlines, where its checksum shows only that it is not whole. */
#ifndef BURIN_CARVERS_DOCUMENTS_SFNT_OUTLINES_H
#define BURIN_CARVERS_DOCUMENTS_SFNT_OUTLINES_H

#include "carver.h"

/* Of the table 'glyf' at [at, end): where the first bytes begin that are not a glyph, or the view's end, or `end`. `at`: nothing is known,
 * as the first ones are not as expected. */
uint64_t sfnt_glyphs_end(struct view *view, uint64_t at, uint64_t end);

/* The same of the table 'CFF ': where the first outline begins that does not end as one must, or the list of their places is no
 * longer one. */
uint64_t sfnt_charstrings_end(struct view *view, uint64_t at, uint64_t end);

#endif
