/* The file of an image in blocks (QCOW2, VDI, bgzip, zstd), of any bytes: opened as what it looks like, its extents
 * listed, and what is packed read in odd pieces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/block_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MOST_MEDIA ((uint64_t)4 << 20)
/* Few, so that extents are often more than that. */
#define ROOM 7
#define EFFORT 40

/* The format that takes the file for its own, and the first otherwise: its head may be made right later all the
 * same. The name is a compressed image's, which is read as such only by that name. */
static const struct block_format *find_format(const char *path, const uint8_t *data, size_t len)
{
	struct image_ends ends = { .path = path };
	const struct block_format *format;

	ends.head_len = len < IMAGE_HEAD_LEN ? len : IMAGE_HEAD_LEN;
	ends.tail_len = len < IMAGE_TAIL_LEN ? 0 : IMAGE_TAIL_LEN;
	memcpy(ends.head, data, ends.head_len);
	memcpy(ends.tail, data + len - ends.tail_len, ends.tail_len);
	for (size_t i = 0; (format = block_format_at(i)); i++)
		if (format->probe(&ends))
			return format;
	return block_format_at(0);
}

static void read_packed(struct block_file *file, const struct block_extent *extent)
{
	static uint8_t buffer[70001];
	uint64_t end = extent->offset + extent->len;

	for (uint64_t at = extent->offset; at < end && at < MOST_MEDIA; at += sizeof(buffer)) {
		int status = block_file_read(file, at, buffer,
			end - at < sizeof(buffer) ? (size_t)(end - at) : sizeof(buffer));

		if (status > 0)
			abort();
	}
}

/* Extents follow each other, and are inside the image. Returns where they end. */
static uint64_t check_extents(struct block_file *file, uint64_t at)
{
	struct block_extent extents[ROOM];
	size_t count = block_file_list(file, at, EFFORT, extents, ROOM);

	if (!count || count > ROOM)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (extents[i].offset != at || !extents[i].len ||
			extents[i].len > file->about.size - at)
			abort();
		if (extents[i].kind == BLOCK_PACKED)
			read_packed(file, &extents[i]);
		at += extents[i].len;
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char path[64];
	struct block_about about;
	struct block_file *block_file;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/burin-fuzz-%ld.raw.gz", (long)getpid());
	file = fopen(path, "wb");
	if (!file || fwrite(data, 1, len, file) != len || fclose(file))
		abort();
	block_file = block_file_open(find_format(path, data, len), path, &about);
	if (!block_file && !*about.refusal)
		abort();
	for (uint64_t at = 0; block_file && at < about.size && at < MOST_MEDIA;)
		at = check_extents(block_file, at);
	block_file_close(block_file);
	unlink(path);
	return 0;
}
