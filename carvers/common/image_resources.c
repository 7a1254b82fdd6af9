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

bool image_resources_next(
	struct view *view, uint64_t *at, uint64_t end, struct image_resource *resource)
{
	const uint8_t *p = *at < end ? view_peek(view, *at, RESOURCE_HEAD_LEN) : NULL;

	if (!p || memcmp(p, "8BIM", 4) != 0)
		return false;
	resource->id = be16(p + 4);
	resource->data = *at + 6 + (p[6] + 2u) / 2 * 2 + 4;
	p = view_peek(view, resource->data - 4, 4);
	if (!p)
		return false;
	resource->len = be32(p);
	if (resource->data > end || resource->len > end - resource->data)
		return false;
	*at = resource->data + resource->len + (resource->len & 1);
	return true;
}

bool image_resources_thumbnail(
	const struct image_resource *resource, uint64_t *thumbnail, uint64_t *len)
{
	if ((resource->id != THUMBNAIL && resource->id != OLD_THUMBNAIL) ||
		resource->len < THUMBNAIL_HEAD_LEN)
		return false;
	*thumbnail = resource->data + THUMBNAIL_HEAD_LEN;
	*len = resource->len - THUMBNAIL_HEAD_LEN;
	return true;
}

void image_resources_name(struct view *view, uint64_t at, uint64_t end)
{
	struct image_resource resource;
	uint64_t thumbnail, len;

	while (image_resources_next(view, &at, end, &resource))
		if (image_resources_thumbnail(&resource, &thumbnail, &len))
			view_embedded(view, thumbnail);
		else
			view_holds(view, resource.data, resource.data + resource.len);
}
