/*
 * Pixels. Each byte is predicted by the ones left, above, and above left (as in JPEG-LS), and alternatively with the row
 * above moved by a third and by two thirds of its length, which is what bytes of other files would be next to. The costs of
 * the residuals by adaptive models of the same beginning tell whether the row above is the right one. Where the byte left
 * alone would have been better for some time, it is taken in all of them, so that content that changes costs nothing. A row
 * that repeats the one above, or goes on in one colour, shows no place, but it is rare in other files.
 *
 * Samples. Of four predictors (the sample before, the line through two, linear prediction of order 6 learnt from the last
 * samples and of order 16 from more of them, by the covariance method) the one with the smallest error on both sides of the
 * place is taken. Its errors across the place, as many as it has coefficients, are compared with what is usual there and with
 * how loud the samples are.
 *
 * A cluster whose bytes are far less predictable in themselves than those before counts as another file's.
 */
#include "assemble/content_end.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/fine_log.h"
#include "assemble/linear_prediction.h"
#include "assemble/samples.h"
#include "base/memory.h"

#define BIT CONTENT_BIT
#define KINDS 9          /* of residuals, by magnitude */
#define MODEL_START 240  /* the weight of what was learnt, in a model's beginning... */
#define MODEL_STEP 8     /* ...that of a residual... */
#define MODEL_MAX 1024   /* ...and of all, at most */
#define ALIEN (24 * BIT) /* against a cluster that is unlike the content in itself */
#define UNLIKE (8 * BIT)
#define FLAT (12 * BIT)      /* for a row that repeats the one above, or is of one colour */
#define EXPLAINED (4 * BIT)  /* pixels with fewer bits... */
#define PLAIN (2 * BIT)      /* ...that cost more than this each are unlike, too */
#define NOISE (27 * BIT / 4) /* a byte that the one left does not predict */
#define LEARN_BYTES 256
#define LEARN_MAX 8192
#define SEEN (6 * BIT) /* without these samples do not go on */
#define BLOCK 16
#define PIXELS_MIN 16 /* bytes of content that a cluster must have */
#define SAMPLES_MIN 64

#define ORDER 16
#define SHORT_ORDER 6
#define PREDICTORS 4
#define LONG_LEN 1024 /* frames that are learnt from */
#define SHORT_LEN 320
#define FRAMES_MIN 128
#define LOCAL 64 /* frames before the place whose errors are usual */
#define AFTER 40 /* and after what crosses it */
#define LEVEL 32 /* frames on both sides: how loud */
#define LOOK (ORDER + 128)
#define CROSSING \
	12 /* errors across the place that count: the first FULL ones wholly, the others half */
#define FULL 4
#define PER_ERROR 23  /* 16 / ln 2 */
#define ERROR_UNIT 16 /* of mean errors */
#define SMALL_ERROR 4 /* that is added, as samples are whole numbers */
#define WORST (-12 * BIT)
#define OUTLIER 16 /* times the mean error */
#define LIKE_MIN (2 * ORDER + 1)
#define LIKE 4 /* the same, in a cluster of sound that is alike */

struct channel {
	int64_t weights[PREDICTORS][ORDER];
	int64_t usual[PREDICTORS]; /* mean errors before the place, in ERROR_UNITs */
	int64_t steady; /* that of the longest predictor in all that it was learnt from */
	int64_t gain;   /* by how many BITs the simplest predictors shorten samples */
	/* What the past adds to the first sample after it and to the next one, weighted. */
	int64_t adds[PREDICTORS][2];
	int64_t rough; /* the mean difference of two samples, in ERROR_UNITs */
};

struct content_end {
	struct carve_stored stored;
	size_t size; /* of a cluster */
	size_t past; /* bytes of content before the place */
	uint64_t at; /* it, in the file */
	bool is_known;
	unsigned step; /* bytes of a pixel or frame */
	/* pixels */
	uint32_t model[KINDS]; /* of residuals, to begin with */
	int64_t byte_cost;     /* BITs of a byte that is predicted by the one left */
	/* samples */
	size_t phase; /* bytes of the past before its first whole frame */
	struct channel channels[CONTENT_CHANNELS];
	int32_t values[LONG_LEN];
	uint8_t bytes[]; /* the past, and a cluster after it */
};

