/*
 * Compiled Lua (lundump.c of Lua 5.1 to 5.4).
 *
 *	header:   1B 'Lua', version, format (0), then
 *	          5.1, 5.2: order of bytes (1: little-endian), sizes of int, size_t, instruction, number; whether it is an integer;
 *	                    5.2 also 19 93 0D 0A 1A 0A
 *	          5.3, 5.4: 19 93 0D 0A 1A 0A, sizes of (5.3: int, size_t,) instruction, integer, number; 5678h and 370.5 as these;
 *	                    number of upvalues (1)
 *	function: 5.1: source, lines from and to, upvalues, parameters, varargs, stack (1 each), code, constants, functions, lines,
 *	               locals, names
 *	          5.2: lines from and to, parameters, varargs, stack, code, constants, functions, upvalues, source, lines, locals, names
 *	          5.3, 5.4: source, lines from and to, parameters, varargs, stack, code, constants, upvalues, functions, lines
 *	               (5.4: of a byte, then those that don't fit), locals, names
 *	list:     number of entries, entries; numbers are ints, in 5.4 of 7 bits a byte, the last with the highest bit set
 *	constant: kind (1), value; locals: name, from, to
 *	text:     5.1, 5.2: size_t with the zero at its end; 5.3: a byte (FF: a size_t follows), without the zero; 5.4: a number
 *
 * Functions have as many lines as instructions, or none, and as many names as upvalues, or none. Nothing verifies instructions
 * and numbers.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "walk.h"

#define MARK "\x19\x93\r\n\x1a\n"
#define MARK_LEN 6
#define DEPTH_MAX 200 /* LUAI_MAXCCALLS */
#define COUNT_MAX (UINT64_C(1) << 31)
#define NAME_MAX_LEN 4096
#define TEXT_MAX (UINT64_C(1) << 30)

struct luac {
	struct cursor cursor;
	unsigned version; /* 0x51 to 0x54 */
	bool big;
	uint8_t int_len, size_len, instruction_len, integer_len, number_len;
	bool broken;
	uint64_t valid_end; /* after the last list that ended */
	unsigned depth;
	struct {
		uint64_t functions; /* left */
		uint64_t code, upvalues;
	} outer[DEPTH_MAX];
};

static uint64_t fail(struct luac *lua)
{
	lua->broken = true;
	return 0;
}

static unsigned read_byte(struct luac *lua)
{
	int byte = cursor_next(&lua->cursor);

	return byte < 0 ? (unsigned)fail(lua) : (unsigned)byte;
}

static uint64_t read_integer(struct luac *lua, unsigned len)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < len; i++) {
		uint64_t byte = read_byte(lua);

		value = lua->big ? value << 8 | byte : value | byte << (8 * i);
	}
	return value;
}

/* 7 bits a byte, the highest first. */
static uint64_t read_varint(struct luac *lua)
{
	uint64_t value = 0;

	for (int i = 0; i < 9; i++) {
		unsigned byte = read_byte(lua);

		value = value << 7 | (byte & 0x7f);
		if (byte & 0x80)
			return value;
	}
	return fail(lua);
}

static uint64_t read_int(struct luac *lua)
{
	uint64_t value = lua->version == 0x54 ? read_varint(lua) : read_integer(lua, lua->int_len);

	return value < COUNT_MAX ? value : fail(lua);
}

static void skip(struct luac *lua, uint64_t len)
{
	uint64_t left = view_size(lua->cursor.view) - lua->cursor.at;

	if (len > left) {
		lua->cursor.at += left;
		fail(lua);
	} else {
		lua->cursor.at += len;
	}
}

static void skip_list(struct luac *lua, uint64_t count, unsigned len)
{
	skip(lua, count * len); /* below 2^39 */
	if (!lua->broken)
		lua->valid_end = lua->cursor.at;
}

/* The length of a text, with its zero; 0: it is not given. */
static uint64_t read_text_len(struct luac *lua)
{
	uint64_t len;

	if (lua->version == 0x54) {
		len = read_varint(lua);
	} else if (lua->version == 0x53) {
		len = read_byte(lua);
		if (len == 0xff)
			len = read_integer(lua, lua->size_len);
	} else {
		len = read_integer(lua, lua->size_len);
	}
	return len <= TEXT_MAX ? len : fail(lua);
}

/* Skips a text, whose bytes may be any, or a name. */
static void skip_text(struct luac *lua, bool name)
{
	uint64_t len = read_text_len(lua);
	const uint8_t *p =
		name && len > 1 && len <= NAME_MAX_LEN ? cursor_bytes(&lua->cursor, len - 1) : NULL;

	if (name && len > 1 && !p)
		fail(lua);
	for (uint64_t i = 0; p && i + 1 < len; i++)
		if (p[i] < ' ' || p[i] == 0x7f)
			fail(lua);
	if (len && !lua->broken) {
		skip(lua, len - 1);
		if (lua->version < 0x53 && read_byte(lua) != 0)
			fail(lua);
	}
	if (!lua->broken)
		lua->valid_end = lua->cursor.at;
}

static void skip_constant(struct luac *lua)
{
	unsigned kind = read_byte(lua);

	switch (kind) {
	case 0:
		break;
	case 1:
		if (lua->version < 0x54 && read_byte(lua) > 1)
			fail(lua);
		break;
	case 3:
		skip(lua, lua->version == 0x54 ? lua->integer_len : lua->number_len);
		break;
	case 4:
		skip_text(lua, false);
		break;
	case 0x11:
		if (lua->version != 0x54)
			fail(lua);
		break;
	case 0x13:
		if (lua->version < 0x53)
			fail(lua);
		skip(lua, lua->version == 0x54 ? lua->number_len : lua->integer_len);
		break;
	case 0x14:
		if (lua->version < 0x53)
			fail(lua);
		skip_text(lua, false);
		break;
	default:
		fail(lua);
	}
}

