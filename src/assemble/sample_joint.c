/*
 * Linear prediction, learnt from both sides, makes of the samples after a place errors, as many as it has coefficients, to which
 * those before it add one part and those after it another. So for every place before and every place after there is a
 * vector, and how well a pair of places fits is the distance of two vectors. Directions count by how much wrong pairs
 * differ in them beyond what is usual in errors (a likelihood ratio of two normal distributions; what is concluded from it
 * does not depend on their being normal): they are found by Jacobi's rotations of the pairs' covariance.
 *
 * The bits are those of the share of pairs that are as near as the joint's. Where only a few of all are, the distances of the nearest
 * ones show by which power of the distance their number falls, and the rest is concluded from that. Loudness and spectra
 * change: the fewest bits that near places and those farther away give count. RESULTS.md has how many wrong joints have how many.
 */
#include "assemble/sample_joint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/content_end.h"
#include "assemble/fine_log.h"
#include "assemble/linear_prediction.h"
#include "assemble/samples.h"
#include "base/memory.h"

#define ORDER PREDICTION_ORDER
#define FRAMES 1024     /* places on each side... */
#define HALF_FRAMES 512 /* that are nearer... */
#define NEAR_FRAMES 256 /* ...and very near */
#define FRAMES_MIN 64
#define DIMS 32        /* of a vector */
#define LAGS_SHARE 4   /* of the frames after a place: errors that make a vector */
#define ORDER_SHARE 32 /* of all frames: coefficients */
#define ERROR_BITS 4   /* of fractions of errors */
#define UNIT 64        /* of a usual error in vectors */
#define CLIP (1 << 26)
#define SHARE_BIT 16  /* of what a channel's errors have of another's */
#define TURN_BIT 30   /* of rotations */
#define SQUARE_BIT 20 /* of a usual error's square */
#define SWEEPS 12
#define FAINT 256                       /* of a covariance */
#define TELLING 2                       /* times the usual square: directions that count */
#define WORST 16                        /* times what is expected of a right joint */
#define DIRECTION_MAX (5 * CONTENT_BIT) /* bits that a direction may give: a tone has two */
#define BINS 256
#define FEW 64    /* pairs whose share is known */
#define OCTAVES 2 /* of squares over which the power is looked for */
#define BINS_OCTAVE 4
#define MORE_MAX (12 * CONTENT_BIT) /* that are concluded */
#define END_FRAMES 8192             /* before an end */
#define END_LEN 8                   /* errors after an end */
#define END_MIN 4

/* A channel around a place, in order. */
struct channel {
	int32_t before[END_FRAMES + ORDER], after[FRAMES + DIMS];
	int64_t weights[ORDER];
	int64_t errors[END_FRAMES + ORDER]; /* of both sides, without what others have */
	int64_t shares[CONTENT_CHANNELS];   /* of those */
	int64_t scale;                      /* to UNITs */
};

struct sample_joint {
	struct carve_stored stored;
	size_t before_count, after_count; /* frames on both sides */
	size_t places, next_places;       /* of them that are places */
	unsigned order, lags, dims;
	uint64_t expected; /* of a right joint: the square of the distance */
	int64_t covariance[DIMS][DIMS], turned[DIMS][DIMS];
	int32_t *vectors, *next_vectors; /* of places before and after */
	struct channel channels[];
};

struct sample_joint *sample_joint_new(const struct carve_stored *stored)
{
	struct sample_joint *joint =
		xcalloc(1, sizeof(*joint) + stored->channels * sizeof(*joint->channels));

	fine_log_get_ready();
	joint->stored = *stored;
	joint->vectors = xcalloc(2 * FRAMES * DIMS, sizeof(*joint->vectors));
	joint->next_vectors = joint->vectors + FRAMES * DIMS;
	return joint;
}

size_t sample_joint_reach(const struct sample_joint *joint)
{
	return (size_t)(END_FRAMES + ORDER + 1) * joint->stored.sample_len * joint->stored.channels;
}

void sample_joint_free(struct sample_joint *joint)
{
	if (!joint)
		return;
	free(joint->vectors);
	free(joint);
}

/* ---- samples ------------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Where a channel's samples are around a place: *back bytes before it the last one begins, *ahead after it the next.
 * False: one is on both sides. */
