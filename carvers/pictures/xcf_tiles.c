/*
 * The pixels of an XCF file: a level has tiles of 64 by 64 pixels, those at its right and lower
 * edge are smaller. A tile's bytes are the pixels themselves, or runs for one byte of all pixels
 * after the other, or a zlib stream. Runs and streams have to decode to exactly the tile's size.
 */
#include "xcf.h"

#include "bytes.h"
#include "inflated.h"
#include "walk.h"

#define TILE 64
#define BATCH 256
#define PIECE 4096

/* Decodes one byte of all pixels, as runs. Most bytes decode as some: what GIMP writes has equal bytes as a run, so that values
 * as they are never follow each other, and a run of one byte ends a plane. xcf->odd_runs: something else is here.
 * xcf->loose: how many bytes at the end are values as they are. */
static bool read_plane(struct xcf *xcf, struct cursor *cursor, uint32_t left)
{
	bool literal = false;

	while (left) {
		int code = cursor_next(cursor), high = 0, low = 0;
		uint32_t count = code < 128 ? (uint32_t)code + 1 : 256u - (uint32_t)code;

		if (code == 127 || code == 128) {
			high = cursor_next(cursor);
			low = cursor_next(cursor);
			count = (uint32_t)high << 8 | (uint32_t)low;
		}
		if (code < 0 || high < 0 || low < 0 || count == 0 || count > left)
			return false;
		left -= count;
		xcf->odd_runs |= code >= 128 ? literal : count == 1 && left;
		xcf->loose = code >= 128 ? count : 0;
		literal = code >= 128;
		cursor->at += code < 128 ? 1 : count;
	}
	return true;
}

/* Inflates a zlib stream of len bytes and moves *at past it. */
static bool read_stream(struct view *view, uint64_t *at, uint64_t len)
{
	struct inflated inflated = { 0 };
	enum inflated_state state = INFLATED_MORE;

	if (!inflated_open(&inflated, view, INFLATED_ZLIB))
		return false;
	while (state == INFLATED_MORE && inflated.output_len <= len) {
		size_t piece, used;
		const uint8_t *p = walk_window(view, *at, *at + PIECE, &piece);

		if (!p)
			break;
		state = inflated_feed(&inflated, p, piece, &used);
		*at += used;
	}
	inflated_close(&inflated);
	return state == INFLATED_DONE && inflated.output_len == len;
}

static bool read_tile(struct xcf *xcf, uint64_t at, uint32_t pixels, unsigned depth)
{
	struct cursor cursor = { .view = xcf->view, .at = at };
	uint64_t size = view_size(xcf->view);

	xcf->odd_runs = false;
	xcf->loose = 0;
	if (at < xcf->extent)
		return xcf_fail(xcf, at, "a tile that starts inside earlier data");
	if (xcf->compression == 0) {
		cursor.at += (uint64_t)pixels * depth;
		view_unverified(xcf->view, at, cursor.at);
	} else if (xcf->compression == 2) {
		if (!read_stream(xcf->view, &cursor.at, (uint64_t)pixels * depth))
			return xcf_fail(
				xcf, at, cursor.at < size ? "a tile is not a zlib stream" : NULL);
	} else {
		for (unsigned i = 0; i < depth; i++)
			if (!read_plane(xcf, &cursor, pixels))
				return xcf_fail(xcf, at,
					cursor.at < size ? "a tile's runs are too long" : NULL);
	}
	if (cursor.at > size)
		return xcf_fail(xcf, at, NULL);
	xcf->extent = cursor.at;
	return true;
}

static uint32_t tile_side(uint32_t size, uint32_t index)
{
	uint32_t left = size - index * TILE;

	return left < TILE ? left : TILE;
}

/* Reads the tiles whose pointers start at `at`. */
static bool read_tiles(
	struct xcf *xcf, uint64_t at, uint32_t width, uint32_t height, unsigned depth)
{
	uint32_t across = (width + TILE - 1) / TILE, down = (height + TILE - 1) / TILE;
	uint64_t count = (uint64_t)across * down, pointers[BATCH];

	for (uint64_t tile = 0; tile < count; tile++) {
		if (tile % BATCH == 0) {
			for (uint64_t i = 0; i < BATCH && tile + i < count; i++)
				if (!xcf_pointer(
					    xcf, at + (tile + i) * xcf->pointer_len, &pointers[i]))
					return false;
		}
		if (pointers[tile % BATCH] > view_size(xcf->view))
			return xcf_fail(xcf, xcf->extent, NULL);
		if (!read_tile(xcf, pointers[tile % BATCH],
			    tile_side(width, (uint32_t)(tile % across)) *
				    tile_side(height, (uint32_t)(tile / across)),
			    depth))
			return false;
	}
	return true;
}

/* The start of a level, with at least its size. */
static const uint8_t *peek_level(struct xcf *xcf, uint64_t at)
{
	const uint8_t *p = view_peek(xcf->view, at, 12);

	if (!p)
		xcf_fail(xcf, at, NULL);
	else if (at < xcf->extent)
		xcf_fail(xcf, at, "a level that starts inside earlier data");
	return p && at >= xcf->extent ? p : NULL;
}

bool xcf_skip_level(struct xcf *xcf, uint64_t at)
{
	const uint8_t *p = peek_level(xcf, at);

	if (!p)
		return false;
	if (be32(p + 8))
		return xcf_fail(xcf, at, "a level that is not empty");
	xcf->extent = at + 12;
	return true;
}

bool xcf_read_level(struct xcf *xcf, uint64_t at, unsigned depth)
{
	const uint8_t *p = peek_level(xcf, at);
	uint32_t width = p ? be32(p) : 0, height = p ? be32(p + 4) : 0;
	uint64_t count, end, value;

	if (!p)
		return false;
	if (!width || !height || width > 524288 || height > 524288)
		return xcf_fail(xcf, at, "a level with an impossible size");
	count = (uint64_t)((width + TILE - 1) / TILE) * ((height + TILE - 1) / TILE);
	end = at + 8 + (count + 1) * xcf->pointer_len;
	if (!xcf_pointer(xcf, end - xcf->pointer_len, &value))
		return false;
	if (value)
		return xcf_fail(xcf, at, "a level with a wrong number of tiles");
	xcf->extent = end;
	return read_tiles(xcf, at + 8, width, height, depth);
}
