/* The arithmetic decoder that H.264 and H.265 share (ITU-T H.264, 9.3.3.2; ITU-T H.265, 9.3.4.3). */
#ifndef BURIN_CARVERS_COMMON_CABAC_H
#define BURIN_CARVERS_COMMON_CABAC_H

#include <stdbool.h>
#include <stdint.h>

#include "h264_tables.h"

#define CABAC_AHEAD 16 /* bits that `ahead` is to be at least when a function is called */
#define CABAC_BEGIN 9  /* bits that it begins with */
#define CABAC_RANGE 510

struct cabac {
	uint64_t value; /* the offset, and `ahead` bits of the unit below it */
	int ahead;
	unsigned range;
};

/* A bin by its context's state, which is 2 * pStateIdx + valMps. */
static inline unsigned cabac_bin(struct cabac *c, uint8_t *state)
{
	unsigned lps = h264_lps[*state >> 1][c->range >> 6 & 3], bin = *state & 1;
	int shift;

	c->range -= lps;
	if (c->value < (uint64_t)c->range << c->ahead) {
		if (*state < 2 * 62)
			*state = (uint8_t)(*state + 2);
		if (c->range < 256) {
			c->range <<= 1;
			c->ahead--;
		}
		return bin;
	}
	c->value -= (uint64_t)c->range << c->ahead;
	shift = __builtin_clz(lps) - 23;
	c->range = lps << shift;
	c->ahead -= shift;
	if (*state < 2)
		*state ^= 1;
	else
		*state = (uint8_t)(h264_after_lps[*state >> 1] << 1 | bin);
	return bin ^ 1;
}

/* A bin that is as likely 0 as 1. */
static inline unsigned cabac_bypass(struct cabac *c)
{
	c->ahead--;
	if (c->value < (uint64_t)c->range << c->ahead)
		return 0;
	c->value -= (uint64_t)c->range << c->ahead;
	return 1;
}

static inline bool cabac_terminates(struct cabac *c)
{
	c->range -= 2;
	if (c->value >= (uint64_t)c->range << c->ahead)
		return true;
	if (c->range < 256) {
		c->range <<= 1;
		c->ahead--;
	}
	return false;
}

/* A context's state, from what the tables give for this quantiser: both standards have the same 126. */
static inline uint8_t cabac_state(int state)
{
	state = state < 1 ? 1 : state > 126 ? 126 : state;
	return (uint8_t)(state <= 63 ? (63 - state) << 1 : (state - 64) << 1 | 1);
}

#endif
