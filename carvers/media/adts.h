/* AAC in ADTS frames, also after a tag. */
#ifndef BURIN_CARVERS_MEDIA_ADTS_H
#define BURIN_CARVERS_MEDIA_ADTS_H

#include <stdbool.h>

#include "carver.h"

/* Whether these four bytes can open a frame. */
bool adts_is_header(const uint8_t *p);

/* Checks the frames from `at` on. After a tag (`tagged`) a single one is enough. The finding's
 * length counts from the view's start. */
enum verdict adts_check(struct view *view, uint64_t at, bool tagged, struct finding *finding);

#endif