static bool find_samples(const struct carve_stored *stored, unsigned channel, uint64_t at,
	size_t *back, size_t *ahead)
{
	unsigned step = (unsigned)stored->sample_len * stored->channels;
	unsigned first = channel * stored->sample_len + samples_first(stored);
	unsigned since = (unsigned)((at - stored->from + step - first) % step);

	*back = since ? since : step;
	*ahead = step - *back;
	return !since || since >= samples_used(stored);
}

/* Reads what is around a place, from that many frames on each side. False: a sample is on both sides. */
static bool read_samples(
	struct sample_joint *joint, const struct sample_place *place, size_t before, size_t after)
{
	const struct carve_stored *stored = &joint->stored;
	size_t step = (size_t)stored->sample_len * stored->channels, back, ahead;

	joint->before_count = before + ORDER;
	joint->after_count = after;
	for (unsigned c = 0; c < stored->channels; c++) {
		size_t end;

		if (!find_samples(stored, c, place->at, &back, &ahead))
			return false;
		end = ahead + samples_used(stored);
		joint->before_count = least(joint->before_count,
			place->before_len < back ? 0 : (place->before_len - back) / step + 1);
		joint->after_count = least(joint->after_count,
			place->after_len < end ? 0 : (place->after_len - end) / step + 1);
	}
	for (unsigned c = 0; c < stored->channels; c++) {
		struct channel *channel = &joint->channels[c];

		find_samples(stored, c, place->at, &back, &ahead);
		for (size_t i = 0; i < joint->before_count; i++)
			channel->before[joint->before_count - 1 - i] = samples_value(
				stored, place->before + place->before_len - back - i * step);
		for (size_t i = 0; i < joint->after_count; i++)
			channel->after[i] = samples_value(stored, place->after + ahead + i * step);
	}
	return true;
}

static int64_t clip(int64_t value)
{
	return value < -CLIP ? -CLIP : value > CLIP ? CLIP : value;
}

/* A sum of weighted samples as an error. */
static int64_t to_error(int64_t sum)
{
	return clip(sum >> (PREDICTION_BIT - ERROR_BITS));
}

/* The errors of samples that have `order` ones before them. Returns how many. */
static size_t find_errors(const struct channel *channel, unsigned order, const int32_t *values,
	size_t count, int64_t *errors)
{
	size_t n = 0;

	for (size_t t = order; t < count; t++) {
		int64_t sum = (int64_t)values[t] * (1 << PREDICTION_BIT);

		for (unsigned k = 0; k < order; k++)
			sum -= channel->weights[k] * values[t - 1 - k];
		errors[n++] = to_error(sum);
	}
	return n;
}

static uint64_t root(unsigned __int128 number)
{
	unsigned __int128 low = 0, high = (unsigned __int128)1 << 64;

	while (high - low > 1) {
		unsigned __int128 middle = low + (high - low) / 2;

		if (middle * middle <= number)
			low = middle;
		else
			high = middle;
	}
	return (uint64_t)low;
}

/* Takes from `count` errors of a channel what those before it explain, and finds what is usual in the rest. */
static void part_channel(struct sample_joint *joint, unsigned number, size_t count)
{
	struct channel *channel = &joint->channels[number];
	__int128 sum = 0;

	for (unsigned c = 0; c < number; c++) {
		const int64_t *others = joint->channels[c].errors;
		__int128 product = 0, square = 1;

		for (size_t i = 0; i < count; i++) {
			product += (__int128)channel->errors[i] * others[i];
			square += (__int128)others[i] * others[i];
		}
		channel->shares[c] = (int64_t)(product * (1 << SHARE_BIT) / square);
		for (size_t i = 0; i < count; i++)
			channel->errors[i] = clip(
				channel->errors[i] - (channel->shares[c] * others[i] >> SHARE_BIT));
	}
	for (size_t i = 0; i < count; i++)
		sum += (__int128)channel->errors[i] * channel->errors[i];
	/* Samples are whole numbers. */
	sum = sum / (__int128)count + (1 << (2 * ERROR_BITS - 2));
	channel->scale = ((int64_t)UNIT << 32) / (int64_t)root((unsigned __int128)sum << 32);
}

