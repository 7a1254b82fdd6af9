/* RAR 5 archives in pieces: what their files unpack to proves joints. */
#include <zlib.h>

#include "joints_case.h"

#define PLAIN_LEN 4000
#define FILTERED 1200 /* where programs begin, and differences then */

/* ---- an encoder ----------------------------------------------------------------------------- */

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

/* Codes with as many bits for each symbol: 9 for bytes and so on, 6 for distances, 4 for their lowest bits, 6 for lengths. */
static void put_codes(struct writer *writer)
{
	for (unsigned i = 0; i < 20; i++)
		put(writer, i == 4 || i == 6 || i == 9 ? 2 : 0, 4);
	for (unsigned i = 0; i < 306; i++)
		put(writer, 2, 2);
	for (unsigned i = 0; i < 64; i++)
		put(writer, 1, 2);
	for (unsigned i = 0; i < 16; i++)
		put(writer, 0, 2);
	for (unsigned i = 0; i < 44; i++)
		put(writer, 1, 2);
}

static void put_number(struct writer *writer, unsigned number)
{
	put(writer, 1, 2);
	put(writer, number & 0xff, 8);
	put(writer, number >> 8, 8);
}

static void put_filter(struct writer *writer, unsigned from, unsigned len, unsigned kind)
{
	put(writer, 256, 9);
	put_number(writer, from);
	put_number(writer, len);
	put(writer, kind, 3);
	if (kind == 0)
		put(writer, 3 - 1, 5);
}

/* Ends a block, and adds it to the others. */
static void add_block(struct bytes *data, struct writer *writer, bool has_codes, bool is_last)
{
	unsigned flags = writer->count ? writer->count - 1 : 7, len;

	while (writer->count)
		put(writer, 0, 1);
	len = (unsigned)writer->bytes.len;
	flags |= 1 << 3 | (is_last ? 0x40 : 0) | (has_codes ? 0x80 : 0);
	bytes_fill(data, (uint8_t)flags, 1);
	bytes_fill(data, (uint8_t)(0x5a ^ flags ^ len ^ len >> 8), 1);
	bytes_fill(data, (uint8_t)len, 1);
	bytes_fill(data, (uint8_t)(len >> 8), 1);
	bytes_add(data, writer->bytes.data, len);
	writer->bytes.len = 0;
}

/* Repeats len bytes from so far before. */
static void copy(struct bytes *plain, unsigned len, unsigned distance)
{
	while (len--)
		bytes_fill(plain, plain->data[plain->len - distance], 1);
}

static void put_byte(struct writer *writer, struct bytes *plain, uint8_t byte)
{
	put(writer, byte, 9);
	bytes_fill(plain, byte, 1);
}

/* A repetition of 2 to 9 bytes at a distance of 33 to 48, or at one of at most 4. */
static void put_repeat(struct writer *writer, struct bytes *plain, unsigned len, unsigned distance)
{
	put(writer, 262 + len - 2, 9);
	put(writer, distance > 4 ? 10 : distance - 1, 6);
	if (distance > 4)
		put(writer, distance - 33, 4);
	copy(plain, len, distance);
}

/* What is unpacked before filters, in two blocks; the second keeps the codes. */
static struct bytes encode(struct bytes *plain, bool has_filters)
{
	struct writer writer = { 0 };
	struct bytes data = { 0 };

	put_codes(&writer);
	if (has_filters) {
		put_filter(&writer, FILTERED, 300, 2);
		put_filter(&writer, FILTERED + 300, 300, 0);
		put_filter(&writer, FILTERED + 600, 300, 3);
	}
	for (unsigned i = 0; plain->len < PLAIN_LEN; i++) {
		unsigned last = 33 + i % 16;

		if (i == 700) {
			add_block(&data, &writer, true, false);
		}
		put_byte(&writer, plain, (uint8_t)(i % 9 ? i * i * 7 >> 2 : i % 2 ? 0xe8 : 0xeb));
		if (i < 50 || i % 4)
			continue;
		put_repeat(&writer, plain, 2 + i % 8, i % 3 ? last : 1 + i % 4);
		/* The last but one distance, and the same again: */
		if (i % 3 && i % 5 == 0) {
			put_repeat(&writer, plain, 3, 2);
			put(&writer, 258 + 1, 9);
			put(&writer, 1, 6);
			copy(plain, 3, last);
			put(&writer, 257, 9);
			copy(plain, 3, last);
		}
	}
	add_block(&data, &writer, false, true);
	free(writer.bytes.data);
	return data;
}

