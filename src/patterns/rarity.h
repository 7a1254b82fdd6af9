/* The built-in model of the content of disks, with which engines and kernels choose the parts of
 * patterns that they test first. rarity.c explains it. */
#ifndef BURIN_PATTERNS_RARITY_H
#define BURIN_PATTERNS_RARITY_H

#include <stdint.h>

enum rarity_kind {
	RARITY_ZERO,
	RARITY_FILL,
	RARITY_TEXT,
	RARITY_BINARY,
	RARITY_RANDOM,
	RARITY_KINDS
};

/* The shares of the kinds; they add up to 1. */
extern const float rarity_weight[RARITY_KINDS];

/* Fills in the probability of each byte within each kind. */
void rarity_bytes(float probability[RARITY_KINDS][256]);

/* The probability that a byte equals value in the bits of mask. */
float rarity_class(const float probability[256], uint8_t value, uint8_t mask);

/* The probability that len consecutive bytes equal value in the bits of mask. */
double rarity_run(const float probability[RARITY_KINDS][256], const uint8_t *value,
	const uint8_t *mask, uint32_t len);

#endif
