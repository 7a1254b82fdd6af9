/* What checks of WebP do where pieces are put together: any bytes decode, but others' do not go on as the picture began. */
#include "carver_case.h"

#include "bytes.h"
#include "carve/view.h"
#include "carver.h"
#include "memory_image.h"
#include "webp/vp8.h"

#define CACHED "tests/golden/webp/cached.webp"
#define ROWS "tests/golden/webp/rows.webp"
#define ALPHA "tests/golden/webp/long-alpha.webp"
#define ALPHA_END 9524 /* of its transparency, before the picture */

enum { SIZE = 4096, LOOK = 1024 };

static const struct picture {
	const char *path;
	size_t from;   /* where enough is known */
	size_t soon;   /* bytes after which others' show */
	bool is_lossy; /* then the file's own bytes from elsewhere are no better than others' */
} pictures[] = {
	{ "tests/golden/webp/long.webp", 2 * SIZE, 1024, true },
	{ "tests/golden/webp/long-lossless.webp", 2 * SIZE, 2048, false },
};

enum { PICTURES = sizeof(pictures) / sizeof(*pictures) };

static struct bytes cut_at(const struct bytes *whole, size_t cut, uint64_t seed)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, whole->data, cut);
	bytes_add_random(&bytes, seed, whole->len - cut);
	return bytes;
}

static enum verdict try(
	const struct bytes *bytes, const struct carve_state *from, struct finding *found)
{
	const struct carver *carver = carver_find("webp");
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_set_thorough(view, !from);
	view_set_trial(view, true);
	verdict = from ? carver->resume(view, from, found) : carver->check(view, found);
	view_free(view);
	return verdict;
}

static void expect_foreign(const struct picture *picture)
{
	struct bytes whole = bytes_of_file(picture->path);
	struct finding found;

	cr_expect_eq(try(&whole, NULL, &found), CARVE_COMPLETE, "%s", found.why);
	for (size_t cut = picture->from; cut + SIZE < whole.len; cut += 700) {
		struct bytes bytes = cut_at(&whole, cut, cut);

		if (cut % 1400 == 0 && picture->is_lossy)
			memmove(bytes.data + cut, whole.data + cut - 3 * 512, whole.len - cut);
		cr_expect_eq(try(&bytes, NULL, &found), CARVE_TRUNCATED);
		cr_expect(found.length + picture->soon > cut && found.length < cut + picture->soon,
			"%s, %zu: %zu, %s", picture->path, cut, (size_t)found.length, found.why);
		free(bytes.data);
	}
	free(whole.data);
}

Test(webp_follow, foreign_bytes_show_soon)
{
	for (size_t i = 0; i < PICTURES; i++)
		expect_foreign(&pictures[i]);
}

static void expect_resumed(const char *path)
{
	struct bytes whole = bytes_of_file(path);
	struct view *saving = view_new_memory(whole.data, whole.len);
	struct finding first = { 0 };
	unsigned resumed = 0;

	view_keep_states(saving, SIZE / 2);
	cr_assert_eq(carver_find("webp")->check(saving, &first), CARVE_COMPLETE);
	for (size_t cut = SIZE; cut < whole.len; cut += 911) {
		const struct carve_state *state = view_state_before(saving, cut);
		struct bytes bytes = cut_at(&whole, cut, cut);
		struct finding rest, all;

		if (cut % 2)
			memcpy(bytes.data, whole.data, whole.len);
		if (state) {
			enum verdict verdict = try(&bytes, NULL, &all);

			cr_expect_eq(try(&bytes, state, &rest), verdict);
			cr_expect_eq(rest.length, all.length, "at %zu", cut);
			cr_expect_str_eq(rest.why, all.why);
			resumed++;
		}
		free(bytes.data);
	}
	cr_expect_gt(resumed, 5);
	view_free(saving);
	free(whole.data);
}

