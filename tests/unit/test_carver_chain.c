/* A gzip member, compressed stream or card that starts at a sector boundary, directly after another: of
 * the same file, unless it has a name of its own or is damaged. */
#include "carver_case.h"

#include <stdio.h>
#include <string.h>

#define EVEN 1024 /* where the second member of the golden file starts */

static void add_file(struct bytes *bytes, const char *path, size_t len)
{
	FILE *file = fopen(path, "rb");
	uint8_t *room = bytes_grow(bytes, len);

	cr_assert_not_null(file, "%s", path);
	cr_assert_eq(fread(room, 1, len, file), len, "%s", path);
	fclose(file);
}

Test(carver_chain, gzip_members_at_a_sector_boundary)
{
	struct bytes bytes = { 0 };

	add_file(&bytes, "tests/golden/gz/sector-chain.gz", EVEN + 300);
	expect("gz", &bytes, CARVE_COMPLETE, EVEN, "is taken for another file");
	bytes.len = EVEN;
	add_file(&bytes, "tests/golden/gz/named.gz", 600);
	expect("gz", &bytes, CARVE_COMPLETE, EVEN, "is another file");
	/* Not at a sector boundary: one file, which is cut. */
	bytes.len = 0;
	add_file(&bytes, "tests/golden/gz/chain-cut.gz", 700);
	expect("gz", &bytes, CARVE_TRUNCATED, 700, "the image ends");
	free(bytes.data);
}

Test(carver_chain, streams_at_a_sector_boundary)
{
	struct bytes bytes = { 0 };

	add_file(&bytes, "tests/golden/xz/sector-chain.xz", EVEN + 300);
	expect("xz", &bytes, CARVE_COMPLETE, EVEN, "is taken for another file");
	bytes.len = 0;
	add_file(&bytes, "tests/golden/zst/sector-chain.zst", EVEN + 300);
	expect("zst", &bytes, CARVE_COMPLETE, EVEN, "is taken for another file");
	bytes.len = 0;
	add_file(&bytes, "tests/golden/lz4/sector-chain.lz4", EVEN + 300);
	expect("lz4", &bytes, CARVE_COMPLETE, EVEN, "is taken for another file");
	/* Not at a sector boundary. */
	bytes.len = 0;
	add_file(&bytes, "tests/golden/zst/chain.zst", 500);
	expect("zst", &bytes, CARVE_TRUNCATED, 500, "the image ends");
	free(bytes.data);
}

Test(carver_chain, cards_at_a_sector_boundary)
{
	struct bytes bytes = { 0 };

	add_file(&bytes, "tests/golden/vobject/sector-chain.vcf", EVEN / 2 + 60);
	expect("vobject", &bytes, CARVE_COMPLETE, EVEN / 2, "is taken for another file");
	bytes.len = 0;
	add_file(&bytes, "tests/golden/vobject/cards.vcf", 200);
	expect("vobject", &bytes, CARVE_TRUNCATED, 200, "not text");
	free(bytes.data);
}
