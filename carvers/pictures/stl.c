/*
 * Stereolithography, STL: surfaces of triangles (3D Systems, StereoLithography Interface Specification).
 *
 *	binary: 80 bytes for the program that wrote it, number of triangles (4), of each 50 bytes: normal and three corners
 *	        (12 floats), 2 bytes, mostly 0; little-endian
 *	text:   "solid NAME", of each triangle "facet normal X Y Z", "outer loop", three lines "vertex X Y Z", "endloop",
 *	        "endfacet"; "endsolid NAME"
 *
 * Binary files have no magic: a rule looks for what known programs write at their start. Each triangle needs finite
 * numbers, a normal whose components are at most 1 (or not, if the file begins with text: some programs do not scale
 * normals), and corners that are not all the same. In a closed surface each edge
 * occurs once in each direction. The carver adds a hash of each directed edge and subtracts that of the opposite one:
 * if the sum is 0, the surface is closed, which confirms all corners, and the file is complete. Else it is unverified,
 * as nothing confirms the last triangles. In text, the last line proves the end.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "lines.h"
#include "title.h"
#include "walk.h"

#define REMARK_LEN 80
#define HEAD_LEN 84
#define TRIANGLE_LEN 50
#define CORNERS_AT 12
#define CORNER_LEN 12
#define FLAT_MAX 8  /* triangles in a row whose corners are all the same */
#define SUM_BITS 64 /* see view_proved */

/* Whether the number is finite, and neither huge nor so small that it is rather an integer. */
static bool is_number(uint32_t bits)
{
	uint32_t exponent = bits >> 23 & 0xff;

	return !(bits << 1) || (exponent >= 60 && exponent < 190);
}

/* Whether the number is a component of a normal: at most a little more than 1, or not huge if normals are not scaled. */
static bool is_component(uint32_t bits, bool scaled)
{
	uint32_t exponent = bits >> 23 & 0xff;

	return exponent < (scaled ? 127 : 190) || (exponent == 127 && (bits & 0x7fffff) < 0x10000);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 32;
}

/* Of a corner; 0 and -0 are equal. */
static uint64_t corner_hash(const uint8_t *p)
{
	uint64_t hash = 1;

	for (int i = 0; i < 3; i++) {
		uint32_t bits = le32(p + 4 * i);

		hash = mix(hash + (bits << 1 ? bits : 0));
	}
	return hash;
}

static uint64_t edge_hash(uint64_t from, uint64_t to)
{
	return mix(from + 3 * to);
}

/* Whether the triangle at p can be one; adds its edges to *sum. scaled: normals are. *flat: its corners are all the same. */
static bool add_triangle(const uint8_t *p, bool scaled, uint64_t *sum, bool *flat)
{
	uint64_t corners[3];

	for (int i = 0; i < 3; i++)
		if (!is_component(le32(p + 4 * i), scaled))
			return false;
	for (int i = 0; i < 9; i++)
		if (!is_number(le32(p + CORNERS_AT + 4 * i)))
			return false;
	for (int i = 0; i < 3; i++)
		corners[i] = corner_hash(p + CORNERS_AT + CORNER_LEN * i);
	for (int i = 0; i < 3; i++)
		*sum += edge_hash(corners[i], corners[(i + 1) % 3]) -
			edge_hash(corners[(i + 1) % 3], corners[i]);
	*flat = corners[0] == corners[1] && corners[1] == corners[2];
	return true;
}

static enum verdict check_binary(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t count = p ? le32(p + 80) : 0, end = HEAD_LEN + count * TRIANGLE_LEN, at = HEAD_LEN,
		 sum = 0, size = view_size(view);
	uint32_t flat_count = 0;
	bool flat = false, scaled = !p || p[0] <= ' ';

	if (!count)
		return verdict_because(CARVE_REJECT, finding, "no triangles at 80");
	while (at < end) {
		size_t len, i = 0;

		p = walk_window(view, at, end, &len);
		for (; p && i + TRIANGLE_LEN <= len; i += TRIANGLE_LEN) {
			if (!add_triangle(p + i, scaled, &sum, &flat))
				break;
			flat_count = flat ? flat_count + 1 : 0;
			if (flat_count > FLAT_MAX)
				break;
		}
		at += i;
		if (i + TRIANGLE_LEN <= len || !i)
			break;
	}
	if (at == HEAD_LEN || at < HEAD_LEN + flat_count * (uint64_t)TRIANGLE_LEN + TRIANGLE_LEN)
		return verdict_because(CARVE_REJECT, finding, "no triangle at %d", HEAD_LEN);
	p = view_peek(view, 0, REMARK_LEN);
	if (p)
		finding_set_title_latin1(finding, p, REMARK_LEN);
	if (at < end && size - at < TRIANGLE_LEN)
		return walk_cut(view, finding, end, size);
	finding->length =
		at - (flat_count > FLAT_MAX ? (uint64_t)flat_count - 1 : 0) * TRIANGLE_LEN;
	if (at < end)
		return verdict_because(
			CARVE_TRUNCATED, finding, "no triangle at %" PRIu64, finding->length);
	if (sum)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the surface is not closed, so nothing verifies the triangles before "
			"%" PRIu64,
			end);
	view_unverified(view, 0, REMARK_LEN);
	view_proved(view, HEAD_LEN, end, SUM_BITS);
	return CARVE_COMPLETE;
}

