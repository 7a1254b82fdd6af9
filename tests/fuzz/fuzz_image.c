/* Evidence from hostile bytes: opened as whatever it looks like, read from end to end in odd
 * pieces. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "evidence/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MOST_MEDIA ((uint64_t)4 << 20)

/* In a folder of this process. The file's name ends as a first segment's does, so that libewf looks for
 * others. */
static const char *input_path(void)
{
	static char folder[64], path[96];

	if (!*folder) {
		snprintf(folder, sizeof(folder), "/tmp/burin-fuzz-%ld", (long)getpid());
		mkdir(folder, 0700);
		log_set_level(LOG_ERROR);
	}
	snprintf(path, sizeof(path), "%s/input.E01", folder);
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t buffer[70001];
	struct error error = { 0 };
	const char *path = input_path();
	struct image *image;
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, len, file) != len || fclose(file))
		abort();
	if (image_open(&image, path, &error)) {
		if (!error.code || !*error.text)
			abort();
	} else {
		uint64_t size = image_info(image)->size;

		for (uint64_t at = 0; at < size && at < MOST_MEDIA; at += sizeof(buffer)) {
			size_t piece =
				size - at < sizeof(buffer) ? (size_t)(size - at) : sizeof(buffer);

			if (image_read_around(image, at, buffer, piece) > piece)
				abort();
		}
		image_close(image);
	}
	unlink(path);
	return 0;
}