Test(webp_follow, goes_on_from_states)
{
	for (size_t i = 0; i < PICTURES; i++)
		expect_resumed(pictures[i].path);
	expect_resumed(ALPHA);
}

/* Transparency after which so many bytes more follow, still in its chunk. */
static void expect_with_rest(uint32_t rest, enum verdict expected)
{
	struct bytes whole = bytes_of_file(ALPHA), bytes = { 0 };
	uint32_t len = le32(whole.data + 34);
	struct finding found;

	bytes_add(&bytes, whole.data, 4);
	bytes_add_le(&bytes, le32(whole.data + 4) + rest, 4);
	bytes_add(&bytes, whole.data + 8, 26);
	bytes_add_le(&bytes, len + rest, 4);
	bytes_add(&bytes, whole.data + 38, len);
	bytes_fill(&bytes, 3, rest);
	bytes_add(&bytes, whole.data + 38 + len, whole.len - 38 - len);
	cr_expect_eq(try(&bytes, NULL, &found), expected, "%s", found.why);
	free(bytes.data);
	free(whole.data);
}

Test(webp_follow, a_few_bytes_may_follow_transparency)
{
	expect_with_rest(0, CARVE_COMPLETE);
	expect_with_rest(2, CARVE_COMPLETE);
	expect_with_rest(8, CARVE_TRUNCATED);
}

static void expect_likely(const struct picture *picture)
{
	const struct carve_codes *codes = carver_find("webp")->codes;
	struct bytes whole = bytes_of_file(picture->path);
	uint8_t zeros[LOOK] = { 0 };
	unsigned likely = 0, asked = 0;

	for (size_t cut = picture->from; cut + LOOK < whole.len; cut += SIZE / 2) {
		struct view *view = view_new_memory(whole.data, cut);
		void *broken = codes->begin(view, NULL);
		struct bytes noise = { 0 };
		uint64_t work;

		cr_assert_not_null(broken);
		asked++;
		likely += codes->ask(broken, whole.data + cut, LOOK, &work) > 0;
		cr_expect_gt(work, 0);
		bytes_add_random(&noise, cut, LOOK);
		cr_expect_eq(codes->ask(broken, noise.data, LOOK, &work), 0);
		cr_expect_eq(codes->ask(broken, zeros, LOOK, &work), 0);
		if (picture->is_lossy)
			cr_expect_eq(codes->ask(broken, whole.data + cut - 512, LOOK, &work), 0);
		codes->end(broken);
		free(noise.data);
		view_free(view);
	}
	cr_expect(asked >= 2 && likely * 10 >= asked * 9, "%u of %u", likely, asked);
	free(whole.data);
}

Test(webp_follow, what_goes_on_is_likely)
{
	for (size_t i = 0; i < PICTURES; i++)
		expect_likely(&pictures[i]);
}

/* The last bytes must end the picture where its data does. */
Test(webp_follow, what_ends_a_picture_is_likely)
{
	const struct carve_codes *codes = carver_find("webp")->codes;
	struct bytes whole = bytes_of_file(pictures[1].path), other = { 0 };
	size_t cut = whole.len - 300;
	struct view *view = view_new_memory(whole.data, cut);
	void *broken = codes->begin(view, NULL);
	uint64_t work;

	cr_assert_not_null(broken);
	bytes_add(&other, whole.data + cut, 300);
	bytes_add_random(&other, 1, LOOK - 300);
	cr_expect_gt(codes->ask(broken, other.data, LOOK, &work), 0);
	memmove(other.data, whole.data + cut - 100, 300);
	cr_expect_eq(codes->ask(broken, other.data, LOOK, &work), 0);
	codes->end(broken);
	view_free(view);
	free(other.data);
	free(whole.data);
}

