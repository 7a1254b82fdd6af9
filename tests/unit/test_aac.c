/* AAC: frames whose codes are followed, what becomes of them when they are damaged, and an M4A in pieces. */
#include "aac_frames.h"
#include "bmff_made.h"
#include "bytes.h"

#include "carvers/common/aac_codes.h"
#include "carvers/common/aac_frame.h"

/* LC, 44.1 kHz. */
static const struct aac_config usual = { .object = 2, .rate = 4 };

Test(aac, books_are_complete)
{
	for (unsigned number = 0; number < AAC_BOOKS; number++) {
		uint32_t filled = 0;

		for (unsigned len = 1; len <= AAC_CODE_MAX; len++)
			filled += (uint32_t)aac_books[number].counts[len] << (AAC_CODE_MAX - len);
		cr_expect_eq(filled, UINT32_C(1) << AAC_CODE_MAX, "book %u", number);
	}
}

Test(aac, bands_fill_the_windows)
{
	for (unsigned rate = 0; rate < AAC_RATES; rate++) {
		const struct aac_bands *both[] = { &aac_long_bands[rate], &aac_short_bands[rate] };

		for (int i = 0; i < 2; i++) {
			cr_expect_eq(both[i]->ends[both[i]->count - 1], i ? 128 : 1024);
			for (unsigned band = 0; band < both[i]->count; band++)
				cr_expect_eq(both[i]->ends[band] % 4, 0);
		}
	}
}

Test(aac, frames_end_exactly)
{
	const uint8_t *frame = aac_frames;
	size_t at;

	for (unsigned i = 0; i < AAC_FRAMES; frame += aac_frames_lens[i++]) {
		cr_expect(aac_frame_follow(frame, aac_frames_lens[i], &usual, &at), "frame %u", i);
		cr_expect(!aac_frame_follow(frame, aac_frames_lens[i] - 1u, &usual, &at));
		if (i + 1 < AAC_FRAMES)
			cr_expect(!aac_frame_follow(frame, aac_frames_lens[i] + 1u, &usual, &at));
	}
}

/* Another file's bytes in place of the rest of a frame. */
Test(aac, other_codes_show)
{
	const uint8_t *frame = aac_frames;
	unsigned shown = 0, all = 0;

	for (unsigned i = 0; i < AAC_FRAMES; frame += aac_frames_lens[i++])
		for (size_t len = 16; len < aac_frames_lens[i]; len += 3) {
			uint8_t other[512];
			size_t at;

			memcpy(other, frame, aac_frames_lens[i]);
			memcpy(other + aac_frames_lens[i] - len, aac_others + len * 5, len);
			all++;
			shown += !aac_frame_follow(other, aac_frames_lens[i], &usual, &at);
		}
	cr_expect_gt(shown, all - all / 16, "%u of %u", shown, all);
}

static void expect_config(const char *bytes, size_t len, uint8_t object, uint8_t rate, bool is_960)
{
	struct aac_config config;

	cr_expect_eq(aac_config_read((const uint8_t *)bytes, len, &config), object != 0);
	cr_expect(config.object == object && config.rate == rate && config.is_960 == is_960,
		"%d %d %d", config.object, config.rate, config.is_960);
}

Test(aac, configurations)
{
	expect_config("\x12\x10", 2, 2, 4, false);
	expect_config("\x12\x14", 2, 2, 4, true);
	expect_config("\x12", 1, 0, 0, false);
	expect_config("\x2b\x92\x08", 3, 2, 7, false);         /* SBR */
	expect_config("\x1a\x10", 2, 0, 0, false);             /* SSR */
	expect_config("\x17\x80\x56\x22\x10", 5, 2, 4, false); /* 44,100 Hz by its number */
	expect_config("\x16\x90", 2, 0, 0, false);             /* a rate that is reserved */
}

