/* What the golden files of ole do not show: a FAT whose list continues after the header, and text and pictures, which are
 * checked where proof is asked for. */
#include <zlib.h>

#include "carvers/common/md5.h"

#include "carver_case.h"
#include "memory_image.h"

#define SECTOR 512
#define TABLES 112 /* three more than the header has room for */

static void put(struct bytes *bytes, uint64_t at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		bytes->data[at + (uint64_t)i] = (uint8_t)(value >> 8 * i);
}

#define FILL 64 /* zeros after the end of the last stream */

static uint64_t sector_at(uint32_t sector)
{
	return ((uint64_t)sector + 1) * SECTOR;
}

/* The offset of a sector's entry in the FAT, whose parts are sectors 0, 1, 2, ... */
static uint64_t fat_at(uint32_t sector)
{
	return sector_at(0) + 4 * (uint64_t)sector;
}

static void start_header(struct bytes *bytes)
{
	static const uint8_t start[] = { 0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1 };

	memcpy(bytes->data, start, sizeof(start));
	put(bytes, 24, 0x0003003e);
	put(bytes, 28, 0x0009fffe);
	put(bytes, 32, 6);
	put(bytes, 44, TABLES);
	put(bytes, 48, TABLES + 1);
	put(bytes, 56, 4096);
	put(bytes, 60, 0xfffffffe);
	put(bytes, 68, TABLES);
	put(bytes, 72, 1);
}

/* The FAT, a sector of its list, the directory, and a stream that fills the rest. */
static struct bytes large(void)
{
	static const char root[] = "R\0o\0o\0t", name[] = "A";
	struct bytes bytes = { 0 };
	uint32_t count = TABLES * 128, first = TABLES + 2;
	uint64_t entry = sector_at(TABLES + 1);

	bytes_fill(&bytes, 0, ((size_t)count + 1) * SECTOR);
	start_header(&bytes);
	for (uint32_t i = 0; i < TABLES; i++) {
		put(&bytes, i < 109 ? 76 + 4 * i : sector_at(TABLES) + 4 * (i - 109), i);
		put(&bytes, fat_at(i), 0xfffffffd);
	}
	put(&bytes, sector_at(TABLES) + 508, 0xfffffffe);
	put(&bytes, fat_at(TABLES), 0xfffffffc);
	put(&bytes, fat_at(TABLES + 1), 0xfffffffe);
	for (uint32_t i = first; i < count; i++)
		put(&bytes, fat_at(i), i + 1 < count ? i + 1 : 0xfffffffe);
	memcpy(bytes.data + entry, root, sizeof(root));
	put(&bytes, entry + 64, 0x0005000a);
	put(&bytes, entry + 68, 0xffffffff);
	put(&bytes, entry + 72, 0xffffffff);
	put(&bytes, entry + 76, 1);
	put(&bytes, entry + 116, 0xfffffffe);
	entry += 128;
	memcpy(bytes.data + entry, name, sizeof(name));
	put(&bytes, entry + 64, 0x00020004);
	for (int link = 68; link <= 76; link += 4)
		put(&bytes, entry + (uint64_t)link, 0xffffffff);
	put(&bytes, entry + 116, first);
	/* It ends in its last sector, where zeros begin: that proves the file's end. */
	put(&bytes, entry + 120, (count - first) * SECTOR - FILL);
	put(&bytes, bytes.len - FILL - 4, 1);
	return bytes;
}

