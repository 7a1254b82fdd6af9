/* Which pages of compound files in pieces are linked, by which bits, and what else could be in their place. */
#include <zlib.h>

#include "carvers/common/md5.h"

#include "carver_case.h"

#define PAGE 512
#define BIT 16

static const struct carve_pages *carver_pages(void)
{
	return carver_find("ole")->pages;
}

static void set(struct bytes *bytes, uint64_t at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		bytes->data[at + (uint64_t)i] = (uint8_t)(value >> 8 * i);
}

static void put_entry(struct bytes *bytes, uint64_t at, const char *name, uint32_t type)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		bytes->data[at + 2 * i] = (uint8_t)name[i];
	set(bytes, at + 64, (uint32_t)(2 * len + 2) | type << 16);
	for (unsigned link = 68; link <= 76; link += 4)
		set(bytes, at + link, 0xffffffff);
}

/* A file of one stream, which begins in its second page; after it are the directory and the FAT. Takes the stream. */
static struct bytes compound(const char *name, struct bytes *stream)
{
	static const uint8_t start[] = { 0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1 };
	uint32_t sectors = (uint32_t)((stream->len + PAGE - 1) / PAGE);
	uint64_t directory = (uint64_t)(sectors + 1) * PAGE, fat = directory + PAGE;
	struct bytes bytes = { 0 };

	bytes_fill(&bytes, 0, fat + PAGE);
	memcpy(bytes.data, start, sizeof(start));
	set(&bytes, 24, 0x0003003e);
	set(&bytes, 28, 0x0009fffe);
	set(&bytes, 32, 6);
	set(&bytes, 44, 1);
	set(&bytes, 48, sectors);
	set(&bytes, 56, 4096);
	set(&bytes, 60, 0xfffffffe);
	set(&bytes, 68, 0xfffffffe);
	set(&bytes, 76, sectors + 1);
	memcpy(bytes.data + PAGE, stream->data, stream->len);
	put_entry(&bytes, directory, "Root Entry", 5);
	set(&bytes, directory + 76, 1);
	set(&bytes, directory + 116, 0xfffffffe);
	put_entry(&bytes, directory + 128, name, 2);
	set(&bytes, directory + 128 + 116, 0);
	set(&bytes, directory + 128 + 120, (uint32_t)stream->len);
	for (uint32_t i = 0; i < PAGE / 4; i++)
		set(&bytes, fat + 4 * (uint64_t)i,
			i + 1 < sectors    ? i + 1
			: i <= sectors     ? 0xfffffffe
			: i == sectors + 1 ? 0xfffffffd
					   : 0xffffffff);
	free(stream->data);
	return bytes;
}

struct summing {
	uint32_t a, b;
	unsigned bits;
};

static void sum(void *context, const struct carve_page_link *link)
{
	struct summing *summing = context;

	if ((link->page == summing->a && link->other == summing->b) ||
		(link->page == summing->b && link->other == summing->a))
		summing->bits += link->bits;
}

struct opened {
	struct view *view;
	void *pages;
	uint32_t count;
};

static struct opened open_pages(const struct bytes *bytes)
{
	struct opened opened = { .view = view_new_memory(bytes->data, bytes->len) };
	uint32_t page_len;

	opened.pages = carver_pages()->begin(opened.view, &page_len, &opened.count);
	cr_assert(opened.pages);
	cr_expect_eq(page_len, PAGE);
	cr_expect_eq(opened.count, bytes->len / PAGE);
	return opened;
}

static void close_pages(struct opened *opened)
{
	carver_pages()->end(opened->pages);
	view_free(opened->view);
}

/* Whole bits that link two pages. */
static unsigned bits_of(const struct bytes *bytes, uint64_t a, uint64_t b)
{
	struct opened opened = open_pages(bytes);
	struct summing summing = { (uint32_t)a, (uint32_t)b, 0 };

	carver_pages()->links(opened.pages, sum, &summing);
	close_pages(&opened);
	return summing.bits / BIT;
}

/* ---- workbooks ------------------------------------------------------------------------------ */

static uint64_t add_record(struct bytes *bytes, unsigned type, unsigned len)
{
	uint64_t at = bytes->len;

	bytes_add_le(bytes, type, 2);
	bytes_add_le(bytes, len, 2);
	bytes_fill(bytes, 0, len);
	return at;
}

/* Where its records are, in the stream. */
struct book {
	uint64_t sheet, strings, string_places, begin, index, row, last, block;
};

/* Fonts; strings; a sheet with a row of numbers. */
static struct bytes workbook(struct book *book)
{
	struct bytes stream = { 0 };
	uint64_t at = add_record(&stream, 0x809, 16);

