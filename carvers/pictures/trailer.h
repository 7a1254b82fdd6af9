/* What cameras and their programs append to a picture, after its own end. */
#ifndef BURIN_CARVERS_PICTURES_TRAILER_H
#define BURIN_CARVERS_PICTURES_TRAILER_H

#include <stdbool.h>

#include "carver.h"

/* The end of the trailers that start at `at`; `at` itself when there are none. */
uint64_t trailer_end(struct view *view, uint64_t at);

/* Whether a trailer of Canon's starts at `at`, even if its end is missing. */
bool trailer_begins(struct view *view, uint64_t at);

/* The end of a video, an ISO base media file, that a phone appended at `at`; `at` itself when there
 * is none. */
uint64_t trailer_video_end(struct view *view, uint64_t at);

#endif