Test(carver_ole, the_fats_list_continues_after_the_header)
{
	struct bytes bytes = large();

	expect("ole", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	free(bytes.data);
}

Test(carver_ole, a_list_that_ends_early)
{
	struct bytes bytes = large();

	put(&bytes, 68, 0xfffffffe);
	expect("ole", &bytes, CARVE_TRUNCATED, sector_at(TABLES + 2), "no list of the FAT's parts");
	free(bytes.data);
}

Test(carver_ole, a_chain_that_is_too_short)
{
	struct bytes bytes = large();

	put(&bytes, fat_at(5000), 0xfffffffe);
	expect("ole", &bytes, CARVE_UNVERIFIED, bytes.len, "a stream's chain breaks");
	free(bytes.data);
}

Test(carver_ole, data_past_the_view_is_cut)
{
	struct bytes bytes = large();

	bytes.len -= 3 * SECTOR;
	expect("ole", &bytes, CARVE_TRUNCATED, bytes.len, "the image ends");
	free(bytes.data);
}

/* The FAT says that the mini FAT has far more sectors than the file: none of those costs anything. */
Test(carver_ole, a_mini_fat_longer_than_the_file)
{
	struct bytes bytes = large();
	struct finding finding = { 0 };
	struct view *view;

	put(&bytes, 60, TABLES + 2);
	view = view_new_memory(bytes.data, sector_at(TABLES + 2));
	cr_expect_eq(carver_find("ole")->check(view, &finding), CARVE_TRUNCATED);
	cr_expect_lt(view_work_done(view), 2 * TABLES * SECTOR);
	view_free(view);
	free(bytes.data);
}

/* ---- text ----------------------------------------------------------------------------------- */

enum { MAIN_AT = 2, TABLE_AT = 12, PROPERTY_AT = 20, SECTOR_COUNT = 29 };

static void put_entry(
	struct bytes *bytes, int number, const char *name, uint32_t start, uint32_t count)
{
	uint64_t at = sector_at(1) + 128 * (uint64_t)number;

	for (size_t i = 0; name[i]; i++)
		bytes->data[at + 2 * i] = (uint8_t)name[i];
	put(bytes, at + 64, (uint32_t)(2 * strlen(name) + 2) | (number ? 0x20000 : 0x50000));
	put(bytes, at + 68, 0xffffffff);
	put(bytes, at + 72, 0xffffffff);
	put(bytes, at + 76, 0xffffffff);
	put(bytes, at + 116, start);
	put(bytes, at + 120, count * SECTOR);
	for (uint32_t i = 0; i < count; i++)
		put(bytes, fat_at(start + i), i + 1 < count ? start + i + 1 : 0xfffffffe);
}

/* A document of a sector of text, and a message's property: the tables have the text's place, and of two
 * pages on its formats. */
static struct bytes text(void)
{
	static const uint32_t table[] = { 1024, 1536, 3, 0, 1024, 1536, 4, 0 };
	struct bytes bytes = { 0 };
	uint64_t main = sector_at(MAIN_AT), tables = sector_at(TABLE_AT);

	bytes_fill(&bytes, 0, ((size_t)SECTOR_COUNT + 1) * SECTOR);
	start_header(&bytes);
	put(&bytes, 44, 1);
	put(&bytes, 48, 1);
	put(&bytes, 68, 0xfffffffe);
	put(&bytes, 72, 0);
	memset(bytes.data + 76, 0xff, SECTOR - 76);
	memset(bytes.data + sector_at(0), 0xff, SECTOR);
	put(&bytes, 76, 0);
	put(&bytes, fat_at(0), 0xfffffffd);
	put(&bytes, fat_at(1), 0xfffffffe);
	put_entry(&bytes, 0, "Root Entry", 0xfffffffe, 0);
	put_entry(&bytes, 1, "WordDocument", MAIN_AT, TABLE_AT - MAIN_AT);
	put_entry(&bytes, 2, "1Table", TABLE_AT, PROPERTY_AT - TABLE_AT);
	put_entry(&bytes, 3, "__substg1.0_0037001F", PROPERTY_AT, SECTOR_COUNT - PROPERTY_AT);
	put(&bytes, sector_at(1) + 76, 1);
	put(&bytes, sector_at(1) + 128 + 68, 2);
	put(&bytes, sector_at(1) + 128 + 72, 3);
	put(&bytes, main, 0x00c1a5ec);
	put(&bytes, main + 10, 0x200);
	put(&bytes, main + 0xfa, 0);
	put(&bytes, main + 0xfe, 12);
	put(&bytes, main + 0x102, 16);
	put(&bytes, main + 0x106, 12);
	put(&bytes, main + 0x1a2, 32);
	put(&bytes, main + 0x1a6, 21);
	memset(bytes.data + main + 1024, 'a', SECTOR);
	for (int page = 3; page <= 4; page++) {
		put(&bytes, main + (uint64_t)page * SECTOR, 1024);
		put(&bytes, main + (uint64_t)page * SECTOR + 4, 1536);
		bytes.data[main + (uint64_t)page * SECTOR + SECTOR - 1] = 1;
	}
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		put(&bytes, tables + 4 * i, table[i]);
	bytes.data[tables + 32] = 2;
	put(&bytes, tables + 33, 16);
	put(&bytes, tables + 41, SECTOR);
	put(&bytes, tables + 47, 0x40000000 | 2 * 1024);
	put(&bytes, sector_at(1) + 3 * 128 + 120, (SECTOR_COUNT - PROPERTY_AT) * SECTOR - FILL);
	for (uint64_t at = sector_at(PROPERTY_AT); at < bytes.len - FILL; at += 2)
		bytes.data[at] = (uint8_t)('a' + at % 7);
	return bytes;
}

/* Where a thorough check finds something wrong; 0: nowhere. */
static uint64_t look(struct bytes *bytes)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding found = { 0 };
	enum verdict verdict;

	expect("ole", bytes, CARVE_COMPLETE, bytes->len, NULL);
	view_set_thorough(view, true);
	verdict = carver_find("ole")->check(view, &found);
	view_free(view);
	return verdict == CARVE_COMPLETE ? 0 : found.length;
}

