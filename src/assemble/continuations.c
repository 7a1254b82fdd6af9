#include "assemble/continuations.h"

#include <stdlib.h>

#include "assemble/searcher.h"
#include "base/memory.h"
#include "carvers/coded.h"

#define LOOK_WORK 256 /* units, for a cluster */
/* Clusters of which the answers are found together: by a device, and else. */
#define DEVICE_SPAN ((uint64_t)1 << 21)
#define SPAN SEARCHER_SPAN

/* Answers for some clusters, a bit each. */
struct span {
	uint64_t first, count; /* numbers of clusters; count 0: none */
	uint64_t *bits;
};

/* What is known of a break. */
struct described {
	uint64_t at;
	struct carve_coded *coded; /* NULL: nothing is */
	struct span spans[2];      /* of gaps forwards, and backwards */
};

struct continuations {
	struct workbench *bench;
	const struct partial *partial;
	struct described *breaks;
	size_t count, capacity;
	_Alignas(4) uint8_t heads[SPAN * SEARCH_HEAD_LEN]; /* scratch */
};

struct continuations *continuations_new(struct workbench *bench, const struct partial *partial)
{
	struct continuations *continuations = xcalloc(1, sizeof(*continuations));

	continuations->bench = bench;
	continuations->partial = partial;
	return continuations;
}

void continuations_free(struct continuations *continuations)
{
	for (size_t i = 0; continuations && i < continuations->count; i++) {
		struct described *described = &continuations->breaks[i];

		free(described->coded);
		free(described->spans[0].bits);
		free(described->spans[1].bits);
	}
	if (continuations)
		free(continuations->breaks);
	free(continuations);
}

static struct described *describe(struct continuations *continuations, uint64_t at)
{
	struct described *described;

	for (size_t i = 0; i < continuations->count; i++)
		if (continuations->breaks[i].at == at)
			return &continuations->breaks[i];
	continuations->breaks = xgrow(continuations->breaks, &continuations->capacity,
		continuations->count, sizeof(*continuations->breaks));
	described = &continuations->breaks[continuations->count++];
	*described = (struct described){ .at = at, .coded = xmalloc(sizeof(struct carve_coded)) };
	if (!workbench_describe(
		    continuations->bench, &continuations->partial->extents, at, described->coded)) {
		free(described->coded);
		described->coded = NULL;
	}
	return described;
}

/* Whether all the bytes that decide are in the image. */
static bool is_whole(const struct workbench *bench, uint64_t offset)
{
	uint64_t end = bench->clusters->end;

	return offset < end && end - offset >= SEARCH_HEAD_LEN;
}

/* The processor's answers for SPAN clusters around this one; where clusters are larger than those that have
 * numbers it leaves the others out. */
static uint64_t look(
	struct continuations *continuations, const struct carve_coded *coded, uint64_t cluster)
{
	struct workbench *bench = continuations->bench;
	uint64_t first = cluster / SPAN * SPAN, step = bench->clusters->size;
	uint64_t bits = 0;

	searcher_read_heads(bench->searcher, bench->evidence, first, continuations->heads);
	bench->stopped |= image_was_cut(bench->evidence);
	for (uint64_t i = 0; i < SPAN; i++) {
		uint64_t offset = searcher_place(bench->searcher, first + i);
		bool is_other = (offset - searcher_place(bench->searcher, cluster)) % step != 0;

		if (is_other || !is_whole(bench, offset) ||
			!clusters_are_free(bench->clusters, offset, 1))
			continue;
		bits |= (uint64_t)coded_may_follow(
				coded, continuations->heads + i * SEARCH_HEAD_LEN, SEARCH_HEAD_LEN)
			<< i;
	}
	return bits;
}

/* Answers for the clusters around this one. */
static void fill(struct continuations *continuations, const struct carve_coded *coded,
	uint64_t cluster, struct span *span)
{
	struct workbench *bench = continuations->bench;
	uint64_t kept = searcher_kept(bench->searcher);

	free(span->bits);
	if (cluster < kept) {
		span->first = cluster / DEVICE_SPAN * DEVICE_SPAN;
		span->count = kept - span->first < DEVICE_SPAN ? kept - span->first : DEVICE_SPAN;
		span->bits = xmalloc(span->count / 8);
		if (searcher_find_coded(
			    bench->searcher, coded, span->first, span->count, span->bits))
			return;
		free(span->bits);
	}
	span->first = cluster / SPAN * SPAN;
	span->count = SPAN;
	span->bits = xmalloc(sizeof(*span->bits));
	*span->bits = look(continuations, coded, cluster);
}

enum answer continuations_ask(const struct continuations *continuations, const struct step *step)
{
	const struct workbench *bench = continuations->bench;
	uint64_t target = step_target(bench->clusters, continuations->partial, step);
	_Alignas(4) uint8_t head[SEARCH_HEAD_LEN];

	if (!is_whole(bench, target) || !clusters_are_free(bench->clusters, target, 1))
		return ANSWER_NONE;
	for (size_t i = 0; i < continuations->count; i++) {
		const struct described *described = &continuations->breaks[i];

		if (described->at != step->at)
			continue;
		if (!described->coded)
			return ANSWER_YES;
		image_read_around(bench->evidence, target, head, sizeof(head));
		if (image_was_cut(bench->evidence))
			return ANSWER_NONE;
		return coded_may_follow(described->coded, head, sizeof(head)) ? ANSWER_YES
									      : ANSWER_NO;
	}
	return bench->rule->carver->coded ? ANSWER_NONE : ANSWER_YES;
}

bool continuations_may_follow(
	struct continuations *continuations, const struct step *step, enum answer known)
{
	struct workbench *bench = continuations->bench;
	uint64_t target = step_target(bench->clusters, continuations->partial, step), number;
	struct described *described;
	struct span *span;

	if (!bench->rule->carver->coded || !is_whole(bench, target) ||
		!clusters_are_free(bench->clusters, target, 1))
		return true;
	described = describe(continuations, step->at);
	if (!described->coded || !searcher_number(bench->searcher, target, &number))
		return true;
	span = &described->spans[step->gap < 0];
	if (known == ANSWER_NONE && number - span->first >= span->count)
		fill(continuations, described->coded, number, span);
	workbench_spend(bench, LOOK_WORK);
	number -= span->first;
	if (known == ANSWER_NONE ? span->bits[number / 64] >> number % 64 & 1 : known == ANSWER_YES)
		return true;
	bench->tested++;
	return false;
}
