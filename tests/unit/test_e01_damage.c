/* Damaged E01 sets: each kind of byte, damaged tables, truncated files, and what is reported about
 * them. */
#include "e01_made.h"
#include "base/endian.h"

#include <libdeflate.h>
#include <libewf.h>
#include "tier.h"

#define CHUNK_LEN 8192
#define CHUNKS 40
#define MEDIA_LEN (CHUNKS * CHUNK_LEN - 3 * 512)

static uint8_t media[MEDIA_LEN], *file;
static size_t file_len;
static struct e01_layout layout;

/* A small set of one segment, with chunks of both kinds, in `file`. */
static void begin(void)
{
	e01_begin();
	e01_fill(media, MEDIA_LEN, 7);
	temp_write("raw", media, MEDIA_LEN);
	e01_acquire("raw", "set", "-c fast -b 16");
	file = (uint8_t *)temp_read("set.E01", &file_len);
	layout = e01_lay_out(file, file_len);
}

TestSuite(e01_damage, .init = begin, .fini = temp_remove, .timeout = TEST_HANGS);

/* What opening and reading the file's bytes found. */
struct outcome {
	bool opened, explained;   /* explained: damage has a sentence */
	size_t unreadable, wrong; /* bytes; wrong: returned as valid ones */
	char damage[2048], why[512];
};

static struct outcome read_file(size_t len)
{
	static uint8_t buffer[MEDIA_LEN + CHUNK_LEN];
	struct outcome outcome = { 0 };
	struct error error = { 0 };
	struct image *image;
	uint64_t size, why_len;

	temp_write("damaged.E01", file, len);
	if (image_open(&image, temp_at("damaged.E01"), &error)) {
		cr_assert_eq(error.code, EXIT_IO);
		cr_assert_neq(*error.text, 0);
		return outcome;
	}
	outcome.opened = true;
	outcome.explained = image_info(image)->damage != NULL;
	if (outcome.explained)
		snprintf(outcome.damage, sizeof(outcome.damage), "%s", image_info(image)->damage);
	size = image_info(image)->size;
	for (uint64_t at = 0; at < size && at < MEDIA_LEN; at += CHUNK_LEN) {
		size_t piece = size - at < CHUNK_LEN ? (size_t)(size - at) : CHUNK_LEN;
		char *why = image_why(image, at, &why_len);
		size_t lost = image_read_around(image, at, buffer, piece);

		cr_assert_eq(why != NULL, lost > 0);
		if (why)
			snprintf(outcome.why, sizeof(outcome.why), "%s", why);
		free(why);
		outcome.unreadable += lost;
		if (!lost && at + piece <= MEDIA_LEN)
			outcome.wrong += memcmp(buffer, media + at, piece) ? piece : 0;
	}
	outcome.wrong += size != MEDIA_LEN && !outcome.explained;
	image_close(image);
	return outcome;
}

static struct outcome read_with(size_t at, uint8_t flip)
{
	struct outcome outcome;

	file[at] ^= flip;
	outcome = read_file(file_len);
	file[at] ^= flip;
	return outcome;
}

/* ---- each byte ----------------------------------------------------------------------------- */

Test(e01_damage, undamaged)
{
	struct outcome outcome = read_file(file_len);

	cr_assert(outcome.opened);
	cr_assert_not(outcome.explained, "%s", outcome.damage);
	cr_assert_eq(outcome.unreadable + outcome.wrong, 0);
}

/* After the file's own head each byte is covered by a checksum. silent: of a zlib stream, where a
 * bit may mean nothing, or the same bytes in another way; then nothing need be said. A bit may even
 * make other bytes with the same Adler-32: one was seen that changes three, and libewf reads it so
 * too. Only the hash of the whole medium shows that. */
static void damage_bytes(uint64_t from, uint64_t to, uint64_t step, bool silent)
{
	unsigned collisions = 0;

	for (uint64_t at = from; at < to; at += step * test_tier(61, 11, 1)) {
		struct outcome outcome = read_with(at, (uint8_t)(1u << at % 8));

		collisions += outcome.wrong > 0;
		cr_assert_leq(collisions, silent ? 1 : 0, "byte %zu", (size_t)at);
		cr_assert(silent || !outcome.opened || outcome.explained || outcome.unreadable,
			"nothing is said of byte %zu", (size_t)at);
		cr_assert_leq(outcome.unreadable, CHUNK_LEN, "byte %zu", (size_t)at);
	}
}

