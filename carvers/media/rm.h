/* RealMedia (rm.c) and the older RealAudio (rm_audio.c). */
#ifndef BURIN_CARVERS_MEDIA_RM_H
#define BURIN_CARVERS_MEDIA_RM_H

#include <stdbool.h>

#include "carver.h"

/* A RealAudio file of version 3 to 5. */
enum verdict rm_audio(struct view *view, struct finding *finding);

/* Whether a chunk of RealMedia is at `at`. */
bool rm_is_chunk(struct view *view, uint64_t at);

#endif