/* Learns to predict, from `before` frames and the first `after` ones. False: they do not show it. */
static bool learn(struct sample_joint *joint, size_t before, size_t after)
{
	for (unsigned c = 0; c < joint->stored.channels; c++) {
		struct channel *channel = &joint->channels[c];
		const int32_t *past = channel->before + joint->before_count - before;
		struct prediction_sums sums = { .count = 0 };
		size_t count;

		prediction_add(&sums, past, before, joint->order);
		prediction_add(&sums, channel->after, after, joint->order);
		memset(channel->weights, 0, sizeof(channel->weights));
		if (!prediction_learn(&sums, joint->order, channel->weights))
			return false;
		count = find_errors(channel, joint->order, past, before, channel->errors);
		count += find_errors(
			channel, joint->order, channel->after, after, channel->errors + count);
		part_channel(joint, c, count);
	}
	return true;
}

/* ---- vectors ------------------------------------------------------------------------------- */

/* Of the errors after a place: what the samples before it add, `shift` frames before the joint. */
static void add_before(const struct sample_joint *joint, const struct channel *channel,
	size_t shift, int32_t *vector)
{
	const int32_t *last = channel->before + joint->before_count - 1 - shift;

	for (unsigned t = 0; t < joint->lags; t++) {
		int64_t sum = 0;

		for (unsigned k = t; k < joint->order; k++)
			sum += channel->weights[k] * *(last - (k - t));
		vector[t * joint->stored.channels] = (int32_t)to_error(sum);
	}
}

/* What those after it add. */
static void add_after(const struct sample_joint *joint, const struct channel *channel, size_t shift,
	int32_t *vector)
{
	const int32_t *first = channel->after + shift;

	for (unsigned t = 0; t < joint->lags; t++) {
		int64_t sum = (int64_t)first[t] * (1 << PREDICTION_BIT);

		for (unsigned k = 0; k < t && k < joint->order; k++)
			sum -= channel->weights[k] * first[t - 1 - k];
		vector[t * joint->stored.channels] = (int32_t)to_error(sum);
	}
}

/* Makes errors of all channels independent of each other, and in UNITs. */
static void part_vector(const struct sample_joint *joint, int32_t *vector)
{
	unsigned channels = joint->stored.channels;

	for (int32_t *lag = vector; lag < vector + joint->dims; lag += channels) {
		for (unsigned c = 1; c < channels; c++)
			for (unsigned k = 0; k < c; k++)
				lag[c] = (int32_t)clip(
					lag[c] -
					(joint->channels[c].shares[k] * lag[k] >> SHARE_BIT));
		for (unsigned c = 0; c < channels; c++)
			lag[c] = (int32_t)clip(
				(int64_t)((__int128)lag[c] * joint->channels[c].scale >> 16));
	}
}

static void make_vectors(struct sample_joint *joint)
{
	for (size_t i = 0; i < joint->places; i++) {
		int32_t *vector = joint->vectors + i * joint->dims;

		for (unsigned c = 0; c < joint->stored.channels; c++)
			add_before(joint, &joint->channels[c], i, vector + c);
		part_vector(joint, vector);
	}
	for (size_t i = 0; i < joint->next_places; i++) {
		int32_t *vector = joint->next_vectors + i * joint->dims;

		for (unsigned c = 0; c < joint->stored.channels; c++)
			add_after(joint, &joint->channels[c], i, vector + c);
		part_vector(joint, vector);
	}
}

static void find_means(
	const struct sample_joint *joint, const int32_t *vectors, size_t count, int64_t means[DIMS])
{
	for (unsigned d = 0; d < joint->dims; d++) {
		means[d] = 0;
		for (size_t i = 0; i < count; i++)
			means[d] += vectors[i * joint->dims + d];
		means[d] /= (int64_t)count;
	}
}

/* The covariance of two of the vectors' numbers. */
static int64_t find_covariance(const struct sample_joint *joint, const int32_t *vectors,
	size_t count, const int64_t means[DIMS], unsigned a, unsigned b)
{
	int64_t sum = 0;

	/* Of 54 bits at most. */
	for (size_t i = 0; i < count; i++, vectors += joint->dims)
		sum += (vectors[a] - means[a]) * (vectors[b] - means[b]) / 64;
	return sum / (int64_t)count * 64;
}

