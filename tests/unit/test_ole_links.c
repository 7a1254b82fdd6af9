/* What pages of documents and messages show of each other: of a document and a message, made here. */
#include "carver_case.h"

#define SECTOR 512
#define BIT 16

static void put(struct bytes *bytes, uint64_t at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		bytes->data[at + (uint64_t)i] = (uint8_t)(value >> 8 * i);
}

static uint64_t sector_at(uint32_t sector)
{
	return ((uint64_t)sector + 1) * SECTOR;
}

static uint64_t entry_at(uint32_t number)
{
	return sector_at(1) + 128 * (uint64_t)number;
}

static void put_entry(
	struct bytes *bytes, uint32_t number, const char *name, uint32_t start, uint32_t len)
{
	uint64_t at = entry_at(number);

	for (size_t i = 0; name[i]; i++)
		bytes->data[at + 2 * i] = (uint8_t)name[i];
	put(bytes, at + 64, (uint32_t)(2 * strlen(name) + 2) | (number ? 0x20000 : 0x50000));
	for (uint64_t link = 68; link <= 76; link += 4)
		put(bytes, at + link, 0xffffffff);
	put(bytes, at + 116, start);
	put(bytes, at + 120, len);
}

static void put_chain(struct bytes *bytes, uint64_t table, uint32_t start, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put(bytes, table + 4 * (uint64_t)(start + i),
			i + 1 < count ? start + i + 1 : 0xfffffffe);
}

/* The header, a FAT of one sector, and directory_count sectors of a directory with `entries` one after the other. */
static struct bytes start(uint32_t sectors, uint32_t directory_count, uint32_t entries)
{
	static const uint8_t mark[] = { 0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1 };
	struct bytes bytes = { 0 };

	bytes_fill(&bytes, 0, ((size_t)sectors + 1) * SECTOR);
	memcpy(bytes.data, mark, sizeof(mark));
	put(&bytes, 24, 0x0003003e);
	put(&bytes, 28, 0x0009fffe);
	put(&bytes, 32, 6);
	put(&bytes, 44, 1);
	put(&bytes, 48, 1);
	put(&bytes, 56, 4096);
	put(&bytes, 60, 0xfffffffe);
	put(&bytes, 68, 0xfffffffe);
	memset(bytes.data + 76, 0xff, SECTOR - 76);
	put(&bytes, 76, 0);
	memset(bytes.data + sector_at(0), 0xff, SECTOR);
	put(&bytes, sector_at(0), 0xfffffffd);
	put_chain(&bytes, sector_at(0), 1, directory_count);
	for (uint32_t i = 0; i < 4 * directory_count; i++)
		if (i >= entries)
			memset(bytes.data + entry_at(i) + 68, 0xff, 12);
	return bytes;
}

static void link_entries(struct bytes *bytes, uint32_t count)
{
	put(bytes, entry_at(0) + 76, 1);
	for (uint32_t i = 1; i + 1 < count; i++)
		put(bytes, entry_at(i) + 72, i + 1);
}

/* ---- a document ----------------------------------------------------------------------------- */

enum {
	MAIN_AT = 2,
	MAIN_LEN = 8 * SECTOR,
	TEXT_AT = 1024, /* in the main stream */
	TEXT_LEN = 4 * SECTOR,
	CHARACTERS_PAGE = 6, /* of the main stream */
	PARAGRAPHS_PAGE = 7,
	TABLE_AT = 10,
	TABLE_LEN = 4096,
	STYLES_AT = 1024, /* in the table stream */
	STYLES_LEN = 1024,
	FIELDS_AT = 64,
	FIELD = 700, /* characters before one */
	PROPERTIES_AT = 128,
	SUMMARY_AT = 18,
	SECTORS = 26,
	WORDS = 5000,
};

/* A minute of an hour, and a time in it. */
#define MINUTE 41
#define CREATED (UINT64_C(219999960) * 600000000 + MINUTE * UINT64_C(600000000))

static uint64_t main_at(uint64_t offset)
{
	return sector_at(MAIN_AT) + offset;
}

static uint64_t table_at(uint64_t offset)
{
	return sector_at(TABLE_AT) + offset;
}

static void put_field(struct bytes *bytes, unsigned field, uint32_t at, uint32_t len)
{
	put(bytes, main_at(field), at);
	put(bytes, main_at(field + 4), len);
}

