/* The superblock of a member of an array (md), from hostile bytes whose checksum is made right: the array is
 * opened with this member alone, and read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/log.h"
#include "evidence/backend.h"
#include "evidence/inner_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MOST_MEDIA ((uint64_t)1 << 20)
#define SUPERBLOCK_LEN 4096
#define DISK_LEN (5 * 65536)

static uint8_t disk[DISK_LEN];

/* Of version 1 over the roles that it says it has, of 0.90 over all. */
static void make_right(uint8_t *block)
{
	bool first = endian_get(block + 4, 4) == 1;
	size_t at = first ? 216 : 152, roles = endian_get(block + 220, 4) % 512;
	size_t len = first ? 256 + 2 * roles : SUPERBLOCK_LEN;
	uint64_t sum = 0;

	endian_put(block, 0xa92b4efc, 4);
	if (first)
		endian_put(block + 220, roles, 4);
	for (size_t i = 0; i + 4 <= len; i += 4)
		sum += i == at ? 0 : endian_get(block + i, 4);
	if (len % 4)
		sum += endian_get(block + len / 4 * 4, 2);
	endian_put(block + at, (uint32_t)sum + (uint32_t)(sum >> 32), 4);
}

static const char *input_path(void)
{
	static char path[64];

	if (!*path) {
		snprintf(path, sizeof(path), "/tmp/burin-fuzz-md-%ld", (long)getpid());
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

		if (image_read_at(image, at, buffer, part_len))
			free(image->backend->why(image, at));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const size_t places[] = { 4096, 0, (DISK_LEN / 512 - 16) / 8 * 4096,
		DISK_LEN - 65536 };
	struct inner_place place = { .volume = { .length = DISK_LEN } };
	const struct image_ends ends = { .path = input_path() };
	FILE *file = fopen(input_path(), "wb");
	char how[INNER_HOW_LEN];
	const char *why = NULL;
	struct image *outer, *image;
	uint8_t *block;

	if (!len)
		return 0;
	memset(disk, 0, sizeof(disk));
	block = disk + places[*data % 4];
	memcpy(block, data + 1, len - 1 < SUPERBLOCK_LEN ? len - 1 : SUPERBLOCK_LEN);
	make_right(block);
	if (!file || fwrite(disk, 1, sizeof(disk), file) != sizeof(disk) || fclose(file) ||
		raw_backend.open(&outer, input_path(), &ends, NULL))
		abort();
	image = inner_md.open(outer, &place, &why, how);
	if (!image && !why)
		abort();
	if (image) {
		image->outer = outer;
		read_all(image);
		image->outer = NULL;
		image_close(image);
	}
	image_close(outer);
	unlink(input_path());
	return 0;
}
