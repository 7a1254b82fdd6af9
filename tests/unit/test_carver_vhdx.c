/* VHDX images, whose parts are of a MiB each: growing, with a parent, with either copy of header
 * and region table lost, and with each table invalid. */
#include "carver_case.h"

#include <stdbool.h>

#define MIB ((size_t)1 << 20)
#define LOG (1 * MIB)
#define BAT (2 * MIB)
#define METADATA (3 * MIB)
#define BLOCKS (4 * MIB)
#define BLOCK_LEN (1 * MIB)

static void put(struct bytes *bytes, size_t at, uint64_t value, int width)
{
	for (int i = 0; i < width; i++)
		bytes->data[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}

static void put_id(struct bytes *bytes, size_t at, const char *hex)
{
	for (size_t i = 0; i < 16; i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], 0 };

		bytes->data[at + i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

static void put_crc(struct bytes *bytes, size_t at, size_t len)
{
	uint32_t crc = 0xffffffff;

	put(bytes, at + 4, 0, 4);
	for (size_t i = 0; i < len; i++) {
		crc ^= bytes->data[at + i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	put(bytes, at + 4, ~crc, 4);
}

static void put_header(struct bytes *bytes, size_t at, uint64_t number, bool logged)
{
	memcpy(bytes->data + at, "head", 4);
	put(bytes, at + 8, number, 8);
	put(bytes, at + 48, logged, 8);
	put(bytes, at + 66, 1, 2);
	put(bytes, at + 68, 1 * MIB, 4);
	put(bytes, at + 72, LOG, 8);
	put_crc(bytes, at, 4096);
}

static void put_regions(struct bytes *bytes, size_t at)
{
	memcpy(bytes->data + at, "regi", 4);
	put(bytes, at + 8, 2, 4);
	put_id(bytes, at + 16, "6677c22d23f600429d64115e9bfd4a08");
	put(bytes, at + 32, BAT, 8);
	put(bytes, at + 40, MIB, 4);
	put_id(bytes, at + 48, "06a27c8b90479a4bb8fe575f050f886e");
	put(bytes, at + 64, METADATA, 8);
	put(bytes, at + 72, MIB, 4);
	put_crc(bytes, at, 65536);
}

static void put_item(struct bytes *bytes, int number, const char *id, uint64_t value, size_t len)
{
	size_t at = METADATA + 32 + 32 * (size_t)number;

	put_id(bytes, at, id);
	put(bytes, at + 16, 65536 + 8 * (size_t)number, 4);
	put(bytes, at + 20, len, 4);
	put(bytes, METADATA + 65536 + 8 * (size_t)number, value, (int)len);
}

/* A disk of eight blocks, of which the first two are stored, the later one first. */
static struct bytes image(bool logged, bool parent)
{
	struct bytes bytes = { 0 };

	bytes_fill(&bytes, 0, BLOCKS);
	bytes_fill(&bytes, 'x', 2 * BLOCK_LEN);
	memcpy(bytes.data, "vhdxfile", 8);
	put_header(&bytes, 65536, 5, false);
	put_header(&bytes, 131072, 6, logged);
	put_regions(&bytes, 196608);
	put_regions(&bytes, 262144);
	memcpy(bytes.data + METADATA, "metadata", 8);
	put(&bytes, METADATA + 10, 3, 2);
	put_item(&bytes, 0, "3767a1ca36fa434db3b633f0aa44e76b", BLOCK_LEN | (uint64_t)parent << 33,
		8);
	put_item(&bytes, 1, "2442a52f1bcd7648b2115dbed83bf4b8", 8 * BLOCK_LEN, 8);
	put_item(&bytes, 2, "1dbf41816fa90947ba47f233a8faab5f", 512, 4);
	put(&bytes, BAT, (BLOCKS + BLOCK_LEN) | 6, 8);
	put(&bytes, BAT + 8, BLOCKS | 6, 8);
	put(&bytes, BAT + 16, 2, 8);
	return bytes;
}

#define AGREE "the tables agree, but the blocks up to 6291456 cannot be verified"

Test(vhdx, the_last_block_ends_the_file)
{
	struct bytes bytes = image(false, false);

	expect("vhdx", &bytes, CARVE_UNVERIFIED, 6 * MIB, AGREE);
	bytes_add_random(&bytes, 3, 5000);
	expect("vhdx", &bytes, CARVE_UNVERIFIED, 6 * MIB, AGREE);
	put(&bytes, BAT, 0, 8);
	expect("vhdx", &bytes, CARVE_UNVERIFIED, 5 * MIB, "up to 5242880");
	put(&bytes, BAT + 8, 3, 8);
	expect("vhdx", &bytes, CARVE_UNVERIFIED, 4 * MIB, "up to 4194304");
	free(bytes.data);
}

Test(vhdx, regions_and_blocks_are_held)
{
	struct bytes bytes = image(false, false);
	struct view *view = view_new_memory(bytes.data, bytes.len);
	struct finding found = { 0 };
	const struct ranges *held = view_held_ranges(view);

	cr_assert_eq(carver_find("vhdx")->check(view, &found), CARVE_UNVERIFIED);
	cr_assert_eq(held->count, 1);
	cr_expect_eq(held->items[0].offset, MIB);
	cr_expect_eq(held->items[0].length, 5 * MIB);
	view_free(view);
	free(bytes.data);
}

Test(vhdx, a_log_that_was_not_replayed_is_reported)
{
	struct bytes bytes = image(true, false);

	expect("vhdx", &bytes, CARVE_UNVERIFIED, 6 * MIB, ", and the log was not replayed");
	/* The header with the higher number counts. */
	put_header(&bytes, 65536, 7, false);
	expect("vhdx", &bytes, CARVE_UNVERIFIED, 6 * MIB, "up to 6291456");
	free(bytes.data);
}

/* The bitmap of a group follows its 4,096 blocks, and is a MiB long. */
Test(vhdx, bitmaps_of_a_differencing_image_count)
{
	struct bytes bytes = image(false, true);

	put(&bytes, BAT + 8 * 4096, (7 * MIB) | 6, 8);
	bytes_fill(&bytes, 0, 2 * MIB);
	expect("vhdx", &bytes, CARVE_UNVERIFIED, 8 * MIB, "up to 8388608");
	free(bytes.data);
}

Test(vhdx, either_copy_suffices)
{
	struct bytes bytes = image(false, false);

	bytes.data[65536 + 100] ^= 1;
	bytes.data[196608 + 5000] ^= 1;
	expect("vhdx", &bytes, CARVE_UNVERIFIED, 6 * MIB, AGREE);
	bytes.data[262144 + 5000] ^= 1; /* the last byte that is not zero */
	expect("vhdx", &bytes, CARVE_TRUNCATED, 267145, "no region table at 196608");
	bytes.data[131072 + 100] ^= 1;
	expect("vhdx", &bytes, CARVE_REJECT, 0, "no header at 65536 or 131072");
	free(bytes.data);
}

static void expect_invalid(size_t at, uint64_t value, int width, const char *why)
{
	struct bytes bytes = image(false, false);
	struct finding found;

	put(&bytes, at, value, width);
	cr_assert_eq(carve("vhdx", bytes.data, bytes.len, &found), CARVE_TRUNCATED, "%zu", at);
	cr_assert_str_eq(found.why, why);
	cr_assert_leq(found.length, 4 * MIB);
	free(bytes.data);
}

Test(vhdx, invalid_tables_truncate)
{
	const char *metadata = "no metadata at 3145728", *blocks = "no table of blocks at 2097152";

	expect_invalid(METADATA, 0, 8, metadata);
	expect_invalid(METADATA + 10, 0xffff, 2, metadata);
	expect_invalid(METADATA + 32 + 16, 0xfffffff0, 4, metadata);
	expect_invalid(METADATA + 65536, 3 * BLOCK_LEN, 4, metadata);
	expect_invalid(METADATA + 65536 + 8, 0, 8, metadata);
	expect_invalid(METADATA + 65536 + 16, 513, 4, metadata);
	expect_invalid(METADATA + 65536 + 8, (uint64_t)1 << 40, 8, blocks);
	expect_invalid(BAT, BLOCKS | 5, 8, blocks);
	expect_invalid(BAT, BLOCKS | 6 | 0x100, 8, blocks);
	expect_invalid(BAT, 6, 8, blocks);
}

Test(vhdx, a_cut_image_is_truncated_at_its_end)
{
	struct bytes bytes = image(false, false);

	bytes.len -= 5000;
	memset(bytes.data + 5 * MIB, 0, bytes.len - 5 * MIB);
	expect("vhdx", &bytes, CARVE_TRUNCATED, 5 * MIB, "the image ends at 6286456");
	free(bytes.data);
}
