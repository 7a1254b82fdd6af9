/* Photoshop's image resources, which PSD, TIFF and JPEG files hold. */
#ifndef BURIN_CARVERS_COMMON_IMAGE_RESOURCES_H
#define BURIN_CARVERS_COMMON_IMAGE_RESOURCES_H

#include "carver.h"

/* Declares (view_embedded, view_holds) what the resources in [at, end) have: thumbnails, EXIF, XMP, profiles. */
void image_resources_name(struct view *view, uint64_t at, uint64_t end);

#endif
