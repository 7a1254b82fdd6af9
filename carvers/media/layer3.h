/*
 * The codes of MPEG audio's layer III (ISO/IEC 11172-3, 2.4.1.7 and 2.4.2.7; 13818-3, 2.4.3.2): they are followed, not
 * decoded to sound.
 *
 * A frame's main data begins up to 511 bytes before it, in what earlier frames have left of their room, and consists of
 * parts: scale factors and values of a channel in a granule. The side information says how many bits each has.
 */
#ifndef BURIN_CARVERS_MEDIA_LAYER3_H
#define BURIN_CARVERS_MEDIA_LAYER3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layer3_habits.h"

#define LAYER3_BOOKS 32
#define LAYER3_BEGIN_MAX 511 /* bytes before a frame in which its main data may begin */
#define LAYER3_MAIN_MAX (4 * 4095 / 8 + 1) /* bytes of a frame's main data */

#define LAYER3_CODE_BITS 19 /* of the longest code */

/* A code of two values: its bits at the top of LAYER3_CODE_BITS, from bit 13 on; from bit 8 on their number; below it the values,
 * the first one in the high half. */
static inline uint32_t layer3_code_bits(uint32_t code)
{
	return code >> 13;
}

static inline unsigned layer3_code_len(uint32_t code)
{
	return code >> 8 & 31;
}

static inline unsigned layer3_code_pair(uint32_t code)
{
	return code & 255;
}

struct layer3_book {
	const uint32_t *codes; /* in order of their bits; NULL: there is none of this number */
	uint16_t count;
	uint8_t more_bits; /* after a value of 15 */
};

extern const struct layer3_book layer3_books[LAYER3_BOOKS];

/* A channel of a granule. */
struct layer3_part {
	uint16_t len;           /* bits */
	uint16_t factors;       /* of these, of scale factors */
	uint16_t regions[3];    /* the lines (576 at most) at which the regions of pairs end */
	uint8_t books[3];       /* of these */
	bool fours_are_inverse; /* the book of fours */
};

struct layer3_side {
	uint16_t begin; /* bytes before the frame's own room in which the main data begins */
	uint16_t room;  /* where that is in the frame */
	uint8_t part_count;
	uint8_t channels;
	struct layer3_part parts[4];
};

/* The side information of a frame of len bytes, whose header is valid. False: it is impossible, or cut. */
bool layer3_read_side(const uint8_t *frame, size_t len, struct layer3_side *side);
/* Bytes of the frame's main data. */
size_t layer3_main_len(const struct layer3_side *side);
/* Follows the codes of the parts, of which data has layer3_main_len bytes. False: they are impossible. exact: the
 * parts whose codes end with their last bit, as encoders have it; not those without codes. habits: NULL, or what learns their
 * values; then what is gained is added to gains, of the byte in which each code begins. */
bool layer3_follow(const struct layer3_side *side, const uint8_t *data,
	struct layer3_habits *habits, struct layer3_gain *gains, unsigned *exact);

#endif
