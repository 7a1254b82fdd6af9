/*
 * Reading partition tables and file systems out of any bytes. libtsk may crash on them, in its own
 * process; what comes of it must always be sane: volumes and ranges inside the image, in order.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence/volumes.h"
#include "memory_image.h"

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_volumes(struct volumes *volumes, uint64_t size)
{
	const struct ranges *in_use = volumes_in_use(volumes);
	const struct volume *volume;
	uint64_t end = 0;
	size_t count;

	volume = volumes_list(volumes, &count);
	for (size_t i = 0; i < count; i++, volume++)
		check(volume->offset <= size && volume->length <= size - volume->offset);
	for (size_t i = 0; in_use && i < in_use->count; i++) {
		check(in_use->items[i].length && (i == 0 || in_use->items[i].offset > end));
		end = in_use->items[i].offset + in_use->items[i].length;
		check(end > in_use->items[i].offset && end <= size);
	}
	for (uint64_t offset = 0; offset < size; offset += 511) {
		struct fs_file file;
		struct range *extents;
		size_t extent_count;

		if (!volumes_find(volumes, offset, &file))
			continue;
		volumes_add_path(volumes, &file);
		check(strlen(file.path) < 65536);
		volumes_is_reallocated(volumes, &file);
		extents = volumes_extents(volumes, &file, &extent_count);
		for (size_t i = 0; i < extent_count; i++)
			check(extents[i].offset < size &&
				extents[i].length <= size - extents[i].offset);
		free(extents);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_image image;
	struct volumes *volumes;

	if (!size)
		return 0;
	memory_image_init(&image, data, size);
	volumes = volumes_read(&image.image, VOLUMES_MAP, NULL);
	check_volumes(volumes, size);
	volumes_free(volumes);
	return 0;
}
