/*
 * Between two stretches of a file with different displacements there is a joint, and nowhere else. The
 * joints are searched one after another: a break at any cluster between the stretches is tried, while
 * the later joints are at their latest places, and the carver shows which one is right: best by a
 * check that covers the joint, else by going on past the next stretch. Where an anchor is on both
 * sides of the only break there is, they prove it. Where they are on both sides of several, and the carver decodes
 * what is between, they prove that one which it accepts, if it refuses all others.
 */
#include "assemble/strategies.h"

#include <stdlib.h>

#include "assemble/joining.h"
#include "assemble/mapping.h"
#include "assemble/seam.h"
#include "base/memory.h"

#define SECTOR 512
#define VOTERS_MIN 20     /* files from whose places the size of clusters is known, not guessed */
#define KNOWN_WORK 8      /* units for a break whose trial is known */
#define STRUCTURE_BITS 96 /* that anchors at both sides of a break must have to prove it, */
#define ANCHORED_BITS 24 /* and that they then count for where the carver decodes what is between */

struct joint {
	uint64_t first, last; /* the possible breaks: offsets in the file, every `grid` bytes */
	uint64_t known;       /* bytes up to there are known */
	bool is_only;         /* the grid has no other break */
	uint32_t own;         /* bits of the anchors on that side that has fewer */
	uint32_t proof;       /* what the carver proved of the break, in bits */
};

struct plan {
	struct workbench *bench;
	const struct broken *broken;
	struct mapping *mapping;
	struct joint *joints; /* of each stretch, where its piece begins; not of the first */
	uint64_t grid;
	struct extents extents; /* of the trial */
};

/* ---- what is possible ---------------------------------------------------------------------- */

/* Pieces begin at clusters; where displacements differ by less, at smaller ones. */
static uint64_t find_grid(const struct plan *plan)
{
	uint64_t grid = plan->bench->clusters->size;
	const struct mapping *mapping = plan->mapping;

	for (size_t i = 1; i < mapping->count; i++)
		while (grid > 1 && (mapping->items[i].shift - mapping->items[0].shift) % grid)
			grid /= 2;
	return grid;
}

/* The first offset in the file at or after `at` where a cluster begins. */
static uint64_t next_break(const struct plan *plan, uint64_t at)
{
	uint64_t place = plan->broken->start - plan->bench->clusters->origin + at;
	uint64_t over = place % plan->grid;

	return over ? at + plan->grid - over : at;
}

/* Whether no piece begins elsewhere than on the grid. */
static bool is_grid_sure(const struct plan *plan)
{
	return plan->grid == SECTOR || plan->bench->clusters->voters.count >= VOTERS_MIN;
}

static bool find_breaks(const struct plan *plan, size_t number)
{
	struct stretch *after = &plan->mapping->items[number];
	const struct stretch *before = after - 1;
	struct joint *joint = &plan->joints[number];

	joint->known = before->to;
	joint->own = before->own_bits < after->own_bits ? before->own_bits : after->own_bits;
	if (after->has_joint) {
		joint->first = joint->last = after->joint;
		return true;
	}
	joint->first = next_break(plan, before->to ? before->to : 1);
	if (after->from < joint->first)
		return false;
	joint->last = after->from - (after->from - joint->first) % plan->grid;
	after->joint = after->least = after->most = joint->last;
	if (joint->first == joint->last && joint->own >= STRUCTURE_BITS && is_grid_sure(plan) &&
		!plan->bench->rule->carver->map->common) {
		after->bits = joint->own;
		joint->is_only = true;
	}
	return true;
}

/* ---- trials -------------------------------------------------------------------------------- */

