/* The head of a lossless image and its commands: of vp8l.c, for what follows them. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8L_IMAGE_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8L_IMAGE_H

#include "vp8l.h"
#include "vp8l_bits.h"

/* A group's codes: green (with lengths and the cache), red, blue, alpha, distance. */
#define VP8L_CODES 5
#define VP8L_LITERALS 256
#define VP8L_LENGTHS 24
#define VP8L_CACHE_MAX 2048
/* Units of work (view_work) for a command, and after how many they are counted. */
#define VP8L_COMMAND_WORK 8
#define VP8L_COMMANDS_STEP 1024

enum vp8l_transform_type {
	VP8L_PREDICTOR,
	VP8L_CROSS_COLOUR,
	VP8L_SUBTRACT_GREEN,
	VP8L_COLOURS, /* numbers of colours are coded */
	VP8L_TRANSFORMS,
};

struct vp8l_transform {
	enum vp8l_transform_type type;
	uint32_t bits; /* of a tile's side, or by which a picture is narrower */
	/* Of each tile, or the colours; NULL: there are none, or they are not wanted. */
	uint32_t *items;
};

struct vp8l_image {
	uint32_t width, height; /* as it is coded: colour indexing makes it narrower */
	bool is_indexed;
	bool keeps_transforms; /* their items are wanted */
	struct vp8l_transform
		transforms[VP8L_TRANSFORMS]; /* in the order in which they were made */
	uint32_t transform_count;
	uint32_t cache_bits;
	bool is_copied;   /* the last command copied pixels, */
	bool is_literal;  /* or has a pixel's colours, */
	bool was_cached;  /* which the cache had as well, if pixels are wanted */
	uint32_t *pixels; /* NULL: not wanted */
	uint16_t *groups; /* of each tile, or NULL: one for all */
	uint32_t tile_bits, group_count;
	struct prefix_code *codes; /* VP8L_CODES for each group */
	uint32_t cache[VP8L_CACHE_MAX];
};

/* Reads what is before the first pixel of a picture, from its signature on; where width is not 0, of transparency, which has no
 * signature, and has this size. False: it is invalid, cut (b->ended), or too much work (b->exhausted); or out of memory (view_no_memory). The image is zero before;
 * vp8l_image_free frees it after it in each case. */
bool vp8l_read_head(struct vp8l_bits *b, struct vp8l_image *image, uint32_t width, uint32_t height);
void vp8l_image_free(struct vp8l_image *image);
/* Where the cache, of which there is one, has a colour. */
uint32_t vp8l_cache_place(const struct vp8l_image *image, uint32_t colour);
/* The number of the group that has the codes of the pixel at `at`. */
uint32_t vp8l_group_at(const struct vp8l_image *image, uint64_t at);
/* Decodes a command: one or more pixels, of `left` at most, at `at`. Returns how many. 0: it is invalid. */
uint64_t vp8l_read_command(
	struct vp8l_bits *b, struct vp8l_image *image, uint64_t at, uint64_t left);
/* After the last pixel: whether it ends where its data does. */
enum vp8l_state vp8l_end(struct vp8l_bits *b);
/* Reads a length or distance, given its prefix. */
uint32_t vp8l_read_length(struct vp8l_bits *b, uint32_t prefix);
/* The same for a distance: in pixels, back from this one. */
uint64_t vp8l_read_distance(struct vp8l_bits *b, const struct vp8l_image *image, uint32_t prefix);

#endif
