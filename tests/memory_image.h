/* An image whose bytes are in memory, for tests that need one and no file. */
#ifndef BURIN_TESTS_MEMORY_IMAGE_H
#define BURIN_TESTS_MEMORY_IMAGE_H

#include <errno.h>
#include <string.h>

#include "evidence/backend.h"

struct memory_image {
	struct image image; /* first; it owns nothing */
	const uint8_t *bytes;
	uint64_t bad_from, bad_to; /* what can't be read */
	char name[sizeof("memory")], *path;
};

static inline int memory_image_read_at(
	struct image *image, uint64_t offset, void *buffer, size_t len)
{
	const struct memory_image *memory = (const struct memory_image *)image;

	if (offset < memory->bad_to && offset + len > memory->bad_from)
		return -EIO;
	memcpy(buffer, memory->bytes + offset, len);
	return 0;
}

static const struct image_backend memory_image_backend = {
	.name = "memory",
	.read_at = memory_image_read_at,
};

/* One without a path, of `len` bytes that stay the caller's. */
#define MEMORY_IMAGE(content, len) \
	{ \
		.image = { .backend = &memory_image_backend, \
			.info = { .format = "raw", .size = len, .sector_size = 512 }, \
			.read_unit = 512 }, \
		.bytes = content, \
	}

/* The bytes stay the caller's. */
static inline void memory_image_init(struct memory_image *memory, const uint8_t *bytes, size_t len)
{
	*memory = (struct memory_image)MEMORY_IMAGE(bytes, len);
	memcpy(memory->name, "memory", sizeof(memory->name));
	memory->path = memory->name;
	memory->image.info.paths = &memory->path;
	memory->image.info.path_count = 1;
}

#endif
