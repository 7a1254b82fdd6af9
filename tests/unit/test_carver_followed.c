/* Bytes after a file that may belong to it: padding, and comments after a page. */
#include "carver_case.h"

/* The file is complete, and ends where the next one begins. */
static void expect_end_before(const char *carver, const char *path, const char *next)
{
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, path);
	len = bytes.len;
	bytes_add_file(&bytes, next);
	expect(carver, &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}

/* An odd chunk's padding is a zero, or it is not there, whatever the form's length is. */
Test(carver_followed, aiff_without_its_padding)
{
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, "tests/golden/aiff/odd-padded.aif");
	len = --bytes.len;
	expect("aiff", &bytes, CARVE_COMPLETE, len, NULL);
	bytes_fill(&bytes, 'x', 600);
	expect("aiff", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}

/* Activities follow each other in one file, as long as they are complete. */
Test(carver_followed, activities_in_a_chain)
{
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, "tests/golden/fit/activity.fit");
	len = bytes.len;
	bytes_add_file(&bytes, "tests/golden/fit/big.fit");
	expect("fit", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	bytes.data[bytes.len - 1] ^= 1;
	expect("fit", &bytes, CARVE_COMPLETE, len, NULL);
	bytes.len -= 2;
	expect("fit", &bytes, CARVE_COMPLETE, len, NULL);
	bytes.data[len - 1] ^= 1;
	expect("fit", &bytes, CARVE_TRUNCATED, len - 2, "CRC wrong");
	free(bytes.data);
}

/* Where zeros go on, nothing shows how many of them are padding. */
Test(carver_followed, archives_before_zeros)
{
	struct bytes bytes = { 0 };

	bytes_add_file(&bytes, "tests/golden/tar/v7.tar");
	bytes_fill(&bytes, 0, 20480);
	expect("tar", &bytes, CARVE_COMPLETE, 10240, "may not belong to it");
	bytes.len = 10240;
	bytes_fill(&bytes, 'x', 600);
	expect("tar", &bytes, CARVE_COMPLETE, 10240, NULL);
	bytes.len = 0;
	bytes_add_file(&bytes, "tests/golden/cpio/newc.cpio");
	bytes.len -= 360;
	bytes_fill(&bytes, 0, 9000);
	expect("cpio", &bytes, CARVE_COMPLETE, 2048, "is a guess");
	free(bytes.data);
}