/* How pairs differ: a usual error's square is 1 << SQUARE_BIT. */
static void find_differences(struct sample_joint *joint)
{
	int64_t means[DIMS], next_means[DIMS];

	find_means(joint, joint->vectors, joint->places, means);
	find_means(joint, joint->next_vectors, joint->next_places, next_means);
	for (unsigned a = 0; a < joint->dims; a++)
		for (unsigned b = a; b < joint->dims; b++)
			joint->covariance[a][b] = joint->covariance[b][a] =
				(find_covariance(
					 joint, joint->vectors, joint->places, means, a, b) +
					find_covariance(joint, joint->next_vectors,
						joint->next_places, next_means, a, b) +
					(means[a] - next_means[a]) * (means[b] - next_means[b])) /
				(UNIT * UNIT / 64) * (1 << (SQUARE_BIT - 6));
}

static int64_t turned(int64_t value, int64_t factor)
{
	return (int64_t)((__int128)value * factor >> TURN_BIT);
}

/* Rotates columns a and b, which have `stride` numbers between their numbers. */
static void rotate(
	int64_t *a, int64_t *b, unsigned dims, size_t stride, int64_t cosine, int64_t sine)
{
	for (unsigned k = 0; k < dims; k++, a += stride, b += stride) {
		int64_t old = *a;

		*a = turned(old, cosine) - turned(*b, sine);
		*b = turned(old, sine) + turned(*b, cosine);
	}
}

/* One rotation, after which the covariance of a and b is zero. */
static void rotate_pair(struct sample_joint *joint, unsigned a, unsigned b)
{
	int64_t(*squares)[DIMS] = joint->covariance;
	__int128 off = squares[a][b], difference = squares[b][b] - squares[a][a];
	__int128 size = off < 0 ? -off : off, far = difference < 0 ? -difference : difference;
	__int128 one = (__int128)1 << (2 * TURN_BIT);
	int64_t tangent, cosine, sine;

	if (size < FAINT)
		return;
	tangent = (int64_t)((size * 2 << TURN_BIT) /
			    (far + root((unsigned __int128)(far * far + 4 * off * off))));
	cosine = (int64_t)(one / root((unsigned __int128)(one + (__int128)tangent * tangent)));
	sine = turned(tangent, cosine);
	if ((off < 0) != (difference < 0))
		sine = -sine;
	rotate(&squares[0][a], &squares[0][b], joint->dims, DIMS, cosine, sine);
	rotate(squares[a], squares[b], joint->dims, 1, cosine, sine);
	rotate(&joint->turned[0][a], &joint->turned[0][b], joint->dims, DIMS, cosine, sine);
}

/* Finds the directions that tell right joints from wrong ones, that which tells most first. Returns how many. */
static unsigned find_directions(struct sample_joint *joint, unsigned directions[DIMS])
{
	int64_t(*squares)[DIMS] = joint->covariance;
	unsigned count = 0;

	for (unsigned a = 0; a < joint->dims; a++)
		for (unsigned b = 0; b < joint->dims; b++)
			joint->turned[a][b] = (int64_t)(a == b) << TURN_BIT;
	for (unsigned sweep = 0; sweep < SWEEPS; sweep++)
		for (unsigned a = 0; a < joint->dims; a++)
			for (unsigned b = a + 1; b < joint->dims; b++)
				rotate_pair(joint, a, b);
	for (unsigned d = 0; d < joint->dims; d++) {
		unsigned at = count;

		if (squares[d][d] < (int64_t)TELLING << SQUARE_BIT)
			continue;
		for (; at && squares[directions[at - 1]][directions[at - 1]] < squares[d][d]; at--)
			directions[at] = directions[at - 1];
		directions[at] = d;
		count++;
	}
	return count;
}

/* Turns vectors to these directions, of which each counts by how much it tells. */
static void turn_vectors(const struct sample_joint *joint, int32_t *vectors, size_t count,
	const int64_t factors[DIMS][DIMS], unsigned kept)
{
	for (size_t i = 0; i < count; i++, vectors += joint->dims) {
		int32_t old[DIMS];

		memcpy(old, vectors, joint->dims * sizeof(*old));
		for (unsigned n = 0; n < kept; n++) {
			int64_t sum = 0;

			/* Rotations have 31 bits, vectors 27, and there are 2^5 dimensions at most. */
			for (unsigned d = 0; d < joint->dims; d++)
				sum += factors[n][d] * old[d];
			vectors[n] = (int32_t)clip(sum >> TURN_BIT);
		}
	}
}

