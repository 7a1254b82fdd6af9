/* PE files in pieces: code that other tables say something of. */
#include "bytes.h"
#include "joints_case.h"

enum { CODE_AT = 1024, CODE_LEN = 8192, TABLE_LEN = 2048, STEP = 64 };
enum { PLACES = CODE_LEN / STEP, TABLE_AT = CODE_AT + CODE_LEN, BASE = 0x400000 };

static void add_section(uint8_t *p, uint32_t address, uint32_t at, uint32_t len, uint32_t flags)
{
	put_le(p + 8, len, 4);
	put_le(p + 12, address, 4);
	put_le(p + 16, len, 4);
	put_le(p + 20, at, 4);
	put_le(p + 36, flags, 4);
}

/* A program with a section of code at 0x1000, and one at 0x4000 with relocations of addresses in it, or with functions that make
 * room on the stack; then it ends with relocations of nothing. */
static struct bytes program(bool is_wide)
{
	struct bytes made = { 0 };
	uint8_t *p, *optional, *sections, *table;

	bytes_add_random(&made, 5, TABLE_AT + TABLE_LEN);
	p = made.data;
	memset(p, 0, CODE_AT);
	memset(p + TABLE_AT, 0, TABLE_LEN);
	memcpy(p, "MZ", 2);
	p[60] = 64;
	memcpy(p + 64, "PE\0\0", 4);
	put_le(p + 68, is_wide ? 0x8664 : 0x14c, 2);
	p[70] = 2;
	p[84] = 240;
	put_le(p + 86, 0x2102, 2);
	optional = p + 88;
	put_le(optional, is_wide ? 0x20b : 0x10b, 2);
	put_le(optional + (is_wide ? 24 : 28), BASE, 4);
	put_le(optional + 32, 4096, 4);
	put_le(optional + 36, 512, 4);
	put_le(optional + 56, 0x6000, 4);
	put_le(optional + 60, CODE_AT, 4);
	optional[68] = 3;
	optional[is_wide ? 108 : 92] = 16;
	sections = optional + 240;
	add_section(sections, 0x1000, CODE_AT, CODE_LEN, 0x60000020);
	add_section(sections + 40, 0x4000, TABLE_AT, TABLE_LEN, 0x42000040);
	table = p + TABLE_AT;
	optional += is_wide ? 112 : 96;
	for (uint32_t i = 0, page = 0, at = 0; i < PLACES; i++) {
		uint32_t address = 0x1000 + STEP * i;
		uint8_t *place = p + CODE_AT + STEP * i;

		if (is_wide) {
			memcpy(place, "\x48\x83\xec\x28", 4);
			put_le(table + 12 * i, address, 4);
			put_le(table + 12 * i + 4, address + 40, 4);
			put_le(table + 12 * i + 8, 0x4000 + 12 * PLACES, 4);
			continue;
		}
		put_le(place, BASE + 0x1000 + i, 4);
		if (i % (4096 / STEP) == 0) {
			page = at;
			put_le(table + page, address, 4);
			at += 8;
		}
		put_le(table + at, 0x3000 | (address & 0xfff), 2);
		at += 2;
		put_le(table + page + 4, at - page, 4);
		put_le(optional + 8 * 5, 0x4000, 4);
		put_le(optional + 8 * 5 + 4, at, 4);
	}
	if (is_wide) {
		memcpy(table + 12 * PLACES, "\1\4\1\0\4\x42", 6); /* 40 bytes, after 4 */
		put_le(optional + 8 * 3, 0x4000, 4);
		put_le(optional + 8 * 3 + 4, 12 * PLACES, 4);
		put_le(table + TABLE_LEN - 12 + 4, 12, 4);
		put_le(optional + 8 * 5, 0x4000 + TABLE_LEN - 12, 4);
		put_le(optional + 8 * 5 + 4, 12, 4);
	}
	return made;
}

static enum verdict check_thoroughly(const struct bytes *bytes, struct finding *found)
{
	return carve_thoroughly("pe", bytes->data, bytes->len, found);
}

Test(carver_pe, tables_prove_joints_in_code)
{
	for (int is_wide = 0; is_wide < 2; is_wide++) {
		struct bytes bytes = program(is_wide);
		uint64_t joints[] = { CODE_AT, CODE_AT + 4096 + 20 };
		struct finding found;
		unsigned bits[2];

		cr_assert_eq(carve("pe", bytes.data, bytes.len, &found), CARVE_COMPLETE, "%s",
			found.why);
		cr_assert_eq(prove_joints("pe", &bytes, joints, 2, true, bits), CARVE_COMPLETE);
		cr_expect_eq(bits[0], 0); /* before the code */
		cr_expect_gt(bits[1], 25, "%u", bits[1]);
		/* One wrong place is tolerated, but proves nothing. */
		bytes.data[CODE_AT + 10 * STEP + 3] ^= 0x77;
		cr_assert_eq(prove_joints("pe", &bytes, joints, 2, true, bits), CARVE_COMPLETE);
		cr_expect_eq(bits[1], 0);
		free(bytes.data);
	}
}

