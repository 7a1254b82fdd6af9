/*
 * Reads from an image that is open, around what can't be read. Apart from opening, which knows all
 * backends: the process that checks candidates has none of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/backend.h"

/* A failed request is read again in parts of about this size before it is read unit by unit: so few
 * requests hit the bad place again, each of which may take a failing disk seconds. */
#define RETRY_LEN 65536

const struct image_info *image_info(const struct image *image)
{
	return &image->info;
}

/* How many of the len bytes at offset come before the next one that a ddrescue map calls unread; 0
 * when the first one is, and then *lost_len of them are. */
static uint64_t until_unread(
	const struct image *image, uint64_t offset, uint64_t len, uint64_t *lost_len)
{
	const struct range *range = ranges_after(&image->unread, offset);
	uint64_t end;

	if (!range || range->offset >= offset + len)
		return len;
	if (range->offset > offset)
		return range->offset - offset;
	end = range->offset + range->length;
	*lost_len = end - offset < len ? end - offset : len;
	return 0;
}

/* The bytes are inside the image, and len is not 0. */
static int read_inside(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	uint64_t lost_len;

	if (until_unread(image, offset, len, &lost_len) < len)
		return -EIO;
	return image->backend->read_at(image, offset, buffer, len);
}

int image_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	if (offset > image->info.size || len > image->info.size - offset)
		return -EINVAL;
	return len ? read_inside(image, offset, buffer, len) : 0;
}

/* How far from offset the next multiple of step is, but at most len. */
static size_t part_at(uint64_t offset, uint64_t len, size_t step)
{
	size_t part_len = step - (size_t)(offset % step);

	return part_len < len ? part_len : (size_t)len;
}

void image_set_interrupted(struct image *image, bool (*interrupted)(void))
{
	for (; image; image = image->outer)
		image->interrupted = interrupted;
}

bool image_was_cut(const struct image *image)
{
	return atomic_load(&image->was_cut);
}

void image_forget_cut(struct image *image)
{
	atomic_store(&image->was_cut, false);
}

/* Whether reading around must end. Then the len bytes that were not read become zeros. */
static bool cut(struct image *image, uint8_t *buffer, size_t len)
{
	if (!image->interrupted || !image->interrupted())
		return false;
	memset(buffer, 0, len);
	atomic_store(&image->was_cut, true);
	return true;
}

static void read_units(struct image *image, uint64_t offset, uint8_t *buffer, size_t len,
	void (*failed)(void *arg, uint64_t offset, size_t len), void *arg)
{
	while (len && !cut(image, buffer, len)) {
		size_t part_len = part_at(offset, len, image->read_unit);

		if (image->backend->read_at(image, offset, buffer, part_len)) {
			memset(buffer, 0, part_len);
			failed(arg, offset, part_len);
		}
		offset += part_len;
		buffer += part_len;
		len -= part_len;
	}
}

/* For bytes that no ddrescue map calls unread. */
static void read_steps(struct image *image, uint64_t offset, uint8_t *to, size_t len,
	void (*failed)(void *arg, uint64_t offset, size_t len), void *arg)
{
	size_t units = RETRY_LEN / image->read_unit;
	size_t step = image->read_unit * (units ? units : 1);

	while (len && !cut(image, to, len)) {
		size_t part_len = part_at(offset, len, step);

		if (image->backend->read_at(image, offset, to, part_len))
			read_units(image, offset, to, part_len, failed, arg);
		offset += part_len;
		to += part_len;
		len -= part_len;
	}
}

void image_read_units(struct image *image, uint64_t offset, void *buffer, size_t len,
	void (*failed)(void *arg, uint64_t offset, size_t len), void *arg)
{
	uint8_t *to = buffer;

	while (len) {
		uint64_t lost_len, good_len = until_unread(image, offset, len, &lost_len);
		size_t part_len = (size_t)(good_len ? good_len : lost_len);

		if (good_len) {
			read_steps(image, offset, to, part_len, failed, arg);
		} else {
			memset(to, 0, part_len);
			failed(arg, offset, part_len);
		}
		offset += part_len;
		to += part_len;
		len -= part_len;
	}
}

struct failures {
	size_t sum;
	struct ranges *ranges; /* NULL: they are only counted */
};

static void note_failed(void *arg, uint64_t offset, size_t len)
{
	struct failures *failures = arg;

	failures->sum += len;
	if (failures->ranges)
		ranges_add(failures->ranges, offset, len);
}

void image_set_cache(struct image *image,
	size_t (*copy)(void *context, uint64_t offset, void *buffer, size_t len), void *context)
{
	if (copy)
		image->cache_context = context;
	atomic_store(&image->cache, copy);
}

void image_set_ring(struct image *image, int descriptor)
{
	image->shared_ring = descriptor < 0 ? 0 : descriptor;
}

/* Returns how many bytes, from the first one on, came from memory. */
static size_t read_cached(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	size_t (*copy)(void *, uint64_t, void *, size_t) = atomic_load(&image->cache);

	return copy && len ? copy(image->cache_context, offset, buffer, len) : 0;
}

size_t image_read_noting(
	struct image *image, uint64_t offset, void *buffer, size_t len, struct ranges *bad)
{
	uint64_t size = image->info.size;
	size_t inside = offset >= size ? 0 : size - offset < len ? (size_t)(size - offset) : len;
	struct failures failures = { len - inside, bad };
	uint8_t *to = buffer;
	size_t cache_len;

	memset(to + inside, 0, len - inside);
	cache_len = read_cached(image, offset, to, inside);
	offset += cache_len;
	to += cache_len;
	inside -= cache_len;
	if (inside && read_inside(image, offset, to, inside))
		image_read_units(image, offset, to, inside, note_failed, &failures);
	return failures.sum;
}

size_t image_read_around(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_noting(image, offset, buffer, len, NULL);
}

int image_extent(struct image *image, uint64_t offset, bool direct, int *fd, uint64_t *fd_offset,
	uint64_t *len)
{
	uint64_t good_len, lost_len;
	int rc;

	if (!image->backend->extent)
		return -ENOTSUP;
	if (offset >= image->info.size)
		return -EINVAL;
	good_len = until_unread(image, offset, image->info.size - offset, &lost_len);
	if (!good_len)
		return -EIO;
	rc = image->backend->extent(image, offset, direct, fd, fd_offset, len);
	if (!rc && *len > good_len)
		*len = good_len;
	return rc;
}

/* What a ddrescue map calls unread is not a hole, though a rescue that writes sparse files leaves
 * one there. */
bool image_hole(struct image *image, uint64_t offset, uint64_t *len)
{
	uint64_t lost_len, good_len;
	bool hole = false;

	*len = 1;
	if (offset >= image->info.size)
		return false;
	good_len = until_unread(image, offset, image->info.size - offset, &lost_len);
	*len = good_len ? good_len : lost_len;
	if (good_len && image->backend->hole)
		hole = image->backend->hole(image, offset, len);
	if (good_len && *len > good_len)
		*len = good_len;
	return hole;
}

char *image_why(struct image *image, uint64_t offset, uint64_t *len)
{
	uint64_t left = offset < image->info.size ? image->info.size - offset : 0;
	uint64_t good_len, lost_len;

	*len = left;
	if (!left)
		return NULL;
	good_len = until_unread(image, offset, left, &lost_len);
	*len = good_len ? part_at(offset, good_len, image->read_unit) : lost_len;
	if (!good_len)
		return xasprintf("the ddrescue map %s does not list it as finished",
			image->ddrescue_map_path);
	return image->backend->why ? image->backend->why(image, offset) : NULL;
}
