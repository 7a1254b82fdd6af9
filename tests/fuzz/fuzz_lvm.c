/* A physical volume of LVM from hostile bytes: its volumes are listed, opened and read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "evidence/backend.h"
#include "evidence/inner_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MOST_MEDIA ((uint64_t)1 << 20)

static const char *input_path(void)
{
	static char path[64];

	if (!*path) {
		snprintf(path, sizeof(path), "/tmp/burin-fuzz-lvm-%ld", (long)getpid());
		log_set_level(LOG_ERROR);
	}
	return path;
}

static void read_all(struct image *image)
{
	static uint8_t buffer[70001];
	uint64_t size = image_info(image)->size;

	for (uint64_t at = 0; at < size && at < MOST_MEDIA; at += sizeof(buffer)) {
		size_t part_len = size - at < sizeof(buffer) ? (size_t)(size - at) : sizeof(buffer);

		if (image_read_around(image, at, buffer, part_len))
			free(image->backend->why(image, at));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct inner_place place = { .volume = { .length = len } };
	const struct image_ends ends = { .path = input_path() };
	FILE *file = fopen(input_path(), "wb");
	struct image *outer;
	char *names, *rest, *name;

	if (!file || fwrite(data, 1, len, file) != len || fclose(file))
		abort();
	if (!len || raw_backend.open(&outer, input_path(), &ends, NULL))
		return 0;
	names = inner_lvm.list(outer, &place.volume);
	for (name = names ? strtok_r(names, "\n", &rest) : NULL; name;
		name = strtok_r(NULL, "\n", &rest)) {
		const char *why = NULL;
		struct image *image;

		snprintf(place.name, sizeof(place.name), "%s", name);
		image = inner_lvm.open(outer, &place, &why);
		if (image) {
			image->outer = outer;
			read_all(image);
			image->outer = NULL;
			image_close(image);
		} else if (!why) {
			abort();
		}
	}
	free(names);
	image_close(outer);
	unlink(input_path());
	return 0;
}
