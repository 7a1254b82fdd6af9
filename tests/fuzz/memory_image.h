/* An image whose bytes are in memory, for targets that need one and no file. */
#ifndef BURIN_TESTS_MEMORY_IMAGE_H
#define BURIN_TESTS_MEMORY_IMAGE_H

#include <string.h>

#include "evidence/backend.h"

struct memory_image {
	struct image image; /* first; it owns nothing */
	const uint8_t *bytes;
	char name[sizeof("memory")], *path;
};

static inline int memory_image_read_at(
	struct image *image, uint64_t offset, void *buffer, size_t len)
{
	memcpy(buffer, ((struct memory_image *)image)->bytes + offset, len);
	return 0;
}

static const struct image_backend memory_image_backend = {
	.name = "memory",
	.read_at = memory_image_read_at,
};

/* The bytes stay the caller's. */
static inline void memory_image_init(struct memory_image *memory, const uint8_t *bytes, size_t len)
{
	*memory = (struct memory_image){ .bytes = bytes, .name = "memory", .path = memory->name };
	memory->image = (struct image){ .backend = &memory_image_backend,
		.info = { .format = memory->name,
			.size = len,
			.sector_size = 512,
			.paths = &memory->path,
			.path_count = 1 },
		.read_unit = 512 };
}

#endif
