/* The strips or tiles of a page: where they are, what length they should decompress to, whether
 * they do. */
#include "tiff.h"

#include "noise.h"
#include "overwrite.h"
#include "predictor.h"
#include "walk.h"

#define PHOTOMETRIC_YCBCR 6
#define WITHOUT_LEN 0xffffffffu

/* Bytes that strip or tile `index` of a page decompresses to; 0: unknown, as for subsampled
 * colours. */
static uint64_t uncompressed_len(const struct tiff_page *page, uint64_t index)
{
	uint64_t samples = page->planar == 2 ? 1 : page->samples, width = page->width;
	uint64_t rows = page->rows < page->height ? page->rows : page->height;

	if (page->photometric == PHOTOMETRIC_YCBCR || !rows || samples > 64 || page->bits > 64)
		return 0;
	if (page->tile_width) {
		width = page->tile_width;
		rows = page->rows;
	} else {
		uint64_t strips = (page->height + rows - 1) / rows;

		/* The last strip is shorter; separate planes have one each. */
		if (index % strips == strips - 1)
			rows = page->height - (strips - 1) * rows;
	}
	if (width > UINT32_MAX || rows > UINT32_MAX)
		return 0;
	return (width * samples * page->bits + 7) / 8 * rows;
}

/* Whether this is the last of several strips: some writers pad it to as many rows as the others
 * have. */
static bool is_last(const struct tiff_page *page, uint64_t index)
{
	return index && index + 1 == page->offsets.count && !page->tile_width;
}

void tiff_check_stored(
	struct tiff_walk *walk, uint64_t start, uint64_t end, uint64_t row_len, uint64_t pixel_len)
{
	uint64_t at;
	const char *what;

	if (walk_unread(walk->tiff.view, start, end, &at))
		return;
	/* Other parts, which are confirmed by themselves, may follow these. */
	if (overwrite_find(walk->tiff.view, start, end, row_len, &at, &what) != OVERWRITE_NONE)
		return;
	switch (predictor_check(walk->tiff.view, start, end, row_len, pixel_len, &at)) {
	case PREDICTOR_CONTINUOUS:
		tiff_confirm(walk, end);
		break;
	case PREDICTOR_FOREIGN:
		tiff_note_bad(walk, at, "bytes unlike those before");
		break;
	case PREDICTOR_UNKNOWN:
		break;
	}
}

void tiff_finish_data(struct tiff_walk *walk)
{
	uint64_t end = walk->plain_end < walk->size ? walk->plain_end : walk->size, noise, after;

	if (walk->plain >= end)
		return;
	if (end - walk->plain > walk->to_check) {
		walk->odd = TIFF_OVERLAPS;
		return;
	}
	walk->to_check -= end - walk->plain;
	noise = noise_start(walk->tiff.view, walk->plain, end);
	if (noise < end && !walk_unread(walk->tiff.view, walk->plain, end, &after))
		tiff_note_bad(walk, noise, "random bytes instead of pixels");
	else if (noise_at(walk->tiff.view, walk->plain, end))
		walk->unchecked += end - walk->plain;
	else
		tiff_check_stored(walk, walk->plain, end, walk->row_len, walk->pixel_len);
	walk->plain = walk->plain_end = 0;
}

/* Uncompressed strips usually follow each other and are checked together. */
static void check_plain(
	struct tiff_walk *walk, const struct tiff_page *page, uint64_t at, uint64_t len)
{
	uint64_t width = page->tile_width ? page->tile_width : page->width;
	uint64_t samples = page->planar == 2 ? 1 : page->samples;

	if (at != walk->plain_end) {
		tiff_finish_data(walk);
		walk->plain = at;
	}
	walk->plain_end = at + len;
	walk->pixel_len = walk->row_len = 1;
	if (width <= UINT32_MAX && samples <= 64 && page->bits <= 64 && samples && page->bits) {
		walk->pixel_len = (samples * page->bits + 7) / 8;
		walk->row_len = (width * samples * page->bits + 7) / 8;
	}
}

/* Whether the offset, from these, is a zero that could not be read. */
static bool is_lost(struct tiff_walk *walk, const struct tiff_entry *offsets, uint64_t at)
{
	uint64_t after;

	return !at &&
	       walk_unread(walk->tiff.view, offsets->data, offsets->data + offsets->len, &after);
}

static void check_strip(struct tiff_walk *walk, const struct tiff_page *page, uint64_t index)
{
	uint64_t at, len = 0, want = uncompressed_len(page, index);

	if (!tiff_read_value(&walk->tiff, &page->offsets, index, &at))
		return;
	if (page->lens.count)
		tiff_read_value(&walk->tiff, &page->lens, index, &len);
	else if (page->compression == TIFF_PLAIN)
		len = want;
	if (page->raw && at == WITHOUT_LEN)
		at = page->raw;
	if (!page->lens.count && !len)
		walk->odd = "a strip without length";
	/* Sparse files have tiles of length 0. */
	if (!len || is_lost(walk, &page->offsets, at))
		return;
	tiff_claim(walk, at, len);
	if (at > walk->size || len > walk->size - at)
		return;
	/* Coded ones may begin as files of their own do. */
	if (page->compression != TIFF_PLAIN)
		view_embedded(walk->tiff.view, at);
	if (page->compression == TIFF_PLAIN)
		view_unverified(walk->tiff.view, at, at + len);
	if (page->compression != TIFF_PLAIN)
		tiff_check_coded(walk, page, at, len, is_last(page, index) ? 0 : want);
	else if (!page->sensor) /* which cameras also set for compressed data */
		check_plain(walk, page, at, len);
	else
		walk->unchecked += len;
}

void tiff_check_data(struct tiff_walk *walk, const struct tiff_page *page)
{
	for (uint64_t i = 0; i < page->offsets.count; i++)
		check_strip(walk, page, i);
}
