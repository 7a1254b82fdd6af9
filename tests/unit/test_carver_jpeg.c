/*
 * JPEG: segments, tables and scans, made by hand with tiny Huffman tables, so that every bit is
 * known:
 *
 *	DC codes: 0 no change, 10 a change of 1 bit, 110 of 11 bits, 1110 of 15 bits; 1111 is no
 *	          code
 *	AC codes: 0 end of block, 10 one coefficient, 110 sixteen zeros, 1110 EOB1 of progressive
 *	          scans; 1111 is no code
 *
 * An empty block is the two bits 00, and a grey picture of 16 by 16 the byte 00.
 */
#include "carver_case.h"
#include "memory_image.h"

#define DC_TABLE "\x00\1\1\1\1\0\0\0\0\0\0\0\0\0\0\0\0\x00\x01\x0b\x0f"
#define AC_TABLE "\x10\1\1\1\1\0\0\0\0\0\0\0\0\0\0\0\0\x00\x01\xf0\x10"
#define EXIF_LITTLE \
	"Exif\0\0II*\0\x08\0\0\0\1\0\x32\1\2\0\x14\0\0\0\x1a\0\0\0\0\0\0\0" \
	"2001:02:03 04:05:06\0"

static void add_segment(struct bytes *jpeg, uint8_t marker, const void *data, size_t len)
{
	bytes_add_be(jpeg, 0xff00u | marker, 2);
	bytes_add_be(jpeg, len + 2, 2);
	bytes_add(jpeg, data, len);
}

static void add_tables(struct bytes *jpeg)
{
	uint8_t quant[65] = { 0 };

	memset(quant + 1, 1, 64);
	add_segment(jpeg, 0xdb, quant, 65);
	add_segment(jpeg, 0xc4, DC_TABLE, 21);
	add_segment(jpeg, 0xc4, AC_TABLE, 21);
}

/* A frame of one component. */
static void add_frame(struct bytes *jpeg, uint8_t sof, uint16_t width, uint16_t height)
{
	uint8_t frame[9] = { 8, (uint8_t)(height >> 8), (uint8_t)height, (uint8_t)(width >> 8),
		(uint8_t)width, 1, 1, 0x11, 0 };

	add_segment(jpeg, sof, frame, 9);
}

static void add_scan(struct bytes *jpeg, uint8_t first, uint8_t last, uint8_t approx)
{
	uint8_t scan[6] = { 1, 1, 0x00, first, last, approx };

	add_segment(jpeg, 0xda, scan, 6);
}

/* Everything before the coded data of a grey picture. */
static struct bytes start(uint16_t width, uint16_t height)
{
	struct bytes jpeg = { 0 };

	bytes_add(&jpeg, "\xff\xd8", 2);
	add_segment(&jpeg, 0xe0, "JFIF\0\1\1\0\0\1\0\1\0\0", 14);
	add_tables(&jpeg);
	add_frame(&jpeg, 0xc0, width, height);
	add_scan(&jpeg, 0, 63, 0);
	return jpeg;
}

static void add_end(struct bytes *jpeg)
{
	bytes_add(jpeg, "\xff\xd9", 2);
}

/* A grey picture of 16 by 16 with this coded data and EOI. */
static struct bytes with_data(const char *data, size_t len)
{
	struct bytes jpeg = start(16, 16);

	bytes_add(&jpeg, data, len);
	add_end(&jpeg);
	return jpeg;
}

Test(jpeg, complete_and_exact)
{
	struct bytes jpeg = with_data("\0", 1);
	size_t len = jpeg.len;

	expect("jpeg", &jpeg, CARVE_COMPLETE, len, NULL);
	bytes_add_random(&jpeg, 1, 300);
	expect("jpeg", &jpeg, CARVE_COMPLETE, len, NULL);
	free(jpeg.data);
}

