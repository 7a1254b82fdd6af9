/* PNG: each field of the first chunk, the order of chunks, CRCs, lengths, and what is read from
 * texts and times. */
#include "carver_case.h"

#include <stdbool.h>
#include <zlib.h>

#define SIGNATURE "\x89PNG\r\n\x1a\n"

static void add_chunk(struct bytes *png, const char *type, const void *data, size_t len)
{
	uint32_t crc =
		(uint32_t)crc32(crc32(0, (const Bytef *)type, 4), data ? data : "", (uInt)len);

	bytes_add_be(png, len, 4);
	bytes_add(png, type, 4);
	bytes_add(png, data, len);
	bytes_add_be(png, crc, 4);
}

static void add_header(struct bytes *png, uint32_t width, uint32_t height, uint8_t depth,
	uint8_t colour, uint8_t interlace)
{
	struct bytes data = { 0 };

	bytes_add_be(&data, width, 4);
	bytes_add_be(&data, height, 4);
	bytes_add_be(&data, (uint64_t)depth << 8 | colour, 2);
	bytes_add_be(&data, interlace, 3);
	add_chunk(png, "IHDR", data.data, 13);
	free(data.data);
}

/* Signature and header of a grey picture of 16 by 16. */
static struct bytes start(void)
{
	struct bytes png = { 0 };

	bytes_add(&png, SIGNATURE, 8);
	add_header(&png, 16, 16, 8, 0, 0);
	return png;
}

/* The picture data of start(): incompressible rows, in a zlib stream. */
static struct bytes picture(void)
{
	struct bytes rows = { 0 }, packed = { 0 };
	uLongf len = 1000;

	for (int row = 0; row < 16; row++) {
		bytes_fill(&rows, 0, 1);
		bytes_add_random(&rows, (uint64_t)row, 16);
	}
	compress2(bytes_grow(&packed, len), &len, rows.data, rows.len, 9);
	packed.len = len;
	free(rows.data);
	return packed;
}

static void add_picture(struct bytes *png)
{
	struct bytes data = picture();

	add_chunk(png, "IDAT", data.data, data.len);
	free(data.data);
}

static void add_end(struct bytes *png)
{
	add_chunk(png, "IEND", NULL, 0);
}

Test(png, complete_and_exact)
{
	struct bytes png = start();
	size_t len;

	add_picture(&png);
	add_end(&png);
	len = png.len;
	expect("png", &png, CARVE_COMPLETE, len, NULL);
	bytes_add_random(&png, 1, 300);
	expect("png", &png, CARVE_COMPLETE, len, NULL);
	free(png.data);
}

Test(png, every_depth_and_colour_type)
{
	static const uint16_t valid[7] = { 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, 0, 1 << 8,
		1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, 1 << 8, 0, 1 << 8 };

	for (uint8_t colour = 0; colour < 9; colour++) {
		for (uint8_t depth = 0; depth < 20; depth++) {
			bool deep = depth == 16 && colour != 3;
			bool want = colour < 7 && valid[colour] &&
				    (deep || (depth < 16 && valid[colour] >> depth & 1));
			struct bytes png = { 0 };
			struct finding found;
			enum verdict verdict;

			bytes_add(&png, SIGNATURE, 8);
			add_header(&png, 16, 16, depth, colour, 0);
			add_chunk(&png, "PLTE", "\1\2\3", 3);
			add_picture(&png);
			add_end(&png);
			verdict = carve("png", png.data, png.len, &found);
			cr_assert_eq(verdict, want ? CARVE_COMPLETE : CARVE_REJECT,
				"depth %d colour %d", depth, colour);
			free(png.data);
		}
	}
}

