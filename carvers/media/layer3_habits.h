/*
 * How large the values of layer III's codes are, learnt from a file's frames: about as large as those before them, and as those
 * of the granule before at the same lines. What other bits decode to has no such habits, and what is other sound's codes, as
 * codes fall into step soon, has the first of them only.
 *
 * Both gains are logarithms of likelihood ratios, in integers; what is learnt from a code counts for those after it.
 */
#ifndef BURIN_CARVERS_MEDIA_LAYER3_HABITS_H
#define BURIN_CARVERS_MEDIA_LAYER3_HABITS_H

#include <stdint.h>

#define LAYER3_LINES 576
#define LAYER3_BIT 4096 /* gains are in parts of a bit */

#define LAYER3_GROUPS 7 /* of books */
#define LAYER3_NEAR 6   /* levels of the values before */
#define LAYER3_TIMES 9  /* of those of the granule before */
#define LAYER3_STEPS 6

/* Decisions that were seen: no, yes. */
struct layer3_odds {
	uint16_t seen[2];
};

/* Plain data. Zero-initialise. */
struct layer3_habits {
	struct layer3_odds near[LAYER3_GROUPS][LAYER3_NEAR][LAYER3_STEPS];
	struct layer3_odds both[LAYER3_GROUPS][LAYER3_NEAR][LAYER3_TIMES][LAYER3_STEPS];
	uint8_t before[2][LAYER3_LINES + 4]; /* of each channel */
};

/* By how many bits the values are likelier, with both habits: */
struct layer3_gain {
	int32_t bits;  /* than random bits decode to them */
	int32_t sound; /* than by the values before alone */
};

/* A channel of a granule, while it is followed. Zero-initialise. */
struct layer3_granule {
	struct layer3_habits *habits; /* NULL: nothing is added, or learnt */
	unsigned channel;
	uint8_t values[LAYER3_LINES + 4];
};

/* A pair of values from `line` (even, below LAYER3_LINES) on, 15 at most, by a code of len bits of this book (1 to 31). */
void layer3_habits_add_pair(struct layer3_granule *granule, unsigned line, unsigned book,
	unsigned pair, unsigned len, struct layer3_gain *gain);
/* Four values of 0 or 1, the first one highest. line: at most LAYER3_LINES - 2. */
void layer3_habits_add_four(struct layer3_granule *granule, unsigned line, unsigned four,
	unsigned len, struct layer3_gain *gain);
/* All of it was followed. */
void layer3_habits_end(struct layer3_granule *granule);

#endif