/* Makes vectors whose distance tells how well two places fit. Returns of how many numbers. */
static unsigned turn(struct sample_joint *joint)
{
	int64_t factors[DIMS][DIMS];
	unsigned directions[DIMS], kept;

	find_differences(joint);
	kept = find_directions(joint, directions);
	joint->expected = 0;
	for (unsigned n = 0; n < kept; n++) {
		unsigned d = directions[n];
		uint64_t one = (uint64_t)1 << SQUARE_BIT,
			 square = (uint64_t)joint->covariance[d][d];
		uint64_t share = one - one * one / square;
		int64_t factor =
			(int64_t)root((unsigned __int128)share << (2 * TURN_BIT - SQUARE_BIT));

		joint->expected += share * UNIT * UNIT >> SQUARE_BIT;
		for (unsigned k = 0; k < joint->dims; k++)
			factors[n][k] = turned(joint->turned[k][d], factor);
	}
	turn_vectors(joint, joint->vectors, joint->places, factors, kept);
	turn_vectors(joint, joint->next_vectors, joint->next_places, factors, kept);
	return kept;
}

/* ---- pairs --------------------------------------------------------------------------------- */

/* The square of the distance of two vectors; of those farther away than `most` only that they are. */
static uint64_t distance(const int32_t *a, const int32_t *b, unsigned dims, uint64_t most)
{
	uint64_t sum = 0;

	for (unsigned d = 0; d < dims && sum <= most; d++) {
		int64_t difference = (int64_t)a[d] - b[d];

		sum += (uint64_t)(difference * difference);
	}
	return sum;
}

/* A quarter of an octave. */
static unsigned bin_of(uint64_t number)
{
	unsigned whole;

	if (number < BINS_OCTAVE)
		return (unsigned)number;
	whole = 63 - (unsigned)__builtin_clzll(number);
	return (whole - 1) * BINS_OCTAVE + ((unsigned)(number >> (whole - 2)) & 3);
}

/* Where the next bin begins. */
static uint64_t bin_end(unsigned bin)
{
	bin++;
	return bin < BINS_OCTAVE ? bin : (uint64_t)(4 + bin % 4) << (bin / BINS_OCTAVE - 1);
}

/* Bits by the pairs of each bin, of `all` pairs, of which `better` are as near as `own`. */
static int64_t conclude(const uint64_t counts[BINS], uint64_t all, uint64_t better, uint64_t own)
{
	uint64_t few = 0, more;
	unsigned bin = 0;
	int64_t power, beyond;

	while (bin < BINS - 1 && few + counts[bin] < FEW)
		few += counts[bin++];
	more = few += counts[bin];
	beyond = fine_log(bin_end(bin)) - fine_log(own);
	if (better >= FEW || few < FEW || beyond < 0)
		return fine_log(all) - fine_log(better);
	for (unsigned i = 1; i <= OCTAVES * BINS_OCTAVE && bin + i < BINS; i++)
		more += counts[bin + i];
	power = (fine_log(more) - fine_log(few)) / OCTAVES;
	beyond = beyond * power / CONTENT_BIT;
	return fine_log(all) - fine_log(few) + (beyond < MORE_MAX ? beyond : MORE_MAX);
}

/* Compares the joint with all pairs. */
static int64_t compare(const struct sample_joint *joint, unsigned kept, uint64_t *work)
{
	uint64_t own = distance(joint->vectors, joint->next_vectors, kept, UINT64_MAX);
	uint64_t counts[BINS] = { 0 }, better = 0, floor = joint->expected / 2 + 1, most;

	if (own > WORST * joint->expected)
		return 0;
	/* Nearer than errors are is by chance. */
	own = own < floor ? floor : own;
	most = own << 16;
	for (size_t i = 0; i < joint->places; i++)
		for (size_t k = 0; k < joint->next_places; k++) {
			uint64_t square = distance(joint->vectors + i * joint->dims,
				joint->next_vectors + k * joint->dims, kept, most);

			better += square <= own;
			if (square <= most)
				counts[bin_of(square)]++;
		}
	*work += joint->places * joint->next_places;
	return conclude(counts, joint->places * joint->next_places, better + !better, own);
}