Test(png, fields_of_the_header)
{
	static const struct {
		uint32_t width, height;
		uint32_t methods; /* compression, filter, interlace */
		const char *why;
	} cases[] = {
		{ 0, 16, 0, "impossible size at 8" },
		{ 16, 0, 0, "impossible size at 8" },
		{ 0x80000000, 16, 0, "impossible size" },
		{ 16, 0xffffffff, 0, "impossible size" },
		{ 16, 16, 0x010000, "unknown compression, filter or interlace" },
		{ 16, 16, 0x000100, "unknown compression, filter or interlace" },
		{ 16, 16, 0x000002, "unknown compression, filter or interlace" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes png = { 0 }, data = { 0 };

		bytes_add_be(&data, cases[i].width, 4);
		bytes_add_be(&data, cases[i].height, 4);
		bytes_add_be(&data, 0x0800, 2);
		bytes_add_be(&data, cases[i].methods, 3);
		bytes_add(&png, SIGNATURE, 8);
		add_chunk(&png, "IHDR", data.data, data.len);
		add_picture(&png);
		add_end(&png);
		expect("png", &png, CARVE_REJECT, 0, cases[i].why);
		free(png.data);
		free(data.data);
	}
}

Test(png, a_bad_start_is_rejected)
{
	struct bytes png = start();

	png.data[3] = 'G' + 1;
	expect("png", &png, CARVE_REJECT, 0, "no PNG signature at 0");
	png.data[3] = 'G';
	png.data[29]++;
	expect("png", &png, CARVE_REJECT, 0, "the CRC of IHDR is wrong at 8");
	png.data[29]--;
	png.data[8] = 0xff;
	expect("png", &png, CARVE_REJECT, 0, "IHDR does not come first at 8");
	png.data[8] = 0;
	png.len = 32;
	expect("png", &png, CARVE_REJECT, 0, "IHDR is cut off at 8");
	png.len = 0;
	expect("png", &png, CARVE_REJECT, 0, "no PNG signature");
	free(png.data);
	png = (struct bytes){ 0 };
	bytes_add(&png, SIGNATURE, 8);
	add_chunk(&png, "IHDR", "\0\0\0\1\0\0\0\1\10\0\0\0", 12);
	expect("png", &png, CARVE_REJECT, 0, "IHDR is not 13 bytes long at 8");
	free(png.data);
}

/* Chunks in a wrong order: the file is valid up to the first that is wrong. */
Test(png, order_of_chunks)
{
	struct bytes png = start();
	size_t valid_end = png.len;

	add_end(&png);
	expect("png", &png, CARVE_TRUNCATED, valid_end, "IEND without any IDAT at 33");
	png.len = valid_end;
	add_header(&png, 16, 16, 8, 0, 0);
	expect("png", &png, CARVE_TRUNCATED, valid_end, "a second IHDR at 33");
	png.len = valid_end;
	add_chunk(&png, "PLTE", "\1\2\3\4", 4);
	expect("png", &png, CARVE_TRUNCATED, valid_end, "PLTE has an impossible length");
	png.len = valid_end;
	add_picture(&png);
	valid_end = png.len;
	add_chunk(&png, "PLTE", "\1\2\3", 3);
	expect("png", &png, CARVE_TRUNCATED, valid_end, "PLTE comes too late");
	png.len = valid_end;
	add_chunk(&png, "tEXt", "Comment\0x", 9);
	valid_end = png.len;
	add_picture(&png);
	expect("png", &png, CARVE_TRUNCATED, valid_end, "IDAT separated from the others");
	png.len = valid_end;
	add_chunk(&png, "IEND", "x", 1);
	expect("png", &png, CARVE_TRUNCATED, valid_end, "IEND is not empty");
	free(png.data);
}

Test(png, a_palette_picture_needs_its_palette)
{
	struct bytes png = { 0 };

	bytes_add(&png, SIGNATURE, 8);
	add_header(&png, 16, 16, 8, 3, 0);
	add_picture(&png);
	add_end(&png);
	expect("png", &png, CARVE_TRUNCATED, 33, "IDAT without the required PLTE");
	free(png.data);
}

Test(png, dispensable_chunks_may_be_damaged)
{
	struct bytes png = start();
	size_t damaged = png.len;

	add_chunk(&png, "tEXt", "Comment\0x", 9);
	png.data[png.len - 1] ^= 1;
	add_picture(&png);
	add_end(&png);
	expect("png", &png, CARVE_COMPLETE, png.len, "the CRC of a chunk at 33 is wrong");
	/* A damaged length leads nowhere. */
	png.data[damaged + 3] += 2;
	expect("png", &png, CARVE_TRUNCATED, damaged, "no chunk at");
	free(png.data);
}

Test(png, damaged_picture_data_ends_the_file)
{
	struct bytes png = start();
	struct finding found;
	size_t data = png.len;

	add_picture(&png);
	add_end(&png);
	png.data[png.len - 12 - 4] ^= 1; /* the CRC alone: the stream is intact to its end */
	expect("png", &png, CARVE_TRUNCATED, png.len - 12 - 4,
		"the CRC of chunk IDAT at 33 is wrong");
	png.data[data + 8] ^= 0x0f; /* not a zlib stream */
	cr_assert_eq(carve("png", png.data, png.len, &found), CARVE_TRUNCATED);
	cr_assert_leq(found.length, data + 8);
	free(png.data);
}

/* Filter bytes above 4 do not start rows of pixels, even if the deflate stream is valid. */
Test(png, rows_have_filters)
{
	struct bytes png = start(), rows = { 0 }, packed = { 0 };
	uLongf len = 4000;
	struct finding found;

	for (int row = 0; row < 16; row++) {
		bytes_fill(&rows, row < 8 ? 4 : 5, 1);
		bytes_add_random(&rows, (uint64_t)row, 160);
	}
	compress2(bytes_grow(&packed, len), &len, rows.data, rows.len, 0);
	png.len = 8;
	add_header(&png, 160, 16, 8, 0, 0);
	add_chunk(&png, "IDAT", packed.data, len);
	png.data[png.len - 1] ^= 1;
	cr_assert_eq(carve("png", png.data, png.len, &found), CARVE_TRUNCATED);
	cr_assert_leq(found.length, 33 + 8 + 2 + 5 + 8 * 161);
	cr_assert_geq(found.length, 33 + 8 + 2 + 5 + 8 * 161 - 256);
	free(png.data);
	free(rows.data);
	free(packed.data);
}

Test(png, hostile_lengths)
{
	static const uint32_t lengths[] = { 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff4 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct bytes png = start();

		bytes_add_be(&png, lengths[i], 4);
		bytes_add(&png, "IDATxxxx", 8);
		if (lengths[i] > 0x7fffffff)
			expect("png", &png, CARVE_TRUNCATED, 33, "no chunk at 33");
		else
			expect("png", &png, CARVE_TRUNCATED, 41, "the image ends at 45");
		free(png.data);
	}
}

static void expect_title(const char *type, const char *text, size_t len, const char *title)
{
	struct bytes png = start();
	struct finding found;

	add_chunk(&png, type, text, len);
	add_picture(&png);
	add_end(&png);
	cr_assert_eq(carve("png", png.data, png.len, &found), CARVE_COMPLETE);
	cr_assert_str_eq(found.title, title, "%s", found.title);
	free(png.data);
}

Test(png, titles)
{
	char text[400] = "Title";

	expect_title("tEXt", "Title\0Sunset", 12, "Sunset");
	expect_title("tEXt", "Title\0  Sunset ", 15, "Sunset");
	expect_title("tEXt", "Title\0", 6, "");
	expect_title("tEXt", "Titles\0Sunset", 13, "");
	expect_title("tEXt", "Author\0me", 9, "");
	expect_title("iTXt", "Title\0\0\0en\0Titel\0Sunset", 23, "Sunset");
	expect_title("iTXt", "Title\0\1\0en\0Titel\0Sunset", 23, "");
	expect_title("iTXt", "Title\0\0\0en", 10, "");
	expect_title("iTXt", "Title\0\0", 7, "");
	expect_title("zTXt", "Title\0\0x", 8, "");
	memset(text + 6, 'x', sizeof(text) - 6);
	{
		struct bytes png = start();
		struct finding found;

		add_chunk(&png, "tEXt", text, sizeof(text));
		add_picture(&png);
		add_end(&png);
		cr_assert_eq(carve("png", png.data, png.len, &found), CARVE_COMPLETE);
		cr_assert_eq(strlen(found.title), sizeof(found.title) - 1);
		free(png.data);
	}
}

Test(png, times)
{
	static const struct {
		const char *data;
		int64_t time;
	} cases[] = {
		{ "\x07\xb2\1\1\0\0\1", 1 },                  /* 1970-01-01 00:00:01 */
		{ "\x07\xe8\2\x1d\x17\x3b\x3a", 1709251198 }, /* 2024-02-29 23:59:58 */
		{ "\x07\xe7\2\x1d\x17\x3b\x3a", 0 },          /* no such day */
		{ "\x07\xe8\x0d\1\0\0\0", 0 },
		{ "\x07\xe8\0\1\0\0\0", 0 },
		{ "\x07\xe8\1\1\x18\0\0", 0 },
		{ "\x07\xe8\1\1\0\x3c\0", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes png = start();
		struct finding found;

		add_chunk(&png, "tIME", cases[i].data, 7);
		add_picture(&png);
		add_end(&png);
		cr_assert_eq(carve("png", png.data, png.len, &found), CARVE_COMPLETE);
		cr_assert_eq(found.time, cases[i].time, "case %zu: %lld", i, (long long)found.time);
		free(png.data);
	}
}

/* More rows than are inflated: what was not looked at is not damaged. */
static struct bytes large_picture(void)
{
	static const uint8_t zeros[1 << 16];
	const uint32_t side = 16500;
	struct bytes png = { 0 }, data = { 0 };
	z_stream stream = { .avail_out = 4 << 20 };
	uint64_t left = side * (side + UINT64_C(1));

	bytes_add(&png, SIGNATURE, 8);
	add_header(&png, side, side, 8, 0, 0);
	stream.next_out = bytes_grow(&data, stream.avail_out);
	cr_assert_eq(deflateInit(&stream, 1), Z_OK);
	while (left) {
		stream.next_in = (uint8_t *)zeros;
		stream.avail_in = left < sizeof(zeros) ? (uInt)left : sizeof(zeros);
		left -= stream.avail_in;
		cr_assert_geq(deflate(&stream, left ? Z_NO_FLUSH : Z_FINISH), Z_OK);
		cr_assert_eq(stream.avail_in, 0);
	}
	add_chunk(&png, "IDAT", data.data, stream.total_out);
	add_end(&png);
	deflateEnd(&stream);
	free(data.data);
	return png;
}

/* A thorough check, as pictures in pieces get, finds the same length: also where no checksum ends the picture
 * data (Apple's variant), or rows are missing. */
Test(png, a_thorough_check_finds_all_of_it)
{
	struct bytes pictures[] = { start(), start(), bytes_of_file("tests/golden/png/apple.png"),
		large_picture() };
	uint8_t rows[4 * 17] = { 0 }, data[256];
	uLongf len = sizeof(data);

	add_picture(&pictures[0]);
	add_end(&pictures[0]);
	cr_assert_eq(compress(data, &len, rows, sizeof(rows)), Z_OK);
	add_chunk(&pictures[1], "IDAT", data, len - 4); /* cut before the checksum */
	add_end(&pictures[1]);
	for (size_t i = 0; i < sizeof(pictures) / sizeof(*pictures); i++) {
		struct bytes *png = &pictures[i];
		struct view *view = view_new_memory(png->data, png->len);
		struct finding found = { 0 };

		view_set_thorough(view, true);
		cr_expect_eq(carver_find("png")->check(view, &found), CARVE_COMPLETE);
		cr_expect_eq(found.length, png->len, "picture %zu: %zu of %zu", i,
			(size_t)found.length, png->len);
		view_free(view);
		free(png->data);
	}
}

/* Each byte of the structure: whatever is changed, the result is not the same complete file. */
Test(png, every_change_is_detected)
{
	struct bytes png = start();
	struct finding found;

	add_picture(&png);
	add_end(&png);
	for (size_t at = 0; at < png.len; at++) {
		for (int bit = 0; bit < 8; bit++) {
			png.data[at] ^= (uint8_t)(1 << bit);
			cr_assert_neq(carve("png", png.data, png.len, &found), CARVE_COMPLETE,
				"byte %zu bit %d", at, bit);
			png.data[at] ^= (uint8_t)(1 << bit);
		}
	}
	free(png.data);
}