static const unsigned orders[PREDICTORS] = { 1, 2, ORDER, SHORT_ORDER };

/* ---- pixels -------------------------------------------------------------------------------- */

/* The kind of a difference of two bytes: 0, 1, 2, 3 and 4, 5 to 8, ..., 65 to 128, whatever the sign. */
static unsigned kind_of(uint8_t difference)
{
	unsigned size = difference < 128 ? difference : 256u - difference;

	return size < 3 ? size : 33u - (unsigned)__builtin_clz(size - 1);
}

/* BITs for which of its kind a residual is: the sign, and the size. */
static const int32_t inside_kind[KINDS] = { 0, BIT, BIT, 2 * BIT, 3 * BIT, 4 * BIT, 5 * BIT,
	6 * BIT, 7 * BIT };

static uint8_t predict(uint8_t left, uint8_t above, uint8_t corner)
{
	uint8_t low = left < above ? left : above, high = left < above ? above : left;

	return corner >= high ? low : corner <= low ? high : (uint8_t)(left + above - corner);
}

/* The mean cost of residuals of which that many of each kind are. */
static int64_t mean_cost(const uint32_t counts[KINDS])
{
	uint64_t all = 0;
	int64_t sum = 0;

	for (unsigned i = 0; i < KINDS; i++)
		all += counts[i];
	for (unsigned i = 0; i < KINDS && all; i++)
		if (counts[i])
			sum += counts[i] * (fine_log(all) - fine_log(counts[i]) + inside_kind[i]);
	return all ? sum / (int64_t)all : 0;
}

static void learn_pixels(struct content_end *end)
{
	uint32_t counts[KINDS] = { 0 }, left[KINDS] = { 0 };
	size_t row = end->stored.row_len, step = end->step, all = 1;
	const uint8_t *bytes = end->bytes;

	if (end->past < 2 * row + step + LEARN_BYTES)
		return;
	for (size_t i = row + step; i < end->past; i++) {
		left[kind_of((uint8_t)(bytes[i] - bytes[i - step]))]++;
		counts[kind_of((uint8_t)(bytes[i] - predict(bytes[i - step], bytes[i - row],
							    bytes[i - row - step])))]++;
	}
	end->byte_cost = mean_cost(left);
	for (unsigned i = 0; i < KINDS; i++)
		all += counts[i] += left[i];
	for (unsigned i = 0; i < KINDS; i++)
		end->model[i] = 2 + (uint32_t)((uint64_t)counts[i] * MODEL_START / all);
	end->is_known = true;
}

/* An adaptive model of residuals. */
struct model {
	uint32_t counts[KINDS], all;
};

static struct model model_begin(const struct content_end *end)
{
	struct model model = { .all = 0 };

	for (unsigned i = 0; i < KINDS; i++)
		model.all += model.counts[i] = end->model[i];
	return model;
}

static int32_t model_cost(struct model *model, uint8_t difference)
{
	unsigned kind = kind_of(difference);
	int32_t cost =
		(int32_t)(fine_log(model->all) - fine_log(model->counts[kind])) + inside_kind[kind];

	model->counts[kind] += MODEL_STEP;
	model->all += MODEL_STEP;
	if (model->all > MODEL_MAX) {
		model->all = 0;
		for (unsigned i = 0; i < KINDS; i++)
			model->all += model->counts[i] = (model->counts[i] + 1) / 2;
	}
	return cost;
}

#define ROWS 3 /* that are compared as the row above: the right one, and others' places */

/* By how many bytes before the right place each of them is. */
static size_t row_shift(const struct content_end *end, unsigned number)
{
	size_t pixels = end->stored.row_len / end->step;

	return number ? (number * pixels / ROWS + 1) * end->step : 0;
}

