#include "layer3_habits.h"

#include <stdbool.h>
#include <string.h>

#include "logarithm.h"

#define FOURS 0       /* the group of the books of fours */
#define SURE 24       /* decisions as by the values before alone, with which each context starts */
#define SEEN_MAX 4000 /* after which older ones count half */
#define ONE 4096      /* of a probability */

/* Of each book. */
static const uint8_t groups[32] = { 0, 1, 2, 2, 0, 3, 3, 4, 4, 4, 5, 5, 5, 6, 0, 6, 6, 6, 6, 6, 6,
	6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6 };
static const uint8_t largest[16] = { 0, 1, 2, 2, 0, 3, 3, 5, 5, 5, 7, 7, 7, 15, 0, 15 };

static unsigned near_level(unsigned sum)
{
	return sum < 2 ? sum : sum < 4 ? 2 : sum < 8 ? 3 : sum < 16 ? 4 : 5;
}

static unsigned time_level(unsigned sum)
{
	static const uint8_t least[LAYER3_TIMES - 1] = { 1, 2, 4, 7, 12, 19, 33, 60 };
	unsigned level = 0;

	while (level < LAYER3_TIMES - 1 && sum >= least[level])
		level++;
	return level;
}

static void add(struct layer3_odds *odds, bool yes)
{
	if (++odds->seen[yes] < SEEN_MAX)
		return;
	odds->seen[0] /= 2;
	odds->seen[1] /= 2;
}

/* Bits, in parts. */
static int32_t cost(uint32_t probability)
{
	return log_4096(ONE) - log_4096(probability ? probability : 1);
}

/* Returns its cost with both habits. */
static int32_t add_decision(
	struct layer3_odds *near, struct layer3_odds *both, bool yes, struct layer3_gain *gain)
{
	uint32_t seen = (uint32_t)near->seen[0] + near->seen[1];
	uint32_t alone = (2u * near->seen[yes] + 1) * (ONE / 2) / (seen + 1), bits;

	seen = (uint32_t)both->seen[0] + both->seen[1];
	bits = (both->seen[yes] * (uint32_t)ONE + SURE * alone) / (seen + SURE);
	add(near, yes);
	add(both, yes);
	gain->sound += cost(alone) - cost(bits);
	return cost(bits);
}

/* Returns its cost. */
static int32_t add_value(struct layer3_granule *granule, unsigned line, unsigned group,
	unsigned most, unsigned value, struct layer3_gain *gain)
{
	struct layer3_habits *habits = granule->habits;
	const uint8_t *before = habits->before[granule->channel], *values = granule->values;
	unsigned last = line ? values[line - 1] : 0, last_but_one = line > 1 ? values[line - 2] : 0;
	unsigned near = near_level(2 * last + last_but_one);
	unsigned time =
		time_level((line ? before[line - 1] : 0u) + 2u * before[line] + before[line + 1]);
	int32_t bits = 0;

	for (unsigned step = 0; step < most; step++) {
		unsigned kind = step < LAYER3_STEPS ? step : LAYER3_STEPS - 1;

		bits += add_decision(&habits->near[group][near][kind],
			&habits->both[group][near][time][kind], value > step, gain);
		if (value == step)
			break;
	}
	granule->values[line] = (uint8_t)value;
	return bits;
}

void layer3_habits_add_pair(struct layer3_granule *granule, unsigned line, unsigned book,
	unsigned pair, unsigned len, struct layer3_gain *gain)
{
	unsigned most = book < 16 ? largest[book] : 15;
	int32_t bits = 0;

	bits += add_value(granule, line, groups[book], most, pair >> 4, gain);
	bits += add_value(granule, line + 1, groups[book], most, pair & 15, gain);
	gain->bits += (int32_t)len * LAYER3_BIT - bits;
}

void layer3_habits_add_four(struct layer3_granule *granule, unsigned line, unsigned four,
	unsigned len, struct layer3_gain *gain)
{
	int32_t bits = 0;

	for (unsigned i = 0; i < 4; i++)
		bits += add_value(granule, line + i, FOURS, 1, four >> (3 - i) & 1, gain);
	gain->bits += (int32_t)len * LAYER3_BIT - bits;
}

void layer3_habits_end(struct layer3_granule *granule)
{
	if (granule->habits)
		memcpy(granule->habits->before[granule->channel], granule->values, LAYER3_LINES);
}