Test(webp_follow, transparency_is_decoded)
{
	struct bytes whole = bytes_of_file(ALPHA);
	struct finding found;

	cr_expect_eq(try(&whole, NULL, &found), CARVE_COMPLETE, "%s", found.why);
	for (size_t cut = SIZE; cut + SIZE < ALPHA_END; cut += 700) {
		struct bytes bytes = cut_at(&whole, cut, cut);

		/* What comes after it is where it has to be. */
		memcpy(bytes.data + ALPHA_END, whole.data + ALPHA_END, whole.len - ALPHA_END);
		cr_expect_eq(try(&bytes, NULL, &found), CARVE_TRUNCATED);
		cr_expect(found.length + SIZE > cut && found.length < cut + SIZE, "%zu: %zu, %s",
			cut, (size_t)found.length, found.why);
		free(bytes.data);
	}
	free(whole.data);
}

static unsigned proof_at(const struct bytes *bytes, uint64_t joint)
{
	const struct range runs[] = { { 0, joint }, { joint, bytes->len - joint } };
	struct memory_image evidence = MEMORY_IMAGE(bytes->data, bytes->len);
	struct view *view = view_new();
	struct finding found = { 0 };
	unsigned bits;

	view_point_runs(view, &evidence.image, runs, 2, bytes->len);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("webp")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	bits = view_proof(view, joint);
	view_free(view);
	return bits;
}

/* What follows the codes' description proves it. That the last pixel is in the last byte proves little, and rows where there
 * are enough on both sides. */
Test(webp_follow, joints_of_lossless_pictures_are_proved)
{
	struct bytes whole = bytes_of_file(pictures[1].path);

	cr_expect_eq(proof_at(&whole, 512), 42);
	cr_expect_eq(proof_at(&whole, whole.len - 400), 2);
	free(whole.data);
}

/* Literals that the cache does not have prove what is before them. */
Test(webp_follow, the_cache_proves_joints)
{
	struct bytes whole = bytes_of_file(CACHED);
	unsigned last = proof_at(&whole, SIZE);

	cr_expect_geq(last, 12, "%u", last);
	for (uint64_t joint = 2 * SIZE; joint < whole.len; joint += SIZE) {
		unsigned bits = proof_at(&whole, joint);

		cr_expect(bits <= last, "%u at %u", bits, (unsigned)joint);
		last = bits;
	}
	cr_expect_eq(proof_at(&whole, whole.len - 64), 2);
	free(whole.data);
}

static enum verdict check(const struct bytes *bytes, bool thorough)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding found = { 0 };
	enum verdict verdict;

	view_set_thorough(view, thorough);
	verdict = carver_find("webp")->check(view, &found);
	view_free(view);
	return verdict;
}

/* The picture's own bytes from elsewhere, though it ends as it has to. */
Test(webp_follow, literals_that_the_cache_has_are_foreign)
{
	struct bytes whole = bytes_of_file(CACHED);
	unsigned ended = 0;

	for (size_t from = 2 * SIZE; from < 5 * SIZE && ended < 3; from++) {
		struct bytes bytes = { 0 };

		bytes_add(&bytes, whole.data, whole.len);
		memmove(bytes.data + 4 * SIZE, whole.data + from, 512);
		if (from != 4 * SIZE && check(&bytes, false) == CARVE_COMPLETE) {
			ended++;
			cr_expect_eq(check(&bytes, true), CARVE_TRUNCATED, "from %zu", from);
		}
		free(bytes.data);
	}
	cr_assert_gt(ended, 0);
	free(whole.data);
}

/* Of a file whose bytes from `joint` on are the others: the bits by which they fit. */
static unsigned fit_at(const char *path, uint64_t joint, uint64_t others, uint64_t end)
{
	struct bytes whole = bytes_of_file(path), bytes = { 0 };
	struct view *view;
	unsigned bits;

	bytes_add(&bytes, whole.data, joint);
	bytes_add(&bytes, whole.data + others, whole.len - others);
	view = view_new_memory(bytes.data, bytes.len);
	bits = carver_find("gif")->joint(view, joint, end);
	view_free(view);
	free(bytes.data);
	free(whole.data);
	return bits;
}

