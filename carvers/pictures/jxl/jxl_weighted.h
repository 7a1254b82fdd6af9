/* The predictor of JPEG XL's modular mode that learns from its errors. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_WEIGHTED_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_WEIGHTED_H

#include "jxl_bits.h"

#define JXL_WEIGHTED 4

/* The samples around one, by position. */
struct jxl_around {
	int64_t w, n, nw, ne, nn, nee, ww;
};

struct jxl_weighted {
	int32_t factors[7];
	uint32_t weights[JXL_WEIGHTED];
	/* Of the channel being decoded, if it needs this predictor: two lines of each. */
	uint32_t width;
	uint32_t *errors[JXL_WEIGHTED];
	int32_t *differences;
	/* of the current sample */
	int64_t guesses[JXL_WEIGHTED], guess;
};

/* Reads the parameters of the predictor. */
void jxl_weighted_read(struct jxl_bits *bits, struct jxl_weighted *weighted);

/* Starts a channel. False: out of memory. */
bool jxl_weighted_begin(struct jxl_weighted *weighted, uint32_t width);
void jxl_weighted_free(struct jxl_weighted *weighted);

/* Predicts the sample at x, y, and returns how wrong the neighbours' predictions were. */
int64_t jxl_weighted_predict(struct jxl_weighted *weighted, uint32_t x, uint32_t y,
	const struct jxl_around *around, int32_t *error);

/* Learns the sample's actual value. */
void jxl_weighted_learn(struct jxl_weighted *weighted, uint32_t x, uint32_t y, int32_t value);

#endif
