/*
 * Decoding pictures counts as work (view_work): a few bytes can describe many samples, so without
 * that a small file of hostile pictures would keep burin busy for hours.
 */
#include "carver_case.h"

static uint8_t *put(uint8_t *to, uint32_t value, unsigned width)
{
	while (width--)
		*to++ = (uint8_t)(value >> 8 * width);
	return to;
}

static uint8_t *put_box(uint8_t *to, size_t len, const char *name)
{
	to = put(to, (uint32_t)len, 4);
	memcpy(to, name, 4);
	return to + 4;
}

/* HEIF: the type of each item is looked for among those that are listed. */
static struct bytes make_heif(uint32_t items, uint32_t types)
{
	const size_t iinf_len = 14 + types * 21, iloc_len = 16 + items * 6 + 8;
	const size_t meta_len = 12 + iinf_len + iloc_len, mdat_len = 8 + 64;
	struct bytes bytes = { .len = 20 + meta_len + mdat_len };
	uint8_t *to = bytes.data = calloc(1, bytes.len);

	memcpy(put_box(to, 20, "ftyp"), "heic\0\0\0\0heic", 12);
	to = put_box(to + 20, meta_len, "meta") + 4;
	to = put(put_box(to, iinf_len, "iinf") + 4, types, 2);
	for (uint32_t i = 0; i < types; i++) {
		to = put(put(put_box(to, 21, "infe"), 2, 1) + 3, 60000, 2) + 2;
		memcpy(to, "hvc1", 4);
		to += 5;
	}
	to = put(put(put_box(to, iloc_len, "iloc") + 4, 0x4400, 2), items, 2);
	for (uint32_t i = 0; i < items; i++)
		to = put(to, i, 2) + 2 + (i + 1 < items ? 2 : 0);
	to = put(put(put(to, 1, 2), (uint32_t)(20 + meta_len + 8), 4), 64, 4);
	to = put_box(to, mdat_len, "mdat") + 64;
	cr_assert_eq(to, bytes.data + bytes.len);
	return bytes;
}

/* However many items and types are described, no more than so many are. */
Test(picture_work, looking_for_the_types_of_items_counts)
{
	struct bytes few = make_heif(100, 100), many = make_heif(4096, 1024),
		     more = make_heif(60000, 3000);
	uint64_t work = carve_work("heif", &few, UINT64_MAX - 1);

	cr_expect(work > 100 * 100 && work < 12 * 100 * 100, "%lu", (unsigned long)work);
	work = carve_work("heif", &many, UINT64_MAX - 1);
	cr_expect(work > 4096 * 1024 && work < 2 * 4096 * 1024, "%lu", (unsigned long)work);
	cr_expect_eq(carve_work("heif", &many, work / 2), UINT64_MAX);
	expect("heif", &many, CARVE_COMPLETE, many.len, NULL);
	work = carve_work("heif", &more, UINT64_MAX - 1);
	cr_expect_lt(work, 2 * 4096 * 1024, "%lu", (unsigned long)work);
	free(few.data);
	free(many.data);
	free(more.data);
}

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