/* Bits that the row above is the right one for the first `len` bytes of a cluster. */
static int64_t row_bits(const struct content_end *end, size_t len)
{
	const uint8_t *cluster = end->bytes + end->past;
	struct model alone = model_begin(end), models[ROWS];
	int64_t costs[ROWS] = { 0 };
	/* What each would have cost lately, and the byte left alone. */
	int32_t lately[ROWS] = { 0 }, left_lately[ROWS];
	size_t row = end->stored.row_len, step = end->step;

	for (unsigned k = 0; k < ROWS; k++) {
		models[k] = alone;
		left_lately[k] = BIT / 2;
	}
	for (size_t i = 0; i < len; i++) {
		const uint8_t *at = cluster + i;
		uint8_t left = *(at - step);
		int32_t cost_left = model_cost(&alone, (uint8_t)(*at - left));

		for (unsigned k = 0; k < ROWS; k++) {
			const uint8_t *above = at - row - row_shift(end, k);
			int32_t cost = model_cost(&models[k],
				(uint8_t)(*at - predict(left, *above, *(above - step))));

			costs[k] += lately[k] <= left_lately[k] ? cost : cost_left;
			lately[k] += cost - lately[k] / 16;
			left_lately[k] += cost_left - left_lately[k] / 16;
		}
	}
	return (costs[1] < costs[2] ? costs[1] : costs[2]) - costs[0];
}

/* Whether the first row of a cluster repeats the one above, or has the colour of the pixel before alone: nothing shows its place,
 * but clusters of other files hardly ever begin so. */
static bool is_plain(const struct content_end *end, const uint8_t *cluster, size_t len)
{
	const uint8_t *before = end->bytes + end->past;
	size_t row = end->stored.row_len, step = end->step;

	if (len > row)
		len = row;
	return memcmp(cluster, before - row, len) == 0 ||
	       (memcmp(cluster, before - step, len < step ? len : step) == 0 &&
		       (len <= step || memcmp(cluster + step, cluster, len - step) == 0));
}

static int64_t pixel_bits(const struct content_end *end, size_t len)
{
	const uint8_t *cluster = end->bytes + end->past;
	uint32_t counts[KINDS] = { 0 };
	size_t row = end->stored.row_len;
	int64_t cost, bits, alien = 0;

	for (size_t i = end->step; i < len; i++)
		counts[kind_of((uint8_t)(cluster[i] - cluster[i - end->step]))]++;
	cost = mean_cost(counts);
	if (cost > end->byte_cost + BIT && cost > NOISE)
		alien = (cost - NOISE) * ALIEN / BIT;
	bits = row_bits(end, len < row ? len : row);
	if (bits < FLAT && is_plain(end, cluster, len))
		return FLAT;
	if (bits < EXPLAINED && cost > PLAIN)
		bits -= UNLIKE;
	return bits - (alien < ALIEN ? alien : ALIEN);
}

/* In blocks, of which compilers make one instruction each. */
static uint32_t sum_differences(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint32_t sum = 0;
	size_t i = 0;

	for (; len - i >= BLOCK; i += BLOCK)
		for (size_t k = 0; k < BLOCK; k++)
			sum += (uint32_t)abs(a[i + k] - b[i + k]);
	for (; i < len; i++)
		sum += (uint32_t)abs(a[i] - b[i]);
	return sum;
}

/* ---- samples ------------------------------------------------------------------------------- */

static uint64_t magnitude(int64_t number)
{
	return number < 0 ? (uint64_t)-number : (uint64_t)number;
}

static bool learn_weights(const int32_t *values, size_t count, unsigned order, int64_t *weights)
{
	struct prediction_sums sums = { .count = 0 };

	prediction_add(&sums, values, count, order);
	return prediction_learn(&sums, order, weights);
}

/* Weights have 41 bits, and values 16. */
static int64_t predict_sample(const int64_t *weights, unsigned order, const int32_t *at)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < order; i++)
		sum += weights[i] * *(at - 1 - i);
	return sum / (1 << PREDICTION_BIT);
}

/* By how many BITs the best polynomial of up to third degree shortens samples. */
static int64_t gain_of(const int32_t *values, size_t count)
{
	uint64_t sums[4] = { 0 }, best, some = count / 2 + 1;

	for (size_t t = 3; t < count; t++) {
		int64_t first = values[t] - (int64_t)values[t - 1],
			before = values[t - 1] - (int64_t)values[t - 2], second = first - before,
			third = second - (before - (values[t - 2] - (int64_t)values[t - 3]));

		sums[0] += magnitude(values[t]);
		sums[1] += magnitude(first);
		sums[2] += magnitude(second);
		sums[3] += magnitude(third);
	}
	best = sums[0];
	for (unsigned i = 1; i < 4; i++)
		best = sums[i] < best ? sums[i] : best;
	return fine_log(sums[0] + some) - fine_log(best + some);
}

