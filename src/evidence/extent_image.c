#include "evidence/extent_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/backend.h"

/* Ranges are of sectors at least; where they are not, a failure costs a sector all the same. */
#define SECTOR_LEN 512

struct extent_image {
	struct image image;
	struct image *evidence;
	const struct range *ranges;
	uint64_t *starts; /* offsets here at which the ranges begin, count + 1 of them */
	size_t count;
};

static const struct image_backend extent_image_backend;

static const struct extent_image *as_gathered(const struct image *image)
{
	return image->backend == &extent_image_backend ? (const struct extent_image *)image : NULL;
}

/* The range with the byte at offset, which is inside. */
static size_t range_at(const struct extent_image *gathered, uint64_t offset)
{
	size_t low = 0, high = gathered->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (gathered->starts[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int extent_image_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	const struct extent_image *gathered = as_gathered(image);
	size_t i = range_at(gathered, offset);
	uint8_t *to = buffer;

	for (; len; i++) {
		uint64_t inside = offset - gathered->starts[i];
		uint64_t left = gathered->ranges[i].length - inside;
		size_t piece_len = left < len ? (size_t)left : len;
		int status = image_read_at(
			gathered->evidence, gathered->ranges[i].offset + inside, to, piece_len);

		if (status)
			return status;
		offset += piece_len;
		to += piece_len;
		len -= piece_len;
	}
	return 0;
}

static void extent_image_close(struct image *image)
{
	struct extent_image *gathered = (struct extent_image *)image;

	free(gathered->starts);
	free(gathered);
}

/* Why a byte can't be read is asked of the evidence. */
static const struct image_backend extent_image_backend = {
	.name = "gathered",
	.read_at = extent_image_read_at,
	.close = extent_image_close,
};

struct image *extent_image_open(struct image *evidence, const struct ranges *ranges)
{
	struct extent_image *gathered = xcalloc(1, sizeof(*gathered));
	struct image_info *info = &gathered->image.info;

	gathered->image.backend = &extent_image_backend;
	gathered->image.read_unit =
		evidence->read_unit < SECTOR_LEN ? evidence->read_unit : SECTOR_LEN;
	gathered->evidence = evidence;
	gathered->ranges = ranges->items;
	gathered->count = ranges->count;
	gathered->starts = xcalloc(ranges->count + 1, sizeof(*gathered->starts));
	for (size_t i = 0; i < ranges->count; i++)
		gathered->starts[i + 1] = gathered->starts[i] + ranges->items[i].length;
	info->format = evidence->info.format;
	info->sector_size = evidence->info.sector_size;
	info->size = gathered->starts[ranges->count];
	info->path_count = evidence->info.path_count;
	info->paths = xcalloc(info->path_count, sizeof(*info->paths));
	for (size_t i = 0; i < info->path_count; i++)
		info->paths[i] = xstrdup(evidence->info.paths[i]);
	return &gathered->image;
}

struct image *extent_image_evidence(struct image *image)
{
	const struct extent_image *gathered = as_gathered(image);

	return gathered ? gathered->evidence : image;
}

uint64_t extent_image_place(const struct image *image, uint64_t offset)
{
	const struct extent_image *gathered = as_gathered(image);
	size_t i;

	if (!gathered)
		return offset;
	i = range_at(gathered, offset);
	return gathered->ranges[i].offset + (offset - gathered->starts[i]);
}

uint64_t extent_image_offset(const struct image *image, uint64_t place)
{
	const struct extent_image *gathered = as_gathered(image);
	size_t low = 0, high = gathered ? gathered->count : 0;

	if (!gathered)
		return place < image->info.size ? place : image->info.size;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct range *range = &gathered->ranges[middle];

		if (range->offset + range->length <= place)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == gathered->count || gathered->ranges[low].offset >= place)
		return gathered->starts[low];
	return gathered->starts[low] + (place - gathered->ranges[low].offset);
}

bool extent_image_find(const struct image *image, uint64_t place, uint64_t *offset, uint64_t *len)
{
	const struct extent_image *gathered = as_gathered(image);
	const struct range *range;
	size_t i;

	*offset = extent_image_offset(image, place);
	if (*offset >= image->info.size || extent_image_place(image, *offset) != place)
		return false;
	*len = image->info.size - *offset;
	if (gathered) {
		i = range_at(gathered, *offset);
		range = &gathered->ranges[i];
		*len = range->length - (place - range->offset);
	}
	return true;
}

struct range *extent_image_runs(
	const struct image *image, uint64_t offset, uint64_t length, size_t *count)
{
	const struct extent_image *gathered = as_gathered(image);
	size_t first, last;
	struct range *runs;

	if (!gathered || !length) {
		runs = xmalloc(sizeof(*runs));
		*runs = (struct range){ extent_image_place(image, offset), length };
		*count = 1;
		return runs;
	}
	first = range_at(gathered, offset);
	last = range_at(gathered, offset + length - 1);
	*count = last - first + 1;
	runs = xcalloc(*count, sizeof(*runs));
	memcpy(runs, gathered->ranges + first, *count * sizeof(*runs));
	runs[0].offset += offset - gathered->starts[first];
	runs[0].length -= offset - gathered->starts[first];
	runs[*count - 1].length -= gathered->starts[last + 1] - (offset + length);
	return runs;
}
