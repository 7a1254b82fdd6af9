/*
 * What the two families after Zha and Sahni (ac0..ac4, mbm0..mbm4) have in common, for device and
 * host: how the text is divided among blocks and threads, and their Theorem 1. Names are those of their
 * Fig. 1; "section" is a section of theirs.
 *
 * A thread has S_thread = 4 * tWord bytes of its own, and looks at maxL - 1 more, here rounded up
 * to 16, as they assume them to be. A block of T threads has S_block = T * S_thread bytes.
 */
#ifndef BURIN_GPU_PAPERS_ZHA_H
#define BURIN_GPU_PAPERS_ZHA_H

#include "gpu/found.h"

/* T, as in all of their experiments (section 5.1): two warps. They had one such block on a
 * multiprocessor, for its shared memory; today's hold 15. */
#define ZHA_T 64

/* tWord (section 5.1): S_thread is 228 and S_block 14,592. Odd, for Theorem 1. 48 and 56 are the
 * others that they tried. */
#define ZHA_TWORD 57
#define ZHA_TWORD_EVEN 56
#define ZHA_TWORD_WRITES 48
#define ZHA_TWORD_MAX 64

/* The longest keyword. Their maxL was 17; longer patterns have a window of this many bytes, and are
 * confirmed. */
#define ZHA_MAXL 64

/* A row of 256 states or nodes for each state. A texture over linear memory can have at least this
 * many rows on any device (2^27 texels). */
#define ZHA_COLUMNS 256
#define ZHA_STATES_MAX (1u << 19)

/*
 * Theorem 1 for any number of banks. Thread i of C that shared memory serves at a time, C being
 * the number of banks, begins at word i * tWord, and all are at the same place of their stretches.
 * Threads i and j meet in a bank if (j - i) * tWord is a multiple of C, that is if j - i is one of
 * C / gcd(tWord, C). So gcd(tWord, C) threads meet in each bank that is used. With C a power of
 * two, 16 (theirs) as well as 32 (today's), no threads meet if and only if tWord is odd.
 *
 * Returns how many meet, and so how many accesses one access becomes.
 */
GPU_INLINE uint32_t zha_bank_ways(uint32_t words, uint32_t banks)
{
	while (banks) {
		uint32_t rest = words % banks;
		words = banks;
		banks = rest;
	}
	return words;
}

#define ZHA_BANKS 32

/* The bytes that a thread reads beside its own. */
GPU_INLINE uint32_t zha_lead(uint32_t longest)
{
	return longest ? (longest - 1 + 15) & ~15u : 0;
}

/* How a text is divided. */
struct zha_deal {
	int64_t origin;   /* where the first thread's window begins; may be before the text */
	uint64_t threads; /* that have bytes */
	uint32_t limit;   /* bytes from here on are not read */
	uint32_t words;   /* tWord */
	uint32_t lead;
	bool before; /* the lead is before a thread's own bytes, not after them */
};

/*
 * before: for arrays of states. A state belongs to the thread in whose own bytes it is reached, so
 * the thread has to begin maxL - 1 bytes before them. Otherwise, for hits and for nodes of the
 * reverse trie, a match belongs to the thread in whose own bytes it starts, and the thread continues
 * for maxL - 1 bytes after them. The work is the same.
 */
GPU_INLINE struct zha_deal zha_deal_text(const struct gpu_text *text, const struct found *found,
	uint32_t longest, uint32_t words, bool before)
{
	struct zha_deal deal = { 0 };
	uint32_t begin = text->from & ~15u, end = found_end(found, text);
	uint64_t limit = (uint64_t)end + (longest ? longest - 1 : 0);
	deal.words = words;
	deal.lead = zha_lead(longest);
	deal.limit = limit < text->len ? (uint32_t)limit : text->len;
	deal.before = before;
	deal.origin = before ? (int64_t)begin - deal.lead : begin;
	if (text->from < text->to)
		deal.threads =
			((before ? deal.limit : end) - begin + 4ull * words - 1) / (4ull * words);
	return deal;
}

/* What one thread looks at; its bytes are counted from 0. */
struct zha_window {
	int64_t at;           /* of byte 0 in the text */
	uint32_t own, lead;   /* own bytes, and those beside them */
	uint32_t own_first;   /* where its own bytes begin: 0 or lead */
	uint32_t first, last; /* there is text in [first, last); nothing if first >= last */
};

GPU_INLINE struct zha_window zha_window_of(const struct zha_deal *deal, uint64_t thread)
{
	struct zha_window window;
	window.own = 4 * deal->words;
	window.lead = deal->lead;
	window.at = deal->origin + (int64_t)(thread * window.own);
	window.own_first = deal->before ? deal->lead : 0;
	window.first = window.at < 0 ? (uint32_t)-window.at : 0;
	window.last = window.own + window.lead;
	if (window.at + window.last > deal->limit)
		window.last = window.at < deal->limit ? (uint32_t)(deal->limit - window.at) : 0;
	return window;
}

GPU_INLINE void zha_store(void *array, bool wide, uint64_t index, uint32_t value)
{
	if (wide)
		((uint32_t *)array)[index] = value;
	else
		((uint16_t *)array)[index] = (uint16_t)value;
}

#endif
