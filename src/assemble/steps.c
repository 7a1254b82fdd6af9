/*
 * A file is put together piece by piece. A step from what is put together so far is a break and a gap
 * (field.h); its trial is the carver's check of the whole. Either the carver finds the file complete,
 * or it breaks off again, the later the better the step was: the few steps after which most was
 * validated are partial files themselves, from which further steps are tried. Most fragmented files
 * have two pieces near each other, so that is tried first, and larger distances only for files that
 * could not be completed.
 *
 * Most trials are cheap: a file that is cut soon after a break shows whether the next piece is wrong, if
 * the carver finds all valid up to where it is cut (workbench_goes_past). And a joint that a checksum
 * proves is where the search goes on, and nowhere else. One after which far more was validated than wrong
 * bytes ever are is followed at once, with most of the work. Where the carver notices late, a break is also tried
 * where the content changes.
 *
 * The first layout that is proved ends the search. Without proof one is taken only if no other gap
 * would do as well (joining.h). Formats that do not show where they end are never complete; of their
 * layouts the one that goes furthest is judged, if the file ended at a cluster before.
 */
#include <stdlib.h>

#include "assemble/affinity.h"
#include "assemble/continuations.h"
#include "assemble/joining.h"
#include "assemble/mapping.h"
#include "assemble/strategies.h"
#include "base/memory.h"

#define BEAM 3 /* partial files that are followed at a time */
#define PIECES_MAX 8
#define FOLLOW_EVERY 32 /* gaps, after which the best of a beam may be followed at once... */
#define FOLLOW_BITS 20  /* ...if that many bits speak for its last joint */
#define JUDGE_SHARE 4   /* of the work is kept for judging what was found */
#define JUDGED_MAX 4    /* doubtful layouts of a file */
#define GUESSES 4       /* that are judged: of two pieces, of three, of four, and of more */
#define RECORD_LEN 1024
#define EXTEND_MAX 64  /* clusters by which the last piece may begin earlier */
#define COARSE_SHARE 4 /* of the work is for clusters of the usual size */
/* A carver may count that share of a cluster as the file's own although it is another's. */
#define BEGUN_SHARE 16
#define BEGUN_MIN 128 /* bytes, a frame's, that it may count of a small one */

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
	bool is_unlikely; /* those to clusters that are likely another file's: late, and not far */
};

/* How a strategy searches. */
struct plan {
	const struct cell *cells; /* that are tried, in order */
	size_t count;
	unsigned first;  /* cells that are tried before any from what they lead to */
	unsigned pieces; /* at most */
	bool only_sure; /* what breaks off anywhere, or where a joint may be at several places, is not taken */
};

/* What nobody can prove, but goes further than all else. */
struct guess {
	struct partial from; /* without extents: there is none */
	struct step step;
	uint64_t reached;
};

struct search {
	struct workbench *bench;
	const struct broken *broken;
	const struct tail *tail; /* or NULL */
	const struct plan *plan;
	const struct clusters *clusters; /* as they are; bench may have larger ones */
	struct assembly *assembly;
	uint64_t reserve;              /* work that is kept for judging */
	unsigned judged;               /* layouts that were accepted, and found to be doubtful */
	bool is_found;                 /* search->best is judged */
	bool is_spent;                 /* not all trials could be made */
	const struct partial *current; /* that is being followed; NULL: another one than before */
	struct affinity *affinity;     /* of the partial file; NULL: not learnt yet */
	struct affinity *before;       /* of it before its content changes; the same */
	struct continuations *continuations; /* the same */
	struct notice notice;                /* of the trials */
	struct joining best;   /* not proved, the first one accepted; without extents: none */
	struct partial from;   /* what it is a step from... */
	struct step step;      /* ...and which */
	struct partial proved; /* without extents: none; a check covers its last joint */
	struct guess guesses[GUESSES]; /* of two pieces that which goes furthest, of three... */
	uint64_t least; /* bytes that a guess must reach; UINT64_MAX: the file is no candidate */
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

static void copy_partial(struct partial *to, const struct partial *from)
{
	partial_free(to);
	*to = *from;
	to->extents = (struct extents){ 0 };
	extents_set(&to->extents, from->extents.runs, from->extents.count);
}

/* The number of a layout's pieces, less two. */
static size_t count_joints(const struct partial *partial, const struct step *step)
{
	uint64_t end = 0;
	size_t count = 0;

	for (; count < partial->extents.count && end < step->at; count++)
		end += partial->extents.runs[count].length;
	return count ? count - 1 : 0;
}

/* The step was not accepted as complete: it may be the best there is with as many pieces. */
static void note_guess(
	struct search *search, const struct partial *partial, const struct step *step)
{
	const struct workbench *bench = search->bench;
	size_t joints = count_joints(partial, step);
	struct guess *guess = &search->guesses[joints < GUESSES ? joints : GUESSES - 1];

