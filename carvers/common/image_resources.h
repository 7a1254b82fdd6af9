/* Photoshop's image resources, which PSD, TIFF and JPEG files hold. */
#ifndef BURIN_CARVERS_COMMON_IMAGE_RESOURCES_H
#define BURIN_CARVERS_COMMON_IMAGE_RESOURCES_H

#include <stdbool.h>

#include "carver.h"

struct image_resource {
	unsigned id;
	uint64_t data, len;
};

/* Reads the resource at *at, and moves *at to the next one. False: there is none before end. */
bool image_resources_next(
	struct view *view, uint64_t *at, uint64_t end, struct image_resource *resource);

/* Whether it is a thumbnail; then where its JPEG is. */
bool image_resources_thumbnail(
	const struct image_resource *resource, uint64_t *thumbnail, uint64_t *len);

/* Declares (view_embedded, view_holds) what the resources in [at, end) have: thumbnails, EXIF, XMP, profiles. */
void image_resources_name(struct view *view, uint64_t at, uint64_t end);

#endif
