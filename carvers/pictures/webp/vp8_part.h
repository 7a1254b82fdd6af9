/* The boolean decoder of VP8: RFC 6386, section 7. Private to vp8.c and vp8_follow.c. */
#ifndef BURIN_CARVERS_PICTURES_WEBP_VP8_PART_H
#define BURIN_CARVERS_PICTURES_WEBP_VP8_PART_H

#include <string.h>

#include "vp8.h"

#define VP8_WINDOW_LEN 4096
#define VP8_HEAD_LEN 10 /* bytes of a frame, before its first part */

struct vp8_part {
	struct view *view;
	uint64_t at, end;
	uint32_t value, range, shifts;
	uint32_t missing; /* bytes read past the end */
	uint64_t bools;   /* read: thousands can take one byte */
	uint64_t window_at;
	size_t window_len;
	uint8_t window
		[VP8_WINDOW_LEN]; /* a copy: parts are read in turn, and a view shows one place
                                       at a time */
};

/* Reads the bytes from part->at on into the window. False: there are none. */
static inline bool vp8_fill(struct vp8_part *part)
{
	size_t len = part->end - part->at < VP8_WINDOW_LEN ? (size_t)(part->end - part->at)
							   : VP8_WINDOW_LEN;
	const uint8_t *p = len ? view_peek(part->view, part->at, len) : NULL;

	if (!p)
		return false;
	memcpy(part->window, p, len);
	part->window_at = part->at;
	part->window_len = len;
	return true;
}

static inline uint8_t vp8_next_byte(struct vp8_part *part)
{
	if (part->at >= part->window_at + part->window_len && !vp8_fill(part)) {
		part->missing++;
		return 0;
	}
	return part->window[part->at++ - part->window_at];
}

static inline void vp8_start(struct vp8_part *part, struct view *view, uint64_t at, uint64_t end)
{
	part->view = view;
	part->at = part->window_at = at;
	part->end = end;
	part->range = 255;
	part->value = (uint32_t)vp8_next_byte(part) << 8;
	part->value |= vp8_next_byte(part);
}

static inline uint32_t vp8_read_bool(struct vp8_part *part, uint8_t prob)
{
	uint32_t split = 1 + (((part->range - 1) * prob) >> 8), bit = part->value >= split << 8;
	uint32_t shift;

	if (bit) {
		part->range -= split;
		part->value -= split << 8;
	} else {
		part->range = split;
	}
	part->bools++;
	shift = (uint32_t)__builtin_clz(part->range) - 24; /* back to at least 128 */
	part->range <<= shift;
	part->value <<= shift;
	part->shifts += shift;
	if (part->shifts >= 8) {
		part->shifts -= 8;
		part->value |= (uint32_t)vp8_next_byte(part) << part->shifts;
	}
	return bit;
}

#endif
