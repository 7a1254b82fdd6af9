/*
 * Silicon Graphics pictures (Haeberli, The SGI Image File Format 1.00).
 *
 *	header: 01DA, storage (1: coded in runs), bytes a value (1 or 2), dimensions (1 to 3), width,
 *	        height, channels; all big-endian; 512 bytes
 *	stored: rows of values, channel after channel
 *	coded:  the places of all rows (4 bytes each), their lengths, rows
 *	row:    values; a first one whose lowest 7 bits are a count: with 80h that many values follow,
 *	        else one that is repeated; a count of 0 ends the row
 *
 * Coded rows, which may share places, have to give as many values as the picture is wide, and to fill
 * their lengths: the last one ends the file. Nothing verifies stored values.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "carver.h"
#include "stored.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 512
#define NAME_AT 24
#define NAME_LEN 80
#define CHANNELS_MAX 16

struct sgi {
	struct view *view;
	uint32_t width, height, channels, value_len;
	bool coded;
};

static bool read_header(struct sgi *sgi, struct finding *finding)
{
	const uint8_t *p = view_peek(sgi->view, 0, HEAD_LEN);

	if (!p || be16(p) != 0x01da || p[2] > 1 || !p[3] || p[3] > 2 || p[4] || !p[5] || p[5] > 3)
		return false;
	sgi->coded = p[2];
	sgi->value_len = p[3];
	sgi->width = be16(p + 6);
	sgi->height = p[5] > 1 ? be16(p + 8) : 1;
	sgi->channels = p[5] > 2 ? be16(p + 10) : 1;
	/* The values' limits, and how colours are given. */
	if (be32(p + 12) > 0xffff || be32(p + 16) > 0xffff || be32(p + 104) > 3)
		return false;
	finding_set_title(finding, p + NAME_AT, NAME_LEN);
	return sgi->width && sgi->height && sgi->channels && sgi->channels <= CHANNELS_MAX;
}

/* Whether the row in [at, end) gives all values and ends there. */
static bool row_fits(const struct sgi *sgi, uint64_t at, uint64_t end)
{
	uint32_t left = sgi->width, step = sgi->value_len;

	while (at < end) {
		size_t len = end - at < 4096 ? (size_t)(end - at) : 4096, i = 0;
		const uint8_t *p = view_peek(sgi->view, at, len);

		if (!p)
			return false;
		while (i + step <= len) {
			uint8_t code = p[i + step - 1];
			uint32_t count = code & 0x7f;

			i += step;
			/* Some writers leave the last count out. */
			if (!count)
				return !left && at + i == end;
			if (count > left)
				return false;
			left -= count;
			i += (code & 0x80 ? count : 1) * (size_t)step;
		}
		if (!i)
			return false;
		at += i;
	}
	return !left && at == end;
}

/* The verdict on a picture whose row at `at` is not one, of which the bytes before valid_end are valid. */
static enum verdict broken_at(struct finding *finding, uint64_t valid_end, uint64_t at)
{
	finding->length = valid_end;
	return verdict_because(
		valid_end ? CARVE_TRUNCATED : CARVE_REJECT, finding, "no row at %" PRIu64, at);
}

static enum verdict check_coded(const struct sgi *sgi, struct finding *finding)
{
	struct view *view = sgi->view;
	uint64_t count = (uint64_t)sgi->height * sgi->channels, first = HEAD_LEN + 8 * count;
	uint64_t end = first, valid_end = 0, size = view_size(view);

	for (uint64_t row = 0; row < count; row++) {
		const uint8_t *p = view_peek(view, HEAD_LEN + 4 * row, 4);
		uint64_t at = p ? be32(p) : 0, row_end;

		p = view_peek(view, HEAD_LEN + 4 * (count + row), 4);
		row_end = p ? at + be32(p) : 0;
		if (p && at >= first && row_end > size && valid_end)
			return walk_cut(view, finding, row_end, size);
		if (!p || at < first || row_end <= at || !row_fits(sgi, at, row_end))
			return broken_at(finding, valid_end, at);
		valid_end = row_end;
		if (end < row_end)
			end = row_end;
	}
	finding->length = end;
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct sgi sgi = { .view = view };
	uint64_t row_len;

	if (!read_header(&sgi, finding))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (sgi.coded)
		return check_coded(&sgi, finding);
	row_len = (uint64_t)sgi.width * sgi.value_len;
	return stored_check_pixels(view, finding, HEAD_LEN,
		HEAD_LEN + row_len * sgi.height * sgi.channels, row_len, sgi.value_len);
}

const struct carver sgi_carver = {
	.name = "sgi",
	.summary = "Silicon Graphics pictures, by their header and coded rows",
	.check = check,
};
