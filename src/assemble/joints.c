/*
 * Between two stretches of a file with different displacements there is a joint, and nowhere else. The
 * joints are searched one after another: a break at any cluster between the stretches is tried, while
 * the later joints are at their latest places, and the carver shows which one is right: best by a
 * check that covers the joint, else by going on past the next stretch. Where an anchor is on both
 * sides of the only break there is, they prove it.
 */
#include "assemble/strategies.h"

#include <stdlib.h>

#include "assemble/mapping.h"
#include "assemble/seam.h"
#include "base/memory.h"

#define SECTOR 512
#define STRUCTURE_BITS 32 /* that anchors at both sides of the only possible break must have */

struct joint {
	uint64_t first, last; /* the possible breaks: offsets in the file, every `grid` bytes */
	uint64_t at;
	uint64_t least, most; /* those that were accepted */
	uint32_t bits;        /* that prove the one at `at` */
};

struct plan {
	struct workbench *bench;
	const struct broken *broken;
	const struct mapping *mapping;
	struct joint *joints; /* mapping->count - 1 */
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

static bool find_breaks(const struct plan *plan, size_t number)
{
	const struct stretch *before = &plan->mapping->items[number], *after = before + 1;
	struct joint *joint = &plan->joints[number];
	uint64_t over;

	joint->first = next_break(plan, before->to ? before->to : 1);
	if (after->from < joint->first)
		return false;
	over = (after->from - joint->first) % plan->grid;
	joint->last = joint->at = after->from - over;
	if (joint->first == joint->last)
		joint->bits = before->last_bits < after->first_bits ? before->last_bits
								    : after->first_bits;
	if (joint->bits < STRUCTURE_BITS)
		joint->bits = 0;
	joint->least = joint->most = joint->at;
	return true;
}

/* ---- trials -------------------------------------------------------------------------------- */

/* The pieces with the breaks as they are. False: one is not in the image. */
static bool lay_out(struct plan *plan)
{
	const struct mapping *mapping = plan->mapping;
	uint64_t end = plan->bench->clusters->end, from = 0;

	extents_clear(&plan->extents);
	for (size_t i = 0; i < mapping->count; i++) {
		bool is_last = i + 1 == mapping->count;
		uint64_t at = from + mapping->items[i].shift, to = mapping->length;

		if (at >= end)
			return false;
		if (!is_last)
			to = plan->joints[i].at;
		else if (!to)
			to = from + (end - at);
		if (to <= from || to - from > end - at)
			return false;
		extents_add(&plan->extents, at, to - from);
		from = to;
	}
	return true;
}

/* How a trial ended. */
struct trial {
	bool accepted; /* the carver got past the joint and the next stretch, too */
	uint32_t bits; /* that prove the joint */
	uint64_t reached;
};

static bool try_break(struct plan *plan, size_t number, uint64_t at, struct trial *trial)
{
	struct workbench *bench = plan->bench;
	struct outcome outcome;

	*trial = (struct trial){ 0 };
	plan->joints[number].at = at;
	if (!lay_out(plan))
		return true;
	if (!workbench_look(bench, &plan->extents, &outcome))
		return false;
	trial->reached = outcome.length;
	trial->bits = view_proof(bench->view, at);
	trial->accepted = outcome.verdict == CARVE_COMPLETE ||
			  outcome.length > plan->mapping->items[number + 1].to;
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
	struct joint *joint = &plan->joints[number];
	const struct stretch *before = &plan->mapping->items[number], *after = before + 1;
	const struct seam seam = { joint->least, joint->most, plan->grid, before->shift,
		after->shift, plan->mapping->items[plan->mapping->count - 1].to };

	return seam_find(plan->bench, &seam, &joint->at);
}

/* Chooses the break of one joint. False: no place is accepted, or the work is spent. */
static bool find_break(struct plan *plan, size_t number)
{
	struct joint *joint = &plan->joints[number];
	uint64_t count = (joint->last - joint->first) / plan->grid + 1, chosen = 0;
	bool found = false;
	struct trial trial;

	if (count == 1)
		return true;
	if (!try_break(plan, number, joint->last, &trial))
		return false;
	for (uint64_t n = 0, noticed = trial.reached; n < count; n++) {
		uint64_t at = nth_break(plan, joint, noticed, n);

		if (!try_break(plan, number, at, &trial))
			return false;
		if (is_proof(plan, trial.bits)) {
			joint->bits = trial.bits;
			joint->least = joint->most = at;
			return true;
		}
		if (!trial.accepted)
			continue;
		if (!found)
			chosen = joint->least = joint->most = at;
		found = true;
		joint->least = at < joint->least ? at : joint->least;
		joint->most = at > joint->most ? at : joint->most;
	}
	joint->at = chosen;
	return found && (joint->least == joint->most || find_seam(plan, number));
}

/* ---- the result ---------------------------------------------------------------------------- */

static void note_doubt(struct assembly *assembly, uint64_t from, uint64_t to)
{
	if (from >= to || assembly->doubt_count == ASSEMBLY_DOUBTS_MAX)
		return;
	assembly->doubt[assembly->doubt_count++] = (struct range){ from, to - from };
}

/* What the joint that is proved least is worth, after a thorough check. */
static void judge(const struct plan *plan, struct assembly *assembly)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i + 1 < plan->mapping->count; i++) {
		const struct joint *joint = &plan->joints[i];
		uint32_t bits = view_proof(plan->bench->view, joint->at);

		if (bits < joint->bits)
			bits = joint->bits;
		if (!is_proof(plan, bits))
			note_doubt(assembly, joint->least, joint->most);
		if (bits < least)
			least = bits;
	}
	assembly->evidence = least;
}

static bool accept(struct plan *plan, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct proof proof;

	if (!lay_out(plan) || !workbench_try(plan->bench, &plan->extents, outcome))
		return false;
	if (plan->extents.count < 2 ||
		!workbench_prove(plan->bench, &plan->extents, outcome, &proof)) {
		outcome_free(outcome);
		return false;
	}
	judge(plan, assembly);
	extents_clear(extents);
	for (size_t i = 0; i < plan->extents.count; i++)
		extents_add(extents, plan->extents.runs[i].offset, plan->extents.runs[i].length);
	return true;
}

bool mapping_solve(struct workbench *bench, const struct broken *broken,
	const struct mapping *mapping, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct plan plan = { .bench = bench, .broken = broken, .mapping = mapping };
	bool found;

	plan.joints = xcalloc(mapping->count, sizeof(*plan.joints));
	plan.grid = find_grid(&plan);
	found = plan.grid >= SECTOR;
	for (size_t i = 0; found && i + 1 < mapping->count; i++)
		found = find_breaks(&plan, i);
	for (size_t i = 0; found && i + 1 < mapping->count; i++)
		found = find_break(&plan, i);
	found = found && accept(&plan, extents, outcome, assembly);
	extents_free(&plan.extents);
	free(plan.joints);
	return found;
}
