/* The parts of ISO base media files that several carvers share: boxes, samples, items. */
#include "carver_case.h"

#include "carvers/common/bmff_media.h"

/* Starts a box; box_end sets its size. */
static size_t box_start(struct bytes *bytes, const char *type)
{
	size_t at = bytes->len;

	bytes_fill(bytes, 0, 4);
	bytes_add(bytes, type, 4);
	return at;
}

static void box_end(struct bytes *bytes, size_t at)
{
	size_t len = bytes->len - at;

	for (int i = 0; i < 4; i++)
		bytes->data[at + (size_t)i] = (uint8_t)(len >> (24 - 8 * i));
}

static struct view *view_of(const struct bytes *bytes)
{
	return view_new_memory(bytes->data, bytes->len);
}

Test(bmff, a_box_in_each_form)
{
	static const uint8_t forms[] = "\0\0\0\x0c"
				       "freeABCD"
				       "\0\0\0\1mdat\0\0\0\0\0\0\0\x12xy"
				       "\0\0\0\0mdat1234567";
	struct bytes bytes = { 0 };
	struct bmff_box box;
	struct view *view;

	bytes_add(&bytes, forms, sizeof(forms) - 1);
	view = view_of(&bytes);
	cr_assert_eq(bmff_read(view, 0, bytes.len, &box), BMFF_BOX);
	cr_assert(box.data == 8 && box.end == 12 && !box.open);
	cr_assert_eq(bmff_read(view, 12, bytes.len, &box), BMFF_BOX);
	cr_assert(box.data == 28 && box.end == 30 && !box.open);
	cr_assert_eq(bmff_read(view, 30, bytes.len, &box), BMFF_BOX);
	cr_assert(box.data == 38 && box.end == bytes.len && box.open);
	cr_assert_eq(bmff_read(view, bytes.len, bytes.len, &box), BMFF_END);
	cr_assert_eq(bmff_read(view, 0, 11, &box), BMFF_CUT);
	cr_assert_eq(box.end, 12);
	cr_assert_eq(bmff_read(view, 0, 7, &box), BMFF_CUT);
	cr_assert_eq(bmff_read(view, 12, 20, &box), BMFF_CUT);
	cr_assert_eq(bmff_read(view, 8, bytes.len, &box), BMFF_NONE);
	/* 64 bits that would wrap around, and a size smaller than its own head. */
	memset(bytes.data + 20, 0xff, 8);
	cr_assert_eq(bmff_read(view, 12, bytes.len, &box), BMFF_NONE);
	bytes.data[3] = 7;
	cr_assert_eq(bmff_read(view, 0, bytes.len, &box), BMFF_NONE);
	view_free(view);
	free(bytes.data);
}

Test(bmff, boxes_have_to_fill_their_parent)
{
	struct bytes bytes = { 0 };
	size_t moov = box_start(&bytes, "moov"), trak, inner;
	struct bmff_box box;
	struct view *view;
	uint64_t broken;

	trak = box_start(&bytes, "trak");
	inner = box_start(&bytes, "tkhd");
	bytes_fill(&bytes, 7, 10);
	box_end(&bytes, inner);
	inner = box_start(&bytes, "udta");
	bytes_fill(&bytes, 0, 4);
	box_end(&bytes, inner);
	box_end(&bytes, trak);
	bytes_fill(&bytes, 0, 4); /* QuickTime's end of a list */
	box_end(&bytes, moov);
	view = view_of(&bytes);
	cr_assert_eq(bmff_read(view, 0, bytes.len, &box), BMFF_BOX);
	cr_assert(bmff_nested(view, &box, &broken));
	bytes.data[8 + 8 + 3] += 1;
	cr_assert_not(bmff_nested(view, &box, &broken));
	cr_assert_eq(broken, 16 + 19);
	view_free(view);
	free(bytes.data);
}

/* A track with these tables. bits: the width of each size in 'stz2'; 0: 'stsz' with sizes, all of
 * which are `fixed` unless that is 0. */
