/* What checks of gzip and bzip2 do where pieces are put together: foreign bytes decode for long, but follow no habits. */
#include "carver_case.h"

#include <bzlib.h>
#include <zlib.h>

enum { TEXT_LEN = 200000, CUT = 16384, FOREIGN = 65536, SOON = 2048 };

/* Syllables, drawn so that hardly anything repeats. */
static struct bytes make_text(void)
{
	static const char vowels[] = "aeiou", others[] = "bcdfghklmnprst";
	struct bytes draws = { 0 }, text = { 0 };

	bytes_add_random(&draws, 5, TEXT_LEN);
	for (size_t i = 0; i < TEXT_LEN; i++) {
		uint8_t draw = draws.data[i];
		bool after_vowel = i && strchr(vowels, text.data[i - 1]);

		bytes_fill(&text,
			(uint8_t)(!after_vowel ? vowels[draw % 5]
				  : draw < 40  ? ' '
				  : draw < 44  ? '\n'
					       : others[draw % 14]),
			1);
	}
	free(draws.data);
	return text;
}

static struct bytes compress_text(const char *carver)
{
	struct bytes text = make_text(), bytes = { 0 };
	unsigned room = TEXT_LEN + 10000;
	z_stream stream = { 0 };

	bytes_grow(&bytes, room);
	if (!strcmp(carver, "bz2")) {
		cr_assert_eq(BZ2_bzBuffToBuffCompress((char *)bytes.data, &room, (char *)text.data,
				     TEXT_LEN, 9, 0, 0),
			BZ_OK);
		bytes.len = room;
	} else {
		cr_assert_eq(deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
		stream.next_in = text.data;
		stream.avail_in = TEXT_LEN;
		stream.next_out = bytes.data;
		stream.avail_out = room;
		cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
		bytes.len = stream.total_out;
		deflateEnd(&stream);
	}
	cr_assert_gt(bytes.len, CUT + FOREIGN / 8);
	free(text.data);
	return bytes;
}

/* The file's first bytes, and others. */
static struct bytes cut_at(const struct bytes *whole, size_t cut, uint64_t seed)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, whole->data, cut);
	bytes_add_random(&bytes, seed, FOREIGN);
	return bytes;
}

static enum verdict check(
	const char *carver, const struct bytes *bytes, bool thorough, struct finding *found)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_set_thorough(view, thorough);
	verdict = carver_find(carver)->check(view, found);
	view_free(view);
	return verdict;
}

static void expect_foreign_to_show(const char *carver)
{
	struct bytes whole = compress_text(carver);
	struct finding found;

	cr_expect_eq(check(carver, &whole, true, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(found.length, whole.len);
	for (uint64_t seed = 1; seed < 9; seed++) {
		size_t cut = CUT + seed * 1024;
		struct bytes bytes = cut_at(&whole, cut, seed);

		cr_expect_eq(check(carver, &bytes, true, &found), CARVE_TRUNCATED);
		cr_expect(found.length + SOON > cut && found.length < cut + SOON,
			"%s, seed %d: %zu of %zu, %s", carver, (int)seed, (size_t)found.length, cut,
			found.why);
		free(bytes.data);
	}
	free(whole.data);
}

Test(carver_coded, foreign_bytes_show_soon)
{
	expect_foreign_to_show("gz");
	expect_foreign_to_show("bz2");
}

/* A check from any state finds what a whole check does, whatever is after the state. */
static void expect_to_go_on(const char *carver)
{
	struct bytes whole = compress_text(carver);
	struct view *saving = view_new_memory(whole.data, whole.len);
	struct finding first = { 0 };
	unsigned resumed = 0;

	view_keep_states(saving, 4096);
	cr_assert_eq(carver_find(carver)->check(saving, &first), CARVE_COMPLETE);
	for (size_t cut = 5000; cut < whole.len; cut += 3001) {
		const struct carve_state *state = view_state_before(saving, cut);
		struct bytes bytes = cut_at(&whole, cut, cut);
		struct finding rest = { 0 }, all;
		struct view *view;

		if (cut % 2)
			memcpy(bytes.data + cut, whole.data + cut,
				whole.len - cut < FOREIGN ? whole.len - cut : FOREIGN);
		if (state) {
			enum verdict verdict = check(carver, &bytes, true, &all);

			cr_assert_leq(state->offset, cut);
			view = view_new_memory(bytes.data, bytes.len);
			cr_expect_eq(carver_find(carver)->resume(view, state, &rest), verdict);
			cr_expect_eq(rest.length, all.length, "%s at %zu", carver, cut);
			cr_expect_str_eq(rest.why, all.why);
			view_free(view);
			resumed++;
		}
		free(bytes.data);
	}
	cr_expect_gt(resumed, 10);
	view_free(saving);
	free(whole.data);
}

Test(carver_coded, goes_on_from_states)
{
	expect_to_go_on("gz");
	expect_to_go_on("bz2");
}
