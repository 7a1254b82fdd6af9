/* Monkey's Audio, also after a tag. */
#ifndef BURIN_CARVERS_MEDIA_APE_H
#define BURIN_CARVERS_MEDIA_APE_H

#include "carver.h"

/* Checks the file whose 'MAC ' is at `at`; the finding's length counts from the view's start. */
enum verdict ape_check(struct view *view, uint64_t at, struct finding *finding);

#endif