	if (bench->verdict != CARVE_UNVERIFIED || bench->reached <= guess->reached ||
		bench->reached <= step->at || bench->reached < search->least ||
		bench->reached % bench->clusters->size < bench->clusters->size / BEGUN_SHARE)
		return;
	copy_partial(&guess->from, partial);
	guess->step = *step;
	guess->reached = bench->reached;
}

/* Whether a check proves the joint of a step that was refused: then the file goes on from there. */
static bool is_proved_step(
	struct search *search, const struct partial *partial, const struct step *step)
{
	struct workbench *bench = search->bench;

	if (bench->reached <= step->at ||
		!workbench_is_proof(bench, workbench_proof(bench, step->at)))
		return false;
	partial_free(&search->proved);
	search->proved = (struct partial){ .joint = step->at,
		.reached = bench->reached,
		.seen = bench->seen,
		.same = bench->reached,
		.tail = partial->tail };
	step_lay_out(bench->clusters, partial, step, &search->proved.extents);
	return true;
}

/* Whether the carver accepted a cluster after the joint, or a record there and noticed something only later.
 * What others' bytes reached by chance before need not be passed then. */
static bool is_further(
	const struct workbench *bench, const struct partial *partial, const struct step *step)
{
	uint64_t size = bench->clusters->size, reached = bench->reached;
	/* A piece of one cluster may end with part of a record. */
	uint64_t record = size < USUAL_CLUSTER ? 0 : RECORD_LEN;

	if (reached <= step->at)
		return false;
	if (reached <= partial->reached)
		return reached >= step->at + size && reached + size > partial->reached;
	return reached + record >= step->at + size || bench->seen >= step->at + size;
}

/* The step was refused: it may have brought the file a piece further. */
static void offer(struct search *search, const struct partial *partial, const struct step *step,
	struct beam *next)
{
	const struct clusters *clusters = search->bench->clusters;
	uint64_t reached = search->bench->reached;
	struct extents extents = { 0 };
	struct partial *room;

	if (!next || !is_further(search->bench, partial, step))
		return;
	room = make_room(next, step->gap, reached);
	if (!room)
		return;
	step_lay_out(clusters, partial, step, &extents);
	*room = (struct partial){ .extents = extents,
		.joint = step->at,
		.reached = reached,
		.seen = search->bench->seen,
		.tail = partial->tail };
}

/* There is work for something else. */
static void give_work(struct search *search, uint64_t work)
{
	search->is_spent |= search->bench->exhausted;
	search->bench->work_left += work;
	search->bench->exhausted = false;
}

/* ---- content ------------------------------------------------------------------------------- */

/* What the partial file's content looks like, for steps that lead far. */
static struct affinity *learn(struct search *search, const struct partial *partial, uint64_t length)
{
	struct affinity *affinity = affinity_new(search->bench);

	affinity_learn_file(affinity, search->bench, &partial->extents, 0, length);
	return affinity;
}

/* Where a partial file's content changes after its last joint, before it is followed. */
static void find_change(struct search *search, struct partial *partial)
{
	struct workbench *bench = search->bench;

	search->current = NULL;
	if (partial->same)
		return;
	partial->same = affinity_same(
		bench, &partial->extents, partial->joint + bench->clusters->size, partial->reached);
}

static void forget(struct search *search)
{
	affinity_free(search->affinity);
	affinity_free(search->before);
	search->affinity = search->before = NULL;
	continuations_free(search->continuations);
	search->continuations = NULL;
}

/* Whether another file likely has the cluster. What the file itself seemed to have may come later in it. */
static bool is_of_another(const struct search *search, uint64_t target)
{
	const struct broken *broken = search->broken;

	return clusters_is_head(search->bench->clusters, target) &&
	       (target < broken->start || target >= broken->start + broken->length);
}

/* Whether what a step leads to looks like the content of others, or a file begins there or before that
 * has it. Before a change of the content it need not look like what is after it. */
static bool is_unlikely(
	struct search *search, const struct partial *partial, const struct step *step)
{
	struct workbench *bench = search->bench;
	uint64_t target = step_target(bench->clusters, partial, step);
	struct affinity **affinity =
		step->at <= partial->same ? &search->before : &search->affinity;

