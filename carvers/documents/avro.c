/*
 * Apache Avro's object container files (avro.apache.org, Specification: Object Container Files).
 *
 *	file:     'Obj', 1, metadata, sync marker (16 bytes), blocks
 *	metadata: groups of pairs, each the number of pairs, then keys and values, each with its length; the last group has 0
 *	          pairs. A negative number has the group's length after it. avro.schema is JSON, avro.codec a known name
 *	block:    number of objects, length, data, the same sync marker
 *	numbers:  0, -1, 1, -2 ... are 0, 1, 2, 3 ..., 7 bits a byte, the lowest first
 *
 * The markers, chosen at random for a file, verify the lengths of the blocks, and nothing the data. The number of blocks is
 * not stored, so a file is unverified at best. Where another block seems to begin (as long as those before it, or with its
 * codec's magic) that has no marker after it, the file is truncated.
 */
#include <inttypes.h>
#include <string.h>

#include "cursor.h"
#include "walk.h"

#define MAGIC "Obj\1"
#define MAGIC_LEN 4
#define SYNC_LEN 16
#define KEY_MAX 256 /* bytes */
#define VALUE_MAX (1u << 24)
#define PAIRS_MAX 4096
#define FIRST_MAX (1u << 26) /* objects and bytes of a first block without a marker */
#define TIMES_MAX 4          /* as much as any block before */

static const struct codec {
	const char *name, *magic; /* of a block's data; "": none */
} codecs[] = { { "null", "" }, { "deflate", "" }, { "snappy", "" }, { "bzip2", "BZh" },
	{ "xz", "\xfd"
		"7zXZ" },
	{ "zstandard", "\x28\xb5\x2f\xfd" } };

struct avro {
	struct cursor cursor;
	const struct codec *codec;
	bool has_key, has_schema; /* any of Avro's own keys; a schema */
	bool cut;                 /* the view ended, or the budget, in the metadata */
	uint8_t sync[SYNC_LEN];
	uint64_t blocks, objects_max, len_max; /* the latter two of a block */
};

enum found { FOUND, NONE, BROKEN, CUT };

static bool read_long(struct avro *avro, uint64_t *magnitude, bool *negative)
{
	uint64_t value;

	if (!cursor_varint(&avro->cursor, &value)) {
		avro->cut = cursor_peek(&avro->cursor) < 0;
		return false;
	}
	*negative = value & 1;
	*magnitude = (value >> 1) + *negative;
	return true;
}

/* Reads a length that is at most max; what it is of is in the view. */
static bool read_len(struct avro *avro, uint64_t *len, uint64_t max)
{
	bool negative;

	if (!read_long(avro, len, &negative) || negative || *len > max)
		return false;
	avro->cut = *len > view_size(avro->cursor.view) - avro->cursor.at;
	return !avro->cut;
}

/* The next len bytes, of at most KEY_MAX. */
static const uint8_t *read_bytes(struct avro *avro, uint64_t len)
{
	const uint8_t *p = cursor_bytes(&avro->cursor, (size_t)len);

	avro->cut = !p;
	return p;
}

static bool is_text(const uint8_t *p, uint64_t len, const char *text)
{
	return len == strlen(text) && memcmp(p, text, len) == 0;
}

/* Whether the next len bytes begin and end as JSON. */
static bool is_json(struct avro *avro, uint64_t len)
{
	struct cursor cursor = avro->cursor;
	int first, last;

	if (len < 2)
		return false;
	first = cursor_peek(&cursor);
	cursor.at += len - 1;
	last = cursor_peek(&cursor);
	cursor_forget(&avro->cursor);
	avro->cut = first < 0 || last < 0;
	return (first == '{' && last == '}') || (first == '[' && last == ']') ||
	       (first == '"' && last == '"');
}

static const struct codec *codec_of(const uint8_t *name, uint64_t len)
{
	for (size_t i = 0; i < sizeof(codecs) / sizeof(*codecs); i++)
		if (is_text(name, len, codecs[i].name))
			return &codecs[i];
	return NULL;
}