bool mapping_lay_out(
	const struct workbench *bench, const struct mapping *mapping, struct extents *extents)
{
	uint64_t end = bench->clusters->end, from = 0;

	extents_clear(extents);
	for (size_t i = 0; i < mapping->count; i++) {
		bool is_last = i + 1 == mapping->count;
		uint64_t at = from + mapping->items[i].shift, to = mapping->length;

		if (at >= end)
			return false;
		if (!is_last)
			to = mapping->items[i + 1].joint;
		else if (!to)
			to = from + (end - at);
		if (to <= from || to - from > end - at)
			return false;
		extents_add(extents, at, to - from);
		from = to;
	}
	return true;
}

/* How a trial ended. */
struct trial {
	bool accepted; /* the carver got past the joint and the next stretch, too */
	uint32_t bits; /* that prove the joint */
	uint64_t reached;
	uint64_t from, to; /* with any break in [from, to] it would have ended so */
};

/* Whether trials of a joint's breaks go on from where the file is known: the carver decodes all in order, which takes
 * time, and no sum proves a break at once. */
static bool goes_on_from_states(const struct plan *plan)
{
	const struct carver *carver = plan->bench->rule->carver;

	return carver->resume && carver->map->common;
}

static void prepare_states(struct plan *plan, size_t number)
{
	const struct stretch *after = &plan->mapping->items[number];
	struct extents head = { 0 };

	if (goes_on_from_states(plan) &&
		mapping_lay_out(plan->bench, plan->mapping, &plan->extents)) {
		extents_set_first(&head, plan->extents.runs, plan->extents.count, after->from);
		workbench_prepare(plan->bench, &head, plan->joints[number].known);
	}
	extents_free(&head);
}

/* Whether a check that ended so got past a joint and the next stretch. */
static bool is_past(const struct plan *plan, size_t number, enum verdict verdict, uint64_t reached)
{
	return reached > plan->mapping->items[number].to &&
	       (verdict == CARVE_TRUNCATED || number + 1 < plan->mapping->count);
}

/* A check of the layout from a state on. False: it is refused, or the work is spent. */
static bool may_be_right(struct plan *plan, size_t number)
{
	struct workbench *bench = plan->bench;
	struct outcome outcome;

	if (!workbench_check(bench, &plan->extents, CARVE_UNVERIFIED, &outcome))
		return workbench_goes_on(bench) &&
		       is_past(plan, number, bench->verdict, bench->reached);
	outcome_free(&outcome);
	return true;
}

static bool try_break(struct plan *plan, size_t number, uint64_t at, struct trial *trial)
{
	struct workbench *bench = plan->bench;
	struct outcome outcome;

	*trial = (struct trial){ .from = at, .to = at };
	plan->mapping->items[number].joint = at;
	if (!mapping_lay_out(bench, plan->mapping, &plan->extents))
		return true;
	if (goes_on_from_states(plan)) {
		bool may = may_be_right(plan, number);

		trial->reached = bench->reached;
		if (!may || !mapping_lay_out(bench, plan->mapping, &plan->extents))
			return workbench_goes_on(bench);
	}
	view_watch_gap(bench->view, at);
	if (!workbench_look(bench, &plan->extents, &outcome))
		return false;
	if (!bench->was_known)
		view_gap(bench->view, &trial->from, &trial->to);
	trial->reached = outcome.length;
	trial->bits = view_proof(bench->view, at);
	trial->accepted = outcome_is_whole(&outcome) ||
			  is_past(plan, number, outcome.verdict, outcome.length);
	outcome_free(&outcome);
	return true;
}

/* The n-th place to try: from where the carver noticed that something is wrong downwards, since it
 * notices late, and then upwards. */
static uint64_t nth_break(
	const struct plan *plan, const struct joint *joint, uint64_t noticed, uint64_t n)
{
	uint64_t grid = plan->grid, middle = joint->last, below;

	if (noticed < joint->last)
		middle = noticed < joint->first ? joint->first
						: noticed - (noticed - joint->first) % grid;
	below = (middle - joint->first) / grid;
	return n <= below ? middle - n * grid : joint->first + n * grid;
}

static bool is_proof(const struct plan *plan, uint32_t bits)
{
	return workbench_is_proof(plan->bench, bits);
}