/* Zeros after a program's last part are the file's where other bytes follow exactly at its unit. */
Test(carver_followed, programs_that_linkers_padded)
{
	struct bytes bytes = { 0 };
	size_t len, padded;

	bytes_add_file(&bytes, "tests/golden/pe/odd-plain.exe");
	len = bytes.len;
	padded = (len + 511) / 512 * 512;
	cr_assert_lt(len, padded);
	bytes_fill(&bytes, 0, padded - len);
	bytes_fill(&bytes, 'x', 600);
	expect("pe", &bytes, CARVE_COMPLETE, padded, NULL);
	bytes.len = padded;
	bytes_fill(&bytes, 0, 600);
	expect("pe", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}

/* Zeros that pictures' writers add show where other bytes follow them, or none. */
Test(carver_followed, pictures_with_padding)
{
	static const struct {
		const char *carver, *path;
		size_t zeros;
	} cases[] = {
		{ "gif", "tests/golden/gif/87a.gif", 9 },
		{ "tiff", "tests/golden/tiff/tiles.tif", 2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = { 0 };
		size_t len;

		bytes_add_file(&bytes, cases[i].path);
		len = bytes.len;
		bytes_fill(&bytes, 0, cases[i].zeros);
		bytes_fill(&bytes, 'x', 600);
		expect(cases[i].carver, &bytes, CARVE_COMPLETE, len + cases[i].zeros, NULL);
		bytes.len = len + cases[i].zeros;
		expect(cases[i].carver, &bytes, CARVE_COMPLETE, bytes.len, NULL);
		bytes.len = len;
		bytes_fill(&bytes, 0, 600);
		expect(cases[i].carver, &bytes, CARVE_COMPLETE, len, NULL);
		free(bytes.data);
	}
}

/* Zeros up to a sector are not the picture's. */
Test(carver_followed, pictures_in_a_sector)
{
	static const uint8_t comment[] = { 0x21, 0xfe, 1, 'x', 0 };
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, "tests/golden/gif/87a.gif");
	bytes.len--;
	while (bytes.len % 512 < 496 || bytes.len % 512 > 506)
		bytes_add(&bytes, comment, sizeof(comment));
	bytes_add(&bytes, ";", 1);
	len = bytes.len;
	bytes_fill(&bytes, 0, 512 - len % 512);
	expect("gif", &bytes, CARVE_COMPLETE, len, NULL);
	bytes_fill(&bytes, 'x', 600);
	expect("gif", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}

/* A comment after a page is that page's when the next one opens at a sector boundary. */
Test(carver_followed, pages_in_a_row)
{
	expect_end_before(
		"html", "tests/golden/html/comment-sector.html", "tests/golden/html/page.html");
}

/* The characters begin with the first colon of a line, not with that of a file after it whose lines end otherwise. */
Test(carver_followed, binhex_before_one_with_other_line_ends)
{
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, "tests/golden/hqx/mac.hqx");
	len = bytes.len;
	bytes_add_file(&bytes, "tests/golden/hqx/text.hqx");
	expect("hqx", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}

static void add_field(
	struct bytes *bytes, unsigned tag, unsigned type, uint32_t count, uint32_t value)
{
	bytes_add_le(bytes, tag, 2);
	bytes_add_le(bytes, type, 2);
	bytes_add_le(bytes, count, 4);
	bytes_add_le(bytes, value, 4);
}

/* How many bytes of directories are read does not depend on what follows: here the same one again and again. */
Test(carver_followed, tiff_whose_directories_overlap)
{
	enum { SUBFILES = 2000, FIELDS = 6, FIRST = 16, LIST = FIRST + 2 + 12 * FIELDS + 4 };
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add(&bytes, "II*", 4);
	bytes_add_le(&bytes, FIRST, 4);
	bytes_add(&bytes, "pixels!", 8);
	bytes_add_le(&bytes, FIELDS, 2);
	add_field(&bytes, 256, 4, 1, 8);
	add_field(&bytes, 257, 4, 1, 1);
	add_field(&bytes, 258, 3, 1, 8);
	add_field(&bytes, 273, 4, 1, 8);
	add_field(&bytes, 279, 4, 1, 8);
	add_field(&bytes, 330, 4, SUBFILES, LIST);
	bytes_add_le(&bytes, 0, 4);
	for (unsigned i = 0; i < SUBFILES; i++)
		bytes_add_le(&bytes, LIST + 4 * SUBFILES, 4);
	bytes_add_le(&bytes, 5, 2);
	for (unsigned i = 0; i < 5; i++)
		add_field(&bytes, 0x9000 + i, 4, 1, i);
	bytes_add_le(&bytes, 0, 4);
	len = bytes.len;
	expect("tiff", &bytes, CARVE_UNVERIFIED, len, "directories that overlap");
	bytes_fill(&bytes, 0xff, 300000);
	expect("tiff", &bytes, CARVE_UNVERIFIED, len, "directories that overlap");
	free(bytes.data);
}

/* Another file's first boxes are of kinds that the format has, too. */
Test(carver_followed, jp2_before_a_film)
{
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, "tests/golden/jp2/plain.jp2");
	len = bytes.len;
	bytes_add(&bytes,
		"\0\0\0\x14"
		"ftypqt  \0\0\0\0qt  \0\0\0\x10moovabcdefgh",
		36);
	expect("jp2", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}

/* A program reads the archive after it, a library does not. */
Test(carver_followed, library_before_an_archive)
{
	expect_end_before(
		"elf", "tests/golden/elf/library-64-le.so", "tests/golden/sevenzip/real-bzip2.7z");
}

/* A few bytes after a mail's closing boundary that are no UTF-8 are text by chance. */
Test(carver_followed, mail_before_text_by_chance)
{
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, "tests/golden/mail/parts.eml");
	len = bytes.len;
	bytes_add(&bytes,
		"\xce\xd9\x85~%a[Nb!\xc7"
		"D\n\x91_M\1",
		17);
	bytes_fill(&bytes, 1, 600);
	expect("mail", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}
