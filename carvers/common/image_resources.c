/*
 * Adobe Photoshop File Formats Specification, "Image Resources Section": each resource is `8BIM`, a
 * number (2 bytes), a name (a length of one byte, text, padded to an even length), a length (4
 * bytes) and data, padded to an even length. A thumbnail is a JPEG after 28 bytes.
 */
#include "image_resources.h"

#include <string.h>

#include "bytes.h"

enum {
	RESOURCE_HEAD_LEN = 7,
	OLD_THUMBNAIL = 0x409,
	THUMBNAIL = 0x40c,
	THUMBNAIL_HEAD_LEN = 28,
};

void image_resources_name(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p;
	uint64_t data, len;
	unsigned id;

	while (at < end && (p = view_peek(view, at, RESOURCE_HEAD_LEN)) &&
		memcmp(p, "8BIM", 4) == 0) {
		id = be16(p + 4);
		data = at + 6 + (p[6] + 2u) / 2 * 2;
		p = view_peek(view, data, 4);
		if (!p)
			return;
		len = be32(p);
		data += 4;
		if (data > end || len > end - data)
			return;
		if (id == THUMBNAIL || id == OLD_THUMBNAIL)
			view_embedded(view, data + THUMBNAIL_HEAD_LEN);
		else
			view_holds(view, data, data + len);
		at = data + len + (len & 1);
	}
}