	if (target == UINT64_MAX || is_of_another(search, target))
		return true;
	if (!*affinity)
		*affinity = learn(search, partial,
			step->at <= partial->same ? partial->same : partial->reached);
	return affinity_is_unlikely(*affinity, bench, target);
}

/* ---- steps --------------------------------------------------------------------------------- */

/* Whether a layout is complete with less than what seemed to be the file's before: a few zeros may be a
 * format's end. */
static bool is_shorter(const struct search *search, const struct joining *joining)
{
	return joining->outcome.length < search->broken->length &&
	       search->broken->verdict == CARVE_TRUNCATED && joining->bits < EXACT_BITS;
}

/* True: a layout was proved, and is search->best; or a joint, and search->proved is what it leads to. */
static bool try_step(struct search *search, const struct partial *partial, const struct step *step,
	struct beam *next)
{
	uint64_t tested = search->bench->tested;
	struct joining joining;

	if (!joining_try(search->bench, partial, step, &joining)) {
		if (search->bench->tested != tested)
			notice_add(&search->notice, search->bench, step->at);
		note_guess(search, partial, step);
		offer(search, partial, step, next);
		return next && search->bench->tested != tested &&
		       is_proved_step(search, partial, step);
	}
	if (!joining.is_proved && (search->best.extents.count || is_shorter(search, &joining))) {
		joining_free(&joining);
		return false;
	}
	joining_free(&search->best);
	search->best = joining;
	search->step = *step;
	copy_partial(&search->from, partial);
	return joining.is_proved;
}

/* Where the last piece ends in the evidence. */
static uint64_t end_of(const struct joining *joining)
{
	const struct range *last = &joining->extents.runs[joining->extents.count - 1];

	return last->offset + last->length;
}

/* Text and the like is accepted as well without the first clusters of the last piece, and the gaps are not
 * tried in the order of the clusters: takes those before that look like the file's. */
static void extend_back(struct search *search)
{
	const struct clusters *clusters = search->bench->clusters;
	struct step step = search->step;

	for (unsigned n = 0; n < EXTEND_MAX && !search->best.is_proved; n++) {
		struct joining joining;

		step.gap -= (int64_t)clusters->size;
		if (!step.gap || is_unlikely(search, &search->from, &step) ||
			!joining_try(search->bench, &search->from, &step, &joining))
			return;
		if (end_of(&joining) != end_of(&search->best)) {
			joining_free(&joining);
			return;
		}
		joining_free(&search->best);
		search->best = joining;
		search->step = step;
	}
}

/* Judges what was accepted. One that is doubtful is forgotten, and the search goes on for one of which
 * something proves the joints; after some of them it ends, as the carver accepts nearly anything. True: the
 * search ends. */
static bool judge(struct search *search)
{
	struct workbench *bench = search->bench;
	const struct clusters *clusters = bench->clusters;

	if (!search->best.extents.count)
		return false;
	give_work(search, search->reserve);
	extend_back(search);
	bench->clusters = search->clusters;
	search->is_found = joining_judge(bench, &search->from, &search->best, search->assembly) &&
			   (!search->judged || search->best.bits >= EXACT_BITS) &&
			   !((bench->takes_unverified || search->plan->only_sure) &&
				   search->assembly->doubt_count);
	bench->clusters = clusters;
	if (search->is_found)
		return true;
	joining_free(&search->best);
	search->assembly->doubt_count = 0;
	search->reserve = bench->work_left / JUDGE_SHARE;
	bench->work_left -= search->reserve;
	return ++search->judged == JUDGED_MAX;
}

/* Makes ready for steps from a partial file, unless the last ones were from it. */
static void turn_to(struct search *search, const struct partial *partial)
{
	if (search->current == partial)
		return;
	search->current = partial;
	forget(search);
	workbench_prepare(search->bench, &partial->extents);
	search->continuations = continuations_new(search->bench, partial);
}

static bool search_cells(struct search *search, const struct partial *begin, unsigned pieces);

/* If wrong bytes would hardly have been accepted for as many bytes as follow the last joint of the best one
 * in a beam, it is followed before anything else is tried, with half of the work or more. True: the search ends. */
static bool follow_best(
	struct search *search, const struct partial *partial, struct beam *beam, unsigned pieces)
{
	struct workbench *bench = search->bench;
	struct partial best = { 0 };
	uint64_t kept, bits;
	bool ends;