Test(e01_damage, each_byte_of_the_heads)
{
	for (size_t i = 0; i < layout.count; i++)
		damage_bytes(layout.sections[i].offset,
			layout.sections[i].offset + E01_SECTION_HEAD_LEN, 1, false);
}

Test(e01_damage, each_byte_of_the_descriptions)
{
	for (size_t i = 0; i < layout.count; i++) {
		const struct e01_section *section = &layout.sections[i];
		uint64_t from = section->offset + E01_SECTION_HEAD_LEN;
		uint64_t to = section->offset + section->len;

		if (strcmp(section->type, "sectors"))
			damage_bytes(from, to, to - from > 1000 ? 3 : 1,
				!strncmp(section->type, "header", 6));
	}
}

Test(e01_damage, bytes_of_the_chunks)
{
	const struct e01_section *sectors = e01_find(&layout, "sectors");

	damage_bytes(
		sectors->offset + E01_SECTION_HEAD_LEN, sectors->offset + sectors->len, 211, true);
}

/* The head of the file has its type and its segment's number; the rest of it is not used. */
Test(e01_damage, the_head_of_the_file)
{
	for (size_t at = 0; at < 8; at++) {
		struct image *image;

		file[at] ^= 1;
		temp_write("damaged.E01", file, file_len);
		file[at] ^= 1;
		image = opened(temp_at("damaged.E01"));
		cr_assert_str_eq(image_info(image)->format, "raw");
		image_close(image);
	}
	cr_assert_not(read_with(9, 2).opened);
	cr_assert_not(read_with(10, 1).opened);
}

/* ---- tables -------------------------------------------------------------------------------- */

static size_t entry_at(const char *type, size_t index)
{
	return e01_find(&layout, type)->offset + E01_SECTION_HEAD_LEN + 24 + 4 * index;
}

Test(e01_damage, the_copy_stands_in_for_the_table)
{
	struct outcome outcome = read_with(entry_at("table", 5), 0xff);

	cr_assert_eq(outcome.unreadable + outcome.wrong, 0);
	cr_assert_not_null(strstr(outcome.damage, "has a damaged copy; the intact one is used"));
	outcome = read_with(entry_at("table2", 5) + 3, 0x80);
	cr_assert_eq(outcome.unreadable + outcome.wrong, 0);
	cr_assert_not_null(strstr(outcome.damage, "has a damaged copy; the intact one is used"));
}

/* Where one of them is wrong the other is right. */
Test(e01_damage, both_tables_in_different_places)
{
	struct outcome outcome;

	file[entry_at("table", 5)] ^= 0xff;
	file[entry_at("table", 12) + 3] ^= 0x80;
	outcome = read_with(entry_at("table2", 20), 0xff);
	cr_assert_eq(outcome.unreadable + outcome.wrong, 0, "%s", outcome.why);
	cr_assert_not_null(strstr(outcome.damage, "is damaged, as is the copy"));
}

/* Another valid chunk must not be taken for the one whose entry is damaged. */
Test(e01_damage, an_entry_that_leads_to_another_chunk)
{
	struct outcome outcome;

	for (int i = 0; i < 2; i++) {
		const char *type = i ? "table2" : "table";

		memcpy(file + entry_at(type, 9), file + entry_at(type, 20), 4);
	}
	outcome = read_file(file_len);
	cr_assert_eq(outcome.wrong, 0);
	cr_assert_eq(outcome.unreadable, 2 * CHUNK_LEN); /* it, and the one that should end there */
	cr_assert_not_null(strstr(outcome.why, "its entry in the table is damaged"));
}

Test(e01_damage, a_last_entry_that_leads_to_another_chunk)
{
	struct outcome outcome;

	for (int i = 0; i < 2; i++) {
		const char *type = i ? "table2" : "table";

		memcpy(file + entry_at(type, CHUNKS - 1), file + entry_at(type, 3), 4);
	}
	outcome = read_file(file_len);
	cr_assert_eq(outcome.wrong, 0);
	cr_assert_eq(outcome.unreadable, 2 * CHUNK_LEN - 3 * 512);
}

