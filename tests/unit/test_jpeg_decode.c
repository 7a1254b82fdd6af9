/*
 * The carver's decoder of JPEG scans against the plain one of jpeg_reference.h: both have to say the
 * same about random pictures, valid and damaged.
 */
#include "jpeg_reference.h"

#include "carve/ahead.h"
#include "carver_case.h"
#include "carvers/coded.h"
#include "jpeg/jpeg_bits.h"
#include "jpeg_made.h"
#include "photos_case.h"
#include "rules/rules.h"
#include "tier.h"

/* ---- damage ---- */

static void damage(struct bytes *jpeg)
{
	size_t at = draw((uint32_t)jpeg->len), len = draw((uint32_t)(jpeg->len - at));

	switch (draw(8)) {
	case 0:
		return;
	case 1:
		jpeg->len = at;
		return;
	case 2:
		for (uint32_t i = 1 + draw(3); i; i--)
			jpeg->data[draw((uint32_t)jpeg->len)] ^= (uint8_t)(1 << draw(8));
		return;
	case 3:
		memset(jpeg->data + at, 0, len);
		return;
	case 4:
		memset(jpeg->data + at, 0, len < 100 ? len : 16 + draw(80));
		return;
	case 5:
		for (size_t i = 0; i < len; i++)
			jpeg->data[at + i] = (uint8_t)draw(256);
		return;
	case 6:
		/* A piece from elsewhere in it. */
		memmove(jpeg->data + at, jpeg->data + draw((uint32_t)(jpeg->len - len)), len);
		return;
	case 7:
		if (len < 2)
			return;
		jpeg->data[at] = 0xff;
		jpeg->data[at + 1] = (uint8_t)(draw(4) ? 0xd0 + draw(10) : draw(256));
		return;
	}
}

static void compare(const struct bytes *jpeg, uint64_t seed, bool portable, bool eager)
{
	struct view *view = view_new_memory(jpeg->data, jpeg->len);
	struct scan_result got, want;
	int first;

	compare_decoders(jpeg->data, jpeg->len, view, portable, eager, &first, &got, &want);
	view_free(view);
	cr_assert_eq(first, -1,
		"seed %llu, scan %d: state %d at %llu (%s), expected %d at %llu (%s)",
		(unsigned long long)seed, first, (int)got.state, (unsigned long long)got.at,
		got.problem ? got.problem : "", (int)want.state, (unsigned long long)want.at,
		want.problem ? want.problem : "");
}

Test(jpeg_decode, agrees_with_the_reference)
{
	uint64_t seed = test_seed(), cases = test_tier(60, 250, 100000);
	struct finding found;
	int complete = 0, intact = 0;

	for (uint64_t i = seed; i < seed + cases; i++) {
		struct bytes jpeg;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		draw(2);
		jpeg = make_picture();
		if (i % 4 == 0) {
			intact++;
			complete += carve("jpeg", jpeg.data, jpeg.len, &found) == CARVE_COMPLETE;
		}
		for (int j = 0; j < 4; j++)
			compare(&jpeg, i, j & 1, j & 2);
		for (int j = 0; j < 4; j++) {
			struct bytes copy = { 0 };

			bytes_add(&copy, jpeg.data, jpeg.len);
			damage(&copy);
			compare(&copy, i, j == 0, false);
			compare(&copy, i, j == 0, true);
			free(copy.data);
		}
		free(jpeg.data);
	}
	/* The pictures are not all refused at once. */
	cr_assert_gt(complete, intact * 2 / 3, "%d of %d", complete, intact);
}

/* Coded data of so many bytes, of which one in `apart` is FF (0: no byte is), with its stuffing; *plain: without. */
static struct bytes make_coded(size_t len, uint32_t apart, struct bytes *plain)
{
	struct bytes coded = { 0 };

	for (size_t i = 0; i < len; i++) {
		uint8_t byte = (uint8_t)(apart && !draw(apart) ? 0xff : draw(255));

		bytes_add(plain, &byte, 1);
		bytes_add(&coded, &byte, 1);
		if (byte == 0xff)
			bytes_fill(&coded, 0, 1);
	}
	return coded;
}

