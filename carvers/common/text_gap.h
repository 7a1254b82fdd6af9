/* Whether another file's text lies within a text. */
#ifndef BURIN_CARVERS_COMMON_TEXT_GAP_H
#define BURIN_CARVERS_COMMON_TEXT_GAP_H

#include <stdbool.h>

#include "carver.h"

/* Finds clusters [*from, *to) within the first `end` bytes of a text that are unlike what is before and after them,
 * and change within a few bytes of both places; with to_end also such as go on to there (*to is `end`), as which texts of several
 * parts look. False: there are none. */
bool text_gap_find(struct view *view, uint64_t end, bool to_end, uint64_t *from, uint64_t *to);

/* The verdict on a text that is whole up to finding->length, where another one is in these clusters: CARVE_UNVERIFIED; where a
 * file in pieces is put together, CARVE_TRUNCATED with the length up to them. */
enum verdict text_gap_found(struct view *view, struct finding *finding, uint64_t from, uint64_t to);

/* The same, or CARVE_COMPLETE if text_gap_find finds none, and base64_find_cut neither. */
enum verdict text_gap_verdict(struct view *view, bool to_end, struct finding *finding);

#endif
