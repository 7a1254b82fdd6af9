/* What the golden files of ole do not show: a FAT whose list continues after the header. */
#include "carver_case.h"

#define SECTOR 512
#define TABLES 112 /* three more than the header has room for */

static void put(struct bytes *bytes, uint64_t at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		bytes->data[at + (uint64_t)i] = (uint8_t)(value >> 8 * i);
}

static uint64_t sector_at(uint32_t sector)
{
	return ((uint64_t)sector + 1) * SECTOR;
}

/* The offset of a sector's entry in the FAT, whose parts are sectors 0, 1, 2, ... */
static uint64_t fat_at(uint32_t sector)
{
	return sector_at(0) + 4 * (uint64_t)sector;
}

static void start_header(struct bytes *bytes)
{
	static const uint8_t start[] = { 0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1 };

	memcpy(bytes->data, start, sizeof(start));
	put(bytes, 24, 0x0003003e);
	put(bytes, 28, 0x0009fffe);
	put(bytes, 32, 6);
	put(bytes, 44, TABLES);
	put(bytes, 48, TABLES + 1);
	put(bytes, 56, 4096);
	put(bytes, 60, 0xfffffffe);
	put(bytes, 68, TABLES);
	put(bytes, 72, 1);
}

/* The FAT, a sector of its list, the directory, and a stream that fills the rest. */
static struct bytes large(void)
{
	static const char root[] = "R\0o\0o\0t", name[] = "A";
	struct bytes bytes = { 0 };
	uint32_t count = TABLES * 128, first = TABLES + 2;
	uint64_t entry = sector_at(TABLES + 1);

	bytes_fill(&bytes, 0, ((size_t)count + 1) * SECTOR);
	start_header(&bytes);
	for (uint32_t i = 0; i < TABLES; i++) {
		put(&bytes, i < 109 ? 76 + 4 * i : sector_at(TABLES) + 4 * (i - 109), i);
		put(&bytes, fat_at(i), 0xfffffffd);
	}
	put(&bytes, sector_at(TABLES) + 508, 0xfffffffe);
	put(&bytes, fat_at(TABLES), 0xfffffffc);
	put(&bytes, fat_at(TABLES + 1), 0xfffffffe);
	for (uint32_t i = first; i < count; i++)
		put(&bytes, fat_at(i), i + 1 < count ? i + 1 : 0xfffffffe);
	memcpy(bytes.data + entry, root, sizeof(root));
	put(&bytes, entry + 64, 0x0005000a);
	put(&bytes, entry + 68, 0xffffffff);
	put(&bytes, entry + 72, 0xffffffff);
	put(&bytes, entry + 76, 1);
	put(&bytes, entry + 116, 0xfffffffe);
	entry += 128;
	memcpy(bytes.data + entry, name, sizeof(name));
	put(&bytes, entry + 64, 0x00020004);
	for (int link = 68; link <= 76; link += 4)
		put(&bytes, entry + (uint64_t)link, 0xffffffff);
	put(&bytes, entry + 116, first);
	put(&bytes, entry + 120, (count - first) * SECTOR);
	/* A last sector of nothing but zeros would be doubted. */
	put(&bytes, sector_at(count - 1), 1);
	return bytes;
}

Test(carver_ole, the_fats_list_continues_after_the_header)
{
	struct bytes bytes = large();

	expect("ole", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	free(bytes.data);
}

Test(carver_ole, a_list_that_ends_early)
{
	struct bytes bytes = large();

	put(&bytes, 68, 0xfffffffe);
	expect("ole", &bytes, CARVE_TRUNCATED, sector_at(TABLES + 2), "no list of the FAT's parts");
	free(bytes.data);
}

Test(carver_ole, a_chain_that_is_too_short)
{
	struct bytes bytes = large();

	put(&bytes, fat_at(5000), 0xfffffffe);
	expect("ole", &bytes, CARVE_UNVERIFIED, bytes.len, "a stream's chain breaks");
	free(bytes.data);
}

Test(carver_ole, data_past_the_view_is_cut)
{
	struct bytes bytes = large();

	bytes.len -= 3 * SECTOR;
	expect("ole", &bytes, CARVE_TRUNCATED, bytes.len, "the image ends");
	free(bytes.data);
}
