/*
 * Multi-Picture Format (CIPA DC-007): a segment of the first picture lists further pictures that
 * follow it in the file, such as a larger preview, the other eye's view, or a gain map. Their
 * offsets count from MPF's own TIFF head. Only what really exists lengthens the file: a picture is
 * walked like the first before it counts. Programs that edit the first picture's metadata leave
 * wrong offsets, so a picture is also searched for directly after the one before it, with only
 * zeros between.
 */
#include "jpeg.h"

#include <stdlib.h>

#include "tiff_ifd.h"
#include "walk.h"

enum {
	TAG_ENTRIES = 0xb002,
	ENTRY_LEN = 16,
	ENTRIES_MAX = 64,
	PADDING_LEN = 4096,
	GAP_LEN = 65536, /* a listed picture further away belongs to another file, found by a
                            stale offset */
};

/* The end of the zeros that may fill the space between two pictures. */
static uint64_t skip_padding(struct view *view, uint64_t at)
{
	const uint8_t *window;
	size_t len, zeros = 0;

	window = walk_window(view, at, at + PADDING_LEN, &len);
	while (window && zeros < len && window[zeros] == 0)
		zeros++;
	return at + zeros;
}

static bool picture_at(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 3);

	return p && p[0] == 0xff && p[1] == JPEG_SOI && p[2] == 0xff;
}

/* Walks the picture at `at`, and moves jpeg->at to its end, or to where it is cut or broken. */
static enum jpeg_walk walk_other(struct jpeg *jpeg, uint64_t at, const char **problem)
{
	struct finding ignored = { 0 };
	struct jpeg other = { .view = jpeg->view, .finding = &ignored };
	enum jpeg_walk state = jpeg_walk(&other, at, problem);

	free(other.history);
	jpeg->at = other.at;
	jpeg->valid_end = other.valid_end;
	if (!jpeg->extra_at)
		jpeg->extra_at = other.extra_at;
	return state;
}

/* The list gives each picture's length including the zeros with which some cameras pad it: moves
 * jpeg->at past the padding of the picture that starts at `start`. */
static void skip_listed_padding(struct jpeg *jpeg, uint64_t start, uint64_t len)
{
	uint64_t end = start + len;

	if (end > jpeg->at && end - jpeg->at <= PADDING_LEN &&
		skip_padding(jpeg->view, jpeg->at) >= end)
		jpeg->at = jpeg->valid_end = end;
}

enum jpeg_walk jpeg_walk_others(struct jpeg *jpeg, const char **problem)
{
	enum jpeg_walk state = JPEG_WALK_DONE;
	struct tiff tiff;
	struct tiff_entry list;

	if (!jpeg->mpf || !tiff_open(&tiff, jpeg->view, jpeg->mpf, jpeg->mpf_len) ||
		!tiff_find(&tiff, tiff.first_ifd, TAG_ENTRIES, &list))
		return state;
	for (uint64_t i = 1; i < list.len / ENTRY_LEN && i < ENTRIES_MAX; i++) {
		const uint8_t *p = tiff_peek(&tiff, list.data + i * ENTRY_LEN, ENTRY_LEN);
		uint64_t end = jpeg->at, start, len;

		if (!p)
			break;
		len = tiff_u32(&tiff, p + 4);
		start = jpeg->mpf + tiff_u32(&tiff, p + 8);
		/* In order and without overlap, so that no byte is walked more than once. */
		if (start < end || start - end > GAP_LEN || !picture_at(jpeg->view, start))
			start = skip_padding(jpeg->view, end);
		if (!picture_at(jpeg->view, start))
			break;
		state = walk_other(jpeg, start, problem);
		if (state != JPEG_WALK_DONE)
			break;
		skip_listed_padding(jpeg, start, len);
	}
	return state;
}
