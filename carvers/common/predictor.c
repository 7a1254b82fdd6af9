/*
 * Pixels that are stored uncompressed have no checksum and no code that could break. But each
 * resembles those before it, and what replaces them when a file's end was overwritten does not. So
 * the bytes are predicted as a compressor would predict them. Models learn, byte by byte, how often
 * each value occurs, each difference to the pixel on the left, and each difference to the row
 * above; and, for each byte of a pixel separately, the difference to the left, since only the
 * highest byte of a number is predictable. The bits that a model saves on a stretch of bytes
 * measure how well they fit: by chance, bytes that the model has not seen cost it k bits less than
 * 8 bits a byte once in 2^k times, whatever the model.
 *
 * The last 8, 16 and 64 bytes must each save some bits, so that a cut shows even if it took only a
 * few of them. Logarithms are in sixteenths of a bit, without floating point.
 */
#include "predictor.h"

#include <stdbool.h>

#include "joined.h"
#include "logarithm.h"
#include "noise.h"
#include "overwrite.h"
#include "turning.h"
#include "walk.h"

#define BIT LOG_BIT
#define WINDOW 32
#define WINDOW_MIN (8 * BIT) /* what a window saves that continues the data */
#define FOREIGN_MIN (2 * WINDOW)
#define WARM_UP 1024 /* bytes in which models still save little */
#define FEW 32
#define LAST 64 /* the longest of the stretches at the end */
#define MODELS 4
#define PLACES 8    /* bytes of a pixel with a model each */
#define BYTE_WORK 5 /* units (view_work) for a byte, besides that of its peek */

struct model {
	uint32_t counts[256];
};

struct predictor {
	const uint8_t *bytes;
	uint64_t offset; /* of the first of them in the file */
	size_t len, row_len, pixel_len;
	const uint8_t *order; /* NULL, or the place of each value among all */
	struct model models[MODELS - 1];
	struct model places[PLACES];
	uint32_t places_seen[PLACES]; /* bytes so far; the other models have seen all */
	int32_t saved[VIEW_MAX_PEEK / WINDOW + 1][MODELS]; /* by window, counted from the end */
	int32_t last[3][MODELS];                           /* on the last bytes: see lasts */
};

static const struct {
	size_t len;
	int32_t min;
} lasts[] = { { 8, 12 * BIT }, { 16, 20 * BIT }, { LAST, 40 * BIT } };

/* Teaches the model a byte of this value. Returns what the model saved on it, but for what
 * seen_cost says. */
static int32_t learn(struct model *model, uint8_t value)
{
	return 8 * BIT + log_16(16 * model->counts[value]++ + 1);
}

static int32_t seen_cost(uint32_t seen)
{
	return log_16(16 * seen + 256);
}

static inline uint8_t value_at(const struct predictor *f, size_t i)
{
	return f->order ? f->order[f->bytes[i]] : f->bytes[i];
}

/* Runs all models over the byte at i, at that place of its pixel, and sets what each saved on it. */
static inline void predict_byte(struct predictor *f, size_t i, size_t place, int32_t saved[MODELS])
{
	uint8_t byte = value_at(f, i);
	uint8_t left = i >= f->pixel_len ? value_at(f, i - f->pixel_len) : 0;
	uint8_t above = i >= f->row_len ? value_at(f, i - f->row_len) : 0;
	int32_t cost = seen_cost((uint32_t)i);

	saved[0] = learn(&f->models[0], byte) - cost;
	saved[1] = learn(&f->models[1], (uint8_t)(byte - left)) - cost;
	saved[2] = learn(&f->models[2], (uint8_t)(byte - above)) - cost;
	saved[3] = learn(&f->places[place % PLACES], (uint8_t)(byte - left)) -
		   seen_cost(f->places_seen[place % PLACES]++);
}

/* Runs all models over the bytes. */
static void predict(struct predictor *f)
{
	size_t place = 0;

	for (size_t i = 0; i < f->len; i++, place = place + 1 < f->pixel_len ? place + 1 : 0) {
		size_t rest = f->len - i;
		int32_t saved[MODELS];

		predict_byte(f, i, place, saved);
		for (int m = 0; m < MODELS; m++)
			f->saved[(rest - 1) / WINDOW][m] += saved[m];
		for (size_t l = 0; rest <= LAST && l < sizeof(lasts) / sizeof(*lasts); l++)
			for (int m = 0; m < MODELS; m++)
				f->last[l][m] += rest <= lasts[l].len ? saved[m] : 0;
	}
}