Test(webp_follow, rows_of_a_gif_go_on_at_joints)
{
	const char *path = "tests/golden/gif/rows.gif";

	for (uint64_t joint = 2 * SIZE; joint <= 3 * SIZE; joint += SIZE / 2) {
		cr_expect_geq(fit_at(path, joint, joint, UINT64_MAX), 8, "%u", (unsigned)joint);
		cr_expect_eq(
			fit_at(path, joint, joint, joint + 8), 0, "the next joint is too near");
		for (uint64_t off = 256; off <= 1024; off += 256) {
			cr_expect_eq(fit_at(path, joint, joint + off, UINT64_MAX), 0);
			cr_expect_eq(fit_at(path, joint, joint - off, UINT64_MAX), 0);
		}
	}
	cr_expect_eq(fit_at(path, 16, 16, UINT64_MAX), 0, "before the pixels");
}

Test(webp_follow, rows_on_both_sides_prove_a_joint)
{
	struct bytes whole = bytes_of_file(ROWS);

	for (uint64_t joint = 2 * SIZE; joint <= 4 * SIZE; joint += SIZE / 2)
		cr_expect_geq(proof_at(&whole, joint), 19, "%u at %u", proof_at(&whole, joint),
			(unsigned)joint);
	free(whole.data);
}

/* The picture's own bytes from elsewhere, though it ends as it has to: they prove nothing where they begin and end, but joints
 * elsewhere are right. */
Test(webp_follow, others_rows_do_not_prove_a_joint)
{
	struct bytes whole = bytes_of_file(ROWS);
	unsigned ended = 0;

	for (size_t from = SIZE; from < 4 * SIZE && ended < 5; from++) {
		struct bytes bytes = { 0 };

		bytes_add(&bytes, whole.data, whole.len);
		memmove(bytes.data + 3 * SIZE, whole.data + from, 1024);
		if (from != 3 * SIZE && check(&bytes, false) == CARVE_COMPLETE) {
			ended++;
			cr_expect_leq(proof_at(&bytes, 3 * SIZE), 2, "from %zu", from);
			cr_expect_leq(proof_at(&bytes, 3 * SIZE + 1024), 2, "from %zu", from);
		}
		free(bytes.data);
	}
	cr_assert_gt(ended, 0);
	free(whole.data);
}

/* ---- frames that are made ---- */

/* Writes booleans (RFC 6386, section 7): a number below 1, of which those so far give a range. */
struct coder {
	uint8_t *bytes; /* zeros at first */
	size_t shifts;
	uint32_t range;
};

static void put_bool(struct coder *coder, uint8_t prob, bool bit)
{
	uint32_t split = 1 + (((coder->range - 1) * prob) >> 8);

	if (bit) {
		uint32_t sum = split << (8 - coder->shifts % 8);

		for (size_t at = coder->shifts / 8 + 1; sum; at--, sum >>= 8) {
			sum += coder->bytes[at];
			coder->bytes[at] = (uint8_t)sum;
		}
		coder->range -= split;
	} else {
		coder->range = split;
	}
	for (; coder->range < 128; coder->range <<= 1)
		coder->shifts++;
}

static void put_value(struct coder *coder, unsigned value, int bits)
{
	while (bits--)
		put_bool(coder, 128, value >> bits & 1);
}

enum { FRAME_ACROSS = 640, FRAME_DOWN = 100, FRAME_CODED = 400, RIFF_LEN = 20, HEAD_LEN = 10 };

