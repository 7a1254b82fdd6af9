/* Compressed files: cases that golden files cannot show, because of their size or because more
 * follows them. */
#include "carver_case.h"

#include <bzlib.h>
#include <stdbool.h>
#include <lz4.h>
#include <lzma.h>
#include "tier.h"

#define LEGACY_BLOCK (8 << 20)

static void add_legacy_block(struct bytes *bytes, size_t len)
{
	uint8_t *zeros = calloc(1, len), *output = malloc(LZ4_COMPRESSBOUND(LEGACY_BLOCK));
	int output_len = LZ4_compress_default(
		(char *)zeros, (char *)output, (int)len, LZ4_COMPRESSBOUND(LEGACY_BLOCK));

	cr_assert_gt(output_len, 0);
	bytes_add_le(bytes, (uint64_t)output_len, 4);
	bytes_add(bytes, output, (size_t)output_len);
	free(zeros);
	free(output);
}

Test(carver_compressed, legacy_lz4_ends_with_the_first_block_that_is_not_full)
{
	struct bytes bytes = { 0 };
	size_t first, second;

	bytes_add(&bytes, "\x02\x21\x4c\x18", 4);
	add_legacy_block(&bytes, LEGACY_BLOCK);
	first = bytes.len;
	expect("lz4", &bytes, CARVE_TRUNCATED, first, "after a full one");
	add_legacy_block(&bytes, 300);
	second = bytes.len;
	expect("lz4", &bytes, CARVE_COMPLETE, second, NULL);
	add_legacy_block(&bytes, 500);
	expect("lz4", &bytes, CARVE_COMPLETE, second, NULL);
	bytes.len = first;
	bytes_add_random(&bytes, 3, 4000);
	expect("lz4", &bytes, CARVE_TRUNCATED, first, "no LZ4 block at");
	free(bytes.data);
}

static void add_bzip2(struct bytes *bytes, const uint8_t *data, size_t len, int level)
{
	unsigned output_len = (unsigned)(len + len / 50) + 1000;
	uint8_t *room = malloc(output_len);

	cr_assert_eq(BZ2_bzBuffToBuffCompress(
			     (char *)room, &output_len, (char *)data, (unsigned)len, level, 0, 0),
		BZ_OK);
	bytes_add(bytes, room, output_len);
	free(room);
}

Test(carver_compressed, bzip2_is_valid_up_to_the_invalid_block)
{
	struct bytes data = { 0 }, bytes = { 0 };
	struct finding found;

	/* Blocks of 100,000 bytes, each about 100 KB compressed. */
	bytes_add_random(&data, 1, 350000);
	add_bzip2(&bytes, data.data, data.len, 1);
	expect("bz2", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	bytes.data[250000] ^= 1;
	cr_assert_eq(carve("bz2", bytes.data, bytes.len, &found), CARVE_TRUNCATED);
	cr_assert(found.length > 195000 && found.length < 210000, "%zu", (size_t)found.length);
	bytes.data[90000] ^= 1;
	expect("bz2", &bytes, CARVE_TRUNCATED, 10, "is invalid");
	free(data.data);
	free(bytes.data);
}

Test(carver_compressed, endless_output_is_unverified)
{
	struct bytes data = { 0 }, bytes = { 0 };
	struct finding found;

	if (!test_tier(0, 1, 1))
		return;
	bytes_fill(&data, 0, 300 << 20);
	add_bzip2(&bytes, data.data, data.len, 9);
	free(data.data);
	cr_assert_eq(carve("bz2", bytes.data, bytes.len, &found), CARVE_UNVERIFIED);
	cr_assert(strstr(found.why, "more than burin checks"), "%s", found.why);
	free(bytes.data);
}

static void add_xz(struct bytes *bytes, size_t len)
{
	uint8_t *zeros = calloc(1, len), room[1000];
	size_t at = 0;

	cr_assert_eq(lzma_easy_buffer_encode(
			     6, LZMA_CHECK_CRC64, NULL, zeros, len, room, &at, sizeof(room)),
		LZMA_OK);
	bytes_add(bytes, room, at);
	free(zeros);
}

/* Zeros up to the next sector are left by a file system; a few are padding, in fours. */
Test(carver_compressed, zeros_between_xz_streams)
{
	static const struct {
		size_t zeros; /* 0: up to a sector */
		bool joined;
	} cases[] = { { 4, true }, { 64, true }, { 6, false }, { 80, false }, { 0, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = { 0 };
		size_t first;

		add_xz(&bytes, 300);
		first = bytes.len;
		bytes_fill(&bytes, 0, cases[i].zeros ? cases[i].zeros : 512 - first % 512);
		add_xz(&bytes, 900);
		expect("xz", &bytes, CARVE_COMPLETE, cases[i].joined ? bytes.len : first, NULL);
		free(bytes.data);
	}
}

/* As written by programs that append lines one by one: each is read once. */
Test(carver_compressed, many_short_gzip_members)
{
	static const uint8_t member[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0";
	struct bytes bytes = { 0 };

	for (int i = 0; i < 4000; i++)
		bytes_add(&bytes, member, 20);
	expect("gz", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	free(bytes.data);
}

/* Later members are parts of the file that the first one starts. */
Test(carver_compressed, a_later_gzip_member_is_reported_as_a_part)
{
	static const uint8_t member[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0";
	struct bytes bytes = { 0 };
	struct finding found = { 0 };
	struct view *view;
	const uint64_t *parts;
	size_t count;

	for (int i = 0; i < 3; i++)
		bytes_add(&bytes, member, 20);
	view = view_new_memory(bytes.data, bytes.len);
	cr_assert_eq(carver_find("gz")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	cr_assert_eq(found.length, 60);
	parts = view_parts(view, &count);
	cr_assert_eq(count, 2);
	cr_assert(parts[0] == 20 && parts[1] == 40);
	view_free(view);
	free(bytes.data);
}
