/* Title, date and extension of an MP4 file. */
#ifndef BURIN_CARVERS_MEDIA_MP4_H
#define BURIN_CARVERS_MEDIA_MP4_H

#include "bmff.h"

/* Title and time from the boxes in 'moov'. */
void mp4_read_details(struct view *view, const struct bmff_box *moov, struct finding *finding);

/* The extension by brand (0: none), or by what its tracks hold. */
const char *mp4_extension(uint32_t brand, bool pictures, bool audio);

/* Names the pictures of a film from `at` on, in media data without description, as embedded. Returns the end of the
 * last one that is whole. */
uint64_t mp4_name_frames(struct view *view, uint64_t at, uint64_t end);

#endif
