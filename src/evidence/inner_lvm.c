/*
 * Logical volumes of Linux's LVM. burin-evidence reads where their bytes are (lvm_group.h); here they are read,
 * at the speed of the image around them.
 */
#include "evidence/inner_kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/lvm_group.h"

#define SECTOR_LEN 512

struct lvm {
	struct image image; /* first */
	uint64_t begin;     /* of the physical volume, in the outer image */
	struct lvm_segment *segments;
	size_t count;
};

/* ---- reading ------------------------------------------------------------------------------- */

static const struct lvm_segment *find_segment(const struct lvm *lvm, uint64_t offset)
{
	size_t low = 0, high = lvm->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (lvm->segments[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return &lvm->segments[low];
}

/* Where the byte is in the outer image, or ELSEWHERE, and how many follow it there. */
static uint64_t find_place(const struct lvm *lvm, uint64_t offset, uint64_t *len)
{
	const struct lvm_segment *segment = find_segment(lvm, offset);
	uint64_t inside = offset - segment->offset;
	uint64_t row = inside / segment->stripe_len, within = inside % segment->stripe_len;
	uint64_t begin = segment->stripes[row % segment->stripe_count];

	*len = segment->stripe_len - within;
	if (*len > segment->length - inside)
		*len = segment->length - inside;
	return begin == LVM_ELSEWHERE
		       ? begin
		       : lvm->begin + begin + row / segment->stripe_count * segment->stripe_len +
				 within;
}

static int read_extent(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	const struct lvm *lvm = state;
	uint64_t extent_len, place = find_place(lvm, offset, &extent_len);

	if (extent_len < *len)
		*len = (size_t)extent_len;
	return place == LVM_ELSEWHERE || image_read_at(lvm->image.outer, place, to, *len) ? -EIO
											  : 0;
}

static int lvm_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, read_extent);
}

static char *lvm_why(struct image *image, uint64_t offset)
{
	uint64_t len, place = find_place((struct lvm *)image, offset, &len);

	if (place == LVM_ELSEWHERE)
		return xstrdup("it is on another physical volume of the group");
	if (place >= image->outer->info.size)
		return xstrdup("the image ends before the physical volume does");
	return image_why(image->outer, place, &len);
}

static void lvm_close(struct image *image)
{
	struct lvm *lvm = (struct lvm *)image;

	free(lvm->segments);
	free(lvm);
}

static const struct image_backend lvm_backend = {
	.name = "lvm",
	.read_at = lvm_read_at,
	.why = lvm_why,
	.close = lvm_close,
};

/* ---- the kind ------------------------------------------------------------------------------ */

/* Whether it follows the one before, and all of it can be addressed. */
static bool is_next(const struct lvm *lvm, const struct lvm_segment *segment)
{
	if (segment->offset != lvm->image.info.size || !segment->length ||
		segment->length > INT64_MAX - segment->offset || !segment->stripe_len ||
		!segment->stripe_count || segment->stripe_count > LVM_STRIPES_MAX)
		return false;
	for (uint64_t i = 0; i < segment->stripe_count; i++)
		if (segment->stripes[i] != LVM_ELSEWHERE &&
			segment->stripes[i] > INT64_MAX - segment->length)
			return false;
	return true;
}

static struct image *lvm_build(const void *layout, size_t len, const struct volume *volume)
{
	struct lvm *lvm = xcalloc(1, sizeof(*lvm));
	bool good = len && len % sizeof(*lvm->segments) == 0;

	lvm->image.backend = &lvm_backend;
	lvm->image.read_unit = SECTOR_LEN;
	lvm->image.info.sector_size = SECTOR_LEN;
	lvm->begin = volume->offset;
	lvm->count = len / sizeof(*lvm->segments);
	lvm->segments = xmalloc(len + 1);
	memcpy(lvm->segments, layout, len);
	for (size_t i = 0; i < lvm->count && good; i++) {
		good = is_next(lvm, &lvm->segments[i]);
		lvm->image.info.size += lvm->segments[i].length;
	}
	if (good)
		return &lvm->image;
	lvm_close(&lvm->image);
	return NULL;
}

static const char *const file_systems[] = { "LVM2", NULL };

const struct inner_kind inner_lvm = {
	.name = "lvm",
	.file_systems = file_systems,
	.served = "lvm",
	.served_lists = true,
	.build = lvm_build,
};
