/* What program streams tell about the video in them. */
#ifndef BURIN_CARVERS_MEDIA_MPG_H
#define BURIN_CARVERS_MEDIA_MPG_H

#include <stdbool.h>

#include "carver.h"

/* Whether a pack stands at `at`, or a packet that leads to a further one. */
bool mpg_goes_on(struct view *view, uint64_t at);

#endif
