/* The head of a lossless image and its commands: of vp8l.c, for what follows them. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_IMAGE_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_IMAGE_H

#include "vp8l.h"
#include "vp8l_bits.h"

/* A group's codes: green (with lengths and the cache), red, blue, alpha, distance. */
#define VP8L_CODES 5
#define VP8L_LITERALS 256
#define VP8L_LENGTHS 24
/* Units of work (view_work) for a command, and after how many they are counted. */
#define VP8L_COMMAND_WORK 8
#define VP8L_COMMANDS_STEP 1024

struct vp8l_image {
	uint32_t width, height; /* as it is coded: colour indexing makes it narrower */
	bool is_indexed;
	uint32_t cache_bits;
	uint32_t *pixels; /* NULL: not wanted */
	uint16_t *groups; /* of each tile, or NULL: one for all */
	uint32_t tile_bits, group_count;
	struct prefix_code *codes; /* VP8L_CODES for each group */
	uint32_t cache[2048];
};

/* Reads what is before the first pixel of a picture, from its signature on; where width is not 0, of transparency, which has no
 * signature, and has this size. False: it is invalid, cut (b->ended), or too much work (b->exhausted); or out of memory (view_no_memory). The image is zero before, and vp8l_image_free frees it
 * after it in each case. */
bool vp8l_read_head(struct vp8l_bits *b, struct vp8l_image *image, uint32_t width, uint32_t height);
void vp8l_image_free(struct vp8l_image *image);
/* The number of the group that has the codes of the pixel at `at`. */
uint32_t vp8l_group_at(const struct vp8l_image *image, uint64_t at);
/* After the last pixel: whether it ends where its data does. */
enum vp8l_state vp8l_end(struct vp8l_bits *b);
/* Reads a length or distance, given its prefix. */
uint32_t vp8l_read_length(struct vp8l_bits *b, uint32_t prefix);
/* The same for a distance: in pixels, back from this one. */
uint64_t vp8l_read_distance(struct vp8l_bits *b, const struct vp8l_image *image, uint32_t prefix);

#endif
