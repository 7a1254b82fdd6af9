/* What the two halves of the Matroska carver share. */
#ifndef BURIN_CARVERS_MEDIA_MKV_H
#define BURIN_CARVERS_MEDIA_MKV_H

#include "carver.h"

/* Of the file, of what is in it, and of what is in the segment. */
enum {
	ID_EBML = 0x1a45dfa3,
	ID_SEGMENT = 0x18538067,
	ID_CUES = 0x1c53bb6b,
	ID_CLUSTER = 0x1f43b675,
	ID_TAGS = 0x1254c367,
	ID_VOID = 0xec,
};

/* For files in pieces (mkv_map.c). */
extern const struct carve_map mkv_map;

#endif
