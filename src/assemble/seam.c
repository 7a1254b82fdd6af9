/*
 * Between the known parts of two pieces each cluster of the file is either the one that follows the
 * first piece, or the one that precedes the second; where it changes over is the joint. What does not
 * belong to the file is often of another kind: text between compressed data, or the other way round.
 * So each cluster's bytes are counted, and compared with those before and after: by how many bits
 * they would be coded longer with the code that is best there than with their own (the divergence of
 * the distributions). Nothing is proved by that. All is integer arithmetic, the same everywhere.
 */
#include "assemble/seam.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define AROUND ((uint64_t)16 << 10) /* bytes before and after that are counted */
#define CLUSTERS_MAX 16384          /* in between; more are not looked at */
#define CLUSTER_MAX ((uint64_t)64 << 10)
/* The next best joint must be worse by 1/8 bit for each byte of a cluster. */
#define MARGIN_SHIFT 3
/* Where more than a quarter of the file is in between there may be another piece in it. */
#define SURE_SHARE 4
#define SURE_SHIFT 3 /* then the clusters that are left out must be worse by 1/8 bit a byte */
#define LOG_ONE 256  /* a bit */
#define BYTE_WORK 2  /* units to count a byte */

struct counts {
	uint32_t of[256];
	uint32_t total;
};

/* The binary logarithm of a number that is not 0, in 256ths, with straight lines between powers of two. */
static int64_t log2_of(uint64_t number)
{
	int top = 63 - __builtin_clzll(number);
	uint64_t fraction = top >= 8 ? number >> (top - 8) : number << (8 - top);

	return top * LOG_ONE + (int64_t)(fraction & (LOG_ONE - 1));
}

/* Counts the image's bytes [from, to) as far as they are inside it. */
static void count(struct workbench *bench, uint64_t from, uint64_t to, struct counts *counts)
{
	static const size_t step = 4096;
	uint8_t bytes[4096];

	if (to > bench->clusters->end)
		to = bench->clusters->end;
	for (uint64_t at = from; at < to; at += step) {
		size_t len = to - at < step ? (size_t)(to - at) : step;

		workbench_spend(bench, len * BYTE_WORK);
		image_read_around(bench->evidence, at, bytes, len);
		for (size_t i = 0; i < len; i++)
			counts->of[bytes[i]]++;
		counts->total += (uint32_t)len;
	}
	bench->stopped |= image_was_cut(bench->evidence);
}

/* By how many 256ths of a bit the bytes are longer in the other's code, where each value has one more
 * count so that none is impossible. */
static int64_t divergence(const struct counts *counts, const struct counts *other)
{
	int64_t sum = 0, ratio;

	if (!counts->total)
		return INT64_MAX / 4;
	ratio = log2_of((uint64_t)other->total + 256) - log2_of(counts->total);
	for (unsigned i = 0; i < 256; i++)
		if (counts->of[i])
			sum += counts->of[i] * (log2_of(counts->of[i]) -
						       log2_of((uint64_t)other->of[i] + 1) + ratio);
	return sum;
}

/* How unlike what is around the cluster at `from` in the image is. */
static int64_t unlikeness(
	struct workbench *bench, uint64_t from, uint64_t len, const struct counts around[2])
{
	struct counts counts = { 0 };
	int64_t first, second;

	if (from >= bench->clusters->end || !clusters_are_free(bench->clusters, from, 1))
		return INT64_MAX / 4 / CLUSTERS_MAX;
	count(bench, from, from + len, &counts);
	first = divergence(&counts, &around[0]);
	second = divergence(&counts, &around[1]);
	return first < second ? first : second;
}

/* How unlike the clusters between the known parts are, after the first piece and before the second. */
struct choices {
	int64_t *before, *after;
	uint64_t count;
};

/* The sums for each joint are the first one's, plus what each cluster adds that changes over. */
static bool choose(const struct choices *choices, uint64_t margin, uint64_t *best)
{
	int64_t sum = 0, least = 0, next = INT64_MAX;

	*best = 0;
	for (uint64_t i = 0; i < choices->count; i++) {
		sum += choices->before[i] - choices->after[i];
		if (sum < least) {
			next = least;
			least = sum;
			*best = i + 1;
		} else if (sum < next) {
			next = sum;
		}
	}
	return next - least >= (int64_t)margin;
}

/* Whether each cluster of the file is by far less unlike than all those that are left out. */
static bool is_sure(const struct choices *choices, uint64_t margin, uint64_t best)
{
	int64_t worst = 0, next = INT64_MAX;

	for (uint64_t i = 0; i < choices->count; i++) {
		int64_t in = i < best ? choices->before[i] : choices->after[i];
		int64_t out = i < best ? choices->after[i] : choices->before[i];

		worst = in > worst ? in : worst;
		next = out < next ? out : next;
	}
	return next > 2 * worst + (int64_t)margin;
}

bool seam_find(struct workbench *bench, const struct seam *seam, uint64_t *at)
{
	uint64_t between = seam->most - seam->least, best;
	uint64_t around_len = seam->least < AROUND ? seam->least : AROUND;
	struct choices choices = { .count = between / seam->grid };
	struct counts around[2] = { 0 };
	bool found;

	if (choices.count > CLUSTERS_MAX || seam->grid > CLUSTER_MAX)
		return false;
	count(bench, seam->least - around_len + seam->before, seam->least + seam->before,
		&around[0]);
	count(bench, seam->most + seam->after, seam->most + seam->after + AROUND, &around[1]);
	choices.before = xcalloc(choices.count + 1, sizeof(*choices.before));
	choices.after = xcalloc(choices.count + 1, sizeof(*choices.after));
	for (uint64_t i = 0; i < choices.count && workbench_goes_on(bench); i++) {
		uint64_t place = seam->least + i * seam->grid;

		choices.before[i] = unlikeness(bench, place + seam->before, seam->grid, around);
		choices.after[i] = unlikeness(bench, place + seam->after, seam->grid, around);
	}
	found = workbench_goes_on(bench) &&
		choose(&choices, (seam->grid * LOG_ONE) >> MARGIN_SHIFT, &best) &&
		(between <= seam->length / SURE_SHARE ||
			is_sure(&choices, (seam->grid * LOG_ONE) >> SURE_SHIFT, best));
	if (found)
		*at = seam->least + best * seam->grid;
	free(choices.before);
	free(choices.after);
	return found;
}
