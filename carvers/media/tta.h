/* TrueAudio, also after a tag. */
#ifndef BURIN_CARVERS_MEDIA_TTA_H
#define BURIN_CARVERS_MEDIA_TTA_H

#include "carver.h"

/* Checks the file whose 'TTA1' is at `at`; the finding's length counts from the view's start. */
enum verdict tta_check(struct view *view, uint64_t at, struct finding *finding);

#endif
