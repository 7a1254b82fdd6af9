/* ZIP: each record and its fields, ends of members, ZIP64, archives that start elsewhere, and the
 * formats made of archives. */
#include "carver_case.h"
#include "tier.h"

#include <stdbool.h>
#include <stdio.h>
#include <zlib.h>

#define TEXT "what is stored in an archive"
#define TEXT_LEN (sizeof(TEXT) - 1)
#define DATE 0x585dbf7d /* 2024-02-29 23:59:58 */

/* A member to write; its data is stored. */
struct zip_part {
	const char *name, *data;
	bool streamed;
	int signature; /* of the descriptor: 4 bytes or 0 */
	int width;     /* of the descriptor's sizes */
};

static uint32_t crc_of(const char *data)
{
	return (uint32_t)crc32(0, (const Bytef *)data, (uInt)strlen(data));
}

static void add_local(struct bytes *zip, const struct zip_part *part)
{
	size_t len = strlen(part->data);

	bytes_add(zip, "PK\3\4", 4);
	bytes_add_le(zip, 20, 2);
	bytes_add_le(zip, part->streamed ? 8 : 0, 2);
	bytes_add_le(zip, 0, 2);
	bytes_add_le(zip, DATE & 0xffff, 2);
	bytes_add_le(zip, DATE >> 16, 2);
	bytes_add_le(zip, part->streamed ? 0 : crc_of(part->data), 4);
	bytes_add_le(zip, part->streamed ? 0 : len, 4);
	bytes_add_le(zip, part->streamed ? 0 : len, 4);
	bytes_add_le(zip, strlen(part->name), 2);
	bytes_add_le(zip, 0, 2);
	bytes_add(zip, part->name, strlen(part->name));
	bytes_add(zip, part->data, len);
	if (!part->streamed || !part->width)
		return;
	bytes_add(zip, "PK\7\10", (size_t)part->signature);
	bytes_add_le(zip, crc_of(part->data), 4);
	bytes_add_le(zip, len, part->width);
	bytes_add_le(zip, len, part->width);
}

static void add_central(struct bytes *zip, const struct zip_part *part, uint64_t offset)
{
	bytes_add(zip, "PK\1\2", 4);
	bytes_add_le(zip, 20, 2);
	bytes_add_le(zip, 20, 2);
	bytes_add_le(zip, part->streamed ? 8 : 0, 2);
	bytes_add_le(zip, 0, 2);
	bytes_add_le(zip, DATE, 4);
	bytes_add_le(zip, crc_of(part->data), 4);
	bytes_add_le(zip, strlen(part->data), 4);
	bytes_add_le(zip, strlen(part->data), 4);
	bytes_add_le(zip, strlen(part->name), 2);
	bytes_fill(zip, 0, 12);
	bytes_add_le(zip, offset, 4);
	bytes_add(zip, part->name, strlen(part->name));
}

static void add_end(
	struct bytes *zip, uint64_t count, uint64_t len, uint64_t offset, uint16_t comment_len)
{
	bytes_add(zip, "PK\5\6", 4);
	bytes_fill(zip, 0, 4);
	bytes_add_le(zip, count, 2);
	bytes_add_le(zip, count, 2);
	bytes_add_le(zip, len, 4);
	bytes_add_le(zip, offset, 4);
	bytes_add_le(zip, comment_len, 2);
}

struct zip_archive {
	struct bytes zip;
	size_t members[8]; /* their offsets */
	size_t directory, end;
};

/* An archive of these parts; all its offsets are too large by `before`. */
static struct zip_archive build(const struct zip_part *parts, size_t count, uint64_t before)
{
	struct zip_archive archive = { 0 };

	for (size_t i = 0; i < count; i++) {
		archive.members[i] = archive.zip.len;
		add_local(&archive.zip, &parts[i]);
	}
	archive.directory = archive.zip.len;
	for (size_t i = 0; i < count; i++)
		add_central(&archive.zip, &parts[i], archive.members[i] + before);
	archive.end = archive.zip.len;
	add_end(&archive.zip, count, archive.end - archive.directory, archive.directory + before,
		0);
	return archive;
}

static const struct zip_part two[] = { { .name = "a.txt", .data = TEXT },
	{ .name = "b.txt", .data = "PK" TEXT } };