/* However much is read between two loads, all bytes come, each once, and those after them are counted once. */
Test(jpeg_decode, loads_data_without_its_stuffing)
{
	static const uint32_t apart[] = { 0, 1, 2, 20, 300 };
	struct jpeg_bits *bits = malloc(sizeof(*bits));

	random_state = test_seed() * 0x9e3779b97f4a7c15u | 1;
	for (int i = 0; i < 40; i++) {
		struct bytes plain = { 0 },
			     coded = make_coded(100000 + draw(100), apart[i % 5], &plain);
		struct view *view = view_new_memory(coded.data, coded.len);
		size_t most = 1 + draw(JPEG_BLOCK_ROOM - 16), at = 0;
		bool same = true;

		jpeg_bits_open(bits, view, 0, 1);
		bits->load_len = i & 1 ? JPEG_BITS_LEN : JPEG_BITS_FIRST;
		jpeg_bits_jump(bits, 0);
		while (at < plain.len) {
			for (size_t n = 1 + draw((uint32_t)most); n && at < plain.len; n--) {
				jpeg_refill(&bits->buffer);
				same = same && jpeg_take(&bits->buffer, 8) == plain.data[at++];
			}
			cr_assert(jpeg_bits_more(bits));
			cr_assert_leq(bits->end - bits->bytes,
				JPEG_BITS_BEFORE + (ptrdiff_t)bits->load_len);
		}
		cr_expect(same, "%d", i);
		cr_expect_eq(jpeg_bits_offset(bits), coded.len);
		cr_expect_eq(bits->at, coded.len);
		view_free(view);
		free(coded.data);
		free(plain.data);
	}
	free(bits);
}

/* A scan with 12 bits a sample, in which each 16th block has a change of DC that lanes leave to the plain decoder. */
static struct bytes make_tedious(uint32_t side)
{
	struct maker m = { .width = side, .height = side };
	uint8_t quant[65] = { 0 }, frame[9] = { 12, (uint8_t)(side >> 8), (uint8_t)side,
		(uint8_t)(side >> 8), (uint8_t)side, 1, 1, 0x11, 0 };
	uint8_t dc[19] = { 0, 1, 1, [17] = 1, 12 }, ac[19] = { 0x10, 1, 1, [17] = 0, 8 };

	memset(quant + 1, 1, 64);
	bytes_add(&m.jpeg, "\xff\xd8", 2);
	add_segment(&m, JPEG_DQT, quant, sizeof(quant));
	add_segment(&m, JPEG_SOF1, frame, sizeof(frame));
	add_segment(&m, JPEG_DHT, dc, sizeof(dc));
	add_segment(&m, JPEG_DHT, ac, sizeof(ac));
	add_segment(&m, JPEG_SOS, "\1\1\0\0\x3f\0", 6);
	for (uint32_t i = 0; i < side / 8 * (side / 8); i++) {
		if (i % 16)
			put(&m, i % 2, 2);
		else
			put(&m, 2u << 12 | (i % 32 ? 0x7ff : 0x800), 14);
		for (uint32_t more = draw(7); more; more--)
			put(&m, 2u << 8 | draw(256), 10);
		put(&m, 0, 1);
	}
	flush(&m);
	bytes_add(&m.jpeg, "\xff\xd9", 2);
	return m.jpeg;
}

Test(jpeg_decode, gives_up_several_places_where_they_gain_nothing)
{
	struct bytes picture;
	struct finding found = { 0 };
	struct jpeg jpeg = { .finding = &found };
	const char *problem;

	random_state = test_seed() * 0x9e3779b97f4a7c15u | 1;
	picture = make_tedious(1024);
	jpeg.view = view_new_memory(picture.data, picture.len);
	cr_assert_eq(jpeg_walk(&jpeg, 0, &problem), JPEG_WALK_DONE, "%s", problem);
	cr_assert_gt(jpeg.rounds, 0);
	cr_assert_lt(jpeg.rounds, 50, "%u", jpeg.rounds);
	view_free(jpeg.view);
	free(picture.data);
}

