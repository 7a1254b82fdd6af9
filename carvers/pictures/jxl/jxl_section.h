/* What of a JPEG XL frame's sections can be decoded. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_SECTION_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_SECTION_H

#include "jxl_frame.h"

struct jxl_checked {
	bool begun; /* the first section's start is sound */
	bool broken;
	uint64_t sound;     /* if so: behind what is sound, if one is broken */
	uint64_t broken_at; /* the section's start */
	bool borne_out;     /* the last section was decoded, and ends where it should */
	unsigned proof;     /* bits that chance would hardly have made as they are */
};

/* Decodes the first section's start, and the last section if it is in modular mode and not behind
 * the limit; nothing once no work may be done any more. */
void jxl_sections_check(struct view *view, const struct jxl_image *image,
	const struct jxl_frame *frame, uint64_t limit, uint64_t *work, struct jxl_checked *checked);

#endif
