/* What cameras and their programs append to a picture, behind its own end. */
#ifndef BURIN_CARVERS_PICTURES_TRAILER_H
#define BURIN_CARVERS_PICTURES_TRAILER_H

#include <stdbool.h>

#include "carver.h"

/* Behind all of that which starts at `at`; `at` itself when there is nothing. */
uint64_t trailer_end(struct view *view, uint64_t at);

/* Whether a trailer of Canon's begins at `at`, be its end there or not. */
bool trailer_begins(struct view *view, uint64_t at);

/* The end of a video, a file of ISO base media, that starts at `at`: phones append one that says
 * so. */
uint64_t trailer_video_end(struct view *view, uint64_t at);

#endif
