/* Carvers of system files: cases that need files too large, or too many, for tests/golden. */
#include "joints_case.h"

#define EVTX "tests/golden/evtx/one.evtx"
#define OLD_RECORD (4096 + 1848) /* in that */
#define EVTX_OLD "tests/golden/evtx/old-records-far.evtx"
#define EVTX_LEN (4096 + 65536)
#define CHUNK 65536
#define RECORDS 4608
#define RECORD_LEN 64
#define USED (RECORDS + 20 * RECORD_LEN)

Test(carver_system, evtx_with_bits_flipped)
{
	static const struct {
		size_t at;
		uint8_t bits;
		enum verdict verdict;
		uint64_t length;
		const char *why;
	} cases[] = {
		{ 124, 1, CARVE_UNVERIFIED, EVTX_LEN, "the header's CRC is wrong" },
		{ 42, 3, CARVE_TRUNCATED, EVTX_LEN, "the image ends" },
		{ 40, 1, CARVE_REJECT, 0, "an impossible header" },
		{ 4096 + 40, 1, CARVE_TRUNCATED, 4096, "the chunk at 4096 is damaged" },
		{ 4096 + 200, 1, CARVE_TRUNCATED, USED, "the chunk at 4096 is damaged" },
		{ 4096 + 120, 8, CARVE_COMPLETE, EVTX_LEN, "" },
		{ RECORDS + 30, 0xff, CARVE_TRUNCATED, USED, "the chunk at 4096 is damaged" },
		{ RECORDS + 3 * RECORD_LEN, 1, CARVE_TRUNCATED, RECORDS + 3 * RECORD_LEN,
			"after 4800" },
		{ RECORDS + 3 * RECORD_LEN + 8, 9, CARVE_TRUNCATED, RECORDS + 3 * RECORD_LEN,
			NULL },
		{ RECORDS + 3 * RECORD_LEN - 4, 9, CARVE_TRUNCATED, RECORDS + 2 * RECORD_LEN,
			NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = bytes_of_file(EVTX);

		cr_assert_eq(bytes.len, EVTX_LEN);
		bytes.data[cases[i].at] ^= cases[i].bits;
		expect("evtx", &bytes, cases[i].verdict, cases[i].length, cases[i].why);
		free(bytes.data);
	}
}

Test(carver_system, evtx_that_was_not_closed)
{
	struct bytes bytes = bytes_of_file(EVTX);

	/* The chunk's checksums were not written yet. */
	bytes.data[120] = 1;
	bytes.data[4096 + 52] ^= 1;
	expect("evtx", &bytes, CARVE_UNVERIFIED, EVTX_LEN, "the log was not closed");
	/* Nor were all of its records. */
	memset(bytes.data + RECORDS + 9 * RECORD_LEN + 24, 0,
		EVTX_LEN - RECORDS - 9 * RECORD_LEN - 24);
	expect("evtx", &bytes, CARVE_UNVERIFIED, EVTX_LEN, "the log was not closed");
	/* They are followed by the chunk's older contents. */
	memset(bytes.data + USED, 'x', EVTX_LEN - USED);
	expect("evtx", &bytes, CARVE_UNVERIFIED, EVTX_LEN, "the log was not closed");
	bytes.data[USED - RECORD_LEN] = 'x';
	expect("evtx", &bytes, CARVE_TRUNCATED, RECORDS + 9 * RECORD_LEN, "is damaged");
	memset(bytes.data + USED - RECORD_LEN, 0, EVTX_LEN - USED + RECORD_LEN);
	bytes.data[120] = 0;
	expect("evtx", &bytes, CARVE_TRUNCATED, RECORDS + 9 * RECORD_LEN, "is damaged");
	free(bytes.data);
}

/* Two chunks, and the zeros that Windows reserves up to 16 or 17. */
Test(carver_system, evtx_with_space_for_more_chunks)
{
	const size_t end = EVTX_LEN + CHUNK, sizes[] = { 4096 + 16 * CHUNK, 4096 + 17 * CHUNK };
	struct bytes bytes = bytes_of_file(EVTX);

	bytes.data = realloc(bytes.data, sizes[1]);
	cr_assert(bytes.data);
	memset(bytes.data + EVTX_LEN, 0, sizes[1] - EVTX_LEN);
	bytes.data[42] = 2;
	bytes.data[120] = 4; /* without checksums */
	for (size_t i = 0; i < 2; i++) {
		bytes.len = sizes[i];
		expect("evtx", &bytes, CARVE_COMPLETE, sizes[i], "is a guess");
		bytes.data[sizes[i] - 1] = 1;
		expect("evtx", &bytes, CARVE_COMPLETE, i ? sizes[0] : end, NULL);
		bytes.data[sizes[i] - 1] = 0;
	}
	free(bytes.data);
}

Test(carver_system, evtx_whose_unused_space_is_random)
{
	struct bytes bytes = bytes_of_file(EVTX);
	struct finding found;
	size_t cut = USED + 7000;

	bytes.len = cut;
	bytes_add_random(&bytes, 3, EVTX_LEN - cut);
	cr_assert_eq(carve("evtx", bytes.data, bytes.len, &found), CARVE_TRUNCATED);
	cr_assert(found.length > cut - 2048 && found.length < cut + 2048, "%zu",
		(size_t)found.length);
	free(bytes.data);
}

Test(carver_system, registry_hives_are_as_long_as_windows_made_their_files)
{
	struct bytes bytes = bytes_of_file("tests/golden/regf/hive.dat");
	size_t len = bytes.len;
	struct finding found;

	for (size_t step = 65536; step <= 131072; step += 65536) {
		bytes_fill(&bytes, 0, step - bytes.len);
		cr_assert_eq(carve("regf", bytes.data, bytes.len, &found), CARVE_COMPLETE);
		cr_assert_eq(found.length, step);
		cr_assert_not_null(strstr(found.why, "with the zeros from"), "%s", found.why);
	}
	bytes_fill(&bytes, 7, 100);
	cr_assert_eq(carve("regf", bytes.data, bytes.len, &found), CARVE_COMPLETE);
	cr_assert_eq(found.length, 131072);
	cr_assert_not_null(strstr(found.why, "with the zeros from"), "%s", found.why);
	/* Nothing shows which of these zeros are the file's: most files are as long as that. */
	memset(bytes.data + 131072, 0, 100);
	bytes_fill(&bytes, 0, 300000);
	expect("regf", &bytes, CARVE_UNVERIFIED, 262144, "with the zeros from");
	bytes.data[200000] = 7;
	expect("regf", &bytes, CARVE_COMPLETE, len, "without the zeros from");
	/* Zeros that end elsewhere are not padding. */
	bytes.data[65535] = 7;
	cr_assert_eq(carve("regf", bytes.data, bytes.len, &found), CARVE_COMPLETE);
	cr_assert_eq(found.length, len);
	cr_assert_str_eq(found.why, "");
	free(bytes.data);
}

/* The work of a check of golden files, and how many bytes they have. */
static uint64_t work_of(const char *carver, const char *path, size_t *len)
{
	struct bytes bytes = bytes_of_file(path);
	struct view *view = view_new_memory(bytes.data, bytes.len);
	struct finding finding = { 0 };
	uint64_t work;

	cr_assert_eq(carver_find(carver)->check(view, &finding), CARVE_COMPLETE);
	work = view_work_done(view);
	*len = bytes.len;
	view_free(view);
	free(bytes.data);
	return work;
}

Test(carver_system, decoding_counts_as_work_beyond_the_bytes)
{
	size_t len;

	cr_assert_geq(work_of("flac", "tests/golden/flac/encoder.flac", &len), 6 * len);
	cr_assert_geq(work_of("prefetch", "tests/golden/prefetch/packed.pf", &len), 10000);
}

/* A small block is looked at once: what a walk over many of them takes is bounded by its units. */
Test(carver_system, pcapng_looks_at_each_small_block_once)
{
	static const uint8_t start[] = { 10, 13, 13, 10, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0,
		0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 28, 0, 0, 0 };
	static const uint8_t block[] = { 4, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0 };
	const unsigned blocks = 10000;
	struct bytes bytes = { 0 };
	struct finding finding = { 0 };
	struct view *view;

	bytes_add(&bytes, start, sizeof(start));
	for (unsigned i = 0; i < blocks; i++)
		bytes_add(&bytes, block, sizeof(block));
	view = view_new_memory(bytes.data, bytes.len);
	cr_expect_eq(carver_find("pcapng")->check(view, &finding), CARVE_UNVERIFIED);
	cr_expect_eq(finding.length, sizeof(start) + blocks * sizeof(block));
	cr_expect_lt(view_work_done(view), 160 * (uint64_t)blocks);
	view_free(view);
	free(bytes.data);
}

/* ---- journals ------------------------------------------------------------------------------ */

/* After the last object a journal has zeros. */
Test(carver_system, journals_with_text_behind_their_objects)
{
	struct bytes bytes = bytes_of_file("tests/golden/journal/journal.journal");

	memset(bytes.data + 4096, 'x', 4096);
	expect("journal", &bytes, CARVE_UNVERIFIED, 8192, "other bytes than zeros");
	free(bytes.data);
}

/* ---- the file table of NTFS ---------------------------------------------------------------- */

/* mkntfs writes no numbers into records that it does not use. */
Test(carver_system, file_tables_with_records_that_have_no_number)
{
	struct bytes bytes = bytes_of_file("tests/golden/mft/table.mft");

	memset(bytes.data + 2048 + 44, 0, 4);
	expect("mft", &bytes, CARVE_UNVERIFIED, 2048, NULL);
	bytes.data[2048 + 22] = 0;
	expect("mft", &bytes, CARVE_UNVERIFIED, 6144, NULL);
	free(bytes.data);
}

/* An old record's head shows that its rest is elsewhere; so do zeros that end with a sector, and what has few zeros. */
Test(carver_system, evtx_whose_old_records_break_off_in_pieces)
{
	static const struct {
		const char *path;
		size_t from, to;
		uint8_t value;
		uint64_t length;
		unsigned bits; /* that prove a joint in the middle of an old record */
	} cases[] = {
		{ EVTX_OLD, 0, 0, 0, EVTX_LEN, 16 },
		{ EVTX_OLD, 12288, EVTX_LEN, 'x', 12288, 16 },
		{ EVTX_OLD, 12288, EVTX_LEN, 0, 12288, 16 },
		{ EVTX, 16384, EVTX_LEN, 'x', 16384, 0 },
		{ EVTX, 16384, EVTX_LEN, 1, 16384, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = bytes_of_file(cases[i].path);
		struct finding found = { 0 };
		struct view *view;
		enum verdict verdict;
		uint64_t joint;
		unsigned bits;

		memset(bytes.data + cases[i].from, cases[i].value, cases[i].to - cases[i].from);
		view = view_new_memory(bytes.data, bytes.len);
		view_set_thorough(view, true);
		verdict = carver_find("evtx")->check(view, &found);
		cr_expect_eq(verdict, cases[i].to ? CARVE_TRUNCATED : CARVE_UNVERIFIED, "%zu: %s",
			i, found.why);
		cr_expect(found.length <= cases[i].length && found.length + 512 > cases[i].length,
			"%zu: %llu", i, (unsigned long long)found.length);
		cr_expect_eq(view_agreed(view), !cases[i].to);
		view_free(view);
		joint = cases[i].bits ? OLD_RECORD + 40 : 6000;
		prove_joints("evtx", &bytes, &joint, 1, true, &bits);
		cr_expect_eq(bits, cases[i].bits, "%zu: %u", i, bits);
		free(bytes.data);
	}
}