	if (!beam || !beam->count || beam->items[0].was_followed)
		return false;
	bits = notice_bits(&search->notice, beam->items[0].reached - beam->items[0].joint);
	if (bits < FOLLOW_BITS)
		return false;
	beam->items[0].was_followed = true;
	copy_partial(&best, &beam->items[0]);
	kept = bench->work_left / (FOLLOW_BITS + bits) * FOLLOW_BITS;
	bench->work_left -= kept;
	find_change(search, &best);
	ends = search_cells(search, &best, pieces - 1);
	give_work(search, kept);
	partial_free(&best);
	search->current = NULL;
	if (!ends)
		turn_to(search, partial);
	return ends;
}

/* ---- ahead --------------------------------------------------------------------------------- */

#define AHEAD_PER_THREAD 12 /* trials that are made ahead, for each thread that makes them */
#define AHEAD_MAX 512
#define AHEAD_LEAST 4       /* fewer are made sooner by the thread itself */
#define AHEAD_GROWTH_MAX 16 /* times as many, while at most one in AHEAD_SHARE is tried */
#define AHEAD_SHARE 32

/* What is found ahead of a step's turn. */
struct ahead_step {
	enum answer follows; /* whether the target may follow the break */
	struct workbench_ahead checks;
};

/* Trials of a cell that threads without a file make, before their turn. What they come to is taken as if it had been
 * found in its turn, and only then counted, so that nothing depends on them. */
struct ahead {
	struct search *search;
	const struct partial *partial;
	const struct breaks *breaks;
	const struct cell *cell;
	uint64_t first, end;      /* gaps */
	size_t from, width;       /* breaks */
	struct ahead_step *items; /* width for each gap */
	size_t capacity;
	size_t growth;
};

/* Whether a step would be tried, as far as is known without counting anything. */
static bool seems_worth(const struct ahead *ahead, const struct step *step, struct ahead_step *item)
{
	const struct search *search = ahead->search;
	const struct workbench *bench = search->bench;
	const struct affinity *affinity =
		step->at <= ahead->partial->same ? search->before : search->affinity;
	uint64_t target = step_target(bench->clusters, ahead->partial, step);

	item->follows = continuations_ask(search->continuations, step);
	return affinity && item->follows == ANSWER_YES &&
	       (is_of_another(search, target) || affinity_ask(affinity, bench, target) ==
							 ANSWER_YES) == ahead->cell->is_unlikely;
}

/* The gap with this number of a cell. */
static bool cell_gap(const struct clusters *clusters, const struct partial *partial,
	const struct cell *cell, uint64_t number, int64_t *gap)
{
	if (cell->ring != RING_TAIL)
		return ring_gap(clusters, cell->ring, number, gap);
	return !number && tail_gap(clusters, partial, gap);
}

static void try_ahead(void *context, size_t part, struct view *view)
{
	const struct ahead *ahead = context;
	struct workbench bench = *ahead->search->bench;
	struct step step = { .at = ahead->breaks->items[ahead->from + part % ahead->width] };

	if (!cell_gap(bench.clusters, ahead->partial, ahead->cell,
		    ahead->first + part / ahead->width, &step.gap) ||
		!seems_worth(ahead, &step, &ahead->items[part]))
		return;
	ahead->items[part].checks.at = step.at;
	bench.view = view;
	bench.ahead = NULL;
	bench.noted = &ahead->items[part].checks;
	bench.heads.extents = (struct extents){ 0 };
	joining_look_ahead(&bench, ahead->partial, &step);
	extents_free(&bench.heads.extents);
}

static void forget_ahead(struct ahead *ahead)
{
	for (size_t i = 0; i < (ahead->end - ahead->first) * ahead->width; i++) {
		workbench_forget(&ahead->items[i].checks);
		ahead->items[i].follows = ANSWER_NONE;
	}
	ahead->first = ahead->end = 0;
}

/* How many steps of these gaps may be worth a trial. */
static size_t count_open(const struct ahead *ahead, uint64_t gap, size_t count)
{
	const struct search *search = ahead->search;
	const uint64_t *breaks = ahead->breaks->items + ahead->from;
	size_t open = 0;

	for (uint64_t end = gap + count; gap < end; gap++) {
		struct step step;

		if (!cell_gap(search->bench->clusters, ahead->partial, ahead->cell, gap, &step.gap))
			break;
		for (size_t b = 0; b < ahead->width; b++) {
			step.at = breaks[b];
			open += continuations_is_open(search->continuations, &step);
		}
	}
	return open;
}

/* While nothing is tried, most is refused at a look, which is soon done: then more is looked at together. */
static void set_growth(struct ahead *ahead, size_t count)
{
	size_t tried = 0;

	for (size_t i = 0; i < count; i++)
		tried += ahead->items[i].checks.count != 0;
	ahead->growth = tried * AHEAD_SHARE > count        ? 1
			: ahead->growth < AHEAD_GROWTH_MAX ? 2 * ahead->growth
							   : AHEAD_GROWTH_MAX;
}

/* Has trials from this gap on made, if threads wait. Not for the first, which learns what decides. */
static void look_ahead(struct ahead *ahead, uint64_t gap)
{
	struct workbench *bench = ahead->search->bench;
	size_t trials = helpers_idle(bench->helpers), count;

	if (!trials || !gap || gap < ahead->end || !ahead->width || !workbench_goes_on(bench) ||
		!count_open(ahead, gap, 1))
		return;
	trials = (trials + 1) * AHEAD_PER_THREAD;
	trials = (trials < AHEAD_MAX ? trials : AHEAD_MAX) * ahead->growth;
	count = trials / ahead->width + 1;
	if (count_open(ahead, gap, count) < AHEAD_LEAST)
		return;
	forget_ahead(ahead);
	ahead->first = gap;
	ahead->end = gap + count;
	count *= ahead->width;
	if (count > ahead->capacity) {
		free(ahead->items);
		ahead->items = xcalloc(count, sizeof(*ahead->items));
		ahead->capacity = count;
	}
	helpers_share(bench->helpers, bench->view, count, try_ahead, ahead);
	set_growth(ahead, count);
}

/* What was made ahead of a step, or NULL. */
static const struct ahead_step *find_ahead(const struct ahead *ahead, uint64_t gap, size_t b)
{
	return gap >= ahead->first && gap < ahead->end
		       ? &ahead->items[(gap - ahead->first) * ahead->width + b - ahead->from]
		       : NULL;
}

/* ---- cells --------------------------------------------------------------------------------- */

/* The steps of a cell from a partial file. True: the search ends. Nearby all are tried, as a later one
 * may be proved. */
static bool try_steps(struct search *search, const struct partial *partial,
	const struct breaks *breaks, const struct cell *cell, struct beam *next, unsigned pieces,
	struct ahead *ahead)
{
	const struct clusters *clusters = search->bench->clusters;
	bool is_near = cell->ring == RING_NEAR || cell->ring == RING_TAIL, ends;
	size_t from = ahead->from, to = from + ahead->width;
	struct step step;