Test(carver_ole, proof_needs_text_where_it_should_be)
{
	static const uint32_t sectors[] = { MAIN_AT + 2, MAIN_AT + 3, MAIN_AT + 4, TABLE_AT,
		PROPERTY_AT + 3 };
	struct bytes bytes = text();

	cr_expect_eq(look(&bytes), 0);
	/* What nothing says anything of. */
	memset(bytes.data + sector_at(MAIN_AT + 6), 1, SECTOR);
	cr_expect_eq(look(&bytes), 0);
	for (size_t i = 0; i < sizeof(sectors) / sizeof(*sectors); i++) {
		uint8_t *sector = bytes.data + sector_at(sectors[i]), kept[SECTOR];

		memcpy(kept, sector, SECTOR);
		memset(sector, 0, SECTOR);
		cr_expect_eq(look(&bytes), sector_at(sectors[i]), "sector %u", sectors[i]);
		memcpy(sector, kept, SECTOR);
	}
	free(bytes.data);
}

/* What comes first in the file, not what is looked at first. */
Test(carver_ole, the_first_wrong_sector_is_named)
{
	static const uint32_t sectors[] = { MAIN_AT + 2, MAIN_AT + 3, MAIN_AT + 4,
		PROPERTY_AT + 3 };
	struct bytes bytes = text();

	for (size_t i = 0; i < 4; i++)
		for (size_t k = i + 1; k < 4; k++) {
			uint8_t *first = bytes.data + sector_at(sectors[i]), kept[2][SECTOR];
			uint8_t *second = bytes.data + sector_at(sectors[k]);

			memcpy(kept[0], first, SECTOR);
			memcpy(kept[1], second, SECTOR);
			memset(first, 0, SECTOR);
			memset(second, 0, SECTOR);
			cr_expect_eq(look(&bytes), sector_at(sectors[i]), "%zu and %zu", i, k);
			memcpy(first, kept[0], SECTOR);
			memcpy(second, kept[1], SECTOR);
		}
	free(bytes.data);
}

