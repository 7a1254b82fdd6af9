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

static void put(uint8_t *to, uint32_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

enum { STORED_ROW = 60, STORED_ROWS = 40, STORED_TAGS = 9, STORED_STRIPS = 2 };

/* Two strips of rows, the directory after them, and where they are after it. */
static struct bytes make_stored(void)
{
	enum { IFD = 8 + STORED_ROW * STORED_ROWS, AFTER = IFD + 2 + 12 * STORED_TAGS + 4 };
	static const uint16_t tags[STORED_TAGS][3] = { { 256, 1, 20 }, { 257, 1, STORED_ROWS },
		{ 258, 1, 8 }, { 259, 1, 1 }, { 262, 1, 2 }, { 273, STORED_STRIPS, AFTER },
		{ 277, 1, 3 }, { 278, 1, 30 }, { 279, STORED_STRIPS, AFTER + 8 } };
	struct bytes bytes = { 0 };

	bytes_fill(&bytes, 0, AFTER + 16);
	memcpy(bytes.data, "II*", 4);
	put(bytes.data + 4, IFD, 4);
	put(bytes.data + IFD, STORED_TAGS, 2);
	for (size_t i = 0; i < STORED_TAGS; i++) {
		uint8_t *entry = bytes.data + IFD + 2 + 12 * i;

		put(entry, tags[i][0], 2);
		put(entry + 2, 4, 2);
		put(entry + 4, tags[i][1], 4);
		put(entry + 8, tags[i][2], 4);
	}
	put(bytes.data + AFTER, 8, 4);
	put(bytes.data + AFTER + 4, 8 + 30 * STORED_ROW, 4);
	put(bytes.data + AFTER + 8, 30 * STORED_ROW, 4);
	put(bytes.data + AFTER + 12, 10 * STORED_ROW, 4);
	return bytes;
}

static bool is_stored(const struct bytes *bytes, struct carve_stored *stored)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	bool is = carver_find("tiff")->stored(view, stored);

	view_free(view);
	return is;
}

/* Rows that are stored are described; those with a code, in tiles, or with gaps are not. */
Test(carver_tiff, stored_rows)
{
	static const struct {
		size_t at; /* from the directory on */
		uint8_t value;
	} other[] = {
		{ 2 + 12 * 3 + 8, 5 },               /* a code */
		{ 2 + 12 * 4, 322 & 0xff },          /* tiles */
		{ 2 + 12 * STORED_TAGS + 4 + 4, 0 }, /* a gap */
		{ 2 + 12 * STORED_TAGS, 8 },         /* another directory */
		{ 2 + 12 * 6 + 8, 200 },             /* samples */
	};
	struct bytes bytes = make_stored();
	size_t ifd = 8 + STORED_ROW * STORED_ROWS;
	struct carve_stored stored;

	cr_assert(is_stored(&bytes, &stored));
	cr_expect_eq(stored.from, 8);
	cr_expect_eq(stored.to, ifd);
	cr_expect_eq(stored.length, bytes.len);
	cr_expect_eq(stored.row_len, STORED_ROW);
	cr_expect_eq(stored.channels, 3);
	cr_expect_eq(stored.sample_len, 1);
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		uint8_t *byte = bytes.data + ifd + other[i].at, was = *byte;

		*byte = other[i].value;
		cr_expect_not(is_stored(&bytes, &stored), "%zu", i);
		*byte = was;
	}
	bytes.len = ifd + 20;
	cr_expect_not(is_stored(&bytes, &stored));
	free(bytes.data);
}
