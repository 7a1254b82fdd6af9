/*
 * Files of codes that decode whatever their bits are (struct carve_codes): gzip, bzip2. A check shows where they begin to look like
 * another file's, and a look at a cluster whether it likely goes on with them. So at a break all clusters around it are
 * looked at, those that likely go on are tried, and what goes on for long is followed, depth first. A layout is taken if it is
 * proved, or if no other one around it would do as well: where the file's own codes follow, but not the next ones, they are decoded, too.
 *
 * A file's own codes may look foreign, too, long before it breaks off. So first of all two pieces near each other are tried
 * at all these breaks. Clusters that follow one another in the image mostly do so in the file: only the first of those that likely go on is tried.
 * Each round looks further around, and at more breaks, than the one before.
 */
#include "assemble/by_codes.h"

#include <stdlib.h>

#include "assemble/code_breaks.h"
#include "assemble/joining.h"

#define PIECES_MAX 8
#define NEAR_ROUNDS 2
#define BREAKS_MAX 10
#define FOUND_MAX 12 /* clusters that likely go on, for one break */
#define NODE_FOUND_MAX 64
#define FOLLOWED 6 /* of what a file leads to */
/* For a cluster, so that the one before it is tried, too: a look finds one in six of a file's own unlikely. */
#define SURE_BITS 16
#define CERTAIN_BITS 96 /* for a cluster, in which the file's own may change all the same */
#define EARLY 512       /* bytes before a break where something may be noticed by chance */
#define CHILD_SHARE 2   /* of the work that is left is not for what is followed... */
#define FIRST_SHARE 3   /* ...first */
#define COARSE_SHARE 3  /* of the work is for clusters of the usual size */
#define JUDGE_SHARE 2   /* of the work that is left is for judging what is not proved, */
#define JUDGED_MAX 4    /* that many times */
#define UNKNOWN_SHARE 8 /* of it is for a break of which nothing is known */

struct round {
	size_t breaks;
	uint64_t distance; /* clusters, on both sides */
	uint64_t unlikely; /* the same, of those that seem unlikely */
	unsigned pieces;   /* at most, that a file may have */
};

struct search {
	struct workbench *bench;
	const struct broken *broken;
	const struct round *round;
	const struct clusters *clusters; /* as they are; bench may have larger ones */
	struct assembly *assembly;
	bool is_near;        /* only the first rounds are made */
	unsigned judged;     /* layouts that are not proved */
	struct joining best; /* without extents: none */
};

/* A step that is likely. */
struct found {
	struct step step;
	uint64_t distance; /* clusters */
	uint64_t reached;
	unsigned bits; /* that speak for it */
	bool is_good;
};

/* What is tried from one partial file. */
struct node {
	const struct partial *partial;
	struct code_breaks *codes;
	uint64_t breaks[BREAKS_MAX];
	size_t break_count;
	struct found found[NODE_FOUND_MAX]; /* that go on for a cluster or more */
	size_t found_count;
};

static void add_break(const struct search *search, struct node *node, uint64_t at)
{
	uint64_t size = search->bench->clusters->size;

	if (at < node->partial->joint + size || node->break_count == search->round->breaks ||
		node->break_count == BREAKS_MAX)
		return;
	for (size_t i = 0; i < node->break_count; i++)
		if (node->breaks[i] == at)
			return;
	node->breaks[node->break_count++] = at;
}

/* Where it may break off: mostly where something was noticed; or just before where the codes became invalid, as the
 * file's own may change, too. */
static void list_breaks(const struct search *search, struct node *node)
{
	const struct workbench_states *states = &search->bench->states;
	uint64_t size = search->bench->clusters->size;
	uint64_t before = states->length / size * size,
		 noticed = (states->length + EARLY) / size * size;
	uint64_t end = states->seen / size * size;
	bool is_late = states->length - before > size / 2;

	add_break(search, node, noticed);
	add_break(search, node, before);
	if (is_late)
		add_break(search, node, before + size);
	if (noticed >= size)
		add_break(search, node, noticed - size);
	if (end > noticed + size) {
		add_break(search, node, end - size);
		add_break(search, node, end);
	}
	add_break(search, node, noticed + size);
	for (uint64_t i = 2; i < BREAKS_MAX; i++) {
		if (noticed >= i * size)
			add_break(search, node, noticed - i * size);
		if (end >= i * size && end - i * size > noticed)
			add_break(search, node, end - i * size);
	}
}

