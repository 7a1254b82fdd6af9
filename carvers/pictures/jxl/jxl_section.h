/* Checks of the sections of a JPEG XL frame that can be decoded. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_SECTION_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_SECTION_H

#include "jxl_frame.h"

struct jxl_checked {
	bool begun; /* the start of the first section is valid */
	bool broken;
	uint64_t valid_end;    /* if so: how far the frame is valid, if a section is broken */
	uint64_t broken_at;    /* the section's start */
	bool confirmed_to_end; /* the last section was decoded, and ends where it should */
	unsigned proof;        /* bits whose values are unlikely to be chance */
};

/* Decodes the start of the first section, and the last section if it is in modular mode and inside
 * the limit; nothing once no more work may be done. */
void jxl_sections_check(struct view *view, const struct jxl_image *image,
	const struct jxl_frame *frame, uint64_t limit, uint64_t *work, struct jxl_checked *checked);

#endif
