/* FLAC, also after a tag. */
#ifndef BURIN_CARVERS_MEDIA_FLAC_H
#define BURIN_CARVERS_MEDIA_FLAC_H

#include "carver.h"

/* Checks the stream whose 'fLaC' is at `at`; the finding's length counts from the view's start. from: where frames go on,
 * or NULL. */
enum verdict flac_check(
	struct view *view, uint64_t at, const struct carve_state *from, struct finding *finding);

#endif
