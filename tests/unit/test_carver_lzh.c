/* Archives of LHA and ARJ in pieces: their members' CRCs prove joints. */
#include <zlib.h>

#include "carvers/common/crc16_arc.h"
#include "joints_case.h"

#define PLAIN_LEN 3000

/* ---- encoders ------------------------------------------------------------------------------- */

struct writer {
	struct bytes bytes;
	unsigned held, count; /* bits */
};

static void put(struct writer *writer, unsigned value, unsigned count)
{
	while (count--) {
		writer->held = writer->held << 1 | (value >> count & 1);
		if (++writer->count == 8) {
			bytes_fill(&writer->bytes, (uint8_t)writer->held, 1);
			writer->held = writer->count = 0;
		}
	}
}

static void end_bits(struct writer *writer)
{
	while (writer->count)
		put(writer, 0, 1);
}

/* The codes of a block: 7 bits after a 0 for bytes below 128, after a 1 for lengths from 3 on; a bit for a distance of 1, or for one from 9
 * to 16. */
static void put_codes(struct writer *writer, unsigned symbols, unsigned count_bits)
{
	put(writer, symbols, 16);
	/* The code of lengths has two: that of a row of 0, and 8. */
	put(writer, 11, 5);
	put(writer, 0, 6);
	put(writer, 1, 3);
	put(writer, 3, 2);
	put(writer, 0, 12);
	put(writer, 1, 3);
	put(writer, 384, 9);
	for (int i = 0; i < 128; i++)
		put(writer, 1, 1);
	put(writer, 0, 1);
	put(writer, 128 - 20, 9);
	for (int i = 0; i < 128; i++)
		put(writer, 1, 1);
	put(writer, 5, count_bits);
	put(writer, 1, 3);
	put(writer, 0, 9);
	put(writer, 1, 3);
}

/* How a repetition, or a byte, is written. */
struct step {
	unsigned len, distance; /* len 0: a byte */
	uint8_t byte;
};

/* The steps of some text. */
static size_t make_steps(struct step *steps, struct bytes *plain)
{
	size_t count = 0;

	for (unsigned i = 0; plain->len < PLAIN_LEN; i++, count++) {
		struct step *step = &steps[count];

		*step = (struct step){ .byte = (uint8_t)(32 + i * i * 7 % 90) };
		if (i < 20 || i % 5) {
			bytes_fill(plain, step->byte, 1);
			continue;
		}
		step->len = 3 + i % 11;
		step->distance = i % 2 ? 1 : 9 + i % 8;
		for (unsigned n = 0; n < step->len; n++)
			bytes_fill(plain, plain->data[plain->len - step->distance], 1);
	}
	return count;
}

static struct bytes encode(const struct step *steps, size_t count, unsigned count_bits)
{
	struct writer writer = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct step *step = &steps[i];

		if (i % 200 == 0)
			put_codes(
				&writer, count - i < 200 ? (unsigned)(count - i) : 200, count_bits);
		put(&writer, step->len ? 0x80 + step->len - 3 : step->byte, 8);
		if (step->len && step->distance == 1)
			put(&writer, 0, 1);
		else if (step->len)
			put(&writer, 8 + step->distance - 9, 4);
	}
	end_bits(&writer);
	return writer.bytes;
}

/* ARJ's method 4. */
static struct bytes encode_fast(const struct step *steps, size_t count)
{
	struct writer writer = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct step *step = &steps[i];
		unsigned number = step->len ? step->len - 2 : 0, width = 0;

		if (!number) {
			put(&writer, step->byte, 9);
			continue;
		}
		while (number >= (2u << width) - 1)
			width++;
		put(&writer, (1u << (width + 1)) - 2, width + 1);
		put(&writer, number - ((1u << width) - 1), width);
		put(&writer, step->distance - 1, 10);
	}
	end_bits(&writer);
	return writer.bytes;
}

/* ---- archives ------------------------------------------------------------------------------- */

static void add_le(struct bytes *bytes, uint32_t value, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		bytes_fill(bytes, (uint8_t)(value >> 8 * i), 1);
}

