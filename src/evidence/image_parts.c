#include "base/memory.h"
#include "evidence/backend.h"

int image_read_parts(void *state, uint64_t offset, void *buffer, size_t len,
	int (*read_part)(void *state, uint64_t offset, uint8_t *to, size_t *len))
{
	uint8_t *to = buffer;

	while (len) {
		size_t part_len = len;
		int status = read_part(state, offset, to, &part_len);

		if (status)
			return status;
		offset += part_len;
		to += part_len;
		len -= part_len;
	}
	return 0;
}

void image_add_paths(struct image_info *info, const struct image_info *other)
{
	info->paths = xreallocarray(
		info->paths, info->path_count + other->path_count, sizeof(*info->paths));
	for (size_t i = 0; i < other->path_count; i++)
		info->paths[info->path_count++] = xstrdup(other->paths[i]);
}