/* Any bytes get an answer. */
Test(aac, hostile_frames)
{
	uint32_t random = 1;

	for (unsigned round = 0; round < 20000; round++) {
		struct aac_config config = { .object =
						     round % 3 == 2 ? 4 : (uint8_t)(round % 3 + 1),
			.rate = (uint8_t)(round % AAC_RATES),
			.is_960 = round & 8 };
		size_t len = round % 97, at = 0;
		uint8_t *frame = malloc(len ? len : 1);

		for (size_t i = 0; i < len; i++)
			frame[i] = (uint8_t)((random = random * 1103515245 + 12345) >> 16);
		if (len)
			frame[0] &= 0x7f;
		aac_frame_follow(frame, len, &config, &at);
		cr_expect_leq(at, len);
		free(frame);
	}
}

/* A sample entry of sound. */
static const uint8_t entry[] =
	"\0\0\0\x48mp4a"
	"\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\2\0\x10\0\0\0\0\xac\x44\0\0"
	"\0\0\0\x24"
	"esds"
	"\0\0\0\0\x03\x16\0\1\0\x04\x11\x40\x15\0\0\0\0\0\0\0\0\0\0\0\x05\x02\x12\x10";

enum { REPEATS = 4, SAMPLES = REPEATS * AAC_FRAMES };

/* A file of sound of so many frames, SAMPLES at most. *data: where its first frame is. */
static struct bytes short_sound(unsigned count, uint64_t *data)
{
	const struct made_track track = { "soun", entry, sizeof(entry) - 1, 0 };
	struct made_chunk chunks[SAMPLES];
	const uint8_t *frame = aac_frames;
	struct bytes bytes;

	for (unsigned i = 0; i < count; i++) {
		if (i % AAC_FRAMES == 0)
			frame = aac_frames;
		chunks[i] = (struct made_chunk){ 0, frame, aac_frames_lens[i % AAC_FRAMES], 0 };
		frame += chunks[i].len;
	}
	bytes = made_film("M4A ", &track, 1, chunks, count);
	*data = chunks[0].at;
	return bytes;
}

static struct bytes sound(uint64_t *data)
{
	return short_sound(SAMPLES, data);
}

Test(aac, frames_prove_a_joint)
{
	uint64_t data;
	struct bytes bytes = sound(&data);
	enum verdict verdict;
	struct finding found;

	cr_assert_geq(check_in_two(&bytes, data + 2000, &verdict, &found), 40);
	cr_expect_eq(verdict, CARVE_COMPLETE);
	cr_expect_eq(found.length, bytes.len);
	/* Nothing in moov is proved by frames. */
	cr_expect_eq(check_in_two(&bytes, 256, &verdict, &found), 0);
	/* Nor by those before the joint: its last bytes might be any. */
	cr_expect_eq(check_in_two(&bytes, bytes.len - 8, &verdict, &found), 0);
	free(bytes.data);
}

Test(aac, another_files_cluster_is_noticed)
{
	uint64_t data;
	struct bytes bytes = sound(&data);
	struct finding found;
	enum verdict verdict;
	struct view *view;

	memcpy(bytes.data + data + 2000, aac_others, 512);
	check_in_two(&bytes, data + 2000, &verdict, &found);
	cr_expect_eq(verdict, CARVE_TRUNCATED);
	cr_expect(found.length > data + 1500 && found.length < data + 2512);
	/* In one piece it does not matter where a frame's codes end. */
	view = view_new_memory(bytes.data, bytes.len);
	cr_expect_neq(carver_find("mp4")->check(view, &found), CARVE_REJECT);
	view_free(view);
	free(bytes.data);
}

/* First frames may be odd, but if many later ones are valid, they are another cluster's. */
Test(aac, first_frames_are_doubted)
{
	uint64_t data;
	struct bytes bytes = sound(&data);
	size_t second = data + aac_frames_lens[0];
	enum verdict verdict;
	struct finding found;

	memcpy(bytes.data + second + 20, aac_others + 300, aac_frames_lens[1] - 22u);
	check_in_two(&bytes, data + 2000, &verdict, &found);
	cr_expect_eq(verdict, CARVE_TRUNCATED);
	cr_expect_eq(found.length, second);
	free(bytes.data);
}