	set(&stream, at + 4, 0x00050600);
	book->sheet = add_record(&stream, 0x85, 12);
	for (unsigned i = 0; i < 60; i++)
		add_record(&stream, 0x31, 20);
	book->strings = add_record(&stream, 0xfc, 8 + 100 * 33);
	for (unsigned i = 0; i < 100; i++) {
		at = book->strings + 12 + 33 * (uint64_t)i;
		stream.data[at] = 30;
		memset(stream.data + at + 3, 'a' + (int)(i % 26), 30);
	}
	book->string_places = add_record(&stream, 0xff, 2 + 8);
	set(&stream, book->strings + 4, 5);
	set(&stream, book->string_places + 6, (uint32_t)book->strings + 12 + 33 * 8);
	add_record(&stream, 0x0a, 0);
	book->begin = add_record(&stream, 0x809, 16);
	set(&stream, book->begin + 4, 0x00100600);
	set(&stream, book->sheet + 4, (uint32_t)book->begin);
	book->index = add_record(&stream, 0x20b, 20);
	book->row = add_record(&stream, 0x208, 16);
	for (unsigned i = 0; i < 120; i++) {
		at = add_record(&stream, 0x203, 14);
		set(&stream, at + 4, i / 40 | i % 40 << 16);
		set(&stream, at + 10, 0x12345678 + 0x01010101 * i);
		set(&stream, at + 14, 0x9abcdef0 - 0x01020304 * i);
	}
	for (unsigned i = 0; i < 5; i++) {
		book->last = add_record(&stream, 0xfd, 10);
		set(&stream, book->last + 4, 3 + 2 * i);
	}
	book->block = add_record(&stream, 0xd7, 4);
	set(&stream, book->block + 4, (uint32_t)(book->block - book->row));
	set(&stream, book->index + 20, (uint32_t)book->block);
	add_record(&stream, 0x0a, 0);
	return compound("Workbook", &stream);
}

/* The file's page with a byte of the stream. */
static uint64_t page(uint64_t at)
{
	return 1 + at / PAGE;
}

Test(ole_pages, offsets_link_a_workbooks_pages)
{
	struct book book;
	struct bytes bytes = workbook(&book);
	uint64_t last = bytes.len / PAGE - 3, directory = last + 1, fat = last + 2;

	cr_expect_eq(bits_of(&bytes, page(book.sheet), page(book.begin)), 10);
	cr_expect_eq(bits_of(&bytes, page(book.index), page(book.block)), 10 + 6);
	cr_expect_eq(
		bits_of(&bytes, page(book.string_places), page(book.strings + 12 + 33 * 8)), 4);
	cr_expect_eq(bits_of(&bytes, 2, 3), 3, "a record after the other");
	cr_expect_eq(bits_of(&bytes, page(book.row) + 1, page(book.row) + 2), 3 + 7,
		"a cell after the other");
	cr_expect_eq(bits_of(&bytes, page(book.last), page(book.strings)), 5, "as many cells");
	cr_expect_eq(bits_of(&bytes, page(book.strings) + 1, page(book.strings) + 2), 3,
		"a string after the other");
	cr_expect_eq(bits_of(&bytes, last, directory), 8, "records end with the stream");
	cr_expect_eq(bits_of(&bytes, 0, fat), 1, "the FAT marks itself");
	cr_expect_eq(bits_of(&bytes, 2, 7), 0);
	free(bytes.data);
}

/* Small files of a program are laid out alike. */
Test(ole_pages, tables_far_away_show_more)
{
	struct bytes stream = { 0 }, bytes;

	bytes_fill(&stream, 0, 120 * PAGE);
	for (uint64_t at = 0; at + 14 <= stream.len; at += 14) {
		set(&stream, at, 0x000a0018); /* a name */
		set(&stream, at + 4, 0x12345678 + 0x01010101 * (uint32_t)at);
	}
	bytes = compound("Workbook", &stream);
	cr_expect_eq(bits_of(&bytes, 0, bytes.len / PAGE - 1), 3);
	free(bytes.data);
}

/* A workbook of which an offset is wrong shows nothing by offsets. */
Test(ole_pages, wrong_offsets_link_nothing)
{
	struct book book;
	struct bytes bytes = workbook(&book);

	set(&bytes, PAGE + book.sheet + 4, (uint32_t)book.begin + 4);
	cr_expect_eq(bits_of(&bytes, page(book.sheet), page(book.begin)), 0);
	cr_expect_eq(bits_of(&bytes, page(book.index), page(book.block)), 6);
	set(&bytes, PAGE + book.strings + 4, 6);
	cr_expect_eq(bits_of(&bytes, page(book.last), page(book.strings)), 0);
	set(&bytes, PAGE + book.block + 4, (uint32_t)(book.block - book.row) + 4);
	cr_expect_eq(bits_of(&bytes, page(book.index), page(book.block)), 0);
	free(bytes.data);
}

