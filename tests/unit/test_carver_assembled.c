/* What checks of MPEG audio, AVI and MP4 do where pieces are put together. */
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
	cr_expect_eq(view_proof(view, 512), 16);
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
