/*
 * The first look at what a helper has searched (run/run_cluster.h). It pairs its hits and carves as
 * a run alone does, but makes no files: what its checks have found goes to the conductor with
 * the hits, so that the conductor hardly ever has to ask. Of what lies inside a file that was
 * found complete nothing is looked at, nor told. The conductor decides: where a file that began
 * before the unit hides what was told here, or shows what was not looked at, nothing is wrong
 * but for the time that it took.
 *
 * Only rules with something to check count whose candidates need no footer, which may lie in
 * another unit. A unit is paired for itself; candidates that start before it, by a header inside
 * it, are left to the conductor.
 *
 * Pieces of hits wait here, in order, until all that they settle was decided on.
 */
#include "run/run_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

/* So many hits are paired before what they settle is taken out: that bounds what lies in the
 * queues. */
#define HITS_AT_ONCE 64
/* Bytes of what a piece tells; the conductor asks for the rest. */
#define TOLD_MOST ((size_t)2 << 20)
/* Bytes of pieces that wait, and what an end of a unit counts for among them. */
#define HELD_MOST ((size_t)4 << 20)
#define UNIT_COST ((size_t)32 << 10)

struct scouted {
	struct scouted *next;
	struct run_piece piece;
	size_t outcome_room, told; /* told: bytes of outcomes */
	uint64_t settled;          /* what starts before this belongs to it or the one before */
};

struct run_scout {
	int (*give)(struct run *run, struct run_piece *piece);
	struct scouted *first, **end;
	struct scouted *
		telling; /* the first that outcomes may still belong to; NULL: it is still to come */
	size_t held;     /* bytes */
};

/* ---- what is told -------------------------------------------------------------------------- */

static void tell(void *context, const struct candidate *candidate, const struct outcome *outcome)
{
	struct run_scout *scout = ((struct run *)context)->scout;
	size_t cost = sizeof(struct run_outcome) + outcome_extra_len(outcome);
	struct scouted *scouted;

	while (scout->telling->settled <= candidate->start)
		scout->telling = scout->telling->next;
	scouted = scout->telling;
	if (scouted->told + cost > TOLD_MOST)
		return;
	scouted->told += cost;
	scout->held += cost;
	scouted->piece.outcomes = xgrow(scouted->piece.outcomes, &scouted->outcome_room,
		scouted->piece.outcome_count, sizeof(*scouted->piece.outcomes));
	scouted->piece.outcomes[scouted->piece.outcome_count++] =
		(struct run_outcome){ candidate->start, candidate->rule, outcome_copy(outcome) };
}

static size_t cost_of(const struct scouted *scouted)
{
	const struct run_piece *piece = &scouted->piece;

	return sizeof(*scouted) + piece->hit_count * sizeof(*piece->hits) +
	       piece->unread_count * sizeof(*piece->unread) + piece->classes_len + scouted->told +
	       (piece->ends_unit ? UNIT_COST : 0);
}

static void free_scouted(struct scouted *scouted)
{
	for (size_t i = 0; i < scouted->piece.outcome_count; i++)
		outcome_free(&scouted->piece.outcomes[i].outcome);
	free(scouted->piece.outcomes);
	free((void *)scouted->piece.hits);
	free((void *)scouted->piece.unread);
	free((void *)scouted->piece.classes);
	free(scouted);
}

/* ---- pieces -------------------------------------------------------------------------------- */

static struct scouted *hold(struct run_scout *scout, struct run_piece *piece)
{
	struct scouted *scouted = xcalloc(1, sizeof(*scouted));

	scouted->piece = *piece;
	scouted->settled = UINT64_MAX;
	scout->held += cost_of(scouted);
	*scout->end = scouted;
	scout->end = &scouted->next;
	if (!scout->telling)
		scout->telling = scouted;
	return scouted;
}

static struct scouted *let_go(struct run_scout *scout)
{
	struct scouted *scouted = scout->first;

	scout->first = scouted->next;
	if (!scout->first)
		scout->end = &scout->first;
	if (scout->telling == scouted)
		scout->telling = scouted->next;
	scout->held -= cost_of(scouted);
	return scouted;
}

