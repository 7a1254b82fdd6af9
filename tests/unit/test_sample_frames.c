/* Samples whose frames show by themselves whether they are intact, alone and in MP4. */
#include <inttypes.h>

#include "bmff_made.h"
#include "bytes.h"
#include "sample_frames.h"

/* Whether the sample in [at, at + len) is valid; *valid as sample_frames_check has it. */
static bool check_at(struct sample_frames *frames, const struct bytes *bytes, uint64_t at,
	uint64_t len, uint64_t *valid)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	bool is_valid = sample_frames_check(view, frames, at, len, valid);

	view_free(view);
	return is_valid;
}

static bool check(struct sample_frames frames, const struct bytes *bytes, uint64_t *valid)
{
	return check_at(&frames, bytes, 0, bytes->len, valid);
}

static uint16_t crc16(const uint8_t *p, size_t len)
{
	unsigned crc = 0;

	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned)p[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc << 1 ^ (crc & 0x8000 ? 0x8005 : 0)) & 0xffff;
	}
	return (uint16_t)crc;
}

static struct bytes make_flac(void)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, "\xff\xf8\xc9\x18", 4);
	bytes_add_random(&bytes, 5, 700);
	bytes_add_be(&bytes, crc16(bytes.data, bytes.len), 2);
	return bytes;
}

Test(sample_frames, sums_are_of_all_bytes)
{
	const struct {
		struct bytes bytes;
		enum sample_kind kind;
	} cases[] = {
		{ make_flac(), SAMPLE_FLAC },
		{ bytes_of_file("tests/golden/ac3/film.ac3"), SAMPLE_AC3 },
		{ bytes_of_file("tests/golden/ac3/plus.eac3"), SAMPLE_AC3 },
		{ bytes_of_file("tests/golden/png/animated.png"), SAMPLE_PNG },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = cases[i].bytes;
		struct sample_frames frames = { .kind = cases[i].kind, .streams = 1 };
		uint64_t valid = 0;

		cr_expect(sample_frames_are_summed(&frames));
		cr_expect(check(frames, &bytes, &valid), "%zu: valid to %" PRIu64, i, valid);
		for (size_t at = 2; at < bytes.len; at += 37) {
			bytes.data[at] ^= 0x55;
			cr_expect_not(check(frames, &bytes, &valid), "%zu: %zu", i, at);
			cr_expect_leq(valid, at + 6, "%zu: %zu", i, at);
			bytes.data[at] ^= 0x55;
		}
		bytes.len--;
		cr_expect_not(check(frames, &bytes, &valid), "%zu: cut", i);
		free(bytes.data);
	}
}

Test(sample_frames, blocks_of_dv_are_in_their_places)
{
	struct bytes dv = bytes_of_file("tests/golden/dv/two.dv");
	struct sample_frames frames = { .kind = SAMPLE_DV };
	uint64_t valid;

	dv.len = 240000; /* other bytes follow */
	cr_expect_not(sample_frames_are_summed(&frames));
	cr_expect(check(frames, &dv, &valid));
	memmove(dv.data + 49152, dv.data + 40960, 4096);
	cr_expect_not(check(frames, &dv, &valid));
	cr_expect(valid > 49152 - 80 && valid < 49152 + 80, "%" PRIu64, valid);
	/* Other content never was such blocks: that is no break. */
	memset(dv.data + 80, 0x33, 8000);
	cr_expect_not(check_at(&frames, &dv, 0, dv.len, &valid));
	cr_expect_not(frames.begun);
	free(dv.data);
}

/* A packet of Opus with len bytes after its first one. */
static void add_packet(struct bytes *bytes, uint8_t first, size_t len)
{
	bytes_fill(bytes, first, 1);
	bytes_add_random(bytes, bytes->len + 1, len);
}