/* What the filters come to. */
static void filter(struct bytes *plain)
{
	uint8_t *p = plain->data + FILTERED, *from = p + 300, sums[300];

	for (unsigned at = 0; at + 5 <= 300;) {
		uint8_t byte = p[at++];
		uint32_t address = p[at] | p[at + 1] << 8 | p[at + 2] << 16 |
				   (uint32_t)p[at + 3] << 24,
			 here = FILTERED + at;

		if (byte != 0xe8 && byte != 0xe9)
			continue;
		if (address < 1 << 24)
			address -= here;
		else if (address >= 0u - here)
			address += 1 << 24;
		for (unsigned i = 0; i < 4; i++)
			p[at + i] = (uint8_t)(address >> 8 * i);
		at += 4;
	}
	for (unsigned channel = 0, at = 0; channel < 3; channel++)
		for (unsigned i = channel; i < 300; i += 3)
			sums[i] = (uint8_t)((i < 3 ? 0 : sums[i - 3]) - from[at++]);
	memcpy(from, sums, 300);
	p += 600;
	for (unsigned at = 0; at < 300; at += 4) {
		uint32_t address = p[at] | p[at + 1] << 8 | p[at + 2] << 16;

		if (p[at + 3] != 0xeb)
			continue;
		address -= (FILTERED + 600 + at) / 4;
		for (unsigned i = 0; i < 3; i++)
			p[at + i] = (uint8_t)(address >> 8 * i);
	}
}

/* ---- archives ------------------------------------------------------------------------------- */

static void add_number(struct bytes *bytes, uint64_t number)
{
	for (; number > 127; number >>= 7)
		bytes_fill(bytes, (uint8_t)(number | 0x80), 1);
	bytes_fill(bytes, (uint8_t)number, 1);
}

static void add_header(struct bytes *rar, const struct bytes *header)
{
	struct bytes all = { 0 };
	uint32_t crc;

	add_number(&all, header->len);
	bytes_add(&all, header->data, header->len);
	crc = (uint32_t)crc32(0, all.data, (uInt)all.len);
	for (int i = 0; i < 4; i++)
		bytes_fill(rar, (uint8_t)(crc >> 8 * i), 1);
	bytes_add(rar, all.data, all.len);
	free(all.data);
}

/* packing: as the header has it: the method from bit 7 on, 40h for solid archives. */
static struct bytes make_rar(const struct bytes *data, const struct bytes *plain, unsigned packing)
{
	struct bytes rar = { 0 }, header = { 0 };
	uint32_t crc = (uint32_t)crc32(0, plain->data, (uInt)plain->len);

	bytes_add(&rar, "Rar!\x1a\7\1", 8);
	bytes_add(&header, "\1\0\0", 3);
	add_header(&rar, &header);
	header.len = 0;
	bytes_add(&header, "\2\2", 2);
	add_number(&header, data->len);
	bytes_fill(&header, 4, 1);
	add_number(&header, plain->len);
	bytes_fill(&header, 0x20, 1);
	for (int i = 0; i < 4; i++)
		bytes_fill(&header, (uint8_t)(crc >> 8 * i), 1);
	add_number(&header, packing);
	bytes_add(&header, "\0\1a", 3);
	add_header(&rar, &header);
	bytes_add(&rar, data->data, data->len);
	header.len = 0;
	bytes_add(&header, "\5\0\0", 3);
	add_header(&rar, &header);
	free(header.data);
	return rar;
}

