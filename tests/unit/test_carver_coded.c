/* What checks of gzip, bzip2 and ZIP do where pieces are put together: foreign bytes decode for long, but follow no habits. */
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

/* An archive of one member, which is these deflated bytes. */
static struct bytes make_zip(const struct bytes *deflated, uint32_t crc)
{
	static const char name[] = "text";
	struct bytes bytes = { 0 };

	for (int is_entry = 0; is_entry < 2; is_entry++) {
		size_t at = bytes.len;

		bytes_add_le(&bytes, is_entry ? 0x02014b50 : 0x04034b50, 4);
		bytes_fill(&bytes, 0, is_entry ? 2 : 0);
		bytes_add_le(&bytes, 20, 2);
		bytes_add_le(&bytes, 0, 2);
		bytes_add_le(&bytes, 8, 2);
		bytes_add_le(&bytes, 0x21 << 16, 4);
		bytes_add_le(&bytes, crc, 4);
		bytes_add_le(&bytes, deflated->len, 4);
		bytes_add_le(&bytes, TEXT_LEN, 4);
		bytes_add_le(&bytes, strlen(name), 2);
		bytes_fill(&bytes, 0, is_entry ? 16 : 2);
		bytes_add(&bytes, name, strlen(name));
		if (!is_entry) {
			bytes_add(&bytes, deflated->data, deflated->len);
			continue;
		}
		size_t len = bytes.len - at;

		bytes_add_le(&bytes, 0x06054b50, 4);
		bytes_fill(&bytes, 0, 4);
		bytes_add_le(&bytes, 1, 2);
		bytes_add_le(&bytes, 1, 2);
		bytes_add_le(&bytes, len, 4);
		bytes_add_le(&bytes, at, 4);
		bytes_fill(&bytes, 0, 2);
	}
	return bytes;
}

/* Lines of numbers and words, of which some follow some. */
static struct bytes make_lines(void)
{
	struct bytes draws = { 0 }, names = make_text(), text = { 0 };
	uint8_t last = 0;

	bytes_add_random(&draws, 6, TEXT_LEN);
	for (size_t i = 0; text.len < TEXT_LEN; i++) {
		uint8_t draw = draws.data[i],
			word = (uint8_t)(draw < 200 ? last * 7 + draw % 4 : draw);
		char number[8];

		bytes_add(&text, names.data + word * 12, 3 + word % 6);
		snprintf(number, sizeof(number), "%s%u", draw % 16 ? " " : "\n", draw * 37u);
		bytes_add(&text, number, draw % 4 ? 1 : strlen(number));
		last = word;
	}
	text.len = TEXT_LEN;
	free(names.data);
	free(draws.data);
	return text;
}

static struct bytes pack(const char *carver, struct bytes text)
{
	struct bytes bytes = { 0 };
	bool is_zip = !strcmp(carver, "zip");
	unsigned room = TEXT_LEN + 10000;
	z_stream stream = { 0 };

	bytes_grow(&bytes, room);
	if (!strcmp(carver, "bz2")) {
		cr_assert_eq(BZ2_bzBuffToBuffCompress((char *)bytes.data, &room, (char *)text.data,
				     TEXT_LEN, 9, 0, 0),
			BZ_OK);
		bytes.len = room;
	} else {
		cr_assert_eq(deflateInit2(&stream, 9, Z_DEFLATED, is_zip ? -15 : 31, 9,
				     Z_DEFAULT_STRATEGY),
			Z_OK);
		stream.next_in = text.data;
		stream.avail_in = TEXT_LEN;
		stream.next_out = bytes.data;
		stream.avail_out = room;
		cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
		bytes.len = stream.total_out;
		deflateEnd(&stream);
	}
	if (is_zip) {
		struct bytes zip = make_zip(&bytes, (uint32_t)crc32(0, text.data, TEXT_LEN));

		free(bytes.data);
		bytes = zip;
	}
	cr_assert_gt(bytes.len, CUT + FOREIGN / 8);
	free(text.data);
	return bytes;
}

static struct bytes compress_text(const char *carver)
{
	return pack(carver, make_text());
}

/* The file's first bytes, and others. */
static struct bytes cut_at(const struct bytes *whole, size_t cut, uint64_t seed)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, whole->data, cut);
	bytes_add_random(&bytes, seed, FOREIGN);
	return bytes;
}

/* The same with pixels of three colours after them. */
static struct bytes cut_by_pixels(const struct bytes *whole, size_t cut, uint64_t seed)
{
	struct bytes bytes = cut_at(whole, cut, seed);