/* Whether the file has the place before a break. */
static bool is_own(const struct partial *partial, uint64_t at, uint64_t target)
{
	const struct extents *extents = &partial->extents;

	for (size_t i = 0; i < extents->count && at; i++) {
		uint64_t len = extents->runs[i].length < at ? extents->runs[i].length : at;

		if (target - extents->runs[i].offset < len)
			return true;
		at -= len;
	}
	return false;
}

/* Whether a piece can begin where a step leads. */
static bool can_be(const struct search *search, const struct node *node, const struct step *step)
{
	const struct workbench *bench = search->bench;
	uint64_t target = step_target(bench->clusters, node->partial, step);

	return step->gap && target != UINT64_MAX && clusters_are_free(bench->clusters, target, 1) &&
	       !clusters_is_start(bench->clusters, target) &&
	       !is_own(node->partial, step->at, target);
}

/* Whether another file likely has that: its carver accepted it, as it did, for some formats, what is after its break. */
static bool is_of_another(
	const struct search *search, const struct node *node, const struct step *step)
{
	const struct clusters *clusters = search->bench->clusters;
	const struct broken *broken = search->broken;
	uint64_t target = step_target(clusters, node->partial, step);

	return clusters_is_head(clusters, target) &&
	       (target < broken->start || target >= broken->start + broken->length);
}

/* The bits that speak for a cluster, if it likely goes on with the codes, or 0. */
static unsigned bits_of(const struct search *search, struct node *node, const struct step *step)
{
	unsigned bits = can_be(search, node, step) ? code_breaks_bits(node->codes, step) : 0;

	return bits < SURE_BITS && bits && is_of_another(search, node, step) ? 0 : bits;
}

/* For what more than half as many bits speak as for the best one the nearest comes first; then what most speak for. */
static int compare_found(const void *a, const void *b)
{
	const struct found *left = a, *right = b;

	if (left->is_good != right->is_good)
		return left->is_good ? -1 : 1;
	if (!left->is_good && left->bits != right->bits)
		return left->bits > right->bits ? -1 : 1;
	if (left->distance != right->distance)
		return left->distance < right->distance ? -1 : 1;
	if (left->step.at != right->step.at)
		return left->step.at > right->step.at ? -1 : 1;
	return (left->step.gap < right->step.gap) - (left->step.gap > right->step.gap);
}

static void sort(struct found *found, size_t count)
{
	unsigned most = 0;

	for (size_t i = 0; i < count; i++)
		most = found[i].bits > most ? found[i].bits : most;
	for (size_t i = 0; i < count; i++)
		found[i].is_good = found[i].bits > most / 2;
	qsort(found, count, sizeof(*found), compare_found);
}

/* Adds a step, if there is room, or less speaks for another one. */
static void add_found(struct found *found, size_t *count, const struct found *item)
{
	size_t least = 0;

	if (*count < FOUND_MAX) {
		found[(*count)++] = *item;
		return;
	}
	for (size_t i = 1; i < *count; i++)
		if (found[i].bits < found[least].bits)
			least = i;
	if (found[least].bits < item->bits)
		found[least] = *item;
}

/* How far away the round looks, in clusters. */
static uint64_t find_farthest(const struct search *search)
{
	const struct clusters *clusters = search->bench->clusters;
	uint64_t most = clusters->end / clusters->size + 1;

	return most < search->round->distance ? most : search->round->distance;
}

/* What likely goes on after a break, in the order in which it is to be tried. */
static size_t find_likely(
	const struct search *search, struct node *node, uint64_t at, struct found *found)
{
	const struct workbench *bench = search->bench;
	int64_t size = (int64_t)bench->clusters->size;
	uint64_t most = find_farthest(search);
	size_t count = 0;

	for (uint64_t distance = 1; distance <= most && workbench_goes_on(bench); distance++) {
		for (int backwards = 0; backwards < 2; backwards++) {
			int64_t gap = (int64_t)distance * (backwards ? -size : size);
			struct found item = { .step = { at, gap }, .distance = distance };
			const struct step before = { at, gap - size };

			item.bits = bits_of(search, node, &item.step);
			if (!item.bits || (before.gap && bits_of(search, node, &before)))
				continue;
			add_found(found, &count, &item);
			item.step = before;
			item.distance = (uint64_t)(before.gap < 0 ? -before.gap : before.gap) /
					(uint64_t)size;
			if (item.bits < SURE_BITS || !can_be(search, node, &before) ||
				is_of_another(search, node, &before))
				continue;
			item.bits = 1;
			add_found(found, &count, &item);
		}
	}
	sort(found, count);
	return count;
}

