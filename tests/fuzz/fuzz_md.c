/* The superblock of a member of an array (md), from hostile bytes whose checksum is made right: the array is
 * opened with this member alone, and read. */
#include <stdint.h>
#include <string.h>

#include "base/endian.h"
#include "memory_image.h"
#include "fuzz/read_inner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const size_t places[] = { 4096, 0, (DISK_LEN / 512 - 16) / 8 * 4096,
		DISK_LEN - 65536 };
	struct inner_place place = { .volume = { .length = DISK_LEN } };
	struct memory_image outer;
	uint8_t *block;

	if (!len)
		return 0;
	memset(disk, 0, sizeof(disk));
	block = disk + places[*data % 4];
	memcpy(block, data + 1, len - 1 < SUPERBLOCK_LEN ? len - 1 : SUPERBLOCK_LEN);
	make_right(block);
	memory_image_init(&outer, disk, sizeof(disk));
	read_inner(&inner_md, &outer.image, &place);
	return 0;
}