	for (size_t i = cut; i < bytes.len; i++)
		bytes.data[i] = (uint8_t)(bytes.data[i] % 12 + i % 3 * 40 + 3);
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

static void expect_pixels_to_show(const char *carver)
{
	struct bytes whole = compress_text(carver);
	struct finding found;

	for (uint64_t seed = 1; seed < 9; seed++) {
		size_t cut = CUT + seed * 1024;
		struct bytes bytes = cut_by_pixels(&whole, cut, seed);

		cr_expect_eq(check(carver, &bytes, true, &found), CARVE_TRUNCATED);
		cr_expect(found.length + SOON > cut && found.length <= cut + 512,
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
	expect_foreign_to_show("zip");
}

Test(carver_coded, bytes_of_another_frequency_show_sooner)
{
	expect_pixels_to_show("gz");
	expect_pixels_to_show("bz2");
	expect_pixels_to_show("zip");
}

/* A check from any state finds what a whole check does, whatever is after the state. */
static void expect_to_go_on(const char *carver)
{
	struct bytes whole = compress_text(carver);
	struct bytes damaged = cut_at(&whole, whole.len * 3 / 4, 1);
	struct view *saving = view_new_memory(damaged.data, damaged.len);
	struct finding first = { 0 };
	unsigned resumed = 0;

	view_keep_states(saving, 4096);
	cr_assert_eq(carver_find(carver)->check(saving, &first), CARVE_TRUNCATED);
	for (size_t cut = 5000; cut < whole.len * 3 / 4; cut += 3001) {
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
	free(damaged.data);
	free(whole.data);
}

Test(carver_coded, goes_on_from_states)
{
	expect_to_go_on("gz");
	expect_to_go_on("bz2");
	expect_to_go_on("zip");
}

/* What a carver makes of the codes that break off after `cut` bytes. */
static void *break_at(
	const char *carver, const struct bytes *whole, size_t cut, const struct carve_state *state)
{
	struct view *view = view_new_memory(whole->data, cut);
	void *broken = carver_find(carver)->codes->begin(view, state);

	view_free(view);
	return broken;
}

/* The file's own bytes go on with its codes; random ones, text and bytes from elsewhere in the file do not. From a state it is the
 * same as from the beginning. */
static void expect_likely_bytes(const char *carver)
{
	const struct carve_codes *codes = carver_find(carver)->codes;
	struct bytes whole = pack(carver, make_lines()), text = make_lines(), noise = { 0 };
	struct view *saving = view_new_memory(whole.data, whole.len);
	struct finding found = { 0 };
	unsigned own = 0, other = 0, all = 0;
	uint64_t work;

	bytes_add_random(&noise, 3, CARVE_CODES_LEN * 16);
	view_keep_states(saving, 1024);
	cr_assert_eq(carver_find(carver)->check(saving, &found), CARVE_COMPLETE);
	for (size_t cut = 12000; cut + 2048 < whole.len && all < 16; cut += 1003, all++) {
		const uint8_t *bytes = noise.data + all * CARVE_CODES_LEN;
		const struct carve_state *state = view_state_before(saving, cut);
		void *broken = break_at(carver, &whole, cut, NULL), *again;
		unsigned bits;

		if (!broken)
			continue;
		bits = codes->ask(broken, whole.data + cut, CARVE_CODES_LEN, &work);
		cr_expect_gt(work, 0);
		own += bits != 0;
		other += codes->ask(broken, bytes, CARVE_CODES_LEN, &work) != 0;
		cr_expect_eq(codes->ask(broken, text.data, CARVE_CODES_LEN, &work), 0);
		cr_expect_eq(work, 0);
		if (state) {
			again = break_at(carver, &whole, cut, state);
			cr_assert(again);
			cr_expect_eq(
				codes->ask(again, whole.data + cut, CARVE_CODES_LEN, &work), bits);
			codes->end(again);
		}
		codes->end(broken);
	}
	cr_expect_geq(all, 8);
	cr_expect_geq(own * 4, all * 3, "%s: %u of %u", carver, own, all);
	cr_expect_leq(other * 4, all, "%s: %u of %u", carver, other, all);
	cr_expect_null(break_at(carver, &whole, 3, NULL));
	view_free(saving);
	free(noise.data);
	free(text.data);
	free(whole.data);
}

Test(carver_coded, knows_what_likely_goes_on)
{
	expect_likely_bytes("gz");
	expect_likely_bytes("bz2");
	expect_likely_bytes("zip");
}

/* Text, and then digits at random: nothing shows that they are the file's own. */
static struct bytes compress_changing(void)
{
	struct bytes text = make_text(), bytes = { 0 };
	z_stream stream = { 0 };

	bytes_add_random(&text, 9, 100000);
	for (size_t i = TEXT_LEN; i < text.len; i++)
		text.data[i] = (uint8_t)("0123456789ABCDEF"[text.data[i] % 16]);
	bytes_grow(&bytes, (unsigned)text.len);
	cr_assert_eq(deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = text.data;
	stream.avail_in = (unsigned)text.len;
	stream.next_out = bytes.data;
	stream.avail_out = (unsigned)text.len;
	cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	bytes.len = stream.total_out;
	deflateEnd(&stream);
	free(text.data);
	return bytes;
}

/* Whatever the codes look like, the CRC decides; and a state after a change is of use. */
Test(carver_coded, goes_on_after_a_change)
{
	struct bytes whole = compress_changing(), damaged = { 0 };
	size_t cut = whole.len - 20000;
	struct view *saving = view_new_memory(whole.data, cut), *view;
	const struct carve_state *state;
	struct finding found = { 0 };

	cr_expect_eq(check("gz", &whole, true, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(found.length, whole.len);
	found = (struct finding){ 0 };
	view_keep_states(saving, 4096);
	cr_expect_eq(carver_find("gz")->check(saving, &found), CARVE_TRUNCATED);
	state = view_state_before(saving, cut);
	cr_assert(state);
	cr_expect_gt(state->offset + 4096, cut);
	view = view_new_memory(whole.data, whole.len);
	view_set_trial(view, true);
	found = (struct finding){ 0 };
	cr_expect_eq(carver_find("gz")->resume(view, state, &found), CARVE_COMPLETE);
	cr_expect_eq(found.length, whole.len);
	view_free(view);
	bytes_add(&damaged, whole.data, whole.len);
	damaged.data[whole.len - 1] ^= 1; /* of the length */
	cr_expect_eq(check("gz", &damaged, true, &found), CARVE_TRUNCATED);
	view_free(saving);
	free(damaged.data);
	free(whole.data);
}