/* ---- joints -------------------------------------------------------------------------------- */

/* Bits by that many places on each side. */
static int64_t find_bits(struct sample_joint *joint, size_t frames, uint64_t *work)
{
	unsigned channels = joint->stored.channels, kept;
	int64_t bits;
	size_t all;

	if (joint->before_count < ORDER + FRAMES_MIN || !joint->after_count)
		return 0;
	joint->lags =
		(unsigned)least(least(DIMS / channels, joint->after_count / LAGS_SHARE + 1), ORDER);
	joint->dims = joint->lags * channels;
	joint->places = least(joint->before_count - ORDER, frames);
	joint->next_places = least(joint->after_count - (joint->lags - 1), frames);
	all = joint->places + joint->next_places;
	joint->order = (unsigned)least(all / ORDER_SHARE + 1, ORDER);
	*work += all * channels * joint->order * (joint->order + joint->lags) / 4;
	if (!learn(joint, joint->places + ORDER, joint->next_places + joint->lags - 1))
		return 0;
	make_vectors(joint);
	kept = turn(joint);
	bits = kept ? compare(joint, kept, work) : 0;
	return bits < kept * DIRECTION_MAX ? bits : kept * DIRECTION_MAX;
}

/* The fewest bits by that many places on each side, and by fewer. */
static int64_t find_least(struct sample_joint *joint, const struct sample_place *place,
	size_t frames, size_t fewer, uint64_t *work)
{
	int64_t near, all;

	if (!read_samples(joint, place, frames, frames + DIMS))
		return 0;
	near = find_bits(joint, fewer, work);
	all = near > 0 && fewer < frames ? find_bits(joint, frames, work) : near;
	return all < near ? all : near;
}

int64_t sample_joint_near_bits(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work)
{
	return find_least(joint, place, NEAR_FRAMES, NEAR_FRAMES, work);
}

int64_t sample_joint_half_bits(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work)
{
	return find_least(joint, place, HALF_FRAMES, NEAR_FRAMES, work);
}

int64_t sample_joint_bits(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work)
{
	return find_least(joint, place, FRAMES, HALF_FRAMES, work);
}

/* ---- ends ---------------------------------------------------------------------------------- */

/* Errors of all channels that begin there, by what is usual in each. */
static uint64_t sum_errors(const struct sample_joint *joint, size_t at, size_t len)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < joint->stored.channels; c++)
		for (size_t t = at; t < at + len; t++) {
			const struct channel *channel = &joint->channels[c];
			int64_t error = clip(
				(int64_t)((__int128)channel->errors[t] * channel->scale >> 16));

			sum += (uint64_t)(error * error);
		}
	return sum;
}

int64_t sample_joint_end_bits(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work)
{
	size_t count, len, better = 1;
	uint64_t own;

	if (!read_samples(joint, place, END_FRAMES, END_LEN) ||
		joint->before_count < ORDER + FRAMES_MIN || joint->after_count < END_MIN)
		return 0;
	len = joint->after_count;
	joint->order = (unsigned)least(joint->before_count / ORDER_SHARE + 1, ORDER);
	*work += joint->before_count * joint->stored.channels * joint->order * joint->order / 4;
	if (!learn(joint, joint->before_count, 0))
		return 0;
	count = joint->before_count - joint->order;
	for (unsigned c = 0; c < joint->stored.channels; c++) {
		struct channel *channel = &joint->channels[c];
		int32_t values[ORDER + END_LEN];

		memcpy(values, channel->before + joint->before_count - joint->order,
			joint->order * sizeof(*values));
		memcpy(values + joint->order, channel->after, len * sizeof(*values));
		find_errors(
			channel, joint->order, values, joint->order + len, channel->errors + count);
		for (unsigned k = 0; k < c; k++)
			for (size_t t = count; t < count + len; t++)
				channel->errors[t] = clip(
					channel->errors[t] -
					(channel->shares[k] * joint->channels[k].errors[t] >>
						SHARE_BIT));
	}
	own = sum_errors(joint, count, len);
	for (size_t at = 0; at + len <= count; at++)
		better += sum_errors(joint, at, len) >= own;
	return fine_log(count) - fine_log(better);
}
