/* Superblocks of md, and arrays that are opened out of an image, one in another. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/memory.h"
#include "evidence/image.h"
#include "evidence/inner.h"
#include "evidence/md_superblock.h"

#define DISK_LEN (16 * 65536)
#define DATA_AT 65536
#define ROLES 1

static uint8_t disk[DISK_LEN];

static bool read_disk(void *context, uint64_t offset, void *buffer, size_t len)
{
	(void)context;
	if (offset > sizeof(disk) || len > sizeof(disk) - offset)
		return false;
	memcpy(buffer, disk + offset, len);
	return true;
}

/* A superblock of version 1, of RAID 1 with one member, that says it is at that sector. */
static void put_superblock(uint64_t offset, uint64_t sector, uint64_t data_len)
{
	uint8_t *block = disk + offset;
	uint64_t sum = 0;

	endian_put(block, 0xa92b4efc, 4);
	endian_put(block + 4, 1, 4);
	endian_put(block + 72, 1, 4);
	endian_put(block + 80, data_len / 512, 8);
	endian_put(block + 92, ROLES, 4);
	endian_put(block + 128, DATA_AT / 512, 8);
	endian_put(block + 144, sector, 8);
	endian_put(block + 220, ROLES, 4);
	for (size_t at = 0; at < 256; at += 4)
		sum += endian_get(block + at, 4);
	sum += endian_get(block + 256, 2);
	endian_put(block + 216, (uint32_t)sum + (sum >> 32), 4);
}

static bool reads(uint64_t offset, uint64_t sector)
{
	struct md_superblock superblock;

	memset(disk, 0, sizeof(disk));
	put_superblock(offset, sector, 0);
	return md_superblock_read(read_disk, NULL, DISK_LEN, &superblock);
}

Test(inner_md, superblocks_say_where_they_are)
{
	cr_expect(reads(0, 0));
	cr_expect(reads(4096, 8));
	cr_expect(reads(DISK_LEN - 8192, DISK_LEN / 512 - 16));
	cr_expect_not(reads(0, 8), "a copy of one at another place");
	cr_expect_not(reads(4096, 0));
	cr_expect_not(reads(0, UINT64_MAX / 512 + 1), "overflows to 0");
	cr_expect_not(reads(0, INT64_MAX), "more than any disk has");
}

static size_t count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* How many descriptors stay open when an array in an array was opened and closed. */
static size_t left_open(const char *path)
{
	size_t before = count_descriptors();
	struct error error = { 0 };
	struct image *image;
	char text[4];

	cr_assert_eq(image_open(&image, path, &error), 0, "%s", error.text);
	cr_expect_eq(image_read_at(image, 0, text, sizeof(text)), 0);
	cr_expect_eq(memcmp(text, "data", 4), 0);
	image_close(image);
	return count_descriptors() - before;
}

Test(inner_md, the_image_around_stays_open_for_the_next)
{
	char name[] = "/tmp/burin-md-XXXXXX", *path;
	int fd = mkstemp(name);

	memset(disk, 0, sizeof(disk));
	put_superblock(4096, 8, DISK_LEN - DATA_AT);
	put_superblock(DATA_AT + 4096, 8, DISK_LEN - 2 * DATA_AT);
	memcpy(disk + 2 * DATA_AT, "data", 4);
	cr_assert_eq(write(fd, disk, sizeof(disk)), (ssize_t)sizeof(disk));
	path = xasprintf("%s::md@0::md@0", name);
	cr_expect_eq(left_open(path), 0);
	inner_keep(true);
	cr_expect_gt(left_open(path), 0, "the array around it");
	cr_expect_eq(left_open(path), 0, "and no other");
	inner_keep(false);
	cr_expect_eq(left_open(path), 0);
	unlink(name);
	close(fd);
	free(path);
}
