/* Fonts in pieces: their outlines show where another file's bytes begin, and prove joints before them; compressed ones
 * are restored to what has a sum. */
#include "carvers/bytes.h"
#include "joints_case.h"

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

/* Outlines of 60 bytes, the first of them at 47 + gap + LIST_LEN. */
static struct bytes make_compact(size_t gap)
{
	struct bytes table = { 0 };

	bytes_add(&table, "\1\0\4\4", 4);
	bytes_add(&table, "\0\1\1\1\5name", 9);
	bytes_add(&table, "\0\1\1\1\x1d", 5);
	/* A number with a fraction, a pair of bytes, three numbers, and the place. */
	bytes_add(&table, "\x1e\xe2\xa2\x5f\x0c\7\xf8\x10\0\xfb\x10\1\x1c\1\0\2\x1d", 17);
	bytes_fill(&table, 0, 2);
	bytes_add_be(&table, 47 + gap, 2);
	bytes_fill(&table, 17, 1);
	bytes_fill(&table, 0, 47 - table.len);
	table.data[17] = 23;
	bytes_fill(&table, 1, gap);
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

struct table {
	const char *tag;
	struct bytes bytes;
};

/* A font of these tables, which it frees. */
static struct bytes make_tables(const char *version, struct table *tables, unsigned count)
{
	struct bytes font = { 0 };
	uint64_t at = 12 + 16 * (uint64_t)count;

	bytes_add(&font, version, 4);
	bytes_add_be(&font, count, 2);
	bytes_fill(&font, 0, 6);
	for (unsigned i = 0; i < count; i++) {
		struct bytes *table = &tables[i].bytes;
		uint32_t sum = 0;

		bytes_fill(table, 0, -table->len & 3);
		for (size_t k = 0; k < table->len; k += 4)
			sum += be32(table->data + k);
		bytes_add(&font, tables[i].tag, 4);
		bytes_add_be(&font, sum, 4);
		bytes_add_be(&font, at, 4);
		bytes_add_be(&font, table->len, 4);
		at += table->len;
	}
	for (unsigned i = 0; i < count; i++) {
		bytes_add(&font, tables[i].bytes.data, tables[i].bytes.len);
		free(tables[i].bytes.data);
	}
	return font;
}

/* The outlines, which it frees, between two tables. They begin at 560. */
static struct bytes make_font(const char *version, const char *tag, const struct bytes *outlines)
{
	struct table tables[] = { { "BASE", { 0 } }, { tag, *outlines }, { "post", { 0 } } };

	bytes_add_random(&tables[0].bytes, 3, 500);
	bytes_add_random(&tables[2].bytes, 3, 500);
	return make_tables(version, tables, 3);
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
	}
}

Test(carver_sfnt, foreign_bytes_among_charstrings_are_noticed)
{
	struct bytes table = make_compact(0);
	struct bytes font = make_font("OTTO", "CFF ", &table), broken = { 0 };

	/* A list of places that goes back. */
	bytes_add(&broken, font.data, font.len);
	memset(broken.data + 560 + 47 + 3 + 4 * 100, 0, 8);
	cr_expect_eq(noticed(&broken, broken.len, true), 560 + 47 + 3 + 4 * 100);
	free(broken.data);
	expect_noticed(&font, 60);
}

enum { SUM = 32, NEXT = 12, NEXT_CUT = 8, GLYPH = 12, MORE = 2, CHARSTRING = 2 };

#define GLYPH_LEN 40
#define GLYPHS_AT (12 + 6 * 16)

/* Triangles of 40 bytes; `metrics` has the left side of each, plus `wrong`. */
static struct bytes make_whole(unsigned wrong)
{
	struct table tables[6] = { { "glyf", { 0 } }, { "head", { 0 } }, { "hhea", { 0 } },
		{ "hmtx", { 0 } }, { "loca", { 0 } }, { "post", { 0 } } };
	struct bytes *glyphs = &tables[0].bytes, *head = &tables[1].bytes;