/* Bits are given in hex; every picture has four blocks. */
Test(jpeg, coded_data)
{
	static const struct {
		const char *data;
		size_t len;
		const char *why; /* NULL: complete; "other...": unverified */
	} cases[] = {
		{ "\x00", 1, NULL },
		/* DC 10 1, 10 0, then empty blocks: 101 0 100 0 00 00. */
		{ "\xa8\x0f", 2, NULL },
		/* A stuffed FF: 1110 + 15 bits would be far out of range, 1111 is not a code. */
		{ "\xff\0\x00", 3, "an unknown Huffman code" },
		{ "\xf0\x00", 2, "an unknown Huffman code" },
		/* DC 0, AC 1111. */
		{ "\x78\x00", 2, "an unknown Huffman code" },
		/* DC 0, then 16 zeros four times: 0 110 110 110 110. */
		{ "\x6d\xb0\x00", 3, "more than 64 coefficients" },
		/* DC 0, 16 zeros three times, end; three empty blocks. */
		{ "\x6d\x80\x00", 3, NULL },
		/* DC of 11 bits, 2047, is out of range once two of them follow: 110 11111111111 0 .
		   110 1111... */
		{ "\xdf\xfd\xbf\xf8\x00\x00", 6, "a brightness out of range" },
		/* DC 0, then EOB1, which sequential scans do not have: 0 1110 */
		{ "\x70\x00", 2, "an unknown Huffman code" },
		/* Bytes between the last block and EOI: a few, equal ones, and data. */
		{ "\x00\x01\x02\x03", 4, NULL },
		{ "\x00\x01\x01\x01\x01\x01", 6, NULL },
		{ "\x00 text", 6, "other data after the last block" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes jpeg = with_data(cases[i].data, cases[i].len);
		struct finding found;
		enum verdict verdict = carve("jpeg", jpeg.data, jpeg.len, &found);

		if (!cases[i].why) {
			cr_assert_eq(verdict, CARVE_COMPLETE, "case %zu: %s", i, found.why);
			cr_assert_eq(found.length, jpeg.len, "case %zu", i);
		} else if (strncmp(cases[i].why, "other", 5) == 0) {
			cr_assert_eq(verdict, CARVE_UNVERIFIED, "case %zu: %s", i, found.why);
			cr_assert_eq(found.length, jpeg.len, "case %zu", i);
		} else {
			cr_assert_eq(verdict, CARVE_TRUNCATED, "case %zu: %s", i, found.why);
			cr_assert_lt(found.length, jpeg.len, "case %zu", i);
		}
		cr_assert(!cases[i].why || strstr(found.why, cases[i].why), "case %zu: %s", i,
			found.why);
		free(jpeg.data);
	}
}

Test(jpeg, data_that_ends_early)
{
	struct bytes jpeg = with_data("", 0);

	expect("jpeg", &jpeg, CARVE_TRUNCATED, jpeg.len, "a marker in the middle of coded data");
	jpeg.len -= 2;
	expect("jpeg", &jpeg, CARVE_TRUNCATED, jpeg.len, "the image ends");
	bytes_add(&jpeg, "\0", 1);
	expect("jpeg", &jpeg, CARVE_TRUNCATED, jpeg.len, "the image ends");
	bytes_add(&jpeg, "\xff", 1);
	expect("jpeg", &jpeg, CARVE_TRUNCATED, jpeg.len, "the image ends");
	bytes_add(&jpeg, "\xff\xff\xff\xd9", 4);
	expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
	free(jpeg.data);
}

/* The file ends where another picture starts in the middle of the data. */
Test(jpeg, cut_by_another_picture)
{
	struct bytes jpeg = start(640, 480);
	size_t len;

	bytes_fill(&jpeg, 0, 30);
	len = jpeg.len;
	bytes_add(&jpeg, "\xff\xd8\xff\xe0", 4);
	bytes_add_random(&jpeg, 3, 100);
	expect("jpeg", &jpeg, CARVE_TRUNCATED, len, "a marker in the middle of coded data");
	free(jpeg.data);
}

static struct bytes with_restarts(const char *data, size_t len)
{
	struct bytes jpeg = { 0 };

	bytes_add(&jpeg, "\xff\xd8", 2);
	add_tables(&jpeg);
	add_segment(&jpeg, 0xdd, "\0\1", 2);
	add_frame(&jpeg, 0xc0, 16, 16);
	add_scan(&jpeg, 0, 63, 0);
	bytes_add(&jpeg, data, len);
	add_end(&jpeg);
	return jpeg;
}

/* Decoding costs several units a byte, so that the work of many headers before the same data is
 * bounded by what it takes. */
Test(jpeg, decoding_counts_as_work)
{
	struct bytes jpeg = start(4096, 4096);
	size_t data_len = 512 * 512 / 4;
	struct finding found = { 0 };
	struct view *view;

	bytes_fill(&jpeg, 0, data_len);
	add_end(&jpeg);
	view = view_new_memory(jpeg.data, jpeg.len);
	cr_assert_eq(carver_find("jpeg")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	cr_assert_gt(view_work_done(view), 6 * data_len);
	cr_assert_lt(view_work_done(view), 24 * data_len);
	view_free(view);
	free(jpeg.data);
}

Test(jpeg, restart_markers)
{
	struct bytes jpeg = with_restarts("\x3f\xff\xd0\x3f\xff\xd1\x3f\xff\xd2\x3f", 10);
	size_t data = jpeg.len - 12;

	expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
	jpeg.data[data + 5] = 0xd2;
	expect("jpeg", &jpeg, CARVE_TRUNCATED, data + 4, "a restart marker out of order");
	jpeg.data[data + 4] = 0;
	/* Valid up to the last block's bits, not up to the marker. */
	expect("jpeg", &jpeg, CARVE_TRUNCATED, data + 4, "a restart marker out of order");
	free(jpeg.data);
	/* One after the last interval, too; only that which would be next. */
	jpeg = with_restarts("\x3f\xff\xd0\x3f\xff\xd1\x3f\xff\xd2\x3f\xff\xd3", 12);
	expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
	jpeg.data[jpeg.len - 3] = 0xd4;
	expect("jpeg", &jpeg, CARVE_TRUNCATED, jpeg.len - 4, "a marker that does not occur");
	free(jpeg.data);
	/* Without DRI there must be none. */
	jpeg = with_data("\xff\xd0\0", 3);
	expect("jpeg", &jpeg, CARVE_TRUNCATED, jpeg.len - 5, "a marker in the middle");
	free(jpeg.data);
}

/* Progressive: DC, its refinement, AC, its refinement. */
static struct bytes progressive(
	const char *ac, size_t ac_len, const char *refined, size_t refined_len)
{
	struct bytes jpeg = { 0 };

	bytes_add(&jpeg, "\xff\xd8", 2);
	add_tables(&jpeg);
	add_frame(&jpeg, 0xc2, 16, 16);
	add_scan(&jpeg, 0, 0, 0x01);
	bytes_add(&jpeg, "\x0f", 1); /* four times no change */
	add_scan(&jpeg, 0, 0, 0x10);
	bytes_add(&jpeg, "\xaf", 1); /* four bits */
	add_scan(&jpeg, 1, 63, 0x01);
	bytes_add(&jpeg, ac, ac_len);
	add_scan(&jpeg, 1, 63, 0x10);
	bytes_add(&jpeg, refined, refined_len);
	add_end(&jpeg);
	return jpeg;
}

Test(jpeg, progressive_scans)
{
	/* AC: 10 1 0 | EOB1 and a bit 1: this block and two more, 1110 1. Then refinement: one
	 * correction bit before the end in the first block (0 1), and EOB1 for three. 101 0 1110 |
	 * 1: A E, 80. Refined: EOB (0) and the bit 1, then 1110 1. */
	struct bytes jpeg = progressive("\xae\xff\0", 3, "\x7a\xff\0", 3);
	struct finding found;

	expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
	free(jpeg.data);
	/* An EOB run longer than the picture is fine: it ends with the scan. */
	jpeg = progressive("\xef\x7f", 2, "\xef\x7f", 2);
	expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
	free(jpeg.data);
	/* 16 zeros four times: only 63 coefficients are in the scan. */
	jpeg = progressive("\xdb\x60", 2, "\x7a", 1);
	cr_assert_eq(carve("jpeg", jpeg.data, jpeg.len, &found), CARVE_TRUNCATED);
	free(jpeg.data);
	/* Not a code. */
	jpeg = progressive("\xae\xff\0", 3, "\xf0", 1);
	cr_assert_eq(carve("jpeg", jpeg.data, jpeg.len, &found), CARVE_TRUNCATED);
	cr_assert_not_null(strstr(found.why, "an unknown Huffman code"), "%s", found.why);
	free(jpeg.data);
}

/* Arithmetic coding is not decoded; its markers are followed. */
Test(jpeg, data_that_is_not_decoded)
{
	struct bytes jpeg = { 0 };
	size_t data;

	bytes_add(&jpeg, "\xff\xd8", 2);
	add_tables(&jpeg);
	add_frame(&jpeg, 0xc9, 640, 480);
	add_segment(&jpeg, 0xcc, "\0\x10", 2);
	add_scan(&jpeg, 0, 63, 0);
	data = jpeg.len;
	bytes_fill(&jpeg, 0x5a, 1000);
	bytes_add(&jpeg, "\xff\0", 2);
	bytes_fill(&jpeg, 0x5a, 1000);
	add_end(&jpeg);
	expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
	/* Too long without FF. */
	jpeg.len = data + 1002;
	bytes_fill(&jpeg, 0, 100000);
	add_end(&jpeg);
	expect("jpeg", &jpeg, CARVE_TRUNCATED, data + 1002, "data that is not coded picture data");
	jpeg.len = data + 1002;
	bytes_fill(&jpeg, 'x', 30000);
	bytes_add(&jpeg, "\xff\0", 2);
	add_end(&jpeg);
	expect("jpeg", &jpeg, CARVE_TRUNCATED, data + 1002, "data that is not coded picture data");
	/* A restart marker without DRI. */
	jpeg.len = data + 1002;
	bytes_add(&jpeg, "\xff\xd0", 2);
	add_end(&jpeg);
	expect("jpeg", &jpeg, CARVE_TRUNCATED, data + 1002, "a restart marker out of order");
	free(jpeg.data);
}

/* Segments that are wrong before any scan: too little to carve, unless something else certainly
 * belongs to a JPEG. */
Test(jpeg, a_bad_start_is_rejected)
{
	static const struct {
		const char *data;
		size_t len;
		const char *why;
	} cases[] = {
		{ "", 0, "no SOI at 0" },
		{ "\xff\xd9", 2, "no SOI at 0" },
		{ "\xff\xd8", 2, "the image ends at 2" },
		{ "\xff\xd8\xff", 3, "the image ends at 2" },
		{ "\xff\xd8\x00\x00", 4, "no marker at 2" },
		{ "\xff\xd8\xff\xd9", 4, "EOI at 4, before any picture data" },
		{ "\xff\xd8\xff\xd0\0\0", 6, "a marker that does not occur in JPEG at 4" },
		{ "\xff\xd8\xff\xf7\0\2", 6, "a marker that does not occur in JPEG at 4" },
		{ "\xff\xd8\xff\x01\0\2", 6, "a marker that does not occur in JPEG at 4" },
		{ "\xff\xd8\xff\xe0\0\1", 6, "an impossible segment length at 4" },
		{ "\xff\xd8\xff\xe0\0\x07JFIF\0abc", 14, "no marker at 11" },
		{ "\xff\xd8\xff\xda\0\x08\1\1\0\0\x3f\0", 12, "a scan without a frame at 4" },
		{ "\xff\xd8\xff\xdb\0\3\x20", 7, "an impossible quantization table at 4" },
		{ "\xff\xd8\xff\xdb\0\3\x04", 7, "an impossible quantization table at 4" },
		{ "\xff\xd8\xff\xc4\0\3\x00", 7, "an impossible Huffman table at 4" },
		{ "\xff\xd8\xff\xcc\0\3\x00", 7,
			"an arithmetic coding segment of odd length at 4" },
		{ "\xff\xd8\xff\xcc\0\4\x20\0", 8, "an impossible arithmetic coding table at 4" },
		{ "\xff\xd8\xff\xdd\0\3\x00", 7, "a segment of the wrong length at 4" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes jpeg = { 0 };

		bytes_add(&jpeg, cases[i].data, cases[i].len);
		expect("jpeg", &jpeg, CARVE_REJECT, 0, cases[i].why);
		free(jpeg.data);
	}
}

Test(jpeg, fields_of_the_frame)
{
	static const struct {
		uint8_t marker;
		const char *data;
		size_t len;
		const char *why; /* NULL: fine */
	} cases[] = {
		{ 0xc0, "\x08\0\x10\0\x10\1\1\x11\0", 9, NULL },
		{ 0xc0, "\x0c\0\x10\0\x10\1\1\x11\0", 9, "an impossible precision" },
		{ 0xc1, "\x0c\0\x10\0\x10\1\1\x11\0", 9, NULL },
		{ 0xc3, "\x07\0\x10\0\x10\1\1\x11\0", 9, NULL },
		{ 0xc3, "\x11\0\x10\0\x10\1\1\x11\0", 9, "an impossible precision" },
		{ 0xc0, "\x08\0\x10\0\0\1\1\x11\0", 9, "a frame without width" },
		{ 0xc0, "\x08\0\x10\0\x10\1\1\x01\0", 9, "an impossible component" },
		{ 0xc0, "\x08\0\x10\0\x10\1\1\x15\0", 9, "an impossible component" },
		{ 0xc0, "\x08\0\x10\0\x10\1\1\x11\4", 9, "an impossible component" },
		{ 0xc0, "\x08\0\x10\0\x10\2\1\x11\0\1\x11\0", 12, "two equal components" },
		{ 0xc0, "\x08\0\x10\0\x10\2\1\x11\0", 9, "a frame header of the wrong length" },
		{ 0xc0, "\x08\0\x10\0\x10\0", 6, "a frame header of the wrong length" },
		{ 0xc0, "\x08\0\x10\0", 4, "a frame header of the wrong length" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes jpeg = { 0 };
		size_t frame;

		bytes_add(&jpeg, "\xff\xd8", 2);
		add_tables(&jpeg);
		frame = jpeg.len;
		add_segment(&jpeg, cases[i].marker, cases[i].data, cases[i].len);
		add_scan(&jpeg, 0, 63, 0);
		bytes_add(&jpeg, "\0", 1);
		add_end(&jpeg);
		if (cases[i].why)
			expect("jpeg", &jpeg, CARVE_TRUNCATED, frame, cases[i].why);
		else
			expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
		free(jpeg.data);
	}
}

Test(jpeg, fields_of_the_scan)
{
	static const struct {
		const char *data;
		size_t len;
		const char *why;
	} cases[] = {
		{ "\1\2\0\0\x3f\0", 6, "an unknown component or table" },
		{ "\1\1\x40\0\x3f\0", 6, "an unknown component or table" },
		{ "\1\1\x04\0\x3f\0", 6, "an unknown component or table" },
		{ "\2\1\0\1\0\0\x3f\0", 8, "one component twice" },
		{ "\0\0\x3f\0", 4, "a scan header of the wrong length" },
		{ "\5\1\0\0\x3f\0", 6, "a scan header of the wrong length" },
		{ "\2\1\0\0\x3f\0", 6, "a scan header of the wrong length" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes jpeg = start(16, 16);
		size_t scan = jpeg.len - 10;

		jpeg.len = scan;
		add_segment(&jpeg, 0xda, cases[i].data, cases[i].len);
		bytes_add(&jpeg, "\0\xff\xd9", 3);
		expect("jpeg", &jpeg, CARVE_TRUNCATED, scan, cases[i].why);
		free(jpeg.data);
	}
}

Test(jpeg, ranges_of_progressive_scans)
{
	static const uint8_t bad[][3] = { { 0, 64, 0 }, { 5, 4, 0 }, { 0, 5, 0 }, { 0, 0, 0x0e },
		{ 0, 0, 0x20 } };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct bytes jpeg = { 0 };
		size_t scan;

		bytes_add(&jpeg, "\xff\xd8", 2);
		add_tables(&jpeg);
		add_frame(&jpeg, 0xc2, 16, 16);
		scan = jpeg.len;
		add_scan(&jpeg, bad[i][0], bad[i][1], bad[i][2]);
		bytes_add(&jpeg, "\0\xff\xd9", 3);
		expect("jpeg", &jpeg, CARVE_TRUNCATED, scan, "a scan with");
		free(jpeg.data);
	}
}

Test(jpeg, huffman_tables_that_cannot_be)
{
	struct bytes jpeg = start(16, 16);
	uint8_t table[17 + 256] = { 0 };

	/* Three codes of one bit. */
	jpeg.len = 20;
	memcpy(table, "\0\3", 2);
	add_segment(&jpeg, 0xc4, table, 20);
	expect("jpeg", &jpeg, CARVE_REJECT, 0, "an impossible Huffman table");
	/* More values than the segment has. */
	jpeg.len = 20;
	memcpy(table, "\0\2", 2);
	add_segment(&jpeg, 0xc4, table, 18);
	expect("jpeg", &jpeg, CARVE_REJECT, 0, "an impossible Huffman table");
	free(jpeg.data);
}

Test(jpeg, missing_components)
{
	struct bytes jpeg = { 0 };

	bytes_add(&jpeg, "\xff\xd8", 2);
	add_tables(&jpeg);
	add_segment(&jpeg, 0xc0, "\x08\0\x10\0\x10\2\1\x11\0\2\x11\0", 12);
	add_scan(&jpeg, 0, 63, 0);
	bytes_add(&jpeg, "\0", 1);
	add_end(&jpeg);
	expect("jpeg", &jpeg, CARVE_TRUNCATED, jpeg.len, "EOI before all components");
	free(jpeg.data);
}

/* The height can follow the first scan. */
Test(jpeg, height_from_dnl)
{
	struct bytes jpeg = start(16, 0);

	bytes_add(&jpeg, "\0", 1);
	add_segment(&jpeg, 0xdc, "\0\x10", 2);
	add_end(&jpeg);
	expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
	free(jpeg.data);
}

/* EXIF alone is enough to identify a JPEG, and its dates are read. */
Test(jpeg, exif)
{
	struct bytes jpeg = { 0 };
	struct finding found;
	uint8_t exif[sizeof(EXIF_LITTLE) - 1];

	memcpy(exif, EXIF_LITTLE, sizeof(exif));
	bytes_add(&jpeg, "\xff\xd8", 2);
	add_segment(&jpeg, 0xe1, exif, sizeof(exif));
	cr_assert_eq(carve("jpeg", jpeg.data, jpeg.len, &found), CARVE_TRUNCATED, "%s", found.why);
	cr_assert_eq(
		found.time, 981173106, "%lld", (long long)found.time); /* 2001-02-03 04:05:06 */
	/* Every byte of it damaged, and every length. */
	for (size_t at = 6; at < jpeg.len; at++) {
		uint8_t kept = jpeg.data[at];

		for (int value = 0; value < 256; value += 15) {
			jpeg.data[at] = (uint8_t)value;
			carve("jpeg", jpeg.data, jpeg.len, &found);
		}
		jpeg.data[at] = kept;
	}
	jpeg.len = 0;
	bytes_add(&jpeg, "\xff\xd8", 2);
	add_segment(&jpeg, 0xe1, "Exif\0\0xx*\0\x08\0\0\0", 14);
	expect("jpeg", &jpeg, CARVE_REJECT, 0, "before any picture data");
	free(jpeg.data);
}

/* A thumbnail in APP1 has an EOI of its own. */
Test(jpeg, thumbnails_are_skipped)
{
	struct bytes thumb = with_data("\0", 1), jpeg = { 0 }, rest = with_data("\0", 1);

	bytes_add(&jpeg, "\xff\xd8", 2);
	add_segment(&jpeg, 0xe1, thumb.data, thumb.len);
	bytes_add(&jpeg, rest.data + 2, rest.len - 2);
	expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
	free(jpeg.data);
	free(rest.data);
	free(thumb.data);
}

/* ---- files in pieces ------------------------------------------------------------------------ */

/* Checks the picture as a file in pieces: a segment with this marker is its second one. With `wrong` bytes from the segment's offset
 * `at` on that are not its own it is doubted, and not as a file in one piece. */
static void expect_doubt(
	uint8_t marker, const struct bytes *content, size_t at, uint8_t wrong, size_t known)
{
	struct bytes jpeg = { 0 }, rest = with_data("\0", 1);
	const size_t before = 2 + 18; /* SOI, and JFIF's segment */

	bytes_add(&jpeg, rest.data, before);
	add_segment(&jpeg, marker, content->data, content->len);
	bytes_add(&jpeg, rest.data + before, rest.len - before);
	for (int i = 0; i < 3; i++) {
		struct view *view = view_new_memory(jpeg.data, jpeg.len);
		struct finding found = { 0 };
		enum verdict expected = i == 2 ? CARVE_TRUNCATED : CARVE_COMPLETE;

		view_set_thorough(view, i != 1);
		cr_expect_eq(
			carver_find("jpeg")->check(view, &found), expected, "%d: %s", i, found.why);
		cr_expect_eq(found.length, i == 2 ? before + 4 + known : jpeg.len);
		view_free(view);
		if (!i)
			memset(jpeg.data + before + 4 + at, wrong, 64);
	}
	free(jpeg.data);
	free(rest.data);
}

/* The same with a segment that is valid, of which `unknown` bytes are unverified. */
static void expect_unknown(
	uint8_t marker, const struct bytes *content, enum verdict expected, uint64_t unknown)
{
	struct bytes rest = with_data("\0", 1), jpeg = { 0 };
	struct finding found = { 0 };
	struct view *view;

	bytes_add(&jpeg, rest.data, 20);
	add_segment(&jpeg, marker, content->data, content->len);
	bytes_add(&jpeg, rest.data + 20, rest.len - 20);
	view = view_new_memory(jpeg.data, jpeg.len);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("jpeg")->check(view, &found), expected, "%s", found.why);
	cr_expect_eq(view_unverified_ranges(view)->count, unknown > 0);
	cr_expect(!unknown || view_unverified_ranges(view)->items[0].length == unknown);
	view_free(view);
	free(jpeg.data);
	free(rest.data);
}

/* Nothing else would show that a cluster of another file is among what fills XMP, say. */
Test(jpeg, what_segments_have_is_doubted_where_pieces_meet)
{
	struct bytes xmp = { 0 }, icc = { 0 }, exif = { 0 }, photoshop = { 0 }, wide = { 0 };
	struct bytes gps = { 0 };

	bytes_add(&xmp, "http://ns.adobe.com/xap/1.0/", 29);
	bytes_add(&xmp, "<?xpacket begin=\"\"?><!-- --><x:a b='c'><d/>", 43);
	bytes_fill(&xmp, ' ', 400);
	bytes_add(&xmp, "</x:a>", 6);
	bytes_fill(&xmp, ' ', 400);
	bytes_add(&xmp, "<?xpacket end='w'?>", 19);
	expect_doubt(0xe1, &xmp, 200, 'x' & 0x1f, 29 + 128);
	expect_doubt(0xe1, &xmp, 600, 'x', 29 + 512);
	expect_doubt(0xe1, &xmp, 600, 0xc3, 29 + 512);

	bytes_add(&icc, "ICC_PROFILE\0\1\1", 14);
	bytes_add_be(&icc, 700, 4);
	bytes_fill(&icc, 0, 32);
	bytes_add(&icc, "acsp", 4);
	bytes_fill(&icc, 0, 88);
	bytes_add_be(&icc, 1, 4);
	bytes_add(&icc, "rTRC", 4);
	bytes_add_be(&icc, 144, 4);
	bytes_add_be(&icc, 556, 4);
	bytes_add(&icc, "curv\0\0\0\0", 8);
	bytes_add_be(&icc, 272, 4);
	for (unsigned i = 0; i < 272; i++)
		bytes_add_be(&icc, 240 * i, 2);
	expect_doubt(0xe2, &icc, 300, 0, 12);

	bytes_add(&exif, EXIF_LITTLE, sizeof(EXIF_LITTLE) - 1);
	bytes_fill(&exif, 0, 600);
	/* The entry's values would be elsewhere. */
	expect_doubt(0xe1, &exif, 20, 0xee, 14);

	/* A directory of positions that has none. */
	bytes_add(&gps, "Exif\0\0II*\0\x08\0\0\0\1\0\x25\x88\4\0\1\0\0\0\x1a\0\0\0\0\0\0\0", 32);
	bytes_fill(&gps, 0, 600);
	expect_unknown(0xe1, &gps, CARVE_COMPLETE, 0);
	gps.data[32 + 2] = 1;
	expect_unknown(0xe1, &gps, CARVE_TRUNCATED, 0);

	/* A camera's notes. */
	memcpy(exif.data + 6 + 8 + 2, "\x7c\x92\7\0\0\2\0\0\x2e\0\0\0", 12);
	expect_unknown(0xe1, &exif, CARVE_COMPLETE, 0);
	exif.data[200] = 1;
	expect_unknown(0xe1, &exif, CARVE_COMPLETE, 512);

	bytes_add(&photoshop, "Photoshop 3.0\0008BIM\4\4\0\0\0\0\2\0", 26);
	bytes_fill(&photoshop, 1, 512);
	bytes_add(&photoshop, "8BIM\4\5\0\0\0\0\0\2xx", 14);
	expect_doubt(0xed, &photoshop, 480, 0x20, 26);
	/* One that is XML, as Macintoshes' printers have, is right up to what is not. */
	photoshop.len = 14;
	bytes_add(&photoshop, "8BIM\3\xea\0\0\0\0\2\x4e", 12);
	bytes_add(&photoshop, "<?xml version='1.0'?><plist><dict>", 34);
	bytes_fill(&photoshop, ' ', 541);
	bytes_add(&photoshop, "</dict></plist>", 15);
	expect_doubt(0xed, &photoshop, 300, 0x1f, 26 + 256);

	/* UTF-16 is not looked into. */
	bytes_add(&wide, "http://ns.adobe.com/xap/1.0/", 29);
	bytes_add(&wide, "<\0?\0x\0", 6);
	bytes_fill(&wide, 0, 600);
	expect_unknown(0xe1, &wide, CARVE_COMPLETE, wide.len - 29);
	free(wide.data);
	free(gps.data);
	free(xmp.data);
	free(icc.data);
	free(exif.data);
	free(photoshop.data);
}

/* What is before a state among the segments is not looked into again, and what is after it is, though that is no thorough check. */
Test(jpeg, segments_after_a_state_are_doubted)
{
	struct bytes jpeg = { 0 }, rest = with_data("\0", 1), xmp = { 0 };
	struct finding found = { 0 };
	const struct carve_state *state;
	struct view *view, *again;
	uint64_t first;

	bytes_add(&xmp, "http://ns.adobe.com/xap/1.0/", 29);
	bytes_add(&xmp, "<a>", 3);
	bytes_fill(&xmp, ' ', 1000);
	bytes_add(&xmp, "</a>", 4);
	bytes_add(&jpeg, rest.data, 20);
	for (int i = 0; i < 2; i++)
		add_segment(&jpeg, 0xe1, xmp.data, xmp.len);
	bytes_add(&jpeg, rest.data + 20, rest.len - 20);
	first = 20 + 4 + xmp.len;
	view = view_new_memory(jpeg.data, jpeg.len);
	view_keep_states(view, 1);
	cr_expect_eq(carver_find("jpeg")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	state = view_state_before(view, first);
	cr_assert(state);
	cr_expect_eq(state->offset, first);
	for (int i = 0; i < 2; i++) {
		jpeg.data[(i ? first : 20) + 500] = '<';
		again = view_new_memory(jpeg.data, jpeg.len);
		found = (struct finding){ 0 };
		cr_expect_eq(carver_find("jpeg")->resume(again, state, &found),
			i ? CARVE_TRUNCATED : CARVE_COMPLETE, "%s", found.why);
		cr_expect(!i || (found.length > first + 29 && found.length <= first + 500));
		view_free(again);
	}
	/* The first marker has a state, too. */
	state = view_state_before(view, 20);
	cr_assert(state);
	cr_expect_eq(state->offset, 2);
	again = view_new_memory(jpeg.data, jpeg.len);
	found = (struct finding){ 0 };
	cr_expect_eq(carver_find("jpeg")->resume(again, state, &found), CARVE_TRUNCATED);
	cr_expect(found.length > 20 + 29 && found.length <= 520, "%llu",
		(unsigned long long)found.length);
	view_free(again);
	view_free(view);
	free(jpeg.data);
	free(rest.data);
	free(xmp.data);
}