/* Words, and a mark that ends a paragraph after each of `gaps`. Returns how many. */
static unsigned put_text(struct bytes *bytes, const uint32_t *gaps, unsigned count)
{
	uint64_t paragraphs = main_at(PARAGRAPHS_PAGE * SECTOR);
	uint32_t at = TEXT_AT;

	for (uint32_t i = 0; i < TEXT_LEN; i++)
		bytes->data[main_at(TEXT_AT + i)] = (uint8_t)('a' + (i * i / 7 + i) % 26);
	put(bytes, paragraphs, at);
	for (unsigned i = 0; i < count; i++) {
		at += gaps[i];
		bytes->data[main_at(at - 1)] = '\r';
		put(bytes, paragraphs + 4 * (i + 1), at);
	}
	bytes->data[paragraphs + SECTOR - 1] = (uint8_t)count;
	return count;
}

static struct bytes document(void)
{
	static const uint32_t gaps[] = { 100, 90, 130, 61, 77, 200, 150, 33, 99, 120, 180, 140, 101,
		88, 111, 107, 160, 101 };
	static const uint32_t styles[] = { 200, 150, 300, 120, 246 };
	struct bytes bytes = start(SECTORS, 1, 4);
	uint64_t properties = table_at(PROPERTIES_AT), summary = sector_at(SUMMARY_AT), at;

	put_chain(&bytes, sector_at(0), MAIN_AT, 8);
	put_chain(&bytes, sector_at(0), TABLE_AT, 8);
	put_chain(&bytes, sector_at(0), SUMMARY_AT, 8);
	put_entry(&bytes, 0, "Root Entry", 0xfffffffe, 0);
	put_entry(&bytes, 1, "WordDocument", MAIN_AT, MAIN_LEN);
	put_entry(&bytes, 2, "1Table", TABLE_AT, TABLE_LEN);
	put_entry(&bytes, 3, "\5SummaryInformation", SUMMARY_AT, 4096);
	link_entries(&bytes, 4);
	put(&bytes, main_at(0), 0x00c1a5ec);
	put(&bytes, main_at(10), 0x200);
	put(&bytes, main_at(0x40), MAIN_LEN);
	put(&bytes, main_at(0x4c), TEXT_LEN);
	put_field(&bytes, 0xa2, STYLES_AT, STYLES_LEN);
	put_field(&bytes, 0xfa, 0, 12);
	put_field(&bytes, 0x102, 16, 12);
	put_field(&bytes, 0x11a, FIELDS_AT, 10);
	put_field(&bytes, 0x192, PROPERTIES_AT, 60);
	put_field(&bytes, 0x1a2, 32, 21);
	put_text(&bytes, gaps, sizeof(gaps) / sizeof(*gaps));
	bytes.data[main_at(TEXT_AT + FIELD)] = 0x13;
	put(&bytes, main_at(CHARACTERS_PAGE * SECTOR), TEXT_AT);
	put(&bytes, main_at(CHARACTERS_PAGE * SECTOR + 4), TEXT_AT + TEXT_LEN);
	bytes.data[main_at((CHARACTERS_PAGE + 1) * SECTOR - 1)] = 1;
	for (int i = 0; i < 2; i++) {
		put(&bytes, table_at(16 * (uint64_t)i), TEXT_AT);
		put(&bytes, table_at(16 * (uint64_t)i + 4), TEXT_AT + TEXT_LEN);
		put(&bytes, table_at(16 * (uint64_t)i + 8), CHARACTERS_PAGE + (uint32_t)i);
	}
	bytes.data[table_at(32)] = 2;
	put(&bytes, table_at(33), 16);
	put(&bytes, table_at(41), TEXT_LEN);
	put(&bytes, table_at(47), 0x40000000 | 2 * TEXT_AT);
	put(&bytes, table_at(FIELDS_AT), FIELD);
	put(&bytes, table_at(FIELDS_AT + 4), TEXT_LEN);
	bytes.data[table_at(FIELDS_AT + 8)] = 0x13;
	put(&bytes, properties + 20, MINUTE | 3 << 6);
	put(&bytes, properties + 42, WORDS);
	put(&bytes, table_at(STYLES_AT), 6 | 5 << 16);
	at = table_at(STYLES_AT + 2 + 6);
	for (size_t i = 0; i < sizeof(styles) / sizeof(*styles); i++) {
		put(&bytes, at, styles[i] - 2);
		at += styles[i];
	}
	put(&bytes, summary, 0xfffe);
	put(&bytes, summary + 24, 1);
	put(&bytes, summary + 44, 48);
	put(&bytes, summary + 48, 56);
	put(&bytes, summary + 48 + 4, 2);
	put(&bytes, summary + 56, 12);
	put(&bytes, summary + 60, 32);
	put(&bytes, summary + 64, 16);
	put(&bytes, summary + 68, 48);
	put(&bytes, summary + 80, 64);
	put(&bytes, summary + 84, (uint32_t)CREATED);
	put(&bytes, summary + 88, CREATED >> 32);
	put(&bytes, summary + 96, 3);
	put(&bytes, summary + 100, WORDS);
	return bytes;
}