	for (uint64_t n = 0;
		workbench_goes_on(search->bench) && cell_gap(clusters, partial, cell, n, &step.gap);
		n++) {
		bool is_refused = continuations_skip(
			search->continuations, breaks->items + from, to - from, step.gap);

		if (!is_refused)
			look_ahead(ahead, n);
		for (size_t b = is_refused ? to : from; b < to; b++) {
			const struct ahead_step *known = find_ahead(ahead, n, b);

			step.at = breaks->items[b];
			if (!continuations_may_follow(search->continuations, &step,
				    known ? known->follows : ANSWER_NONE))
				continue;
			if (cell->ring != RING_TAIL &&
				is_unlikely(search, partial, &step) != cell->is_unlikely)
				continue;
			search->bench->ahead = known ? &known->checks : NULL;
			ends = try_step(search, partial, &step, next);
			search->bench->ahead = NULL;
			if (ends)
				return search->proved.extents.count || judge(search);
			if (!is_near && judge(search))
				return true;
		}
		if ((n + 1) % FOLLOW_EVERY == 0 && follow_best(search, partial, next, pieces))
			return true;
	}
	return judge(search) || follow_best(search, partial, next, pieces);
}

/* Leaves out the breaks of a zone with which all trials would be refused before the break. */
static void drop_hopeless(struct search *search, const struct partial *partial,
	struct breaks *breaks, enum break_zone zone)
{
	size_t kept = zone ? breaks->ends[zone - 1] : 0, from = kept, to = breaks->ends[zone];