enum { JOINT = 1500, BITS = 32 + 16 };

/* The bits of a joint, and the verdict once a byte after it is wrong. */
static unsigned prove(
	const struct bytes *data, const struct bytes *plain, unsigned packing, enum verdict *wrong)
{
	struct bytes rar = make_rar(data, plain, packing);
	const uint64_t joint = JOINT;
	unsigned bits, ignored;

	cr_expect_eq(prove_joints("rar", &rar, &joint, 1, true, &bits), CARVE_COMPLETE);
	rar.data[JOINT + 200] ^= 0x11;
	*wrong = prove_joints("rar", &rar, &joint, 1, true, &ignored);
	cr_expect_eq(prove_joints("rar", &rar, &joint, 1, false, &ignored), CARVE_COMPLETE);
	free(rar.data);
	return bits;
}

Test(carver_rar, what_is_unpacked_proves_joints)
{
	struct bytes plain = { 0 }, data = encode(&plain, false);
	enum verdict wrong;

	cr_expect_eq(prove(&data, &plain, 3 << 7, &wrong), BITS);
	cr_expect_eq(wrong, CARVE_TRUNCATED);
	/* In a solid archive files before it are needed. */
	cr_expect_eq(prove(&data, &plain, 3 << 7 | 0x40, &wrong), 0);
	cr_expect_eq(wrong, CARVE_COMPLETE);
	free(plain.data);
	free(data.data);
}

Test(carver_rar, filters_are_undone)
{
	struct bytes plain = { 0 }, data = encode(&plain, true);
	enum verdict wrong;

	filter(&plain);
	cr_expect_eq(prove(&data, &plain, 3 << 7, &wrong), BITS);
	free(plain.data);
	free(data.data);
}

Test(carver_rar, a_wrong_piece_is_noticed)
{
	struct bytes plain = { 0 }, data = encode(&plain, false),
		     rar = make_rar(&data, &plain, 3 << 7);
	struct finding found = { 0 };
	struct view *view;

	for (size_t i = JOINT; i < JOINT + 512; i++)
		rar.data[i] = (uint8_t)(i * i * 31 >> 3);
	view = view_new_memory(rar.data, rar.len);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("rar")->check(view, &found), CARVE_TRUNCATED);
	cr_expect(found.length >= JOINT && found.length < JOINT + 512, "%d", (int)found.length);
	view_free(view);
	free(plain.data);
	free(data.data);
	free(rar.data);
}

/* Which CRC of stored data does not agree. */
Test(carver_rar, a_sum_shows_where_stored_data_breaks_off)
{
	struct bytes plain = { 0 }, data = encode(&plain, false), rar = make_rar(&plain, &plain, 0);
	struct carve_sum sum = { 0 };
	struct view *view = view_new_memory(rar.data, rar.len);

	cr_expect_not(carver_find("rar")->map->sum(view, &sum));
	rar.data[JOINT] ^= 1;
	cr_expect(carver_find("rar")->map->sum(view, &sum));
	cr_expect_eq(sum.to - sum.from, plain.len);
	cr_expect_eq(sum.after, ~(uint32_t)crc32(0, plain.data, (uInt)plain.len));
	view_free(view);
	free(plain.data);
	free(data.data);
	free(rar.data);
}

/* A trial ends where a CRC is wrong; else the archive may be right but for that. */
Test(carver_rar, a_trial_ends_at_a_wrong_sum)
{
	struct bytes rar = bytes_of_file("tests/golden/rar/five-part-damaged.rar");

	for (int is_trial = 0; is_trial < 2; is_trial++) {
		struct view *view = view_new_memory(rar.data, rar.len);
		struct finding found = { 0 };

		view_set_trial(view, is_trial);
		cr_expect_eq(carver_find("rar")->check(view, &found),
			is_trial ? CARVE_TRUNCATED : CARVE_UNVERIFIED);
		cr_expect_eq(found.length, is_trial ? 47 : rar.len);
		view_free(view);
	}
	free(rar.data);
}
