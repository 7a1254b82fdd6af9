/* ISO 9660: each field of the golden image wrong. Images are too large for a golden file per
 * case. */
#include "carver_case.h"

#include <stdbool.h>
#include <stdio.h>

#define GOLDEN "tests/golden/iso/small.iso"
#define BLOCK 2048
#define PRIMARY (16 * BLOCK)
#define TABLE (19 * BLOCK)
#define ROOT (20 * BLOCK)
#define DOCS (21 * BLOCK)

static struct bytes read_golden(void)
{
	struct bytes bytes = { 0 };
	FILE *file = fopen(GOLDEN, "rb");
	uint8_t *room = bytes_grow(&bytes, 23 * BLOCK);

	cr_assert_not_null(file);
	cr_assert_eq(fread(room, 1, 23 * BLOCK, file), 23 * BLOCK);
	fclose(file);
	return bytes;
}

Test(carver_iso, fields)
{
	static const struct {
		size_t at;
		uint8_t value;
		enum verdict verdict;
		size_t length;
		const char *why;
	} cases[] = {
		{ PRIMARY, 2, CARVE_REJECT, 0, "no primary" },
		{ PRIMARY + 6, 2, CARVE_REJECT, 0, "no primary" },
		{ PRIMARY + 80, 24, CARVE_REJECT, 0, "no primary" },  /* blocks, one order alone */
		{ PRIMARY + 129, 4, CARVE_REJECT, 0, "no primary" },  /* length of blocks */
		{ PRIMARY + 132, 1, CARVE_REJECT, 0, "no primary" },  /* length of the table */
		{ PRIMARY + 142, 1, CARVE_REJECT, 0, "no primary" },  /* offset of the table */
		{ PRIMARY + 156, 33, CARVE_REJECT, 0, "no primary" }, /* the root's entry */
		{ PRIMARY + 158, 99, CARVE_REJECT, 0, "no primary" }, /* the root's offset */
		{ 18 * BLOCK, 3, CARVE_TRUNCATED, 17 * BLOCK, "do not end" },
		{ 17 * BLOCK + 1, 3, CARVE_TRUNCATED, 17 * BLOCK, "do not end" },
		{ TABLE, 0, CARVE_TRUNCATED, TABLE, "invalid data" }, /* an empty name */
		{ TABLE + 10 + 2, 22, CARVE_TRUNCATED, 22 * BLOCK, "invalid data" },
		{ ROOT, 0, CARVE_TRUNCATED, ROOT, "invalid data" },
		{ ROOT + 2, 21, CARVE_TRUNCATED, ROOT, "invalid data" },
		{ DOCS + 33, 1, CARVE_TRUNCATED, DOCS, "invalid data" },
		{ DOCS + 34 + 34, 20, CARVE_TRUNCATED, DOCS,
			"invalid data" }, /* length of an entry */
		{ DOCS + 34 + 34 + 2, 99, CARVE_TRUNCATED, DOCS, "invalid data" },
		{ 22 * BLOCK + 1499, 1, CARVE_COMPLETE, 23 * BLOCK, NULL },
		{ 22 * BLOCK + 1500, 1, CARVE_TRUNCATED, 22 * BLOCK, "invalid data" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = read_golden();

		bytes.data[cases[i].at] = cases[i].value;
		expect("iso", &bytes, cases[i].verdict, cases[i].length, cases[i].why);
		free(bytes.data);
	}
}

/* Without zeros after the last file, the rest belongs to something else, or to another file
 * system. */
Test(carver_iso, bytes_after_the_last_file)
{
	static const struct {
		int zero_blocks, last_blocks; /* of zeros, before and after others */
		const char *udf, *apple;      /* what the volume may be shared with */
		bool whole;
	} cases[] = { { 7, 1, NULL, NULL, false }, { 8, 1, NULL, NULL, true },
		{ 8, 0, NULL, NULL, false }, { 0, 0, "BEA01", NULL, true },
		{ 0, 0, "BEAST", "EX", false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = read_golden();

		bytes.data[PRIMARY + 80] = bytes.data[PRIMARY + 87] = 23 + 20;
		if (cases[i].apple)
			memcpy(bytes.data, cases[i].apple, 2);
		/* UDF's descriptors go where the table of folders is, which moves. */
		if (cases[i].udf) {
			memcpy(bytes.data + 15 * BLOCK, bytes.data + TABLE, 30);
			bytes.data[PRIMARY + 140] = 15;
			memcpy(bytes.data + TABLE + 1, cases[i].udf, 5);
		}
		bytes_fill(&bytes, 0, (size_t)cases[i].zero_blocks * BLOCK);
		bytes_add_random(&bytes, 6,
			(size_t)(20 - cases[i].zero_blocks - cases[i].last_blocks) * BLOCK);
		bytes_fill(&bytes, 0, (size_t)cases[i].last_blocks * BLOCK);
		if (cases[i].udf && cases[i].whole) { /* UDF's anchor in the last block */
			memset(bytes.data + 42 * BLOCK, 0, 16);
			bytes.data[42 * BLOCK] = 2;
			bytes.data[42 * BLOCK + 12] = 42;
		}
		if (cases[i].whole)
			expect("iso", &bytes, CARVE_COMPLETE, 43 * BLOCK, NULL);
		else
			expect("iso", &bytes, CARVE_TRUNCATED, 23 * BLOCK, "invalid data");
		free(bytes.data);
	}
}

/* Apple's partition map says that there may be more than the volume's files, and not what. */
Test(carver_iso, bytes_of_unknown_partitions_are_not_verified)
{
	struct bytes bytes = read_golden();

	bytes.data[PRIMARY + 80] = bytes.data[PRIMARY + 87] = 23 + 20;
	memcpy(bytes.data, "ER", 2);
	bytes_add_random(&bytes, 6, 20 * BLOCK);
	expect("iso", &bytes, CARVE_UNVERIFIED, 43 * BLOCK, "after the last file");
	free(bytes.data);
}

Test(carver_iso, foreign_bytes_after_a_cut)
{
	struct bytes bytes = read_golden();

	bytes.len = DOCS + 100;
	expect("iso", &bytes, CARVE_TRUNCATED, DOCS, "the image ends");
	bytes.len = DOCS;
	bytes_add_random(&bytes, 7, 9000);
	expect("iso", &bytes, CARVE_TRUNCATED, DOCS, "invalid data");
	bytes.len = ROOT;
	bytes_fill(&bytes, 0, 9000);
	expect("iso", &bytes, CARVE_TRUNCATED, ROOT, "invalid data");
	free(bytes.data);
	/* The only file, wiped from its first byte on. */
	bytes = read_golden();
	bytes.len = DOCS + BLOCK;
	bytes_fill(&bytes, 0, 9000);
	expect("iso", &bytes, CARVE_UNVERIFIED, DOCS + 2 * BLOCK, "as if wiped");
	free(bytes.data);
}

/* xorriso adds 150 blocks of zeros after the volume, and more up to a multiple of 32 blocks. */
Test(carver_iso, xorriso_adds_zeros)
{
	size_t added = (23 + 150 + 31) / 32 * 32 * BLOCK;

	for (int kind = 0; kind < 3; kind++) {
		struct bytes bytes = read_golden();

		if (kind)
			memcpy(bytes.data + PRIMARY + 446, "XORRISO-1.5.4", 13);
		bytes_fill(&bytes, 0, added - bytes.len - (kind == 2));
		bytes_fill(&bytes, 1, BLOCK);
		expect("iso", &bytes, CARVE_COMPLETE, kind == 1 ? added : 23 * BLOCK, NULL);
		free(bytes.data);
	}
}
