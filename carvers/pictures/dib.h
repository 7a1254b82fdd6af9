/* Device-independent bitmaps: the content of a BMP file after its file header, and of each picture
 * in an ICO file. */
#ifndef BURIN_CARVERS_PICTURES_DIB_H
#define BURIN_CARVERS_PICTURES_DIB_H

#include <stdbool.h>

#include "carver.h"
#include "predictor.h"

/* The most common header. */
#define DIB_HEADER_LEN 40

enum {
	DIB_RGB = 0,
	DIB_RLE8 = 1,
	DIB_RLE4 = 2,
	DIB_BITFIELDS = 3,
	DIB_JPEG = 4,
	DIB_PNG = 5,
	DIB_ALPHABITFIELDS = 6,
	DIB_CMYK = 11,
	DIB_CMYK_RLE8 = 12,
	DIB_CMYK_RLE4 = 13,
	DIB_HUFFMAN = 100, /* OS/2 2.x numbers these two 3 and 4 */
	DIB_RLE24 = 101,
};

struct dib {
	uint32_t header_len;
	uint32_t width, height; /* height without its sign */
	uint16_t bits;          /* of a pixel */
	uint32_t compression;
	uint32_t image_len;   /* as stored in the header; 0: not stored */
	uint64_t colours_len; /* of the masks and the palette between header and pixels */
	uint64_t profile,
		profile_len; /* of an embedded ICC profile, from the header's start; 0: none */
};

/* Reads the header at `at`. Returns what is wrong with it, or NULL. */
const char *dib_read(struct view *view, uint64_t at, struct dib *dib);

/* Bytes of a row of `bits` bits a pixel. */
uint64_t dib_row_len(uint32_t width, uint32_t bits);

/* Bytes of the pixels: computed where they are not compressed, else from the header. */
uint64_t dib_pixels_len(const struct dib *dib);

/* Whether the pixels are stored uncompressed. */
bool dib_is_plain(const struct dib *dib);

/* Whether the uncompressed pixels [start, end) of the bitmap with the header at `at` go on as they began, as
 * predictor_check; those of a palette also by how bright its colours are. */
enum predictor_end dib_check_pixels(struct view *view, uint64_t at, const struct dib *dib,
	uint64_t start, uint64_t end, uint64_t *foreign);

#endif