/* SMART has no copy of its tables, and no checksum of the entries. */
Test(e01_damage, bytes_of_smart)
{
	const struct e01_section *table;

	e01_acquire("raw", "smart", "-f smart -c fast -b 16");
	free(file);
	file = (uint8_t *)temp_read("smart.s01", &file_len);
	layout = e01_lay_out(file, file_len);
	cr_assert_eq(read_file(file_len).unreadable, 0);
	table = e01_find(&layout, "table");
	for (uint64_t at = E01_FILE_HEAD_LEN; at < file_len; at += test_tier(499, 29, 1)) {
		struct outcome outcome;

		/* A few bytes of each chunk: every opening starts burin-evidence. */
		if (at > table->offset + 500 && at < table->offset + table->len - 100)
			at += test_tier(1999, 1499, 97);
		outcome = read_with(at, (uint8_t)(1u << at % 8));
		cr_assert_eq(outcome.wrong, 0, "byte %zu", (size_t)at);
		cr_assert(!outcome.opened || outcome.explained ||
			  outcome.unreadable <= 2 * CHUNK_LEN);
	}
}

/* Forged: the checksums are right, and the numbers are not. */
static void forge(const char *type, size_t at, uint32_t value)
{
	const struct e01_section *section = e01_find(&layout, type);
	uint8_t *head = file + section->offset + E01_SECTION_HEAD_LEN;
	uint32_t count = endian_u32(head), sum;

	memcpy(head + at, &value, 4);
	sum = libdeflate_adler32(1, head, 20);
	memcpy(head + 20, &sum, 4);
	if (at < 24)
		return;
	sum = libdeflate_adler32(1, head + 24, 4 * (size_t)count);
	memcpy(head + 24 + 4 * (size_t)count, &sum, 4);
}

Test(e01_damage, forged_tables)
{
	static const uint32_t values[] = { 0, 1, 2, 39, 41, 42, 0x7fffffff, 0x80000000,
		0xffffffff };
	static const size_t positions[] = { 0, 8, 12, 24, 24 + 4 * 7, 24 + 4 * 39 };
	uint8_t *kept = malloc(file_len);

	memcpy(kept, file, file_len);
	for (size_t i = 0; i < 6 * 9; i += test_tier(5, 1, 1)) {
		forge("table", positions[i / 9], values[i % 9]);
		forge("table2", positions[i / 9], values[i % 9]);
		cr_assert_eq(
			read_file(file_len).wrong, 0, "%zu: %u", positions[i / 9], values[i % 9]);
		memcpy(file, kept, file_len);
	}
	free(kept);
}

Test(e01_damage, forged_sections)
{
	static const uint64_t values[] = { 0, 1, 13, 75, 76, 77, 1000, 100000, INT64_MAX,
		UINT64_MAX };

	for (size_t i = 0; i < layout.count * 10; i += test_tier(3, 1, 1)) {
		const struct e01_section *section = &layout.sections[i / 10];
		uint8_t kept[E01_SECTION_HEAD_LEN], *head = file + section->offset;

		memcpy(kept, head, sizeof(kept));
		e01_make_section_head(head, section->type, values[i % 10], values[i % 10]);
		cr_assert_eq(read_file(file_len).wrong, 0, "%s: %zu", section->type,
			(size_t)values[i % 10]);
		memcpy(head, kept, sizeof(kept));
	}
}

/* Without a description of the medium libewf reads it, which allocates as much memory as a section
 * claims to have bytes. */
Test(e01_damage, sections_that_claim_the_moon)
{
	static const uint64_t claims[][2] = { { 5000000000, 0 }, { 13, 5000000000 },
		{ 5000000000, 5000000000 } };
	const struct e01_section *section = e01_find(&layout, "header2");

	for (size_t i = 0; i < layout.count; i++)
		if (!strcmp(layout.sections[i].type, "volume") ||
			!strcmp(layout.sections[i].type, "data"))
			file[layout.sections[i].offset + E01_SECTION_HEAD_LEN + 4] ^= 1;
	for (size_t i = 0; i < 3; i++) {
		struct error error = { 0 };
		struct image *image;

		e01_make_section_head(
			file + section->offset, "header2", claims[i][0], claims[i][1]);
		temp_write("damaged.E01", file, file_len);
		cr_assert_neq(image_open(&image, temp_at("damaged.E01"), &error), 0);
		cr_expect_eq(error.code, EXIT_IO);
		cr_expect_not_null(strstr(error.text, "'header2' at offset 13 claims to hold "),
			"%s", error.text);
	}
}