/* The samples of a channel, of `count` frames from one on. */
static const int32_t *read_samples(
	struct content_end *end, unsigned channel, size_t frame, size_t count)
{
	const uint8_t *p = end->bytes + end->phase + frame * end->step +
			   (size_t)channel * end->stored.sample_len + samples_first(&end->stored);

	for (size_t i = 0; i < count; i++, p += end->step)
		end->values[i] = samples_value(&end->stored, p);
	return end->values;
}

/* The mean error of the longest predictor, in ERROR_UNITs. */
static int64_t mean_error(const struct channel *channel, const int32_t *values, size_t count)
{
	uint64_t sum = 0;

	for (size_t t = ORDER; t < count; t++)
		sum += magnitude(
			values[t] - predict_sample(channel->weights[2], ORDER, values + t));
	return (int64_t)(sum * ERROR_UNIT / (count - ORDER)) + SMALL_ERROR;
}

static void learn_channel(struct content_end *end, unsigned number, size_t frames)
{
	struct channel *channel = &end->channels[number];
	size_t count = frames < LONG_LEN ? frames : LONG_LEN;
	size_t late = count < SHORT_LEN ? count : SHORT_LEN;
	const int32_t *values = read_samples(end, number, frames - count, count);

	*channel = (struct channel){ .rough = 0 };
	channel->weights[0][0] = 1 << PREDICTION_BIT;
	channel->weights[1][0] = 2 << PREDICTION_BIT;
	channel->weights[1][1] = -(1 << PREDICTION_BIT);
	if (!learn_weights(values, count, ORDER, channel->weights[2]))
		memcpy(channel->weights[2], channel->weights[1], sizeof(channel->weights[1]));
	if (!learn_weights(values + count - late, late, SHORT_ORDER, channel->weights[3]))
		memcpy(channel->weights[3], channel->weights[1], sizeof(channel->weights[1]));
	for (unsigned k = 0; k < PREDICTORS; k++) {
		uint64_t sum = 0;

		for (size_t t = count - LOCAL; t < count; t++)
			sum += magnitude(
				values[t] - predict_sample(channel->weights[k], ORDER, values + t));
		channel->usual[k] = (int64_t)(sum * ERROR_UNIT / LOCAL) + SMALL_ERROR;
		for (unsigned i = 0; i < ORDER; i++) {
			channel->adds[k][0] += channel->weights[k][i] * values[count - 1 - i];
			if (i + 1 < ORDER)
				channel->adds[k][1] +=
					channel->weights[k][i + 1] * values[count - 1 - i];
		}
	}
	channel->steady = mean_error(channel, values, count);
	channel->gain = gain_of(values, count);
	for (size_t t = 1; t < count; t++)
		channel->rough += (int64_t)magnitude(values[t] - (int64_t)values[t - 1]);
	channel->rough = channel->rough * ERROR_UNIT / (int64_t)count + SMALL_ERROR;
}

static void learn_samples(struct content_end *end)
{
	uint64_t from = end->at - end->past - end->stored.from;
	size_t frames;

	end->phase = (end->step - from % end->step) % end->step;
	if (end->past < end->phase)
		return;
	frames = (end->past - end->phase) / end->step;
	if (frames < FRAMES_MIN)
		return;
	for (unsigned c = 0; c < end->stored.channels; c++)
		learn_channel(end, c, frames);
	end->is_known = true;
}

/* A place in a channel's samples, and how they are predicted across it. */
struct crossing {
	int64_t usual; /* the mean error on both sides, in ERROR_UNITs */
	unsigned order;
	uint64_t errors[ORDER];
};

/* Takes the best predictor. after: of that many samples after ORDER. */
static void cross(
	const struct channel *channel, const int32_t *place, size_t after, struct crossing *best)
{
	*best = (struct crossing){ .usual = INT64_MAX };
	for (unsigned k = 0; k < PREDICTORS; k++) {
		uint64_t errors[ORDER], sum = 0;
		int64_t usual;

		for (size_t t = 0; t < ORDER + after; t++) {
			uint64_t error = magnitude(place[t] - predict_sample(channel->weights[k],
								      orders[k], place + t));

			if (t < ORDER)
				errors[t] = error;
			else
				sum += error;
		}
		usual = ((int64_t)(sum * ERROR_UNIT / after) + SMALL_ERROR + channel->usual[k]) / 2;
		if (usual >= best->usual)
			continue;
		best->usual = usual;
		best->order = orders[k];
		memcpy(best->errors, errors, sizeof(errors));
	}
}

