/*
 * A file is put together piece by piece. A step from what is put together so far is a break and a gap
 * (field.h); its trial is the carver's check of the whole. Either the carver finds the file complete,
 * or it breaks off again, the later the better the step was: the few steps after which most was
 * validated are partial files themselves, from which further steps are tried. Most fragmented files
 * have two pieces near each other, so that is tried first, and larger distances only for files that
 * could not be completed.
 *
 * The first layout that is proved ends the search. Without proof one is taken only if no other gap
 * would do as well (joining.h).
 */
#include <stdlib.h>

#include "assemble/affinity.h"
#include "assemble/joining.h"
#include "assemble/strategies.h"
#include "base/memory.h"

#define BEAM 3 /* partial files that are followed at a time */
#define PIECES_MAX 8
/* A cluster whose first bytes are described better as others', by a bit each, is not tried far from the
 * break. */
#define LOOK_LEN 512
#define JUDGE_SHARE 4 /* of the work is kept for judging what was found */

/* What is kept of the steps from the partial files of one depth. */
struct beam {
	struct partial items[BEAM];
	int64_t gaps[BEAM];
	size_t count;
	uint64_t changes;
};

/* Steps that are tried together: from some breaks, to some distance. */
struct cell {
	enum ring ring;
	enum break_zone zone;
};

struct search {
	struct workbench *bench;
	struct affinity *affinity; /* of the partial file; NULL: no step from it led far yet */
	struct joining best;       /* not proved, the first one accepted; without extents: none */
	struct partial from;       /* what it is a step from */
};

/* ---- partial files ------------------------------------------------------------------------- */

static void beam_free(struct beam *beam)
{
	for (size_t i = 0; i < beam->count; i++)
		partial_free(&beam->items[i]);
	beam->count = 0;
}

/* Makes room for a partial file that reached that far, in order; NULL if there are better ones. One
 * that came with the same gap gives way or stays. */
static struct partial *make_room(struct beam *beam, int64_t gap, uint64_t reached)
{
	size_t i = 0, last;

	for (size_t n = 0; n < beam->count; n++)
		if (beam->gaps[n] == gap) {
			if (beam->items[n].reached >= reached)
				return NULL;
			partial_free(&beam->items[n]);
			beam->count--;
			for (size_t k = n; k < beam->count; k++) {
				beam->items[k] = beam->items[k + 1];
				beam->gaps[k] = beam->gaps[k + 1];
			}
			break;
		}
	while (i < beam->count && beam->items[i].reached >= reached)
		i++;
	if (i == BEAM)
		return NULL;
	if (beam->count == BEAM)
		partial_free(&beam->items[--beam->count]);
	for (last = beam->count++; last > i; last--) {
		beam->items[last] = beam->items[last - 1];
		beam->gaps[last] = beam->gaps[last - 1];
	}
	beam->gaps[i] = gap;
	beam->changes++;
	return &beam->items[i];
}

/* The step was refused: it may have brought the file a piece further. */
static void offer(struct search *search, const struct partial *partial, const struct step *step,
	struct beam *next)
{
	const struct clusters *clusters = search->bench->clusters;
	uint64_t reached = search->bench->reached;
	struct extents extents = { 0 };
	struct partial *room;

	if (!next || reached < step->at + clusters->size || reached <= partial->reached)
		return;
	room = make_room(next, step->gap, reached);
	if (!room)
		return;
	step_lay_out(clusters, partial, step, &extents);
	*room = (struct partial){ extents, step->at, reached, search->bench->seen };
}

/* ---- content ------------------------------------------------------------------------------- */

/* What the partial file's content looks like, for steps that lead far. */
static void learn(struct search *search, const struct partial *partial)
{
	uint64_t left = partial->reached;

	search->affinity = affinity_new(search->bench);
	for (size_t i = 0; i < partial->extents.count && left; i++) {
		const struct range *run = &partial->extents.runs[i];
		uint64_t len = run->length < left ? run->length : left;

		affinity_learn(search->affinity, search->bench, run->offset, len, true);
		left -= len;
	}
}

