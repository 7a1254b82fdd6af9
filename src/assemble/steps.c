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
#define LEARN_STEP ((uint64_t)64 << 10)
/* A cluster whose first bytes are described by so much better as others', in bits a byte, is not tried
 * far from the break. */
#define LOOK_LEN 512
#define ALIEN_SHARE 2
#define RING_COUNT RING_COUNT

/* What is kept of the steps from the partial files of one depth. */
struct beam {
	struct partial items[BEAM];
	int64_t gaps[BEAM];
	size_t count;
};

struct search {
	struct workbench *bench;
	enum ring ring;
	struct affinity *affinity; /* NULL: all content is tried */
	struct joining best;       /* not proved, the first one accepted; without extents: none */
	struct partial from;       /* what it is a step from */
};

/* ---- partial files ------------------------------------------------------------------------- */

static void copy_extents(struct extents *to, const struct extents *from)
{
	*to = (struct extents){ 0 };
	for (size_t i = 0; i < from->count; i++)
		extents_add(to, from->runs[i].offset, from->runs[i].length);
}

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

/* For steps that lead far: what the partial file's content looks like. */
static void learn(struct search *search, const struct partial *partial)
{
	uint64_t left = partial->reached;

	affinity_free(search->affinity);
	search->affinity = NULL;
	if (search->ring == RING_NEAR)
		return;
	search->affinity = affinity_new(search->bench);
	for (size_t i = 0; i < partial->extents.count && left; i++) {
		const struct range *run = &partial->extents.runs[i];
		uint64_t len = run->length < left ? run->length : left;

		for (uint64_t at = 0; at < len; at += LEARN_STEP)
			affinity_learn(
				search->affinity, search->bench, run->offset + at, len - at, true);
		left -= len;
	}
}

/* Whether what a step leads to looks like the content of others. */
static bool is_alien(
	const struct search *search, const struct partial *partial, const struct step *step)
{
	struct workbench *bench = search->bench;

	return search->affinity &&
	       affinity_bits(search->affinity, bench, step_target(bench->clusters, partial, step),
		       LOOK_LEN) < -(int64_t)LOOK_LEN / ALIEN_SHARE;
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
	copy_extents(&search->from.extents, &partial->extents);
	return joining.is_proved;
}

/* Steps of the ring with breaks[from] to breaks[to - 1]. True: the search ends. */
static bool try_breaks(struct search *search, const struct partial *partial,
	const struct breaks *breaks, size_t from, size_t to, struct beam *next)
{
	struct step step;

	for (uint64_t n = 0; workbench_goes_on(search->bench) &&
			     ring_gap(search->bench->clusters, search->ring, n, &step.gap);
		n++)
		for (size_t b = from; b < to; b++) {
			step.at = breaks->items[b];
			if (is_alien(search, partial, &step))
				continue;
			if (try_step(search, partial, &step, next) ||
				(search->ring != RING_NEAR && search->best.extents.count))
				return true;
		}
	return search->best.extents.count != 0;
}

/* All steps of the ring from a partial file. */
static void try_steps(struct search *search, const struct partial *partial, struct beam *next)
{
	struct breaks breaks;

	breaks_find(search->bench->clusters, partial, &breaks);
	learn(search, partial);
	if (!try_breaks(search, partial, &breaks, 0, breaks.close_count, next) &&
		search->ring <= RING_BOTH &&
		!try_breaks(
			search, partial, &breaks, breaks.close_count, breaks.before_count, next))
		try_breaks(search, partial, &breaks, breaks.before_count, breaks.count, next);
	breaks_free(&breaks);
}

/* Steps of one ring from the file as it was found, and from what they lead to. True: a layout was
 * accepted. */
static bool follow(struct search *search, const struct partial *begin, unsigned pieces)
{
	struct beam level = { .count = 1 };
	bool found = false;

	level.items[0] = *begin;
	copy_extents(&level.items[0].extents, &begin->extents);
	for (unsigned depth = 2; depth <= pieces && level.count && !found; depth++) {
		struct beam next = { 0 };

		for (size_t i = 0; i < level.count && !found; i++) {
			try_steps(search, &level.items[i], depth < pieces ? &next : NULL);
			found = search->best.extents.count != 0;
		}
		beam_free(&level);
		level = next;
	}
	beam_free(&level);
	return found;
}

/* How far the carver gets before any step. True: to the end, past complete files that are between. */
static bool look(struct search *search, struct partial *partial)
{
	struct workbench *bench = search->bench;
	struct extents extents;
	struct outcome outcome;
	struct step step = { 0 };

	copy_extents(&extents, &partial->extents);
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

static bool search_file(struct workbench *bench, const struct broken *broken, unsigned rings,
	unsigned pieces, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct search search = { .bench = bench };
	struct partial begin;
	bool found;

	if (broken->start % bench->clusters->size != bench->clusters->origin)
		return false; /* inside another file */
	partial_begin(bench->clusters, broken, &begin);
	workbench_prepare(bench, broken);
	found = look(&search, &begin);
	for (unsigned ring = 0; ring < rings && !found && workbench_goes_on(bench); ring++) {
		search.ring = (enum ring)ring;
		found = follow(&search, &begin, pieces);
	}
	partial_free(&begin);
	found = found && joining_judge(bench, &search.from, &search.best, assembly);
	if (found) {
		*extents = search.best.extents;
		*outcome = search.best.outcome;
	} else {
		joining_free(&search.best);
	}
	partial_free(&search.from);
	affinity_free(search.affinity);
	return found;
}

bool find_near(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	return search_file(bench, broken, RING_NEAR + 1, 2, extents, outcome, assembly);
}

bool find_anywhere(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	return search_file(bench, broken, RING_COUNT, PIECES_MAX, extents, outcome, assembly);
}
