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
#include "assemble/steps.h"

#include "assemble/trials_ahead.h"
#include "assemble/beam.h"
#include "assemble/guesses.h"
#include "assemble/joining.h"

#define FOLLOW_EVERY 32 /* gaps, after which the best of a beam may be followed at once... */
#define FOLLOW_BITS 20  /* ...if that many bits speak for its last joint */
#define CHANCE_BITS 3   /* fewer that speak for a joint may be chance */
#define JUDGE_SHARE 4   /* of the work is kept for judging what was found */
#define JUDGED_MAX 4    /* doubtful layouts of a file */
#define RECORD_LEN 1024
#define BRIEF_SHARE 8                 /* of the work is for a cell that is tried briefly */
#define WEAK_FIT 8                    /* bits, fewer of which show little */
#define POOR_FIT 2                    /* bits, with fewer of which content does not fit... */
#define LIKELIER_FIT 4                /* bits more with which another layout is likelier */
#define LOOK_AFTER 1536               /* bytes accepted after a joint before it is looked at... */
#define LOOK_SHARE 4                  /* ...which takes that part of the work at most... */
#define LOOK_LEN ((uint64_t)64 << 10) /* ...and bytes after it that are looked at */
#define EXTEND_MAX 64                 /* clusters by which the last piece may begin earlier */
#define COARSE_SHARE 4                /* of the work is for clusters of the usual size */

struct search {
	struct workbench *bench;
	const struct broken *broken;
	const struct tail *tail; /* or NULL */
	const struct plan *plan;
	const struct clusters *clusters; /* as they are; bench may have larger ones */
	struct assembly *assembly;
	uint64_t reserve;              /* work that is kept for judging */
	uint64_t look_most, look_left; /* work that may be spent on whether content fits */
	unsigned judged;               /* layouts that were accepted, and found to be doubtful */
	bool had_poor;                 /* one whose content does not fit was judged */
	bool is_found;                 /* search->best is judged */
	bool is_spent;                 /* not all trials could be made */
	const struct partial *current; /* that is being followed; NULL: another one than before */
	struct likeness likeness;      /* of what steps from it lead to */
	struct continuations *continuations; /* of its breaks; NULL: not made yet */
	struct notice notice;                /* of the trials */
	struct joining best; /* not proved, the first one accepted; without extents: none */
	/* The likeliest of the layouts that were judged to be possible, but whose content does not fit well at a joint;
	 * without extents: none. */
	struct joining weak;
	struct assembly weak_assembly;
	struct partial from;   /* what it is a step from... */
	struct step step;      /* ...and which */
	struct partial proved; /* without extents: none; a check covers its last joint */
	struct guesses guesses;
};

/* ---- partial files ------------------------------------------------------------------------- */

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

/* Whether the content fits at the joint of a step after which much was accepted: what other files have may be accepted for
 * longer than a short piece of this one. is_new: it leads to another piece than what is known; only most of what may be
 * spent is for those that enter the same one elsewhere. */
static bool content_fits(
	struct search *search, const struct step *step, const struct extents *extents, bool is_new)
{
	struct workbench *bench = search->bench;
	uint64_t left = bench->work_left, least = is_new ? 1 : search->look_most / LOOK_SHARE;
	struct extents start = { 0 };
	bool fits;

	if (!bench->rule->carver->joint || bench->reached < step->at + LOOK_AFTER ||
		search->look_left < least)
		return false;
	extents_set(&start, extents->runs, extents->count);
	extents_cut(&start, step->at + LOOK_LEN);
	workbench_open(bench, &start);
	fits = workbench_fit(bench, step->at, UINT64_MAX) >= WEAK_FIT;
	workbench_close(bench);
	extents_free(&start);
	left -= bench->work_left;
	search->look_left -= left < search->look_left ? left : search->look_left;
	return fits;
}

/* The step was refused: it may have brought the file a piece further. */
static void offer(struct search *search, const struct partial *partial, const struct step *step,
	struct beam *next)
{
	const struct clusters *clusters = search->bench->clusters;
	uint64_t reached = search->bench->reached, seen = search->bench->seen, end;
	struct extents extents = { 0 };
	struct partial *room;
	bool fits;