/* ---- decoded ahead, as a GPU does ---- */

/* A check with what is known, and its work. */
static enum verdict carve_knowing(const struct bytes *jpeg, const struct ahead *ahead,
	struct finding *finding, uint64_t *work)
{
	struct view *view = view_new_memory(jpeg->data, jpeg->len);
	enum verdict verdict;

	view_know(view, ahead);
	memset(finding, 0, sizeof(*finding));
	verdict = carver_find("jpeg")->check(view, finding);
	*work = view_work_done(view);
	view_free(view);
	return verdict;
}

/* Where the picture's data ends by what a GPU does with it in two texts, the second from `split` on; or 0. */
static uint64_t decode_ahead(const struct bytes *jpeg, uint32_t split, uint64_t *data)
{
	struct view *view = view_new_memory(jpeg->data, jpeg->len);
	struct carve_coded *coded = malloc(sizeof(*coded));
	uint32_t len = (uint32_t)jpeg->len, tail = split + 9 < len ? split + 9 : len;
	struct photo_text texts[2] = { photo_text_on_host(jpeg->data, split, tail, 0),
		photo_text_on_host(jpeg->data + split, len - split, len - split, split) };
	uint64_t end = 0;
	bool cut;

	coded->begins = true;
	if (carver_find("jpeg")->coded(view, NULL, coded)) {
		*data = coded->data;
		end = photo_decode_on_host(texts, 2, coded->data, coded, &cut);
		/* In the first text alone it is cut, or it was in there. */
		if (end > split)
			cr_assert_eq(photo_decode_on_host(texts, 1, coded->data, coded, &cut), 0);
		cr_assert(end <= split || cut || coded->data >= split);
	}
	free((void *)texts[0].tiles);
	free((void *)texts[1].tiles);
	free(coded);
	view_free(view);
	return end;
}

/* Returns whether it was found valid. Then the check says the same with that and without it, and does the
 * same work. */
static bool expect_known_agrees(const struct bytes *jpeg, uint64_t seed)
{
	struct rules none = { 0 };
	struct ahead *ahead = ahead_new(&none, NULL, 0, false);
	struct finding with, without;
	uint64_t data, end, work, work_without;
	enum verdict verdict;

	end = decode_ahead(jpeg, draw((uint32_t)jpeg->len), &data);
	if (end) {
		ahead_add(ahead, 0, data, end);
		verdict = carve_knowing(jpeg, ahead, &with, &work);
		cr_assert_eq(verdict, carve_knowing(jpeg, NULL, &without, &work_without),
			"seed %llu: %d with what is known (%s), expected otherwise (%s)",
			(unsigned long long)seed, (int)verdict, with.why, without.why);
		cr_assert_arr_eq(&with, &without, sizeof(with), "seed %llu: %llu, %llu (%s)",
			(unsigned long long)seed, (unsigned long long)with.length,
			(unsigned long long)without.length, without.why);
		cr_assert_eq(work, work_without, "seed %llu", (unsigned long long)seed);
	}
	ahead_free(ahead);
	return end != 0;
}

Test(jpeg_decode, is_known_ahead_only_where_the_check_says_the_same)
{
	uint64_t seed = test_seed(), cases = test_tier(60, 250, 100000);
	uint64_t known = 0, damaged = 0;

	for (uint64_t i = seed; i < seed + cases; i++) {
		struct bytes jpeg;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		draw(2);
		jpeg = make_picture();
		known += expect_known_agrees(&jpeg, i);
		for (int j = 0; j < 4; j++) {
			struct bytes copy = { 0 };

			bytes_add(&copy, jpeg.data, jpeg.len);
			damage(&copy);
			if (copy.len)
				damaged += expect_known_agrees(&copy, i);
			free(copy.data);
		}
		free(jpeg.data);
	}
	/* Half of them are progressive, and a third of the others have restart markers. */
	cr_assert_gt(known, cases / 5, "%llu", (unsigned long long)known);
	cr_assert_gt(damaged, cases / 10, "%llu", (unsigned long long)damaged);
}