static void add_arj_header(struct bytes *arj, uint8_t flags, uint8_t method, uint8_t type,
	const struct bytes *data, const struct bytes *plain)
{
	struct bytes header = { 0 };

	bytes_add(&header, "\36\13\1\2", 4);
	bytes_fill(&header, flags, 1);
	bytes_fill(&header, method, 1);
	bytes_fill(&header, type, 1);
	add_le(&header, 0, 1);
	add_le(&header, 0x50215821, 4);
	add_le(&header, data ? (uint32_t)data->len : 0, 4);
	add_le(&header, plain ? (uint32_t)plain->len : 0, 4);
	add_le(&header, plain ? (uint32_t)crc32(0, plain->data, (uInt)plain->len) : 0, 4);
	bytes_add(&header, "\0\0\0\0\0\0a\0\0", 9);
	bytes_add(arj, "\x60\xea", 2);
	add_le(arj, (uint32_t)header.len, 2);
	bytes_add(arj, header.data, header.len);
	add_le(arj, (uint32_t)crc32(0, header.data, (uInt)header.len), 4);
	add_le(arj, 0, 2);
	free(header.data);
}

/* Two members. */
static struct bytes make_arj(
	uint8_t flags, uint8_t method, const struct bytes *data, const struct bytes *plain)
{
	struct bytes arj = { 0 };

	add_arj_header(&arj, 0, 0, 2, NULL, NULL);
	for (int i = 0; i < 2; i++) {
		add_arj_header(&arj, flags, method, 0, data, plain);
		bytes_add(&arj, data->data, data->len);
	}
	bytes_add(&arj, "\x60\xea\0\0", 4);
	return arj;
}

static struct bytes make_lzh(
	const char *method, const struct bytes *data, const struct bytes *plain)
{
	struct bytes lzh = { 0 };
	uint8_t sum = 0;

	bytes_add(&lzh, "\x17\0", 2);
	bytes_add(&lzh, method, 5);
	add_le(&lzh, (uint32_t)data->len, 4);
	add_le(&lzh, (uint32_t)plain->len, 4);
	add_le(&lzh, 0x50215821, 4);
	bytes_add(&lzh, "\x20\0\1a", 4);
	add_le(&lzh, crc16_arc(0, plain->data, plain->len), 2);
	for (size_t i = 2; i < lzh.len; i++)
		sum += lzh.data[i];
	lzh.data[1] = sum;
	bytes_add(&lzh, data->data, data->len);
	bytes_fill(&lzh, 0, 1);
	return lzh;
}

/* The bits of a joint in the first member, if the archive is complete; and that a wrong bit is noticed if proof is asked for. */
static unsigned prove(const char *carver, struct bytes *archive)
{
	const uint64_t joint = 900;
	unsigned bits;

	cr_expect_eq(prove_joints(carver, archive, &joint, 1, true, &bits), CARVE_COMPLETE);
	archive->data[1000] ^= 1;
	cr_expect_eq(
		prove_joints(carver, archive, &joint, 1, false, &(unsigned){ 0 }), CARVE_COMPLETE);
	if (bits)
		cr_expect_eq(prove_joints(carver, archive, &joint, 1, true, &(unsigned){ 0 }),
			CARVE_TRUNCATED);
	free(archive->data);
	return bits;
}

enum { CRC16 = 16, CRC32 = 32, ENDS = 10, LINK = 32 };

Test(carver_lzh, crcs_of_members_prove_joints)
{
	struct step steps[PLAIN_LEN];
	struct bytes plain = { 0 }, four, five, archive;
	size_t count = make_steps(steps, &plain);

	four = encode(steps, count, 4);
	five = encode(steps, count, 5);
	archive = make_lzh("-lh5-", &four, &plain);
	cr_expect_eq(prove("lzh", &archive), CRC16 + ENDS);
	archive = make_lzh("-lh6-", &five, &plain);
	cr_expect_eq(prove("lzh", &archive), CRC16 + ENDS);
	archive = make_lzh("-lh7-", &five, &plain);
	cr_expect_eq(prove("lzh", &archive), CRC16 + ENDS);
	archive = make_lzh("-lh0-", &plain, &plain);
	cr_expect_eq(prove("lzh", &archive), CRC16);
	/* Nothing decompresses it here. */
	archive = make_lzh("-lh1-", &five, &plain);
	cr_expect_eq(prove("lzh", &archive), 0);
	free(plain.data);
	free(four.data);
	free(five.data);
}

