/*
 * E01 sets from hostile bytes. The first byte says how the rest is taken: bit 0, that the checksums
 * of sections and tables are set right first, without which hardly any made-up number would be
 * looked at; bit 1, that the second half is a second segment. All is read in long and in short
 * pieces.
 */
#include <libdeflate.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/log.h"
#include "evidence/e01_sections.h"
#include "evidence/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
const char *__asan_default_options(void);

/* libewf asks for as much memory as a section says, and takes a refusal well. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

#define MOST_MEDIA ((uint64_t)2 << 20)
#define MOST_LEN ((size_t)1 << 20)
#define VOLUME_LEN 1052

#define SEGMENTS_MAX 4

enum { MEND = 1, SPLIT = 2 };

static const char *folder(void)
{
	static char path[64];

	if (!*path) {
		snprintf(path, sizeof(path), "/tmp/burin-fuzz-e01-set-%ld", (long)getpid());
		mkdir(path, 0700);
		log_set_level(LOG_ERROR);
	}
	return path;
}

/* Puts the checksum of len bytes after them, where the section has room for it. */
static void set_sum(uint8_t *bytes, size_t len, size_t room)
{
	uint32_t sum = libdeflate_adler32(1, bytes, len < room ? len : room);

	if (len + sizeof(sum) <= room)
		memcpy(bytes + len, &sum, sizeof(sum));
}

static void mend_section(uint8_t *section, size_t room)
{
	uint8_t *bytes = section + E01_SECTION_HEAD_LEN;
	uint64_t count;

	set_sum(section, 72, room);
	if (room < E01_SECTION_HEAD_LEN + 24)
		return;
	room -= E01_SECTION_HEAD_LEN;
	if (!memcmp(section, "volume", 6) || !memcmp(section, "data", 4)) {
		set_sum(bytes, VOLUME_LEN - 4, room);
	} else if (!memcmp(section, "table", 5)) {
		set_sum(bytes, 20, room);
		count = endian_u32(bytes);
		if (24 + 4 * count <= room)
			set_sum(bytes + 24, 4 * (size_t)count, room - 24);
	}
}

static void mend(uint8_t *file, size_t len)
{
	uint64_t at = E01_FILE_HEAD_LEN, next;

	while (len > E01_SECTION_HEAD_LEN && at <= len - E01_SECTION_HEAD_LEN) {
		mend_section(file + at, len - (size_t)at);
		next = endian_u64(file + at + 16);
		if (next <= at)
			break;
		at = next;
	}
}

static void write_segment(const char *path, uint8_t *bytes, size_t len, bool mended)
{
	FILE *file = fopen(path, "wb");

	if (mended)
		mend(bytes, len);
	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file))
		abort();
}

static void read_pieces(struct image *image, size_t piece_len)
{
	static uint8_t buffer[1 << 20];
	uint64_t size = image_info(image)->size;

	for (uint64_t at = 0; at < size && at < MOST_MEDIA; at += piece_len) {
		size_t len = size - at < piece_len ? (size_t)(size - at) : piece_len;

		if (image_read_around(image, at, buffer, len) > len)
			abort();
	}
}

static void read_image(const char *path)
{
	struct error error = { 0 };
	struct image *image;
	uint64_t len;

	if (image_open(&image, path, &error)) {
		if (!error.code || !*error.text)
			abort();
		return;
	}
	read_pieces(image, 1 << 20);
	read_pieces(image, 70001);
	free(image_why(image, 0, &len));
	free(image_why(image, image_info(image)->size - 1, &len));
	image_close(image);
}

/* Bytes of the first segment. */
static size_t segment_len(const uint8_t *bytes, size_t len)
{
	const uint8_t *next = len > 8 ? memmem(bytes + 8, len - 8, "EVF\t\r\n\xff", 8) : NULL;

	return next ? (size_t)(next - bytes) : len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char path[SEGMENTS_MAX][96];
	uint8_t *bytes, *from;
	int count = 0;

	if (!len || len > MOST_LEN)
		return 0;
	bytes = from = malloc(len);
	memcpy(bytes, data + 1, --len);
	do {
		size_t part =
			count + 1 < SEGMENTS_MAX && *data & SPLIT ? segment_len(from, len) : len;

		snprintf(path[count], sizeof(path[count]), "%s/set.E%02d", folder(), count + 1);
		write_segment(path[count++], from, part, *data & MEND);
		from += part;
		len -= part;
	} while (len);
	read_image(path[0]);
	while (count)
		unlink(path[--count]);
	free(bytes);
	return 0;
}
