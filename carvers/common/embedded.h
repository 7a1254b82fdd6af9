/* Files of other formats that stand in a file as parts of it: pictures in tags, frames in films. */
#ifndef BURIN_CARVERS_COMMON_EMBEDDED_H
#define BURIN_CARVERS_COMMON_EMBEDDED_H

#include "carver.h"

/* How many bytes of a tag's value may stand in front of its picture: kinds, names, descriptions. */
#define EMBEDDED_LOOK 512

/* Names what begins as a picture, sound, film, font, document or archive in [at, end), and in the
 * first `look` bytes there, as embedded (view_embedded). */
void embedded_find(struct view *view, uint64_t at, uint64_t end, size_t look);

#endif