/* A layout is whole that is a step from a partial file. True: it is proved, or likelier than all around it, and search->best. */
static bool take(struct search *search, const struct partial *partial, struct joining *joining)
{
	struct workbench *bench = search->bench;
	const struct clusters *clusters = bench->clusters;
	uint64_t kept = bench->work_left / JUDGE_SHARE;
	bool is_taken = joining->is_proved;

	if (is_taken) {
		search->assembly->evidence = joining->bits;
	} else if (!search->is_near && search->judged < JUDGED_MAX) {
		search->judged++;
		bench->work_left -= kept;
		bench->clusters = search->clusters;
		is_taken = joining_judge(bench, partial, joining, search->assembly);
		bench->clusters = clusters;
		bench->work_left += kept;
		bench->exhausted = false;
	}
	if (is_taken) {
		search->best = *joining;
	} else {
		search->assembly->doubt_count = 0;
		joining_free(joining);
	}
	return is_taken;
}

/* Tries a step. True: search->best is what it leads to. */
static bool try_step(struct search *search, struct node *node, const struct found *found)
{
	struct workbench *bench = search->bench;
	uint64_t size = bench->clusters->size, at = found->step.at;
	struct joining joining;

	if (joining_try(bench, node->partial, &found->step, &joining))
		return take(search, node->partial, &joining);
	if (node->found_count < NODE_FOUND_MAX && bench->reached > at &&
		(bench->reached + size / 8 >= at + size || found->bits >= CERTAIN_BITS)) {
		node->found[node->found_count] = *found;
		node->found[node->found_count++].reached = bench->reached;
	}
	return false;
}

/* Tries what is near a break of which nothing is known, such as one in the description of the codes. True: search->best is what it leads
 * to. */
static bool try_unknown(struct search *search, struct node *node, uint64_t at)
{
	struct workbench *bench = search->bench;
	uint64_t kept = bench->work_left - bench->work_left / UNKNOWN_SHARE;
	int64_t size = (int64_t)bench->clusters->size;
	uint64_t most = find_farthest(search);
	bool success = false;

	bench->work_left -= kept;
	for (uint64_t distance = 1; distance <= most && !success && workbench_goes_on(bench);
		distance++)
		for (int backwards = 0; backwards < 2 && !success; backwards++) {
			int64_t gap = (int64_t)distance * (backwards ? -size : size);
			const struct found found = { .step = { at, gap }, .distance = distance };

			if (workbench_goes_on(bench) && can_be(search, node, &found.step) &&
				!is_of_another(search, node, &found.step))
				success = try_step(search, node, &found);
		}
	bench->work_left += kept;
	bench->exhausted = false;
	return success;
}

/* Tries what is near a break and unlikely goes on after it: the file's own may change just there. True: search->best is what it leads to. */
static bool try_unlikely(struct search *search, struct node *node, uint64_t at)
{
	int64_t size = (int64_t)search->bench->clusters->size;

	for (uint64_t distance = 1; distance <= search->round->unlikely; distance++)
		for (int backwards = 0; backwards < 2; backwards++) {
			int64_t gap = (int64_t)distance * (backwards ? -size : size);
			const struct found found = { .step = { at, gap }, .distance = distance };

			if (!workbench_goes_on(search->bench))
				return false;
			if (can_be(search, node, &found.step) &&
				!is_of_another(search, node, &found.step) &&
				!bits_of(search, node, &found.step) &&
				try_step(search, node, &found))
				return true;
		}
	return false;
}

/* Tries what likely goes on after a break. True: search->best is what it leads to. */
static bool try_break(struct search *search, struct node *node, uint64_t at)
{
	struct workbench *bench = search->bench;
	struct found found[FOUND_MAX];
	size_t count;

	if (!workbench_may_break(bench, &node->partial->extents, at, bench->states.length))
		return false;
	if (at == node->breaks[0] && !code_breaks_knows(node->codes, at))
		return try_unknown(search, node, at);
	count = find_likely(search, node, at, found);
	for (size_t i = 0; i < count && workbench_goes_on(bench); i++)
		if (try_step(search, node, &found[i]))
			return true;
	return try_unlikely(search, node, at);
}

static bool search_from(struct search *search, const struct partial *partial, unsigned pieces);

/* The carver finds it whole, though some of it looks like another file's, which is enough for a trial to refuse it. True:
 * search->best is it. */
static bool accept(struct search *search, const struct node *node, const struct found *found)
{
	struct workbench *bench = search->bench;
	struct joining joining;
	bool is_complete;

	bench->looks = true;
	is_complete = joining_try(bench, node->partial, &found->step, &joining);
	bench->looks = false;
	return is_complete && take(search, node->partial, &joining);
}