	for (unsigned i = 0; i < GLYPHS; i++) {
		bytes_add_be(glyphs, 1, 2);
		bytes_add_be(glyphs, i, 2);
		bytes_add_be(glyphs, 0, 2);
		bytes_add_be(glyphs, i + 100, 2);
		bytes_add_be(glyphs, 500, 2);
		bytes_add_be(glyphs, 2, 2);
		bytes_add_be(glyphs, 14, 2);
		bytes_fill(glyphs, 0xb0, 14);
		bytes_add_be(glyphs, 0x373737, 3); /* flags of three points */
		bytes_fill(glyphs, (uint8_t)(i * 7), 6);
		bytes_fill(glyphs, 0, 3);
		bytes_add_be(&tables[3].bytes, 500, 2);
		bytes_add_be(&tables[3].bytes, i + wrong, 2);
	}
	for (unsigned i = 0; i <= GLYPHS; i++)
		bytes_add_be(&tables[4].bytes, GLYPH_LEN * i, 4);
	bytes_add(head, "\0\1\0\0\1\1\1\1\0\0\0\0\x5f\x0f\x3c\xf5", 16);
	bytes_fill(head, 0, 34);
	bytes_add_be(head, 1, 2);
	bytes_add_be(head, 0, 2);
	bytes_fill(&tables[2].bytes, 3, 34);
	bytes_add_be(&tables[2].bytes, GLYPHS, 2);
	bytes_add_random(&tables[5].bytes, 3, 500);
	return make_tables("\0\1\0\0", tables, 6);
}

static void expect_proof(const struct bytes *font, uint64_t first, uint64_t second,
	unsigned first_bits, unsigned second_bits)
{
	const uint64_t joints[] = { first, second };
	unsigned bits[2] = { 0 };

	cr_expect_eq(
		prove_joints("sfnt", font, joints, second ? 2 : 1, true, bits), CARVE_COMPLETE);
	cr_expect_eq(bits[0], first_bits, "%u", bits[0]);
	cr_expect_eq(bits[1], second_bits, "%u", bits[1]);
}

Test(carver_sfnt, glyphs_after_a_joint_prove_it)
{
	struct bytes font = make_whole(0), other = make_whole(1);
	uint64_t from = GLYPHS_AT + 50 * GLYPH_LEN;
	unsigned glyphs = GLYPH + 2 * MORE;

	/* In a glyph, and before one. */
	expect_proof(&font, from + 17, 0, SUM + NEXT + glyphs, 0);
	expect_proof(&font, from, 0, SUM + NEXT + glyphs, 0);
	/* Two in a table: the next one does not say where the first piece is. */
	expect_proof(&font, from + 17, from + 512, SUM + glyphs, SUM + glyphs);
	expect_proof(&font, from + 17, from + GLYPH_LEN + 3, 0, SUM + GLYPH);
	expect_proof(&font, from + 17, from + 2 * GLYPH_LEN + 3, SUM + GLYPH, SUM + glyphs - MORE);
	/* At the table's end, and in the table after it, which agrees with both. */
	expect_proof(
		&font, GLYPHS_AT + GLYPHS * GLYPH_LEN - GLYPH_LEN - 1, 0, SUM + NEXT + GLYPH, 0);
	expect_proof(&font, from, GLYPHS_AT + GLYPHS * GLYPH_LEN + 40, SUM + NEXT_CUT + glyphs,
		SUM + NEXT);
	/* Nothing shows in which order the clusters of this table are. */
	expect_proof(&font, font.len - 100, 0, SUM, 0);
	expect_proof(&font, font.len - 300, font.len - 100, 0, 0);
	/* The left side of none is as it should be: it is another font's, or this one does not keep to that. */
	expect_proof(&other, from, 0, SUM + NEXT, 0);
	free(font.data);
	free(other.data);
}