/* Whether what a step leads to looks like the content of others. */
static bool is_alien(struct search *search, const struct partial *partial, const struct step *step)
{
	struct workbench *bench = search->bench;

	if (!search->affinity)
		learn(search, partial);
	return affinity_bits(search->affinity, bench, step_target(bench->clusters, partial, step),
		       LOOK_LEN) < -(int64_t)LOOK_LEN;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* True: a layout was proved, and is search->best. */
static bool try_step(struct search *search, const struct partial *partial, const struct step *step,
	struct beam *next)
{
	struct joining joining;

	if (!joining_try(search->bench, partial, step, &joining)) {
		offer(search, partial, step, next);
		return false;
	}
	if (search->best.extents.count && !joining.is_proved) {
		joining_free(&joining);
		return false;
	}
	joining_free(&search->best);
	partial_free(&search->from);
	search->best = joining;
	search->from = *partial;
	search->from.extents = (struct extents){ 0 };
	extents_set(&search->from.extents, partial->extents.runs, partial->extents.count);
	return joining.is_proved;
}

/* The breaks of a cell, breaks->items[*from] to items[*to - 1]. */
static void select_breaks(
	const struct breaks *breaks, enum break_zone zone, size_t *from, size_t *to)
{
	*from = zone == ZONE_CLOSE ? 0 : breaks->close_count;
	*to = zone == ZONE_CLOSE ? breaks->close_count : breaks->before_count;
	if (zone != ZONE_AFTER)
		return;
	*from = breaks->before_count;
	*to = breaks->count;
}

/* The steps of a cell from a partial file. True: the search ends. Nearby all are tried, as a later one
 * may be proved. */
static bool try_cell(struct search *search, const struct partial *partial,
	const struct breaks *breaks, const struct cell *cell, struct beam *next)
{
	const struct clusters *clusters = search->bench->clusters;
	bool is_near = cell->ring == RING_NEAR;
	struct step step;
	size_t from, to;

	select_breaks(breaks, cell->zone, &from, &to);
	for (uint64_t n = 0;
		workbench_goes_on(search->bench) && ring_gap(clusters, cell->ring, n, &step.gap);
		n++)
		for (size_t b = from; b < to; b++) {
			step.at = breaks->items[b];
			if (!is_near && is_alien(search, partial, &step))
				continue;
			if (try_step(search, partial, &step, next) ||
				(!is_near && search->best.extents.count))
				return true;
		}
	return search->best.extents.count != 0;
}

/* The steps of some cells from a partial file. True: a layout was accepted. */
static bool try_cells(struct search *search, const struct partial *partial,
	const struct cell *cells, size_t count, struct beam *next)
{
	struct breaks breaks;
	bool found = false;

	breaks_find(search->bench->clusters, partial, &breaks);
	affinity_free(search->affinity);
	search->affinity = NULL;
	workbench_prepare(search->bench, &partial->extents);
	for (size_t i = 0; i < count && !found && workbench_goes_on(search->bench); i++)
		found = try_cell(search, partial, &breaks, &cells[i], next);
	breaks_free(&breaks);
	return found;
}

/* Steps of some cells from the partial files of a beam, and from what they lead to. True: a layout was
 * accepted. */
static bool follow(struct search *search, const struct beam *beam, const struct cell *cells,
	size_t count, unsigned pieces)
{
	struct beam next = { 0 };
	bool found = false;

	for (size_t i = 0; i < beam->count && !found; i++)
		found = try_cells(search, &beam->items[i], cells, count, pieces > 1 ? &next : NULL);
	if (!found && next.count)
		found = follow(search, &next, cells, count, pieces - 1);
	beam_free(&next);
	return found;
}

/* One cell after the other. What steps from the file as it was found lead to is kept for all later
 * ones. True: a layout was accepted. */
static bool search_cells(struct search *search, const struct partial *begin,
	const struct cell *cells, size_t count, unsigned pieces)
{
	struct beam first = { 0 };
	bool found = false;

	for (size_t i = 0; i < count && !found && workbench_goes_on(search->bench); i++) {
		uint64_t changes = first.changes;
		size_t from;

		found = try_cells(search, begin, &cells[i], 1, pieces > 2 ? &first : NULL);
		/* From the same partial files the cells before were tried already. */
		from = first.changes == changes ? i : 0;
		if (!found && first.count)
			found = follow(search, &first, &cells[from], i + 1 - from, pieces - 2);
	}
	beam_free(&first);
	return found;
}

/* How far the carver gets before any step. True: to the end, past complete files that are between. */
static bool look(struct search *search, struct partial *partial)
{
	struct workbench *bench = search->bench;
	struct extents extents = { 0 };
	struct outcome outcome;
	struct step step = { 0 };

	extents_set(&extents, partial->extents.runs, partial->extents.count);
	if (workbench_try(bench, &extents, &outcome)) {
		outcome_free(&outcome);
		if (extents.count > 1) {
			step.at = extents.runs[0].length;
			step.gap = (int64_t)(extents.runs[1].offset - extents.runs[0].offset -
					     step.at);
		}
	}
	extents_free(&extents);
	if (bench->reached > partial->reached)
		partial->reached = bench->reached;
	partial->seen = bench->seen;
	if (step.at)
		try_step(search, partial, &step, NULL);
	return search->best.extents.count != 0;
}

static bool search_file(struct workbench *bench, const struct broken *broken,
	const struct cell *cells, size_t count, unsigned pieces, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	struct search search = { .bench = bench };
	uint64_t reserve = bench->work_left / JUDGE_SHARE;
	struct partial begin;
	bool found;

	if (broken->start % bench->clusters->size != bench->clusters->origin)
		return false; /* inside another file */
	bench->work_left -= reserve;
	partial_begin(bench->clusters, broken, &begin);
	workbench_prepare(bench, &begin.extents);
	found = look(&search, &begin) || search_cells(&search, &begin, cells, count, pieces);
	partial_free(&begin);
	bench->work_left += reserve;
	if (found) {
		bench->exhausted = false;
		found = joining_judge(bench, &search.from, &search.best, assembly);
	}
	if (found) {
		*extents = search.best.extents;
		*outcome = search.best.outcome;
	} else {
		joining_free(&search.best);
	}
	partial_free(&search.from);
	affinity_free(search.affinity);
	workbench_end(bench);
	return found;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

bool find_near(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	static const struct cell cells[] = { { RING_NEAR, ZONE_CLOSE }, { RING_NEAR, ZONE_BEFORE },
		{ RING_NEAR, ZONE_AFTER } };

	return search_file(bench, broken, cells, COUNT(cells), 2, extents, outcome, assembly);
}

bool find_anywhere(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	static const struct cell cells[] = { { RING_NEAR, ZONE_CLOSE }, { RING_BOTH, ZONE_CLOSE },
		{ RING_NEAR, ZONE_BEFORE }, { RING_BOTH, ZONE_BEFORE }, { RING_WIDE, ZONE_CLOSE },
		{ RING_NEAR, ZONE_AFTER }, { RING_ALL, ZONE_CLOSE }, { RING_BOTH, ZONE_AFTER } };

	return search_file(
		bench, broken, cells, COUNT(cells), PIECES_MAX, extents, outcome, assembly);
}
