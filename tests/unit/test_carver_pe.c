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
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	memset(found, 0, sizeof(*found));
	view_set_thorough(view, true);
	verdict = carver_find("pe")->check(view, found);
	view_free(view);
	return verdict;
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
		cr_expect_eq(carve("pe", bytes.data, bytes.len, &found), CARVE_COMPLETE);
		cr_expect_eq(check_thoroughly(&bytes, &found), CARVE_TRUNCATED);
		cr_expect_eq(found.length, at, "%llu", (unsigned long long)found.length);
		free(bytes.data);
	}
}
