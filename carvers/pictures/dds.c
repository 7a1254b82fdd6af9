/*
 * DirectDraw surfaces (DDS_HEADER, DDS_HEADER_DXT10, and DXGI_FORMAT in Microsoft's documentation
 * of Direct3D).
 *
 *	'DDS ', then a header of 124 bytes: height, width, depth, number of mipmaps, a pixel format,
 *	        the kind of surface (a cube's faces, a volume)
 *	with the code 'DX10': 20 bytes more: a DXGI format, a dimension, the size of an array
 *	pixels: for each surface of the array and each face all its mipmaps, rows of pixels or of
 *	        blocks of 4 by 4
 *
 * The header determines the size of all of that; nothing follows, and nothing confirms the pixels.
 * So a file is unverified, though its length is certain. One that the image's end cuts off, or
 * whose pixels turn into random bytes (noise.h), is truncated.
 */
#include "carver.h"

#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "noise.h"
#include "overwrite.h"
#include "walk.h"

#define HEADER_LEN 128
#define DX10_LEN 20
#define SIDE_MAX 65536

enum {
	HAS_DEPTH = 0x800000,
	HAS_MIPMAPS = 0x20000,
	FORMAT_CODE = 4,
	IS_CUBE = 0x200,
	IS_VOLUME = 0x200000,
	DX10_IS_CUBE = 4,
};

struct dds {
	uint32_t width, height, depth, mipmaps, surfaces;
	uint32_t block;      /* pixels a side of a block: 1 or 4 */
	uint32_t block_bits; /* of a block */
	uint64_t start;      /* of the pixels */
};

#define CODE(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

static void set_block(struct dds *dds, uint32_t block, uint32_t bits)
{
	dds->block = block;
	dds->block_bits = bits;
}

/* The formats of Direct3D 9 that have a code. False for any other. */
static bool read_code(struct dds *dds, uint32_t code)
{
	switch (code) {
	case CODE('D', 'X', 'T', '1'):
	case CODE('A', 'T', 'I', '1'):
	case CODE('B', 'C', '4', 'U'):
	case CODE('B', 'C', '4', 'S'):
		set_block(dds, 4, 64);
		return true;
	case CODE('D', 'X', 'T', '2'):
	case CODE('D', 'X', 'T', '3'):
	case CODE('D', 'X', 'T', '4'):
	case CODE('D', 'X', 'T', '5'):
	case CODE('A', 'T', 'I', '2'):
	case CODE('B', 'C', '5', 'U'):
	case CODE('B', 'C', '5', 'S'):
	case CODE('R', 'X', 'G', 'B'):
		set_block(dds, 4, 128);
		return true;
	case CODE('U', 'Y', 'V', 'Y'):
	case CODE('Y', 'U', 'Y', '2'):
	case CODE('R', 'G', 'B', 'G'):
	case CODE('G', 'R', 'G', 'B'):
	case 111: /* R16F */
		set_block(dds, 1, 16);
		return true;
	case 112: /* G16R16F */
	case 114: /* R32F */
		set_block(dds, 1, 32);
		return true;
	case 36: /* A16B16G16R16, Q16W16V16U16, A16B16G16R16F, G32R32F */
	case 110:
	case 113:
	case 115:
		set_block(dds, 1, 64);
		return true;
	case 116: /* A32B32G32R32F */
		set_block(dds, 1, 128);
		return true;
	}
	return false;
}

/* DXGI_FORMAT: bits of a pixel, or of a block of 4 by 4. False: unknown. */
static bool read_dxgi(struct dds *dds, uint32_t format)
{
	if (format == 0 || format > 115 || (format > 99 && format < 115) || format == 66)
		return false;
	if (format <= 8) /* 4 and 3 channels of 32 bits */
		set_block(dds, 1, format <= 4 ? 128 : 96);
	else if (format <= 22) /* 4 of 16, 2 of 32, depth of 32 and stencil */
		set_block(dds, 1, 64);
	else if (format <= 47 || format == 67 || (format >= 87 && format <= 93))
		set_block(dds, 1, 32);
	else if (format <= 59 || format == 68 || format == 69 || format == 85 || format == 86 ||
		 format == 115)
		set_block(dds, 1, 16);
	else if (format <= 65)
		set_block(dds, 1, 8);
	else if ((format >= 70 && format <= 72) || (format >= 79 && format <= 81)) /* BC1, BC4 */
		set_block(dds, 4, 64);
	else /* BC2, BC3, BC5, BC6H, BC7 */
		set_block(dds, 4, 128);
	return true;
}

