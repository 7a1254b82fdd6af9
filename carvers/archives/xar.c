/*
 * xar archives, as Apple's installer packages are (the xar project's wiki, "xarformat").
 *
 *	file:   header, table of contents (XML, compressed with zlib), heap
 *	header: 'xar!', its length (28 or more), version 1, compressed and decompressed length of
 *		the table, type of checksum. All big-endian
 *
 * Every piece of the heap (files, extended attributes, checksum, signatures) has an <offset> from
 * the heap's start and a <length> or <size> in the table: the last one ends the file.
 *
 * Pieces that are compressed (with zlib, mostly, or gzip, bzip2, xz) are decompressed, which compares
 * their own checksums; the others are named as unverified. If the last piece is not verified, neither is
 * the file.
 *
 * libarchive (3.6) writes the table's first bytes again after the heap, as many as its checksum has.
 *
 * Damage. What follows the table counts as valid up to the end of the image, or not at all.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "compressed.h"
#include "inflated.h"
#include "stretches.h"
#include "walk.h"

enum {
	HEADER_MIN_LEN = 28,
	HEADER_MAX_LEN = 4096,
	TAG_MAX_LEN = 16,
	SHA1_LEN = 20,
	MD5_LEN = 16,
};

#define PIECES_MAX 65536 /* that are checked */
#define PIECE_WORK 64    /* units (view_work) to sort one */

#define TABLE_MAX_LEN ((uint64_t)256 << 20)

/* Reads the table byte by byte while it is decompressed. A file's data has an offset and a length,
 * in either order; a checksum and a signature have a size instead. */
struct xar_table {
	struct view *view;
	char tag[TAG_MAX_LEN]; /* the tag being read, or the one before the current text */
	size_t tag_len;
	bool in_tag;
	uint64_t number;
	uint64_t offset, length, size, end; /* end: after the last piece */
	bool has_offset, has_length, has_size, is_xml;
	struct stretches pieces; /* offsets in the heap */
};

static bool is_tag(const struct xar_table *table, const char *name)
{
	return table->tag_len == strlen(name) && memcmp(table->tag, name, table->tag_len) == 0;
}

/* Adds a piece, and resets the fields for the next one. */
static void add_piece(struct xar_table *table, uint64_t len)
{
	if (table->has_offset && len <= INT64_MAX - table->offset) {
		if (len)
			stretches_add(table->view, &table->pieces, PIECES_MAX, table->offset,
				table->offset + len);
		if (table->offset + len > table->end)
			table->end = table->offset + len;
	}
	table->has_offset = table->has_length = table->has_size = false;
}

/* Handles a closing tag: a number is complete, or a piece is. */
static void close_tag(struct xar_table *table)
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
		add_piece(table, table->has_length ? table->length : 0);
	} else if (is_tag(table, "/checksum") || is_tag(table, "/signature") ||
		   is_tag(table, "/x-signature")) {
		add_piece(table, table->has_size ? table->size : 0);
	} else if (is_tag(table, "/xar")) {
		table->is_xml = true;
	}
}

