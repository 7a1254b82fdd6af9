/*
 * The first picture of a TIFF whose pixels are stored as they are: strips of whole rows, one after the other. Its directory
 * may be anywhere.
 */
#include "tiff.h"

#define STRIPS_MAX 65536

/* The first value of a tag, or what it is without one. */
static uint64_t value_of(const struct tiff *tiff, uint16_t tag, uint64_t without)
{
	struct tiff_entry entry;
	uint64_t value;

	return tiff_find(tiff, tiff->first_ifd, tag, &entry) &&
			       tiff_read_value(tiff, &entry, 0, &value)
		       ? value
		       : without;
}

/* Bytes of a row; 0: pixels are not stored in rows of whole bytes. */
static uint64_t find_row(const struct tiff *tiff, struct carve_stored *stored)
{
	uint64_t width = value_of(tiff, TIFF_TAG_WIDTH, 0), bits = value_of(tiff, TIFF_TAG_BITS, 1);
	uint64_t samples = value_of(tiff, TIFF_TAG_SAMPLES, 1),
		 planes = value_of(tiff, TIFF_TAG_PLANAR, 1);

	if (value_of(tiff, TIFF_TAG_COMPRESSION, TIFF_PLAIN) != TIFF_PLAIN ||
		value_of(tiff, TIFF_TAG_TILE_WIDTH, 0) || width > UINT32_MAX / 64 || !bits ||
		bits > 32 || !samples || samples > 8)
		return 0;
	if (planes == 2)
		samples = 1;
	stored->channels = (uint8_t)((samples * bits + 7) / 8);
	return (width * samples * bits + 7) / 8;
}

/* Where the strips are, if each begins where the one before ends. */
static bool find_strips(const struct tiff *tiff, struct carve_stored *stored)
{
	struct tiff_entry offsets, lens;
	uint64_t at, len;

	if (!tiff_find(tiff, tiff->first_ifd, TIFF_TAG_STRIPS, &offsets) ||
		!tiff_find(tiff, tiff->first_ifd, TIFF_TAG_STRIP_LENS, &lens) || !offsets.count ||
		offsets.count > STRIPS_MAX || lens.count != offsets.count)
		return false;
	for (uint64_t i = 0; i < offsets.count; i++) {
		if (!tiff_read_value(tiff, &offsets, i, &at) ||
			!tiff_read_value(tiff, &lens, i, &len) || at > INT64_MAX ||
			len > UINT32_MAX || (i && at != stored->to))
			return false;
		stored->from = i ? stored->from : at;
		stored->to = at + len;
	}
	return true;
}

/* Where the last of pixels, directory and its values ends. */
static bool find_length(const struct tiff *tiff, struct carve_stored *stored)
{
	struct tiff_ifd ifd;
	struct tiff_entry entry;

	if (!tiff_read_ifd(tiff, tiff->first_ifd, &ifd) || ifd.next)
		return false;
	stored->length = stored->to > ifd.end ? stored->to : ifd.end;
	for (uint64_t i = 0; i < ifd.count; i++) {
		if (!tiff_read_entry(tiff, &ifd, i, &entry) || entry.data > INT64_MAX ||
			entry.len > INT64_MAX)
			return false;
		if (entry.apart && entry.data + entry.len > stored->length)
			stored->length = entry.data + entry.len;
	}
	return true;
}

bool tiff_describe(struct view *view, struct carve_stored *stored)
{
	struct tiff tiff;
	uint64_t row_len;

	*stored = (struct carve_stored){ .sample_len = 1 };
	if (!tiff_open_any(&tiff, view, 0, view_size(view)) ||
		(tiff.magic != TIFF_MAGIC && tiff.magic != TIFF_MAGIC_BIG))
		return false;
	row_len = find_row(&tiff, stored);
	stored->row_len = (uint32_t)row_len;
	return row_len && row_len <= UINT32_MAX && find_strips(&tiff, stored) &&
	       find_length(&tiff, stored);
}