/* Bits for a place by the errors across it. loud: the mean of the samples there, in ERROR_UNITs. */
static int64_t crossing_bits(const struct crossing *crossing, int64_t loud)
{
	unsigned count = crossing->order < CROSSING ? crossing->order : CROSSING;
	int64_t usual = crossing->usual, bits = 0;

	if (loud <= usual)
		return 0;
	for (unsigned t = 0; t < count; t++) {
		int64_t error = (int64_t)crossing->errors[t] * ERROR_UNIT;
		int64_t one = fine_log((uint64_t)loud) - fine_log((uint64_t)usual) -
			      error * PER_ERROR / usual + error * PER_ERROR / loud;

		one = one < WORST ? WORST : one;
		bits += t < FULL ? one : one / 2;
	}
	return bits;
}

/* The mean of samples, in ERROR_UNITs. */
static int64_t loudness(const int32_t *values, size_t count)
{
	uint64_t sum = 0;

	for (size_t t = 0; t < count; t++)
		sum += magnitude(values[t]);
	return (int64_t)(sum * ERROR_UNIT / count);
}

static int64_t sample_bits(struct content_end *end, size_t len)
{
	size_t place =
		(end->past - end->phase) / end->step; /* the first frame that has its bytes */
	size_t frames = (end->past + len - end->phase) / end->step;
	size_t first = place - ORDER - LEVEL, count, before = ORDER + LEVEL;
	int64_t most = INT64_MIN, sum = 0, alien = 0;

	if (frames > place + LOOK)
		frames = place + LOOK;
	count = frames - first;
	if (count < before + ORDER + LEVEL)
		return 0;
	for (unsigned c = 0; c < end->stored.channels; c++) {
		const struct channel *channel = &end->channels[c];
		const int32_t *values = read_samples(end, c, first, count);
		size_t after = count - before - ORDER < AFTER ? count - before - ORDER : AFTER;
		struct crossing crossing;
		int64_t gain = gain_of(values + before, count - before), bits;

		/* Silence is not alien. */
		if (channel->gain > gain + BIT && gain < BIT &&
			loudness(values + before, count - before) > 2 * channel->rough)
			alien = ALIEN;
		else if (channel->gain > gain + 5 * BIT / 2 && alien < UNLIKE)
			alien = UNLIKE;
		cross(channel, values + before, after, &crossing);
		bits = crossing_bits(
			&crossing, loudness(values + before - LEVEL, 2 * LEVEL) + ERROR_UNIT / 2);
		most = bits > most ? bits : most;
		sum += bits;
	}
	/* Channels are much alike. */
	return most / 2 + sum / 2 - alien;
}

/* Whether an error is one that there may be. */
static bool is_usual(int64_t error, int64_t usual)
{
	return (int64_t)magnitude(error) * ERROR_UNIT <= usual * OUTLIER;
}

/* Whether the first two samples of each channel are near what one of the predictors expects: what follows is hardly ever
 * worth more then. */
static bool begin_well(struct content_end *end, const uint8_t *cluster)
{
	size_t place = (end->past - end->phase) / end->step;

	memcpy(end->bytes + end->past, cluster, 2 * end->step);
	for (unsigned c = 0; c < end->stored.channels; c++) {
		const struct channel *channel = &end->channels[c];
		const int32_t *values = read_samples(end, c, place, 2);
		unsigned k = 0;

		while (k < PREDICTORS &&
			!(is_usual(values[0] - channel->adds[k][0] / (1 << PREDICTION_BIT),
				  channel->usual[k]) &&
				is_usual(values[1] - (channel->adds[k][1] +
							     channel->weights[k][0] * values[0]) /
							     (1 << PREDICTION_BIT),
					channel->usual[k])))
			k++;
		if (k == PREDICTORS)
			return false;
	}
	return true;
}

