/* Whether tables of samples can be that, entry by entry: where another file's bytes begin in a description. */
#ifndef BURIN_CARVERS_MEDIA_MP4_TABLES_H
#define BURIN_CARVERS_MEDIA_MP4_TABLES_H

#include "bmff.h"

/* Checks the boxes in moov, and the entries of tables in them, up to the end of the view if that is in moov. False: *broken is
 * where a box or an entry is invalid. */
bool mp4_tables_check(struct view *view, const struct bmff_box *moov, uint64_t *broken);

#endif