Test(sample_frames, packets_of_opus_begin_alike)
{
	struct sample_frames frames = { .kind = SAMPLE_OPUS, .streams = 1 };
	struct bytes bytes = { 0 };
	uint64_t at = 0, valid = 0, strange;

	/* A new first byte is taken once two samples in a row have it. */
	for (unsigned i = 0; i < 40; i++, at = bytes.len) {
		add_packet(&bytes, i == 5 ? 0xf8 : i < 20 ? 0xfc : 0xec, 100 + i);
		cr_expect(check_at(&frames, &bytes, at, bytes.len - at, &valid), "%u", i);
	}
	/* Two different ones in a row are another's bytes, from the first one on. */
	strange = at;
	add_packet(&bytes, 0x10, 200);
	cr_expect(check_at(&frames, &bytes, at, bytes.len - at, &valid));
	at = bytes.len;
	add_packet(&bytes, 0x58, 200);
	cr_expect_not(check_at(&frames, &bytes, at, bytes.len - at, &valid));
	cr_expect_eq(valid, strange);
	free(bytes.data);
}

Test(sample_frames, lengths_fill_packets_of_opus)
{
	static const struct {
		const char *bytes;
		uint8_t len, streams;
		bool valid;
	} cases[] = {
		{ "\xfc", 1, 1, true }, { "\xfd\1\2", 3, 1, true },
		{ "\xfd\1\2\3", 4, 1, false },           /* two frames of one length */
		{ "\xfe\2\1\2\3", 5, 1, true },          /* 2 bytes, 1 byte */
		{ "\xfe\4\1\2\3", 5, 1, false },         /* 4 bytes */
		{ "\xff\3\1\2\3", 5, 1, true },          /* three of one length */
		{ "\xff\3\1\2", 4, 1, false },           /* the same, but two bytes */
		{ "\xff\xc2\1\1\7\0", 6, 1, true },      /* two with lengths, one byte fills */
		{ "\xff\7\1\2\3\4\5\6\7", 9, 1, false }, /* seven of 20 ms */
		{ "\xff\0", 2, 1, false },               /* none */
		{ "\xfc\2\1\2\xfc\1", 6, 2, true },      /* the first packet says its length */
		{ "\xfc\5\1\2\xfc\1", 6, 2, false },
		{ "\xfc\2\1\2\xf4\1", 6, 2, false }, /* 20 ms, and 10 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sample_frames frames = { .kind = SAMPLE_OPUS, .streams = cases[i].streams };
		struct bytes bytes = { 0 };
		uint64_t valid;

		bytes_add(&bytes, cases[i].bytes, cases[i].len);
		cr_expect_eq(check(frames, &bytes, &valid), cases[i].valid, "%zu", i);
		free(bytes.data);
	}
}

/* Each frame of a file of AC-3 is a sample; in a scan only their beginnings are looked at. */
Test(sample_frames, frames_prove_joints_in_mp4)
{
	struct bytes sound = bytes_of_file("tests/golden/ac3/film.ac3"), entry = { 0 }, film;
	struct made_chunk chunks[64];
	struct made_track track = { "soun", NULL, 0, 0 };
	struct finding found;
	enum verdict verdict;
	unsigned count = 0, len = 768;
	size_t box = box_start(&entry, "ac-3");
	uint64_t joint;

	bytes_fill(&entry, 0, 28);
	box_end(&entry, box);
	track.entry = entry.data;
	track.entry_len = entry.len;
	while (len < sound.len && memcmp(sound.data + len, "\x0b\x77", 2) != 0)
		len++;
	for (size_t at = 0; at + len <= sound.len && count < 64; at += len)
		chunks[count++] = (struct made_chunk){ 0, sound.data + at, len, 0 };
	cr_assert_geq(count, 4);
	film = made_film("isom", &track, 1, chunks, count);
	joint = chunks[2].at + len / 2;
	/* Frames that are all as long as each other say nothing else of what is before them. */
	cr_expect_eq(check_in_two(&film, joint, &verdict, &found), 16);
	cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
	memset(film.data + joint, 0x5a, 20);
	cr_expect_neq(carve("mp4", film.data, film.len, &found), CARVE_TRUNCATED);
	check_in_two(&film, joint, &verdict, &found);
	cr_expect_eq(verdict, CARVE_TRUNCATED, "%s", found.why);
	cr_expect_eq(found.length, chunks[2].at + 6);
	/* The first frame may be the one that another's bytes are in. */
	memcpy(film.data + chunks[0].at, sound.data, film.len - chunks[0].at);
	memset(film.data + chunks[0].at + 300, 0x5a, 20);
	check_in_two(&film, chunks[0].at + 300, &verdict, &found);
	cr_expect_eq(verdict, CARVE_TRUNCATED, "%s", found.why);
	free(film.data);
	free(sound.data);
	free(entry.data);
}
