/* Raw photographs that break off, whose checks search everything after them, and TIFF directories that lead into a
 * circle. */
#include "carver_case.h"
#include "tier.h"

#define HEAP 26
#define TAIL ((size_t)1 << 20)

/* A CRW: in its heap `data` bytes, then a directory of one entry. */
static struct bytes crw(size_t data, bool big_endian)
{
	void (*add)(struct bytes * bytes, uint64_t value, int width) =
		big_endian ? bytes_add_be : bytes_add_le;
	struct bytes bytes = { 0 };

	bytes_add(&bytes, big_endian ? "MM" : "II", 2);
	add(&bytes, HEAP, 4);
	bytes_add(&bytes, "HEAPCCDR", 8);
	bytes_fill(&bytes, 0, HEAP - bytes.len);
	bytes_fill(&bytes, 0xff, data);
	add(&bytes, 1, 2);
	add(&bytes, 0x2005, 2);
	add(&bytes, data, 4);
	add(&bytes, 0, 4);
	add(&bytes, data, 4);
	return bytes;
}

Test(carver_raw, finds_directory_of_crw_wherever_it_is)
{
	static const size_t bases[] = { 4096, 65536, 131072, 196608, (1 << 24) };

	for (size_t b = 0; b < sizeof(bases) / sizeof(*bases); b++)
		for (size_t data = bases[b] - 20; data < bases[b] + 4; data++)
			for (int big = 0; big < 2; big++) {
				struct bytes bytes;
				size_t len;

				if (data > 1 << 20 && data % test_tier(12, 4, 4))
					continue;
				bytes = crw(data, big);
				len = bytes.len;
				bytes_add_random(&bytes, data, 100);
				expect("crw", &bytes, CARVE_COMPLETE, len, NULL);
				free(bytes.data);
			}
}

/* Each directory is read once or twice, not as often as the view has room for it. */
Test(carver_raw, directories_in_a_circle_cost_no_more_in_a_large_image)
{
	struct bytes bytes = bytes_of_file("tests/golden/tiff/loop.tif");
	size_t len = bytes.len;

	bytes_fill(&bytes, 0, TAIL);
	expect("tiff", &bytes, CARVE_UNVERIFIED, len, "directories that overlap");
	cr_assert_leq(carve_work("tiff", &bytes, UINT64_MAX - 1), 64 * len);
	free(bytes.data);
}
