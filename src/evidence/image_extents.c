#include "evidence/image_extents.h"

#include <errno.h>

int64_t image_read_extents(struct image *image, const struct range *extents, size_t count,
	uint64_t offset, void *buffer, size_t len, bool zeros)
{
	uint8_t *to = buffer;
	size_t done = 0;

	for (size_t i = 0; i < count && done < len; i++) {
		const struct range *extent = &extents[i];
		size_t part = len - done;

		if (offset >= extent->length) {
			offset -= extent->length;
			continue;
		}
		if (part > extent->length - offset)
			part = (size_t)(extent->length - offset);
		if (zeros)
			image_read_around(image, extent->offset + offset, to + done, part);
		else if (image_read_at(image, extent->offset + offset, to + done, part))
			return -EIO;
		done += part;
		offset = 0;
	}
	return (int64_t)done;
}