	for (size_t b = from; b < to; b++)
		if (workbench_may_break(
			    search->bench, &partial->extents, breaks->items[b], partial->reached))
			breaks->items[kept++] = breaks->items[b];
	for (size_t b = to; b < breaks->count; b++)
		breaks->items[kept + b - to] = breaks->items[b];
	breaks->count -= to - kept;
	for (size_t z = zone; z < ZONE_COUNT; z++)
		breaks->ends[z] -= to - kept;
}

static bool try_cell(struct search *search, const struct partial *partial, struct breaks *breaks,
	const struct cell *cell, struct beam *next, unsigned pieces)
{
	struct ahead ahead = {
		.search = search, .partial = partial, .breaks = breaks, .cell = cell, .growth = 1
	};
	bool ends;

	drop_hopeless(search, partial, breaks, cell->zone);
	ahead.from = cell->zone ? breaks->ends[cell->zone - 1] : 0;
	ahead.width = breaks->ends[cell->zone] - ahead.from;
	if (!ahead.width)
		return judge(search) || follow_best(search, partial, next, pieces);
	ends = try_steps(search, partial, breaks, cell, next, pieces, &ahead);

	forget_ahead(&ahead);
	free(ahead.items);
	return ends;
}

/* The steps of some cells from a partial file. True: a layout was accepted. */
static bool try_cells(struct search *search, const struct partial *partial,
	const struct cell *cells, size_t count, struct beam *next, unsigned pieces)
{
	struct breaks breaks;
	bool found = false;

	breaks_find(search->bench->clusters, partial, &breaks);
	turn_to(search, partial);
	for (size_t i = 0; i < count && !found && workbench_goes_on(search->bench); i++)
		found = try_cell(search, partial, &breaks, &cells[i], next, pieces);
	breaks_free(&breaks);
	return found;
}

/* Steps of some cells from the partial files of a beam, and from what they lead to. True: a layout was
 * accepted. */
static bool follow(struct search *search, struct beam *beam, const struct cell *cells, size_t count,
	unsigned pieces)
{
	struct beam next = { 0 };
	bool found = false;

	for (size_t i = 0; i < beam->count && !found; i++) {
		if (beam->items[i].was_followed)
			continue;
		find_change(search, &beam->items[i]);
		found = try_cells(
			search, &beam->items[i], cells, count, pieces > 1 ? &next : NULL, pieces);
	}
	if (!found && next.count)
		found = follow(search, &next, cells, count, pieces - 1);
	beam_free(&next);
	return found;
}

/* One cell after the other, the first ones for two pieces before any for more. What steps from the file as
 * it was found lead to is kept for all later ones. True: the search ends. */
static bool search_cells(struct search *search, const struct partial *begin, unsigned pieces)
{
	const struct cell *cells = search->plan->cells;
	size_t tried = search->plan->first;
	struct beam first = { 0 };
	bool ends = false;

	for (size_t i = 0; i < search->plan->count && !ends && workbench_goes_on(search->bench);
		i++) {
		uint64_t changes = first.changes;
		size_t from;

		ends = try_cells(search, begin, &cells[i], 1, pieces > 2 ? &first : NULL, pieces);
		if (i + 1 < tried)
			continue;
		/* From the same partial files the cells before were tried already. */
		from = first.changes == changes && i + 1 > tried ? i : 0;
		if (!ends && first.count)
			ends = follow(search, &first, &cells[from], i + 1 - from, pieces - 2);
	}
	beam_free(&first);
	return ends;
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
	/* A thorough check may notice something earlier than the scan did. */
	if (bench->reached > partial->reached || bench->verdict == CARVE_TRUNCATED)
		partial->reached = bench->reached;
	partial->seen = bench->seen;
	if (step.at)
		try_step(search, partial, &step, NULL);
	return judge(search);
}

/* How far a layout must go that cannot be complete: further than the file did as it was found, if it broke off
 * there. One that ends within a cluster may have ended there. */
static uint64_t least_of_guess(const struct workbench *bench, const struct broken *broken)
{
	uint64_t size = bench->clusters->size, begun = size / BEGUN_SHARE;

	if (begun < BEGUN_MIN)
		begun = BEGUN_MIN;
	if (broken->verdict == CARVE_TRUNCATED)
		return broken->length;
	if (broken->verdict == CARVE_UNVERIFIED && broken->length % size < begun)
		return broken->length + begun;
	return UINT64_MAX;
}

/* Takes a layout that is not complete. */
static bool take_guess(struct search *search, const struct guess *guess)
{
	if (!guess->reached)
		return false;
	give_work(search, search->reserve);
	search->reserve = 0;
	forget(search);
	search->bench->takes_unverified = true;
	search->step = guess->step;
	copy_partial(&search->from, &guess->from);
	return joining_try(search->bench, &guess->from, &guess->step, &search->best);
}

/* Judges the best of the layouts that are not complete, those of few pieces first: where one is missing the file seems to
 * end soon after a cluster's begin, and others' pieces can be added to any. */
static void judge_guesses(struct search *search)
{
	unsigned judged = search->judged;

	for (size_t i = 0; i < GUESSES && !search->is_found; i++) {
		search->judged = judged;
		if (take_guess(search, &search->guesses[i]))
			judge(search);
	}
}

/* Searches from the file as it was found, and then from each joint that is proved: nothing else can be right.
 * True: the search ends. */
static bool search_from(struct search *search, const struct broken *broken)
{
	unsigned pieces = search->plan->pieces;
	struct partial begin;
	bool ends;

	if (!partial_begin(search->bench->clusters, broken, search->tail, &begin)) {
		partial_free(&begin);
		return false;
	}
	workbench_prepare(search->bench, &begin.extents);
	ends = look(search, &begin);
	find_change(search, &begin);
	ends = ends || search_cells(search, &begin, pieces);
	while (search->proved.extents.count) {
		partial_free(&begin);
		begin = search->proved;
		search->proved = (struct partial){ 0 };
		find_change(search, &begin);
		ends = search_cells(search, &begin, pieces);
	}
	partial_free(&begin);
	return ends;
}

/* The same, as if clusters were of the usual size: where an image has several volumes, those found may be the
 * smallest. That takes a small part of the work. */
static bool search_coarsely(struct search *search, const struct broken *broken)
{
	struct workbench *bench = search->bench;
	struct clusters coarse = *bench->clusters;
	uint64_t kept = bench->work_left - bench->work_left / COARSE_SHARE;
	bool ends;

	if (coarse.size >= USUAL_CLUSTER || search->tail)
		return false;
	coarse.size = USUAL_CLUSTER;
	coarse.origin = broken->start % USUAL_CLUSTER;
	bench->clusters = &coarse;
	bench->work_left -= kept;
	ends = search_from(search, broken);
	give_work(search, kept);
	bench->clusters = search->clusters;
	return ends;
}

static bool search_file(struct workbench *bench, const struct broken *broken,
	const struct tail *tail, const struct plan *plan, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	uint64_t least = tail              ? tail->from
			 : plan->only_sure ? UINT64_MAX
					   : least_of_guess(bench, broken);
	struct search search = { .bench = bench,
		.broken = broken,
		.tail = tail,
		.plan = plan,
		.clusters = bench->clusters,
		.assembly = assembly,
		.reserve = bench->work_left / JUDGE_SHARE,
		.least = least };

	if (broken->start % bench->clusters->size != bench->clusters->origin)
		return false; /* inside another file */
	bench->work_left -= search.reserve;
	if (!search_coarsely(&search, broken) && !search_from(&search, broken))
		judge_guesses(&search);
	if (search.is_found) {
		*extents = search.best.extents;
		*outcome = search.best.outcome;
	} else {
		joining_free(&search.best);
	}
	partial_free(&search.from);
	for (size_t i = 0; i < GUESSES; i++)
		partial_free(&search.guesses[i].from);
	forget(&search);
	workbench_end(bench);
	bench->exhausted |= search.is_spent;
	return search.is_found;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

bool find_near(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	static const struct cell cells[] = { { RING_NEAR, ZONE_HERE, false },
		{ RING_NEAR, ZONE_CHANGE, false }, { RING_NEAR, ZONE_NEXT, false },
		{ RING_NEAR, ZONE_HERE, true }, { RING_NEAR, ZONE_NEXT, true },
		{ RING_NEAR, ZONE_CLOSE, false }, { RING_NEAR, ZONE_BEFORE, false },
		{ RING_NEAR, ZONE_AFTER, false }, { RING_NEAR, ZONE_CLOSE, true },
		{ RING_NEAR, ZONE_BEFORE, true }, { RING_NEAR, ZONE_AFTER, true } };
	static const struct plan plan = { cells, COUNT(cells), 3, 2, true };

	/* What only lacks an end may be whole, and heads that were rejected are nearly all false. */
	if (broken->verdict != CARVE_TRUNCATED)
		return false;
	return search_file(bench, broken, NULL, &plan, extents, outcome, assembly);
}

bool find_anywhere(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	static const struct cell cells[] = { { RING_NEAR, ZONE_HERE, false },
		{ RING_NEAR, ZONE_CHANGE, false }, { RING_BOTH, ZONE_HERE, false },
		{ RING_NEAR, ZONE_NEXT, false }, { RING_BOTH, ZONE_CHANGE, false },
		{ RING_BOTH, ZONE_NEXT, false }, { RING_NEAR, ZONE_HERE, true },
		{ RING_NEAR, ZONE_NEXT, true }, { RING_BOTH, ZONE_HERE, true },
		{ RING_BOTH, ZONE_NEXT, true }, { RING_NEAR, ZONE_CLOSE, false },
		{ RING_NEAR, ZONE_BEFORE, false }, { RING_BOTH, ZONE_CLOSE, false },
		{ RING_BOTH, ZONE_BEFORE, false }, { RING_WIDE, ZONE_HERE, false },
		{ RING_WIDE, ZONE_NEXT, false }, { RING_NEAR, ZONE_AFTER, false },
		{ RING_NEAR, ZONE_CLOSE, true }, { RING_ALL, ZONE_HERE, false },
		{ RING_ALL, ZONE_NEXT, false }, { RING_BOTH, ZONE_AFTER, false } };
	static const struct plan plan = { cells, COUNT(cells), 3, PIECES_MAX, false };

	return search_file(bench, broken, NULL, &plan, extents, outcome, assembly);
}

/* First what is whole with two pieces: a carver that finds no such file complete finds the right one plausible. */
bool find_before_tail(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	static const struct cell cells[] = { { RING_TAIL, ZONE_HERE, false },
		{ RING_TAIL, ZONE_CHANGE, false }, { RING_TAIL, ZONE_NEXT, false },
		{ RING_TAIL, ZONE_CLOSE, false }, { RING_TAIL, ZONE_BEFORE, false },
		{ RING_TAIL, ZONE_AFTER, false }, { RING_NEAR, ZONE_HERE, false },
		{ RING_NEAR, ZONE_CHANGE, false }, { RING_BOTH, ZONE_HERE, false },
		{ RING_NEAR, ZONE_NEXT, false }, { RING_BOTH, ZONE_NEXT, false },
		{ RING_NEAR, ZONE_HERE, true }, { RING_NEAR, ZONE_CLOSE, false },
		{ RING_BOTH, ZONE_HERE, true }, { RING_NEAR, ZONE_BEFORE, false } };
	static const struct plan two = { cells, 6, 6, 2, false },
				 more = { cells, COUNT(cells), 11, PIECES_MAX, false };
	struct tail tail;

	return mapping_find_tail(bench, broken, &tail) &&
	       (search_file(bench, broken, &tail, &two, extents, outcome, assembly) ||
		       search_file(bench, broken, &tail, &more, extents, outcome, assembly));
}