/* A key and its value. */
static bool read_pair(struct avro *avro)
{
	struct cursor *cursor = &avro->cursor;
	bool schema, codec;
	const uint8_t *p;
	uint64_t len;

	if (!read_len(avro, &len, KEY_MAX) || !(p = read_bytes(avro, len)))
		return false;
	for (uint64_t i = 0; i < len; i++)
		if (p[i] < ' ')
			return false;
	schema = is_text(p, len, "avro.schema");
	codec = is_text(p, len, "avro.codec");
	avro->has_key |= schema || codec;
	cursor->at += len;
	if (!read_len(avro, &len, codec ? KEY_MAX : VALUE_MAX))
		return false;
	if (codec) {
		p = read_bytes(avro, len);
		avro->codec = p ? codec_of(p, len) : NULL;
		if (!avro->codec)
			return false;
	}
	if (schema) {
		avro->has_schema = is_json(avro, len);
		if (!avro->has_schema)
			return false;
	}
	cursor->at += len;
	return true;
}

/* Reads up to the first block. */
static bool read_header(struct avro *avro)
{
	struct cursor *cursor = &avro->cursor;
	uint64_t count, len, pairs = 0;
	const uint8_t *p;
	bool negative;

	for (;;) {
		if (!read_long(avro, &count, &negative))
			return false;
		if (!count)
			break;
		if (count > PAIRS_MAX - pairs || (negative && !read_len(avro, &len, UINT64_MAX)))
			return false;
		pairs += count;
		while (count--)
			if (!read_pair(avro))
				return false;
	}
	p = avro->has_schema ? read_bytes(avro, SYNC_LEN) : NULL;
	if (!p)
		return false;
	memcpy(avro->sync, p, SYNC_LEN);
	cursor->at += SYNC_LEN;
	return true;
}

/* Whether a block without a marker seems to be one. */
static bool is_likely(struct avro *avro, uint64_t objects, uint64_t len)
{
	size_t magic_len = strlen(avro->codec->magic);
	const uint8_t *p = magic_len ? cursor_bytes(&avro->cursor, magic_len) : NULL;

	if (magic_len && (!p || memcmp(p, avro->codec->magic, magic_len) != 0))
		return false;
	if (!avro->blocks)
		return objects <= FIRST_MAX && len <= FIRST_MAX;
	return objects / TIMES_MAX <= avro->objects_max && len / TIMES_MAX <= avro->len_max;
}

/* Reads the block at the cursor. Else the cursor may be anywhere. */
static enum found read_block(struct avro *avro)
{
	struct cursor *cursor = &avro->cursor;
	uint64_t objects, len, left;
	const uint8_t *p;
	bool negative, ends;

	if (!read_long(avro, &objects, &negative) || negative || !objects ||
		!read_long(avro, &len, &negative) || negative)
		return cursor->at < view_size(cursor->view) && cursor_peek(cursor) < 0 ? CUT : NONE;
	left = view_size(cursor->view) - cursor->at;
	ends = left < SYNC_LEN || len > left - SYNC_LEN;
	p = ends ? NULL : view_peek(cursor->view, cursor->at + len, SYNC_LEN);
	cursor_forget(cursor);
	if (!p || memcmp(p, avro->sync, SYNC_LEN) != 0) {
		if (!p && !ends)
			return CUT;
		if (!is_likely(avro, objects, len))
			return NONE;
		return ends ? CUT : BROKEN;
	}
	cursor->at += len + SYNC_LEN;
	avro->blocks++;
	avro->objects_max = objects > avro->objects_max ? objects : avro->objects_max;
	avro->len_max = len > avro->len_max ? len : avro->len_max;
	return FOUND;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct avro avro = { .cursor = { .view = view, .at = MAGIC_LEN }, .codec = codecs };
	const uint8_t *p = view_peek(view, 0, MAGIC_LEN);
	enum found found = FOUND;
	uint64_t start, at;

	if (!p || memcmp(p, MAGIC, MAGIC_LEN) != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (!read_header(&avro)) {
		at = avro.cursor.at;
		return avro.cut && avro.has_key ? walk_cut(view, finding, view_size(view) + 1, at)
						: verdict_because(CARVE_REJECT, finding,
							  "no metadata at %" PRIu64, at);
	}
	start = at = avro.cursor.at;
	while ((found = read_block(&avro)) == FOUND)
		at = avro.cursor.at;
	view_holds(view, start, at);
	if (found == CUT)
		return walk_cut(view, finding, view_size(view) + 1, at);
	if (found == NONE)
		return walk_uncounted(view, finding, at, at, 0, "block");
	finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, finding, "no sync marker after the block at %" PRIu64, at);
}

const struct carver avro_carver = {
	.name = "avro",
	.summary = "Apache Avro's container files, by their blocks and sync marker",
	.check = check,
};
