/*
 * Algorithms 1 and 2 of Tran, Lee and Choi, section 4.2.
 *
 * Algorithm 1 counts how many patterns start with each byte, and deals the bytes, those with the
 * most patterns first, to the m sets. Line 13 as printed, max(j mod m, m - (j mod m) - 1), never
 * names a set of the lower half, so that half of the sets would get next to nothing. The text around
 * it wants a balance, and the formula consists of the two directions of dealing to and fro: set
 * j mod m on the way there, m - (j mod m) - 1 on the way back. This file does that.
 *
 * Algorithm 2 moves the last pattern of the longest set to the shortest one while the first is more
 * than a threshold longer. As printed it need not end: with two sets and one pattern, it would move
 * to and fro for ever. Here a pattern is moved only if both sets then are shorter than the longer
 * one was, and the search for such a pattern goes backwards from the last. So each move makes the
 * sum of the squares less, and when the longest set has no such pattern there is no better move at
 * all. The work stays linear: patterns that can't be moved are as long as the difference, which is
 * more than threshold / (1 + threshold) of the whole set, so that only a handful of them are
 * skipped.
 */
#include "gpu/papers/stt_deal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/papers/stt.h"

/* x_i of the paper: a byte, and the keywords that start with it. */
struct start {
	uint32_t count;
	uint32_t first; /* they are adjacent, as keywords are sorted */
	uint32_t byte;
};

static int compare_starts(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->byte < y->byte ? -1 : 1;
}

static void count_starts(struct start starts[256], const struct keyword_set *keywords)
{
	memset(starts, 0, 256 * sizeof(*starts));
	for (uint32_t byte = 0; byte < 256; byte++)
		starts[byte].byte = byte;
	for (uint32_t i = 0; i < keywords->count; i++) {
		struct start *start = &starts[keywords->items[i].bytes[0]];

		if (!start->count++)
			start->first = i;
	}
}

static void add(struct stt_hand *hand, const struct keyword_set *keywords, uint32_t item)
{
	if (hand->count == hand->capacity)
		hand->items =
			xgrow(hand->items, &hand->capacity, hand->count, sizeof(*hand->items));
	hand->items[hand->count++] = item;
	hand->len += keywords->items[item].len;
}

void stt_deal_make(struct stt_deal *deal, const struct keyword_set *keywords, uint32_t count)
{
	struct start starts[256];

	memset(deal, 0, sizeof(*deal));
	deal->count = count;
	count_starts(starts, keywords);
	qsort(starts, 256, sizeof(*starts), compare_starts);
	for (uint32_t j = 0; j < 256; j++) {
		bool fro = j / count % 2;
		uint32_t k = fro ? count - j % count - 1 : j % count;

		for (uint32_t i = 0; i < starts[j].count; i++)
			add(&deal->hands[k], keywords, starts[j].first + i);
	}
}

/* The last keyword of the hand that is shorter than `limit`; hand->count if there is none. */
static uint32_t find_movable(
	const struct stt_hand *hand, const struct keyword_set *keywords, uint64_t limit)
{
	for (uint32_t i = hand->count; i-- > 0;)
		if (keywords->items[hand->items[i]].len < limit)
			return i;
	return hand->count;
}

static void find_extremes(const struct stt_deal *deal, uint32_t *longest, uint32_t *shortest)
{
	*longest = *shortest = 0;
	for (uint32_t i = 1; i < deal->count; i++) {
		if (deal->hands[i].len > deal->hands[*longest].len)
			*longest = i;
		if (deal->hands[i].len < deal->hands[*shortest].len)
			*shortest = i;
	}
}

uint64_t stt_deal_balance(
	struct stt_deal *deal, const struct keyword_set *keywords, double threshold)
{
	for (uint64_t moves = 0;; moves++) {
		uint32_t longest, shortest, at, item;
		struct stt_hand *from, *to;

		find_extremes(deal, &longest, &shortest);
		from = &deal->hands[longest];
		to = &deal->hands[shortest];
		if ((double)from->len <= (double)to->len * (1 + threshold))
			return moves;
		at = find_movable(from, keywords, from->len - to->len);
		if (at == from->count)
			return moves;
		item = from->items[at];
		from->count--;
		memmove(from->items + at, from->items + at + 1,
			(from->count - at) * sizeof(*from->items));
		from->len -= keywords->items[item].len;
		add(to, keywords, item);
	}
}

double stt_threshold(uint32_t keyword_count)
{
	return keyword_count > STT_MANY_KEYWORDS ? 0.10 : 0.15;
}

void stt_deal_free(struct stt_deal *deal)
{
	for (uint32_t i = 0; i < deal->count; i++)
		free(deal->hands[i].items);
	memset(deal, 0, sizeof(*deal));
}
