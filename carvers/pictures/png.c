/*
 * PNG and APNG (W3C, Portable Network Graphics, third edition; ISO/IEC 15948).
 *
 *	file:  89 'PNG' 0D 0A 1A 0A, then chunks
 *	chunk: data length (4 bytes, big-endian), type (4 letters), data, CRC-32 of type and data
 *
 * IHDR comes first and has only a few valid values; IEND, always empty, comes last, so the file
 * ends after it. In between, the chunks' lengths lead from one to the next. Checked are every CRC,
 * the letters of every type, and the order: one PLTE before the picture data, needed with colour
 * type 3, and IDAT chunks without others between them. APNG is PNG with more kinds of chunks, and
 * viewers show it under the same extension. Apple's variant has a chunk CgBI before IHDR.
 *
 * Damage. A wrong CRC in a chunk that viewers do not need (its type's first letter is lower-case)
 * only leads to a remark, if the walk reaches a valid IEND: the picture opens; if a sector begins in the
 * chunk, whose end may be another file's then, the picture is unverified. Anything else ends
 * the valid part: after the last chunk whose CRC matched, or, inside IDAT, where the picture data
 * becomes invalid (png_data.c).
 *
 * Bytes that could not be read. A chunk with some of them is left as it is where a valid chunk
 * follows it. Where they cover a chunk's head, the walk goes on at the next IDAT or IEND whose CRC
 * matches; where they cover IEND, at the end of the picture data, the file ends with it.
 */
#include "png.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "exif.h"
#include "overwrite.h"
#include "title.h"
#include "walk.h"

/* How far after unreadable bytes the next chunk is looked for. */
#define CHUNK_FAR ((uint64_t)4 << 20)

struct chunk {
	uint64_t at, end; /* [at, end) with length, type and CRC */
	uint32_t len;     /* of the data, which starts at `at` + 8 */
	char type[5];
};

enum chunk_state {
	CHUNK_VALID,
	CHUNK_CUT,  /* reaches past the view */
	CHUNK_NONE, /* not a chunk */
	CHUNK_BAD_CRC,
	CHUNK_UNREAD, /* data or CRC could not be read */
	CHUNK_HIDDEN, /* length or type could not be read */
};

struct png {
	struct view *view;
	struct finding *finding;
	struct png_shape shape;
	uint64_t valid_end;  /* end of the last chunk whose CRC matched */
	uint64_t first_idat; /* 0: none yet */
	uint64_t data_end;   /* of the last IDAT */
	uint64_t damaged;    /* a dispensable chunk with a wrong CRC, or 0 */
	bool replaced; /* one in which a sector begins, so that other bytes may have taken its end's place */
	struct chunk
		unread; /* could not be read, and no valid chunk came after it; at is 0: none */
	bool palette, data_over;
	bool hidden; /* chunks before the first IDAT that was read */
};

static bool has_type(const struct chunk *chunk, const char *type)
{
	return memcmp(chunk->type, type, 4) == 0;
}

static bool dispensable(const struct chunk *chunk)
{
	return chunk->type[0] & 0x20;
}

bool png_type_valid(const char *type)
{
	for (int i = 0; i < 4; i++) {
		char letter = type[i] & ~0x20;

		if (letter < 'A' || letter > 'Z')
			return false;
	}
	return true;
}

static enum chunk_state read_chunk(struct view *view, uint64_t at, struct chunk *chunk)
{
	const uint8_t *p = view_peek(view, at, 8);
	uint64_t from, to;
	uint32_t crc = 0;

	chunk->at = at;
	chunk->end = at + 12;
	if (!p)
		return CHUNK_CUT;
	chunk->len = be32(p);
	chunk->end += chunk->len;
	memcpy(chunk->type, p + 4, 4);
	chunk->type[4] = 0;
	if (chunk->len > INT32_MAX || !png_type_valid(chunk->type))
		return view_unreadable(view, at, 8, &from, &to) ? CHUNK_HIDDEN : CHUNK_NONE;
	if (!walk_crc32(view, at + 4, (uint64_t)chunk->len + 4, &crc))
		return CHUNK_CUT;
	p = view_peek(view, chunk->end - 4, 4);
	if (!p)
		return CHUNK_CUT;
	if (be32(p) == crc)
		return CHUNK_VALID;
	return view_met_unreadable(view) &&
			       view_unreadable(view, at, (uint64_t)chunk->len + 12, &from, &to)
		       ? CHUNK_UNREAD
		       : CHUNK_BAD_CRC;
}

