/* What the codes of layer III prove where pieces of MP3 files meet. */
#include "mp3_codes.h"

#include "carver_case.h"
#include "crc16_arc.h"
#include "memory_image.h"

/* Frames of MPEG-2, mono, 22,050 Hz, 64 kbit/s. */
enum {
	FRAME_LEN = 208,
	SIDE_LEN = 9,
	ROOM_AT = 4 + SIDE_LEN,
	OWN = FRAME_LEN - ROOM_AT,
	FRAMES = 160,
	LINES = 400,
	BEGIN_MAX = 200
};

struct writer {
	uint8_t *bytes;
	size_t at; /* bits */
};

static void put(struct writer *writer, uint32_t value, unsigned count)
{
	while (count--) {
		if (value >> count & 1)
			writer->bytes[writer->at / 8] |= (uint8_t)(0x80 >> writer->at % 8);
		writer->at++;
	}
}

static uint32_t next_random(uint32_t *random)
{
	return (*random = *random * 1103515245 + 12345) >> 16 & 0x7fff;
}

/* Sound whose values are 0 or 1, with one code for a pair (book 1): where a granule has a one the next one mostly has it, too. */
static size_t add_main(
	struct writer *writer, unsigned lines, uint8_t values[LINES], uint32_t *random)
{
	static const uint8_t codes[4] = { 1, 1, 1, 0 }, lens[4] = { 1, 3, 2, 3 };
	size_t from = writer->at;

	for (unsigned line = 0; line < lines; line++)
		if (next_random(random) % 20 == 0)
			values[line] = next_random(random) % 3 == 0;
	for (unsigned line = 0; line < lines; line += 2) {
		unsigned pair = values[line] * 2u + values[line + 1];

		put(writer, codes[pair], lens[pair]);
		for (unsigned i = 0; i < 2; i++)
			if (values[line + i])
				put(writer, next_random(random) & 1, 1);
	}
	return writer->at - from;
}

static void put_head(uint8_t *frame, unsigned lines, size_t begin, size_t bits)
{
	static const uint8_t head[4] = { 0xff, 0xf3, 0x80, 0xc4 };
	struct writer writer = { frame + 4, 0 };

	memcpy(frame, head, 4);
	put(&writer, (uint32_t)begin, 8);
	put(&writer, 0, 1);
	put(&writer, (uint32_t)bits, 12);
	put(&writer, lines / 2, 9);
	put(&writer, 180, 8);
	put(&writer, 0, 9 + 1);
	for (unsigned i = 0; i < 3; i++)
		put(&writer, 1, 5);
	put(&writer, 7 << 3 | 7, 7);
	put(&writer, 0, 2);
}

/* A sum of all frames is in the first one, as LAME writes it. */
static void put_info(uint8_t *file)
{
	static const uint8_t head[4] = { 0xff, 0xf3, 0x80, 0xc4 };
	uint8_t *tag = file + ROOM_AT;
	size_t len = (FRAMES + 1) * FRAME_LEN;
	uint16_t crc = crc16_arc(0, file + FRAME_LEN, FRAMES * FRAME_LEN);

	memcpy(file, head, 4);
	memcpy(tag, "Info\0\0\0\17", 8);
	tag[11] = FRAMES;
	tag[14] = (uint8_t)(len >> 8);
	tag[15] = (uint8_t)len;
	memcpy(tag + 120, "LAME3.100", 9);
	tag[152] = (uint8_t)(crc >> 8);
	tag[153] = (uint8_t)crc;
	crc = crc16_arc(0, file, (size_t)(tag + 154 - file));
	tag[154] = (uint8_t)(crc >> 8);
	tag[155] = (uint8_t)crc;
}

/* A file whose frames' main data follow each other, or are after bytes that fill as soon as there is too much room. */
static struct bytes make_sound(uint32_t random, unsigned lines, uint8_t filling)
{
	struct bytes file = { 0 };
	uint8_t *bytes = bytes_grow(&file, (FRAMES + 1) * FRAME_LEN), values[LINES] = { 0 };
	uint8_t room[FRAMES * OWN];
	size_t at = 0;

