/* AAC: frames whose codes are followed, what becomes of them when they are damaged, and an M4A in pieces. */
#include "aac_frames.h"
#include "carver_case.h"
#include "memory_image.h"

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

static size_t box_start(struct bytes *bytes, const char *type)
{
	bytes_fill(bytes, 0, 4);
	bytes_add(bytes, type, 4);
	return bytes->len - 8;
}

static void box_end(struct bytes *bytes, size_t at)
{
	size_t len = bytes->len - at;

	for (int i = 0; i < 4; i++)
		bytes->data[at + (size_t)i] = (uint8_t)(len >> (24 - 8 * i));
}

static void add_number(struct bytes *bytes, uint32_t number)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		bytes_fill(bytes, (uint8_t)(number >> shift), 1);
}

static void add_box(struct bytes *bytes, const char *type, const char *content, size_t len)
{
	size_t at = box_start(bytes, type);

	bytes_add(bytes, content, len);
	box_end(bytes, at);
}

static void add_entry(struct bytes *bytes)
{
	size_t stsd = box_start(bytes, "stsd"), entry;

	bytes_add(bytes, "\0\0\0\0\0\0\0\1", 8);
	entry = box_start(bytes, "mp4a");
	bytes_add(bytes, "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\2\0\x10\0\0\0\0\xac\x44\0\0", 28);
	add_box(bytes, "esds",
		"\0\0\0\0\x03\x16\0\1\0\x04\x11\x40\x15\0\0\0\0\0\0\0\0\0\0\0\x05\x02\x12\x10", 28);
	box_end(bytes, entry);
	box_end(bytes, stsd);
}

enum { REPEATS = 4, SAMPLES = REPEATS * AAC_FRAMES };

static void add_tables(struct bytes *bytes, uint32_t data)
{
	size_t stbl = box_start(bytes, "stbl"), at;

	add_entry(bytes);
	at = box_start(bytes, "stsz");
	bytes_fill(bytes, 0, 8);
	add_number(bytes, SAMPLES);
	for (unsigned i = 0; i < SAMPLES; i++)
		add_number(bytes, aac_frames_lens[i % AAC_FRAMES]);
	box_end(bytes, at);
	at = box_start(bytes, "stsc");
	bytes_add(bytes, "\0\0\0\0\0\0\0\1\0\0\0\1", 12);
	add_number(bytes, SAMPLES);
	add_number(bytes, 1);
	box_end(bytes, at);
	at = box_start(bytes, "stco");
	bytes_add(bytes, "\0\0\0\0\0\0\0\1", 8);
	add_number(bytes, data);
	box_end(bytes, at);
	box_end(bytes, stbl);
}

/* A file of sound. *data: where its first frame is. */
static struct bytes sound(uint32_t *data)
{
	struct bytes bytes = { 0 };
	size_t moov, trak, mdia, minf, mdat;

	/* The offset of the data is only known with the boxes before them. */
	for (*data = 0;; *data = (uint32_t)mdat + 8, bytes.len = 0) {
		add_box(&bytes, "ftyp", "M4A \0\0\0\0M4A ", 12);
		moov = box_start(&bytes, "moov");
		trak = box_start(&bytes, "trak");
		mdia = box_start(&bytes, "mdia");
		add_box(&bytes, "hdlr", "\0\0\0\0\0\0\0\0soun\0\0\0\0\0\0\0\0\0\0\0\0\0", 25);
		minf = box_start(&bytes, "minf");
		add_tables(&bytes, *data);
		box_end(&bytes, minf);
		box_end(&bytes, mdia);
		box_end(&bytes, trak);
		box_end(&bytes, moov);
		mdat = box_start(&bytes, "mdat");
		if (*data)
			break;
	}
	for (unsigned i = 0; i < REPEATS; i++)
		bytes_add(&bytes, aac_frames, sizeof(aac_frames));
	box_end(&bytes, mdat);
	return bytes;
}

/* Checks the file as one in two pieces; returns the bits that prove where they meet. */
static unsigned check_pieces(
	const struct bytes *bytes, uint64_t joint, enum verdict *verdict, uint64_t *length)
{
	const struct range runs[] = { { 0, joint }, { joint, bytes->len - joint } };
	struct memory_image evidence = MEMORY_IMAGE(bytes->data, bytes->len);
	struct view *view = view_new();
	struct finding found = { 0 };
	unsigned bits;

	view_point_runs(view, &evidence.image, runs, 2, bytes->len);
	view_set_thorough(view, true);
	*verdict = carver_find("mp4")->check(view, &found);
	*length = found.length;
	bits = view_proof(view, joint);
	view_free(view);
	return bits;
}

Test(aac, frames_prove_a_joint)
{
	uint32_t data;
	struct bytes bytes = sound(&data);
	enum verdict verdict;
	uint64_t length;

	cr_assert_geq(check_pieces(&bytes, data + 2000, &verdict, &length), 40);
	cr_expect_eq(verdict, CARVE_COMPLETE);
	cr_expect_eq(length, bytes.len);
	/* Nothing in moov is proved by frames. */
	cr_expect_eq(check_pieces(&bytes, 256, &verdict, &length), 0);
	/* Nor by those before the joint: its last bytes might be any. */
	cr_expect_eq(check_pieces(&bytes, bytes.len - 8, &verdict, &length), 0);
	free(bytes.data);
}

Test(aac, another_files_cluster_is_noticed)
{
	uint32_t data;
	struct bytes bytes = sound(&data);
	struct finding found = { 0 };
	enum verdict verdict;
	uint64_t length;
	struct view *view;

	memcpy(bytes.data + data + 2000, aac_others, 512);
	check_pieces(&bytes, data + 2000, &verdict, &length);
	cr_expect_eq(verdict, CARVE_TRUNCATED);
	cr_expect(length > data + 1500 && length < data + 2512);
	/* In one piece it does not matter where a frame's codes end. */
	view = view_new_memory(bytes.data, bytes.len);
	cr_expect_neq(carver_find("mp4")->check(view, &found), CARVE_REJECT);
	view_free(view);
	free(bytes.data);
}

/* First frames may be odd, but if many later ones are valid, they are another cluster's. */
Test(aac, first_frames_are_doubted)
{
	uint32_t data;
	struct bytes bytes = sound(&data);
	size_t second = data + aac_frames_lens[0];
	enum verdict verdict;
	uint64_t length;

	memcpy(bytes.data + second + 20, aac_others + 300, aac_frames_lens[1] - 22u);
	check_pieces(&bytes, data + 2000, &verdict, &length);
	cr_expect_eq(verdict, CARVE_TRUNCATED);
	cr_expect_eq(length, second);
	free(bytes.data);
}