/* Of the breaks that are accepted, that for which the content speaks. */
static bool find_seam(struct plan *plan, size_t number)
{
	struct stretch *after = &plan->mapping->items[number];
	const struct seam seam = { after->least, after->most, plan->grid, (after - 1)->shift,
		after->shift, plan->mapping->items[plan->mapping->count - 1].to };

	return seam_find(plan->bench, &seam, &after->joint);
}

/* The same, if the last trial, which proved nothing, would not have ended otherwise with this break: it counts as made. */
static bool try_next_break(struct plan *plan, size_t number, uint64_t at, struct trial *trial)
{
	if (trial->bits || at < trial->from || at > trial->to)
		return try_break(plan, number, at, trial);
	plan->mapping->items[number].joint = at;
	plan->bench->tested++;
	workbench_spend(plan->bench, KNOWN_WORK);
	return workbench_goes_on(plan->bench);
}

/* Chooses the break before a stretch. False: no place is accepted, or the work is spent. */
static bool find_break(struct plan *plan, size_t number)
{
	const struct joint *joint = &plan->joints[number];
	struct stretch *after = &plan->mapping->items[number];
	uint64_t count = (joint->last - joint->first) / plan->grid + 1, chosen = 0;
	bool found = false;
	struct trial trial;

	if (count == 1)
		return true;
	prepare_states(plan, number);
	if (!try_break(plan, number, joint->last, &trial))
		return false;
	for (uint64_t n = 0, noticed = trial.reached; n < count; n++) {
		uint64_t at = nth_break(plan, joint, noticed, n);

		if (!try_next_break(plan, number, at, &trial))
			return false;
		if (is_proof(plan, trial.bits)) {
			after->bits = trial.bits;
			after->least = after->most = at;
			return true;
		}
		if (!trial.accepted)
			continue;
		if (!found)
			chosen = after->least = after->most = at;
		found = true;
		after->least = at < after->least ? at : after->least;
		after->most = at > after->most ? at : after->most;
	}
	after->joint = chosen;
	return found && (after->least == after->most || find_seam(plan, number));
}

/* ---- the result ---------------------------------------------------------------------------- */

/* Whether the file may be complete with the break elsewhere. */
static bool may_break_at(struct plan *plan, size_t number, uint64_t at)
{
	uint64_t joint = plan->mapping->items[number].joint;
	struct outcome outcome;
	bool may = true;

	plan->mapping->items[number].joint = at;
	if (!mapping_lay_out(plan->bench, plan->mapping, &plan->extents)) {
		may = false;
	} else if (goes_on_from_states(plan)) {
		may = may_be_right(plan, number) || !workbench_goes_on(plan->bench);
	} else if (workbench_look(plan->bench, &plan->extents, &outcome)) {
		may = outcome.verdict == CARVE_COMPLETE || outcome.verdict == CARVE_UNVERIFIED;
		outcome_free(&outcome);
	}
	plan->mapping->items[number].joint = joint;
	return may;
}

/* The grid may be wrong after all, as where volumes of other clusters are in one image: the break is proved only
 * if the carver refuses each other sector between the anchors. */
static void doubt_grid(struct plan *plan, size_t number)
{
	struct stretch *after = &plan->mapping->items[number];
	uint64_t from = plan->joints[number].known, over = after->joint - from;

	if (after->joint < from)
		return;
	prepare_states(plan, number);
	for (uint64_t at = from + over % SECTOR; at <= after->from; at += SECTOR) {
		if (!at || at == after->joint || !may_break_at(plan, number, at))
			continue;
		after->bits = 0;
		after->least = at < after->least ? at : after->least;
		after->most = at > after->most ? at : after->most;
	}
}

/* Whether anchors on both sides show that the two pieces belong there, and the carver decoded what is across the joint: of
 * all breaks it accepted this one. */