static bool read_xml(void *context, const uint8_t *bytes, size_t len)
{
	struct xar_table *table = context;

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

/* Decompresses [at, end). Returns where it became invalid, or end. */
static uint64_t read_table(struct view *view, uint64_t at, uint64_t end, uint64_t xml_len,
	struct xar_table *table, bool *whole)
{
	struct inflated inflated = { .inspect = read_xml, .context = table };
	enum inflated_state state = INFLATED_MORE;
	const uint8_t *window;
	size_t len, used;

	*whole = false;
	if (!inflated_open(&inflated, view, INFLATED_ZLIB))
		return at;
	while (state == INFLATED_MORE && inflated.output_len <= xml_len &&
		(window = walk_window(view, at, end, &len))) {
		state = inflated_feed(&inflated, window, len, &used);
		at += used;
	}
	inflated_close(&inflated);
	*whole = state == INFLATED_DONE && inflated.output_len == xml_len && at == end &&
		 table->is_xml;
	return at;
}

/* Whether the bytes [at, end) are all one compressed stream with a checksum. */
static bool is_piece_whole(struct view *view, uint64_t at, uint64_t end)
{
	struct inflated inflated = { 0 };
	const uint8_t *p = view_peek(view, at, 6);
	struct compressed stream;

	if (!p || end - at < 8)
		return false;
	if (p[0] == 0x1f && p[1] == 0x8b)
		return compressed_walk(view, COMPRESSED_GZIP, at, end, &stream) ==
			       COMPRESSED_DONE &&
		       stream.end == end;
	if (memcmp(p, "BZh", 3) == 0)
		return compressed_walk(view, COMPRESSED_BZIP2, at, end, &stream) ==
			       COMPRESSED_DONE &&
		       stream.end == end;
	if (memcmp(p, "\xfd\x37zXZ", 6) == 0)
		return compressed_walk(view, COMPRESSED_XZ, at, end, &stream) == COMPRESSED_DONE &&
		       stream.end == end;
	if (p[0] != 0x78 || be16(p) % 31)
		return false;
	return inflated_walk(&inflated, view, INFLATED_ZLIB, &at, end) == INFLATED_DONE &&
	       at == end;
}

/* Decompresses all pieces, and names what is not verified so. Whether the last one is. */
static bool check_pieces(struct view *view, uint64_t heap, struct xar_table *table)
{
	uint64_t end = heap; /* of what is verified */

	if (!view_work(view, PIECE_WORK * table->pieces.count))
		return false;
	stretches_sort(&table->pieces);
	for (size_t i = 0; i < table->pieces.count; i++) {
		const struct stretch *piece = &table->pieces.list[i];
		uint64_t at = heap + piece->at, piece_end = heap + piece->end;

		if (at < end || !is_piece_whole(view, at, piece_end))
			continue;
		view_unverified(view, end, at);
		end = piece_end;
	}
	view_unverified(view, end, heap + table->end);
	return end == heap + table->end;
}

/* How many bytes after the heap's end repeat the table's first ones: as many as the checksum has, or 0. */
static uint64_t repeated_len(struct view *view, uint64_t table_at, uint64_t heap_end)
{
	static const uint8_t lens[] = { SHA1_LEN, MD5_LEN };
	uint8_t first[SHA1_LEN];
	const uint8_t *p = view_peek(view, table_at, SHA1_LEN);

	if (!p)
		return 0;
	memcpy(first, p, SHA1_LEN);
	for (size_t i = 0; i < sizeof(lens); i++) {
		p = view_peek(view, heap_end, lens[i]);
		if (p && memcmp(p, first, lens[i]) == 0)
			return lens[i];
	}
	return 0;
}

static enum verdict check_archive(
	struct view *view, struct finding *finding, struct xar_table *table)
{
	const uint8_t *p = view_peek(view, 0, HEADER_MIN_LEN);
	uint64_t header_len = p ? be16(p + 4) : 0, table_len = p ? be64(p + 8) : 0;
	uint64_t xml_len = p ? be64(p + 16) : 0, heap, invalid_at, size = view_size(view);
	bool whole;

	if (!p || memcmp(p, "xar!", 4) != 0 || be16(p + 6) != 1 || header_len < HEADER_MIN_LEN ||
		header_len > HEADER_MAX_LEN || !table_len || table_len > TABLE_MAX_LEN ||
		xml_len > TABLE_MAX_LEN || xml_len < table_len / 2)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	heap = header_len + table_len;
	invalid_at = read_table(view, header_len, heap, xml_len, table, &whole);
	if (!whole && invalid_at < header_len + 32 && heap <= size)
		return verdict_because(
			CARVE_REJECT, finding, "no table of contents at %" PRIu64, header_len);
	if (!whole && heap <= size) {
		finding->length = walk_before_fill(view, header_len, invalid_at);
		return verdict_because(CARVE_TRUNCATED, finding,
			"the table of contents is invalid at %" PRIu64, invalid_at);
	}
	if (!whole || table->end > size - heap)
		return walk_cut(view, finding, whole ? heap + table->end : heap,
			view_ends_with_image(view) ? walk_before_fill(view, header_len, size)
			: whole                    ? heap
						   : invalid_at);
	finding->length = heap + table->end;
	if (!check_pieces(view, heap, table))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the last piece, up to %" PRIu64, finding->length);
	finding->length += repeated_len(view, header_len, finding->length);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct xar_table table = { .view = view };
	enum verdict verdict = check_archive(view, finding, &table);

	free(table.pieces.list);
	return verdict;
}

const struct carver xar_carver = {
	.name = "xar",
	.summary = "xar archives and Apple's packages, by their table of contents",
	.check = check,
};
