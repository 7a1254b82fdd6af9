#include "evidence/extent_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/backend.h"

/* Ranges consist of sectors as a rule; where they do not, a failure costs a sector all the same. */
#define SECTOR_LEN 512

struct extent_image {
	struct image image;
	struct image *evidence;
	struct range
		*ranges;  /* the small ones, and from `main` on the others; rising in each part */
	uint64_t *starts; /* offsets in this image at which the ranges begin, count + 1 of them */
	size_t main, count;
};

static const struct image_backend extent_image_backend;

static const struct extent_image *as_extent_image(const struct image *image)
{
	return image->backend == &extent_image_backend ? (const struct extent_image *)image : NULL;
}

/* The range with the byte at offset, which is inside the image. */
static size_t range_at(const struct extent_image *extents, uint64_t offset)
{
	size_t low = 0, high = extents->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (extents->starts[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int read_range(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	const struct extent_image *extents = state;
	size_t i = range_at(extents, offset);
	uint64_t inside = offset - extents->starts[i];

	if (*len > extents->ranges[i].length - inside)
		*len = (size_t)(extents->ranges[i].length - inside);
	return image_read_at(extents->evidence, extents->ranges[i].offset + inside, to, *len);
}

static int extent_image_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, read_range);
}

static void extent_image_close(struct image *image)
{
	struct extent_image *extents = (struct extent_image *)image;

	free(extents->ranges);
	free(extents->starts);
	free(extents);
}

/* It has no `why`: the evidence is asked instead. */
static const struct image_backend extent_image_backend = {
	.name = "extents",
	.read_at = extent_image_read_at,
	.close = extent_image_close,
};

struct image *extent_image_open(
	struct image *evidence, const struct ranges *small, const struct ranges *ranges)
{
	struct extent_image *extents = xcalloc(1, sizeof(*extents));
	struct image_info *info = &extents->image.info;

	extents->image.backend = &extent_image_backend;
	extents->image.read_unit =
		evidence->read_unit < SECTOR_LEN ? evidence->read_unit : SECTOR_LEN;
	extents->image.interrupted = evidence->interrupted;
	extents->evidence = evidence;
	extents->main = small ? small->count : 0;
	extents->count = extents->main + ranges->count;
	extents->ranges = xcalloc(extents->count, sizeof(*extents->ranges));
	if (extents->main)
		memcpy(extents->ranges, small->items, extents->main * sizeof(*small->items));
	memcpy(extents->ranges + extents->main, ranges->items,
		ranges->count * sizeof(*ranges->items));
	extents->starts = xcalloc(extents->count + 1, sizeof(*extents->starts));
	for (size_t i = 0; i < extents->count; i++)
		extents->starts[i + 1] = extents->starts[i] + extents->ranges[i].length;
	info->format = evidence->info.format;
	info->sector_size = evidence->info.sector_size;
	info->size = extents->starts[extents->count];
	image_add_paths(info, &evidence->info);
	return &extents->image;
}

static void save_ranges(
	const struct extent_image *extents, size_t from, size_t to, struct codec_writer *writer)
{
	const struct ranges ranges = { extents->ranges + from, to - from, 0 };

	ranges_save(&ranges, UINT64_MAX, writer);
}

void extent_image_save(const struct image *image, struct codec_writer *writer)
{
	const struct extent_image *extents = as_extent_image(image);

	codec_put(writer, extents != NULL);
	if (!extents)
		return;
	save_ranges(extents, 0, extents->main, writer);
	save_ranges(extents, extents->main, extents->count, writer);
}

struct image *extent_image_load(struct image *evidence, struct codec_reader *reader)
{
	struct ranges small = { 0 }, ranges = { 0 };
	struct image *image = evidence;

	if (codec_get_flag(reader)) {
		ranges_load(&small, evidence->info.size, reader);
		ranges_load(&ranges, evidence->info.size, reader);
		image = small.count + ranges.count ? extent_image_open(evidence, &small, &ranges)
						   : NULL;
	}
	ranges_free(&small);
	ranges_free(&ranges);
	return codec_ok(reader) ? image : NULL;
}

struct image *extent_image_evidence(struct image *image)
{
	const struct extent_image *extents = as_extent_image(image);

	return extents ? extents->evidence : image;
}

uint64_t extent_image_to_evidence(const struct image *image, uint64_t offset)
{
	const struct extent_image *extents = as_extent_image(image);
	size_t i;

	if (!extents)
		return offset;
	i = range_at(extents, offset);
	return extents->ranges[i].offset + (offset - extents->starts[i]);
}

/* The first range from low to high that ends after evidence_offset; high: none. */
static size_t range_after(
	const struct extent_image *extents, size_t low, size_t high, uint64_t evidence_offset)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct range *range = &extents->ranges[middle];

		if (range->offset + range->length <= evidence_offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t extent_image_from_evidence(const struct image *image, uint64_t evidence_offset)
{
	const struct extent_image *extents = as_extent_image(image);
	size_t i;

	if (!extents)
		return evidence_offset < image->info.size ? evidence_offset : image->info.size;
	i = range_after(extents, extents->main, extents->count, evidence_offset);
	if (i == extents->count || extents->ranges[i].offset >= evidence_offset)
		return extents->starts[i];
	return extents->starts[i] + (evidence_offset - extents->ranges[i].offset);
}

uint64_t extent_image_main(const struct image *image)
{
	const struct extent_image *extents = as_extent_image(image);

	return extents ? extents->starts[extents->main] : 0;
}

bool extent_image_find(
	const struct image *image, uint64_t evidence_offset, uint64_t *offset, uint64_t *len)
{
	const struct extent_image *extents = as_extent_image(image);
	const struct range *range;
	size_t i;

	if (!extents) {
		if (evidence_offset >= image->info.size)
			return false;
		*offset = evidence_offset;
		*len = image->info.size - evidence_offset;
		return true;
	}
	i = range_after(extents, extents->main, extents->count, evidence_offset);
	if (i == extents->count || extents->ranges[i].offset > evidence_offset) {
		i = range_after(extents, 0, extents->main, evidence_offset);
		if (i == extents->main || extents->ranges[i].offset > evidence_offset)
			return false;
	}
	range = &extents->ranges[i];
	*offset = extents->starts[i] + (evidence_offset - range->offset);
	*len = range->length - (evidence_offset - range->offset);
	return true;
}

bool extent_image_run(
	const struct image *image, uint64_t offset, uint64_t length, struct range *run)
{
	const struct extent_image *extents = as_extent_image(image);

	*run = (struct range){ extent_image_to_evidence(image, offset), length };
	return !extents || range_at(extents, offset) == range_at(extents, offset + length - 1);
}

struct range *extent_image_runs(
	const struct image *image, uint64_t offset, uint64_t length, size_t *count)
{
	const struct extent_image *extents = as_extent_image(image);
	size_t first, last;
	struct range *runs;

	if (!extents || !length) {
		runs = xmalloc(sizeof(*runs));
		*runs = (struct range){ extent_image_to_evidence(image, offset), length };
		*count = 1;
		return runs;
	}
	first = range_at(extents, offset);
	last = range_at(extents, offset + length - 1);
	*count = last - first + 1;
	runs = xcalloc(*count, sizeof(*runs));
	memcpy(runs, extents->ranges + first, *count * sizeof(*runs));
	runs[0].offset += offset - extents->starts[first];
	runs[0].length -= offset - extents->starts[first];
	runs[*count - 1].length -= extents->starts[last + 1] - (offset + length);
	return runs;
}