Test(carver_sfnt, charstrings_after_a_joint_prove_it)
{
	struct bytes table = make_compact(0), font = make_font("OTTO", "CFF ", &table);
	uint64_t from = 560 + 47 + LIST_LEN + 60 * 50;
	const uint64_t joint = from;
	unsigned bits, six = 6 * CHARSTRING;

	expect_proof(&font, from + 17, 0, SUM + NEXT + six, 0);
	expect_proof(&font, from + 17, from + 600, SUM + six, SUM + six);
	expect_proof(&font, from + 17, from + 180, 3 * CHARSTRING, SUM + 3 * CHARSTRING);
	expect_proof(&font, 560 + 40, 0, SUM + NEXT, 0);
	/* Between what says where they are and their list. */
	table = make_compact(100);
	free(font.data);
	font = make_font("OTTO", "CFF ", &table);
	expect_proof(&font, 560 + 47 + 50, 0, SUM + NEXT + six, 0);
	expect_proof(&font, 560 + 47 + 50, 560 + 47 + 90, 0, 0);
	/* Sums agree, but outlines do not end as they must. */
	table = make_compact(0);
	free(font.data);
	for (unsigned i = 0; i < 3; i++)
		table.data[47 + LIST_LEN + 60 * (i + 1) - 1] = 11;
	font = make_font("OTTO", "CFF ", &table);
	cr_expect_eq(prove_joints("sfnt", &font, &joint, 1, true, &bits), CARVE_UNVERIFIED);
	cr_expect_eq(prove_joints("sfnt", &font, &joint, 1, false, &bits), CARVE_COMPLETE);
	/* Nor if it is not known where they are. */
	table = make_compact(0);
	free(font.data);
	table.data[39] = 15;
	font = make_font("OTTO", "CFF ", &table);
	cr_expect_eq(prove_joints("sfnt", &font, &joint, 1, true, &bits), CARVE_UNVERIFIED);
	free(font.data);
}

/* Tables of a few bytes are alike in many fonts: the next one says where the piece is. */
/* ---- states ---------------------------------------------------------------------------------- */

/* Triangles in their places, which are stored before them, 40 bytes long but for one that has three zeros too many; and a table
 * without outlines. */
static struct bytes make_placed(unsigned odd)
{
	struct table tables[4] = { { "head", { 0 } }, { "loca", { 0 } }, { "glyf", { 0 } },
		{ "post", { 0 } } };
	struct bytes *head = &tables[0].bytes, *places = &tables[1].bytes,
		     *glyphs = &tables[2].bytes;

	bytes_add(head, "\0\1\0\0\1\1\1\1\0\0\0\0\x5f\x0f\x3c\xf5", 16);
	bytes_fill(head, 0, 34);
	bytes_add_be(head, 1, 2);
	bytes_add_be(head, 0, 2);
	for (unsigned i = 0; i < GLYPHS; i++) {
		bytes_add_be(places, glyphs->len, 4);
		bytes_add_be(glyphs, 1, 2);
		bytes_fill(glyphs, 0, 8);
		bytes_add_be(glyphs, 2, 2);
		bytes_add_be(glyphs, 14, 2);
		bytes_fill(glyphs, 0xb0, 14);
		bytes_add_be(glyphs, 0x373737, 3);
		bytes_fill(glyphs, (uint8_t)(i * 7), 6);
		bytes_fill(glyphs, 0, i == odd ? 11 : 3);
	}
	bytes_add_be(places, glyphs->len, 4);
	bytes_add_random(&tables[3].bytes, 3, 8000);
	return make_tables("\0\1\0\0", tables, 4);
}

