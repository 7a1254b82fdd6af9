/* TIFF: forms that no golden file has. */
#include "carver_case.h"
#include "memory_image.h"

/* A picture with the bits of coded bytes in the other order, as FillOrder says: its entry takes the last one's place. */
static void expect_reversed(const char *path, size_t strip_len, size_t directory)
{
	static const uint8_t order[12] = { 266 & 0xff, 266 >> 8, 3, 0, 1, 0, 0, 0, 2, 0, 0, 0 };
	struct bytes bytes = bytes_of_file(path);
	struct finding found;
	uint8_t *entries = bytes.data + directory + 2;

	memmove(entries + 6 * 12, entries + 5 * 12, 4 * 12);
	memcpy(entries + 5 * 12, order, sizeof(order));
	cr_expect_neq(carve("tiff", bytes.data, bytes.len, &found), CARVE_COMPLETE, "%s", path);
	for (size_t i = 8; i < 8 + strip_len; i++) {
		uint8_t byte = bytes.data[i];

		for (int bit = 0; bit < 8; bit++)
			bytes.data[i] = (uint8_t)(bytes.data[i] << 1 | (byte >> bit & 1));
	}
	expect("tiff", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	free(bytes.data);
}

Test(carver_tiff, tiff_with_reversed_bits)
{
	expect_reversed("tests/golden/tiff/lzw.tif", 6743, 6752);
	expect_reversed("tests/golden/tiff/packbits.tif", 5840, 5848);
	expect_reversed("tests/golden/tiff/deflate.tif", 5081, 5090);
}

static void expect_thorough(const struct bytes *bytes, bool thorough, enum verdict expected)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding found = { 0 };
	enum verdict verdict;

	view_set_thorough(view, thorough);
	verdict = carver_find("tiff")->check(view, &found);
	cr_expect_eq(verdict, expected, "%d: %s", verdict, found.why);
	view_free(view);
}

/* Deflated strips that a file in pieces is not to have: codes that go on after the strip's end, or after its picture's last row. */
Test(carver_tiff, deflate_that_goes_on)
{
	enum { HEIGHT = 5090 + 2 + 12 + 8, ROWS = HEIGHT + 6 * 12, STRIP_LEN = ROWS + 12 };
	struct bytes bytes = bytes_of_file("tests/golden/tiff/deflate.tif");

	expect_thorough(&bytes, true, CARVE_COMPLETE);
	bytes.data[STRIP_LEN + 1]--;
	expect_thorough(&bytes, true, CARVE_TRUNCATED);
	bytes.data[STRIP_LEN + 1]++;
	bytes.data[HEIGHT] /= 2;
	bytes.data[ROWS] /= 2;
	expect_thorough(&bytes, true, CARVE_TRUNCATED);
	free(bytes.data);
}