	if (!next || !is_further(search->bench, partial, step))
		return;
	step_lay_out(clusters, partial, step, &extents);
	end = extents_place(&extents, reached) / clusters->size;
	fits = content_fits(search, step, &extents, !beam_has_piece(next, step->gap, end));
	room = beam_room(next, step->gap, end, reached, fits);
	if (!room) {
		extents_free(&extents);
		return;
	}
	*room = (struct partial){ .extents = extents,
		.joint = step->at,
		.reached = reached,
		.seen = seen,
		.fits = fits,
		.tail = partial->tail };
}

/* There is work for something else. */
static void give_work(struct search *search, uint64_t work)
{
	search->is_spent |= search->bench->exhausted;
	search->bench->work_left += work;
	search->bench->exhausted = false;
}

/* Leaves out the breaks of which a check in the partial file itself covers both sides. */
static void drop_proved(struct search *search, struct partial *partial)
{
	struct breaks *breaks = &partial->breaks;
	struct workbench *bench = search->bench;
	struct extents extents = { 0 };
	struct outcome outcome;

	extents_set(&extents, partial->extents.runs, partial->extents.count);
	for (size_t i = 0; i < breaks->count; i++)
		extents_split(&extents, breaks->items[i]);
	if (workbench_look(bench, &extents, &outcome)) {
		outcome_free(&outcome);
		for (size_t i = breaks->count; i > 0; i--)
			if (workbench_proof(bench, breaks->items[i - 1]) >= PROOF_BITS)
				breaks_drop(breaks, i - 1);
	}
	extents_free(&extents);
}

/* Before a partial file is followed: where its content changes after its last joint, and where it may break off. */
static void get_ready(struct search *search, struct partial *partial)
{
	struct workbench *bench = search->bench;

	search->current = NULL;
	if (partial->breaks.items)
		return;
	if (!partial->same)
		partial->same = affinity_same(bench, &partial->extents,
			partial->joint + bench->clusters->size, partial->reached);
	partial_find_breaks(bench->clusters, partial);
	drop_proved(search, partial);
}

static void forget(struct search *search)
{
	likeness_forget(&search->likeness);
	continuations_free(search->continuations);
	search->continuations = NULL;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* Whether a layout is complete with less than what seemed to be the file's before: a few zeros may be a
 * format's end. */
static bool is_shorter(const struct search *search, const struct joining *joining)
{
	return joining->outcome.length < search->broken->length &&
	       search->broken->verdict == CARVE_TRUNCATED && joining->bits < EXACT_BITS;
}

/* Bits of the joint at which the content fits least. */
static uint32_t least_fit(const struct joining *joining)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i + 1 < joining->extents.count; i++)
		if (joining->joint_bits[i].fit < least)
			least = joining->joint_bits[i].fit;
	return least;
}

/* Whether nothing but how well the content fits tells layouts apart. */
static bool takes_likely(const struct search *search)
{
	const struct carver *carver = search->bench->rule->carver;

	return carver->joint && carver->lasts;
}