static bool valid_depth(uint8_t colour, uint8_t depth)
{
	switch (colour) {
	case 0:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
	case 3:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8;
	case 2:
	case 4:
	case 6:
		return depth == 8 || depth == 16;
	}
	return false;
}

/* Returns what is wrong with the fields of IHDR, or NULL. */
static const char *read_header(struct png *png, const struct chunk *chunk)
{
	const uint8_t *p = chunk->len == 13 ? view_peek(png->view, chunk->at + 8, 13) : NULL;
	struct png_shape *shape = &png->shape;

	if (!p)
		return "IHDR is not 13 bytes long";
	shape->width = be32(p);
	shape->height = be32(p + 4);
	shape->depth = p[8];
	shape->colour = p[9];
	shape->interlaced = p[12] == 1;
	if (shape->width - 1 >= INT32_MAX || shape->height - 1 >= INT32_MAX)
		return "IHDR has an impossible size";
	if (!valid_depth(shape->colour, shape->depth))
		return "IHDR has an impossible depth or colour type";
	if (p[10] != 0 || p[11] != 0 || p[12] > 1)
		return "IHDR has an unknown compression, filter or interlace method";
	return NULL;
}

/* Reads the chunks that open a file. Returns what is wrong with them, or NULL; png->valid_end is
 * their end, or where the problem is. */
static const char *read_start(struct png *png)
{
	const uint8_t *p = view_peek(png->view, 0, 8);
	struct chunk chunk;
	enum chunk_state state;
	const char *problem;

	if (!p || memcmp(p, "\x89PNG\r\n\x1a\n", 8) != 0)
		return "no PNG signature";
	png->valid_end = 8;
	state = read_chunk(png->view, 8, &chunk);
	if (state == CHUNK_VALID && has_type(&chunk, "CgBI")) {
		png->shape.bare = true;
		png->valid_end = chunk.end;
		state = read_chunk(png->view, chunk.end, &chunk);
	}
	if (state == CHUNK_CUT)
		return "IHDR is cut off";
	if (state == CHUNK_NONE || state == CHUNK_HIDDEN || !has_type(&chunk, "IHDR"))
		return "IHDR does not come first";
	if (state != CHUNK_VALID)
		return "the CRC of IHDR is wrong";
	problem = read_header(png, &chunk);
	if (!problem)
		png->valid_end = chunk.end;
	return problem;
}

/* Returns how a valid chunk violates the order of chunks, or NULL. */
static const char *misplaced(const struct png *png, const struct chunk *chunk)
{
	if (has_type(chunk, "IHDR"))
		return "a second IHDR";
	if (has_type(chunk, "PLTE")) {
		if (png->palette || png->first_idat)
			return "PLTE comes too late";
		if (chunk->len == 0 || chunk->len > 768 || chunk->len % 3 != 0)
			return "PLTE has an impossible length";
	}
	if (has_type(chunk, "IDAT")) {
		if (png->data_over)
			return "IDAT separated from the others";
		if (png->shape.colour == 3 && !png->palette)
			return "IDAT without the required PLTE";
	}
	if (has_type(chunk, "IEND")) {
		if (!png->first_idat && !png->hidden)
			return "IEND without any IDAT";
		if (chunk->len != 0)
			return "IEND is not empty";
	}
	return NULL;
}

/* Reads a title from tEXt, or from iTXt where that is not compressed. */
static void read_text(struct png *png, const struct chunk *chunk)
{
	size_t len = chunk->len < 1024 ? chunk->len : 1024;
	const uint8_t *p = view_peek(png->view, chunk->at + 8, len);
	size_t text = 6;

	if (!p || len < text || memcmp(p, "Title", 6) != 0)
		return;
	if (has_type(chunk, "iTXt")) {
		if (len < 8 || p[6] != 0)
			return;
		/* After the two bytes for compression: language and translated keyword. */
		text = 8;
		for (int strings = 0; strings < 2; strings++) {
			const uint8_t *nul = memchr(p + text, 0, len - text);

			if (!nul)
				return;
			text = (size_t)(nul - p) + 1;
		}
	}
	finding_set_title(png->finding, p + text, len - text);
}