Test(carver_pe, others_code_is_noticed_in_pieces)
{
	for (int is_wide = 0; is_wide < 2; is_wide++) {
		struct bytes bytes = program(is_wide);
		uint64_t at = CODE_AT + 3072;
		struct finding found;

		memset(bytes.data + at, 'x', 512);
		cr_expect_eq(carve("pe", bytes.data, bytes.len, &found), CARVE_UNVERIFIED);
		cr_expect_eq(found.length, bytes.len);
		cr_expect_eq(check_thoroughly(&bytes, &found), CARVE_TRUNCATED);
		cr_expect_eq(found.length, at, "%llu", (unsigned long long)found.length);
		free(bytes.data);
	}
}

enum { FUNCTION_LEN = 32, FUNCTIONS = CODE_LEN / FUNCTION_LEN };

/* A program without relocations of its code, whose functions call each other, `off` bytes after where they begin. */
static struct bytes calling_program(uint32_t off)
{
	struct bytes made = program(true);
	uint8_t *optional = made.data + 88;

	put_le(optional + 112 + 8 * 3, 0, 8); /* no functions in the table */
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint8_t *function = made.data + CODE_AT + FUNCTION_LEN * i;
		uint32_t other = (i * 7 + FUNCTIONS / 2) % FUNCTIONS;

		memset(function, 0x40 + i % 8, FUNCTION_LEN - 1);
		function[FUNCTION_LEN - 1] = 0xc3;
		function[4] = 0xe8;
		put_le(function + 5, (other - i) * FUNCTION_LEN - 9 + off, 4);
	}
	return made;
}

/* Checks it with len bytes of its code, from `at` on, replaced. */
static enum verdict check_with(
	uint32_t at, const uint8_t *with, uint32_t len, bool thorough, struct finding *found)
{
	struct bytes bytes = calling_program(0);
	enum verdict verdict;

	memcpy(bytes.data + at, with, len);
	verdict = thorough ? check_thoroughly(&bytes, found)
			   : carve("pe", bytes.data, bytes.len, found);
	free(bytes.data);
	return verdict;
}

Test(carver_pe, calls_lead_to_functions)
{
	struct bytes own = calling_program(0), other = calling_program(5);
	uint32_t at = CODE_AT + 4096;
	struct finding found;

	cr_expect_eq(
		check_with(at, own.data + at, 512, false, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(check_with(at, own.data + at, 512, true, &found), CARVE_COMPLETE);
	cr_expect_eq(check_with(at, other.data + at, 512, false, &found), CARVE_UNVERIFIED);
	cr_expect_eq(found.length, own.len);
	cr_expect_eq(check_with(at, other.data + at, 512, true, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, at, "%llu", (unsigned long long)found.length);
	free(own.data);
	free(other.data);
}

/* The calls are right, and what they call is another program's. */
Test(carver_pe, the_break_is_not_before_what_is_called)
{
	struct bytes shifted = { 0 };
	uint32_t at = CODE_AT + CODE_LEN / 2;
	struct finding found;

	bytes_fill(&shifted, 0x41, CODE_LEN / 2);
	cr_expect_eq(check_with(at, shifted.data, CODE_LEN / 2, true, &found), CARVE_TRUNCATED);
	cr_expect_geq(found.length, at, "%llu", (unsigned long long)found.length);
	cr_expect_lt(found.length, at + 1024, "%llu", (unsigned long long)found.length);
	free(shifted.data);
}

Test(carver_pe, text_and_random_bytes_are_no_code)
{
	uint32_t at = CODE_AT + 2048;
	struct bytes with = { 0 };
	struct finding found;

	bytes_fill(&with, 'x', 1024);
	for (int kind = 0; kind < 2; kind++) {
		cr_expect_eq(check_with(at, with.data, 1024, true, &found), CARVE_TRUNCATED);
		cr_expect_eq(found.length, at, "%llu", (unsigned long long)found.length);
		cr_expect_eq(check_with(at, with.data, 1024, false, &found), CARVE_UNVERIFIED);
		/* It may be a table. */
		cr_expect_eq(check_with(at, with.data, 512, false, &found), CARVE_COMPLETE);
		with.len = 0;
		bytes_add_random(&with, 9, 1024);
	}
	free(with.data);
}

/* The header's checksum is of words in any order, and zeros do not count. */
Test(carver_pe, a_checksum_does_not_hide_invalid_tables)
{
	struct bytes bytes = program(false);
	uint8_t *sum_at = bytes.data + 88 + 64;
	struct finding found;
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes.len; i += 2)
		sum += le16(bytes.data + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put_le(sum_at, sum + bytes.len, 4);
	cr_assert_eq(carve("pe", bytes.data, bytes.len, &found), CARVE_COMPLETE, "%s", found.why);
	/* Zeros come between, and others at the end are lost. */
	memmove(bytes.data + TABLE_AT + 512, bytes.data + TABLE_AT, TABLE_LEN - 512);
	memset(bytes.data + TABLE_AT, 0, 512);
	expect("pe", &bytes, CARVE_UNVERIFIED, bytes.len, "the checksum matches");
	free(bytes.data);
}