/* Saves states of a font, whose bytes from `broken` on are others': the last one before `most`. *noticed: what is valid. */
static struct carve_state *save_state(
	const struct bytes *font, size_t broken, uint64_t most, uint64_t *noticed)
{
	struct bytes other = { 0 };
	struct finding found = { 0 };
	struct carve_state *state = calloc(1, sizeof(*state));
	const struct carve_state *kept;
	struct view *view;

	bytes_add(&other, font->data, broken);
	bytes_add_random(&other, 9, font->len - broken);
	view = view_new_memory(other.data, other.len);
	view_keep_states(view, 512);
	carver_find("sfnt")->check(view, &found);
	*noticed = found.length;
	kept = view_state_before(view, most);
	cr_assert_not_null(kept, "%s", found.why);
	*state = *kept;
	state->data = memcpy(malloc(kept->len), kept->data, kept->len);
	view_free(view);
	free(other.data);
	return state;
}

static void free_state(struct carve_state *state)
{
	free((void *)state->data);
	free(state);
}

/* Checks all of a font from the state on; NULL: all of it. */
static uint64_t go_on(const struct bytes *font, const struct carve_state *state, bool is_trial,
	enum verdict expected, uint64_t length)
{
	const struct carver *carver = carver_find("sfnt");
	struct view *view = view_new_memory(font->data, font->len);
	struct finding found = { 0 };
	enum verdict verdict;
	uint64_t work;

	view_set_trial(view, is_trial);
	verdict = state ? carver->resume(view, state, &found) : carver->check(view, &found);
	cr_expect_eq(verdict, expected, "%d: %s", (int)verdict, found.why);
	cr_expect_eq(found.length, length, "%zu: %s", (size_t)found.length, found.why);
	work = view_work_done(view);
	view_free(view);
	return work;
}

static void expect_states(struct bytes *font)
{
	for (size_t broken = 4000; broken < font->len; broken += 2500) {
		uint64_t noticed, there;
		struct carve_state *state = save_state(font, broken, broken, &noticed);
		struct bytes wrong = { 0 };

		cr_expect(state->offset <= broken && state->offset + 1500 > broken, "%zu: %zu",
			broken, (size_t)state->offset);
		go_on(font, state, true, CARVE_COMPLETE, font->len);
		go_on(font, state, false, CARVE_COMPLETE, font->len);
		/* Others' bytes are noticed where they were without a state, and soon. */
		bytes_add(&wrong, font->data, broken);
		bytes_add_random(&wrong, 9, font->len - broken);
		there = go_on(&wrong, state, true, CARVE_TRUNCATED, noticed);
		go_on(&wrong, state, false, CARVE_TRUNCATED, noticed);
		if (noticed + 100 > broken && noticed < font->len - 8000)
			cr_expect_lt(there, go_on(&wrong, NULL, true, CARVE_TRUNCATED, noticed) / 3,
				"%zu", broken);
		free(wrong.data);
		free_state(state);
	}
	free(font->data);
}

Test(carver_sfnt, trials_go_on_from_states)
{
	struct bytes placed = make_placed(GLYPHS), whole = make_whole(0);
	struct bytes table = make_compact(0), compact = make_font("OTTO", "CFF ", &table);

	expect_states(&placed);
	expect_states(&whole);
	expect_states(&compact);
}

/* Where noise begins is judged by all of the table, as it is without a state. */
Test(carver_sfnt, a_state_does_not_hide_what_is_before_it)
{
	struct table tables[4] = { { "head", { 0 } }, { "hhea", { 0 } }, { "name", { 0 } },
		{ "post", { 0 } } };
	struct bytes *head = &tables[0].bytes, *post = &tables[3].bytes, font, wrong = { 0 };
	struct carve_state *state;
	uint64_t noticed;
	size_t at;

	bytes_add(head, "\0\1\0\0\1\1\1\1\0\0\0\0\x5f\x0f\x3c\xf5", 16);
	bytes_fill(head, 0, 38);
	bytes_add_random(post, 3, 24000);
	for (size_t i = 0; i < post->len; i++)
		post->data[i] %= 0xc0; /* neither random nor plain */
	bytes_add_random(&tables[1].bytes, 4, 36);
	bytes_add_random(&tables[2].bytes, 5, 36);
	font = make_tables("\0\1\0\0", tables, 4);
	at = font.len - 8000;
	state = save_state(&font, at, at, &noticed);
	bytes_add(&wrong, font.data, at);
	bytes_fill(&wrong, 'x', 2048);
	bytes_add_random(&wrong, 9, font.len - wrong.len);
	go_on(&wrong, NULL, true, CARVE_TRUNCATED, font.len - 24000);
	go_on(&wrong, state, true, CARVE_TRUNCATED, font.len - 24000);
	free(wrong.data);
	free_state(state);
	free(font.data);
}