Test(zip, complete_and_exact)
{
	struct zip_archive archive = build(two, 2, 0);
	size_t len = archive.zip.len;
	struct finding found;

	expect("zip", &archive.zip, CARVE_COMPLETE, len, NULL);
	bytes_add_random(&archive.zip, 1, 500);
	cr_assert_eq(carve("zip", archive.zip.data, archive.zip.len, &found), CARVE_COMPLETE);
	cr_assert_eq(found.length, len);
	cr_assert_str_eq(found.extension, "zip");
	cr_assert_eq(found.time, 1709251198, "%lld", (long long)found.time);
	free(archive.zip.data);
}

/* Every field of every record, by the offset of the byte that is changed from the record's
 * start. */
Test(zip, fields_of_the_records)
{
	static const struct {
		char record; /* local header of the first member, central entry, end record */
		size_t at;
		uint8_t value;
		enum verdict verdict;
		const char *why;
	} cases[] = {
		{ 'l', 0, 'Q', CARVE_REJECT, "no ZIP record in the first local header at 0" },
		{ 'l', 4, 200, CARVE_REJECT,
			"an impossible version, flag, method or date in the first local header at "
			"0" },
		{ 'l', 5, 21, CARVE_REJECT, "an impossible version" },
		{ 'l', 6, 0x80, CARVE_REJECT, "an impossible version, flag" },
		{ 'l', 8, 60, CARVE_REJECT, "an impossible version, flag, method or date" },
		{ 'l', 12, 0xff, CARVE_COMPLETE, NULL }, /* a day of 31 */
		{ 'l', 11, 0xff, CARVE_REJECT, "an impossible version, flag, method or date" },
		{ 'l', 14, 0, CARVE_UNVERIFIED, "does not match the members before it" },
		{ 'l', 18, 0, CARVE_TRUNCATED, "no ZIP record at" },
		{ 'l', 19, 9, CARVE_TRUNCATED, "the image ends" },
		{ 'l', 26, 0, CARVE_TRUNCATED, "no ZIP record at" },
		{ 'l', 28, 9, CARVE_TRUNCATED, "no ZIP record at" },
		{ 'l', 30, 7, CARVE_REJECT, "an impossible name" },
		{ 'l', 30, 'x', CARVE_UNVERIFIED, "does not match the members" },
		{ 'c', 0, 'Q', CARVE_TRUNCATED, "no ZIP record" },
		{ 'c', 16, 0, CARVE_UNVERIFIED, "does not match the members" },
		{ 'c', 20, 1, CARVE_UNVERIFIED, "does not match the members" },
		{ 'c', 28, 6, CARVE_TRUNCATED, "no end record at" },
		{ 'c', 30, 1, CARVE_TRUNCATED, "no end record at" },
		{ 'c', 32, 1, CARVE_TRUNCATED, "no end record at" },
		{ 'c', 42, 1, CARVE_UNVERIFIED, "does not match the members" },
		{ 'c', 46, 'x', CARVE_UNVERIFIED, "does not match the members" },
		{ 'e', 0, 'Q', CARVE_TRUNCATED, "no end record at" },
		{ 'e', 4, 1, CARVE_UNVERIFIED, "a split archive" },
		{ 'e', 6, 1, CARVE_UNVERIFIED, "a split archive" },
		{ 'e', 10, 3, CARVE_UNVERIFIED, "a different number of members" },
		{ 'e', 12, 1, CARVE_UNVERIFIED, "a different directory length" },
		{ 'e', 16, 1, CARVE_UNVERIFIED, "a different directory offset" },
		{ 'e', 20, 1, CARVE_TRUNCATED, "the image ends" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct zip_archive archive = build(two, 2, 0);
		char record = cases[i].record;
		size_t at = record == 'l' ? 0 : record == 'c' ? archive.directory : archive.end;
		struct finding found;
		enum verdict verdict;

		archive.zip.data[at + cases[i].at] = cases[i].value;
		verdict = carve("zip", archive.zip.data, archive.zip.len, &found);
		cr_assert_eq(verdict, cases[i].verdict, "case %zu: %d, %s", i, verdict, found.why);
		cr_assert(!cases[i].why || strstr(found.why, cases[i].why), "case %zu: %s", i,
			found.why);
		if (verdict == CARVE_UNVERIFIED)
			cr_assert_eq(found.length, archive.zip.len, "case %zu", i);
		free(archive.zip.data);
	}
}

Test(zip, descriptors_of_every_form)
{
	for (int signature = 0; signature <= 4; signature += 4) {
		for (int width = 4; width <= 8; width += 4) {
			struct zip_part parts[] = {
				{ "a.txt", TEXT, true, signature, width },
				{ "b.txt", "PK\3\4" TEXT "PK\1\2", true, signature, width },
				{ "c.txt", TEXT, false, 0, 0 },
			};
			struct zip_archive archive = build(parts, 3, 0);
			struct finding found;
			char why[64];

			expect("zip", &archive.zip, CARVE_COMPLETE, archive.zip.len, NULL);
			/* The first one's length is wrong in its descriptor alone. The directory has the
			 * right one, and the data has its CRC: only the descriptor is left over. */
			archive.zip.data[35 + TEXT_LEN + (size_t)signature + 4]++;
			snprintf(why, sizeof(why), "%d bytes belong to no member",
				signature + 4 + 2 * width);
			cr_expect_eq(carve("zip", archive.zip.data, archive.zip.len, &found),
				CARVE_COMPLETE);
			cr_expect_eq(found.length, archive.zip.len);
			cr_expect(strstr(found.why, why), "%s, not %s", found.why, why);
			free(archive.zip.data);
		}
	}
}

Test(zip, folders_without_descriptor)
{
	struct zip_part parts[] = { { "a/", "", true, 0, 0 }, { "a/b", TEXT, false, 0, 0 } };
	struct zip_archive archive = build(parts, 2, 0);

	expect("zip", &archive.zip, CARVE_COMPLETE, archive.zip.len, NULL);
	free(archive.zip.data);
}

/* A deflated, streamed member: its end is that of its stream. */
static struct bytes deflated_member(const uint8_t *data, size_t len, bool descriptor)
{
	struct bytes zip = { 0 };
	z_stream stream = { 0 };
	uint8_t *room;
	size_t deflated_len;

	bytes_add(&zip, "PK\3\4\x14\0\x08\0\x08\0", 10);
	bytes_add_le(&zip, DATE, 4);
	bytes_fill(&zip, 0, 12);
	bytes_add(&zip, "\1\0\0\0x", 5);
	cr_assert_eq(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
	room = bytes_grow(&zip, deflateBound(&stream, len));
	stream.next_in = (Bytef *)data;
	stream.avail_in = (uInt)len;
	stream.next_out = room;
	stream.avail_out = (uInt)deflateBound(&stream, len);
	cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflated_len = stream.total_out;
	deflateEnd(&stream);
	zip.len = 31 + deflated_len;
	if (!descriptor)
		return zip;
	bytes_add(&zip, "PK\7\10", 4);
	bytes_add_le(&zip, crc32(0, data, (uInt)len), 4);
	bytes_add_le(&zip, deflated_len, 4);
	bytes_add_le(&zip, len, 4);
	return zip;
}

Test(zip, deflated_streams_show_where_they_end)
{
	struct bytes data = { 0 }, zip;
	struct finding found;
	size_t len;

	/* English-like, so that it compresses. */
	for (int i = 0; i < 2000; i++)
		bytes_add(&data, &"the more there is of it the better it packs"[i * 7 % 30], 9);
	zip = deflated_member(data.data, data.len, true);
	len = zip.len;
	expect("zip", &zip, CARVE_TRUNCATED, len, "the image ends");
	bytes_add_random(&zip, 2, 5000);
	expect("zip", &zip, CARVE_TRUNCATED, len, "no ZIP record at");
	/* A wrong CRC: the stream is valid, but not the member. */
	zip.data[len - 12]++;
	expect("zip", &zip, CARVE_TRUNCATED, len - 16, "damaged data at 0");
	/* Cut, with zeros after it. */
	memset(zip.data + 200, 0, zip.len - 200);
	cr_assert_eq(carve("zip", zip.data, zip.len, &found), CARVE_TRUNCATED);
	cr_assert_leq(found.length, 200);
	cr_assert_geq(found.length, 190);
	free(zip.data);
	free(data.data);
}

/* As jar writes them: reading far past each start would use up the budget. */
Test(zip, many_short_streams)
{
	struct bytes data = { 0 }, zip = { 0 };

	bytes_add_random(&data, 4, 1000);
	for (int i = 0; i < (int)test_tier(1000, 3000, 3000); i++) {
		struct bytes member = deflated_member(data.data, data.len, true);

		bytes_add(&zip, member.data, member.len);
		free(member.data);
	}
	expect("zip", &zip, CARVE_TRUNCATED, zip.len, "the image ends");
	free(zip.data);
	free(data.data);
}

/* 160 MiB of zeros in 160 KiB: not decompressed to its end, and yet found by its descriptor. */
Test(zip, bombs_are_not_decompressed)
{
	size_t len = 160u << 20;
	uint8_t *zeros = calloc(1, len);
	struct bytes zip = deflated_member(zeros, len, true);
	size_t directory = zip.len;
	struct finding found;

	bytes_add(&zip, "PK\1\2", 4);
	bytes_fill(&zip, 0, 100);
	cr_assert_eq(carve("zip", zip.data, zip.len, &found), CARVE_TRUNCATED);
	cr_assert_geq(found.length, directory, "%s", found.why);
	free(zeros);
	free(zip.data);
}

Test(zip, archives_that_start_elsewhere)
{
	struct zip_archive archive = build(two, 2, 1000), other = build(two, 2, 0);
	size_t second = other.members[1];

	/* Only foreign bytes before it. */
	expect("zip", &archive.zip, CARVE_COMPLETE, archive.zip.len,
		"1000 other bytes precede the archive");
	/* From its second member on. */
	other.zip.data += second;
	other.zip.len -= second;
	expect("zip", &other.zip, CARVE_REJECT, 0,
		"part of an archive that starts 63 bytes earlier");
	other.zip.data -= second;
	other.zip.len += second;
	/* After members of another archive, without their directory. */
	archive.zip.len = archive.directory;
	bytes_add(&archive.zip, other.zip.data, other.zip.len);
	expect("zip", &archive.zip, CARVE_TRUNCATED, archive.directory,
		"another archive starts at");
	free(archive.zip.data);
	free(other.zip.data);
}

Test(zip, no_directory)
{
	struct zip_archive archive = build(two, 2, 0);

	archive.zip.len = archive.directory;
	expect("zip", &archive.zip, CARVE_TRUNCATED, archive.directory, "the image ends");
	bytes_add_random(&archive.zip, 4, 3000);
	expect("zip", &archive.zip, CARVE_TRUNCATED, archive.directory, "no ZIP record");
	/* The second member's data is stored, and damaged: valid up to it. */
	archive.zip.data[archive.directory - 1]++;
	expect("zip", &archive.zip, CARVE_TRUNCATED, archive.members[1] + 35, "no ZIP record");
	free(archive.zip.data);
}

/* A walk from a later member would only reach the same end. */
Test(zip, later_members_are_reported_as_parts)
{
	static const struct zip_part parts[] = { { "a", TEXT, .streamed = false },
		{ "b", TEXT, .streamed = false }, { "c", TEXT, .streamed = false } };
	struct bytes zip = { 0 };
	struct finding found = { 0 };
	struct view *view;
	const uint64_t *named;
	size_t second, third, count;

	add_local(&zip, &parts[0]);
	second = zip.len;
	add_local(&zip, &parts[1]);
	third = zip.len;
	add_local(&zip, &parts[2]);
	view = view_new_memory(zip.data, zip.len);
	cr_assert_eq(carver_find("zip")->check(view, &found), CARVE_TRUNCATED);
	named = view_parts(view, &count);
	cr_assert_eq(count, 2);
	cr_assert_eq(named[0], second);
	cr_assert_eq(named[1], third);
	view_free(view);
	free(zip.data);
}

Test(zip, no_members)
{
	struct bytes zip = { 0 };

	add_end(&zip, 0, 0, 0, 0);
	expect("zip", &zip, CARVE_COMPLETE, 22, NULL);
	bytes_fill(&zip, 'x', 9);
	expect("zip", &zip, CARVE_COMPLETE, 22, NULL);
	zip.data[20] = 9;
	expect("zip", &zip, CARVE_COMPLETE, 31, NULL);
	zip.data[20] = 10;
	expect("zip", &zip, CARVE_TRUNCATED, 31, "the image ends");
	zip.data[8] = 1;
	expect("zip", &zip, CARVE_REJECT, 0, "an end record, not a start, at 0");
	zip.len = 21;
	expect("zip", &zip, CARVE_REJECT, 0, "an end record, not a start, at 0");
	free(zip.data);
}

/* ZIP64: sizes in extra fields, and end records with everything replaced. */
static struct bytes zip64(uint64_t data_len, uint64_t count, uint64_t directory_len)
{
	struct bytes zip = { 0 };
	size_t directory, end;

	bytes_add(&zip, "PK\3\4\x2d\0\0\0\0\0", 10);
	bytes_add_le(&zip, DATE, 4);
	bytes_add_le(&zip, crc_of(TEXT), 4);
	bytes_add_le(&zip, UINT64_MAX, 8);
	bytes_add_le(&zip, 1, 2);
	bytes_add_le(&zip, 4 + 3 + 4 + 16, 2);
	bytes_add(&zip, "x\x55\x54\3\0abc", 8);
	bytes_add_le(&zip, 1 | 16 << 16, 4);
	bytes_add_le(&zip, TEXT_LEN, 8);
	bytes_add_le(&zip, data_len, 8);
	bytes_add(&zip, TEXT, TEXT_LEN);
	directory = zip.len;
	bytes_add(&zip, "PK\1\2\x2d\0\x2d\0\0\0\0\0", 12);
	bytes_add_le(&zip, DATE, 4);
	bytes_add_le(&zip, crc_of(TEXT), 4);
	bytes_add_le(&zip, UINT64_MAX, 8);
	bytes_add_le(&zip, 1 | (4 + 24) << 16, 4);
	bytes_fill(&zip, 0, 10);
	bytes_add_le(&zip, UINT32_MAX, 4);
	bytes_add_le(&zip, 'x' | 1 << 8 | 24 << 24, 5);
	bytes_add_le(&zip, TEXT_LEN, 8);
	bytes_add_le(&zip, TEXT_LEN, 8);
	bytes_add_le(&zip, 0, 8);
	end = zip.len;
	bytes_add(&zip, "PK\6\6", 4);
	bytes_add_le(&zip, 44, 8);
	bytes_add_le(&zip, 45 | 45 << 16, 4);
	bytes_fill(&zip, 0, 8);
	bytes_add_le(&zip, count, 8);
	bytes_add_le(&zip, count, 8);
	bytes_add_le(&zip, directory_len ? directory_len : end - directory, 8);
	bytes_add_le(&zip, directory, 8);
	bytes_add(&zip, "PK\6\7\0\0\0\0", 8);
	bytes_add_le(&zip, end, 8);
	bytes_add_le(&zip, 1, 4);
	add_end(&zip, 0xffff, 0xffffffff, 0xffffffff, 0);
	return zip;
}

Test(zip, zip64)
{
	static const struct {
		uint64_t data_len, count, directory_len;
		enum verdict verdict;
	} cases[] = {
		{ TEXT_LEN, 1, 0, CARVE_COMPLETE },
		{ TEXT_LEN, 2, 0, CARVE_UNVERIFIED },
		{ TEXT_LEN, 65537, 0, CARVE_UNVERIFIED },
		{ TEXT_LEN, 1, 7, CARVE_UNVERIFIED },
		{ TEXT_LEN + 1, 1, 0, CARVE_TRUNCATED },
		{ UINT64_MAX, 1, 0, CARVE_TRUNCATED },
		{ UINT64_MAX - 60, 1, 0, CARVE_TRUNCATED },
		{ 1ull << 63, 1, 0, CARVE_TRUNCATED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes zip = zip64(cases[i].data_len, cases[i].count, cases[i].directory_len);
		struct finding found;
		enum verdict verdict = carve("zip", zip.data, zip.len, &found);

		cr_assert_eq(verdict, cases[i].verdict, "case %zu: %d %s", i, verdict, found.why);
		if (verdict != CARVE_TRUNCATED)
			cr_assert_eq(found.length, zip.len, "case %zu", i);
		free(zip.data);
	}
}

Test(zip, damaged_zip64_records)
{
	struct bytes zip = zip64(TEXT_LEN, 1, 0);
	size_t end = zip.len - 22 - 20 - 56;

	zip.data[end + 4] = 43;
	expect("zip", &zip, CARVE_TRUNCATED, end - 75, "a ZIP64 end record of impossible length");
	zip.data[end + 4] = 44;
	zip.data[end + 56] = 'Q';
	expect("zip", &zip, CARVE_TRUNCATED, end - 75, "no ZIP64 locator");
	free(zip.data);
}

/* By names alone; golden files have types declared by mimetype and content types. */
Test(zip, formats_by_names)
{
	static const struct {
		const char *first, *second, *extension;
	} cases[] = {
		{ "[Content_Types].xml", "word/document.xml", "docx" },
		{ "[Content_Types].xml", "word/vbaProject.bin", "docm" },
		{ "[Content_Types].xml", "xl/workbook.bin", "xlsb" },
		{ "[Content_Types].xml", "ppt/presentation.xml", "pptx" },
		{ "[Content_Types].xml", "nothing.xml", "zip" },
		{ "nothing", "word/document.xml", "zip" },
		{ "META-INF/MANIFEST.MF", "A.class", "jar" },
		{ "META-INF/MANIFEST.MF", "AndroidManifest.xml", "apk" },
		{ "AndroidManifest.xml", "classes.jar", "aar" },
		{ "WEB-INF/web.xml", "META-INF/MANIFEST.MF", "war" },
		{ "META-INF/container.xml", "OPS/book.opf", "epub" },
		{ "doc.kml", "x", "kmz" },
		{ "x.kml.txt", "x", "zip" },
		{ "Payload/", "Payload/x.app/Info.plist", "ipa" },
		{ "x.dist-info/WHEEL", "x", "whl" },
		{ "index.apxl", "x", "key" },
		{ "Documents/1/FixedDoc.fdseq", "x", "xps" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct zip_part parts[] = { { .name = cases[i].first, .data = "" },
			{ .name = cases[i].second, .data = TEXT } };
		struct zip_archive archive = build(parts, 2, 0);
		struct finding found;

		cr_assert_eq(
			carve("zip", archive.zip.data, archive.zip.len, &found), CARVE_COMPLETE);
		cr_assert_str_eq(
			found.extension, cases[i].extension, "case %zu: %s", i, found.extension);
		free(archive.zip.data);
	}
}

/* More members than a count of 16 bits can hold, all in one pass. */
Test(zip, many_members)
{
	struct zip_part part = { .name = "n", .data = "" };
	struct bytes zip = { 0 }, central = { 0 };
	size_t count = 70000, directory;

	for (size_t i = 0; i < count; i++) {
		add_central(&central, &part, zip.len);
		add_local(&zip, &part);
	}
	directory = zip.len;
	bytes_add(&zip, central.data, central.len);
	add_end(&zip, count & 0xffff, central.len, directory, 0);
	expect("zip", &zip, CARVE_COMPLETE, zip.len, NULL);
	free(zip.data);
	free(central.data);
}

/* An end record that can't be read, and that reaches past the image: the archive ends with that. */
Test(zip, an_end_record_lost_at_the_images_end)
{
	struct finding finding = { 0 };
	struct bytes zip = bytes_of_file("tests/golden/zip/deflated.zip");
	size_t len = zip.len - 5;
	struct view *view;

	cr_assert(zip.len > 27);
	memset(zip.data + len - 17, 0, 17);
	view = view_new_memory(zip.data, len);
	view_set_unreadable(view, len - 17, len);
	cr_assert_neq(carver_find("zip")->check(view, &finding), CARVE_REJECT);
	cr_assert_leq(finding.length, len, "%s", finding.why);
	view_free(view);
	free(zip.data);
}

/* The work to check an archive that breaks off, after which members of others follow with other bytes between. */
static uint64_t work_before_others(size_t others)
{
	const struct zip_part part = { "a", TEXT, false, 0, 0 };
	struct finding finding = { 0 };
	struct bytes zip = { 0 };
	struct view *view;
	uint64_t work;

	add_local(&zip, &part);
	for (size_t i = 0; i < others; i++) {
		bytes_fill(&zip, 'x', 4096);
		add_local(&zip, &part);
	}
	view = view_new_memory(zip.data, zip.len);
	cr_assert_eq(carver_find("zip")->check(view, &finding), CARVE_TRUNCATED, "%s", finding.why);
	work = view_work_done(view);
	view_free(view);
	free(zip.data);
	return work;
}

Test(zip, the_search_for_a_directory_does_not_pass_all_that_follows)
{
	cr_assert_eq(work_before_others(2000), work_before_others(200));
	cr_assert_lt(work_before_others(2000), 1000000);
}
