/*
 * Apple's icons (ICNS; the types as libicns and Apple's own tools write them).
 *
 *	file:    'icns', length of the file (4 bytes, big-endian), elements up to it
 *	element: type (4 characters), length with these 8 bytes (4), data
 *	data:    PNG; JPEG 2000; run-length coded channels of a picture (is32, il32, ih32, it32, and after
 *	         'ARGB'); stored bits and masks; a table of the elements ('TOC '), a property list ('info')
 *	runs:    00 to 7F: one more byte follow as they are; 80 to FF: the next byte, 3 to 130 times
 *
 * The elements have to fill the length. Pictures end as their format does, and runs have to give each
 * channel's pixels: the first one that does not was overwritten. If the last element is one of these,
 * its end proves the file's; stored masks prove nothing.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "embedded.h"
#include "foreign.h"
#include "noise.h"
#include "walk.h"

#define HEAD_LEN 8
#define SEARCH_LEN 4096 /* of a JPEG 2000 picture, in which its codestream starts */

struct element {
	uint8_t type[4];
	uint64_t data, end;
};

enum content {
	CONTENT_PROVEN, /* ends as its coding does */
	CONTENT_PLAIN,  /* nothing verifies it */
	CONTENT_BROKEN,
};

static bool has_type(const struct element *element, const char *type)
{
	return memcmp(element->type, type, 4) == 0;
}

/* How many pixels a picture of this type has whose channels are coded in runs, or 0. */
static uint32_t coded_pixels(const struct element *element)
{
	static const struct {
		char type[5];
		uint16_t width;
	} coded[] = { { "is32", 16 }, { "il32", 32 }, { "ih32", 48 }, { "it32", 128 } };

	for (size_t i = 0; i < sizeof(coded) / sizeof(*coded); i++)
		if (has_type(element, coded[i].type))
			return (uint32_t)coded[i].width * coded[i].width;
	return 0;
}

/* Whether runs give three channels of as many pixels, and end where the element does. */
static bool runs_fit(struct view *view, const struct element *element, uint32_t pixels)
{
	struct cursor cursor = { .view = view, .at = element->data };
	uint32_t left = 3 * pixels;

	if (has_type(element, "it32"))
		cursor.at += 4;
	while (left && cursor.at < element->end) {
		int byte = cursor_next(&cursor);
		uint32_t count = byte < 0x80 ? (uint32_t)byte + 1 : (uint32_t)byte - 0x80 + 3;

		if (byte < 0 || count > left)
			return false;
		cursor.at += byte < 0x80 ? count : 1;
		left -= count;
	}
	return !left && cursor.at == element->end;
}

static bool ends_with(
	struct view *view, const struct element *element, const void *bytes, size_t len)
{
	const uint8_t *p = element->end - element->data > len
				   ? view_peek(view, element->end - len, len)
				   : NULL;

	return p && memcmp(p, bytes, len) == 0;
}

static enum content check_picture(
	struct view *view, const struct element *element, const void *end, size_t len)
{
	embedded_find(view, element->data, element->end, SEARCH_LEN);
	view_embedded(view, element->data);
	view_unverified(view, element->data + HEAD_LEN, element->end - len);
	return ends_with(view, element, end, len) ? CONTENT_PROVEN : CONTENT_BROKEN;
}

static enum content check_element(struct view *view, const struct element *element)
{
	const uint8_t *p =
		element->end - element->data >= 12 ? view_peek(view, element->data, 12) : NULL;
	uint32_t pixels = coded_pixels(element);

	if (p && memcmp(p, "\x89PNG\r\n\x1a\n", 8) == 0)
		return check_picture(view, element, "IEND\xae\x42\x60\x82", 8);
	if (p && (memcmp(p, "\0\0\0\x0cjP  ", 8) == 0 || memcmp(p, "\xff\x4f\xff\x51", 4) == 0))
		return check_picture(view, element, "\xff\xd9", 2);
	/* Such a picture may also be stored, four bytes a pixel. */
	if (pixels && element->end - element->data != 4 * (uint64_t)pixels)
		return runs_fit(view, element, pixels) ? CONTENT_PROVEN : CONTENT_BROKEN;
	if (has_type(element, "info"))
		view_embedded(view, element->data);
	view_unverified(view, element->data, element->end);
	return CONTENT_PLAIN;
}

/* Reads the head of the element at `at`, in a file that ends at `end`. */
static bool read_element(struct view *view, uint64_t at, uint64_t end, struct element *element)
{
	const uint8_t *p = end - at >= HEAD_LEN ? view_peek(view, at, HEAD_LEN) : NULL;

	if (!p || be32(p + 4) < HEAD_LEN || be32(p + 4) > end - at)
		return false;
	for (int i = 0; i < 4; i++)
		if (p[i] < ' ' || p[i] > '~')
			return false;
	memcpy(element->type, p, 4);
	element->data = at + HEAD_LEN;
	element->end = at + be32(p + 4);
	return true;
}

static enum verdict judge_last(struct view *view, struct finding *finding,
	const struct element *last, enum content content)
{
	uint64_t end = last->end;

	finding->length = end;
	if (content == CONTENT_PROVEN)
		return CARVE_COMPLETE;
	if (noise_start(view, last->data, end) < end)
		return foreign_cut(
			view, finding, last->data, end, "random bytes in the element", last->data);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the last element, at %" PRIu64 ", cannot be verified", last->data - HEAD_LEN);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t end = p ? be32(p + 4) : 0, at = HEAD_LEN, size = view_size(view);
	struct element element = { 0 };
	enum content content = CONTENT_PLAIN;

	if (!p || memcmp(p, "icns", 4) != 0 || end < at || !read_element(view, at, end, &element))
		return verdict_because(CARVE_REJECT, finding, "no length and element at 4");
	for (; at < end; at = element.end) {
		if (!read_element(view, at, end, &element)) {
			if (at + HEAD_LEN > size)
				return walk_cut(view, finding, end, size);
			finding->length = at;
			return verdict_because(
				CARVE_TRUNCATED, finding, "no element at %" PRIu64, at);
		}
		if (element.end > size)
			return walk_cut(view, finding, end, size);
		content = check_element(view, &element);
		if (content == CONTENT_BROKEN)
			return foreign_cut(view, finding, element.data, element.end,
				"an element that does not end as its data do", at);
	}
	return judge_last(view, finding, &element, content);
}

const struct carver icns_carver = {
	.name = "icns",
	.summary = "Apple's icons (ICNS), by their elements and the ends of their pictures",
	.check = check,
};