Test(carver_sfnt, outlines_show_a_font_of_which_no_table_is_whole)
{
	struct bytes font = make_whole(0);
	struct finding found;

	cr_expect_eq(
		carve("sfnt", font.data, GLYPHS_AT + 30 * GLYPH_LEN + 11, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, GLYPHS_AT + 30 * GLYPH_LEN + 11);
	memset(font.data + GLYPHS_AT + 30 * GLYPH_LEN, 0xee, font.len - GLYPHS_AT - 30 * GLYPH_LEN);
	cr_expect_eq(carve("sfnt", font.data, font.len, &found), CARVE_TRUNCATED);
	cr_expect(found.length + GLYPH_LEN > GLYPHS_AT + 30 * GLYPH_LEN &&
			  found.length < GLYPHS_AT + 31 * GLYPH_LEN,
		"%zu", (size_t)found.length);
	memset(font.data + GLYPHS_AT + 5 * GLYPH_LEN, 0xee, 25 * GLYPH_LEN);
	cr_expect_eq(carve("sfnt", font.data, font.len, &found), CARVE_REJECT);
	free(font.data);
}

Test(carver_sfnt, one_odd_outline_is_not_another_file)
{
	struct bytes font = make_placed(40), broken = { 0 };
	size_t at = font.len - 8000 - 150 * GLYPH_LEN;
	uint64_t noticed;
	struct carve_state *state = save_state(&font, at, at, &noticed);

	cr_expect(noticed > at - GLYPH_LEN && noticed <= at, "%zu", (size_t)noticed);
	go_on(&font, state, true, CARVE_COMPLETE, font.len);
	/* After one glyph that is another's come those of the font: it is not noticed here, but by the sum. */
	bytes_add(&broken, font.data, font.len);
	memset(broken.data + at, 0xee, GLYPH_LEN);
	go_on(&broken, state, true, CARVE_TRUNCATED, font.len - 8000 - 8 - GLYPHS * GLYPH_LEN);
	free(broken.data);
	free_state(state);
	free(font.data);
}

Test(carver_sfnt, short_tables_are_left_out)
{
	struct table tables[] = { { "BASE", { 0 } }, { "gasp", { 0 } }, { "post", { 0 } } };
	struct bytes font;

	for (unsigned last = 8; last <= 16; last += 8) {
		for (unsigned i = 0; i < 3; i++) {
			tables[i].bytes = (struct bytes){ 0 };
			bytes_add_random(&tables[i].bytes, 3, i == 0 ? 500 : i == 1 ? 8 : last);
		}
		font = make_tables("OTTO", tables, 3);
		expect_proof(&font, 300, 0, last == 16 ? SUM + NEXT : SUM, 0);
		free(font.data);
	}
}

/* A WOFF 2.0 of these tables, which a Brotli stream has as they are (RFC 7932, section 9.2). */
static struct bytes make_woff2(const uint8_t *plain, size_t len)
{
	static const uint8_t directory[] = { 10, 0x81, 0x4c, 0x81, 0x4d, 1, 54, 2, 36, 3, 12, 11,
		12, 0, 4, 32, 7, 32 };
	struct bytes font = { 0 };
	size_t stored = len + 4, all = 48 + sizeof(directory) + stored;

	bytes_add(&font, "wOF2\0\1\0\0", 8);
	bytes_add_be(&font, (all + 3) / 4 * 4, 4);
	bytes_add_be(&font, 7, 2);
	bytes_fill(&font, 0, 6);
	bytes_add_be(&font, stored, 4);
	bytes_fill(&font, 0, 24);
	bytes_add(&font, directory, sizeof(directory));
	for (unsigned i = 0; i < 3; i++)
		bytes_fill(&font, (uint8_t)(((len - 1) << 4 | 1 << 20) >> 8 * i), 1);
	bytes_add(&font, plain, len);
	bytes_fill(&font, 3, 1);
	bytes_fill(&font, 0, (all + 3) / 4 * 4 - all);
	return font;
}

/* Checks a compressed font with a joint in its tables. */
static enum verdict prove_woff2(const uint8_t *plain, size_t len, unsigned *bits)
{
	struct bytes font = make_woff2(plain, len);
	const uint64_t joint = 200;
	enum verdict verdict = prove_joints("woff", &font, &joint, 1, true, bits);

	free(font.data);
	return verdict;
}

Test(carver_woff2, a_restored_font_proves_joints_by_its_sum)
{
	/* Tables of a font with computed outlines (a curve with instructions, boxes, one of both, none), compressed by fontTools. */
	static const uint8_t tables[] = { 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0,
		54, 0, 0, 0, 68, 0, 0, 0, 18, 0, 0, 0, 12, 0, 0, 0, 3, 0, 1, 0, 2, 0, 1, 0, 0, 255,
		255, 4, 6, 40, 4, 1, 5, 13, 4, 23, 251, 249, 111, 5, 122, 120, 23, 23, 23, 23, 23,
		23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23,
		23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 122, 1, 11, 0, 0, 188, 244, 188,
		0, 144, 18, 35, 131, 25, 3, 172, 37, 56, 71, 77, 149, 120, 0, 103, 205, 100, 100,
		100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
		100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
		100, 100, 100, 3, 125, 0, 0, 4, 3, 4, 0, 0, 38, 0, 1, 30, 20, 0, 71, 0, 2, 255, 253,
		1, 144, 32, 0, 16, 0, 8, 0, 0, 0, 252, 21, 255, 236, 5, 0, 7, 228, 75, 76, 77, 0, 1,
		0, 0, 0, 1, 0, 0, 126, 54, 73, 180, 95, 15, 60, 245, 8, 1, 3, 232, 0, 0, 0, 0, 214,
		147, 164, 0, 0, 0, 0, 0, 214, 147, 164, 0, 248, 48, 255, 216, 5, 0, 7, 228, 0, 0, 0,
		3, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 3, 32, 255, 56, 0, 0, 2, 88, 0, 0, 249, 109, 8,
		235, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 88, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 46, 0, 2, 0, 50, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	enum { HEAD = 205, SUM_AT = HEAD + 8, FIRST_GLYPH = 36, BITS = 40 };
	uint8_t plain[sizeof(tables)];
	unsigned bits;

	memcpy(plain, tables, sizeof(plain));
	cr_expect_eq(prove_woff2(plain, sizeof(plain), &bits), CARVE_COMPLETE);
	cr_expect_eq(bits, BITS);
	/* As Google's encoder writes two equal flags. */
	memcpy(plain + SUM_AT, "\x6e\x34\x49\xb4", 4);
	cr_expect_eq(prove_woff2(plain, sizeof(plain), &bits), CARVE_COMPLETE);
	cr_expect_eq(bits, BITS);
	/* Some encoders do not set the sum. */
	plain[SUM_AT]++;
	cr_expect_eq(prove_woff2(plain, sizeof(plain), &bits), CARVE_COMPLETE);
	cr_expect_eq(bits, 0);
	/* Too many contours: outlines do not end where they should. */
	plain[FIRST_GLYPH + 1]++;
	cr_expect_eq(prove_woff2(plain, sizeof(plain), &bits), CARVE_UNVERIFIED);
	cr_expect_eq(bits, 0);
}
