/* Whether what pictures carry beside their pixels can be what it says it is: where a file is put together, a cluster of another
 * file among it is not noticed otherwise. */
#ifndef BURIN_CARVERS_COMMON_METADATA_H
#define BURIN_CARVERS_COMMON_METADATA_H

#include <stdbool.h>

#include "carver.h"

/* Whether [at, end) is an XMP packet (ISO 16684-1, 7.3) in UTF-8: XML whose elements all end, and spaces. If not, *valid is up to
 * where it can be one, to some 64 bytes; NULL is fine. */
bool metadata_is_xmp(struct view *view, uint64_t at, uint64_t end, uint64_t *valid);

/* Whether [at, end) is an ICC profile (ICC.1:2022, 7): its length, its tags in it, each with a type, curves that rise, and its MD5 if it
 * has one. */
bool metadata_is_icc(struct view *view, uint64_t at, uint64_t end);

/* What EXIF data has. */
struct metadata_exif {
	uint64_t thumbnail, len; /* of a JPEG, where it is in the view; len 0: none */
	bool has_unknown; /* a value of a sector or more that only its program knows, such as a camera's notes: view_unverified */
};

/* Whether the EXIF data at [at, end), from its TIFF head on, has directories all of whose values are in it. */
bool metadata_is_exif(struct view *view, uint64_t at, uint64_t end, struct metadata_exif *exif);

#endif