/* ---- a message ------------------------------------------------------------------------------ */

enum {
	MINI_FAT_AT = 3,
	MINI_AT = 4,
	LIST_LEN = 32 + 4 * 16,
	BODY_LEN = 200,
	MESSAGE_SECTORS = 8,
	ADDRESS_PAGE = 3, /* with the second half of the directory */
	LIST_PAGE = MINI_AT + 1,
};

static struct bytes message(void)
{
	static const struct {
		const char *name;
		uint32_t tag, start, len, listed;
	} streams[] = { { "__substg1.0_0037001F", 0x0037001f, 2, 40, 42 },
		{ "__substg1.0_1000001E", 0x1000001e, 8, BODY_LEN, BODY_LEN + 1 },
		{ "__substg1.0_0C1F001E", 0x0c1f001e, 16, 30, 31 } };
	struct bytes bytes = start(MESSAGE_SECTORS, 2, 5);
	uint64_t mini = sector_at(MINI_AT);

	put(&bytes, 60, MINI_FAT_AT);
	put(&bytes, 64, 1);
	put_chain(&bytes, sector_at(0), MINI_FAT_AT, 1);
	put_chain(&bytes, sector_at(0), MINI_AT, 4);
	memset(bytes.data + sector_at(MINI_FAT_AT), 0xff, SECTOR);
	put_entry(&bytes, 0, "Root Entry", MINI_AT, 4 * SECTOR);
	put_entry(&bytes, 1, "__properties_version1.0", 0, LIST_LEN);
	put_chain(&bytes, sector_at(MINI_FAT_AT), 0, 2);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t listed = mini + 32 + 16 * (uint64_t)i;

		put_entry(&bytes, 2 + i, streams[i].name, streams[i].start, streams[i].len);
		put_chain(&bytes, sector_at(MINI_FAT_AT), streams[i].start,
			(streams[i].len + 63) / 64);
		put(&bytes, listed, streams[i].tag);
		put(&bytes, listed + 4, 6);
		put(&bytes, listed + 8, streams[i].listed);
		for (uint32_t k = 0; k < streams[i].len; k++)
			bytes.data[mini + 64 * (uint64_t)streams[i].start + k] =
				(uint8_t)(i == 0 && k % 2 ? 0 : 'b' + k * k / 3 % 23);
	}
	put(&bytes, mini + 32 + 3 * 16, 0x00390040); /* when it was sent */
	put(&bytes, mini + 32 + 3 * 16 + 8, (uint32_t)CREATED);
	put(&bytes, mini + 32 + 3 * 16 + 12, CREATED >> 32);
	link_entries(&bytes, 5);
	return bytes;
}

/* ---- pages ---------------------------------------------------------------------------------- */

static const struct carve_pages *of_ole(void)
{
	return carver_find("ole")->pages;
}

static void *begin(const struct bytes *bytes)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	uint32_t page_len = 0, count = 0;
	void *pages = of_ole()->begin(view, &page_len, &count);

	view_free(view);
	if (pages) {
		cr_expect_eq(page_len, SECTOR);
		cr_expect_eq(count, bytes->len / SECTOR);
	}
	return pages;
}

struct sum {
	uint32_t page, other;
	unsigned bits;
};

static void add(void *context, const struct carve_page_link *link)
{
	struct sum *sum = context;

	if ((link->page == sum->page && link->other == sum->other) ||
		(link->page == sum->other && link->other == sum->page))
		sum->bits += link->bits;
}

