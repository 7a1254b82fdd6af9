/* Compressed files: cases that golden files cannot show, because of their size or because more
 * follows them. */
#include "carver_case.h"

#include <bzlib.h>
#include <stdbool.h>
#include <lz4.h>
#include <lzma.h>
#include <sys/resource.h>
#include <zlib.h>
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

	if (!test_tier(0, 0, 1))
		return;
	bytes_fill(&data, 0, 300 << 20);
	add_bzip2(&bytes, data.data, data.len, 9);
	free(data.data);
	cr_assert_eq(carve("bz2", bytes.data, bytes.len, &found), CARVE_UNVERIFIED);
	cr_assert(strstr(found.why, "more than burin checks"), "%s", found.why);
	free(bytes.data);
}

static void add_xz_preset(struct bytes *bytes, size_t len, uint32_t preset)
{
	uint8_t *zeros = calloc(1, len), room[1000];
	size_t at = 0;

	cr_assert_eq(lzma_easy_buffer_encode(
			     preset, LZMA_CHECK_CRC64, NULL, zeros, len, room, &at, sizeof(room)),
		LZMA_OK);
	bytes_add(bytes, room, at);
	free(zeros);
}

static void add_xz(struct bytes *bytes, size_t len)
{
	add_xz_preset(bytes, len, 6);
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

#define MEMBER_LEN ((size_t)1 << 20)
#define MEMBERS 40

static struct bytes zeros_of_many_members(const char *carver)
{
	struct bytes zeros = { 0 }, member = { 0 }, bytes = { 0 };
	uint8_t room[8192];

	bytes_fill(&zeros, 0, MEMBER_LEN);
	if (strcmp(carver, "bz2") == 0) {
		add_bzip2(&member, zeros.data, zeros.len, 9);
	} else if (strcmp(carver, "xz") == 0) {
		add_xz(&member, zeros.len);
	} else {
		z_stream stream = { .next_in = zeros.data,
			.avail_in = MEMBER_LEN,
			.next_out = room,
			.avail_out = sizeof(room) };

		cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, 0), Z_OK);
		cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
		bytes_add(&member, room, stream.total_out);
		deflateEnd(&stream);
	}
	for (int i = 0; i < MEMBERS; i++)
		bytes_add(&bytes, member.data, member.len);
	free(member.data);
	free(zeros.data);
	return bytes;
}

/* A watcher that refuses, and notes how much work was done then. */
struct refusal {
	const struct view *view;
	int asked;
	uint64_t work;
};

static bool refuse(void *context, uint64_t reached)
{
	struct refusal *refusal = context;

	(void)reached;
	refusal->asked++;
	refusal->work = view_work_done(refusal->view);
	return false;
}

/* Hundreds of bytes may give gigabytes: what is produced counts, over all members, and a run that
 * is cancelled waits for none of it. */
Test(carver_compressed, output_is_work_and_can_be_cancelled)
{
	static const char *const carvers_of[] = { "bz2", "xz", "gz" };

	for (size_t i = 0; i < sizeof(carvers_of) / sizeof(*carvers_of); i++) {
		const char *name = carvers_of[i];
		struct bytes bytes = zeros_of_many_members(name);
		struct view *view = view_new_memory(bytes.data, bytes.len);
		struct finding found = { 0 };
		uint64_t work;
		struct refusal refusal = { 0 };

		cr_assert_eq(carver_find(name)->check(view, &found), CARVE_COMPLETE, "%s", name);
		work = view_work_done(view);
		cr_assert_gt(work, MEMBERS * MEMBER_LEN / 16, "%s: %zu", name, (size_t)work);
		view_free(view);
		view = view_new_memory(bytes.data, bytes.len);
		view_limit_work(view, work / 2);
		carver_find(name)->check(view, &found);
		cr_assert_eq(view_work_done(view), UINT64_MAX, "%s", name);
		view_free(view);
		view = view_new_memory(bytes.data, bytes.len);
		refusal.view = view;
		view_watch(view, refuse, &refusal);
		carver_find(name)->check(view, &found);
		cr_assert(view_stopped(view) && refusal.asked == 1, "%s: %d", name, refusal.asked);
		cr_assert_leq(view_work_done(view) - refusal.work, 256 << 10,
			"%s decodes on, for %zu units", name,
			(size_t)(view_work_done(view) - refusal.work));
		view_free(view);
		free(bytes.data);
	}
}

/* A dictionary of 64 MiB needs memory beyond what every stream may have. */
Test(carver_compressed, large_dictionaries_are_reserved)
{
	struct bytes bytes = { 0 };

	add_xz_preset(&bytes, 100000, 9);
	expect("xz", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	free(bytes.data);
}

#ifndef __SANITIZE_ADDRESS__ /* which has no bounded address space */
Test(carver_compressed, lack_of_memory_is_no_verdict)
{
	struct bytes bytes = { 0 };
	struct finding found = { 0 };
	struct rlimit before, none;
	struct view *view;

	add_xz_preset(&bytes, 100000, 9);
	view = view_new_memory(bytes.data, bytes.len);
	cr_assert_eq(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){ .rlim_cur = 1 << 20, .rlim_max = before.rlim_max };
	cr_assert_eq(setrlimit(RLIMIT_AS, &none), 0);
	carver_find("xz")->check(view, &found);
	cr_assert_eq(setrlimit(RLIMIT_AS, &before), 0);
	cr_assert(view_lacked_memory(view));
	view_free(view);
	free(bytes.data);
}
#endif
