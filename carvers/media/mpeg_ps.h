/* MPEG program streams, as far as the check of video streams needs them. */
#ifndef BURIN_CARVERS_MEDIA_MPEG_PS_H
#define BURIN_CARVERS_MEDIA_MPEG_PS_H

#include <stdbool.h>

#include "carver.h"

/* Whether a pack is at `at`, or a packet that leads to another one. */
bool mpeg_ps_continues(struct view *view, uint64_t at);

#endif