	memset(bytes, 0, file.len);
	memset(room, filling, sizeof(room));
	for (unsigned i = 0; i < FRAMES; i++) {
		uint8_t *frame = bytes + (size_t)(i + 1) * FRAME_LEN, data[OWN] = { 0 };
		struct writer writer = { data, 0 };
		size_t bits = add_main(&writer, lines, values, &random), len = (bits + 7) / 8;

		if (at + BEGIN_MAX < i * OWN) {
			size_t begin = i * OWN - BEGIN_MAX;

			if (filling == 0xaa)
				memcpy(room + at, "LAME", begin - at < 4 ? begin - at : 4);
			at = begin;
		}
		memcpy(room + at, data, len);
		put_head(frame, lines, i * OWN - at, bits);
		at += len;
	}
	for (unsigned i = 0; i < FRAMES; i++)
		memcpy(bytes + (size_t)(i + 1) * FRAME_LEN + ROOM_AT, room + (size_t)i * OWN, OWN);
	put_info(bytes);
	return file;
}

struct proof {
	enum verdict verdict;
	unsigned bits;
};

/* The file up to `at`, and the other one from `from` on. */
static struct proof prove(
	const struct bytes *file, size_t at, const struct bytes *other, size_t from)
{
	struct bytes both = { 0 };
	const struct range runs[] = { { 0, at }, { at, other->len - from } };
	struct view *view = view_new();
	struct finding found = { 0 };
	struct memory_image evidence;
	struct proof proof;

	bytes_add(&both, file->data, at);
	bytes_add(&both, other->data + from, other->len - from);
	evidence = (struct memory_image)MEMORY_IMAGE(both.data, both.len);
	view_point_runs(view, &evidence.image, runs, 2, both.len);
	view_set_thorough(view, true);
	proof.verdict = carver_find("mp3")->check(view, &found);
	proof.bits = view_proof(view, at);
	view_free(view);
	free(both.data);
	return proof;
}

/* A joint within a frame is proved by LAME's sum, by the next frame's place, and by how the sound goes on; not so the same place
 * of other sound, of which a frame begins there, too. */
Test(mp3_codes, right_joints_are_proved)
{
	struct bytes file = make_sound(1, LINES, 0xaa), other = make_sound(2, LINES - 44, 0xaa);
	unsigned right_count = 0, wrong_count = 0, all = 0;

	for (size_t at = 40 * FRAME_LEN + 20; at < 150 * FRAME_LEN; at += 3 * FRAME_LEN + 13) {
		struct proof right = prove(&file, at, &file, at);
		struct proof wrong = prove(&file, at, &other, at);

		cr_expect_eq(right.verdict, CARVE_COMPLETE);
		cr_expect_neq(wrong.verdict, CARVE_COMPLETE);
		all++;
		right_count += right.bits >= 15 + 3 + 9;
		wrong_count += wrong.bits >= 3 + 9;
	}
	cr_expect_geq(right_count * 4, all * 3, "%u of %u", right_count, all);
	cr_expect_leq(wrong_count * 8, all, "%u of %u", wrong_count, all);
	free(file.data);
	free(other.data);
}

/* Nothing is known yet of how the sound goes on. */
Test(mp3_codes, the_first_frames_prove_nothing)
{
	struct bytes file = make_sound(1, LINES, 0xaa);
	size_t early = 2 * FRAME_LEN + 100, late = 90 * FRAME_LEN + 150;

	cr_expect_eq(prove(&file, early, &file, early).bits, 15);
	cr_expect_gt(prove(&file, late, &file, late).bits, 15);
	free(file.data);
}

/* Where all frames before had nothing between their data but what usually fills, other bytes there are another file's. */
Test(mp3_codes, what_fills_is_known)
{
	struct bytes file = make_sound(1, LINES, 0xaa), changed = make_sound(1, LINES, 0xaa);
	struct bytes other = make_sound(1, LINES, 0x9d);
	struct mp3_codes *codes = calloc(1, sizeof(*codes));
	struct view *view = view_new_memory(file.data, file.len);
	unsigned filled = 0;

	for (unsigned i = 1; i <= FRAMES; i++) {
		const uint8_t *frame = file.data + (size_t)i * FRAME_LEN;

		filled += codes->has_rest && frame[4] < codes->rest;
		cr_assert(mp3_codes_add(
			codes, view, (uint64_t)i * FRAME_LEN, frame, FRAME_LEN, false));
	}
	cr_expect_gt(filled, 10);
	cr_expect_eq(prove(&file, 80 * FRAME_LEN, &other, 80 * FRAME_LEN).verdict, CARVE_TRUNCATED);
	/* As it has it from the beginning it is its own. */
	cr_expect_eq(prove(&other, 80 * FRAME_LEN, &other, 80 * FRAME_LEN).verdict, CARVE_COMPLETE);
	view_free(view);
	free(codes);
	free(file.data);
	free(changed.data);
	free(other.data);
}
