/*
 * WebAssembly modules (WebAssembly core specification, chapter 5, binary format).
 *
 *	00 'asm', version 1, then sections: type, length (LEB128), contents
 *
 * Sections other than custom ones occur once and in a fixed order; custom ones have a name. Nothing
 * marks the end: a module ends where no section starts. So a module is complete when it ends there
 * with a valid section, and has the code of all its functions; when the last section is data, or an
 * unknown custom one, its bytes cannot be verified: unverified. A section is valid when its
 * entries, as many as it counts, fill it: types, imports, functions, exports, code bodies (each
 * ends with the instruction `end`) and data are walked; for custom sections the name and, where
 * known, their parts.
 *
 * A section that starts well (a type that is possible here, a length, a first entry or a known
 * name) and then becomes invalid belongs to a cut module; anything else does not belong to the
 * module. Components (version 13) are not walked.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define EXPRESSION_MAX 16 /* instructions */

enum wasm_section {
	CUSTOM,
	TYPE,
	IMPORT,
	FUNCTION,
	TABLE,
	MEMORY,
	GLOBAL,
	EXPORT,
	START,
	ELEMENT,
	CODE,
	DATA,
	DATA_COUNT,
	TAG
};

struct wasm {
	struct view *view;
	uint64_t functions, bodies, segments_due;
	bool segments_counted, data_seen;
	bool opaque; /* the last section's bytes cannot be verified */
	int rank;    /* of the last section, in their fixed order */
};

/* Reads a number of at most `most` bytes at *at, before end, and moves *at past it. */
static bool read_leb128(struct view *view, uint64_t *at, uint64_t end, size_t most, uint64_t *value)
{
	size_t len;
	const uint8_t *p = walk_window(view, *at, end < *at + most ? end : *at + most, &len);

	len = p ? leb128(p, len, value) : 0;
	*at += len;
	return len;
}

