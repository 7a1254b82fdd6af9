/* What the packets of MPEG program streams show where pieces are put together. */
#include "carver_case.h"

enum { PACK = 2048, PACKS = 24, FRAME = 313, SOUND = 600 };

static void add_pack_head(struct bytes *bytes, uint64_t clock)
{
	bytes_add(bytes, "\0\0\1\xba", 4);
	bytes_fill(bytes, (uint8_t)(0x21 | (clock >> 30 & 7) << 1), 1);
	bytes_add_be(bytes, (clock >> 15 & 0x7fff) << 1 | 1, 2);
	bytes_add_be(bytes, (clock & 0x7fff) << 1 | 1, 2);
	bytes_add(bytes, "\x80\0\1", 3);
}

/* MPEG-1's layer II, 96 kbit/s: the first pack begins 213 bytes into one, and the last has the end of one. */
static struct bytes make_sound(void)
{
	struct bytes sound = { 0 };

	bytes_fill(&sound, 0x11, 100);
	while (sound.len + FRAME <= SOUND * PACKS) {
		bytes_add(&sound, "\xff\xfd\x60\4", 4);
		bytes_fill(&sound, (uint8_t)sound.len, FRAME - 4);
	}
	return sound;
}

/* Groups of an I picture and three P pictures, each with a slice for each of three rows. */
static struct bytes make_video(size_t len)
{
	struct bytes video = { 0 };

	bytes_add(&video, "\0\0\1\xb3\3\0\x30\x13\xff\xff\xe0\xa0", 12);
	for (unsigned n = 0; video.len < len; n++) {
		if (n % 4 == 0)
			bytes_add(&video, "\0\0\1\xb8\0\x08\0\x40", 8);
		bytes_add(&video, "\0\0\1\0", 4);
		bytes_add_be(&video, n % 4 << 6 | (n % 4 ? 2 : 1) << 3, 2);
		bytes_add(&video, "\xff\xf8", 2);
		for (uint8_t row = 1; row <= 3; row++) {
			bytes_add(&video, "\0\0\1", 3);
			bytes_fill(&video, row, 1);
			bytes_fill(&video, (uint8_t)(0x21 + n), 90 + n * 37 % 60);
		}
	}
	return video;
}

static void add_packet(struct bytes *bytes, uint8_t id, const uint8_t *data, size_t len)
{
	bytes_add(bytes, "\0\0\1", 3);
	bytes_fill(bytes, id, 1);
	bytes_add_be(bytes, len + 1, 2);
	bytes_fill(bytes, 0x0f, 1);
	bytes_add(bytes, data, len);
}

/* The last picture that begins in [from, to), or a group before it. */
static size_t picture_start(const struct bytes *video, size_t from, size_t to)
{
	while (to-- > from)
		if (memcmp(video->data + to, "\0\0\1\0", 4) == 0)
			return memcmp(video->data + to - 8, "\0\0\1\xb8", 4) == 0 ? to - 8 : to;
	return from;
}

/* The last pack ends with a picture's last slice, and filling. */
static struct bytes stream(void)
{
	struct bytes bytes = { 0 }, sound = make_sound(), video = make_video(PACK * PACKS);
	size_t sound_at = 0, video_at = 0;

	for (unsigned n = 0; n < PACKS; n++) {
		size_t some = sound.len - sound_at < SOUND ? sound.len - sound_at : SOUND, rest;

		add_pack_head(&bytes, n * 4000);
		if (n == 0)
			bytes_add(&bytes, "\0\0\1\xbb\0\x06\x80\0\1\4\xe1\x7f", 12);
		add_packet(&bytes, 0xc0, sound.data + sound_at, some);
		sound_at += some;
		rest = PACK - 7 - bytes.len % PACK;
		if (n == PACKS - 1)
			rest = picture_start(&video, video_at, video_at + rest - 50) - video_at;
		add_packet(&bytes, 0xe0, video.data + video_at, rest);
		video_at += rest;
		if (n == PACKS - 1)
			add_packet(&bytes, 0xbe, video.data, PACK - 7 - bytes.len % PACK);
	}
	cr_assert_eq(bytes.len, PACKS * PACK);
	cr_assert_eq(sound_at, sound.len);
	free(sound.data);
	free(video.data);
	return bytes;
}

