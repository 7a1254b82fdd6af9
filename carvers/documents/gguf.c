/*
 * Weights of language models: GGUF, versions 2 and 3 (ggml's docs/gguf.md).
 *
 *	file:   'GGUF', version (4), number of tensors (8), of facts (8), facts, tensors, data at a multiple of 32, or of the
 *	        fact general.alignment
 *	fact:   key, type (4), value
 *	tensor: name, number of dimensions (4), dimensions (8 each), kind (4), place in the data (8)
 *
 * Texts are a length (8) and bytes; integers are little-endian. Kinds store blocks of values in a known number of bytes,
 * so the last tensor gives the length, which nothing verifies. The title is the fact general.name.
 */
#include <inttypes.h>
#include <string.h>

#include "cursor.h"
#include "foreign.h"
#include "bytes.h"
#include "title.h"

#define HEAD_LEN 24
#define TEXT_MAX (UINT64_C(16) << 20)
#define TENSORS_MAX 65536
#define FACTS_MAX 65536
#define DIMENSIONS_MAX 8
#define DATA_MAX (UINT64_C(1) << 48)
enum { TYPE_TEXT = 8, TYPE_ARRAY = 9, TYPES = 13 };

struct gguf {
	struct cursor cursor;
	struct finding *finding;
	uint64_t alignment, data_len;
};

static bool read_number(struct gguf *gguf, size_t len, uint64_t *value)
{
	const uint8_t *p = cursor_bytes(&gguf->cursor, len);

	if (!p)
		return false;
	*value = len == 8 ? le64(p) : le32(p);
	gguf->cursor.at += len;
	return true;
}

static bool skip(struct gguf *gguf, uint64_t len)
{
	if (len > view_size(gguf->cursor.view) - gguf->cursor.at)
		return false;
	gguf->cursor.at += len;
	return true;
}

static bool skip_text(struct gguf *gguf)
{
	uint64_t len;

	return read_number(gguf, 8, &len) && len <= TEXT_MAX && skip(gguf, len);
}