/* Sections 9 and 11: the first part, of a frame with one mode all over, of whose macroblocks the first have coefficients. */
static void put_modes(struct coder *coder)
{
	put_value(coder, 0, 2 + 1 + 10 + 1 + 2 + 7 + 5 + 1);
	for (size_t i = 0; i < sizeof(vp8_update_probs); i++)
		put_bool(coder, (&vp8_update_probs[0][0][0][0])[i], false);
	put_value(coder, 1, 1); /* some have none, */
	put_value(coder, 128, 8);
	for (int n = 0; n < FRAME_ACROSS * FRAME_DOWN; n++) {
		put_bool(coder, 128, n >= FRAME_CODED);
		put_bool(coder, 145, true);
		put_bool(coder, 156, false);
		put_bool(coder, 163, false);
		put_bool(coder, 142, false);
	}
}

/* Section 13: blocks that end before their first coefficient. */
static void put_coefficients(struct coder *coder)
{
	for (int n = 0; n < FRAME_CODED; n++) {
		put_bool(coder, vp8_token_probs[1][0][0][0], false);
		for (int i = 0; i < 16; i++)
			put_bool(coder, vp8_token_probs[0][1][0][0], false);
		for (int i = 0; i < 8; i++)
			put_bool(coder, vp8_token_probs[2][0][0][0], false);
	}
}

/* *coded: where the coefficients end. */
static struct bytes make_frame(size_t *coded)
{
	struct bytes bytes = { 0 };
	struct coder coder = { .range = 255 };
	size_t at = RIFF_LEN + HEAD_LEN, len;

	bytes_add(&bytes, "RIFF\0\0\1\0WEBPVP8 \0\xf0\0\0", RIFF_LEN);
	bytes_fill(&bytes, 0, 1 << 16);
	coder.bytes = bytes.data + at;
	put_modes(&coder);
	len = coder.shifts / 8 + 4;
	put_le(bytes.data + RIFF_LEN, len << 5 | 0x10, 3);
	memcpy(bytes.data + RIFF_LEN + 3, "\x9d\x01\x2a", 3);
	put_le(bytes.data + RIFF_LEN + 6, 16 * FRAME_ACROSS, 2);
	put_le(bytes.data + RIFF_LEN + 8, 16 * FRAME_DOWN, 2);
	coder = (struct coder){ .bytes = bytes.data + at + len, .range = 255 };
	put_coefficients(&coder);
	*coded = at + len + coder.shifts / 8 + 2;
	return bytes;
}

/* After the last coefficients most of the frame follows without a byte. */
Test(webp_follow, macroblocks_without_coefficients_are_work)
{
	const struct carve_codes *codes = carver_find("webp")->codes;
	size_t coded;
	struct bytes frame = make_frame(&coded), next = { 0 };
	struct view *view = view_new_memory(frame.data, coded - 8);
	void *broken = codes->begin(view, NULL);
	uint64_t work = 0;

	cr_assert_not_null(broken);
	bytes_add(&next, frame.data + coded - 8, 8);
	bytes_add_random(&next, 1, LOOK - 8);
	codes->ask(broken, next.data, LOOK, &work);
	cr_expect_geq(
		work, FRAME_ACROSS * FRAME_DOWN - FRAME_CODED, "%llu", (unsigned long long)work);
	codes->end(broken);
	free(next.data);
	view_free(view);
	free(frame.data);
}

/* Noise in place of a cluster gains nothing: though the picture ends as it has to, none of its joints is proved. */
Test(webp_follow, others_bytes_inside_prove_nothing)
{
	struct bytes whole = bytes_of_file(pictures[1].path);
	unsigned ended = 0;

	for (uint64_t seed = 1; seed < 2000 && !ended; seed++) {
		struct bytes noise = { 0 };
		struct finding found = { 0 };
		size_t at = 2 * SIZE + seed % 40 * 512;
		struct bytes bytes = { 0 };
		struct view *view;

		bytes_add(&bytes, whole.data, whole.len);
		bytes_add_random(&noise, seed, SIZE);
		memcpy(bytes.data + at, noise.data, SIZE);
		view = view_new_memory(bytes.data, bytes.len);
		view_set_thorough(view, true);
		ended = carver_find("webp")->check(view, &found) == CARVE_COMPLETE;
		view_free(view);
		if (ended)
			cr_expect_eq(proof_at(&bytes, 512), 0, "seed %u", (unsigned)seed);
		free(noise.data);
		free(bytes.data);
	}
	cr_assert(ended);
	free(whole.data);
}