/* Where frames are not valid among valid ones, it is not known which are the file's. */
Test(aac, frames_that_are_valid_now_and_then_are_doubted)
{
	uint64_t data;
	struct bytes bytes = sound(&data);
	enum verdict verdict;
	struct finding found;

	for (size_t i = 0, at = data; i < SAMPLES; at += aac_frames_lens[i++ % AAC_FRAMES])
		if (i % 8 == 1)
			memcpy(bytes.data + at + 20, aac_others + 300,
				aac_frames_lens[i % AAC_FRAMES] - 22u);
	check_in_two(&bytes, data + 2000, &verdict, &found);
	cr_expect_eq(verdict, CARVE_UNVERIFIED, "%s", found.why);
	free(bytes.data);
}

/* The same file with moov after its data. */
static struct bytes moov_last(const struct bytes *bytes, uint64_t *data)
{
	size_t moov = be32(bytes->data), mdat = moov + be32(bytes->data + moov);
	struct bytes moved = { 0 };
	uint8_t *table;

	bytes_add(&moved, bytes->data, moov);
	bytes_add(&moved, bytes->data + mdat, bytes->len - mdat);
	bytes_add(&moved, bytes->data + moov, mdat - moov);
	table = memmem(moved.data, moved.len, "stco", 4);
	for (size_t i = 0; i < be32(table + 8); i++) {
		uint64_t at = be32(table + 12 + i * 4) - (mdat - moov);

		table[12 + i * 4 + 2] = (uint8_t)(at >> 8);
		table[12 + i * 4 + 3] = (uint8_t)at;
	}
	*data -= mdat - moov;
	return moved;
}

/* That a table is the file's does not show where before it the pieces meet. */
Test(aac, lengths_prove_no_joint_among_bytes_that_nothing_reads)
{
	enum { FROM = 5, TO = 11 };
	uint64_t data, at;
	struct bytes first = short_sound(AAC_FRAMES, &data), bytes = moov_last(&first, &data);
	size_t unread = 0;
	enum verdict verdict;
	struct finding found;

	at = data;
	for (unsigned i = 0; i < FROM; i++)
		at += aac_frames_lens[i];
	cr_expect_geq(check_in_two(&bytes, at + 30, &verdict, &found), 40);
	cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
	/* Frames that are not what the track's are. */
	bytes.data[data] = 0xff;
	for (unsigned i = FROM; i < TO; unread += aac_frames_lens[i++])
		bytes.data[at + unread] = 0xff;
	cr_assert_gt(unread, 512);
	cr_expect_eq(check_in_two(&bytes, at + unread / 2, &verdict, &found), 0);
	cr_expect_eq(verdict, CARVE_UNVERIFIED, "%s", found.why);
	free(first.data);
	free(bytes.data);
}

/* Some encoders leave the bits after a frame's end as they are. */
Test(aac, any_bits_may_fill_the_last_byte)
{
	uint64_t data;
	struct bytes bytes = sound(&data);
	enum verdict verdict;
	struct finding found;
	unsigned ragged = 0;

	for (uint64_t i = 0, at = data; i < SAMPLES; i++) {
		uint8_t *last = bytes.data + at + aac_frames_lens[i % AAC_FRAMES] - 1;

		at += aac_frames_lens[i % AAC_FRAMES];
		if (*last & 3)
			continue;
		*last |= 1;
		ragged++;
	}
	cr_assert_gt(ragged, SAMPLES / 4);
	cr_expect_geq(check_in_two(&bytes, data + 2000, &verdict, &found), 30);
	cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
	memcpy(bytes.data + data + 2000, aac_others, 512);
	check_in_two(&bytes, data + 2000, &verdict, &found);
	cr_expect_eq(verdict, CARVE_TRUNCATED, "%s", found.why);
	free(bytes.data);
}
