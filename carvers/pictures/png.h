/* What the two halves of the PNG carver share. */
#ifndef BURIN_CARVERS_PICTURES_PNG_H
#define BURIN_CARVERS_PICTURES_PNG_H

#include <stdbool.h>

#include "carver.h"

/* From IHDR: the layout of the uncompressed rows. */
struct png_shape {
	uint32_t width, height;
	uint8_t depth, colour;
	bool interlaced;
	bool bare; /* Apple's variant: the deflate stream has no zlib header */
};

/* To how many bytes of input the next is exact. */
#define PNG_DATA_PIECE 256

enum png_data {
	PNG_DATA_DAMAGED,
	PNG_DATA_VALID, /* up to limit, or as far as it was inflated */
	PNG_DATA_WHOLE, /* all rows are there, and end with their checksum */
};

/* How far the picture data that starts with the IDAT chunk at first_idat is valid: its end, at most
 * limit. All chunks before limit but the last must have been walked already. *state, which may
 * be NULL: what that shows of it. */
uint64_t png_data_end(struct view *view, const struct png_shape *shape, uint64_t first_idat,
	uint64_t limit, enum png_data *state);

/* Whether a chunk's type, four bytes, has letters only. */
bool png_type_valid(const char *type);

/* For pictures in pieces (png_map.c). */
#define PNG_CRC_BITS 32 /* see view_proved */
/* As carve_map.sum, for a PNG that begins there in a file, whose map has the words of IDAT and IEND first. has_texts: then
 * those of texts and of the time. */
bool png_find_sum(struct view *view, uint64_t at, bool has_texts, struct carve_sum *sum);
/* Follows the chunks of a PNG in [at, end) while their CRCs match, and declares what that proves. Returns up to where they do:
 * all that there is of it if the view ends in a chunk. */
uint64_t png_follow_chunks(struct view *view, uint64_t at, uint64_t end);
extern const struct carve_map png_map;

#endif