static void add_track(struct bytes *bytes, const uint32_t *runs, size_t run_count,
	const uint64_t *chunks, size_t chunk_count, bool wide, unsigned bits, uint32_t fixed,
	const uint8_t *sizes, size_t sizes_len, uint32_t sample_count)
{
	size_t trak = box_start(bytes, "trak"), mdia = box_start(bytes, "mdia"), at;
	size_t minf = box_start(bytes, "minf"), stbl = box_start(bytes, "stbl");

	at = box_start(bytes, "stsc");
	bytes_add_be(bytes, 0, 4);
	bytes_add_be(bytes, run_count, 4);
	for (size_t i = 0; i < run_count; i++) {
		bytes_add_be(bytes, runs[2 * i], 4);
		bytes_add_be(bytes, runs[2 * i + 1], 4);
		bytes_add_be(bytes, 1, 4);
	}
	box_end(bytes, at);
	at = box_start(bytes, bits ? "stz2" : "stsz");
	bytes_add_be(bytes, 0, 4);
	bytes_add_be(bytes, bits ? bits : fixed, 4);
	bytes_add_be(bytes, sample_count, 4);
	bytes_add(bytes, sizes, sizes_len);
	box_end(bytes, at);
	at = box_start(bytes, wide ? "co64" : "stco");
	bytes_add_be(bytes, 0, 4);
	bytes_add_be(bytes, chunk_count, 4);
	for (size_t i = 0; i < chunk_count; i++)
		bytes_add_be(bytes, chunks[i], wide ? 8 : 4);
	box_end(bytes, at);
	box_end(bytes, stbl);
	box_end(bytes, minf);
	box_end(bytes, mdia);
	box_end(bytes, trak);
}

struct seen {
	uint64_t offsets[8], lens[8];
	size_t count;
};

static void see(void *context, uint64_t offset, uint64_t len)
{
	struct seen *seen = context;

	if (seen->count < 8) {
		seen->offsets[seen->count] = offset;
		seen->lens[seen->count] = len;
	}
	seen->count++;
}

static bool read_samples(const struct bytes *bytes, struct seen *seen)
{
	struct view *view = view_of(bytes);
	struct bmff_track track;
	struct bmff_box trak;
	bool valid;

	memset(seen, 0, sizeof(*seen));
	cr_assert_eq(bmff_read(view, 0, bytes->len, &trak), BMFF_BOX);
	cr_assert(bmff_track_open(view, &trak, &track));
	valid = bmff_samples(view, &track, see, seen);
	view_free(view);
	return valid;
}

static void expect_samples(const struct bytes *bytes, const uint64_t (*want)[2], size_t count)
{
	struct seen seen;

	cr_assert(read_samples(bytes, &seen));
	cr_assert_eq(seen.count, count);
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(seen.offsets[i], want[i][0], "sample %zu at %zu", i,
			(size_t)seen.offsets[i]);
		cr_assert_eq(
			seen.lens[i], want[i][1], "sample %zu of %zu", i, (size_t)seen.lens[i]);
	}
}

Test(bmff, samples_of_runs_of_chunks)
{
	static const uint32_t runs[] = { 1, 2, 3, 1 };
	static const uint64_t chunks[] = { 100, 0x100000000, 300 };
	static const uint8_t sizes[] = "\0\0\0\5\0\0\0\6\0\0\0\7\0\0\1\0\0\0\0\1";
	static const uint64_t want[][2] = { { 100, 5 }, { 105, 6 }, { 0x100000000, 7 },
		{ 0x100000007, 256 }, { 300, 1 } };
	struct bytes bytes = { 0 };
	struct seen seen;

	add_track(&bytes, runs, 2, chunks, 3, true, 0, 0, sizes, 20, 5);
	expect_samples(&bytes, want, 5);
	/* Fewer sizes than samples. */
	bytes.len = 0;
	add_track(&bytes, runs, 2, chunks, 3, true, 0, 0, sizes, 16, 4);
	cr_assert_not(read_samples(&bytes, &seen));
	/* More sizes counted than the box contains. */
	bytes.len = 0;
	add_track(&bytes, runs, 2, chunks, 3, true, 0, 0, sizes, 16, 5);
	cr_assert_not(read_samples(&bytes, &seen));
	free(bytes.data);
}

Test(bmff, sizes_of_4_8_and_16_bits)
{
	static const uint32_t runs[] = { 1, 3 };
	static const uint64_t chunks[] = { 1000 };
	static const uint64_t narrow[][2] = { { 1000, 1 }, { 1001, 2 }, { 1003, 15 } };
	static const uint64_t wide[][2] = { { 1000, 0x12 }, { 1018, 0xf0 }, { 1258, 0x34 } };
	static const uint64_t wider[][2] = { { 1000, 0x12f0 }, { 5848, 0x3456 },
		{ 19246, 0x789a } };
	struct bytes bytes = { 0 };

	add_track(&bytes, runs, 1, chunks, 1, false, 4, 0, (const uint8_t *)"\x12\xf0", 2, 3);
	expect_samples(&bytes, narrow, 3);
	bytes.len = 0;
	add_track(&bytes, runs, 1, chunks, 1, false, 8, 0, (const uint8_t *)"\x12\xf0\x34", 3, 3);
	expect_samples(&bytes, wide, 3);
	bytes.len = 0;
	add_track(&bytes, runs, 1, chunks, 1, false, 16, 0,
		(const uint8_t *)"\x12\xf0\x34\x56\x78\x9a", 6, 3);
	expect_samples(&bytes, wider, 3);
	free(bytes.data);
}