/* The bits between two pages. */
static unsigned between(const void *pages, uint64_t a, uint64_t b)
{
	struct sum sum = { (uint32_t)(a / SECTOR), (uint32_t)(b / SECTOR), 0 };

	of_ole()->links(pages, add, &sum);
	return sum.bits / BIT;
}

static unsigned between_of(const struct bytes *bytes, uint64_t a, uint64_t b)
{
	void *pages = begin(bytes);
	unsigned bits = 0;

	cr_assert_not_null(pages);
	bits = between(pages, a, b);
	of_ole()->end(pages);
	return bits;
}

static uint64_t text_sector(unsigned n)
{
	return main_at(TEXT_AT) + (uint64_t)n * SECTOR;
}

Test(ole_links, a_document)
{
	struct bytes bytes = document();
	uint64_t paragraphs = main_at(PARAGRAPHS_PAGE * SECTOR);
	void *pages;

	pages = begin(&bytes);
	cr_assert_not_null(pages);
	for (unsigned n = 0; n < 4; n++)
		cr_expect_geq(between(pages, paragraphs, text_sector(n)), 15, "%u", n);
	cr_expect_geq(between(pages, paragraphs, table_at(0)), 8);
	cr_expect_geq(between(pages, main_at(CHARACTERS_PAGE * SECTOR), table_at(0)), 8);
	cr_expect_geq(between(pages, main_at(0), table_at(0)), 8); /* how long the text is */
	cr_expect_geq(between(pages, text_sector(1), table_at(FIELDS_AT)), 4);
	cr_expect_geq(between(pages, sector_at(SUMMARY_AT), table_at(PROPERTIES_AT)), 12);
	cr_expect_geq(between(pages, table_at(STYLES_AT), table_at(STYLES_AT + SECTOR)), 4);
	cr_expect_eq(between(pages, text_sector(0), text_sector(1)), 0);
	of_ole()->end(pages);
	free(bytes.data);
}

/* What does not agree is no link. */
Test(ole_links, a_document_that_does_not_agree)
{
	uint64_t paragraphs = main_at(PARAGRAPHS_PAGE * SECTOR);
	struct bytes bytes = document();

	bytes.data[main_at(TEXT_AT + 99)] = 'x'; /* no mark */
	cr_expect_eq(between_of(&bytes, paragraphs, text_sector(2)), 0);
	bytes.data[main_at(TEXT_AT + 99)] = '\r';
	cr_expect_gt(between_of(&bytes, paragraphs, text_sector(2)), 0);
	bytes.data[main_at(TEXT_AT + 50)] = '\r'; /* one too many */
	cr_expect_eq(between_of(&bytes, paragraphs, text_sector(2)), 0);
	bytes.data[main_at(TEXT_AT + 50)] = 'x';
	put(&bytes, main_at(0x4c), TEXT_LEN - 1);
	cr_expect_eq(between_of(&bytes, main_at(0), table_at(0)), 0);
	put(&bytes, table_at(FIELDS_AT), FIELD + 1);
	cr_expect_eq(between_of(&bytes, text_sector(1), table_at(FIELDS_AT)), 0);
	put(&bytes, table_at(PROPERTIES_AT) + 20, (MINUTE + 1) | 3 << 6);
	cr_expect_lt(between_of(&bytes, sector_at(SUMMARY_AT), table_at(PROPERTIES_AT)), 9);
	put(&bytes, table_at(PROPERTIES_AT) + 42, WORDS + 1);
	cr_expect_eq(between_of(&bytes, sector_at(SUMMARY_AT), table_at(PROPERTIES_AT)), 0);
	free(bytes.data);
}

/* Marks as far from each other as cells of a table count once. */
Test(ole_links, cells_count_little)
{
	static const uint32_t gaps[] = { 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
		128, 128, 128, 128 };
	struct bytes bytes = document();

	put_text(&bytes, gaps, 16);
	cr_expect_eq(between_of(&bytes, main_at(PARAGRAPHS_PAGE * SECTOR), text_sector(2)), 0);
	cr_expect_gt(between_of(&bytes, main_at(PARAGRAPHS_PAGE * SECTOR), text_sector(0)), 0);
	free(bytes.data);
}