/* Reads the pixel format at 76. Returns what is wrong with it, or NULL. */
static const char *read_format(struct view *view, struct dds *dds)
{
	const uint8_t *p = view_peek(view, 76, 32);
	uint32_t flags = p ? le32(p + 4) : 0;

	if (!p || le32(p) != 32)
		return "no pixel format at 76";
	if (!(flags & FORMAT_CODE)) {
		uint32_t bits = le32(p + 12);

		if (bits == 0 || bits > 128 || bits % 4)
			return "an impossible pixel format at 76";
		set_block(dds, 1, bits);
		return NULL;
	}
	if (le32(p + 8) != CODE('D', 'X', '1', '0'))
		return read_code(dds, le32(p + 8)) ? NULL : "an unknown pixel format at 84";
	p = view_peek(view, HEADER_LEN, DX10_LEN);
	if (!p || !read_dxgi(dds, le32(p)) || le32(p + 4) < 2 || le32(p + 4) > 4 ||
		le32(p + 12) > 65536)
		return "an impossible extended header at 128";
	dds->start += DX10_LEN;
	/* Pillow writes 0 for one. */
	dds->surfaces = (le32(p + 12) ? le32(p + 12) : 1) * (le32(p + 8) & DX10_IS_CUBE ? 6 : 1);
	return NULL;
}

/* Returns what is wrong with the header, or NULL. */
static const char *read_header(struct view *view, struct dds *dds)
{
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);
	uint32_t flags = p ? le32(p + 8) : 0, caps = p ? le32(p + 112) : 0;
	const char *problem;

	if (!p || le32(p) != CODE('D', 'D', 'S', ' ') || le32(p + 4) != 124)
		return "no header at 0";
	dds->start = HEADER_LEN;
	dds->height = le32(p + 12);
	dds->width = le32(p + 16);
	dds->depth = (flags & HAS_DEPTH || caps & IS_VOLUME) && le32(p + 24) ? le32(p + 24) : 1;
	dds->mipmaps = flags & HAS_MIPMAPS && le32(p + 28) ? le32(p + 28) : 1;
	if (dds->width - 1 >= SIDE_MAX || dds->height - 1 >= SIDE_MAX || dds->depth > SIDE_MAX ||
		dds->mipmaps > 17)
		return "an impossible size at 12";
	dds->surfaces = 1;
	if (caps & IS_CUBE)
		dds->surfaces = (uint32_t)__builtin_popcount(caps >> 10 & 63);
	problem = read_format(view, dds);
	return problem || dds->surfaces ? problem : "a cube without faces at 112";
}

static uint64_t surface_len(const struct dds *dds)
{
	uint64_t width = dds->width, height = dds->height, depth = dds->depth, len = 0;

	for (uint32_t i = 0; i < dds->mipmaps; i++) {
		uint64_t across = (width + dds->block - 1) / dds->block;
		uint64_t down = (height + dds->block - 1) / dds->block;

		len += (across * dds->block_bits + 7) / 8 * down * depth;
		width = width > 1 ? width / 2 : 1;
		height = height > 1 ? height / 2 : 1;
		depth = depth > 1 ? depth / 2 : 1;
	}
	return len;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct dds dds = { 0 };
	const char *problem = read_header(view, &dds), *what;
	uint64_t len, at;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	len = surface_len(&dds);
	/* 48 bits for a surface, 19 for their number. */
	if (len > INT64_MAX / 8 / dds.surfaces)
		return verdict_because(CARVE_REJECT, finding, "an impossible size at 12");
	len *= dds.surfaces;
	if (len > view_size(view) - dds.start)
		return walk_cut(view, finding, dds.start + len, view_size(view));
	finding->length = noise_start(view, dds.start, dds.start + len);
	if (finding->length < dds.start + len)
		return verdict_because(CARVE_TRUNCATED, finding,
			"pixels turn into random bytes at about %" PRIu64, finding->length);
	if (overwrite_find(view, dds.start, dds.start + len, 1, &at, &what) == OVERWRITE_CERTAIN) {
		finding->length = at;
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s instead of pixels at %" PRIu64, what, at);
	}
	return verdict_because(
		CARVE_UNVERIFIED, finding, "the last %" PRIu64 " bytes cannot be verified", len);
}

const struct carver dds_carver = {
	.name = "dds",
	.summary = "DirectDraw surfaces, by the size in their header",
	.check = check,
};
