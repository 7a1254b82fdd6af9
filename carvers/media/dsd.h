/* What both formats of direct stream digital sound (dsf.c, dff.c) share: bits, of which nothing
 * tells which are right. */
#ifndef BURIN_CARVERS_MEDIA_DSD_H
#define BURIN_CARVERS_MEDIA_DSD_H

#include <stdbool.h>

#include "carver.h"

/* Where in the sound [start, end) a wiped area begins that reaches up to end; end when none
 * does. Silence is not made of zeros. */
uint64_t dsd_valid_end(struct view *view, uint64_t start, uint64_t end);

/* Whether an ID3v2 tag fills [at, end) with frames and zeros; it sets title and date. */
bool dsd_tag_is_valid(struct view *view, struct finding *finding, uint64_t at, uint64_t end);

#endif