Test(ole_links, what_a_page_could_be)
{
	struct bytes bytes = document();
	const uint32_t checked[] = { 0, 1, 2, (uint32_t)(text_sector(1) / SECTOR),
		(uint32_t)(main_at(PARAGRAPHS_PAGE * SECTOR) / SECTOR),
		(uint32_t)(table_at(STYLES_AT) / SECTOR), SUMMARY_AT + 1 };
	uint32_t any = (uint32_t)(table_at(SECTOR) / SECTOR);
	void *pages = begin(&bytes);

	cr_assert_not_null(pages);
	for (size_t i = 0; i < sizeof(checked) / sizeof(*checked); i++) {
		const uint8_t *own = bytes.data + (uint64_t)checked[i] * SECTOR;

		cr_expect_not(of_ole()->may_be(pages, checked[i], NULL), "%u", checked[i]);
		if (i)
			cr_expect(of_ole()->may_be(pages, checked[i], own), "%u", checked[i]);
		cr_expect_not(of_ole()->may_be(pages, checked[i], bytes.data + text_sector(0)),
			"%u", checked[i]);
	}
	cr_expect(of_ole()->may_be(pages, any, NULL));
	of_ole()->end(pages);
	free(bytes.data);
}

/* What a stream does not use is filled with zeros, or nothing is known of it. */
Test(ole_links, what_is_not_used)
{
	struct bytes bytes = document();
	uint32_t unused = (uint32_t)(sector_at(SUMMARY_AT + 2) / SECTOR);
	void *pages = begin(&bytes);

	cr_assert_not_null(pages);
	cr_expect_not(of_ole()->may_be(pages, unused, NULL));
	cr_expect_not(of_ole()->may_be(pages, unused, bytes.data + sector_at(TABLE_AT)));
	of_ole()->end(pages);
	bytes.data[sector_at(SUMMARY_AT + 2) + 50] = 1;
	pages = begin(&bytes);
	cr_assert_not_null(pages);
	cr_expect(of_ole()->may_be(pages, unused, NULL));
	of_ole()->end(pages);
	free(bytes.data);
}

/* Its text elsewhere, and when it was created. */
Test(ole_links, other_versions)
{
	struct bytes bytes = document(), page = { 0 };
	void *pages = begin(&bytes);

	cr_assert_not_null(pages);
	bytes_fill(&page, 0, SECTOR);
	cr_expect_eq(of_ole()->kin(pages, page.data), CARVE_NO_KIN);
	memcpy(page.data + 100, bytes.data + text_sector(0) + 37, 400);
	cr_expect_eq(of_ole()->kin(pages, page.data), CARVE_VERSION);
	for (unsigned i = 0; i < SECTOR; i++) /* other text, with little of it */
		page.data[i] = (uint8_t)('a' + (i * i * i / 11 + i * 5) % 26);
	memcpy(page.data + 100, bytes.data + text_sector(0) + 37, 80);
	cr_expect_eq(of_ole()->kin(pages, page.data), CARVE_NO_KIN);
	put(&page, 52, (uint32_t)CREATED);
	put(&page, 56, CREATED >> 32);
	cr_expect_eq(of_ole()->kin(pages, page.data), CARVE_VERSION);
	of_ole()->end(pages);
	free(page.data);
	free(bytes.data);
}

static unsigned count_links(const struct bytes *bytes)
{
	void *pages = begin(bytes);
	struct sum sum = { 0 };

	cr_assert_not_null(pages);
	for (sum.page = 0; sum.page < bytes->len / SECTOR; sum.page++)
		for (sum.other = 0; sum.other < sum.page; sum.other++)
			of_ole()->links(pages, add, &sum);
	of_ole()->end(pages);
	return sum.bits / BIT;
}

/* Of what has neither text nor a time no version would be known. */
Test(ole_links, what_has_nothing_of_its_own)
{
	struct bytes bytes = document();

	cr_expect_gt(count_links(&bytes), 50);
	memset(bytes.data + text_sector(0), 0, TEXT_LEN);
	memset(bytes.data + sector_at(SUMMARY_AT) + 84, 0, 8);
	cr_expect_eq(count_links(&bytes), 0);
	free(bytes.data);
	bytes = document();
	bytes.data[main_at(11)] |= 1;          /* encrypted */
	cr_expect_lt(count_links(&bytes), 10); /* of the tables */
	free(bytes.data);
}