/* One cluster of the file may be another's in place of the text's first one. */
Test(carver_ole, a_document_begins_with_its_number)
{
	struct bytes bytes = text();

	put(&bytes, sector_at(MAIN_AT), 0x00c1a5dc); /* Word 95's: its tables are not looked at */
	expect("ole", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	put(&bytes, sector_at(MAIN_AT), 0x00c14321);
	expect("ole", &bytes, CARVE_UNVERIFIED, bytes.len, "no first bytes of a document");
	free(bytes.data);
}

/* An encrypted package of random bytes, and the description of its encryption. */
static struct bytes encrypted(void)
{
	static const char xml[] = "\4\0\4\0\x40\0\0\0<?xml version=\"1.0\"?>\n";
	struct bytes bytes = text();
	uint64_t package = sector_at(MAIN_AT), description = sector_at(PROPERTY_AT);
	uint32_t number = 1;

	memset(bytes.data + sector_at(1) + 128, 0, 64);
	memset(bytes.data + sector_at(1) + 384, 0, 64);
	put_entry(&bytes, 1, "EncryptedPackage", MAIN_AT, TABLE_AT - MAIN_AT);
	put_entry(&bytes, 3, "EncryptionInfo", PROPERTY_AT, SECTOR_COUNT - PROPERTY_AT);
	put(&bytes, sector_at(1) + 128 + 68, 2);
	put(&bytes, sector_at(1) + 128 + 72, 3);
	put(&bytes, sector_at(1) + 3 * 128 + 120, (SECTOR_COUNT - PROPERTY_AT) * SECTOR - FILL);
	for (uint64_t at = package; at < sector_at(TABLE_AT); at++) {
		number = number * 1664525 + 1013904223;
		bytes.data[at] = (uint8_t)(number >> 24);
	}
	put(&bytes, package, (TABLE_AT - MAIN_AT) * SECTOR - 16);
	put(&bytes, package + 4, 0);
	for (uint64_t at = description; at < bytes.len - FILL; at++)
		bytes.data[at] = (uint8_t)('a' + at % 7);
	memcpy(bytes.data + description, xml, sizeof(xml) - 1);
	return bytes;
}

/* Clusters may be another file's in place of what is encrypted, and of what says how. */
Test(carver_ole, an_encrypted_package_is_random)
{
	struct bytes bytes = encrypted();
	uint64_t package = sector_at(MAIN_AT), description = sector_at(PROPERTY_AT);
	uint8_t kept[SECTOR];

	expect("ole", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	memcpy(kept, bytes.data + package + 3 * SECTOR, SECTOR);
	memcpy(bytes.data + package + 3 * SECTOR, bytes.data, SECTOR);
	expect("ole", &bytes, CARVE_UNVERIFIED, bytes.len, "nothing encrypted");
	memset(bytes.data + package + 3 * SECTOR, 0, SECTOR);
	expect("ole", &bytes, CARVE_UNVERIFIED, bytes.len, "nothing encrypted");
	for (size_t i = 0; i < SECTOR; i += 16) /* the same content, encrypted block by block */
		memcpy(bytes.data + package + 3 * SECTOR + i, kept, 16);
	expect("ole", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	memcpy(bytes.data + package + 3 * SECTOR, kept, SECTOR);
	put(&bytes, package, (TABLE_AT - MAIN_AT) * SECTOR - 7);
	expect("ole", &bytes, CARVE_UNVERIFIED, bytes.len, "no length of an encrypted package");
	put(&bytes, package, (TABLE_AT - MAIN_AT) * SECTOR - 8);
	expect("ole", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	bytes.data[description + 5 * SECTOR + 7] = 1;
	expect("ole", &bytes, CARVE_UNVERIFIED, bytes.len, "no XML of an encryption");
	put(&bytes, description, 0x00020003); /* an older one has fields */
	expect("ole", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	put(&bytes, description, 0x00020001);
	expect("ole", &bytes, CARVE_UNVERIFIED, bytes.len, "no version of an encryption");
	free(bytes.data);
}

/* ---- places --------------------------------------------------------------------------------- */

static const struct carve_places *places_of_ole(void)
{
	return carver_find("ole")->places;
}

/* What is known of a file as it is laid out. */
static void *begin_places(const struct bytes *bytes, uint64_t *length, bool *is_whole)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	uint64_t known;
	void *places = places_of_ole()->begin(view, length, is_whole, &known);

	view_free(view);
	return places;
}

/* Bits of a sector's bytes at another one's place. */
static int ask(const void *places, const struct bytes *bytes, uint32_t sector, uint32_t at)
{
	int bits;

	places_of_ole()->ask(
		places, sector_at(at), 1, bytes->data + sector_at(sector), SECTOR, &bits);
	return bits;
}

#define SURE 64 /* eighths of a bit */

/* Each table is likely at its place and nowhere else, and so are pages on formats, and what is no text is not where text is. */
Test(carver_ole, tables_show_what_is_where)
{
	static const uint32_t exact[] = { 0, 1, MAIN_AT + 3, MAIN_AT + 4 };
	struct bytes bytes = text();
	uint64_t length;
	bool is_whole;
	void *places = begin_places(&bytes, &length, &is_whole);

	cr_assert_not_null(places);
	cr_expect(is_whole);
	cr_expect_eq(length, bytes.len);
	for (size_t i = 0; i < sizeof(exact) / sizeof(*exact); i++)
		for (uint32_t sector = 0; sector < SECTOR_COUNT; sector++) {
			bool page =
				exact[i] > 1 && (sector == MAIN_AT + 3 || sector == MAIN_AT + 4);
			int bits = ask(places, &bytes, sector, exact[i]);

			if (sector == exact[i])
				cr_expect_gt(bits, SURE, "%u", sector);
			else if (!page)
				cr_expect_lt(bits, 0, "%u at %u", sector, exact[i]);
		}
	cr_expect_gt(ask(places, &bytes, PROPERTY_AT, PROPERTY_AT + 1),
		ask(places, &bytes, MAIN_AT + 6, PROPERTY_AT + 1));
	cr_expect_gt(ask(places, &bytes, SECTOR_COUNT - 1, SECTOR_COUNT - 1), SURE); /* filled up */
	places_of_ole()->end(places);
	free(bytes.data);
}

/* Without the FAT only the header's places are known. */
Test(carver_ole, places_without_a_fat)
{
	struct bytes bytes = text();
	uint64_t length;
	bool is_whole;
	void *places;

	memset(bytes.data + sector_at(0), 'a', SECTOR);
	places = begin_places(&bytes, &length, &is_whole);
	cr_assert_not_null(places);
	cr_expect_not(is_whole);
	cr_expect_eq(length, sector_at(2));
	places_of_ole()->end(places);
	free(bytes.data);
	bytes = text();
	places = begin_places(&bytes, &length, &is_whole);
	memset(bytes.data + sector_at(0), 0xff, SECTOR);
	put(&bytes, fat_at(0), 0xfffffffd);
	put(&bytes, fat_at(1), 0xfffffffe);
	cr_expect_lt(ask(places, &bytes, 0, 0), 0); /* a FAT in which the streams have no chains */
	places_of_ole()->end(places);
	put(&bytes, 44, TABLES); /* a list that goes on elsewhere is not looked at */
	cr_expect_null(begin_places(&bytes, &length, &is_whole));
	free(bytes.data);
}

/* A stream whose sectors after the first change places in pairs. */
static void put_turns(struct bytes *bytes, uint32_t start, uint32_t count)
{
	uint32_t at = start;

	for (uint32_t i = 1; i < count; i++) {
		uint32_t to = start + (i % 2 ? i + (i + 1 < count) : i - 1);

		put(bytes, fat_at(at), to);
		at = to;
	}
	put(bytes, fat_at(at), 0xfffffffe);
}

/* Outlook's streams grow in turns. */
Test(carver_ole, a_fat_of_streams_that_grew_in_turns)
{
	const struct carve_map *map = carver_find("ole")->map;
	const struct carve_anchor mark = { .word = 0, .len = 4 };
	struct bytes bytes = text();
	struct view *view;
	uint64_t length;
	bool is_whole;
	void *places;

	put_turns(&bytes, MAIN_AT, TABLE_AT - MAIN_AT);
	put_turns(&bytes, TABLE_AT, PROPERTY_AT - TABLE_AT);
	put_turns(&bytes, PROPERTY_AT, SECTOR_COUNT - PROPERTY_AT);
	places = begin_places(&bytes, &length, &is_whole);
	cr_assert_not_null(places);
	cr_expect(is_whole);
	cr_expect_gt(ask(places, &bytes, 0, 0), SURE);
	view = view_new_memory(bytes.data, bytes.len);
	cr_expect(map->fits(view, sector_at(0), &mark));
	view_free(view);
	put(&bytes, fat_at(MAIN_AT), MAIN_AT + 4); /* where another one goes on, too */
	cr_expect_lt(ask(places, &bytes, 0, 0), -SURE);
	view = view_new_memory(bytes.data, bytes.len);
	cr_expect_not(map->fits(view, sector_at(0), &mark));
	view_free(view);
	places_of_ole()->end(places);
	free(bytes.data);
}

/* Where a FAT is not in its place it is guessed where other bytes begin, but not in a trial. */
Test(carver_ole, trials_guess_nothing)
{
	struct bytes bytes = { 0 };

	bytes_fill(&bytes, 'a', 20 * SECTOR);
	start_header(&bytes);
	put(&bytes, 44, 1);
	put(&bytes, 76, 60);
	bytes_add_random(&bytes, 1, 60 * SECTOR);
	for (int trial = 0; trial < 2; trial++) {
		struct view *view = view_new_memory(bytes.data, bytes.len);
		struct finding found = { 0 };

		view_set_thorough(view, true);
		view_set_trial(view, trial);
		cr_expect_eq(carver_find("ole")->check(view, &found), CARVE_TRUNCATED);
		if (trial)
			cr_expect_geq(found.length, sector_at(60));
		else
			cr_expect(found.length > 18 * SECTOR && found.length < 22 * SECTOR);
		view_free(view);
	}
	free(bytes.data);
}

/* ---- what is wrong first -------------------------------------------------------------------- */

/* Where a trial finds something wrong; 0: nowhere. */
static uint64_t try(const struct bytes *bytes)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding found = { 0 };
	enum verdict verdict;

	view_set_thorough(view, true);
	view_set_trial(view, true);
	verdict = carver_find("ole")->check(view, &found);
	view_free(view);
	return verdict == CARVE_COMPLETE ? 0 : found.length;
}

enum {
	SECOND_AT = SECTOR_COUNT - 1
}; /* a second sector of the directory, in place of the property's last one */

static struct bytes two_sectors(void)
{
	struct bytes bytes = text();
	uint64_t second = sector_at(SECOND_AT);

	put(&bytes, fat_at(1), SECOND_AT);
	put(&bytes, fat_at(SECOND_AT), 0xfffffffe);
	put(&bytes, fat_at(SECOND_AT - 1), 0xfffffffe);
	put(&bytes, sector_at(1) + 3 * 128 + 120, (SECOND_AT - PROPERTY_AT) * SECTOR);
	put(&bytes, sector_at(1) + 3 * 128 + 68, 4);
	memset(bytes.data + second, 0, SECTOR);
	memcpy(bytes.data + second, "B", 2);
	put(&bytes, second + 64, 0x20004);
	for (unsigned link = 68; link <= 76; link += 4)
		put(&bytes, second + link, 0xffffffff);
	return bytes;
}

/* Not where they are linked from. */
Test(carver_ole, tables_are_wrong_where_they_are)
{
	struct bytes bytes = two_sectors();
	uint64_t second = sector_at(SECOND_AT);

	cr_expect_eq(try(&bytes), 0);
	memset(bytes.data + second, 0, SECTOR);
	cr_expect_eq(try(&bytes), second, "an unused entry");
	memset(bytes.data + second, 'a', SECTOR);
	cr_expect_eq(try(&bytes), second, "no entries");
	free(bytes.data);
}

/* As long as the tables agree, what they lead to is wrong; else it may be they that are, if they are after it. */
Test(carver_ole, content_is_wrong_if_tables_agree)
{
	struct bytes bytes = two_sectors();
	uint64_t second = sector_at(SECOND_AT);

	memset(bytes.data + sector_at(TABLE_AT), 0, SECTOR);
	cr_expect_eq(try(&bytes), sector_at(TABLE_AT));
	put(&bytes, sector_at(1) + 3 * 128 + 68, 0xffffffff);
	memset(bytes.data + second, 'a', SECTOR);
	put(&bytes, sector_at(1) + 128 + 72, 4);
	put(&bytes, fat_at(0), 0);
	cr_expect_eq(try(&bytes), sector_at(0), "the FAT, which is before all else");
	free(bytes.data);
}

/* Records in the first sectors of a file whose FAT is past the view's end. */
static struct bytes records(const uint8_t *first, size_t first_len, const uint8_t *each, size_t len)
{
	struct bytes bytes = { 0 };

	bytes_fill(&bytes, 0, SECTOR);
	start_header(&bytes);
	put(&bytes, 44, 1);
	put(&bytes, 48, 31);
	put(&bytes, 68, 0xfffffffe);
	put(&bytes, 72, 0);
	put(&bytes, 76, 30);
	bytes_add(&bytes, first, first_len);
	while (bytes.len < sector_at(20))
		bytes_add(&bytes, each, len);
	bytes.len = sector_at(20);
	return bytes;
}

static void expect_wrong(struct bytes *bytes, uint32_t sector)
{
	cr_expect_eq(try(bytes), bytes->len);
	memset(bytes->data + sector_at(sector), 0xff, SECTOR);
	cr_expect_eq(try(bytes), sector_at(sector));
	free(bytes->data);
}

Test(carver_ole, a_workbook_is_followed_without_a_fat)
{
	/* Its beginning, with the number of a sheet; cells. */
	static const uint8_t first[] = { 9, 8, 16, 0, 0, 6, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0x85, 0, 4, 0, 1, 2, 3, 4 };
	static const uint8_t cell[] = { 3, 2, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	struct bytes bytes = records(first, sizeof(first), cell, sizeof(cell));

	expect_wrong(&bytes, 9);
}

/* It ends after its sheets: then anything may follow. */
Test(carver_ole, a_workbook_ends_after_its_sheets)
{
	static const uint8_t sheet[] = { 9, 8, 4, 0, 0, 6, 16, 0, 3, 2, 0, 0, 10, 0, 0, 0 };
	static const uint8_t other = 0xff;
	uint8_t both[] = { 9, 8, 4, 0, 0, 6, 5, 0, 0x85, 0, 0, 0, 10, 0, 0, 0, 9, 8, 4, 0, 0, 6, 16,
		0, 3, 2, 0, 0, 10, 0, 0, 0 };
	struct bytes bytes = records(both, sizeof(both), &other, 1);

	cr_expect_eq(try(&bytes), bytes.len);
	free(bytes.data);
	both[8] = 3; /* without a sheet the second part is not its own */
	both[9] = 2;
	bytes = records(both, sizeof(both) - sizeof(sheet), sheet, sizeof(sheet));
	cr_expect_eq(try(&bytes), bytes.len);
	free(bytes.data);
	both[8] = 0x85;
	both[9] = 0;
	bytes = records(both, sizeof(both) - sizeof(sheet), &other, 1);
	cr_expect_eq(try(&bytes), sector_at(0), "a sheet is missing");
	free(bytes.data);
}

/* Strings of 5 to 60 characters, some of two bytes, and with formats, in records that are continued within characters. */
static struct bytes strings(uint64_t places[2])
{
	static const uint8_t first[] = { 9, 8, 4, 0, 0, 6, 5, 0, 0x85, 0, 0, 0 };
	struct bytes bytes = records(first, sizeof(first), (const uint8_t *)"", 1), all = { 0 };
	uint64_t at = sector_at(0) + sizeof(first), part = 3000;

	bytes_add_le(&all, 300, 4);
	bytes_add_le(&all, 150, 4);
	for (unsigned i = 0; i < 150; i++) {
		unsigned count = 5 + i * 7 % 56, flags = i % 3 == 0 ? 1 : i % 5 == 0 ? 8 : 0;

		bytes_add_le(&all, count, 2);
		bytes_add_le(&all, flags, 1);
		if (flags == 8)
			bytes_add_le(&all, 2, 2);
		/* What is in the middle of a string may go on in another record, with flags before it. */
		if (all.len < part && all.len + count * (1 + (flags & 1)) > part) {
			uint64_t here = (part - all.len) / (1 + (flags & 1)) * (1 + (flags & 1));

			bytes_fill(&all, 'a', here);
			places[1] = all.len;
			bytes_add_le(&all, flags & 1, 1);
			bytes_fill(&all, 'b', count * (1 + (flags & 1)) - here);
		} else {
			bytes_fill(&all, 'c', count * (1 + (flags & 1)));
		}
		if (flags == 8)
			bytes_fill(&all, 0xee, 8);
	}
	part = places[1];
	put(&bytes, at, (uint32_t)(0xfc | part << 16));
	memcpy(bytes.data + at + 4, all.data, part);
	places[0] = at + 4;
	places[1] = at + 4 + part;
	put(&bytes, places[1], (uint32_t)(0x3c | (all.len - part) << 16));
	memcpy(bytes.data + places[1] + 4, all.data + part, all.len - part);
	at = places[1] + 4 + all.len - part;
	memcpy(bytes.data + at, "\x0a\0\0\0\x09\x08\4\0\0\6\x10\0\x0a\0\0\0", 16);
	free(all.data);
	return bytes;
}

Test(carver_ole, a_workbooks_strings_follow_each_other)
{
	uint64_t places[2];
	struct bytes bytes = strings(places);

	cr_expect_eq(try(&bytes), bytes.len);
	/* In the midst of characters nothing shows, but after them. */
	memset(bytes.data + sector_at(3), 0xf3, SECTOR);
	cr_expect_eq(try(&bytes), sector_at(3));
	free(bytes.data);
	bytes = strings(places);
	bytes.data[places[1] + 4] = 2; /* flags where characters go on */
	cr_expect_eq(try(&bytes), places[1] / SECTOR * SECTOR);
	free(bytes.data);
}

Test(carver_ole, a_presentations_records_are_in_others)
{
	/* A document of 1 MiB, and what is in it. */
	static const uint8_t first[] = { 15, 0, 0xe8, 3, 0, 0, 16, 0 };
	static const uint8_t atom[] = { 1, 0, 0xe9, 3, 4, 0, 0, 0, 1, 2, 3, 4 };
	struct bytes bytes = records(first, sizeof(first), atom, sizeof(atom));

	expect_wrong(&bytes, 7);
}

/* Styles are in a table, each with its length before it. */
Test(carver_ole, proof_needs_a_documents_styles)
{
	static const uint8_t styles[] = { 4, 0, 2, 0, 0, 0, 3, 0, 'a', 'b', 'c', 0, 2, 0, 'd',
		'e' };
	struct bytes bytes = text();
	uint64_t main = sector_at(MAIN_AT), place = sector_at(TABLE_AT + 1);

	put(&bytes, main + 0xa2, SECTOR);
	put(&bytes, main + 0xa6, sizeof(styles));
	memcpy(bytes.data + place, styles, sizeof(styles));
	cr_expect_eq(try(&bytes), 0);
	bytes.data[place + 6] = 40;
	cr_expect_eq(try(&bytes), place);
	free(bytes.data);
}

/* A message's list of properties: each has a type, and flags. */
Test(carver_ole, proof_needs_a_messages_properties)
{
	struct bytes bytes = text();
	uint64_t entry = sector_at(1) + 3 * 128, list = sector_at(PROPERTY_AT);

	memset(bytes.data + entry, 0, 64);
	put_entry(&bytes, 3, "__properties_version1.0", PROPERTY_AT, SECTOR_COUNT - PROPERTY_AT);
	put(&bytes, entry + 120, 4096 + 32);
	memset(bytes.data + list, 0, (SECTOR_COUNT - PROPERTY_AT) * SECTOR);
	for (uint64_t at = list + 32; at < list + 4096 + 32; at += 16) {
		put(&bytes, at, 0x0037001f);
		put(&bytes, at + 4, 6);
		put(&bytes, at + 8, 1);
	}
	cr_expect_eq(try(&bytes), 0);
	put(&bytes, list + 3 * SECTOR, 0x00370099);
	cr_expect_eq(try(&bytes), list + 3 * SECTOR);
	put(&bytes, list + 3 * SECTOR, 0x0037001f);
	put(&bytes, list + 3 * SECTOR + 4, 8);
	cr_expect_eq(try(&bytes), list + 3 * SECTOR);
	free(bytes.data);
}

/* ---- pictures ------------------------------------------------------------------------------- */

enum { ID_AT = 8, JPEG_AT = 25, JPEG_LEN = 3000 };

/* The document with a stream of one JPEG in place of the property, identified by its MD4. */
static struct bytes picture(void)
{
	static const char name[] = "D\0a\0t\0a";
	uint64_t entry = sector_at(1) + 3 * 128, stream = sector_at(PROPERTY_AT);
	struct bytes bytes = text();
	struct md5 md4;

	memset(bytes.data + entry, 0, 64);
	memcpy(bytes.data + entry, name, sizeof(name));
	put(&bytes, entry + 64, 0x2000a);
	put(&bytes, stream, 0xf01d46a0);
	put(&bytes, stream + 4, JPEG_AT - ID_AT + JPEG_LEN);
	for (uint32_t i = 0; i < JPEG_LEN; i++)
		bytes.data[stream + JPEG_AT + i] = (uint8_t)(i * i >> 3);
	put(&bytes, stream + JPEG_AT, 0xe0ffd8ff);
	md4_start(&md4);
	md5_add(&md4, bytes.data + stream + JPEG_AT, JPEG_LEN);
	md5_end(&md4, bytes.data + stream + ID_AT);
	return bytes;
}

/* The bits that prove a joint in the middle of the stream; the two pieces are in the wrong order in the image. */
static unsigned proof_of(const struct bytes *bytes)
{
	uint64_t joint = sector_at(PROPERTY_AT + 3);
	const struct range runs[] = { { bytes->len - joint, joint }, { 0, bytes->len - joint } };
	uint8_t *image = malloc(bytes->len);
	struct memory_image evidence = MEMORY_IMAGE(image, bytes->len);
	struct view *view = view_new();
	struct finding found = { 0 };
	unsigned bits;

	memcpy(image, bytes->data + joint, bytes->len - joint);
	memcpy(image + bytes->len - joint, bytes->data, joint);
	view_point_runs(view, &evidence.image, runs, 2, UINT64_MAX);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("ole")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	bits = view_proof(view, joint);
	view_free(view);
	free(image);
	return bits;
}

Test(carver_ole, a_pictures_digest_proves_where_pieces_meet)
{
	struct bytes bytes = picture();

	cr_expect_eq(proof_of(&bytes), 64);
	/* Programs may identify it otherwise: that proves nothing, and is not wrong. */
	bytes.data[sector_at(PROPERTY_AT) + JPEG_AT + 2000] ^= 1;
	cr_expect_eq(proof_of(&bytes), 0);
	free(bytes.data);
}

/* A metafile's data is a zlib stream, after which its record may go on. */
Test(carver_ole, a_metafiles_stream_proves_no_more_than_its_bytes)
{
	enum { HEAD = 34, DATA_AT = ID_AT + 16 + HEAD, PLAIN = 4000 };
	struct bytes bytes = picture();
	uint8_t *record = bytes.data + sector_at(PROPERTY_AT), plain[PLAIN];
	uLongf len = JPEG_LEN;

	for (uint32_t i = 0, noise = 1; i < PLAIN; i++, noise = noise * 1103515245 + 12345)
		plain[i] = (uint8_t)(noise >> 16);
	memset(record, 0, JPEG_AT + JPEG_LEN);
	put(&bytes, sector_at(PROPERTY_AT), 0xf01b2160);
	put(&bytes, sector_at(PROPERTY_AT) + 4, DATA_AT - 8 + JPEG_LEN);
	put(&bytes, sector_at(PROPERTY_AT) + DATA_AT - 4, 0xfe000000);
	/* The joint is in the stream... */
	cr_assert_eq(compress(record + DATA_AT, &len, plain, 2000), Z_OK);
	cr_expect_eq(proof_of(&bytes), 32);
	/* ...and then after it. */
	len = JPEG_LEN;
	memset(record + DATA_AT, 0, JPEG_LEN);
	cr_assert_eq(compress(record + DATA_AT, &len, plain, 1000), Z_OK);
	cr_expect_eq(proof_of(&bytes), 0);
	free(bytes.data);
}

/* RFC 1320, A.5. */
/* A message's compressed text has a CRC without inversions. */
Test(carver_ole, a_messages_text_proves_where_pieces_meet)
{
	struct bytes bytes = text();
	uint64_t entry = sector_at(1) + 3 * 128, stream = sector_at(PROPERTY_AT), len = 4200;

	memset(bytes.data + entry, 0, 64);
	put_entry(&bytes, 3, "__substg1.0_10090102", PROPERTY_AT, SECTOR_COUNT - PROPERTY_AT);
	put(&bytes, entry + 120, (uint32_t)len);
	memset(bytes.data + stream + len, 0, (SECTOR_COUNT - PROPERTY_AT) * SECTOR - len);
	put(&bytes, stream, (uint32_t)len - 4);
	memcpy(bytes.data + stream + 8, "LZFu", 4);
	put(&bytes, stream + 12,
		~(uint32_t)crc32(UINT32_MAX, bytes.data + stream + 16, (uInt)len - 16));
	cr_expect_eq(proof_of(&bytes), 32);
	bytes.data[stream + 2000]++;
	cr_expect_eq(try(&bytes), stream);
	free(bytes.data);
}

Test(carver_ole, md4_is_what_it_should_be)
{
	static const struct {
		const char *text, *digest;
	} cases[] = { { "", "\x31\xd6\xcf\xe0\xd1\x6a\xe9\x31\xb7\x3c\x59\xd7\xe0\xc0\x89\xc0" },
		{ "abc", "\xa4\x48\x01\x7a\xaf\x21\xd8\x52\x5f\xc1\x0a\xe8\x7a\xa6\x72\x9d" },
		{ "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
			"\x04\x3f\x85\x82\xf2\x41\xdb\x35\x1c\xe6\x27\xe1\x53\xe7\xf0\xe4" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t digest[MD5_LEN];
		struct md5 md4;

		md4_start(&md4);
		md5_add(&md4, (const uint8_t *)cases[i].text, strlen(cases[i].text));
		md5_end(&md4, digest);
		cr_expect_arr_eq(digest, cases[i].digest, MD5_LEN, "%s", cases[i].text);
	}
}
