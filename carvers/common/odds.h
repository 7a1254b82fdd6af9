/*
 * How much more or less often than a decoder's probabilities say a decision between two comes in a context: learnt as data is
 * decoded. What the learnt odds gain over the probabilities, in bits, is a likelihood ratio: with random bits, which decode to
 * decisions that come as often as the probabilities say, it reaches n once in 2^n times at most, whatever was learnt.
 */
#ifndef BURIN_CARVERS_COMMON_ODDS_H
#define BURIN_CARVERS_COMMON_ODDS_H

#include <stdbool.h>
#include <stdint.h>

#include "logarithm.h"

#define ODDS_BIT 4096     /* gains are in parts of a bit */
#define ODDS_COUNT_MAX 60 /* decisions, after which older ones count half: pictures change */
#define ODDS_PART 64      /* expected zeros are in such parts */
#define ODDS_SURE \
	(8 * ODDS_PART) /* decisions as the probabilities have them, with which each context starts */
#define ODDS_ONE 4096   /* of odds */

/* What was seen in a context, and how many zeros were expected. Plain data. Zero-initialise. */
struct odds {
	uint16_t seen[2], zeros;
};

/* Of how likely a decision is, how much more likely it is by what was learnt. */
static inline uint32_t odds_of(uint32_t seen, uint32_t expected)
{
	return (seen * ODDS_PART + ODDS_SURE) * ODDS_ONE / (expected + ODDS_SURE);
}

/* Learns a decision, of which `split` of `range` (at most 65,536; neither 0 nor all) are zeros. Returns what the odds that were
 * learnt before it gain. */
static inline int32_t odds_learn(struct odds *odds, uint32_t split, uint32_t range, uint32_t bit)
{
	uint32_t count = odds->seen[0] + odds->seen[1], all;
	uint32_t ratios[2] = { odds_of(odds->seen[0], odds->zeros),
		odds_of(odds->seen[1], count * ODDS_PART - odds->zeros) };
	int32_t gain;

	all = (uint32_t)(((uint64_t)split * ratios[0] + (uint64_t)(range - split) * ratios[1]) /
			 range);
	gain = log_4096(ratios[bit] | 1) - log_4096(all | 1);
	odds->seen[bit]++;
	odds->zeros = (uint16_t)(odds->zeros + split * ODDS_PART / range);
	if (count >= ODDS_COUNT_MAX) {
		odds->seen[0] /= 2;
		odds->seen[1] /= 2;
		odds->zeros /= 2;
		/* No more are expected than were seen. */
		if (odds->zeros > (odds->seen[0] + odds->seen[1]) * ODDS_PART)
			odds->zeros = (uint16_t)((odds->seen[0] + odds->seen[1]) * ODDS_PART);
	}
	return gain;
}

/* What all decisions up to some place gain. Plain data. Zero-initialise. */
struct odds_sum {
	int64_t gain;    /* bits that speak for them, times ODDS_BIT, */
	int64_t doubt;   /* and against those since the place where most spoke for them */
	uint64_t since;  /* that place, in bytes */
	uint32_t learnt; /* decisions, up to ODDS_LEARNT */
};

#define ODDS_LEARNT 1500     /* decisions before anything is doubted */
#define ODDS_FOREIGN_BITS 30 /* that speak against what is not the file's own, */
#define ODDS_FOREIGN_LEN \
	340 /* and as many as its own data gain in such bytes: where it changes it loses more, too */

/* Adds a gain, of what is before `at`. */
static inline void odds_sum_add(struct odds_sum *sum, int32_t gain, uint64_t at)
{
	sum->gain += gain;
	sum->doubt -= gain;
	sum->learnt += sum->learnt < ODDS_LEARNT;
	if (sum->doubt <= 0 || sum->learnt < ODDS_LEARNT) {
		sum->doubt = 0;
		sum->since = at;
	}
}

/* Whether what came since sum->since is likely another file's. begin: where the data begins. */
static inline bool odds_sum_is_foreign(const struct odds_sum *sum, uint64_t begin)
{
	int64_t len = (int64_t)(sum->since - begin) + 1, gained = sum->gain + sum->doubt;
	int64_t limit = (int64_t)ODDS_FOREIGN_BITS * ODDS_BIT;

	return sum->doubt > (gained > 0 ? limit + gained / len * ODDS_FOREIGN_LEN : limit);
}

#endif