static enum verdict check(const struct bytes *bytes, bool thorough, struct finding *found)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_set_thorough(view, thorough);
	verdict = carver_find("mpg")->check(view, found);
	view_free(view);
	return verdict;
}

/* Packs `from` and after it are those from `to` on. */
static struct bytes joined(const struct bytes *bytes, unsigned from, unsigned to)
{
	struct bytes other = { 0 };

	bytes_add(&other, bytes->data, from * PACK);
	bytes_add(&other, bytes->data + to * PACK, bytes->len - to * PACK);
	return other;
}

Test(mpeg_ps, packets_go_on)
{
	struct bytes bytes = stream();
	struct finding found;

	for (int thorough = 0; thorough < 2; thorough++) {
		cr_expect_eq(check(&bytes, thorough, &found), CARVE_UNVERIFIED, "%s", found.why);
		cr_expect_eq(found.length, bytes.len);
	}
	/* With packs missing the clock goes on, and each pack is valid. */
	for (unsigned from = 8; from < 12; from++)
		for (unsigned to = from + 1; to < from + 6; to++) {
			struct bytes other = joined(&bytes, from, to);

			cr_expect_eq(check(&other, false, &found), CARVE_UNVERIFIED);
			cr_expect_eq(found.length, other.len);
			cr_expect_eq(
				check(&other, true, &found), CARVE_TRUNCATED, "%u, %u", from, to);
			cr_expect(found.length > from * PACK && found.length < (from + 2) * PACK);
			free(other.data);
		}
	free(bytes.data);
}

Test(mpeg_ps, the_clock_does_not_jump)
{
	struct bytes bytes = stream(), other = joined(&bytes, 10, 10);
	struct finding found;

	/* The pack's clock is two seconds later. */
	other.data[10 * PACK + 6] = (uint8_t)(other.data[10 * PACK + 6] + 12);
	cr_expect_eq(check(&other, true, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, 10 * PACK);
	free(bytes.data);
	free(other.data);
}

/* What begins without a system header is a piece of another file: it is found, but nothing is put together from there. */
Test(mpeg_ps, the_rest_of_a_stream)
{
	struct bytes bytes = stream(), rest = joined(&bytes, 0, 6);
	struct finding found;

	cr_expect_eq(check(&rest, false, &found), CARVE_UNVERIFIED);
	cr_expect_eq(found.length, rest.len);
	cr_expect_eq(check(&rest, true, &found), CARVE_REJECT);
	free(bytes.data);
	free(rest.data);
}

/* Only where a frame of sound and a picture end together the file may end. */
Test(mpeg_ps, sound_and_pictures_end_together)
{
	struct bytes bytes = stream();

	for (unsigned packs = PACKS - 3; packs <= PACKS; packs++) {
		struct view *view = view_new_memory(bytes.data, packs * PACK);
		struct finding found = { 0 };

		view_set_thorough(view, true);
		cr_expect_eq(carver_find("mpg")->check(view, &found), CARVE_UNVERIFIED);
		cr_expect_eq(view_agreed(view), packs == PACKS, "%u", packs);
		view_free(view);
	}
	free(bytes.data);
}

Test(mpeg_ps, goes_on_from_a_state)
{
	struct bytes bytes = stream(), other = joined(&bytes, 14, 15);
	struct view *saving = view_new_memory(bytes.data, bytes.len);
	struct finding found = { 0 }, from_start;

	view_keep_states(saving, 256);
	carver_find("mpg")->check(saving, &found);
	cr_expect_eq(check(&other, true, &from_start), CARVE_TRUNCATED);
	for (unsigned n = 2; n < 14; n++) {
		const struct carve_state *state = view_state_before(saving, n * PACK);
		struct finding from_state = { 0 };
		struct view *view = view_new_memory(other.data, other.len);

		view_set_thorough(view, true);
		cr_assert(state && state->offset == n * PACK);
		cr_expect_eq(carver_find("mpg")->resume(view, state, &from_state), CARVE_TRUNCATED);
		cr_expect_eq(from_state.length, from_start.length);
		view_free(view);
	}
	view_free(saving);
	free(bytes.data);
	free(other.data);
}
