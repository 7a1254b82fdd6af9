/*
 * Which symbols follow which in coded data. A code says how often each symbol comes, so that bits that were not
 * written with it decode to symbols as often as its own data does; but any symbol follows any other then, while in a
 * file's own data some follow others more often than the code says: a vowel a consonant, a short repetition a short
 * one. That is learnt as the file is decoded; foreign data shows after some hundred bytes, whatever it is.
 *
 * Symbols are put into classes. For each context (what came before) it is learnt how much more often than its code
 * says each class comes. Plain data of a fixed size, in integers.
 */
#ifndef BURIN_CARVERS_COMMON_HABITS_H
#define BURIN_CARVERS_COMMON_HABITS_H

#include <stdbool.h>
#include <stdint.h>

#define HABITS_CLASSES 16
#define HABITS_CONTEXTS 80
#define HABITS_WHOLE 32768u /* the sum of a code's shares */

/* How much of all that is coded with a code each class is. */
struct habits_shares {
	uint16_t items[HABITS_CLASSES];
};

/* Of a context, in symbols times HABITS_WHOLE. */
struct habit {
	uint32_t seen[HABITS_CLASSES], expected[HABITS_CLASSES];
	uint16_t weight
		[HABITS_CLASSES]; /* 256 times how much more often a class comes; 0: not learnt */
	uint32_t total;           /* symbols in expected */
};

/* Zero-initialise. */
struct habits {
	uint64_t symbols;
	uint64_t since; /* where what is doubtful began: as in habits_add's at */
	int64_t doubt;  /* bits that speak against it, times HABITS_BIT */
	int64_t gain;   /* bits that speak for all of it */
	struct habit items[HABITS_CONTEXTS];
};

#define HABITS_BIT 4096
#define HABITS_GAIN_MAX 12

/* The shares of a code, of which each symbol adds 2^-len for its class. */
void habits_add_code(struct habits_shares *shares, unsigned class, unsigned len);
/* A symbol of this class comes after such a context, coded with a code of these shares; it ends at `at`, in any unit
 * that rises. */
void habits_add(struct habits *habits, unsigned context, unsigned class,
	const struct habits_shares *shares, uint64_t at);
/* Learns from what was added: every half kilobyte or so, as what is new shall not count for itself at once. */
void habits_learn(struct habits *habits);
/* What was added is the file's own, all the same. */
void habits_forgive(struct habits *habits, uint64_t at);
/* Evidence of another kind, in bits: that the data is the file's own, or that it is foreign. */
void habits_trust(struct habits *habits, unsigned bits);
void habits_distrust(struct habits *habits, unsigned bits);
/* By how many bits what came since the gain was that speaks for being the file's own: other data would reach as many
 * once in 2^bits times. At most HABITS_GAIN_MAX, as the file's own data from elsewhere reaches them, too. */
unsigned habits_gain(const struct habits *habits, int64_t since);
/* Whether what came after habits->since is likely foreign, at `at`, in bits of the coded data. */
bool habits_are_broken(const struct habits *habits, uint64_t at);
/* Whether that is beyond doubt: a file's own data may change, too, but it has soon
 * other habits then, and foreign data has none. */
bool habits_are_lost(const struct habits *habits, uint64_t at);

/*
 * Whether what goes on with the codes has the habits that were learnt: these, and none, predict each symbol, and either counts the
 * more the better it predicted those before. Data that has none seems to have them seldom: once in 2^n times n bits or more speak for
 * it.
 */
struct habits_trial {
	const struct habits *learnt;
	uint32_t weight; /* of the habits, in 65536ths */
	int64_t gain,
		most; /* bits, times HABITS_BIT: that speak for them, and the most that ever did */
};

void habits_trial_begin(struct habits_trial *trial, const struct habits *learnt);
/* As habits_add. */
void habits_trial_add(struct habits_trial *trial, unsigned context, unsigned class,
	const struct habits_shares *shares);

/* Evidence of another kind, in bits. */
void habits_trial_trust(struct habits_trial *trial, unsigned bits);
/* The most that ever spoke for habits. */
unsigned habits_trial_bits(const struct habits_trial *trial);

/* Whether it may still be the file's own after so many bytes. */
bool habits_trial_may_be_own(const struct habits_trial *trial, uint64_t bytes);

#endif
