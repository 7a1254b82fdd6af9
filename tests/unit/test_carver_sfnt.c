/* Fonts in pieces: their outlines show where another file's bytes begin. */
#include "carver_case.h"
#include "carvers/bytes.h"

#define GLYPHS 200
#define LIST_LEN (2 + 1 + 4 * (GLYPHS + 1))

/* A triangle, or a glyph of two others; as long as a multiple of `unit`. */
static void add_glyph(struct bytes *table, unsigned number, size_t unit)
{
	bool is_made = number % 5 == 4;

	bytes_add_be(table, is_made ? 0xffff : 1, 2);
	for (unsigned i = 0; i < 4; i++)
		bytes_add_be(table, 100 * i, 2);
	if (is_made) {
		bytes_add_be(table, 0x0021, 2); /* words, and another part */
		bytes_add_be(table, number, 2);
		bytes_add_be(table, 0x00010002, 4);
		bytes_add_be(table, 0x0108, 2); /* a scale, and code */
		bytes_add_be(table, number, 2);
		bytes_add_be(table, 0x01024000, 4);
		bytes_add_be(table, 3, 2);
		bytes_fill(table, 0xb0, 3);
	} else {
		bytes_add_be(table, 2, 2); /* the last point */
		bytes_add_be(table, number % 3, 2);
		bytes_fill(table, 0xb0, number % 3);
		bytes_add_be(table, number % 2 ? 0x3f02 : 0x010101, number % 2 ? 2 : 3);
		bytes_fill(table, (uint8_t)(number + 1), number % 2 ? 6 : 12);
	}
	while (table->len % unit)
		bytes_fill(table, 0, 1);
}

static struct bytes make_glyphs(size_t unit)
{
	struct bytes table = { 0 };

	for (unsigned i = 0; i < GLYPHS; i++)
		add_glyph(&table, i, unit);
	while (table.len % 4)
		bytes_fill(&table, 0, 1);
	return table;
}

/* Outlines of 60 bytes, the first of them at 47 + LIST_LEN. */
static struct bytes make_compact(void)
{
	struct bytes table = { 0 };

	bytes_add(&table, "\1\0\4\4", 4);
	bytes_add(&table, "\0\1\1\1\5name", 9);
	bytes_add(&table, "\0\1\1\1\x1d", 5);
	/* A number with a fraction, a pair of bytes, three numbers, and the place. */
	bytes_add(&table, "\x1e\xe2\xa2\x5f\x0c\7\xf8\x10\0\xfb\x10\1\x1c\1\0\2\x1d", 17);
	bytes_fill(&table, 0, 2);
	bytes_add_be(&table, 47, 2);
	bytes_fill(&table, 17, 1);
	bytes_fill(&table, 0, 47 - table.len);
	table.data[17] = 23;
	bytes_add_be(&table, GLYPHS, 2);
	bytes_fill(&table, 4, 1);
	for (unsigned i = 0; i <= GLYPHS; i++)
		bytes_add_be(&table, 1 + 60 * i, 4);
	for (unsigned i = 0; i < GLYPHS; i++) {
		bytes_fill(&table, (uint8_t)(139 + i % 90), 59);
		bytes_fill(&table, i % 7 ? 14 : 10, 1);
	}
	while (table.len % 4)
		bytes_fill(&table, 0, 1);
	return table;
}

static void add_table(
	struct bytes *font, struct bytes *body, const char *tag, const struct bytes *table)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < table->len; i += 4)
		sum += be32(table->data + i);
	bytes_add(font, tag, 4);
	bytes_add_be(font, sum, 4);
	bytes_add_be(font, 12 + 3 * 16 + body->len, 4);
	bytes_add_be(font, table->len, 4);
	bytes_add(body, table->data, table->len);
}

/* The outlines between two tables. They begin at 560. */
static struct bytes make_font(const char *version, const char *tag, const struct bytes *outlines)
{
	struct bytes font = { 0 }, body = { 0 }, other = { 0 };

	bytes_add_random(&other, 3, 500);
	bytes_add(&font, version, 4);
	bytes_add_be(&font, 3, 2);
	bytes_fill(&font, 0, 6);
	add_table(&font, &body, "BASE", &other);
	add_table(&font, &body, tag, outlines);
	add_table(&font, &body, "post", &other);
	bytes_add(&font, body.data, body.len);
	free(body.data);
	free(other.data);
	return font;
}

static uint64_t noticed(const struct bytes *font, size_t len, bool is_thorough)
{
	struct view *view = view_new_memory(font->data, len);
	struct finding found = { 0 };
	enum verdict verdict;

	view_set_thorough(view, is_thorough);
	verdict = carver_find("sfnt")->check(view, &found);
	cr_expect_neq(verdict, CARVE_COMPLETE);
	cr_expect(!is_thorough || verdict == CARVE_TRUNCATED);
	view_free(view);
	return found.length;
}

/* Foreign bytes are noticed where they begin, a glyph before or after, and only where files are put together; a font that is cut is
 * valid to there. */
static void expect_noticed(struct bytes *font, uint64_t longest)
{
	for (size_t at = 2000; at + 1000 < font->len - 600; at += 1000) {
		struct bytes broken = { 0 };
		uint64_t there;

		bytes_add(&broken, font->data, font->len);
		for (size_t i = at; i < at + 1000; i++)
			broken.data[i] = (uint8_t)(i * 37 + (i >> 5) * 11 + 0x80);
		there = noticed(&broken, broken.len, true);
		cr_expect(there + longest >= at && there <= at + 2 * longest, "%zu: %zu", at,
			(size_t)there);
		cr_expect_eq(noticed(&broken, broken.len, false), font->len);
		there = noticed(font, at, true);
		cr_expect_eq(there, at, "%zu: %zu", at, (size_t)there);
		free(broken.data);
	}
	expect("sfnt", font, CARVE_COMPLETE, font->len, NULL);
	free(font->data);
}

Test(carver_sfnt, foreign_bytes_among_glyphs_are_noticed)
{
	for (size_t unit = 1; unit <= 4; unit *= 2) {
		struct bytes table = make_glyphs(unit);
		struct bytes font = make_font("\0\1\0\0", "glyf", &table);

		expect_noticed(&font, 48);
		free(table.data);
	}
}

Test(carver_sfnt, foreign_bytes_among_charstrings_are_noticed)
{
	struct bytes table = make_compact();
	struct bytes font = make_font("OTTO", "CFF ", &table), broken = { 0 };

	/* A list of places that goes back. */
	bytes_add(&broken, font.data, font.len);
	memset(broken.data + 560 + 47 + 3 + 4 * 100, 0, 8);
	cr_expect_eq(noticed(&broken, broken.len, true), 560 + 47 + 3 + 4 * 100);
	free(broken.data);
	expect_noticed(&font, 60);
	free(table.data);
}