/* Skips `count` values of a type that is no array. */
static bool skip_values(struct gguf *gguf, uint64_t type, uint64_t count)
{
	static const uint8_t lens[TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

	if (type >= TYPES || type == TYPE_ARRAY || count > DATA_MAX)
		return false;
	if (type != TYPE_TEXT)
		return skip(gguf, count * lens[type]);
	while (count--)
		if (!skip_text(gguf) || !view_work(gguf->cursor.view, 8))
			return false;
	return true;
}

/* Whether the key, which ends at the cursor, is `name`. */
static bool key_is(struct gguf *gguf, uint64_t at, const char *name)
{
	struct cursor other = { .view = gguf->cursor.view, .at = at + 8 };

	return gguf->cursor.at - other.at == strlen(name) && cursor_at_text(&other, name);
}

/* Sets the title to the text from `at` to the cursor. */
static void set_title(struct gguf *gguf, uint64_t at)
{
	uint64_t len = gguf->cursor.at - at;
	const uint8_t *p = len <= 4096 ? view_peek(gguf->cursor.view, at, (size_t)len) : NULL;

	if (p)
		finding_set_title(gguf->finding, p, (size_t)len);
	cursor_forget(&gguf->cursor);
}

static bool read_fact(struct gguf *gguf)
{
	uint64_t at = gguf->cursor.at, type, count = 1, value;
	bool alignment, title;

	if (!skip_text(gguf))
		return false;
	alignment = key_is(gguf, at, "general.alignment");
	title = key_is(gguf, at, "general.name");
	cursor_forget(&gguf->cursor);
	if (!read_number(gguf, 4, &type))
		return false;
	if (type == TYPE_ARRAY && (!read_number(gguf, 4, &type) || !read_number(gguf, 8, &count)))
		return false;
	at = gguf->cursor.at;
	if (!skip_values(gguf, type, count))
		return false;
	if (title && type == TYPE_TEXT)
		set_title(gguf, at + 8);
	if (!alignment || type != 4)
		return true;
	gguf->cursor.at = at;
	if (!read_number(gguf, 4, &value))
		return false;
	gguf->alignment = value;
	return value && value % 8 == 0 && value <= 1 << 20;
}

/* The length of `count` values of a kind: blocks of some values in some bytes. 0: no such kind. */
static uint64_t kind_len(uint64_t kind, uint64_t count)
{
	static const struct {
		uint16_t values, bytes;
	} kinds[] = { { 1, 4 }, { 1, 2 }, { 32, 18 }, { 32, 20 }, { 0, 0 }, { 0, 0 }, { 32, 22 },
		{ 32, 24 }, { 32, 34 }, { 32, 36 }, { 256, 84 }, { 256, 110 }, { 256, 144 },
		{ 256, 176 }, { 256, 210 }, { 256, 292 }, { 256, 66 }, { 256, 74 }, { 256, 98 },
		{ 256, 50 }, { 32, 18 }, { 256, 110 }, { 256, 82 }, { 256, 136 }, { 1, 1 },
		{ 1, 2 }, { 1, 4 }, { 1, 8 }, { 1, 8 }, { 256, 56 }, { 1, 2 } };

	if (kind >= sizeof(kinds) / sizeof(*kinds) || !kinds[kind].values ||
		count % kinds[kind].values)
		return 0;
	return count / kinds[kind].values * kinds[kind].bytes;
}

static bool read_tensor(struct gguf *gguf)
{
	uint64_t dimensions, kind, at, size, count = 1, len;

	if (!skip_text(gguf) || !read_number(gguf, 4, &dimensions) || dimensions > DIMENSIONS_MAX)
		return false;
	for (uint64_t i = 0; i < dimensions; i++) {
		if (!read_number(gguf, 8, &size) || !size || size > DATA_MAX / count)
			return false;
		count *= size;
	}
	if (!read_number(gguf, 4, &kind) || !read_number(gguf, 8, &at) || at > DATA_MAX)
		return false;
	len = kind_len(kind, count);
	if (len && at + len > gguf->data_len)
		gguf->data_len = at + len;
	return len > 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct gguf gguf = {
		.cursor = { .view = view, .at = HEAD_LEN }, .finding = finding, .alignment = 32
	};
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t tensors = p ? le64(p + 8) : 0, facts = p ? le64(p + 16) : 0, data;

	if (!p || memcmp(p, "GGUF", 4) != 0 || le32(p + 4) < 2 || le32(p + 4) > 3 ||
		tensors > TENSORS_MAX || facts > FACTS_MAX)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (uint64_t i = 0; i < facts; i++)
		if (!read_fact(&gguf))
			return verdict_because(
				CARVE_REJECT, finding, "no fact before %" PRIu64, gguf.cursor.at);
	for (uint64_t i = 0; i < tensors; i++)
		if (!read_tensor(&gguf))
			return verdict_because(
				CARVE_REJECT, finding, "no tensor before %" PRIu64, gguf.cursor.at);
	finding->length = gguf.cursor.at;
	if (!gguf.data_len)
		return verdict_because(
			CARVE_UNVERIFIED, finding, "no tensors, after %" PRIu64 " facts", facts);
	data = (gguf.cursor.at + gguf.alignment - 1) / gguf.alignment * gguf.alignment;
	if (data + gguf.data_len > view_size(view))
		return foreign_cut(view, finding, gguf.cursor.at, data + gguf.data_len,
			"a tensor past the image", data);
	finding->length = data + gguf.data_len;
	view_unverified(view, gguf.cursor.at, finding->length);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing verifies the tensors from %" PRIu64 " on", data);
}

const struct carver gguf_carver = {
	.name = "gguf",
	.summary = "weights of models in GGUF, by the places of the tensors",
	.check = check,
};
