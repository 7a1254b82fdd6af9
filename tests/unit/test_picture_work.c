/*
 * Decoding pictures counts as work (view_work): a few bytes can describe many samples, so without
 * that a small file of hostile pictures would keep burin busy for hours.
 */
#include "carver_case.h"

/* The work of each picture is a multiple of the samples that it decodes to, and a check whose work
 * is limited ends. */
Test(picture_work, decoding_counts)
{
	static const struct {
		const char *carver, *path;
		uint64_t min;
	} cases[] = {
		{ "jxl", "tests/golden/jxl/groups.jxl", 50000 },
		{ "jxl", "tests/golden/jxl/progressive.jxl", 200000 },
		{ "jxl", "tests/golden/jxl/prefix.jxl", 30000 },
		{ "webp", "tests/golden/webp/lossless.webp", 25000 },
		{ "webp", "tests/golden/webp/lossy.webp", 5000 },
		{ "bmp", "tests/golden/bmp/rgb.bmp", 40000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = bytes_of_file(cases[i].path);
		uint64_t work = carve_work(cases[i].carver, &bytes, UINT64_MAX - 1);

		cr_assert_gt(
			work, cases[i].min, "%s: %llu", cases[i].path, (unsigned long long)work);
		cr_assert_lt(work, 8 * cases[i].min, "%s: %llu", cases[i].path,
			(unsigned long long)work);
		cr_assert_eq(carve_work(cases[i].carver, &bytes, work / 2), UINT64_MAX, "%s",
			cases[i].path);
		free(bytes.data);
	}
}
