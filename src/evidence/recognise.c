/*
 * A raw image has no format of its own, so what proves one is what a disk or a volume begins with.
 * Two bytes at the end of a sector prove little, so a boot sector must hold a plausible partition
 * table, or be that of a file system.
 */
#include "evidence/recognise.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/file.h"
#include "base/memory.h"
#include "evidence/backend.h"
#include "evidence/signatures.h"
#include "evidence/unsupported.h"

#define SECTOR_LEN 512
#define TABLE_AT 446
#define ENTRY_LEN 16
#define ENTRY_COUNT 4

struct start {
	size_t offset;
	const char *magic;
	size_t magic_len;
};

#define MAGIC(text) text, sizeof(text) - 1

/* What libtsk reads; signatures.c has the rest. */
static const struct start starts[] = {
	{ 3, MAGIC("NTFS    ") },
	{ 3, MAGIC("EXFAT   ") },
	{ 54, MAGIC("FAT1") },
	{ 82, MAGIC("FAT32   ") },
	{ SECTOR_LEN, MAGIC("EFI PART") },
	{ 4096, MAGIC("EFI PART") },
	{ 1024, MAGIC("H+\0\4") },
	{ 1024, MAGIC("HX\0\5") },
	{ 32769, MAGIC("CD001") },
	{ 9564, MAGIC("\x54\x19\x01\x00") },
	{ 66908, MAGIC("\x19\x01\x54\x19") },
};

/* The magic of ext2 to ext4 has two bytes; its block size and revision are checked too. */
static bool is_ext(const uint8_t *bytes, size_t len)
{
	const uint8_t *block = bytes + 1024;

	return len >= 2048 && endian_get(block + 56, 2) == 0xef53 &&
	       endian_get(block + 24, 4) <= 6 && endian_get(block + 76, 4) <= 1 &&
	       endian_get(block, 4) != 0;
}

static bool is_partition_table(const uint8_t *bytes, size_t len)
{
	unsigned used = 0;

	if (len < SECTOR_LEN || bytes[510] != 0x55 || bytes[511] != 0xaa)
		return false;
	for (size_t i = 0; i < ENTRY_COUNT; i++) {
		const uint8_t *entry = bytes + TABLE_AT + i * ENTRY_LEN;

		if (entry[0] & 0x7f)
			return false;
		used += entry[4] != 0 && endian_get(entry + 8, 4) != 0 &&
			endian_get(entry + 12, 4) != 0;
	}
	return used != 0;
}

static bool is_disk(const uint8_t *bytes, size_t len)
{
	bool encrypted;

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (len >= starts[i].offset + starts[i].magic_len &&
			!memcmp(bytes + starts[i].offset, starts[i].magic, starts[i].magic_len))
			return true;
	return is_ext(bytes, len) || is_partition_table(bytes, len) ||
	       signatures_find(bytes, len, &encrypted);
}

static bool is_image(int fd, const char *path)
{
	uint8_t *bytes = xmalloc(SIGNATURES_LEN);
	ssize_t len = file_read_at(fd, bytes, SIGNATURES_LEN, 0);
	bool found = len < 0;
	struct image_ends ends = { .path = path };
	char *caution = NULL;

	if (!found)
		found = is_disk(bytes, (size_t)len);
	if (!found && !image_read_ends(fd, &ends)) {
		caution = unsupported_caution(path, ends.head, ends.head_len);
		found = caution || image_has_format(&ends) ||
			unsupported_container(path, ends.head, ends.head_len, NULL);
	}
	free(caution);
	free(bytes);
	return found;
}

bool recognise_image(const char *path)
{
	int fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool found = fd < 0 || is_image(fd, path);

	if (fd >= 0)
		close(fd);
	return found;
}