static int32_t best(const int32_t saved[MODELS])
{
	int32_t max = saved[0];

	for (int m = 1; m < MODELS; m++)
		max = saved[m] > max ? saved[m] : max;
	return max;
}

/* How many windows at the end no model saves anything on, if those before are predicted well; else
 * 0. */
static size_t foreign_windows(const struct predictor *f)
{
	size_t count = f->len / WINDOW, foreign = 0, warm_up = WARM_UP / WINDOW, good = 0;

	while (foreign < count && best(f->saved[foreign]) < WINDOW_MIN)
		foreign++;
	if (foreign * WINDOW < FOREIGN_MIN || count < foreign + 2 * warm_up)
		return 0;
	count -= warm_up;
	for (size_t i = foreign; i < count; i++)
		good += best(f->saved[i]) >= WINDOW_MIN;
	return good >= (count - foreign) / 16 * 15 ? foreign : 0;
}

/* Runs the models over the bytes before `end`, as many of [start, end) as one peek gives. */
static bool predict_before(struct predictor *f, struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, uint64_t pixel_len, const uint8_t *order)
{
	*f = (struct predictor){ .order = order };
	f->len = end - start < VIEW_MAX_PEEK ? (size_t)(end - start) : VIEW_MAX_PEEK;
	f->offset = end - f->len;
	f->bytes = view_peek(view, f->offset, f->len);
	f->row_len = row_len < f->len ? (size_t)row_len : f->len;
	f->pixel_len = pixel_len < f->len ? (size_t)pixel_len : f->len;
	if (!f->bytes || !view_work(view, f->len * BYTE_WORK))
		return false;
	predict(f);
	return true;
}

static enum predictor_end judge_last(const struct predictor *f, uint64_t *at)
{
	bool good = true;
	size_t foreign;

	for (size_t l = 0; l < sizeof(lasts) / sizeof(*lasts); l++)
		good = good && (f->len < lasts[l].len || best(f->last[l]) >= lasts[l].min);
	if (good)
		return PREDICTOR_CONTINUOUS;
	foreign = foreign_windows(f);
	*at = f->offset + f->len - foreign * WINDOW;
	/* Another file begins at a sector; elsewhere it is what the picture shows in its corner. */
	if (!foreign || (*at + WINDOW) % SECTOR > 2 * WINDOW)
		return PREDICTOR_UNKNOWN;
	return PREDICTOR_FOREIGN;
}

static enum predictor_end check_end(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, uint64_t pixel_len, const uint8_t *order, uint64_t *at)
{
	struct predictor f;

	if (end - start < FEW)
		return PREDICTOR_CONTINUOUS;
	if (!predict_before(&f, view, start, end, row_len, pixel_len, order))
		return PREDICTOR_UNKNOWN;
	return judge_last(&f, at);
}

enum predictor_end predictor_check_end(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, uint64_t pixel_len, uint64_t *at)
{
	return check_end(view, start, end, row_len, pixel_len, NULL, at);
}

static enum predictor_end check_all(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, uint64_t pixel_len, const uint8_t *order, uint64_t *at)
{
	enum predictor_end tail;

	if (end <= start)
		return PREDICTOR_CONTINUOUS;
	*at = overwrite_head(view, start, end);
	if (*at < end)
		return PREDICTOR_FOREIGN;
	do {
		*at = turning_cluster(view, *at < end ? *at : start, end, pixel_len);
	} while (*at < end && joined_row(view, start, *at, end, row_len, pixel_len, order));
	if (*at < end)
		return PREDICTOR_FOREIGN;
	*at = noise_between(view, start, end, pixel_len);
	if (*at < end)
		return PREDICTOR_FOREIGN;
	tail = check_end(view, start, end, row_len, pixel_len, order, at);
	if (tail != PREDICTOR_CONTINUOUS ||
		joined_rows(view, start, end, row_len, pixel_len, order))
		return tail;
	view_agrees(view);
	return PREDICTOR_UNKNOWN;
}

enum predictor_end predictor_check(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, uint64_t pixel_len, uint64_t *at)
{
	return check_all(view, start, end, row_len, pixel_len, NULL, at);
}

enum predictor_end predictor_check_ordered(struct view *view, uint64_t start, uint64_t end,
	uint64_t row_len, const uint8_t order[256], uint64_t *at)
{
	return check_all(view, start, end, row_len, 1, order, at);
}
