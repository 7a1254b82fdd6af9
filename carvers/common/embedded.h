/* Files of other formats that a file contains: pictures in tags, frames in films. */
#ifndef BURIN_CARVERS_COMMON_EMBEDDED_H
#define BURIN_CARVERS_COMMON_EMBEDDED_H

#include "carver.h"

/* How many bytes of a tag's value may precede its picture: kinds, names, descriptions. */
#define EMBEDDED_SEARCH_LEN 512

/* Declares (view_embedded) what starts like a picture, audio, film, font, document or archive in
 * [at, end), within the first search_len bytes. */
void embedded_find(struct view *view, uint64_t at, uint64_t end, size_t search_len);

/* The same for all of [at, end): parts of a file that nothing verifies, or whose places are not known. */
void embedded_find_all(struct view *view, uint64_t at, uint64_t end);

#endif