Test(bmff, samples_of_one_size_come_by_the_chunk)
{
	static const uint32_t runs[] = { 1, 1000000 };
	static const uint64_t chunks[] = { 10, 20 };
	static const uint64_t want[][2] = { { 10, 4000000 }, { 20, 4000000 } };
	struct bytes bytes = { 0 };
	struct seen seen;

	add_track(&bytes, runs, 1, chunks, 2, false, 0, 4, NULL, 0, 2000000);
	expect_samples(&bytes, want, 2);
	bytes.len = 0;
	add_track(&bytes, runs, 1, chunks, 2, false, 0, 4, NULL, 0, 1999999);
	cr_assert_not(read_samples(&bytes, &seen));
	free(bytes.data);
}

/* More entries than a table's buffer holds. */
Test(bmff, tables_are_read_piece_by_piece)
{
	static const uint32_t runs[] = { 1, 1 };
	static uint64_t chunks[3000];
	static uint8_t sizes[12000];
	struct bytes bytes = { 0 };
	struct seen seen;

	for (size_t i = 0; i < 3000; i++) {
		chunks[i] = 10 * i;
		sizes[4 * i + 3] = 9;
	}
	add_track(&bytes, runs, 1, chunks, 3000, true, 0, 0, sizes, 12000, 3000);
	cr_assert(read_samples(&bytes, &seen));
	cr_assert_eq(seen.count, 3000);
	cr_assert(seen.offsets[7] == 70 && seen.lens[7] == 9);
	free(bytes.data);
}

static void nal_expect(
	const char *bytes, size_t len, bool valid, uint64_t confirmed, uint64_t broken)
{
	const struct bmff_coding coding = { .type = BMFF('h', 'v', 'c', '1'), .nal_len = 2 };
	struct view *view = view_new_memory((const uint8_t *)bytes, len);
	uint64_t confirmed_at, broken_at = 0;

	cr_assert_eq(bmff_coded(view, &coding, 0, len, &confirmed_at, &broken_at), valid);
	cr_assert_eq(confirmed_at, confirmed, "confirmed %zu", (size_t)confirmed_at);
	if (!valid)
		cr_assert_eq(broken_at, broken, "broken %zu", (size_t)broken_at);
	view_free(view);
}

Test(bmff, nal_units_have_to_fill_their_sample)
{
	nal_expect("\0\3\x26\1A\0\2\x4a\1", 9, true, 9, 0);
	nal_expect("\0\3\x26\1A\0\3\x4a\1", 9, false, 4, 5);
	nal_expect("\0\3\xa6\1A", 5, false, 0, 0);
	nal_expect("\0\3\x26\0A", 5, false, 0, 0);
	nal_expect("\0\3\x26\1AB", 6, false, 4, 5);
	/* Units of Dolby Vision, and of a type that H.265 leaves open. */
	nal_expect("\0\3\x26\1A\0\2\x7c\1\0\2\x7e\1", 13, true, 13, 0);
	nal_expect("\0\3\x26\1A\0\2\x78\1", 9, false, 4, 5);
}

/* Where the data breaks off: samples of 16 bytes, of which the first has the start and the others have not. */
static uint64_t broken_after_one(uint32_t type, const char *start, size_t len)
{
	struct bytes bytes = { 0 };
	struct bmff_stream stream = { .type = type };
	struct sample_chain chain = { 0 };
	uint64_t confirmed, broken = 0;
	struct view *view;
	bool valid = true;

	bytes_add(&bytes, start, len);
	bytes_fill(&bytes, 0xe5, 48 - len);
	view = view_of(&bytes);
	for (uint64_t at = 0; at < 48 && valid; at += 16)
		valid = bmff_stream_check(view, &stream, &chain, at, 16, &confirmed, &broken);
	view_free(view);
	free(bytes.data);
	return valid ? 48 : broken;
}

/* Of a short film few samples may be before other bytes. */
Test(bmff, one_start_code_shows_that_the_coding_applies)
{
	cr_expect_eq(broken_after_one(BMFF('m', 'p', '4', 'v'), "\0\0\1\xb6", 4), 16);
	cr_expect_eq(broken_after_one(BMFF('a', 'c', '-', '3'), "\x0b\x77", 2), 48);
}
