/*
 * xar archives, as Apple's installer packages are (the xar project's wiki, "xarformat").
 *
 *	file:   header, table of contents (XML, packed with zlib), heap
 *	header: 'xar!', its length (28 or more), version 1, packed and unpacked length of the table,
 *		kind of checksum. All big-endian
 *
 * Every piece of the heap (files, extended attributes, checksum, signatures) has an <offset> from
 * the heap's start and a <length> or <size> in the table: the furthest ends the file.
 *
 * Damage. Pieces are not looked at: what is behind the table is sound up to the end of the image,
 * or not at all.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "inflated.h"
#include "walk.h"

enum {
	HEADER_MIN_LEN = 28,
	HEADER_MAX_LEN = 4096,
	TAG_MAX_LEN = 16,
};

#define TABLE_MAX_LEN ((uint64_t)256 << 20)

/* Reads the table as it comes out, byte by byte. A file's data has an offset and a length, in
 * either order; a checksum and a signature have a size instead. */
struct table {
	char tag[TAG_MAX_LEN]; /* the one whose text is read, or the one being read */
	size_t tag_len;
	bool in_tag;
	uint64_t number;
	uint64_t offset, length, size, end; /* end: behind the furthest piece */
	bool has_offset, has_length, has_size, is_xml;
};

static bool is_tag(const struct table *table, const char *name)
{
	return table->tag_len == strlen(name) && memcmp(table->tag, name, table->tag_len) == 0;
}

/* Counts a piece, and forgets what was read of it. */
static void take_piece(struct table *table, uint64_t len)
{
	if (table->has_offset && len <= INT64_MAX - table->offset &&
		table->offset + len > table->end)
		table->end = table->offset + len;
	table->has_offset = table->has_length = table->has_size = false;
}

/* A closing tag: a number is whole, or a piece is. */
static void close_tag(struct table *table)
{
	if (is_tag(table, "/offset")) {
		table->offset = table->number;
		table->has_offset = true;
	} else if (is_tag(table, "/length")) {
		table->length = table->number;
		table->has_length = true;
	} else if (is_tag(table, "/size")) {
		table->size = table->number;
		table->has_size = true;
	} else if (is_tag(table, "/data") || is_tag(table, "/ea")) {
		take_piece(table, table->has_length ? table->length : 0);
	} else if (is_tag(table, "/checksum") || is_tag(table, "/signature") ||
		   is_tag(table, "/x-signature")) {
		take_piece(table, table->has_size ? table->size : 0);
	} else if (is_tag(table, "/xar")) {
		table->is_xml = true;
	}
}

static bool see(void *context, const uint8_t *bytes, size_t len)
{
	struct table *table = context;

	for (size_t i = 0; i < len; i++) {
		uint8_t byte = bytes[i];

		if (byte == '<') {
			table->in_tag = true;
			table->tag_len = 0;
		} else if (byte == '>') {
			table->in_tag = false;
			if (table->tag_len && table->tag[0] == '/')
				close_tag(table);
			else
				table->number = 0;
		} else if (table->in_tag) {
			if (table->tag_len < TAG_MAX_LEN)
				table->tag[table->tag_len++] = (char)byte;
		} else if (byte >= '0' && byte <= '9' && table->number < INT64_MAX / 16) {
			table->number = table->number * 10 + (byte - '0');
		}
	}
	return true;
}

/* Unpacks [at, end): where it broke, or end. */
static uint64_t read_table(struct view *view, uint64_t at, uint64_t end, uint64_t unpacked_len,
	struct table *table, bool *whole)
{
	struct inflated inflated = { .inspect = see, .context = table };
	enum inflated_state state = INFLATED_MORE;
	const uint8_t *window;
	size_t len, used;

	*whole = false;
	if (!inflated_open(&inflated, INFLATED_ZLIB))
		return at;
	while (state == INFLATED_MORE && inflated.output_len <= unpacked_len &&
		(window = walk_window(view, at, end, &len))) {
		state = inflated_feed(&inflated, window, len, &used);
		at += used;
	}
	inflated_close(&inflated);
	*whole = state == INFLATED_DONE && inflated.output_len == unpacked_len && at == end &&
		 table->is_xml;
	return at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEADER_MIN_LEN);
	uint64_t header_len = p ? be16(p + 4) : 0, packed_len = p ? be64(p + 8) : 0;
	uint64_t unpacked_len = p ? be64(p + 16) : 0, heap, broken, size = view_size(view);
	struct table table = { .number = 0 };
	bool whole;

	if (!p || memcmp(p, "xar!", 4) != 0 || be16(p + 6) != 1 || header_len < HEADER_MIN_LEN ||
		header_len > HEADER_MAX_LEN || !packed_len || packed_len > TABLE_MAX_LEN ||
		unpacked_len > TABLE_MAX_LEN || unpacked_len < packed_len / 2)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	heap = header_len + packed_len;
	broken = read_table(view, header_len, heap, unpacked_len, &table, &whole);
	if (!whole && broken < header_len + 32 && heap <= size)
		return verdict_because(
			CARVE_REJECT, finding, "no table of contents at %" PRIu64, header_len);
	if (!whole && heap <= size) {
		finding->length = walk_before_fill(view, header_len, broken);
		return verdict_because(CARVE_TRUNCATED, finding,
			"the table of contents breaks at %" PRIu64, broken);
	}
	if (!whole || table.end > size - heap)
		return walk_cut(view, finding, whole ? heap + table.end : heap,
			view_ends_with_image(view) ? walk_before_fill(view, header_len, size)
			: whole                    ? heap
						   : broken);
	finding->length = heap + table.end;
	return CARVE_COMPLETE;
}

const struct carver xar_carver = {
	.name = "xar",
	.summary = "xar archives and Apple's packages, by their table of contents",
	.check = check,
};