static bool may_be(const struct opened *opened, uint64_t number, const uint8_t *bytes)
{
	return carver_pages()->may_be(opened->pages, (uint32_t)number, bytes);
}

/* In the place of records there could be others that begin and end at the same places. */
Test(ole_pages, what_could_be_in_a_page)
{
	struct book book;
	struct bytes bytes = workbook(&book);
	struct opened opened = open_pages(&bytes);
	uint64_t cells = page(book.row) + 1;
	uint8_t other[PAGE];

	for (uint64_t i = 0; i < opened.count; i++)
		cr_expect_not(may_be(&opened, i, NULL));
	memcpy(other, bytes.data + cells * PAGE, PAGE);
	cr_expect(may_be(&opened, cells, other));
	other[PAGE / 2] ^= 0x40;
	memset(other + PAGE / 2, 0x77, 40);
	cr_expect_not(may_be(&opened, cells, other));
	cr_expect_not(may_be(&opened, cells, bytes.data + (cells + 1) * PAGE), "begins elsewhere");
	cr_expect_not(may_be(&opened, opened.count - 1, bytes.data + PAGE), "no FAT");
	cr_expect(may_be(&opened, opened.count - 1, bytes.data + (opened.count - 1) * PAGE));
	close_pages(&opened);
	free(bytes.data);
}

/* Numbers that are the same at the same place of a page show another version. */
Test(ole_pages, versions_have_values_in_common)
{
	struct book book;
	struct bytes bytes = workbook(&book);
	struct opened opened = open_pages(&bytes);
	uint8_t other[PAGE], *cells = bytes.data + (page(book.row) + 1) * PAGE;

	memcpy(other, cells, PAGE);
	cr_expect_eq(carver_pages()->kin(opened.pages, other), CARVE_COPY);
	memset(other, 0x77, PAGE / 4);
	cr_expect_eq(carver_pages()->kin(opened.pages, other), CARVE_VERSION);
	memset(other, 0x77, PAGE - 16);
	cr_expect_eq(carver_pages()->kin(opened.pages, other), CARVE_NO_KIN);
	cr_expect_eq(carver_pages()->kin(opened.pages, cells + 1), CARVE_NO_KIN);
	/* Fonts are the same in many files. */
	cr_expect_eq(carver_pages()->kin(opened.pages, bytes.data + 2 * PAGE), CARVE_NO_KIN);
	close_pages(&opened);
	free(bytes.data);
}

enum { PICTURE_LEN = 5000, FIRST_LEN = 2000 };

/* A drawing of one picture in two records, before a sheet, identified by its digest or not. Returns where the picture's bytes begin in the stream. */
static uint64_t draw(struct bytes *stream, const struct bytes *picture, bool has_id)
{
	static const uint16_t heads[] = { 0xf000, 0xf001 };
	struct bytes drawing = { 0 };
	struct md5 md4;
	uint8_t id[MD5_LEN] = { 0 };
	uint64_t at;

	for (int i = 0; i < 2; i++) {
		bytes_add_le(&drawing, 15, 2);
		bytes_add_le(&drawing, heads[i], 2);
		bytes_add_le(&drawing, (uint32_t)picture->len + 69 - 8 * (uint32_t)i, 4);
	}
	bytes_add_le(&drawing, 0xf0070062, 4);
	bytes_add_le(&drawing, 36 + 25 + picture->len, 4);
	bytes_fill(&drawing, 0, 36);
	bytes_add_le(&drawing, has_id ? 0xf01d46a0 : 0xf01e6e00, 4);
	bytes_add_le(&drawing, 17 + picture->len, 4);
	md4_start(&md4);
	md5_add(&md4, picture->data, picture->len);
	md5_end(&md4, id);
	id[0] ^= !has_id;
	bytes_add(&drawing, id, sizeof(id));
	bytes_fill(&drawing, 0xff, 1);
	at = drawing.len;
	bytes_add(&drawing, picture->data, picture->len);
	at += add_record(stream, 0xeb, FIRST_LEN) + 4;
	memcpy(stream->data + stream->len - FIRST_LEN, drawing.data, FIRST_LEN);
	add_record(stream, 0x3c, (unsigned)(drawing.len - FIRST_LEN));
	memcpy(stream->data + stream->len - (drawing.len - FIRST_LEN), drawing.data + FIRST_LEN,
		drawing.len - FIRST_LEN);
	add_record(stream, 0x0a, 0);
	free(drawing.data);
	return at;
}

