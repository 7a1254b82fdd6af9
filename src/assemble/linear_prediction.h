/* Linear prediction of samples, in integers, so that every machine decides alike. */
#ifndef BURIN_ASSEMBLE_LINEAR_PREDICTION_H
#define BURIN_ASSEMBLE_LINEAR_PREDICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREDICTION_ORDER 32 /* at most */
#define PREDICTION_BIT 20   /* weights are in 2^-20 */

/* Sums of products of samples, and of how many; all zeros: of none. */
struct prediction_sums {
	int64_t products[PREDICTION_ORDER + 1][PREDICTION_ORDER + 1];
	uint64_t count;
};

/* Adds samples of 16 bits, each but the first `order` ones with those before it; 2^16 at most in all. */
void prediction_add(
	struct prediction_sums *sums, const int32_t *values, size_t count, unsigned order);
/* Learns to predict a sample from `order` ones before it, the last one first: the covariance method, with a little noise
 * added. Weights, `order` of them, have 41 bits. False: the samples do not show it. */
bool prediction_learn(const struct prediction_sums *sums, unsigned order, int64_t *weights);

#endif
