/*
 * OpenEXR (OpenEXR File Layout; Technical Introduction to OpenEXR).
 *
 *	76 2F 31 01, version 2 with flags (tiled, long names, deep, several parts)
 *	headers: attributes (name, type, size, value) up to a zero; each of several parts has one, and a zero ends
 *	         them
 *	for each part a table with the offset of each of its chunks
 *	chunks:  the part's number if there are several, the position in the picture (line, or tile
 *	         and level), sizes, data
 *
 * The headers determine how many chunks there are (exr_header.c). They follow one another in any
 * order, and the walk does too: the position of each has to be inside the picture, and its size
 * leads to the next. The sum of all offsets in the tables has to agree with where the chunks were.
 * The last chunk's data is inflated if it is a zlib stream; otherwise nothing confirms it, and the
 * file is unverified. The date is that of the attribute capDate.
 */
#include "exr.h"

#include <inttypes.h>

#include "bytes.h"
#include "inflated.h"
#include "walk.h"

#define TAIL_MIN 32
#define BATCH 512

struct chunk {
	const struct exr_part *part;
	uint64_t at, data, end;
};

/* Sums up all offsets in the tables, whatever their order. False: they are cut off. */
static bool read_tables(struct exr *exr, uint64_t count, uint64_t *sum)
{
	*sum = 0;
	while (count) {
		size_t some = count < BATCH ? (size_t)count : BATCH;
		const uint8_t *p = view_peek(exr->view, exr->end, some * 8);

		if (!p)
			return false;
		for (size_t i = 0; i < some; i++)
			*sum += le64(p + 8 * i);
		exr->end += some * 8;
		count -= some;
	}
	return true;
}

/* Whether the position is inside the picture. */
static bool position_valid(const struct exr_part *part, const uint8_t *p)
{
	int64_t y = (int64_t)(int32_t)le32(p) - part->top;
	uint64_t width = (uint64_t)((int64_t)part->right - part->left);
	uint64_t height = (uint64_t)((int64_t)part->bottom - part->top);

	if (!part->tiled)
		return y >= 0 && (uint64_t)y <= height && y % part->lines == 0;
	return le32(p) <= width / part->tile_width && le32(p + 4) <= height / part->tile_height &&
	       le32(p + 8) < 32 && le32(p + 12) < 32 &&
	       (part->levels & 15 || (!le32(p + 8) && !le32(p + 12)));
}

/* Reads the head of the chunk at chunk->at. False: there is none, or it is cut off (*cut). */
static bool read_chunk(struct exr *exr, struct chunk *chunk, bool *cut)
{
	uint64_t at = chunk->at, size;
	const uint8_t *p;

	*cut = true;
	chunk->part = exr->parts;
	if (exr->several) {
		p = view_peek(exr->view, at, 4);
		if (!p)
			return false;
		*cut = le32(p) < exr->part_count;
		if (!*cut)
			return false;
		chunk->part = &exr->parts[le32(p)];
		at += 4;
	}
	p = view_peek(exr->view, at, (chunk->part->tiled ? 16 : 4) + (chunk->part->deep ? 24 : 4));
	if (!p)
		return false;
	*cut = false;
	if (!position_valid(chunk->part, p))
		return false;
	at += chunk->part->tiled ? 16 : 4;
	p += chunk->part->tiled ? 16 : 4;
	chunk->data = at + (chunk->part->deep ? 24 : 4);
	size = le32(p);
	if (chunk->part->deep) {
		if (le64(p) > INT64_MAX / 4 || le64(p + 8) > INT64_MAX / 4)
			return false;
		size = le64(p) + le64(p + 8);
	} else if (size == 0 || size > INT32_MAX) {
		return false;
	}
	chunk->end = chunk->data + size;
	return true;
}

/* Whether the data is a zlib stream that ends exactly where the data does. */
static bool is_zlib(struct view *view, const struct chunk *chunk)
{
	struct inflated inflated = { 0 };
	uint64_t at = chunk->data;

	return inflated_walk(&inflated, view, INFLATED_ZLIB, &at, chunk->end) == INFLATED_DONE &&
	       at == chunk->end;
}

static enum verdict file_verdict(struct exr *exr, const struct chunk *last, bool same)
{
	uint64_t tail = last->end - last->data;
	uint8_t compression = last->part->compression;
	/* By one line, by 16 of them, or with 24 bits a value. */
	bool zlib = !last->part->deep && (compression == 2 || compression == 3 || compression == 5);

	exr->finding->length = last->end;
	if (!same)
		return verdict_because(CARVE_UNVERIFIED, exr->finding,
			"the tables have other offsets than the chunks before %" PRIu64, last->end);
	if (tail > TAIL_MIN && !(zlib && is_zlib(exr->view, last)))
		return verdict_because(CARVE_UNVERIFIED, exr->finding,
			"the last %" PRIu64 " bytes cannot be verified", tail);
	return CARVE_COMPLETE;
}

static enum verdict walk(struct exr *exr, uint64_t count, uint64_t sum)
{
	struct chunk chunk = { .at = exr->end, .end = exr->end };
	uint64_t last = exr->end;

	for (uint64_t i = 0; i < count; i++) {
		bool cut;

		chunk.at = chunk.end;
		sum -= chunk.at;
		if (!read_chunk(exr, &chunk, &cut)) {
			if (cut)
				return walk_cut(exr->view, exr->finding, view_size(exr->view) + 1,
					view_size(exr->view));
			exr->finding->length = last;
			return verdict_because(
				CARVE_TRUNCATED, exr->finding, "no chunk at %" PRIu64, chunk.at);
		}
		if (chunk.end > view_size(exr->view))
			return walk_cut(exr->view, exr->finding, chunk.end, view_size(exr->view));
		view_unverified(exr->view, chunk.data, chunk.end);
		last = chunk.at;
	}
	return file_verdict(exr, &chunk, sum == 0);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct exr exr = { .view = view, .finding = finding };
	const char *problem = exr_read_headers(&exr);
	uint64_t count = 0, sum, start = exr.end;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, start);
	for (unsigned i = 0; i < exr.part_count; i++)
		count += exr.parts[i].chunks;
	if (!read_tables(&exr, count, &sum))
		return walk_cut(view, finding, start + count * 8, view_size(view));
	return walk(&exr, count, sum);
}

const struct carver exr_carver = {
	.name = "exr",
	.summary = "OpenEXR pictures, by their attributes and chunks",
	.check = check,
};
