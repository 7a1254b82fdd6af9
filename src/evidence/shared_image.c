#include "evidence/shared_image.h"

#include "base/file.h"
#include "base/memory.h"
#include "evidence/backend.h"
#include "evidence/extent_image.h"

struct shared_image {
	struct image image; /* the evidence */
	struct shared_part *parts;
	size_t part_count;
	int descriptors[SANDBOX_DESCRIPTORS];
	shared_image_ask *ask;
};

/* The part with the byte at offset, or the next; NULL: there are no more. */
static const struct shared_part *part_from(const struct shared_image *shared, uint64_t offset)
{
	for (size_t i = 0; i < shared->part_count; i++)
		if (offset - shared->parts[i].offset < shared->parts[i].len ||
			offset < shared->parts[i].offset)
			return &shared->parts[i];
	return NULL;
}

static int read_part(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	const struct shared_image *shared = state;
	const struct shared_part *part = part_from(shared, offset);
	bool has_it = part && part->offset <= offset;
	uint64_t left = *len;

	if (has_it)
		left = part->offset + part->len - offset;
	else if (part)
		left = part->offset - offset;
	if (left < *len)
		*len = (size_t)left;
	if (has_it && !file_read_all_at(shared->descriptors[part->descriptor], to, *len,
			      part->fd_offset + (offset - part->offset)))
		return 0;
	if (*len > SHARED_ASK_MAX)
		*len = SHARED_ASK_MAX;
	return shared->ask(offset, to, *len);
}

static int shared_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, read_part);
}

static const struct image_backend shared_backend = {
	.name = "shared",
	.read_at = shared_read_at,
};

static void load_parts(struct shared_image *shared, size_t descriptors, struct codec_reader *reader)
{
	shared->part_count = (size_t)codec_get(reader, SHARED_PARTS_MAX);
	shared->parts = xcalloc(shared->part_count, sizeof(*shared->parts));
	for (size_t i = 0; i < shared->part_count; i++) {
		struct shared_part *part = &shared->parts[i];

		part->offset = codec_get(reader, shared->image.info.size);
		part->len = codec_get(reader, shared->image.info.size - part->offset);
		part->fd_offset = codec_get(reader, INT64_MAX);
		part->descriptor = (uint32_t)codec_get(reader, descriptors - 1);
	}
}

struct image *shared_image_open(struct codec_reader *reader, const int *descriptors, size_t count,
	shared_image_ask *ask, bool (*interrupted)(void))
{
	struct shared_image *shared = xcalloc(1, sizeof(*shared));
	struct image_info *info = &shared->image.info;

	shared->image.backend = &shared_backend;
	shared->ask = ask;
	for (size_t i = 0; i < count && i < SANDBOX_DESCRIPTORS; i++)
		shared->descriptors[i] = descriptors[i];
	info->format = shared_backend.name;
	info->size = codec_get(reader, INT64_MAX);
	info->sector_size = (uint32_t)codec_get(reader, UINT32_MAX);
	shared->image.read_unit = (uint32_t)codec_get(reader, UINT32_MAX);
	image_set_interrupted(&shared->image, interrupted);
	ranges_load(&shared->image.unread, UINT64_MAX, reader);
	load_parts(shared, count, reader);
	if (!codec_ok(reader) || !shared->image.read_unit)
		return NULL;
	return extent_image_load(&shared->image, reader);
}