/* ---- words --------------------------------------------------------------------------------- */

Test(e01_damage, the_reason_is_told)
{
	const struct e01_section *sectors = e01_find(&layout, "sectors");
	uint64_t base = sectors->offset;
	size_t stored = 0, compressed = 0;
	struct outcome outcome;

	while (file[entry_at("table", stored) + 3] & 0x80)
		stored++;
	while (!(file[entry_at("table", compressed) + 3] & 0x80))
		compressed++;
	outcome = read_with(base + endian_u32(file + entry_at("table", stored)) + 100, 1);
	cr_assert_eq(outcome.unreadable, CHUNK_LEN);
	cr_assert_not_null(strstr(outcome.why, "in segment 1 ("), "%s", outcome.why);
	cr_assert_not_null(strstr(outcome.why, "damaged.E01): its checksum is wrong"));
	outcome =
		read_with(base + (endian_u32(file + entry_at("table", compressed)) & INT32_MAX), 1);
	cr_assert_eq(outcome.unreadable, CHUNK_LEN);
	cr_assert_not_null(strstr(outcome.why, "it can't be decompressed"), "%s", outcome.why);
}

static void cut_off(size_t len)
{
	struct outcome outcome = read_file(len);

	cr_assert_eq(outcome.wrong, 0, "%zu bytes", len);
	cr_assert(!outcome.opened || outcome.explained, "%zu bytes", len);
}

/* Around the end of each section and of its head, and between them. */
Test(e01_damage, cut_off_anywhere)
{
	for (size_t i = 0; i < layout.count; i++) {
		uint64_t head = layout.sections[i].offset;

		for (size_t len = head - 1; len <= head + 1; len++) {
			if (len > 14 && len < file_len)
				cut_off(len);
			if (len + E01_SECTION_HEAD_LEN < file_len)
				cut_off(len + E01_SECTION_HEAD_LEN);
		}
	}
	for (size_t len = file_len - 1; len > 14; len -= 1 + len / test_tier(2, 5, 970))
		cut_off(len);
}

/* As an acquisition that broke off leaves it: the chunks are there, their table is not. */
Test(e01_damage, cut_off_before_the_table)
{
	const struct e01_section *sectors = e01_find(&layout, "sectors");
	size_t end = sectors->offset + sectors->len;
	struct outcome outcome = read_file(end);

	cr_assert_eq(outcome.unreadable + outcome.wrong, 0);
	cr_assert_not_null(
		strstr(outcome.damage, "chunks found without their table, which is lost: 40"));
	for (size_t i = CHUNKS - 1; i > CHUNKS - 5; i--) {
		uint32_t at = endian_u32(file + entry_at("table", i)) & INT32_MAX;

		outcome = read_file(sectors->offset + at + 1);
		cr_assert_eq(outcome.wrong, 0);
		cr_assert_eq(outcome.unreadable, MEDIA_LEN - i * CHUNK_LEN);
	}
}

Test(e01_damage, both_tables_are_lost)
{
	struct outcome outcome;

	file[e01_find(&layout, "table")->offset] ^= 1;
	outcome = read_with(e01_find(&layout, "table2")->offset, 1);
	cr_assert_eq(outcome.unreadable + outcome.wrong, 0);
	cr_assert_not_null(
		strstr(outcome.damage, "which is lost: 40; but no chunk"), "%s", outcome.damage);
}

/* ---- wide offsets -------------------------------------------------------------------------- */

#define LARGE_CHUNK (16u << 20)
#define LARGE_COUNT 134

static void write_at(int fd, const void *bytes, size_t len, uint64_t at)
{
	cr_assert_eq(pwrite(fd, bytes, len, (off_t)at), (ssize_t)len);
}

