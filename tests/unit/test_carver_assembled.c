/* What checks of MPEG audio, AVI and MP4 do where pieces are put together. */
#include "bytes.h"
#include "carver_case.h"
#include "memory_image.h"

enum { FRAME_LEN = 417, FAST_LEN = 522, INFO_AT = 36 };

/* Frames of MPEG-1 layer III, 44.1 kHz, with 128 or 160 kbit/s. */
static void add_frames(struct bytes *bytes, bool fast, unsigned count)
{
	const uint8_t head[] = { 0xff, 0xfb, fast ? 0xa0 : 0x90, 0 };

	for (unsigned i = 0; i < count; i++) {
		bytes_add(bytes, head, sizeof(head));
		for (int n = 4; n < (fast ? FAST_LEN : FRAME_LEN); n++)
			bytes_fill(bytes, (uint8_t)(n * 37 + i), 1);
	}
}

/* A file that states its frames and its bytes, which include the first frame. */
static struct bytes counted(uint32_t frames, uint32_t len)
{
	struct bytes bytes = { 0 };
	uint8_t *info;

	add_frames(&bytes, false, 1);
	memset(bytes.data + 4, 0, FRAME_LEN - 4);
	info = bytes.data + INFO_AT;
	memcpy(info, "Info\0\0\0\3", 8);
	for (int i = 0; i < 4; i++) {
		info[8 + i] = (uint8_t)(frames >> (24 - 8 * i));
		info[12 + i] = (uint8_t)(len >> (24 - 8 * i));
	}
	return bytes;
}

static void expect_check(const char *carver, const struct bytes *bytes, bool thorough,
	enum verdict expected, uint64_t length)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding found = { 0 };
	enum verdict verdict;

	view_set_thorough(view, thorough);
	verdict = carver_find(carver)->check(view, &found);
	cr_expect_eq(verdict, expected, "%d: %s", verdict, found.why);
	cr_expect_eq(found.length, length, "%llu: %s", (unsigned long long)found.length, found.why);
	view_free(view);
}

/* That an unverified file is put together like a complete one. */
static void expect_agreement(const char *carver, const struct bytes *bytes)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding found = { 0 };

	view_set_thorough(view, true);
	cr_expect_eq(carver_find(carver)->check(view, &found), CARVE_UNVERIFIED, "%s", found.why);
	cr_expect(view_agreed(view));
	view_free(view);
}

/* Another file of the encoder may go on with frames of other lengths until their number is right. */
Test(mp3, the_stated_bytes_are_there)
{
	struct bytes right = counted(20, 21 * FRAME_LEN), wrong = counted(20, 21 * FRAME_LEN);

	add_frames(&right, false, 20);
	add_frames(&wrong, false, 15);
	add_frames(&wrong, true, 5);
	bytes_fill(&right, 0xee, 3000);
	bytes_fill(&wrong, 0xee, 3000);
	expect_check("mp3", &right, true, CARVE_COMPLETE, 21 * FRAME_LEN);
	expect_check("mp3", &right, false, CARVE_UNVERIFIED, 21 * FRAME_LEN);
	expect_check("mp3", &wrong, true, CARVE_TRUNCATED, 16 * FRAME_LEN + 4 * FAST_LEN);
	expect_check("mp3", &wrong, false, CARVE_UNVERIFIED, 16 * FRAME_LEN + 5 * FAST_LEN);
	free(right.data);
	free(wrong.data);
}

