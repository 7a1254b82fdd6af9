#include "habits.h"

#include "logarithm.h"

/* A context starts with ten symbols as the code predicts them. */
#define SURE ((uint32_t)10 * HABITS_WHOLE)
#define TOTAL_MAX 500 /* symbols of a context, after which older ones count half */
#define LEARNT 2500   /* symbols before anything is doubted */
#define BROKEN_BITS 60
#define SLOW_LEN 65536 /* bits of the coded data */
#define SLOW_SHARE 16
#define LOST_BITS 256
#define LOST_LEN 28672 /* bits of the coded data: less than the smallest usual cluster */
#define HOPELESS_BITS 1000
#define WEIGHT_ONE 256

/* Of a trial. */
#define TRIAL_START 16
#define TRIAL_RATIO_MAX ((uint64_t)256 * WEIGHT_ONE)
#define TRIAL_ONE 65536u /* both weights */
#define TRIAL_SHIFT 32   /* of a weight, that is dealt out again after each symbol */

void habits_add_code(struct habits_shares *shares, unsigned class, unsigned len)
{
	uint32_t share = shares->items[class] + (len > 15 ? 1u : (uint32_t)HABITS_WHOLE >> len);

	shares->items[class] = (uint16_t)(share < HABITS_WHOLE ? share : HABITS_WHOLE);
}

static void halve(struct habit *habit)
{
	for (unsigned i = 0; i < HABITS_CLASSES; i++) {
		habit->seen[i] /= 2;
		habit->expected[i] /= 2;
	}
	habit->total /= 2;
}

static void weigh(struct habit *habit)
{
	if (habit->total >= TOTAL_MAX)
		halve(habit);
	for (unsigned i = 0; i < HABITS_CLASSES; i++) {
		uint64_t weight = ((uint64_t)habit->seen[i] + SURE) * WEIGHT_ONE /
				  (habit->expected[i] + SURE);

		habit->weight[i] = (uint16_t)(weight < 1 ? 1 : weight < 32767 ? weight : 32767);
	}
}

void habits_add(struct habits *habits, unsigned context, unsigned class,
	const struct habits_shares *shares, uint64_t at)
{
	struct habit *habit = &habits->items[context];
	uint32_t all = 0;
	int32_t bits;

	if (!habit->weight[0])
		weigh(habit);
	for (unsigned i = 0; i < HABITS_CLASSES; i++) {
		all += (uint32_t)shares->items[i] * habit->weight[i] >> 4;
		habit->expected[i] += shares->items[i];
	}
	habit->seen[class] += HABITS_WHOLE;
	habit->total++;
	habits->symbols++;
	/* all is weight * HABITS_WHOLE / 16. */
	bits = log_4096(habit->weight[class]) - log_4096(all | 1) + 11 * HABITS_BIT;
	habits->gain += bits;
	habits->doubt -= bits;
	if (habits->doubt <= 0 || habits->symbols < LEARNT) {
		habits->doubt = 0;
		habits->since = at;
	}
}

void habits_learn(struct habits *habits)
{
	for (unsigned i = 0; i < HABITS_CONTEXTS; i++)
		if (habits->items[i].total)
			weigh(&habits->items[i]);
}

void habits_trust(struct habits *habits, unsigned bits)
{
	habits->doubt -= (int64_t)bits * HABITS_BIT;
	if (habits->doubt < 0)
		habits->doubt = 0;
}

void habits_forgive(struct habits *habits, uint64_t at)
{
	habits->doubt = 0;
	habits->since = at;
}

void habits_distrust(struct habits *habits, unsigned bits)
{
	habits->doubt += (int64_t)bits * HABITS_BIT;
}

unsigned habits_gain(const struct habits *habits, int64_t since)
{
	int64_t bits = (habits->gain - since) / HABITS_BIT;

	return bits < 0 ? 0 : bits < HABITS_GAIN_MAX ? (unsigned)bits : HABITS_GAIN_MAX;
}

/* Foreign data loses about as many bits as the file's own gains. What loses far fewer is a slow change. */
bool habits_are_broken(const struct habits *habits, uint64_t at)
{
	uint64_t len = at - habits->since;
	int64_t gained = habits->gain + habits->doubt, slow = 0;

	if (len > SLOW_LEN)
		len = SLOW_LEN;
	if (gained > 0 && habits->since)
		slow = gained / (int64_t)habits->since * (int64_t)len / SLOW_SHARE;
	return habits->doubt > BROKEN_BITS * HABITS_BIT + slow;
}

bool habits_are_lost(const struct habits *habits, uint64_t at)
{
	uint64_t len = at - habits->since;

	return habits->doubt > HOPELESS_BITS * HABITS_BIT ||
	       (habits->doubt > LOST_BITS * HABITS_BIT && len > LOST_LEN) ||
	       (habits_are_broken(habits, at) && len > 4 * LOST_LEN);
}

void habits_trial_begin(struct habits_trial *trial, const struct habits *learnt)
{
	*trial = (struct habits_trial){ .learnt = learnt, .weight = TRIAL_ONE * 7 / 10 };
}

/* How much more often than its code says a class comes, in WEIGHT_ONEs, by what was learnt and TRIAL_START symbols as the code has
 * them. */
static uint64_t ratio_of(const struct habit *learnt, unsigned class, uint32_t share)
{
	/* seen has symbols times HABITS_WHOLE. */
	uint64_t ratio = ((uint64_t)learnt->seen[class] / share + TRIAL_START) * WEIGHT_ONE /
			 (learnt->total + TRIAL_START);

	return ratio < TRIAL_RATIO_MAX ? ratio : TRIAL_RATIO_MAX;
}

void habits_trial_add(struct habits_trial *trial, unsigned context, unsigned class,
	const struct habits_shares *shares)
{
	uint32_t share = shares->items[class] ? shares->items[class] : 1;
	uint64_t habits = trial->weight * ratio_of(&trial->learnt->items[context], class, share);
	uint64_t sum = habits + (uint64_t)(TRIAL_ONE - trial->weight) * WEIGHT_ONE;
	uint32_t weight = (uint32_t)(habits * TRIAL_ONE / sum);

	/* Neither weight is ever less than half of TRIAL_ONE / TRIAL_SHIFT. */
	trial->gain += log_4096((uint32_t)(sum / WEIGHT_ONE)) - 16 * HABITS_BIT;
	if (trial->gain > trial->most)
		trial->most = trial->gain;
	trial->weight = weight - weight / TRIAL_SHIFT + TRIAL_ONE / 2 / TRIAL_SHIFT;
}

void habits_trial_trust(struct habits_trial *trial, unsigned bits)
{
	trial->most += (int64_t)bits * HABITS_BIT;
}

unsigned habits_trial_bits(const struct habits_trial *trial)
{
	return (unsigned)(trial->most / HABITS_BIT);
}

/* Of the places where 39 gzip and 40 bzip2 files of text may break off 84 % have as much, of clusters of other files that are as even
 * 2 %. */
bool habits_trial_may_be_own(const struct habits_trial *trial, uint64_t bytes)
{
	return trial->gain > (bytes < 128          ? INT64_MIN
				     : bytes < 512 ? -6 * HABITS_BIT
						   : -4 * HABITS_BIT);
}