/* ---- copies that are made ---- */

/* Writes bits, the lowest of a byte first. */
static void put_bits(struct bytes *bytes, size_t *at, unsigned value, int count)
{
	for (int i = 0; i < count; i++, ++*at) {
		if (*at / 8 == bytes->len)
			bytes_fill(bytes, 0, 1);
		bytes->data[*at / 8] |= (uint8_t)((value >> i & 1) << *at % 8);
	}
}

enum { COPIED_ACROSS = 4096, COPIED_DOWN = 8192, COPY_LEAST = 3073, COPY_MOST = 4096 };

/* A lossless picture of a pixel and copies of it, of thousands of pixels in 11 bits each. */
static struct bytes make_copies(void)
{
	struct bytes bytes = { 0 };
	size_t at = 8 * RIFF_LEN;
	unsigned left = COPIED_ACROSS * COPIED_DOWN - 1, random = 1;

	bytes_add(&bytes, "RIFF\0\0\0\0WEBPVP8L\0\0\0\0", RIFF_LEN);
	put_bits(&bytes, &at, 0x2f, 8);
	put_bits(&bytes, &at, COPIED_ACROSS - 1, 14);
	put_bits(&bytes, &at, COPIED_DOWN - 1, 14);
	put_bits(&bytes, &at, 0, 4 + 1 + 1 + 1); /* no transforms, no cache, no groups */
	/* Green's code: its lengths are 1 and, 278 times, 0; of their code 1 and 18 have a bit each. */
	put_bits(&bytes, &at, 0, 1);
	put_bits(&bytes, &at, 0, 4);
	put_bits(&bytes, &at, 0, 3);
	put_bits(&bytes, &at, 1, 3);
	put_bits(&bytes, &at, 0, 3);
	put_bits(&bytes, &at, 1, 3);
	put_bits(&bytes, &at, 0, 1);
	put_bits(&bytes, &at, 0, 1);
	for (int i = 0; i < 3; i++) {
		static const unsigned zeros[] = { 138, 129, 11 };

		put_bits(&bytes, &at, 1, 1);
		put_bits(&bytes, &at, zeros[i] - 11, 7);
	}
	put_bits(&bytes, &at, 0, 1);
	for (int i = 0; i < 3; i++)
		put_bits(&bytes, &at, 1, 4); /* one symbol, 0 */
	put_bits(&bytes, &at, 1 | 8, 4);     /* one symbol, 1: the pixel on the left */
	put_bits(&bytes, &at, 0, 1);
	for (; left >= COPY_MOST; left -= COPY_LEAST + (random >> 20 & 1023)) {
		random = random * 1664525 + 1013904223;
		put_bits(&bytes, &at, 1 | (random >> 20 & 1023) << 1, 11);
	}
	put_bits(&bytes, &at, 0, (int)left);
	bytes_fill(&bytes, 0, bytes.len % 2);
	put_le(bytes.data + 4, bytes.len - 8, 4);
	put_le(bytes.data + 16, bytes.len - RIFF_LEN, 4);
	return bytes;
}

Test(webp_follow, pixels_that_are_copied_are_work)
{
	struct bytes bytes = make_copies();
	struct view *view = view_new_memory(bytes.data, bytes.len);
	struct finding found = { 0 };

	view_set_trial(view, true);
	cr_expect_eq(carver_find("webp")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_gt(view_work_done(view), COPIED_ACROSS * (uint64_t)COPIED_DOWN);
	view_free(view);
	free(bytes.data);
}