/* The same for a number of at most 32 bits. */
static bool read_number(struct view *view, uint64_t *at, uint64_t end, uint32_t *value)
{
	uint64_t number;

	if (!read_leb128(view, at, end, 5, &number) || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	return true;
}

/* Moves past a length and that many bytes. */
static bool skip_bytes(struct view *view, uint64_t *at, uint64_t end, uint64_t *start)
{
	uint32_t len;

	if (!read_number(view, at, end, &len) || len > end - *at)
		return false;
	*start = *at;
	*at += len;
	return true;
}

/* Moves past a name, which has no control characters. */
static bool skip_name(struct view *view, uint64_t *at, uint64_t end, uint64_t *start)
{
	const uint8_t *p;

	if (!skip_bytes(view, at, end, start) || *at - *start > 4096)
		return false;
	p = *at > *start ? view_peek(view, *start, (size_t)(*at - *start)) : NULL;
	for (uint64_t i = 0; i < *at - *start; i++)
		if (!p || p[i] < ' ' || p[i] > 0xf4)
			return false;
	return true;
}

static bool skip_limits(struct view *view, uint64_t *at, uint64_t end)
{
	uint32_t flags, value;

	return read_number(view, at, end, &flags) && flags < 8 &&
	       read_number(view, at, end, &value) &&
	       (!(flags & 1) || read_number(view, at, end, &value));
}

/* An import's or export's type, then its description. */
static bool skip_import(struct view *view, uint64_t *at, uint64_t end)
{
	const uint8_t *p = *at < end ? view_peek(view, *at, 1) : NULL;
	uint32_t value;

	if (!p || *p > 4)
		return false;
	(*at)++;
	switch (p[0]) {
	case 1:
		return read_number(view, at, end, &value) && skip_limits(view, at, end);
	case 2:
		return skip_limits(view, at, end);
	case 3:
	case 4:
		return read_number(view, at, end, &value) && read_number(view, at, end, &value);
	}
	return read_number(view, at, end, &value);
}

static bool skip_body(struct view *view, uint64_t *at, uint64_t end)
{
	uint64_t start;
	const uint8_t *p;

	if (!skip_bytes(view, at, end, &start) || *at - start < 2)
		return false;
	p = view_peek(view, *at - 1, 1);
	return p && *p == 0x0b;
}

/* Moves past a constant expression: constants and globals, perhaps added, up to the instruction `end`. */
static bool skip_expression(struct view *view, uint64_t *at, uint64_t end)
{
	uint64_t number;

	for (int i = 0; i < EXPRESSION_MAX && *at < end; i++) {
		const uint8_t *p = view_peek(view, (*at)++, 1);

		switch (p ? *p : 0) {
		case 0x0b:
			return i > 0;
		case 0x23: /* global.get */
		case 0x41: /* i32.const, i64.const */
		case 0x42:
			if (!read_leb128(view, at, end, 10, &number))
				return false;
			break;
		case 0x6a: /* i32.add, sub, mul; of i64 */
		case 0x6b:
		case 0x6c:
		case 0x7c:
		case 0x7d:
		case 0x7e:
			break;
		default:
			return false;
		}
	}
	return false;
}

/* A data segment: a passive one, or one with its address as an expression. */
static bool skip_segment(struct view *view, uint64_t *at, uint64_t end)
{
	uint32_t flags, memory;
	uint64_t start;

	if (!read_number(view, at, end, &flags) || flags > 2 ||
		(flags == 2 && !read_number(view, at, end, &memory)))
		return false;
	return (flags == 1 || skip_expression(view, at, end)) && skip_bytes(view, at, end, &start);
}

static bool skip_entry(struct view *view, enum wasm_section kind, uint64_t *at, uint64_t end)
{
	uint32_t value;
	uint64_t start;

	switch (kind) {
	case IMPORT:
		return skip_name(view, at, end, &start) && skip_name(view, at, end, &start) &&
		       skip_import(view, at, end);
	case FUNCTION:
		return read_number(view, at, end, &value);
	case MEMORY:
		return skip_limits(view, at, end);
	case EXPORT:
		if (!skip_name(view, at, end, &start) || !read_number(view, at, end, &value) ||
			value > 4)
			return false;
		return read_number(view, at, end, &value);
	case CODE:
		return skip_body(view, at, end);
	case DATA:
		return skip_segment(view, at, end);
	default:
		return false;
	}
}

static bool has_entries(enum wasm_section kind)
{
	return kind == IMPORT || kind == FUNCTION || kind == MEMORY || kind == EXPORT ||
	       kind == CODE || kind == DATA;
}

/* A list of numbers with a name each. */
static bool valid_name_map(struct view *view, uint64_t at, uint64_t end)
{
	uint32_t count, index;
	uint64_t start;

	if (!read_number(view, &at, end, &count))
		return false;
	while (count--)
		if (!read_number(view, &at, end, &index) || !skip_name(view, &at, end, &start))
			return false;
	return at == end;
}

/* Subsections of the custom section `name`: type, length; the types rise. The names of locals,
 * labels and fields (2, 3, 10) have two levels, and are not checked. */
static bool valid_names(struct view *view, uint64_t at, uint64_t end)
{
	uint64_t start;
	int last = -1;

	while (at < end) {
		const uint8_t *p = view_peek(view, at, 1);
		int kind = p ? *p : 255;

		at++;
		if (kind > 12 || kind <= last || !skip_bytes(view, &at, end, &start))
			return false;
		last = kind;
		if (kind != 0 && kind != 2 && kind != 3 && kind != 10 &&
			!valid_name_map(view, start, at))
			return false;
	}
	return true;
}

/* A list of fields, each with values of name and version. */
static bool valid_producers(struct view *view, uint64_t at, uint64_t end)
{
	uint32_t fields, values;
	uint64_t start;

	if (!read_number(view, &at, end, &fields) || fields > 16)
		return false;
	while (fields--) {
		if (!skip_name(view, &at, end, &start) || !read_number(view, &at, end, &values) ||
			values > 4096)
			return false;
		while (values--)
			if (!skip_name(view, &at, end, &start) || at == start ||
				!skip_name(view, &at, end, &start))
				return false;
	}
	return at == end;
}

/* Features: + or - or = and a name each. */
static bool valid_features(struct view *view, uint64_t at, uint64_t end)
{
	uint32_t count;
	uint64_t start;

	if (!read_number(view, &at, end, &count) || count > 4096)
		return false;
	while (count--) {
		const uint8_t *p = view_peek(view, at, 1);

		at++;
		if (!p || !*p || !strchr("+-=", *p) || !skip_name(view, &at, end, &start) ||
			at == start)
			return false;
	}
	return at == end;
}

/* A custom section's contents; *known when its name is one that tools write, *opaque when the
 * contents are not checked. */
static bool valid_custom(struct view *view, uint64_t at, uint64_t end, bool *known, bool *opaque)
{
	static const char *const names[] = { "name", "producers", "target_features", "linking",
		"dylink", "dylink.0", "sourceMappingURL", "external_debug_info", "build_id",
		".debug_", "reloc.", "go:buildid", "go.buildid" };
	uint64_t start, len;
	const uint8_t *p;

	if (!skip_name(view, &at, end, &start) || at == start)
		return false;
	len = at - start;
	*opaque = true;
	p = view_peek(view, start, (size_t)len);
	for (size_t i = 0; p && i < sizeof(names) / sizeof(*names); i++) {
		size_t want = strlen(names[i]);
		bool open = names[i][want - 1] == '_' || names[i][want - 1] == '.';

		if ((len == want || (open && len > want)) && memcmp(p, names[i], want) == 0) {
			*known = true;
			*opaque = i > 2;
			if (i == 0)
				return valid_names(view, at, end);
			if (i == 1)
				return valid_producers(view, at, end);
			return i != 2 || valid_features(view, at, end);
		}
	}
	return true;
}

enum wasm_state { SECTION_VALID, SECTION_BROKEN, SECTION_NONE };

/* Walks the contents [at, end) of a section. */
static enum wasm_state walk_section(
	struct wasm *wasm, enum wasm_section kind, uint64_t at, uint64_t end)
{
	bool known = false;
	uint32_t count;

	if (kind == CUSTOM) {
		if (valid_custom(wasm->view, at, end, &known, &wasm->opaque) &&
			end <= view_size(wasm->view))
			return SECTION_VALID;
		return known ? SECTION_BROKEN : SECTION_NONE;
	}
	if (!read_number(wasm->view, &at, end, &count))
		return SECTION_NONE;
	if (kind == FUNCTION)
		wasm->functions = count;
	if (kind == DATA_COUNT) {
		wasm->segments_counted = true;
		wasm->segments_due = count;
	}
	if (kind == DATA)
		wasm->data_seen = true;
	for (uint32_t i = 0; has_entries(kind) && i < count; i++)
		if (!skip_entry(wasm->view, kind, &at, end))
			return i ? SECTION_BROKEN : SECTION_NONE;
	if ((has_entries(kind) || kind == START || kind == DATA_COUNT) && at != end)
		return SECTION_BROKEN;
	if (end > view_size(wasm->view))
		return SECTION_BROKEN;
	if (kind == CODE)
		wasm->bodies = count;
	wasm->opaque = kind == DATA;
	return SECTION_VALID;
}

/* Checks the section at *at, and moves past it when it is valid. */
static enum wasm_state next_section(struct wasm *wasm, uint64_t *at)
{
	/* The count of data segments comes before code, tags before globals. */
	static const int ranks[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 11, 6 };
	const uint8_t *p = view_peek(wasm->view, *at, 1);
	struct wasm before = *wasm;
	uint64_t body_at = *at + 1;
	uint32_t len;
	enum wasm_state state;
	enum wasm_section kind;

	if (!p || *p > TAG)
		return SECTION_NONE;
	kind = *p;
	if (kind != CUSTOM && ranks[kind] <= wasm->rank)
		return SECTION_NONE;
	if (!read_number(wasm->view, &body_at, body_at + 5, &len) || len == 0)
		return SECTION_NONE;
	state = walk_section(wasm, kind, body_at, body_at + len);
	/* Bytes that are not a section say nothing about the module. */
	if (state != SECTION_VALID) {
		*wasm = before;
		return state;
	}
	if (kind != CUSTOM)
		wasm->rank = ranks[kind];
	*at = body_at + len;
	return SECTION_VALID;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct wasm wasm = { .view = view };
	const uint8_t *p = view_peek(view, 0, 8);
	uint64_t at = 8;
	enum wasm_state state;

	if (!p || memcmp(p, "\0asm\1\0\0\0", 8) != 0)
		return verdict_because(CARVE_REJECT, finding, "no magic and version at 0");
	do
		state = next_section(&wasm, &at);
	while (state == SECTION_VALID);
	if (at == 8)
		return verdict_because(CARVE_REJECT, finding, "no section at 8");
	finding->length = at;
	if (state == SECTION_BROKEN)
		return verdict_because(
			CARVE_TRUNCATED, finding, "the section at %" PRIu64 " is invalid", at);
	if (wasm.functions != wasm.bodies ||
		(wasm.segments_counted && wasm.segments_due && !wasm.data_seen))
		return verdict_because(CARVE_TRUNCATED, finding, "no code or data at %" PRIu64, at);
	if (wasm.opaque)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last section, which ends at %" PRIu64 ", cannot be verified", at);
	if (!wasm.bodies && !wasm.data_seen)
		return verdict_because(
			CARVE_UNVERIFIED, finding, "neither code nor data up to %" PRIu64, at);
	return CARVE_COMPLETE;
}

const struct carver wasm_carver = {
	.name = "wasm",
	.summary = "WebAssembly modules, by their sections",
	.check = check,
};
