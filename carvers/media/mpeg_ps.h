/* What program streams tell about the video in them. */
#ifndef BURIN_CARVERS_MEDIA_MPEG_PS_H
#define BURIN_CARVERS_MEDIA_MPEG_PS_H

#include <stdbool.h>

#include "carver.h"

/* Whether a pack stands at `at`, or a packet that leads to a further one. */
bool mpeg_ps_continues(struct view *view, uint64_t at);

#endif
