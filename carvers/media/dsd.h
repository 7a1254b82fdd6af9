/* What both formats of direct stream digital audio (dsf.c, dff.c) share: bits, any of which are
 * valid. */
#ifndef BURIN_CARVERS_MEDIA_DSD_H
#define BURIN_CARVERS_MEDIA_DSD_H

#include <stdbool.h>

#include "carver.h"

/* Where in the audio [start, end) a wiped area begins that reaches to end; end if none does.
 * Silence does not consist of zeros. */
uint64_t dsd_valid_end(struct view *view, uint64_t start, uint64_t end);

/* Whether an ID3v2 tag fills [at, end) with frames and zeros; sets title and date. */
bool dsd_tag_is_valid(struct view *view, struct finding *finding, uint64_t at, uint64_t end);

#endif
