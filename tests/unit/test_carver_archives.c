/* Archives: how zeros after them are distinguished from their own, and what they hold, which golden files cannot
 * show. */
#include "carver_case.h"

#include <stdio.h>

/* A member of the new ASCII format of cpio without data. */
static void add_cpio(struct bytes *bytes, const char *name)
{
	char header[120];

	snprintf(
		header, sizeof(header), "070701%0*d%08X%08X", 88, 0, (unsigned)strlen(name) + 1, 0);
	bytes_add(bytes, header, strlen(header));
	bytes_add(bytes, name, strlen(name) + 1);
	bytes_fill(bytes, 0, -bytes->len & 3);
}

Test(carver_archives, cpio_pads_blocks_with_zeros)
{
	static const struct {
		size_t zeros_until, length;
	} cases[] = { { 0, 0 }, { 500, 0 }, { 512, 512 }, { 1000, 512 }, { 5119, 512 },
		{ 5120, 5120 }, { 5121, 512 }, { 10240, 512 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = { 0 };
		size_t end;

		add_cpio(&bytes, "a");
		add_cpio(&bytes, "TRAILER!!!");
		end = bytes.len;
		if (cases[i].zeros_until)
			bytes_fill(&bytes, 0, cases[i].zeros_until - end);
		expect("cpio", &bytes, CARVE_COMPLETE, cases[i].length ? cases[i].length : end,
			NULL);
		bytes_fill(&bytes, 1, 3000);
		expect("cpio", &bytes, CARVE_COMPLETE, cases[i].length ? cases[i].length : end,
			NULL);
		free(bytes.data);
	}
}

static void add_tar(struct bytes *bytes)
{
	char *header;
	unsigned sum = 0;

	bytes_fill(bytes, 0, 512);
	header = (char *)bytes->data + bytes->len - 512;
	memcpy(header, "empty", 5);
	memcpy(header + 124, "00000000000", 11);
	memcpy(header + 136, "00000000000", 11);
	memset(header + 148, ' ', 8);
	for (int i = 0; i < 512; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 7, "%06o", sum);
}

/* Two blocks are the end; GNU's and other programs pad to 10,240. */
Test(carver_archives, tar_pads_records_with_zeros)
{
	static const struct {
		size_t zeros, length;
		enum verdict verdict;
	} cases[] = { { 1024, 1536, CARVE_COMPLETE }, { 1025, 1536, CARVE_COMPLETE },
		{ 1536, 1536, CARVE_UNVERIFIED }, { 3584, 1536, CARVE_COMPLETE },
		{ 5000, 1536, CARVE_UNVERIFIED }, { 9727, 1536, CARVE_UNVERIFIED },
		{ 9728, 10240, CARVE_COMPLETE }, { 20000, 10240, CARVE_COMPLETE } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = { 0 };

		add_tar(&bytes);
		bytes_fill(&bytes, 0, cases[i].zeros);
		bytes_fill(&bytes, 1, 3000);
		expect("tar", &bytes, cases[i].verdict, cases[i].length, NULL);
		free(bytes.data);
	}
}

/* Each block's rest is erased, and what follows it is read with the next block. */
Test(carver_archives, erased_rests_of_blocks_cost_their_length)
{
	const struct carver *carver = carver_find("jffs2");
	static uint8_t blocks[64][4096];
	struct finding finding = { 0 };
	FILE *file = fopen("tests/golden/jffs2/image.jffs2", "rb");
	struct view *view;

	cr_assert_not_null(file);
	cr_assert_eq(fread(blocks[0], 1, sizeof(*blocks), file), sizeof(*blocks));
	fclose(file);
	for (int i = 1; i < 64; i++)
		memcpy(blocks[i], blocks[0], sizeof(*blocks));
	view = view_new_memory(blocks[0], sizeof(blocks));
	cr_expect_eq(carver->check(view, &finding), CARVE_UNVERIFIED);
	cr_expect_eq(finding.length, sizeof(blocks));
	cr_expect_lt(view_work_done(view), 4 * sizeof(blocks), "%zu", (size_t)view_work_done(view));
	view_free(view);
}

/* Of a package whose files are not compressed the members lead to the end. */
Test(carver_archives, deb_with_a_plain_tar_that_was_wiped)
{
	struct bytes bytes = bytes_of_file("tests/golden/deb/bare.deb");

	expect("deb", &bytes, CARVE_COMPLETE, 2818, NULL);
	bytes.data[258]++; /* a name */
	expect("deb", &bytes, CARVE_TRUNCATED, 258, "after the member at 198");
	bytes.data[258]--;
	memset(bytes.data + 258 + 1024, 0, 512); /* the end of the only file */
	expect("deb", &bytes, CARVE_UNVERIFIED, 2818, "ends in zeros");
	memset(bytes.data + 258 + 2048, 'x', 1);
	expect("deb", &bytes, CARVE_TRUNCATED, 258 + 1536, "after the member at 198");
	free(bytes.data);
}

static bool holds(struct view *view, uint64_t at)
{
	const struct ranges *held = view_held_ranges(view);

	for (size_t i = 0; i < held->count; i++)
		if (at >= held->items[i].offset &&
			at - held->items[i].offset < held->items[i].length)
			return true;
	return false;
}

/* The key in a header, what is in the blocks before the first that is wrong, and disks' clusters if no table is wrong. */
Test(carver_archives, what_headers_and_blocks_hold)
{
	static const struct {
		const char *carver, *path;
		uint64_t first, last; /* places of what is held */
		enum verdict verdict;
	} cases[] = { { "crx", "tests/golden/crx/cut.crx", 12, 592, CARVE_TRUNCATED },
		{ "avro", "tests/golden/avro/random.avro", 162, 1680, CARVE_TRUNCATED },
		{ "qcow", "tests/golden/qcow/empty.qcow", 64, 559, CARVE_UNVERIFIED },
		{ "qcow2", "tests/golden/qcow2/plain.qcow2", 512, 4095, CARVE_UNVERIFIED },
		{ "vdi", "tests/golden/vdi/plain.vdi", 1024, 9215, CARVE_UNVERIFIED },
		{ "vmdk", "tests/golden/vmdk/sparse.vmdk", 2048, 10239, CARVE_UNVERIFIED } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = { 0 };
		struct finding found = { 0 };
		struct view *view;

		bytes_add_file(&bytes, cases[i].path);
		view = view_new_memory(bytes.data, bytes.len);
		cr_expect_eq(carver_find(cases[i].carver)->check(view, &found), cases[i].verdict);
		cr_expect_not(holds(view, cases[i].first - 1), "%s", cases[i].path);
		cr_expect(holds(view, cases[i].first), "%s", cases[i].path);
		cr_expect(holds(view, cases[i].last), "%s", cases[i].path);
		cr_expect_not(holds(view, cases[i].last + 1), "%s", cases[i].path);
		view_free(view);
		free(bytes.data);
	}
}