/* ---- a place ------------------------------------------------------------------------------- */

struct content_end *content_end_new(const struct carve_stored *stored, uint64_t size)
{
	struct content_end *end = xcalloc(1, sizeof(*end) + CONTENT_PAST + (size_t)size);

	fine_log_get_ready();
	end->stored = *stored;
	end->size = (size_t)size;
	end->step = stored->sample_len * stored->channels;
	return end;
}

size_t content_end_past(const struct content_end *end)
{
	size_t row = end->stored.row_len;
	size_t past = row ? 2 * row + end->step + LEARN_MAX : (LONG_LEN + 1) * end->step;

	return past < CONTENT_PAST ? past : CONTENT_PAST;
}

void content_end_learn(struct content_end *end, const uint8_t *past, size_t len, uint64_t at)
{
	uint64_t content = at > end->stored.from ? at - end->stored.from : 0;

	end->is_known = false;
	end->at = at;
	end->past = content < len ? (size_t)content : len;
	memcpy(end->bytes, past + len - end->past, end->past);
	if (end->stored.row_len)
		learn_pixels(end);
	else
		learn_samples(end);
}

bool content_end_is_known(const struct content_end *end)
{
	return end->is_known;
}

/* Bytes of a cluster that are content. */
static size_t content_len(const struct content_end *end)
{
	uint64_t left = end->stored.to > end->at ? end->stored.to - end->at : 0;

	return left < end->size ? (size_t)left : end->size;
}

static size_t look_len(const struct content_end *end)
{
	size_t len = content_len(end), row = end->stored.row_len;
	size_t most = row ? row : (LOOK + 1) * end->step;

	return len < most ? len : most;
}

/* As content_end_bits, from the first `len` bytes. */
static int64_t find_bits(struct content_end *end, const uint8_t *cluster, size_t len)
{
	if (!end->is_known || len < (end->stored.row_len ? PIXELS_MIN : SAMPLES_MIN))
		return 0;
	memcpy(end->bytes + end->past, cluster, len);
	return end->stored.row_len ? pixel_bits(end, len) : sample_bits(end, len);
}

bool content_end_may_go_on(
	struct content_end *end, const uint8_t *cluster, size_t known, int64_t *rank)
{
	size_t row = end->stored.row_len, most = look_len(end), len = known < most ? known : most;
	const uint8_t *above = end->bytes + end->past - row;
	uint32_t right, others;

	*rank = 0;
	if (!end->is_known)
		return false;
	if (!row) {
		if (len < SAMPLES_MIN || !begin_well(end, cluster))
			return false;
		*rank = find_bits(end, cluster, len);
		return *rank >= SEEN;
	}
	if (is_plain(end, cluster, len))
		return true;
	right = sum_differences(cluster, above, len);
	others = sum_differences(cluster, above - row_shift(end, 1), len);
	if (right > others - others / 8)
		return false;
	if (others) {
		uint32_t other = sum_differences(cluster, above - row_shift(end, 2), len);

		others = other < others ? other : others;
	}
	if (others < len / 16 + 32 || right > others - others / 8)
		return false;
	*rank = fine_log(others + 16) - fine_log(right + 16);
	return true;
}

bool content_end_is_like(struct content_end *end, const uint8_t *cluster, size_t len)
{
	size_t place = (end->past - end->phase) / end->step, frames;

	len = len < look_len(end) ? len : look_len(end);
	frames = (end->past + len - end->phase) / end->step - place;
	if (!end->is_known || frames < LIKE_MIN)
		return false;
	memcpy(end->bytes + end->past, cluster, len);
	for (unsigned c = 0; c < end->stored.channels; c++) {
		const struct channel *channel = &end->channels[c];
		/* The first frame may have bytes that are before the cluster. */
		int64_t error = mean_error(
			channel, read_samples(end, c, place + 1, frames - 1), frames - 1);

		if (error > channel->steady * LIKE || channel->steady > error * LIKE)
			return false;
	}
	return true;
}

int64_t content_end_bits(struct content_end *end, const uint8_t *cluster)
{
	return find_bits(end, cluster, end->stored.row_len ? content_len(end) : look_len(end));
}

void content_end_free(struct content_end *end)
{
	free(end);
}
