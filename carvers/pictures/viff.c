/*
 * Khoros' pictures, VIFF (viff.h of Khoros 1.0).
 *
 *	header: AB 01, release, version, machine (2: big-endian, 4 and 8: little-endian), a remark (512 bytes at 8); from 520 on,
 *	        4 bytes each: width, height, ..., at 548 places (1: none), at 556 pictures, bands, kind of values, coding (0:
 *	        none), map's scheme (0: none, 1: one of each band, 3: one), kind of its values, its width, its height; 1024 bytes
 *	then    maps, bands: rows of values as they are
 *
 * The length follows from the header. Nothing verifies the values.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "carver.h"
#include "stored.h"
#include "title.h"

#define HEAD_LEN 1024
#define REMARK_AT 8
#define REMARK_LEN 512
#define SIDE_MAX 1000000u
#define BANDS_MAX 65536u
#define MAP_MAX 65536u
#define DATA_MAX (UINT64_C(1) << 40)

enum { MAP_NONE, MAP_OF_BAND, MAP_SHARED = 3 };

struct viff {
	struct view *view;
	uint64_t data, end;
	uint64_t row_len, value_len;
};

/* The length of a value of this kind; 0: of a bit, or not known. */
static uint32_t kind_len(uint32_t kind)
{
	switch (kind) {
	case 1:
		return 1;
	case 2:
		return 2;
	case 4:
	case 5:
		return 4;
	case 6:
	case 9:
		return 8;
	case 10:
		return 16;
	default:
		return 0;
	}
}

/* The length of the maps; false: they are impossible. */
static bool read_maps(bool big, const uint8_t *p, uint32_t bands, uint64_t *len)
{
	uint32_t scheme = ordered32(big, p + 572), kind = ordered32(big, p + 576);
	uint64_t width = ordered32(big, p + 580), height = ordered32(big, p + 584);

	*len = 0;
	if (scheme == MAP_NONE)
		return true;
	if ((scheme != MAP_OF_BAND && scheme != MAP_SHARED) || width > MAP_MAX ||
		height > MAP_MAX || (width && height && !kind_len(kind)))
		return false;
	*len = width * height * kind_len(kind) * (scheme == MAP_OF_BAND ? bands : 1);
	return true;
}

static bool read_header(struct viff *viff)
{
	const uint8_t *p = view_peek(viff->view, 0, HEAD_LEN);
	uint32_t width, height, bands, kind;
	uint64_t maps;
	bool big;

	if (!p || p[0] != 0xab || p[1] != 1 || p[2] != 1 || p[3] > 3 ||
		(p[4] != 2 && p[4] != 4 && p[4] != 8))
		return false;
	big = p[4] == 2;
	width = ordered32(big, p + 520);
	height = ordered32(big, p + 524);
	bands = ordered32(big, p + 560);
	kind = ordered32(big, p + 564);
	/* Places of pixels, several pictures and codings are unknown. */
	if (!width || width > SIDE_MAX || !height || height > SIDE_MAX ||
		ordered32(big, p + 548) > 1 || ordered32(big, p + 556) != 1 || !bands ||
		bands > BANDS_MAX || (kind && !kind_len(kind)) || ordered32(big, p + 568) ||
		!read_maps(big, p, bands, &maps))
		return false;
	viff->value_len = kind ? kind_len(kind) : 1;
	viff->row_len = kind ? (uint64_t)width * viff->value_len : (width + 7) / 8;
	viff->data = HEAD_LEN + maps;
	viff->end = viff->data + viff->row_len * height * bands;
	return viff->end <= DATA_MAX;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct viff viff = { .view = view };
	const uint8_t *remark;

	if (!read_header(&viff))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	if (viff.data >= view_size(view))
		return verdict_because(CARVE_REJECT, finding, "no values at %" PRIu64, viff.data);
	remark = view_peek(view, REMARK_AT, REMARK_LEN);
	if (remark)
		finding_set_title_latin1(finding, remark, REMARK_LEN);
	return stored_check_pixels(
		view, finding, viff.data, viff.end, viff.row_len, viff.value_len);
}

const struct carver viff_carver = {
	.name = "viff",
	.summary = "Khoros' pictures, by their header",
	.check = check,
};
