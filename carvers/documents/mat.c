/*
 * MATLAB's files of level 5 (MathWorks, MAT-File Format).
 *
 *	header:  'MATLAB 5.0 MAT-file' and more text (116 bytes), 8 bytes, version 0100h, 'IM' (little-endian)
 *	         or 'MI'
 *	element: type (4), length of the data (4), data; 14: a matrix, of elements; 15: such an element,
 *	         compressed with zlib
 *	small:   an element of at most 4 bytes in a matrix has its length in the upper half of its type
 *
 * Matrices follow one another up to the file's end, which nothing marks: such a file is unverified. Streams
 * have to give their checksum, elements to fill their matrix.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "inflated.h"
#include "stored.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 128
#define ELEMENT_HEAD_LEN 8

enum { TYPE_MAX = 18, MATRIX = 14, COMPRESSED = 15 };

struct mat {
	struct view *view;
	bool big_endian;
	bool libsndfile; /* wrote it */
};

/* Whether the zlib stream [at, end) is intact and fills it. */
static bool stream_fits(struct view *view, uint64_t at, uint64_t end)
{
	struct inflated inflated = { 0 };

	return inflated_walk(&inflated, view, INFLATED_ZLIB, &at, end) == INFLATED_DONE &&
	       at == end;
}

/* Whether the matrix up to *end can end at `at`: libsndfile counts the 8 bytes before the matrix, too, in the one with its
 * samples, which is the last. */
static bool ends_early(const struct mat *mat, uint64_t at, uint64_t *end)
{
	bool early = mat->libsndfile && at + ELEMENT_HEAD_LEN == *end;

	if (early)
		*end = at;
	return early;
}

/* Whether elements fill the matrix [at, *matrix_end). */
static bool matrix_fits(const struct mat *mat, uint64_t at, uint64_t *matrix_end)
{
	uint64_t end = *matrix_end;

	while (at < end) {
		const uint8_t *p = end - at < ELEMENT_HEAD_LEN
					   ? NULL
					   : view_peek(mat->view, at, ELEMENT_HEAD_LEN);
		uint32_t type = p ? ordered32(mat->big_endian, p) : 0, len;

		if (!p)
			return false;
		if (type >> 16) {
			if ((type & 0xffff) > TYPE_MAX || type >> 16 > 4)
				return ends_early(mat, at, matrix_end);
			at += ELEMENT_HEAD_LEN;
			continue;
		}
		len = ordered32(mat->big_endian, p + 4);
		if (!type || type > TYPE_MAX || len > end - at - ELEMENT_HEAD_LEN)
			return ends_early(mat, at, matrix_end);
		view_unverified(mat->view, at + ELEMENT_HEAD_LEN, at + ELEMENT_HEAD_LEN + len);
		at += ELEMENT_HEAD_LEN + ((uint64_t)len + 7) / 8 * 8;
	}
	return at == end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct mat mat = { .view = view };
	uint64_t at = HEAD_LEN, size = view_size(view);
	bool streams = false;

	if (!p || memcmp(p, "MATLAB 5.0 MAT-file", 19) != 0 ||
		(memcmp(p + 124, "\0\1IM", 4) != 0 && memcmp(p + 124, "\1\0MI", 4) != 0))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	mat.big_endian = p[126] == 'M';
	mat.libsndfile = memmem(p, 116, "by libsndfile", 13) != NULL;
	finding_set_title(finding, p, 116);
	for (;;) {
		uint64_t end, data = at + ELEMENT_HEAD_LEN;
		uint32_t type;

		p = view_peek(view, at, ELEMENT_HEAD_LEN);
		type = p ? ordered32(mat.big_endian, p) : 0;
		if (type != MATRIX && type != COMPRESSED)
			break;
		end = data + ordered32(mat.big_endian, p + 4);
		if (end > size)
			return walk_cut(view, finding, end, size);
		if (type == MATRIX && !matrix_fits(&mat, data, &end))
			return foreign_cut(view, finding, data, end, "no matrix", at);
		streams |= type == COMPRESSED;
		if (type == COMPRESSED && !stream_fits(view, data, end)) {
			finding->length = at;
			return verdict_because(
				CARVE_TRUNCATED, finding, "no intact stream at %" PRIu64, at);
		}
		at = end;
	}
	/* Streams look random; of numbers stored as they are this is all that shows where they end. */
	if (at > HEAD_LEN && !streams &&
		stored_check_data(view, finding, HEAD_LEN, at) == CARVE_TRUNCATED)
		return CARVE_TRUNCATED;
	return walk_uncounted(view, finding, 0, at, 0, "element");
}

const struct carver mat_carver = {
	.name = "mat",
	.summary = "MATLAB's files of level 5, by their elements",
	.check = check,
};
