/*
 * Dealing a pattern set to several automata: Algorithms 1 and 2 of Tran, Lee and Choi
 * ("Cache Locality-Centric Parallel String Matching on Many-Core Accelerator Chips", 2015).
 */
#ifndef BURIN_GPU_PAPERS_STT_DEAL_H
#define BURIN_GPU_PAPERS_STT_DEAL_H

#include <stddef.h>

#include "scan/gpu_options.h"
#include "patterns/keywords.h"

/* A set S_i of the paper. */
struct stt_hand {
	uint32_t *items; /* indices of keywords */
	uint32_t count;
	size_t capacity;
	uint64_t len; /* l_i: the bytes of all its keywords */
};

struct stt_deal {
	struct stt_hand hands[GPU_PARTS_MAX];
	uint32_t count; /* m */
};

/* Algorithm 1: keywords that start with the same byte stay together. count: 1 to GPU_PARTS_MAX;
 * some hands may be empty. stt_deal_free when done. */
void stt_deal_make(struct stt_deal *deal, const struct keyword_set *keywords, uint32_t count);

/* Algorithm 2: moves keywords from the longest hand to the shortest, until the one is at most
 * `threshold` longer than the other (0.15: by 15 %) or no move brings them nearer. Returns how many
 * were moved. */
uint64_t stt_deal_balance(
	struct stt_deal *deal, const struct keyword_set *keywords, double threshold);

/* The paper's threshold for this many patterns. */
double stt_threshold(uint32_t keyword_count);

void stt_deal_free(struct stt_deal *deal);

#endif