static void read_details(struct png *png, const struct chunk *chunk)
{
	if (has_type(chunk, "tIME") && chunk->len == 7) {
		const uint8_t *p = view_peek(png->view, chunk->at + 8, 7);

		if (p)
			png->finding->time = utc_seconds(be16(p), p[2], p[3], p[4], p[5], p[6]);
	} else if (has_type(chunk, "eXIf")) {
		exif_read(png->view, chunk->at + 8, chunk->len, png->finding);
	} else if (has_type(chunk, "tEXt") || has_type(chunk, "iTXt")) {
		read_text(png, chunk);
	}
}

/* Whether the chunk has a public type. Text can look like a chunk, but not with such a type. */
static bool known(const struct chunk *chunk)
{
	static const char types[] =
		"PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI tEXt zTXt iTXt bKGD "
		"hIST pHYs sPLT eXIf tIME acTL fcTL fdAT oFFs pCAL sCAL sTER";

	return strstr(types, chunk->type) != NULL;
}

/* How far a file is valid that ends with this chunk, which is cut or damaged. */
static uint64_t damaged_valid_end(
	struct png *png, const struct chunk *chunk, enum chunk_state state)
{
	uint64_t size = view_size(png->view), valid_end = png->valid_end, data = chunk->at + 8;

	if (state == CHUNK_NONE || data > size || !known(chunk))
		return valid_end;
	if (has_type(chunk, "IDAT") && !png->data_over) {
		valid_end = png_data_end(png->view, &png->shape,
			png->first_idat ? png->first_idat : chunk->at,
			chunk->end - 4 < size ? chunk->end - 4 : size, NULL);
		if (valid_end < size)
			valid_end = walk_before_fill(
				png->view, data < valid_end ? data : valid_end, valid_end);
		return valid_end;
	}
	/* A chunk that the image's end cuts is kept as far as it goes. */
	return state == CHUNK_CUT && valid_end == chunk->at && view_ends_with_image(png->view)
		       ? size
		       : valid_end;
}

/* The verdict on such a file. */
static enum verdict cut_in(struct png *png, const struct chunk *chunk, enum chunk_state state)
{
	uint64_t valid_end = damaged_valid_end(png, chunk, state);

	if (valid_end < png->valid_end)
		valid_end = png->valid_end;
	if (state == CHUNK_CUT)
		return walk_cut(png->view, png->finding, chunk->end, valid_end);
	png->finding->length = valid_end;
	if (state == CHUNK_NONE)
		return verdict_because(
			CARVE_TRUNCATED, png->finding, "no chunk at %" PRIu64, chunk->at);
	return verdict_because(CARVE_TRUNCATED, png->finding,
		"the CRC of chunk %s at %" PRIu64 " is wrong", chunk->type, chunk->at);
}

/* Reads a chunk whose CRC matched. Returns what is wrong with it here, or NULL. */
static const char *read_chunk_content(struct png *png, const struct chunk *chunk)
{
	const char *problem = misplaced(png, chunk);

	if (problem)
		return problem;
	if (has_type(chunk, "PLTE"))
		png->palette = true;
	if (has_type(chunk, "IDAT") && !png->first_idat)
		png->first_idat = chunk->at;
	if (has_type(chunk, "IDAT"))
		png->data_end = chunk->end;
	read_details(png, chunk);
	png->valid_end = chunk->end;
	return NULL;
}

/* Finds the valid IDAT or IEND that is closest after the bytes at hidden->at, which can't be read. The
 * hidden chunk, or chunks, are made to end there. */
static bool find_chunk(struct view *view, struct chunk *hidden)
{
	uint64_t at = hidden->at, from, end;
	struct chunk chunk;

	while (view_unreadable(view, at, 8, &from, &end))
		at = end;
	end = at + CHUNK_FAR;
	for (; walk_find_word(view, &at, end, "IDATIEND"); at++)
		if (at - hidden->at >= 16 && read_chunk(view, at - 4, &chunk) == CHUNK_VALID) {
			hidden->end = at - 4;
			return true;
		}
	return false;
}

/* Whether the picture data is valid up to where the next chunk begins, or up to bytes that can't be read
 * before it. */
static bool picture_reaches(struct png *png, uint64_t next)
{
	uint64_t end, from, to;

	if (!png->first_idat)
		return false;
	end = png_data_end(png->view, &png->shape, png->first_idat, next - 4, NULL);
	return end >= next - 4 || (view_unreadable(png->view, end, VIEW_MAX_PEEK, &from, &to) &&
					  to > next && from <= end + PNG_DATA_PIECE);
}