static bool starts_word(const struct line *line, size_t *skip, const char *word)
{
	size_t at = *skip, len = strlen(word);

	while (at < line->len && (line->bytes[at] == ' ' || line->bytes[at] == '\t'))
		at++;
	if (line->len - at < len || memcmp(line->bytes + at, word, len) != 0)
		return false;
	*skip = at + len;
	return *skip == line->len || line->bytes[*skip] <= ' ';
}

/* Whether the line is the word, and then three numbers if `numbers`, and nothing more. */
static bool is_step(const struct line *line, const char *word, bool numbers)
{
	size_t at = 0;
	unsigned count = 0;
	bool inside = false;

	if (line->broken || !starts_word(line, &at, word))
		return false;
	for (; at < line->len; at++) {
		bool part = line->bytes[at] && strchr("0123456789+-.eEnaif", line->bytes[at]);

		if (!part && line->bytes[at] > ' ')
			return false;
		count += part && !inside;
		inside = part;
	}
	return count == (numbers ? 3u : 0);
}

static enum verdict check_text(struct view *view, struct finding *finding)
{
	static const struct {
		const char *word;
		bool numbers;
	} steps[] = { { "facet normal", true }, { "outer loop", false }, { "vertex", true },
		{ "vertex", true }, { "vertex", true }, { "endloop", false },
		{ "endfacet", false } };
	uint64_t at, triangles = 0, valid_end;
	unsigned step = 0;
	struct line line;

	view_fill_unreadable(view, ' ');
	if (!line_read(view, 0, &line) || !line.ended || line.broken)
		return verdict_because(CARVE_REJECT, finding, "no line at 0");
	finding_set_title_latin1(finding, line.bytes + 6, line.len > 6 ? line.len - 6 : 0);
	at = valid_end = line.next;
	while (line_read(view, at, &line) && line.ended) {
		size_t skip = 0;

		if (is_step(&line, steps[step].word, steps[step].numbers)) {
			step = (step + 1) % (sizeof(steps) / sizeof(*steps));
			triangles += !step;
			valid_end = line.next;
		} else if (line.broken || (step && line.len)) {
			break;
		} else if (!step && triangles && starts_word(&line, &skip, "endsolid")) {
			finding->length = line.next;
			return CARVE_COMPLETE;
		} else if (line.len) {
			break;
		}
		at = line.next;
	}
	if (!triangles) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding, "no triangle at %" PRIu64, at);
	}
	/* The last line need not be ended. */
	if (!step && line_read(view, at, &line) && !line.broken && !line.ended) {
		size_t skip = 0;

		if (starts_word(&line, &skip, "endsolid")) {
			finding->length = line.text_end;
			return verdict_because(CARVE_UNVERIFIED, finding, "no line end at %" PRIu64,
				line.text_end);
		}
	}
	finding->length = valid_end;
	if (line.text_end >= view_size(view))
		return walk_cut(view, finding, view_size(view) + 1, valid_end);
	return verdict_because(CARVE_TRUNCATED, finding, "no triangle's line at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN + TRIANGLE_LEN);

	if (!p)
		return verdict_because(CARVE_REJECT, finding, "no triangle at 0");
	/* Some programs begin binary files with this word, too; text has no zeros. */
	if (memcmp(p, "solid", 5) == 0 && !memchr(p, 0, HEAD_LEN))
		return check_text(view, finding);
	/* Text may read as a triangle, but a number of triangles is below 16 million, so that it has a zero. */
	if (!memchr(p, 0, HEAD_LEN + TRIANGLE_LEN))
		return verdict_because(CARVE_REJECT, finding, "text without a triangle at 0");
	return check_binary(view, finding);
}

const struct carver stl_carver = {
	.name = "stl",
	.summary = "STL surfaces, by their triangles and edges",
	.check = check,
};
