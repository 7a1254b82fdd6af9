/*
 * Between the known parts of two pieces each cluster of the file is either the one that follows the
 * first piece, or the one that precedes the second; where it changes over is the joint. What does not
 * belong to the file is often of another kind (affinity.h). What follows the first piece where the
 * second one surely has begun is not the file's, nor what precedes the second one. Nothing is proved by
 * that.
 */
#include "assemble/seam.h"

#include <stdlib.h>

#include "assemble/affinity.h"
#include "base/memory.h"

#define AROUND ((uint64_t)32 << 10) /* bytes before and after of which it learns */
#define CLUSTERS_MAX 16384          /* in between; more are not looked at */
#define CLUSTER_MAX ((uint64_t)64 << 10)
/* The next best joint must be worse by 1/8 bit for each byte of a cluster. */
#define MARGIN_SHIFT 3
/* Where more than a quarter of the file is in between there may be another piece in it. */
#define SURE_SHARE 4

/* By how many bits the clusters between the known parts look like the file's own, those after the first
 * piece and those before the second. */
struct choices {
	int64_t *before, *after;
	uint64_t count;
	int64_t margin; /* bits that count */
};

static struct affinity *learn(struct workbench *bench, const struct seam *seam)
{
	struct affinity *affinity = affinity_new(bench);
	uint64_t before = seam->least < AROUND ? seam->least : AROUND;

	affinity_learn(affinity, bench, seam->least - before + seam->before, before, true);
	affinity_learn(affinity, bench, seam->most + seam->after, AROUND, true);
	affinity_learn(affinity, bench, seam->most + seam->before, AROUND, false);
	affinity_learn(affinity, bench, seam->least - before + seam->after, before, false);
	return affinity;
}

/* The sums for each joint are the first one's, plus what each cluster adds that changes over. */
static bool choose(const struct choices *choices, uint64_t *best)
{
	int64_t sum = 0, most = 0, next = INT64_MIN;

	*best = 0;
	for (uint64_t i = 0; i < choices->count; i++) {
		sum += choices->before[i] - choices->after[i];
		if (sum > most) {
			next = most;
			most = sum;
			*best = i + 1;
		} else if (sum > next) {
			next = sum;
		}
	}
	return most - next >= choices->margin;
}

/* Whether each cluster looks as it should: those of the file like its own, the others not. */
static bool is_sure(const struct choices *choices, uint64_t best)
{
	for (uint64_t i = 0; i < choices->count; i++) {
		int64_t in = i < best ? choices->before[i] : choices->after[i];
		int64_t out = i < best ? choices->after[i] : choices->before[i];

		if (in < choices->margin || out > -choices->margin)
			return false;
	}
	return true;
}

/* A cluster that is taken, or not in the image, is none of the file's. */
static int64_t likeness(
	struct affinity *affinity, struct workbench *bench, uint64_t offset, uint64_t length)
{
	uint64_t end = bench->clusters->end;

	if (offset >= end || length > end - offset ||
		!clusters_are_free(bench->clusters, offset, length))
		return -8 * (int64_t)length;
	return affinity_bits(affinity, bench, offset, length);
}

bool seam_find(struct workbench *bench, const struct seam *seam, uint64_t *at)
{
	uint64_t between = seam->most - seam->least, best;
	struct choices choices = { .count = between / seam->grid,
		.margin = (int64_t)(seam->grid >> MARGIN_SHIFT) };
	struct affinity *affinity;
	bool found;

	if (choices.count > CLUSTERS_MAX || seam->grid > CLUSTER_MAX)
		return false;
	affinity = learn(bench, seam);
	choices.before = xcalloc(choices.count + 1, sizeof(*choices.before));
	choices.after = xcalloc(choices.count + 1, sizeof(*choices.after));
	for (uint64_t i = 0; i < choices.count && workbench_goes_on(bench); i++) {
		uint64_t place = seam->least + i * seam->grid;

		choices.before[i] = likeness(affinity, bench, place + seam->before, seam->grid);
		choices.after[i] = likeness(affinity, bench, place + seam->after, seam->grid);
	}
	found = workbench_goes_on(bench) && choose(&choices, &best) &&
		(between <= seam->length / SURE_SHARE || is_sure(&choices, best));
	if (found)
		*at = seam->least + best * seam->grid;
	affinity_free(affinity);
	free(choices.before);
	free(choices.after);
	return found;
}