/* Whether the content of a layout fits better than that of the best one so far. */
static bool is_likelier(const struct search *search, const struct joining *joining)
{
	return takes_likely(search) &&
	       least_fit(joining) >= least_fit(&search->best) + LIKELIER_FIT;
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
		guesses_note(&search->guesses, search->bench, partial, step);
		offer(search, partial, step, next);
		return next && search->bench->tested != tested &&
		       is_proved_step(search, partial, step);
	}
	if (!joining.is_proved && ((search->best.extents.count && !is_likelier(search, &joining)) ||
					  is_shorter(search, &joining))) {
		joining_free(&joining);
		return false;
	}
	joining_free(&search->best);
	search->best = joining;
	search->step = *step;
	partial_copy(&search->from, partial);
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
		if (!step.gap || likeness_is_unlikely(&search->likeness, &search->from, &step) ||
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

/* Whether content that can be compared at joints does not show that the best layout is right: then another one may be. */
static bool is_weak(const struct search *search)
{
	const struct carver *carver = search->bench->rule->carver;

	return carver->joint && !search->best.is_proved &&
	       !workbench_is_proof(search->bench, search->assembly->evidence) &&
	       least_fit(&search->best) < WEAK_FIT;
}

/* Keeps the best layout for the end of the search, unless a likelier one is kept. */
static void keep_weak(struct search *search)
{
	if (search->weak.extents.count && least_fit(&search->weak) >= least_fit(&search->best))
		return;
	joining_free(&search->weak);
	search->weak = search->best;
	search->best = (struct joining){ 0 };
	search->weak_assembly = *search->assembly;
}

/* Takes what was kept. */
static void take_weak(struct search *search)
{
	joining_free(&search->best);
	search->best = search->weak;
	search->weak = (struct joining){ 0 };
	*search->assembly = search->weak_assembly;
	search->is_found = true;
}

/* Judges what was accepted. One that is doubtful is forgotten, and the search goes on for one of which
 * something proves the joints; after some of them it ends, as the carver accepts nearly anything. True: the
 * search ends. */
static bool judge(struct search *search)
{
	struct workbench *bench = search->bench;
	const struct clusters *clusters = bench->clusters;
	bool is_poor;

	if (!search->best.extents.count)
		return false;
	is_poor = takes_likely(search) && least_fit(&search->best) < POOR_FIT;
	if (is_poor && search->had_poor) {
		joining_free(&search->best);
		return false;
	}
	search->had_poor |= is_poor;
	give_work(search, search->reserve);
	extend_back(search);
	bench->clusters = search->clusters;
	search->is_found =
		joining_judge(bench, &search->from, &search->best, search->assembly) &&
		(!search->judged || search->best.bits >= EXACT_BITS ||
			(takes_likely(search) && least_fit(&search->best) >= LIKELIER_FIT)) &&
		!((bench->takes_unverified || search->plan->only_sure) &&
			search->assembly->doubt_count);
	bench->clusters = clusters;
	if (search->is_found && !is_weak(search))
		return true;
	if (search->is_found)
		keep_weak(search);
	search->is_found = false;
	joining_free(&search->best);
	search->assembly->doubt_count = 0;
	search->reserve = bench->work_left / JUDGE_SHARE;
	bench->work_left -= search->reserve;
	return !is_poor && ++search->judged == JUDGED_MAX;
}

/* Makes ready for steps from a partial file, unless the last ones were from it. */
static void turn_to(struct search *search, const struct partial *partial)
{
	if (search->current == partial)
		return;
	search->current = partial;
	forget(search);
	workbench_prepare(search->bench, &partial->extents, partial->joint);
	search->continuations = continuations_new(search->bench, partial);
}

static bool search_cells(struct search *search, struct partial *begin, unsigned pieces);

/* If wrong bytes would hardly have been accepted for as many bytes as follow the last joint of the best one
 * in a beam, it is followed before anything else is tried, with half of the work or more. True: the search ends. */
static bool follow_best(
	struct search *search, const struct partial *partial, struct beam *beam, unsigned pieces)
{
	struct workbench *bench = search->bench;
	struct partial best = { 0 };
	uint64_t kept, bits, refused, bytes;
	bool ends;

	if (!beam || !beam->count || beam->items[0].was_followed)
		return false;
	refused = code_breaks_take_refused(search->likeness.codes, &bytes);
	notice_add_refused(&search->notice, refused, bytes);
	bits = notice_likely_bits(&search->notice, beam->items[0].reached - beam->items[0].joint);
	if (bits < FOLLOW_BITS)
		return false;
	beam->items[0].was_followed = true;
	partial_copy(&best, &beam->items[0]);
	kept = bench->work_left / (FOLLOW_BITS + bits) * FOLLOW_BITS;
	bench->work_left -= kept;
	get_ready(search, &best);
	ends = search_cells(search, &best, pieces - 1);
	give_work(search, kept);
	partial_free(&best);
	search->current = NULL;
	if (!ends)
		turn_to(search, partial);
	return ends;
}

/* ---- cells --------------------------------------------------------------------------------- */

/* The steps of a gap. True: the search ends. Nearby all are tried, as a later one may be proved. */
static bool try_gap(struct search *search, const struct steps_ahead *steps, uint64_t number,
	int64_t gap, struct beam *next, struct trials_ahead *ahead)
{
	const struct partial *partial = steps->partial;
	const struct cell *cell = steps->cell;
	bool is_known = cell->ring == RING_TAIL || cell->ring == RING_END, ends;

	if (continuations_skip(search->continuations, steps->breaks, steps->width, gap))
		return false;
	trials_ahead_look(ahead, number);
	for (size_t b = 0; b < steps->width; b++) {
		const struct step_ahead *known = trials_ahead_find(ahead, number, b);
		const struct step step = { steps->breaks[b], gap };

		if (!continuations_may_follow(
			    search->continuations, &step, known ? known->follows : ANSWER_NONE))
			continue;
		if (!is_known && likeness_is_unlikely(&search->likeness, partial, &step) !=
					 (cell->kind == UNLIKELY))
			continue;
		search->bench->ahead = known ? &known->checks : NULL;
		ends = try_step(search, partial, &step, next);
		search->bench->ahead = NULL;
		if (ends)
			return search->proved.extents.count || judge(search);
		if (!ring_is_near(cell->ring) && judge(search))
			return true;
	}
	return false;
}

/* Most gaps of a large ring are known to be refused: whether FOLLOW_EVERY of them are. Then they count as tried. */
static bool skip_gaps(const struct search *search, const struct steps_ahead *steps, uint64_t number)
{
	uint64_t distance;

	return steps->cell->kind != UNLIKELY &&
	       cell_is_around(
		       search->bench->clusters, steps->cell, number, FOLLOW_EVERY / 2, &distance) &&
	       continuations_skip_around(search->continuations, steps->breaks, steps->width,
		       distance, FOLLOW_EVERY / 2);
}

/* The steps of a cell from a partial file. True: the search ends. */
static bool try_steps(struct search *search, const struct steps_ahead *steps, struct beam *next,
	unsigned pieces, struct trials_ahead *ahead)
{
	const struct partial *partial = steps->partial;
	const struct clusters *clusters = search->bench->clusters;
	int64_t gap;

	for (uint64_t n = 0; workbench_goes_on(search->bench) &&
			     cell_gap(clusters, partial, steps->cell, n, &gap);
		n++) {
		if (n % FOLLOW_EVERY == 0)
			continuations_expect(search->continuations, steps->breaks, steps->width);
		if (n % FOLLOW_EVERY == 0 && skip_gaps(search, steps, n))
			n += FOLLOW_EVERY - 1;
		else if (try_gap(search, steps, n, gap, next, ahead))
			return true;
		if ((n + 1) % FOLLOW_EVERY == 0 && follow_best(search, partial, next, pieces))
			return true;
	}
	return judge(search) || follow_best(search, partial, next, pieces);
}

/* Leaves out the breaks of a zone with which all trials would be refused before the break. */
static void drop_hopeless(struct search *search, struct partial *partial, enum break_zone zone)
{
	struct breaks *breaks = &partial->breaks;
	size_t from = zone ? breaks->ends[zone - 1] : 0;

	for (size_t i = breaks->ends[zone]; i > from; i--)
		if (!workbench_may_break(search->bench, &partial->extents, breaks->items[i - 1],
			    partial->reached))
			breaks_drop(breaks, i - 1);
}

static bool try_cell(struct search *search, struct partial *partial, const struct cell *cell,
	struct beam *next, unsigned pieces)
{
	const struct breaks *breaks = &partial->breaks;
	struct steps_ahead steps = { .bench = search->bench,
		.likeness = &search->likeness,
		.continuations = &search->continuations,
		.partial = partial,
		.cell = cell };
	struct trials_ahead *ahead;
	size_t from;
	bool ends;

	/* The one trial of a break costs no more than to look whether it is hopeless. */
	if (cell->ring != RING_TAIL)
		drop_hopeless(search, partial, cell->zone);
	from = cell->zone ? breaks->ends[cell->zone - 1] : 0;
	steps.breaks = breaks->items + from;
	steps.width = breaks->ends[cell->zone] - from;
	if (!steps.width)
		return judge(search) || follow_best(search, partial, next, pieces);
	ahead = trials_ahead_new(&steps);
	ends = try_steps(search, &steps, next, pieces, ahead);
	trials_ahead_free(ahead);
	return ends;
}

/* The steps of some cells from a partial file. True: a layout was accepted. */
static bool try_cells(struct search *search, struct partial *partial, const struct cell *cells,
	size_t count, struct beam *next, unsigned pieces)
{
	bool found = false;

	turn_to(search, partial);
	for (size_t i = 0; i < count && !found && workbench_goes_on(search->bench); i++) {
		uint64_t left = search->bench->work_left;
		uint64_t kept = cells[i].kind == BRIEFLY ? left - left / BRIEF_SHARE : 0;

		search->bench->work_left -= kept;
		found = try_cell(search, partial, &cells[i], next, pieces);
		if (kept)
			give_work(search, kept);
	}
	return found;
}

/* Whether wrong bytes are often accepted for as many bytes as follow the last joint. */
static bool is_by_chance(const struct search *search, const struct partial *partial)
{
	return search->notice.trials - search->notice.late >= LIKELY_TRIALS &&
	       notice_likely_bits(&search->notice, partial->reached - partial->joint) < CHANCE_BITS;
}

/* Steps of the first `count` cells from the partial files of a beam that were not tried yet, and from what they lead to. True: a layout was
 * accepted. */
static bool follow(
	struct search *search, struct beam *beam, size_t count, unsigned pieces, bool is_first)
{
	struct beam next = { 0 };
	bool found = false;

	for (size_t i = 0; i < beam->count && !found; i++) {
		struct partial *partial = &beam->items[i];
		size_t tried = partial->tried;

		if (partial->was_followed || tried >= count ||
			(is_first && count <= search->plan->doubted &&
				is_by_chance(search, partial)))
			continue;
		partial->tried = count;
		get_ready(search, partial);
		found = try_cells(search, partial, search->plan->cells + tried, count - tried,
			pieces > 1 ? &next : NULL, pieces);
	}
	if (!found && next.count)
		found = follow(search, &next, count, pieces - 1, false);
	beam_free(&next);
	return found;
}

/* One cell after the other, the first ones for two pieces before any for more. What steps from the file as
 * it was found lead to is kept for all later ones. True: the search ends. */
static bool search_cells(struct search *search, struct partial *begin, unsigned pieces)
{
	const struct plan *plan = search->plan;
	struct beam first = { 0 };
	bool ends = false;

	for (size_t i = 0; i < plan->count && !ends && workbench_goes_on(search->bench); i++) {
		ends = try_cells(
			search, begin, &plan->cells[i], 1, pieces > 2 ? &first : NULL, pieces);
		if (i >= plan->alone && !ends && first.count)
			ends = follow(search, &first, i + 1, pieces - 2, true);
	}
	beam_free(&first);
	return ends;
}

/* How far the carver gets before any step. True: to the end, past complete files that are between, if there are any. */
static bool look(struct search *search, struct partial *partial)
{
	struct workbench *bench = search->bench;
	struct extents extents = { 0 };
	struct outcome outcome;
	struct step step = { 0 };
	bool is_whole = false;

	/* Trials go on from states that were saved after what is looked for. */
	if (workbench_decodes_on(bench) && bench->states.verdict == CARVE_TRUNCATED) {
		partial->reached = partial->seen = bench->states.length;
		return false;
	}
	extents_set(&extents, partial->extents.runs, partial->extents.count);
	bench->looks = true;
	if (workbench_try(bench, &extents, &outcome)) {
		is_whole = extents.count == 1;
		outcome_free(&outcome);
		if (extents.count > 1) {
			step.at = extents.runs[0].length;
			step.gap = (int64_t)(extents.runs[1].offset - extents.runs[0].offset -
					     step.at);
		}
	}
	bench->looks = false;
	extents_free(&extents);
	/* A thorough check may notice something earlier than the scan did. */
	if (bench->reached > partial->reached || bench->verdict == CARVE_TRUNCATED)
		partial->reached = bench->reached;
	partial->seen = bench->seen;
	if (step.at)
		try_step(search, partial, &step, NULL);
	return is_whole || judge(search);
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
	partial_copy(&search->from, &guess->from);
	return joining_try(search->bench, &guess->from, &guess->step, &search->best);
}

/* Judges the best of the layouts that are not complete, those of few pieces first: where one is missing the file seems to
 * end soon after a cluster's begin, and others' pieces can be added to any. */
static void judge_guesses(struct search *search)
{
	unsigned judged = search->judged;

	for (size_t i = 0; i < GUESSES && !search->is_found; i++) {
		search->judged = judged;
		if (take_guess(search, &search->guesses.items[i]))
			judge(search);
	}
}

/* A check while files are put together may find one to have broken off which the scan took as far as it goes: then layouts that
 * go further are likely. */
static void note_break(struct search *search, const struct partial *begin)
{
	if (search->broken->verdict == CARVE_UNVERIFIED && !search->tail &&
		!search->plan->only_sure && search->bench->verdict == CARVE_TRUNCATED &&
		begin->reached < search->guesses.least)
		search->guesses.least = begin->reached;
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
	workbench_prepare(search->bench, &begin.extents, begin.joint);
	ends = look(search, &begin);
	note_break(search, &begin);
	get_ready(search, &begin);
	ends = ends || search_cells(search, &begin, pieces);
	while (search->proved.extents.count) {
		partial_free(&begin);
		begin = search->proved;
		search->proved = (struct partial){ 0 };
		get_ready(search, &begin);
		ends = search_cells(search, &begin, pieces);
	}
	partial_free(&begin);
	return ends;
}

/* The same, as if clusters were of the usual size. That takes a small part of the work. */
static bool search_coarsely(struct search *search, const struct broken *broken)
{
	struct workbench *bench = search->bench;
	struct clusters coarse;
	uint64_t kept = bench->work_left - bench->work_left / COARSE_SHARE;
	bool ends;

	if (search->tail || !clusters_coarsen(bench->clusters, broken->start, &coarse))
		return false;
	bench->clusters = &coarse;
	bench->work_left -= kept;
	ends = search_from(search, broken);
	give_work(search, kept);
	bench->clusters = search->clusters;
	return ends;
}

bool steps_find(struct workbench *bench, const struct broken *broken, const struct tail *tail,
	const struct plan *plan, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	uint64_t least = tail              ? tail->from
			 : plan->only_sure ? UINT64_MAX
					   : guesses_least(bench, broken);
	struct search search = { .bench = bench,
		.broken = broken,
		.tail = tail,
		.plan = plan,
		.clusters = bench->clusters,
		.assembly = assembly,
		.reserve = bench->work_left / JUDGE_SHARE,
		.look_most = bench->work_left / LOOK_SHARE,
		.look_left = bench->work_left / LOOK_SHARE,
		.likeness = { .bench = bench, .broken = broken },
		.guesses.least = least };

	if (broken->start % bench->clusters->size != bench->clusters->origin)
		return false; /* inside another file */
	bench->work_left -= search.reserve;
	bench->tail = tail ? tail->from : 0;
	bench->tail_shift = tail ? tail->shift : 0;
	if (!search_coarsely(&search, broken) && !search_from(&search, broken))
		judge_guesses(&search);
	if (!search.is_found && search.weak.extents.count)
		take_weak(&search);
	if (search.is_found) {
		*extents = search.best.extents;
		*outcome = search.best.outcome;
		search.best = (struct joining){ .joint_bits = search.best.joint_bits };
	}
	joining_free(&search.best);
	joining_free(&search.weak);
	partial_free(&search.from);
	guesses_free(&search.guesses);
	forget(&search);
	workbench_end(bench);
	bench->tail = 0;
	bench->exhausted |= search.is_spent;
	return search.is_found;
}