static uint64_t put_section(
	int fd, uint64_t at, const char *type, const uint8_t *bytes, uint64_t len)
{
	uint8_t head[E01_SECTION_HEAD_LEN];
	uint64_t next = at + sizeof(head) + len;

	e01_make_section_head(head, type, next, sizeof(head) + len);
	write_at(fd, head, sizeof(head), at);
	if (bytes)
		write_at(fd, bytes, len, at + sizeof(head));
	return next;
}

static void put_u32(uint8_t *bytes, uint32_t value)
{
	memcpy(bytes, &value, 4);
}

/* Stored chunks of zeros, each with its number at its end, in a table that goes beyond 2 GiB, as
 * EnCase 6.7 wrote them. The file has holes where the zeros are. */
static void write_wide(const char *name)
{
	static uint8_t table[24 + 4 * LARGE_COUNT + 4], volume[1052];
	uint64_t at = E01_FILE_HEAD_LEN, data, step = LARGE_CHUNK + 4;
	uint8_t *zeros = calloc(1, LARGE_CHUNK);
	int fd = open(temp_at(name), O_CREAT | O_RDWR | O_TRUNC, 0600);
	uint8_t end[8];

	write_at(fd, file, E01_FILE_HEAD_LEN, 0);
	memcpy(volume, file + e01_find(&layout, "volume")->offset + E01_SECTION_HEAD_LEN, 1052);
	put_u32(volume + 4, LARGE_COUNT);
	put_u32(volume + 8, LARGE_CHUNK / 512);
	put_u32(volume + 16, LARGE_COUNT * (LARGE_CHUNK / 512));
	put_u32(volume + 1048, libdeflate_adler32(1, volume, 1048));
	at = put_section(fd, at, "header", file + e01_find(&layout, "header")->offset + 76,
		e01_find(&layout, "header")->len - 76);
	at = put_section(fd, at, "volume", volume, sizeof(volume));
	data = at;
	at = put_section(fd, at, "sectors", NULL, LARGE_COUNT * step);
	put_u32(table, LARGE_COUNT);
	memcpy(table + 8, &data, 8);
	put_u32(table + 20, libdeflate_adler32(1, table, 20));
	for (uint32_t i = 0; i < LARGE_COUNT; i++) {
		put_u32(zeros + LARGE_CHUNK - 4, i);
		put_u32(end, i);
		put_u32(end + 4, libdeflate_adler32(1, zeros, LARGE_CHUNK));
		write_at(fd, end, 8, data + 76 + i * step + LARGE_CHUNK - 4);
		put_u32(table + 24 + 4 * i, (uint32_t)(76 + i * step));
	}
	put_u32(table + 24 + 4 * LARGE_COUNT, libdeflate_adler32(1, table + 24, 4 * LARGE_COUNT));
	at = put_section(fd, at, "table", table, sizeof(table));
	at = put_section(fd, at, "table2", table, sizeof(table));
	put_section(fd, at, "done", NULL, 0);
	cr_assert_eq(ftruncate(fd, (off_t)at + 76), 0);
	close(fd);
	free(zeros);
}

Test(e01_damage, offsets_beyond_two_gigabytes)
{
	libewf_handle_t *handle = NULL;
	const char *path = temp_at("wide.E01");
	char *names[] = { (char *)path };
	uint32_t number, expected;
	struct image *image;

	write_wide("wide.E01");
	image = opened(path);
	cr_assert_null(image_info(image)->damage, "%s", image_info(image)->damage);
	cr_assert_eq(image_info(image)->size, (uint64_t)LARGE_COUNT * LARGE_CHUNK);
	cr_assert_eq(libewf_handle_initialize(&handle, NULL), 1);
	cr_assert_eq(libewf_handle_open(handle, names, 1, LIBEWF_OPEN_READ, NULL), 1);
	for (uint32_t i = 126; i < LARGE_COUNT; i++) {
		uint64_t at = (uint64_t)(i + 1) * LARGE_CHUNK - 4;

		cr_assert_eq(image_read_at(image, at, &number, 4), 0, "chunk %u", i);
		cr_assert_eq(number, i);
		if (i % 4)
			continue;
		cr_assert_eq(libewf_handle_read_random(handle, &expected, 4, (off64_t)at, NULL), 4);
		cr_assert_eq(expected, i);
	}
	libewf_handle_close(handle, NULL);
	libewf_handle_free(&handle, NULL);
	image_close(image);
}
