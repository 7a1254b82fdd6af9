/*
 * The header of a device-independent bitmap, of every kind: 12 bytes (OS/2 1.x, Windows 2), 16 to
 * 64 (OS/2 2.x; missing fields are 0), 40, 52, 56, 108, 124 (Windows 3 to 5, with the masks added
 * by Adobe). Sources: [MS-WMF] 2.2.2.3 and 2.2.2.9, BITMAPV5HEADER, OS/2's BITMAPINFOHEADER2.
 */
#include "dib.h"

#include <string.h>

#include "bytes.h"

#define CORE_LEN 12
#define ORDER_WORK 8192 /* units (view_work) to sort a palette */
#define BRIGHTEST (256u * 256)
#define PIXELS_MAX ((uint64_t)1 << 40) /* bytes */
#define PROFILE_EMBEDDED 0x4d424544    /* 'MBED' */

uint64_t dib_row_len(uint32_t width, uint32_t bits)
{
	return ((uint64_t)width * bits + 31) / 32 * 4;
}

bool dib_is_plain(const struct dib *dib)
{
	return dib->compression == DIB_RGB || dib->compression == DIB_BITFIELDS ||
	       dib->compression == DIB_ALPHABITFIELDS || dib->compression == DIB_CMYK;
}

uint64_t dib_pixels_len(const struct dib *dib)
{
	return dib_is_plain(dib) ? dib_row_len(dib->width, dib->bits) * dib->height
				 : dib->image_len;
}

static bool valid_len(uint32_t len)
{
	return len == CORE_LEN || (len >= 16 && len <= 64 && len % 4 == 0) || len == 42 ||
	       len == 46 || len == 108 || len == 124;
}

static bool windows(uint32_t len)
{
	return len == 40 || len == 52 || len == 56 || len == 108 || len == 124;
}

static bool valid_depth(const struct dib *dib)
{
	switch (dib->bits) {
	case 0:
		return dib->compression == DIB_JPEG || dib->compression == DIB_PNG;
	case 1:
		return dib->compression == DIB_RGB || dib->compression == DIB_HUFFMAN;
	case 2:
	case 64:
		return dib->compression == DIB_RGB;
	case 4:
		return dib->compression == DIB_RGB || dib->compression == DIB_RLE4 ||
		       dib->compression == DIB_CMYK_RLE4;
	case 8:
		return dib->compression == DIB_RGB || dib->compression == DIB_RLE8 ||
		       dib->compression == DIB_CMYK_RLE8;
	case 24:
		return dib->compression == DIB_RGB || dib->compression == DIB_RLE24 ||
		       dib->compression == DIB_JPEG || dib->compression == DIB_PNG;
	case 16:
	case 32:
		return dib_is_plain(dib);
	}
	return false;
}

/* Reads what follows the fields that all headers of at least 16 bytes have. */
static void read_more(struct dib *dib, const uint8_t *p)
{
	uint32_t used = le32(p + 32), colours = dib->bits <= 8 ? 1u << dib->bits : 0;

	dib->compression = le32(p + 16);
	dib->image_len = le32(p + 20);
	if (!windows(dib->header_len) && dib->compression == 3)
		dib->compression = DIB_HUFFMAN;
	if (!windows(dib->header_len) && dib->compression == 4)
		dib->compression = DIB_RLE24;
	if (used && (used < colours || dib->bits > 8))
		colours = used;
	dib->colours_len = 4 * (uint64_t)colours;
	if (dib->header_len == 40 && dib->compression == DIB_BITFIELDS)
		dib->colours_len += 12;
	if (dib->header_len == 40 && dib->compression == DIB_ALPHABITFIELDS)
		dib->colours_len += 16;
	if (dib->header_len == 124 && le32(p + 56) == PROFILE_EMBEDDED) {
		dib->profile = le32(p + 112);
		dib->profile_len = le32(p + 116);
	}
}

const char *dib_read(struct view *view, uint64_t at, struct dib *dib)
{
	uint8_t header[124] = { 0 };
	const uint8_t *p = view_peek(view, at, CORE_LEN);
	uint16_t planes;

	*dib = (struct dib){ .header_len = p ? le32(p) : 0 };
	if (!valid_len(dib->header_len))
		return "an unknown kind of bitmap header";
	p = view_peek(view, at, dib->header_len);
	if (!p)
		return "a bitmap header that is cut off";
	memcpy(header, p, dib->header_len);
	if (dib->header_len == CORE_LEN) {
		dib->width = le16(header + 4);
		dib->height = le16(header + 6);
		planes = le16(header + 8);
		dib->bits = le16(header + 10);
		dib->colours_len = dib->bits <= 8 ? 3u << dib->bits : 0;
	} else {
		int32_t height = (int32_t)le32(header + 8);

		dib->width = le32(header + 4);
		dib->height = height < 0 ? 0 - (uint32_t)height : (uint32_t)height;
		planes = le16(header + 12);
		dib->bits = le16(header + 14);
		read_more(dib, header);
	}
	if (planes != 1)
		return "a bitmap whose number of planes is not 1";
	if (!dib->width || dib->width > INT32_MAX || !dib->height || dib->height > INT32_MAX)
		return "a bitmap of an impossible size";
	if (!valid_depth(dib))
		return "a bitmap of an impossible depth or compression";
	if (dib_is_plain(dib) && dib_row_len(dib->width, dib->bits) > PIXELS_MAX / dib->height)
		return "a bitmap of an impossible size";
	if (dib->colours_len > (1u << 18))
		return "a bitmap with an impossible number of colours";
	return NULL;
}

/* How bright a colour is, as ITU-R BT.601 weighs it: blue, green, red. */
static uint32_t brightness(const uint8_t *colour)
{
	return 29u * colour[0] + 150u * colour[1] + 77u * colour[2];
}

/* The place of each pixel's value among all, from the darkest colour of the palette to the brightest and those that it has
 * not: values of pixels that look alike are near each other so. False: pixels are no single bytes, or the palette cannot
 * be read. */
static bool find_order(struct view *view, uint64_t at, const struct dib *dib, uint8_t order[256])
{
	size_t colour_len = dib->header_len == CORE_LEN ? 3 : 4;
	size_t count = (size_t)dib->colours_len / colour_len;
	const uint8_t *palette;
	uint32_t bright[256];

	if (dib->bits != 8 || !dib_is_plain(dib))
		return false;
	count = count < 256 ? count : 256;
	palette = view_peek(view, at + dib->header_len, count * colour_len);
	if (!palette || !view_work(view, ORDER_WORK))
		return false;
	for (size_t i = 0; i < 256; i++)
		bright[i] = (i < count ? brightness(palette + i * colour_len) : BRIGHTEST) << 8 |
			    (uint32_t)i;
	for (size_t i = 0; i < 256; i++) {
		unsigned darker = 0;

		for (size_t k = 0; k < 256; k++)
			darker += bright[k] < bright[i];
		order[i] = (uint8_t)darker;
	}
	return true;
}

enum predictor_end dib_check_pixels(struct view *view, uint64_t at, const struct dib *dib,
	uint64_t start, uint64_t end, uint64_t *foreign)
{
	uint64_t row_len = dib_row_len(dib->width, dib->bits);
	enum predictor_end tail =
		predictor_check(view, start, end, row_len, (dib->bits + 7) / 8, foreign);
	uint8_t order[256];

	if (tail == PREDICTOR_UNKNOWN && find_order(view, at, dib, order))
		tail = predictor_check_ordered(view, start, end, row_len, order, foreign);
	return tail;
}