static struct bytes drawing_book(const struct bytes *picture, bool has_id, uint64_t *at)
{
	struct bytes stream = { 0 };

	set(&stream, add_record(&stream, 0x809, 16) + 4, 0x00050600);
	*at = draw(&stream, picture, has_id);
	return compound("Workbook", &stream);
}

Test(ole_pages, a_workbooks_picture_is_in_several_records)
{
	struct bytes picture = { 0 }, bytes;
	uint64_t at;

	bytes_fill(&picture, 0, PICTURE_LEN);
	for (uint32_t i = 0; i < PICTURE_LEN; i++)
		picture.data[i] = (uint8_t)(i * i >> 3);
	memcpy(picture.data, "\xff\xd8\xff\xe0", 4);
	bytes = drawing_book(&picture, true, &at);
	cr_expect_eq(bits_of(&bytes, page(at) + 1, page(at) + 2), 64);
	cr_expect_eq(bits_of(&bytes, page(FIRST_LEN), page(FIRST_LEN) + 1), 64);
	bytes.data[PAGE + at + 3000] ^= 1;
	cr_expect_eq(bits_of(&bytes, page(at) + 1, page(at) + 2), 0);
	free(bytes.data);
	free(picture.data);
}

/* One that the number before it does not identify has CRCs. */
Test(ole_pages, chunks_of_a_workbooks_picture)
{
	struct bytes picture = { 0 }, bytes;
	struct finding found = { 0 };
	uint64_t at;

	bytes_fill(&picture, 0, PICTURE_LEN);
	for (uint32_t i = 0; i < PICTURE_LEN; i++)
		picture.data[i] = (uint8_t)(i * i >> 3);
	memcpy(picture.data, "\x89PNG\r\n\x1a\n\0\0\x13\x74IDAT", 16);
	for (int i = 0; i < 4; i++)
		picture.data[PICTURE_LEN - 4 + i] =
			(uint8_t)(crc32(0, picture.data + 12, PICTURE_LEN - 16) >> 8 * (3 - i));
	bytes = drawing_book(&picture, false, &at);
	cr_expect_eq(bits_of(&bytes, page(at) + 1, page(at) + 2), 32);
	bytes.data[PAGE + at + 3000] ^= 1;
	cr_expect_eq(bits_of(&bytes, page(at) + 1, page(at) + 2), 0);
	cr_expect_eq(carve_thoroughly("ole", bytes.data, bytes.len, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, page(at) * PAGE, "%s", found.why);
	free(bytes.data);
	free(picture.data);
}

/* ---- presentations -------------------------------------------------------------------------- */

static uint64_t add_atom(struct bytes *bytes, unsigned version, unsigned type, unsigned len)
{
	uint64_t at = bytes->len;

	bytes_add_le(bytes, version, 2);
	bytes_add_le(bytes, type, 2);
	bytes_add_le(bytes, len, 4);
	if (version != 15)
		bytes_fill(bytes, 0, len);
	return at;
}

static uint64_t add_container(struct bytes *bytes, unsigned type, unsigned atoms)
{
	uint64_t at = add_atom(bytes, 15, type, atoms * 48);

	for (unsigned i = 0; i < atoms; i++)
		set(bytes, add_atom(bytes, 0, 3009, 40) + 8, 0x12345678 + 0x01010101 * i);
	return at;
}

Test(ole_pages, offsets_link_a_presentations_pages)
{
	struct bytes stream = { 0 }, bytes;
	uint64_t document = add_container(&stream, 1000, 30), slide, list, edit;

	slide = add_container(&stream, 1006, 40);
	list = add_atom(&stream, 0, 6002, 12);
	set(&stream, list + 8, 1 | 2 << 20);
	set(&stream, list + 12, (uint32_t)document);
	set(&stream, list + 16, (uint32_t)slide);
	add_container(&stream, 1008, 30);
	edit = add_atom(&stream, 0, 4085, 28);
	set(&stream, edit + 8 + 12, (uint32_t)list);
	bytes = compound("PowerPoint Document", &stream);
	cr_expect_eq(bits_of(&bytes, page(list), page(slide)), 6 + 5, "its place, and its end");
	cr_expect_eq(bits_of(&bytes, page(edit), page(list)), 6 + 5, "and notes");
	cr_expect_eq(bits_of(&bytes, 2, 3), 4, "a record after the other");
	cr_expect_eq(bits_of(&bytes, page(list), page(document)), 0, "each file's first record");
	set(&bytes, PAGE + list + 16, (uint32_t)slide + 8);
	cr_expect_eq(bits_of(&bytes, page(edit), page(list)), 5, "one is wrong");
	free(bytes.data);
}
