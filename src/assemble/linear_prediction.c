#include "assemble/linear_prediction.h"

#define ORDER PREDICTION_ORDER
#define SCALE 40 /* of factors in an elimination */
#define WEIGHT_MAX ((__int128)1 << 40)

void prediction_add(
	struct prediction_sums *sums, const int32_t *values, size_t count, unsigned order)
{
	for (size_t t = order; t < count; t++)
		for (unsigned i = 0; i <= order; i++)
			for (unsigned j = i; j <= order; j++)
				sums->products[i][j] += (int64_t)values[t - i] * values[t - j];
	sums->count += count;
}

/* Solves for `order` weights: the rows of `equations` have the right side at ORDER. */
static bool solve(__int128 equations[ORDER][ORDER + 1], unsigned order, int64_t *weights)
{
	for (unsigned k = 0; k < order; k++) {
		if (equations[k][k] <= 0)
			return false;
		for (unsigned i = k + 1; i < order; i++) {
			__int128 factor =
				equations[i][k] * ((__int128)1 << SCALE) / equations[k][k];

			if (factor > ((__int128)1 << 60) || factor < -((__int128)1 << 60))
				return false;
			for (unsigned j = k; j <= ORDER; j = j + 1 == order ? ORDER : j + 1)
				equations[i][j] -=
					factor * equations[k][j] / ((__int128)1 << SCALE);
		}
	}
	for (unsigned i = order; i-- > 0;) {
		__int128 rest = equations[i][ORDER];

		for (unsigned j = i + 1; j < order; j++)
			rest -= equations[i][j] * weights[j] / (1 << PREDICTION_BIT);
		rest = rest * (1 << PREDICTION_BIT) / equations[i][i];
		if (rest > WEIGHT_MAX || rest < -WEIGHT_MAX)
			return false;
		weights[i] = (int64_t)rest;
	}
	return true;
}

/* Sums have 46 bits; what is eliminated gets smaller. */
bool prediction_learn(const struct prediction_sums *sums, unsigned order, int64_t *weights)
{
	__int128 equations[ORDER][ORDER + 1] = { 0 };
	int64_t count = (int64_t)sums->count;
	int64_t noise = ((sums->products[0][0] + count) >> 10) + (count << 10);

	for (unsigned i = 0; i < order; i++) {
		for (unsigned j = 0; j < order; j++)
			equations[i][j] = (i <= j ? sums->products[i + 1][j + 1]
						  : sums->products[j + 1][i + 1]) *
					  (1 << 12);
		equations[i][i] += noise;
		equations[i][ORDER] = sums->products[0][i + 1] * (1 << 12);
	}
	return solve(equations, order, weights);
}
