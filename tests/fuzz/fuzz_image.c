/* Evidence from hostile bytes: opened as whatever it looks like, read from end to end in odd
 * pieces. */
#include <fcntl.h>
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

/* A folder of this process; the file's name ends as a first segment's does, so that libewf looks
 * for others. */
static const char *input_path(void)
{
	static char path[64];

	if (!*path) {
		snprintf(path, sizeof(path), "/tmp/burin-fuzz-%ld", (long)getpid());
		mkdir(path, 0700);
		strcat(path, "/input.E01");
		log_set_level(LOG_ERROR);
	}
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t buffer[70001];
	struct error error = { 0 };
	struct image *image;
	FILE *file = fopen(input_path(), "wb");

	if (!file || fwrite(data, 1, len, file) != len || fclose(file))
		abort();
	if (image_open(&image, input_path(), &error)) {
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
	unlink(input_path());
	return 0;
}