/* True: it leads to a layout that is taken. */
static bool follow(
	struct search *search, const struct node *node, const struct found *found, unsigned pieces)
{
	struct workbench *bench = search->bench;
	struct partial next = { .joint = found->step.at, .reached = found->reached };
	uint64_t kept = bench->work_left / (found == node->found ? FIRST_SHARE : CHILD_SHARE);
	bool success;

	bench->work_left -= kept;
	step_lay_out(bench->clusters, node->partial, &found->step, &next.extents);
	workbench_prepare(bench, &next.extents, next.joint);
	success = bench->states.verdict == CARVE_COMPLETE ? accept(search, node, found)
							  : search_from(search, &next, pieces);
	partial_free(&next);
	bench->work_left += kept;
	bench->exhausted = false;
	return success;
}

/* True: search->best is a layout. */
static bool search_from(struct search *search, const struct partial *partial, unsigned pieces)
{
	struct workbench *bench = search->bench;
	struct node *node = calloc(1, sizeof(*node));
	bool success = false;

	if (!node) {
		bench->no_memory = true;
		return false;
	}
	workbench_prepare(bench, &partial->extents, partial->joint);
	node->partial = partial;
	node->codes = code_breaks_new(bench, partial);
	if (bench->states.verdict == CARVE_TRUNCATED && workbench_goes_on(bench))
		list_breaks(search, node);
	for (size_t i = 0; i < node->break_count && !success; i++)
		success = try_break(search, node, node->breaks[i]);
	sort(node->found, node->found_count);
	code_breaks_free(node->codes);
	for (size_t i = 0; i < node->found_count && i < FOLLOWED && pieces > 2 && !success &&
			   workbench_goes_on(bench);
		i++)
		success = follow(search, node, &node->found[i], pieces - 1);
	free(node);
	return success;
}

/* All rounds with clusters of the workbench's size, or of the usual one. True: search->best is a layout. */
static bool search_all(struct search *search)
{
	static const struct round rounds[] = {
		{ BREAKS_MAX, 64, 16, 2 }, /* mostly where the file's own codes look foreign */
		{ 1, 256, 0, PIECES_MAX },
		{ 2, 512, 0, PIECES_MAX },
		{ 1, 2048, 0, PIECES_MAX },
		{ 4, 512, 0, PIECES_MAX },
		{ 1, UINT64_MAX, 0, PIECES_MAX },
		{ 1, 256, 32, PIECES_MAX },
		{ 2, 4096, 0, PIECES_MAX },
		{ 4, 256, 128, PIECES_MAX },
		{ BREAKS_MAX, 1024, 32, PIECES_MAX },
	};
	struct workbench *bench = search->bench;
	struct partial begin;
	bool success = false, fits = partial_begin(bench->clusters, search->broken, NULL, &begin);
	size_t count = search->is_near ? NEAR_ROUNDS : sizeof(rounds) / sizeof(*rounds);

	for (size_t i = 0; i < count && fits && !success && workbench_goes_on(bench); i++) {
		search->round = &rounds[i];
		success = search_from(search, &begin, rounds[i].pieces);
	}
	partial_free(&begin);
	return success;
}

/* The same, as if clusters were of the usual size. That takes a part of the work. */
static bool search_coarsely(struct search *search)
{
	struct workbench *bench = search->bench;
	const struct clusters *clusters = bench->clusters;
	struct clusters coarse;
	uint64_t kept = bench->work_left - bench->work_left / COARSE_SHARE;
	bool success;

	if (!clusters_coarsen(clusters, search->broken->start, &coarse))
		return false;
	bench->clusters = &coarse;
	bench->work_left -= kept;
	success = search_all(search);
	bench->work_left += kept;
	bench->exhausted = false;
	bench->clusters = clusters;
	return success;
}

bool by_codes_find(struct workbench *bench, const struct broken *broken, bool is_near,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	struct search search = { .bench = bench,
		.broken = broken,
		.clusters = bench->clusters,
		.assembly = assembly,
		.is_near = is_near };
	bool success;

	if (!workbench_decodes_on(bench) ||
		broken->start % bench->clusters->size != bench->clusters->origin)
		return false;
	success = search_coarsely(&search) || search_all(&search);
	workbench_end(bench);
	if (!success)
		return false;
	*extents = search.best.extents;
	*outcome = search.best.outcome;
	free(search.best.joint_bits);
	return true;
}
