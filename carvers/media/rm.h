/* RealMedia (rm.c) and the older RealAudio (rm_audio.c). */
#ifndef BURIN_CARVERS_MEDIA_RM_H
#define BURIN_CARVERS_MEDIA_RM_H

#include "carver.h"

/* A RealAudio file of version 3 to 5. */
enum verdict rm_audio(struct view *view, struct finding *finding);

#endif
