/* Sums of words are the same for clusters in another order: of a file in pieces they prove one joint, and not two. */
#include "joints_case.h"

enum { SUM = 32 };

static void expect_one(const char *carver, const char *path, uint64_t before_end)
{
	struct bytes bytes = bytes_of_file(path);
	const uint64_t joints[] = { bytes.len - before_end, bytes.len - before_end + 8 };
	unsigned bits[2];

	cr_expect_eq(prove_joints(carver, &bytes, joints, 1, true, bits), CARVE_COMPLETE);
	cr_expect_eq(bits[0], SUM, "%u", bits[0]);
	cr_expect_eq(prove_joints(carver, &bytes, joints, 2, true, bits), CARVE_COMPLETE);
	cr_expect_eq(bits[0], 0, "%u", bits[0]);
	cr_expect_eq(bits[1], 0, "%u", bits[1]);
	free(bytes.data);
}

Test(carver_sums, a_cabinets_block_proves_one_joint)
{
	expect_one("cab", "tests/golden/cab/mszip.cab", 30);
}

Test(carver_sums, a_woff_table_that_is_not_compressed_proves_one_joint)
{
	expect_one("woff", "tests/golden/woff/stored.woff", 1008 - 500);
}