static void skip_constants(struct luac *lua)
{
	for (uint64_t left = read_int(lua); left && !lua->broken; left--)
		skip_constant(lua);
}

/* What follows a function's inner functions. */
static void end_function(struct luac *lua, uint64_t code, uint64_t upvalues)
{
	uint64_t count;

	if (lua->version == 0x52) {
		upvalues = read_int(lua);
		skip_list(lua, upvalues, 2);
		skip_text(lua, false);
	}
	count = read_int(lua);
	if (count && count != code)
		fail(lua);
	skip_list(lua, count, lua->version == 0x54 ? 1 : lua->int_len);
	if (lua->version == 0x54)
		for (count = read_int(lua); count && !lua->broken; count--) {
			read_int(lua);
			read_int(lua);
		}
	for (count = read_int(lua); count && !lua->broken; count--) {
		skip_text(lua, true);
		read_int(lua);
		read_int(lua);
	}
	count = read_int(lua);
	if (count && count != upvalues)
		fail(lua);
	for (; count && !lua->broken; count--)
		skip_text(lua, true);
	if (!lua->broken)
		lua->valid_end = lua->cursor.at;
}

/* What precedes a function's inner functions; then these are the innermost list. */
static void begin_function(struct luac *lua)
{
	uint64_t code, upvalues = 0;

	if (lua->depth == DEPTH_MAX) {
		fail(lua);
		return;
	}
	if (lua->version != 0x52)
		skip_text(lua, false);
	read_int(lua);
	read_int(lua);
	if (lua->version == 0x51)
		upvalues = read_byte(lua);
	read_byte(lua);
	if (read_byte(lua) > 7) /* varargs */
		fail(lua);
	read_byte(lua);
	code = read_int(lua);
	if (!code || lua->broken) {
		fail(lua);
		return;
	}
	skip_list(lua, code, lua->instruction_len);
	skip_constants(lua);
	if (lua->version > 0x52) {
		upvalues = read_int(lua);
		skip_list(lua, upvalues, lua->version == 0x54 ? 3 : 2);
	}
	lua->outer[lua->depth].functions = read_int(lua);
	lua->outer[lua->depth].code = code;
	lua->outer[lua->depth++].upvalues = upvalues;
}

static bool is_width(unsigned len)
{
	return len == 4 || len == 8;
}

static bool read_header(struct luac *lua)
{
	const uint8_t *p = view_peek(lua->cursor.view, 0, 18);

	if (!p || memcmp(p, "\x1bLua", 4) != 0 || p[4] < 0x51 || p[4] > 0x54 || p[5])
		return false;
	lua->version = p[4];
	if (lua->version <= 0x52) {
		lua->big = !p[6];
		lua->int_len = p[7];
		lua->size_len = p[8];
		lua->instruction_len = p[9];
		lua->number_len = p[10];
		lua->integer_len = 8;
		lua->cursor.at = lua->version == 0x51 ? 12 : 18;
		return p[6] <= 1 && is_width(lua->int_len) && is_width(lua->size_len) &&
		       lua->instruction_len == 4 && is_width(lua->number_len) && p[11] <= 1 &&
		       (lua->version == 0x51 || memcmp(p + 12, MARK, MARK_LEN) == 0);
	}
	if (memcmp(p + 6, MARK, MARK_LEN) != 0)
		return false;
	p += 6 + MARK_LEN;
	lua->cursor.at = 6 + MARK_LEN + 3;
	lua->int_len = lua->size_len = 8;
	if (lua->version == 0x53) {
		lua->int_len = *p++;
		lua->size_len = *p++;
		lua->cursor.at += 2;
	}
	lua->instruction_len = p[0];
	lua->integer_len = p[1];
	lua->number_len = p[2];
	if (!is_width(lua->int_len) || !is_width(lua->size_len) || lua->instruction_len != 4 ||
		!is_width(lua->integer_len) || !is_width(lua->number_len))
		return false;
	p = view_peek(lua->cursor.view, lua->cursor.at, lua->integer_len);
	if (!p)
		return false;
	lua->big = !p[0];
	if (read_integer(lua, lua->integer_len) != 0x5678 ||
		read_integer(lua, lua->number_len) != (lua->number_len == 8
								      ? UINT64_C(0x4077280000000000)
								      : UINT64_C(0x43b94000)))
		return false;
	read_byte(lua); /* number of upvalues */
	return !lua->broken;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct luac lua = { .cursor = { .view = view } };
	uint64_t start, size = view_size(view);

	if (!read_header(&lua))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	start = lua.valid_end = lua.cursor.at;
	begin_function(&lua);
	if (!lua.depth)
		return verdict_because(CARVE_REJECT, finding, "no function at %" PRIu64, start);
	while (lua.depth && !lua.broken && view_work(view, 8)) {
		if (lua.outer[lua.depth - 1].functions) {
			lua.outer[lua.depth - 1].functions--;
			begin_function(&lua);
		} else {
			lua.depth--;
			end_function(
				&lua, lua.outer[lua.depth].code, lua.outer[lua.depth].upvalues);
		}
	}
	finding->length = lua.valid_end;
	if (lua.depth || lua.broken) {
		if (lua.cursor.at >= size)
			return walk_cut(view, finding, size + 1, lua.valid_end);
		return verdict_because(CARVE_TRUNCATED, finding,
			"no part of a function at %" PRIu64, lua.valid_end);
	}
	view_unverified(view, 0, finding->length);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing verifies the instructions from %" PRIu64 " on", start);
}

const struct carver luac_carver = {
	.name = "luac",
	.summary = "compiled Lua, by its functions",
	.check = check,
};