/* A few bytes, whose codes need no bits, stand for megabytes: that counts as work. */
Test(carver_lzh, what_comes_of_codes_counts)
{
	struct writer writer = { 0 };
	struct bytes plain = { 0 }, archive;
	struct finding found = { 0 };
	struct view *view;

	put(&writer, 40000, 16);
	put(&writer, 0, 10);
	put(&writer, 0, 9);
	put(&writer, 509, 9);
	put(&writer, 0, 8);
	end_bits(&writer);
	bytes_fill(&plain, ' ', 40000 * 256);
	archive = make_lzh("-lh5-", &writer.bytes, &plain);
	view = view_new_memory(archive.data, archive.len);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("lzh")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_gt(view_work_done(view), plain.len / 32);
	view_free(view);
	free(plain.data);
	free(archive.data);
	free(writer.bytes.data);
}

Test(carver_arj, crcs_of_members_prove_joints)
{
	struct step steps[PLAIN_LEN];
	struct bytes plain = { 0 }, data, fast, archive;
	size_t count = make_steps(steps, &plain);

	data = encode(steps, count, 5);
	fast = encode_fast(steps, count);
	for (uint8_t method = 1; method <= 3; method++) {
		archive = make_arj(0, method, &data, &plain);
		cr_expect_eq(prove("arj", &archive), CRC32 + ENDS + LINK);
	}
	archive = make_arj(0, 4, &fast, &plain);
	cr_expect_eq(prove("arj", &archive), CRC32 + ENDS + LINK);
	archive = make_arj(0, 0, &plain, &plain);
	cr_expect_eq(prove("arj", &archive), CRC32 + LINK);
	/* Encrypted. */
	archive = make_arj(1, 1, &data, &plain);
	cr_expect_eq(prove("arj", &archive), 0);
	free(plain.data);
	free(data.data);
	free(fast.data);
}

/* Foreign bytes are noticed soon after they begin. */
Test(carver_arj, a_wrong_piece_is_noticed)
{
	struct step steps[PLAIN_LEN];
	struct bytes plain = { 0 }, data, archive;
	size_t count = make_steps(steps, &plain);
	struct finding found = { 0 };
	struct view *view;

	data = encode(steps, count, 5);
	archive = make_arj(0, 1, &data, &plain);
	for (size_t i = 900; i < 1400; i++)
		archive.data[i] = (uint8_t)(i * i * 31 >> 3);
	view = view_new_memory(archive.data, archive.len);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("arj")->check(view, &found), CARVE_TRUNCATED);
	cr_expect(found.length > 900 && found.length < 1400, "%d", (int)found.length);
	view_free(view);
	/* As is where the view ends. */
	found = (struct finding){ 0 };
	view = view_new_memory(archive.data, 850);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("arj")->check(view, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, 850);
	view_free(view);
	free(plain.data);
	free(data.data);
	free(archive.data);
}

/* Which CRC of stored data does not agree, and what follows it. */
Test(carver_arj, a_sum_shows_where_stored_data_breaks_off)
{
	struct step steps[PLAIN_LEN];
	struct bytes plain = { 0 }, archive;
	struct carve_sum sum = { 0 };
	struct view *view;

	make_steps(steps, &plain);
	archive = make_arj(0, 0, &plain, &plain);
	view = view_new_memory(archive.data, archive.len);
	cr_expect_not(carver_find("arj")->map->sum(view, &sum));
	archive.data[1000] ^= 1;
	cr_expect(carver_find("arj")->map->sum(view, &sum));
	cr_expect_eq(sum.to - sum.from, plain.len);
	cr_expect_eq(sum.after, ~(uint32_t)crc32(0, plain.data, (uInt)plain.len));
	cr_expect_eq(sum.next_count, 1);
	cr_expect_eq(sum.next[0].offset, sum.to);
	cr_expect(carver_find("arj")->map->fits(view, sum.to, &sum.next[0]));
	cr_expect_not(carver_find("arj")->map->fits(view, sum.to + 1, &sum.next[0]));
	view_free(view);
	free(plain.data);
	free(archive.data);
}