/* An embedded document is not the document: its first stream may be the directory's first one of that name. */
Test(ole_links, an_embedded_document)
{
	struct bytes bytes = document();
	uint64_t formats = main_at(PARAGRAPHS_PAGE * SECTOR), length, known;
	struct view *view;
	bool is_whole;
	void *places;
	int bits;

	bytes_fill(&bytes, 0, SECTOR);
	put(&bytes, sector_at(0) + 4, SECTORS);
	put(&bytes, sector_at(0) + 4 * (uint64_t)SECTORS, 0xfffffffe);
	memcpy(bytes.data + sector_at(SECTORS), bytes.data + entry_at(1), 128);
	for (int i = 1; i < 4; i++)
		memset(bytes.data + sector_at(SECTORS) + 128 * i + 68, 0xff, 12);
	put(&bytes, entry_at(1) + 72, 0xffffffff);
	put(&bytes, entry_at(1) + 116, SUMMARY_AT);
	put(&bytes, entry_at(1) + 120, 4096);
	memset(bytes.data + entry_at(3), 0, 64);
	put_entry(&bytes, 3, "ObjectPool", 0, 0);
	bytes.data[entry_at(3) + 66] = 1;
	put(&bytes, entry_at(3) + 76, 1);
	put(&bytes, entry_at(0) + 76, 4);
	view = view_new_memory(bytes.data, bytes.len);
	places = carver_find("ole")->places->begin(view, &length, &is_whole, &known);
	cr_assert_not_null(places);
	carver_find("ole")->places->ask(places, formats, 1, bytes.data + formats, SECTOR, &bits);
	cr_expect_gt(bits, 200);
	carver_find("ole")->places->end(places);
	view_free(view);
	cr_expect_geq(between_of(&bytes, formats, table_at(0)), 8);
	free(bytes.data);
}

Test(ole_links, a_message)
{
	struct bytes bytes = message();
	uint64_t list = (uint64_t)LIST_PAGE * SECTOR, address = (uint64_t)ADDRESS_PAGE * SECTOR;
	uint64_t mini = sector_at(MINI_AT);
	unsigned bits, fewer;

	bits = between_of(&bytes, list, sector_at(1));
	cr_expect_geq(bits, 8);
	cr_expect_geq(between_of(&bytes, list, address), 4);
	put(&bytes, mini + 32 + 2 * 16 + 8, 30); /* without the zero */
	cr_expect_eq(between_of(&bytes, list, address), 0);
	fewer = between_of(&bytes, list, sector_at(1));
	cr_expect_lt(fewer, bits); /* nor do the others count: one in three does not agree */
	cr_expect_geq(between_of(&bytes, sector_at(1), mini + 64 * 8), 3); /* filled with zeros */
	bytes.data[mini + 64 * 8 + BODY_LEN] = 'x';
	cr_expect_lt(between_of(&bytes, sector_at(1), mini + 64 * 8), 3);
	free(bytes.data);
}

/* Any bytes are read without harm, for little work. */
Test(ole_links, hostile_bytes)
{
	for (unsigned seed = 0; seed < 4000; seed++) {
		struct bytes bytes = seed % 2 ? document() : message();
		struct view *view = view_new_memory(bytes.data, bytes.len);
		uint32_t page_len, count;
		uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
		void *pages;

		for (unsigned i = 0; i < 1 + seed % 5; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			bytes.data[(random >> 33) % bytes.len] = (uint8_t)(random >> 20);
			if (seed % 3 == 0) /* in a table */
				bytes.data[table_at((random >> 40) % 512)] =
					(uint8_t)(random >> 25);
		}
		pages = of_ole()->begin(view, &page_len, &count);
		cr_expect_lt(view_work_done(view), 1 << 20, "%u: %u", seed,
			(unsigned)view_work_done(view));
		if (pages) {
			struct sum sum = { 0 };

			of_ole()->links(pages, add, &sum);
			for (uint32_t page = 0; page < count; page++)
				of_ole()->may_be(pages, page,
					bytes.data + seed % (bytes.len / SECTOR) * SECTOR);
			of_ole()->kin(pages, bytes.data);
			of_ole()->end(pages);
		}
		view_free(view);
		free(bytes.data);
	}
}