static bool is_anchored(const struct plan *plan, size_t number)
{
	const struct stretch *after = &plan->mapping->items[number];
	const struct joint *joint = &plan->joints[number];

	return joint->proof >= EXACT_BITS && joint->own >= STRUCTURE_BITS &&
	       after->least == after->most && joint->known <= after->joint;
}

/* Takes over what was proved of the pieces that were accepted. */
static void take_proof(struct plan *plan, const struct joint_bits *bits)
{
	uint64_t at = 0;
	size_t next = 1;

	for (size_t i = 0; i + 1 < plan->extents.count && next < plan->mapping->count; i++) {
		at += plan->extents.runs[i].length;
		if (at == plan->mapping->items[next].joint)
			plan->joints[next++].proof = bits[i].checked;
	}
}

/* What the joint that is proved least is worth, after a thorough check. */
static void judge(struct plan *plan, struct assembly *assembly)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 1; i < plan->mapping->count; i++) {
		struct stretch *after = &plan->mapping->items[i];
		uint32_t bits = plan->joints[i].proof;
		bool anchored = !is_proof(plan, bits) && is_anchored(plan, i);

		if (anchored && after->bits < bits + ANCHORED_BITS)
			after->bits = bits + ANCHORED_BITS;
		if (bits < after->bits && (plan->joints[i].is_only || anchored) &&
			!is_proof(plan, bits))
			doubt_grid(plan, i);
		if (bits < after->bits)
			bits = after->bits;
		if (!is_proof(plan, bits))
			workbench_doubt(assembly, after->least, after->most);
		if (bits < least)
			least = bits;
	}
	assembly->evidence = least;
}

/* Whether the carver finds the whole complete. */
static bool accept(struct plan *plan, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct joint_bits *joint_bits;
	uint32_t bits;

	if (!workbench_try(plan->bench, &plan->extents, outcome))
		return false;
	if (plan->extents.count < 2 ||
		!workbench_prove(plan->bench, &plan->extents, outcome, &bits, &joint_bits)) {
		outcome_free(outcome);
		return false;
	}
	extents_set(extents, plan->extents.runs, plan->extents.count);
	take_proof(plan, joint_bits);
	free(joint_bits);
	judge(plan, assembly);
	return true;
}

/* Whether the file goes on where the last stretch ends: then that is known. */
static bool reaches_end(struct plan *plan)
{
	struct mapping *mapping = plan->mapping;
	struct outcome outcome;
	uint64_t reached;

	if (!mapping_lay_out(plan->bench, mapping, &plan->extents) ||
		!workbench_look(plan->bench, &plan->extents, &outcome))
		return false;
	reached = outcome.length;
	outcome_free(&outcome);
	return reached >= mapping->items[mapping->count - 1].to;
}

static enum solution solve(struct plan *plan, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct mapping *mapping = plan->mapping;

	for (size_t i = 1; i < mapping->count; i++)
		if (!find_breaks(plan, i))
			return SOLUTION_WRONG;
	for (size_t i = 1; i < mapping->count; i++)
		if (!find_break(plan, i))
			return SOLUTION_WRONG;
	if (!mapping_lay_out(plan->bench, mapping, &plan->extents))
		return SOLUTION_WRONG;
	if (accept(plan, extents, outcome, assembly))
		return SOLUTION_WHOLE;
	if (!reaches_end(plan))
		return SOLUTION_WRONG;
	for (size_t i = 1; i < mapping->count; i++)
		mapping->items[i].has_joint = true;
	return SOLUTION_PART;
}

enum solution mapping_solve(struct workbench *bench, const struct broken *broken,
	struct mapping *mapping, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct plan plan = { .bench = bench, .broken = broken, .mapping = mapping };
	enum solution solution = SOLUTION_WRONG;

	plan.joints = xcalloc(mapping->count, sizeof(*plan.joints));
	plan.grid = find_grid(&plan);
	if (plan.grid >= SECTOR)
		solution = solve(&plan, extents, outcome, assembly);
	extents_free(&plan.extents);
	free(plan.joints);
	return solution;
}
