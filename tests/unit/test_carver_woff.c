/* WOFF fonts in pieces: the codes of a table show where it breaks off, also where its content changes before. */
#include <zlib.h>

#include "carver_case.h"

enum {
	DIRECTORY_AT = 44,
	ENTRY_LEN = 20,
	TABLES = 2,
	FIRST_LEN = 4000, /* decompressed */
	NAMES_LEN = 40000,
	OUTLINES_LEN = 60000,
	CLUSTER = 4096,
};

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* Words, in which vowels follow consonants. */
static void add_names(struct bytes *bytes, uint32_t *seed, size_t len)
{
	uint8_t *p = bytes_grow(bytes, len);

	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i % 7 == 6  ? ' '
				 : i % 7 % 2 ? "aeiou"[draw(seed, 5)]
					     : "bcdfghklmprst"[draw(seed, 13)]);
}

/* The same letters, but vowels mostly follow vowels. */
static void add_outlines(struct bytes *bytes, uint32_t *seed, size_t len)
{
	uint8_t *p = bytes_grow(bytes, len);

	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i % 14 == 13  ? ' '
				 : i % 14 >= 7 ? "aeiou"[draw(seed, 5)]
					       : "bcdfghklmprst"[draw(seed, 13)]);
}

/* Literals alone. */
static void add_packed(struct bytes *bytes, const struct bytes *plain)
{
	z_stream stream = { 0 };
	size_t most = plain->len + 1000;

	cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15, 8, Z_HUFFMAN_ONLY), Z_OK);
	stream.next_in = plain->data;
	stream.avail_in = (uInt)plain->len;
	stream.next_out = bytes_grow(bytes, most);
	stream.avail_out = (uInt)most;
	cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	bytes->len -= stream.avail_out;
	deflateEnd(&stream);
	bytes_fill(bytes, 0, -bytes->len % 4);
}

static uint32_t sum_of(const struct bytes *plain)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < plain->len; i++)
		sum += (uint32_t)plain->data[i] << 8 * (3 - i % 4);
	return sum;
}

/* A font with a table of names, and one of names and then outlines. */
static struct bytes make_font(void)
{
	static const char tags[TABLES][5] = { "AAAA", "BBBB" };
	struct bytes plain[TABLES] = { { 0 } }, packed = { 0 }, font = { 0 };
	size_t at[TABLES], body = DIRECTORY_AT + TABLES * ENTRY_LEN;
	uint32_t seed = 5;

	add_names(&plain[0], &seed, FIRST_LEN);
	add_names(&plain[1], &seed, NAMES_LEN);
	add_outlines(&plain[1], &seed, OUTLINES_LEN);
	for (int i = 0; i < TABLES; i++) {
		at[i] = packed.len;
		add_packed(&packed, &plain[i]);
	}
	bytes_add(&font, "wOFF\0\1\0\0", 8);
	bytes_add_be(&font, body + packed.len, 4);
	bytes_add_be(&font, TABLES, 2);
	bytes_fill(&font, 0, DIRECTORY_AT - font.len);
	for (int i = 0; i < TABLES; i++) {
		bytes_add(&font, tags[i], 4);
		bytes_add_be(&font, body + at[i], 4);
		bytes_add_be(&font, (i + 1 < TABLES ? at[i + 1] : packed.len) - at[i], 4);
		bytes_add_be(&font, plain[i].len, 4);
		bytes_add_be(&font, sum_of(&plain[i]), 4);
		free(plain[i].data);
	}
	bytes_add(&font, packed.data, packed.len);
	free(packed.data);
	return font;
}

/* Bytes of another file take the place of the font's from `at` on. */
static struct bytes break_off(const struct bytes *font, size_t at)
{
	struct bytes broken = { 0 };

	bytes_add(&broken, font->data, at);
	bytes_add_random(&broken, at, font->len + 2 * CLUSTER - at);
	return broken;
}

static enum verdict check_trial(const struct bytes *bytes, struct finding *found)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_set_thorough(view, true);
	view_set_trial(view, true);
	verdict = carver_find("woff")->check(view, found);
	view_free(view);
	return verdict;
}

Test(carver_woff, codes_show_where_a_table_breaks_off)
{
	struct bytes font = make_font();
	struct finding found;

	cr_assert_eq(check_trial(&font, &found), CARVE_COMPLETE, "%s", found.why);
	for (size_t at = 4 * CLUSTER; at + 2 * CLUSTER < font.len; at += 3 * CLUSTER) {
		struct bytes broken = break_off(&font, at);

		cr_expect_eq(check_trial(&broken, &found), CARVE_TRUNCATED);
		cr_expect(found.length + 512 > at && found.length < at + 512,
			"%zu: broken off at %zu", (size_t)found.length, at);
		free(broken.data);
	}
	free(font.data);
}

Test(carver_woff, goes_on_from_a_state)
{
	struct bytes font = make_font();
	struct view *saving = view_new_memory(font.data, font.len);
	struct finding found = { 0 };
	unsigned states = 0;

	/* The codes are walked, and states saved, only if a table does not decompress. */
	font.data[font.len - 8] ^= 1;
	view_keep_states(saving, 2048);
	cr_assert_eq(carver_find("woff")->check(saving, &found), CARVE_TRUNCATED);
	font.data[font.len - 8] ^= 1;
	for (size_t at = CLUSTER; at + CLUSTER < font.len; at += CLUSTER) {
		const struct carve_state *state = view_state_before(saving, at);
		struct bytes broken = break_off(&font, at);
		struct view *view = view_new_memory(broken.data, broken.len);
		struct finding from_start, from_state = { 0 };

		cr_assert_not_null(state);
		states += state->offset > at / 2;
		view_set_trial(view, true);
		cr_expect_eq(carver_find("woff")->resume(view, state, &from_state),
			check_trial(&broken, &from_start));
		cr_expect_eq(from_state.length, from_start.length, "%zu: %zu, %zu", at,
			(size_t)from_state.length, (size_t)from_start.length);
		cr_expect_str_eq(from_state.why, from_start.why);
		view_free(view);
		view = view_new_memory(font.data, font.len);
		from_state = (struct finding){ 0 };
		cr_expect_eq(carver_find("woff")->resume(view, state, &from_state), CARVE_COMPLETE);
		cr_expect_eq(from_state.length, font.len);
		view_free(view);
		free(broken.data);
	}
	cr_expect_geq(states, 5);
	view_free(saving);
	free(font.data);
}

/* Clusters of other data than the font's codes are unlikely to follow them. */
Test(carver_woff, codes_go_on_with_their_own)
{
	const struct carve_codes *codes = carver_find("woff")->codes;
	struct bytes font = make_font(), other = { 0 };
	unsigned own = 0, others = 0, count = 0;
	uint64_t work;

	bytes_add_random(&other, 3, CARVE_CODES_LEN);
	for (size_t at = 4 * CLUSTER; at + CLUSTER < font.len; at += CLUSTER) {
		struct view *view = view_new_memory(font.data, at);
		void *broken = codes->begin(view, NULL);

		cr_assert_not_null(broken);
		count++;
		own += codes->ask(broken, font.data + at, CARVE_CODES_LEN, &work) > 0;
		others += codes->ask(broken, other.data, CARVE_CODES_LEN, &work) > 0;
		codes->end(broken);
		view_free(view);
	}
	cr_expect_geq(count, 8);
	cr_expect_geq(own, count - 2, "%u of %u", own, count);
	cr_expect_leq(others, 1);
	free(other.data);
	free(font.data);
}