/* LAME's tag has a CRC of all frames after the first, which proves a joint among them. */
Test(mp3, the_tags_sum_proves_a_joint)
{
	const struct bytes bytes = bytes_of_file("tests/golden/mp3/lame.mp3");
	const struct range runs[] = { { 0, 512 }, { 512, bytes.len - 512 } };
	struct memory_image evidence = MEMORY_IMAGE(bytes.data, bytes.len);
	struct view *view = view_new();
	struct finding found = { 0 };

	view_point_runs(view, &evidence.image, runs, 2, bytes.len);
	cr_assert_eq(carver_find("mp3")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(view_proof(view, 512), 15);
	view_free(view);
	free(bytes.data);
}

Test(mp3, a_steady_bit_rate_does_not_change)
{
	struct bytes steady = { 0 }, varying = { 0 };

	add_frames(&steady, false, 120);
	add_frames(&steady, true, 20);
	add_frames(&varying, false, 20);
	add_frames(&varying, true, 20);
	add_frames(&varying, false, 100);
	add_frames(&varying, true, 20);
	bytes_fill(&steady, 0xee, 3000);
	bytes_fill(&varying, 0xee, 3000);
	expect_check("mp3", &steady, false, CARVE_UNVERIFIED, 120 * FRAME_LEN + 20 * FAST_LEN);
	expect_check("mp3", &steady, true, CARVE_UNVERIFIED, 120 * FRAME_LEN);
	expect_check("mp3", &varying, true, CARVE_UNVERIFIED, 120 * FRAME_LEN + 40 * FAST_LEN);
	free(steady.data);
	free(varying.data);
}

/* No encoder sets another emphasis in the middle. */
Test(mp3, flags_do_not_change)
{
	struct bytes sound = { 0 };

	add_frames(&sound, false, 40);
	for (size_t i = 20; i < 40; i++)
		sound.data[i * FRAME_LEN + 3] = 1;
	bytes_fill(&sound, 0xee, 3000);
	expect_check("mp3", &sound, false, CARVE_UNVERIFIED, 40 * FRAME_LEN);
	expect_check("mp3", &sound, true, CARVE_UNVERIFIED, 20 * FRAME_LEN);
	free(sound.data);
}

/* An index of other chunks than are there: in one piece its writer's fault, else another file's. */
Test(avi, the_index_matches_where_pieces_meet)
{
	struct bytes film = bytes_of_file("tests/golden/riff/film.avi");
	uint64_t len = film.len, index = 0;

	for (uint64_t at = 12; at + 8 < len && !index; at++)
		if (memcmp(film.data + at, "idx1", 4) == 0)
			index = at;
	cr_assert_neq(index, 0);
	expect_check("riff", &film, true, CARVE_COMPLETE, len);
	film.data[index + 8 + 12] ^= 1;
	expect_check("riff", &film, false, CARVE_UNVERIFIED, len);
	expect_check("riff", &film, true, CARVE_TRUNCATED, index);
	free(film.data);
}

/* Room for an index that nobody wrote, as FFmpeg leaves it, is taken for filled by a cluster of another file if more than a few bytes
 * are not zeros; in a file in one piece it says nothing. */
Test(avi, what_fills_room_is_doubted_where_pieces_meet)
{
	struct bytes film = bytes_of_file("tests/golden/riff/film.avi"), wide = { 0 };
	const size_t room = 1024, begin = 12;

	bytes_add(&wide, film.data, begin);
	bytes_add(&wide, "JUNK\0\4\0\0", 8);
	bytes_fill(&wide, 0, room);
	bytes_add(&wide, film.data + begin, film.len - begin);
	for (size_t i = 0; i < 4; i++)
		wide.data[4 + i] = (uint8_t)((wide.len - 8) >> 8 * i);
	expect_check("riff", &wide, true, CARVE_COMPLETE, wide.len);
	memset(wide.data + begin + 8, 'x', 64);
	expect_check("riff", &wide, true, CARVE_COMPLETE, wide.len);
	memset(wide.data + begin + 8, 'x', 512);
	expect_check("riff", &wide, true, CARVE_UNVERIFIED, wide.len);
	expect_check("riff", &wide, false, CARVE_COMPLETE, wide.len);
	free(wide.data);
	free(film.data);
}

static const char *const coded_films[] = { "tests/golden/riff/mpeg4.avi",
	"tests/golden/riff/mpeg4-warped.avi", "tests/golden/riff/mpeg4-fields.avi" };

/* Bytes from elsewhere in a frame are noticed by its codes, though all chunks and the index are right. */
Test(avi, codes_of_video_are_read_where_pieces_meet)
{
	unsigned tried = 0, noticed = 0;

	for (size_t i = 0; i < 3; i++) {
		struct bytes film = bytes_of_file(coded_films[i]);
		uint64_t movi = 0, index = 0;

		for (uint64_t at = 12; at + 8 < film.len; at++) {
			movi = memcmp(film.data + at, "movi", 4) == 0 ? at : movi;
			index = memcmp(film.data + at, "idx1", 4) == 0 ? at : index;
		}
		expect_check("riff", &film, true, CARVE_COMPLETE, film.len);
		for (uint64_t at = movi + 4; at + 8 < index;) {
			const uint8_t *p = film.data + at;
			uint64_t len = p[4] | p[5] << 8;

			for (uint64_t in = 300; p[3] == 'c' && in + 200 < len; in += 100) {
				struct bytes other = bytes_of_file(coded_films[i]);
				struct view *view = view_new_memory(other.data, other.len);
				struct finding found = { 0 };

				for (int n = 0; n < 100; n++)
					other.data[at + 8 + in + n] ^= (uint8_t)(0x5a + n * 29);
				expect_check("riff", &other, false, CARVE_COMPLETE, other.len);
				view_set_trial(view, true);
				tried++;
				noticed += carver_find("riff")->check(view, &found) ==
						   CARVE_TRUNCATED &&
					   found.length >= at + in && found.length < at + 8 + len;
				view_free(view);
				free(other.data);
			}
			at += 8 + len + (len & 1);
		}
		free(film.data);
	}
	cr_expect_geq(tried, 60);
	cr_expect_geq(noticed * 20, tried * 19, "%u of %u", noticed, tried);
}

/* A frame that ends where it should proves a joint in it, and frames after it that are where the index says do so, in a film of
 * which nothing else is more than some bytes. */
Test(avi, frames_prove_a_joint)
{
	enum { SOUND = 88, FIRST = 8 + 3358, SECOND = 8 + 998, INDEX = 8270 };
	static const struct {
		unsigned at, bits;
	} joints[] = {
		{ 0, 0 }, { 40, 0 }, /* in sound */
		{ SOUND + 1500, 8 + 12 + 4 * 6 },
		{ SOUND + FIRST, 12 + 4 * 6 }, /* where the second one begins */
		{ SOUND + FIRST + SECOND + 40, 12 + 3 * 6 },
		{ INDEX + 100, 2 * 6 }, /* before the last two frames' entries */
	};
	struct bytes bytes = bytes_of_file(coded_films[0]);
	struct memory_image evidence = MEMORY_IMAGE(bytes.data, bytes.len);
	uint64_t movi = 0;

	for (uint64_t at = 12; at + 8 < bytes.len; at++)
		movi = memcmp(bytes.data + at, "movi", 4) == 0 ? at : movi;
	for (size_t i = 0; i < sizeof(joints) / sizeof(*joints); i++) {
		uint64_t joint = movi + 4 + joints[i].at;
		const struct range runs[] = { { 0, joint }, { joint, bytes.len - joint } };
		struct view *view = view_new();
		struct finding found = { 0 };

		view_point_runs(view, &evidence.image, runs, 2, bytes.len);
		view_set_thorough(view, true);
		cr_assert_eq(
			carver_find("riff")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
		cr_expect_eq(view_proof(view, joint), joints[i].bits, "%zu: %u", i,
			view_proof(view, joint));
		view_free(view);
	}
	free(bytes.data);
}

/* A check that goes on from a state finds what one from the beginning finds. */
Test(avi, goes_on_from_a_state)
{
	for (size_t i = 0; i < 3; i++) {
		const struct bytes film = bytes_of_file(coded_films[i]);
		struct bytes other = bytes_of_file(coded_films[i]);
		struct view *saving = view_new_memory(film.data, film.len);
		struct finding found = { 0 };
		unsigned states = 0;

		view_keep_states(saving, 128);
		cr_assert_eq(carver_find("riff")->check(saving, &found), CARVE_COMPLETE);
		for (size_t cut = 1000; cut < film.len; cut += 300) {
			const struct carve_state *state = view_state_before(saving, cut);
			struct finding from_start = { 0 }, from_state = { 0 };
			struct view *view = view_new_memory(other.data, other.len);
			enum verdict verdict;

			if (!state)
				continue;
			states++;
			memcpy(other.data, film.data, film.len);
			memset(other.data + cut, 0x77, film.len - cut < 80 ? film.len - cut : 80);
			view_set_trial(view, true);
			verdict = carver_find("riff")->check(view, &from_start);
			view_free(view);
			view = view_new_memory(other.data, other.len);
			view_set_trial(view, true);
			cr_expect_eq(
				carver_find("riff")->resume(view, state, &from_state), verdict);
			cr_expect_eq(from_state.length, from_start.length);
			cr_expect_str_eq(from_state.why, from_start.why);
			cr_expect_str_eq(from_state.title, from_start.title);
			view_free(view);
		}
		cr_expect_geq(states, 5);
		view_free(saving);
		free(film.data);
		free(other.data);
	}
}

/* A track that is never framed as its coding says has a framing of its own; if it is later, other bytes are in the place
 * of its first samples. */
Test(mp4, first_samples_are_checked_by_later_ones)
{
	struct bytes film = bytes_of_file("tests/golden/mp4/last.mp4");
	struct bytes sound = bytes_of_file("tests/golden/mp4/sound.m4a");
	uint64_t len = film.len, sound_len = sound.len;

	expect_check("mp4", &film, true, CARVE_COMPLETE, len);
	memset(film.data + 32, 0xe5, 64);
	expect_check("mp4", &film, false, CARVE_COMPLETE, len);
	expect_check("mp4", &film, true, CARVE_TRUNCATED, 32);
	free(film.data);

	expect_check("mp4", &sound, true, CARVE_COMPLETE, sound_len);
	memset(sound.data + 906, 0xe5, 95);
	expect_check("mp4", &sound, false, CARVE_UNVERIFIED, sound_len);
	expect_check("mp4", &sound, true, CARVE_TRUNCATED, 906);
	free(sound.data);
}

/* Samples that fragments describe are checked, too. */
Test(mp4, fragments_are_checked_where_pieces_meet)
{
	struct bytes film = bytes_of_file("tests/golden/mp4/indexed.mp4");
	uint64_t data = 1790; /* the media data of the second fragment */
	uint64_t second = data + 4 + be32(film.data + data); /* unit */

	cr_assert_eq(memcmp(film.data + data - 4, "mdat", 4), 0);
	expect_check("mp4", &film, true, CARVE_COMPLETE, film.len);
	memset(film.data + second, 0xff, 4);
	expect_check("mp4", &film, false, CARVE_TRUNCATED, second);
	expect_check("mp4", &film, true, CARVE_TRUNCATED, second);
	free(film.data);
}

/* Where a file goes on after what is wrong, it may be damaged; of many layouts it is a wrong one. */
Test(trials, what_is_wrong_ends_them)
{
	static const struct {
		const char *carver, *file, *why;
		enum verdict verdict; /* of a trial */
	} files[] = {
		{ "gif", "tests/golden/gif/codes.gif", "LZW data", CARVE_REJECT },
		{ "ogg", "tests/golden/ogg/crc.ogg", "wrong CRC of the page", CARVE_TRUNCATED },
		{ "mp3", "tests/golden/mp3/crc.mp3", "differs from LAME", CARVE_TRUNCATED },
		{ "pdf", "tests/golden/pdf/startxref.pdf", "no cross-references at the offset",
			CARVE_TRUNCATED },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct bytes bytes = bytes_of_file(files[i].file);

		for (int trial = 0; trial < 2; trial++) {
			struct view *view = view_new_memory(bytes.data, bytes.len);
			struct finding found = { 0 };
			enum verdict verdict;

			view_set_trial(view, trial);
			verdict = carver_find(files[i].carver)->check(view, &found);
			cr_expect_eq(verdict, trial ? files[i].verdict : CARVE_UNVERIFIED, "%s",
				found.why);
			cr_expect(strstr(found.why, files[i].why), "%s", found.why);
			view_free(view);
		}
		free(bytes.data);
	}
}

/* Another file's cluster may be in a long extension, and too little data what is before one. In a file in one piece neither says
 * anything. */
Test(gif, what_nothing_verifies_is_doubted_where_pieces_meet)
{
	struct bytes picture = bytes_of_file("tests/golden/gif/grey.gif"), gif = { 0 };
	size_t head = picture.len, text;

	expect_check("gif", &picture, true, CARVE_COMPLETE, picture.len);
	/* The trailer would be the extension's place. */
	bytes_add(&gif, picture.data, --head);
	bytes_add(&gif, "\x21\xff\x0bXMP DataXMP", 14);
	bytes_add(&gif, "<a>", 3);
	text = gif.len;
	bytes_fill(&gif, ' ', 600);
	bytes_add(&gif, "</a>\1", 5);
	for (int i = 255; i >= 0; i--)
		bytes_fill(&gif, (uint8_t)i, 1);
	bytes_add(&gif, "\0;", 2);
	expect_check("gif", &gif, true, CARVE_COMPLETE, gif.len);
	memset(gif.data + text + 100, 1, 64);
	expect_check("gif", &gif, true, CARVE_UNVERIFIED, gif.len);
	expect_check("gif", &gif, false, CARVE_COMPLETE, gif.len);
	expect_agreement("gif", &gif);
	free(gif.data);
	free(picture.data);
	gif = bytes_of_file("tests/golden/gif/little-data.gif");
	expect_check("gif", &gif, true, CARVE_UNVERIFIED, gif.len);
	expect_check("gif", &gif, false, CARVE_COMPLETE, gif.len);
	free(gif.data);
}