/* Goes past a chunk that can't be read, as far as its head shows how long it is. False: no further. */
static bool skip_unread(struct png *png, struct chunk *chunk, enum chunk_state state)
{
	if (state == CHUNK_HIDDEN && !find_chunk(png->view, chunk))
		return false;
	if (state == CHUNK_UNREAD && has_type(chunk, "IEND") && (chunk->len || !png->first_idat))
		return false;
	if (state == CHUNK_UNREAD && has_type(chunk, "PLTE"))
		png->palette = true;
	if (state == CHUNK_UNREAD && has_type(chunk, "IDAT") && !png->first_idat)
		png->first_idat = chunk->at;
	/* PLTE and IDAT may have been there. */
	if (state == CHUNK_HIDDEN && !png->first_idat)
		png->palette = png->hidden = true;
	if (!png->unread.at)
		png->unread = *chunk;
	view_unverified(png->view, chunk->at, chunk->end);
	return true;
}

/* The verdict where a chunk's head can't be read, and no other follows. */
static enum verdict hidden_end(struct png *png, const struct chunk *chunk)
{
	struct finding *finding = png->finding;
	uint64_t size = view_size(png->view);

	finding->length = png->valid_end;
	if ((png->unread.at && png->unread.end != chunk->at) || !picture_reaches(png, chunk->at))
		return verdict_because(CARVE_TRUNCATED, finding, "no chunk at %" PRIu64, chunk->at);
	finding->length = size - chunk->at < 12 ? size : chunk->at + 12;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the chunk after the picture, at %" PRIu64 ", can't be read", chunk->at);
}

/* False: the picture data is damaged, and the length ends there. */
static bool prove_data(const struct png *png)
{
	enum png_data state;
	uint64_t end =
		png_data_end(png->view, &png->shape, png->first_idat, png->data_end - 4, &state);

	if (state == PNG_DATA_WHOLE)
		view_proved(png->view, png->first_idat, png->data_end, PNG_CRC_BITS);
	if (state == PNG_DATA_DAMAGED)
		png->finding->length = end;
	return state != PNG_DATA_DAMAGED;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct png png = { .view = view, .finding = finding };
	const char *problem = read_start(&png);
	struct chunk chunk = { .end = png.valid_end };

	if (problem)
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, problem, png.valid_end);
	do {
		enum chunk_state state = read_chunk(view, chunk.end, &chunk);

		if (png.first_idat && !has_type(&chunk, "IDAT") &&
			(state == CHUNK_VALID || state == CHUNK_BAD_CRC))
			png.data_over = true;
		if (state == CHUNK_VALID)
			view_proved(view, chunk.at, chunk.end, PNG_CRC_BITS);
		if (state == CHUNK_BAD_CRC && dispensable(&chunk)) {
			if (!png.damaged)
				png.damaged = chunk.at;
			png.replaced |= overwrite_boundary_between(chunk.at, chunk.end - 1);
			continue;
		}
		if ((state == CHUNK_UNREAD || state == CHUNK_HIDDEN) &&
			skip_unread(&png, &chunk, state))
			continue;
		if (state == CHUNK_HIDDEN)
			return hidden_end(&png, &chunk);
		if (state != CHUNK_VALID && png.unread.at)
			return cut_in(&png, &png.unread, CHUNK_UNREAD);
		if (state != CHUNK_VALID)
			return cut_in(&png, &chunk, state);
		png.unread.at = 0;
		problem = read_chunk_content(&png, &chunk);
		if (problem) {
			finding->length = png.valid_end;
			return verdict_because(
				CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, chunk.at);
		}
	} while (!has_type(&chunk, "IEND"));
	finding->length = chunk.end;
	/* The chunks of another picture have CRCs, too; the stream through all of them has one. */
	if (view_thorough(view) && !prove_data(&png))
		return verdict_because(CARVE_TRUNCATED, finding,
			"the picture data is damaged at %" PRIu64, finding->length);
	if (png.damaged)
		return verdict_because(png.replaced ? CARVE_UNVERIFIED : CARVE_COMPLETE, finding,
			"opens, though the CRC of a chunk at %" PRIu64 " is wrong", png.damaged);
	return CARVE_COMPLETE;
}

const struct carver png_carver = {
	.name = "png",
	.summary = "PNG and APNG pictures, by their chunks and CRCs",
	.check = check,
	.map = &png_map,
};