/* Gives the pieces of which everything is told. */
static int give_ready(struct run *run)
{
	struct run_scout *scout = run->scout;
	int status = 0;

	while (!status && scout->first &&
		scout->first->settled <= carving_decided_until(run->carving)) {
		struct scouted *scouted = let_go(scout);

		status = scout->give(run, &scouted->piece);
		free_scouted(scouted);
	}
	return status;
}

static int carving_failed(struct run *run, int status)
{
	run->error = *carving_error(run->carving);
	return status;
}

/* Until no more than so many bytes of pieces wait. */
static int drain(struct run *run, size_t held)
{
	int status = give_ready(run);

	while (!status && run->scout->held > held && !run_caught_signal()) {
		status = carving_decide_until(run->carving, run->scout->first->settled);
		if (status)
			return carving_failed(run, status);
		status = give_ready(run);
	}
	return status;
}

int run_scout_drain(struct run *run)
{
	return drain(run, 0);
}

/* ---- carving ------------------------------------------------------------------------------- */

static void start_unit(struct run *run, uint64_t offset)
{
	struct pairing_options options = run_pairing_options(run);

	options.precheck = true;
	if (options.range_start < offset)
		options.range_start = offset;
	run->pairing = pairing_new(run->options->rules, &options, run->store,
		&run->summary.rejected, &run->summary.skipped);
}

static int settle_all(struct run *run)
{
	int status = run_carve_settled(run, false);

	return !status && run->has_pending ? -ECANCELED : status;
}

/* What lies inside a file that was found has nothing to tell. */
static int pair_hits(struct run *run, const struct run_piece *piece)
{
	uint64_t hidden_until = carving_hidden_until(run->carving);
	size_t paired = 0;
	int status = 0;

	for (size_t i = 0; i < piece->hit_count && !status; i++) {
		const struct run_hit *hit = &piece->hits[i];

		if (hit->offset < hidden_until)
			continue;
		pairing_hit(run->pairing, hit->offset, hit->pattern, hit->len);
		if (++paired % HITS_AT_ONCE)
			continue;
		status = settle_all(run);
		hidden_until = carving_hidden_until(run->carving);
	}
	return status;
}

static int end_unit(struct run *run, uint64_t until)
{
	int status;

	pairing_finish(run->pairing);
	status = settle_all(run);
	carving_set_offered_until(run->carving, until);
	pairing_free(run->pairing);
	run->pairing = NULL;
	return status;
}

int run_scout_take(struct run *run, uint64_t unit, struct run_piece *piece)
{
	struct scouted *scouted = hold(run->scout, piece);
	int status;

	if (!run->pairing)
		start_unit(run, unit);
	status = pair_hits(run, piece);
	if (status)
		return status;
	pairing_advance(run->pairing, piece->until);
	status = piece->ends_unit ? end_unit(run, piece->until) : settle_all(run);
	scouted->settled = piece->ends_unit ? piece->until : pairing_reached(run->pairing);
	return status ? status : drain(run, HELD_MOST);
}

int run_scout_settle(struct run *run, uint64_t position)
{
	int status = run_keep_up(run, position);

	return status ? status : give_ready(run);
}

/* ---- beginning and end --------------------------------------------------------------------- */

void run_start_scout(struct run *run, int (*give)(struct run *run, struct run_piece *piece))
{
	const struct run_options *options = run->options;
	const struct carving_options carving = {
		.image = run->image,
		.rules = options->rules,
		.pool = run->pool,
		.decide = { .nested = options->decide.nested },
		.on_outcome = tell,
		.context = run,
		.rejected = &run->summary.rejected,
		.skipped = &run->summary.skipped,
		.interrupted = run_interrupted,
	};

	run->scout = xcalloc(1, sizeof(*run->scout));
	run->scout->give = give;
	run->scout->end = &run->scout->first;
	run->store = fifo_store_new(SIZE_MAX, NULL, NULL);
	run->carving = carving_new(&carving);
}

void run_hide(void *context, uint64_t until)
{
	carving_hide(((struct run *)context)->carving, until);
}

void run_end_scout(struct run *run)
{
	if (!run->scout)
		return;
	carving_hide(run->carving, UINT64_MAX); /* checks that are under way are given up */
	carving_cancel(run->carving);
	while (run->scout->first)
		free_scouted(let_go(run->scout));
	free(run->scout);
}
