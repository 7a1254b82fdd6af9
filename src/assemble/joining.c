/*
 * A layout that a carver finds complete is not yet proved: where nobody checks the data, the break
 * might be elsewhere. So all other breaks with this gap, and all other gaps with this break, are
 * tried as well. If none of them is accepted the layout is unique. If several breaks are, all of
 * them share the first and the last bytes, and what is between is in doubt: then the content decides
 * (affinity.h). If several gaps are, the carver accepts nearly anything, and unless the content is
 * clear the layout is likelier wrong than right.
 */
#include "assemble/joining.h"

#include <stdlib.h>

#include "assemble/affinity.h"
#include "base/memory.h"

/* Bytes by which the place that a carver names may be off, and which it may take to notice. */
#define NOTICE_SLACK 512
#define NOTICE_TRIALS 48 /* fewer show nothing */
#define SURVIVAL_MAX 24  /* bits */
/* What a carver must declare of the joint itself: that a decoder ended exactly where it should. */
#define EXACT_BITS 8
#define RIVAL_BYTES ((uint64_t)16 << 10) /* that are compared */
#define RIVAL_MARGIN 512                 /* bits by which rivals must be worse */

void joining_free(struct joining *joining)
{
	extents_free(&joining->extents);
	outcome_free(&joining->outcome);
	*joining = (struct joining){ 0 };
}

/* Tries a step. True: it is COMPLETE, and the new piece is needed for that. */
static bool try(struct workbench *bench, const struct partial *partial, const struct step *step,
	struct extents *extents, struct outcome *outcome)
{
	bench->reached = 0;
	if (!step_lay_out(bench->clusters, partial, step, extents) ||
		!workbench_try(bench, extents, outcome))
		return false;
	if (outcome->length > step->at)
		return true;
	outcome_free(outcome);
	return false;
}

bool joining_try(struct workbench *bench, const struct partial *partial, const struct step *step,
	struct joining *joining)
{
	struct joining now = { .step = *step };

	if (!try(bench, partial, step, &now.extents, &now.outcome)) {
		extents_free(&now.extents);
		return false;
	}
	if (!workbench_prove(bench, &now.extents, &now.outcome, &now.proof)) {
		joining_free(&now);
		return false;
	}
	now.is_proved = workbench_is_proof(bench, now.proof.bits);
	*joining = now;
	return true;
}

/* Tries a step, and chooses it if it is accepted. */
static void choose(struct workbench *bench, const struct partial *partial, const struct step *step,
	struct joining *joining)
{
	struct joining other;

	if (!joining_try(bench, partial, step, &other))
		return;
	joining_free(joining);
	*joining = other;
}

/* ---- other breaks -------------------------------------------------------------------------- */

/* All breaks with this gap; accepted gets those that are, rising. One that is proved better is chosen
 * instead. */
static void try_other_breaks(struct workbench *bench, const struct partial *partial,
	struct joining *joining, struct breaks *accepted)
{
	uint64_t first = joining->step.at;

	breaks_find_all(bench->clusters, partial, joining->outcome.length, accepted);
	accepted->close_count = 0;
	for (size_t i = 0; i < accepted->count && !joining->is_proved; i++) {
		struct step step = { accepted->items[i], joining->step.gap };
		struct joining other = { 0 };

		if (step.at != first && !joining_try(bench, partial, &step, &other))
			continue;
		accepted->items[accepted->close_count++] = step.at;
		if (step.at == first)
			continue;
		if (other.proof.bits > joining->proof.bits) {
			struct joining previous = *joining;

			*joining = other;
			other = previous;
		}
		joining_free(&other);
	}
	accepted->count = accepted->close_count;
}

/* The content chooses one of several breaks. */
static void choose_break(struct workbench *bench, const struct partial *partial,
	const struct breaks *accepted, struct joining *joining)
{
	struct step step = joining->step;
	struct affinity *affinity = affinity_new(bench, partial, accepted->items[0],
		accepted->items[accepted->count - 1], step.gap, joining->outcome.length);

	step.at = affinity_choose(
		affinity, bench, partial, accepted->items, accepted->count, step.gap);
	affinity_free(affinity);
	if (step.at != joining->step.at)
		choose(bench, partial, &step, joining);
}

/* ---- other gaps ---------------------------------------------------------------------------- */

/* What the trials of other gaps with one break show. */
struct rivals {
	/* How soon the carver notices wrong bytes after a joint. */
	uint64_t trials, late; /* refused layouts; those refused for something before the joint */
	uint64_t bytes;        /* of wrong data that were accepted in all of them */
	size_t count;          /* accepted layouts... */
	struct step best;      /* ...the one whose content is most like the file's */
	int64_t best_bits;
};

static void add_refused(const struct workbench *bench, uint64_t at, struct rivals *rivals)
{
	rivals->trials++;
	if (bench->reached + NOTICE_SLACK < at)
		rivals->late++;
	else if (bench->reached > at)
		rivals->bytes += bench->reached - at;
}

/* Whether a step leads into what the joining has after its break: then it only leaves out some of it,
 * and is no rival. */
static bool leads_inside(const struct joining *joining, uint64_t target)
{
	uint64_t at = 0;

	for (size_t i = 0; i < joining->extents.count; i++) {
		const struct range *run = &joining->extents.runs[i];

		if (at >= joining->step.at && target >= run->offset &&
			target < run->offset + run->length)
			return true;
		at += run->length;
	}
	return false;
}

/* Bits by which the first bytes after the break look like the file's own. */
static int64_t step_bits(struct workbench *bench, struct affinity *affinity,
	const struct partial *partial, const struct step *step, uint64_t length)
{
	uint64_t target = step_target(bench->clusters, partial, step);

	if (length - step->at < RIVAL_BYTES)
		return affinity_bits(affinity, bench, target, length - step->at);
	return affinity_bits(affinity, bench, target, RIVAL_BYTES);
}

/* Tries all other gaps nearby. */
static void find_rivals(struct workbench *bench, const struct partial *partial,
	const struct joining *joining, struct affinity *affinity, struct rivals *rivals)
{
	struct step step = joining->step;
	struct extents extents = { 0 };
	struct outcome outcome;

	for (uint64_t n = 0; ring_gap(bench->clusters, RING_NEAR, n, &step.gap); n++) {
		uint64_t tested = bench->tested;
		int64_t bits;

		if (leads_inside(joining, step_target(bench->clusters, partial, &step)))
			continue;
		if (!try(bench, partial, &step, &extents, &outcome)) {
			if (bench->tested != tested)
				add_refused(bench, step.at, rivals);
			continue;
		}
		bits = step_bits(bench, affinity, partial, &step, outcome.length);
		outcome_free(&outcome);
		if (!rivals->count++ || bits > rivals->best_bits) {
			rivals->best_bits = bits;
			rivals->best = step;
		}
	}
	extents_free(&extents);
}

/* The bits by which wrong data would not have been accepted for as many bytes as follow the joint, if
 * it is as likely to be noticed at each byte as it was in the trials. Only where the carver notices
 * it as it goes, and all others with this break were refused. */
static uint32_t survival_bits(const struct rivals *rivals, uint64_t bytes)
{
	uint64_t mean;

	if (rivals->trials < NOTICE_TRIALS || rivals->late * 8 > rivals->trials || rivals->count)
		return 0;
	mean = rivals->bytes / rivals->trials + NOTICE_SLACK;
	return bytes / mean < SURVIVAL_MAX ? (uint32_t)(bytes / mean) : SURVIVAL_MAX;
}

/* True: there are no rivals, or all are worse. */
static bool beats_rivals(struct workbench *bench, const struct partial *partial,
	struct joining *joining, struct rivals *rivals)
{
	const struct step *step = &joining->step;
	struct affinity *affinity = affinity_new(bench, partial, step->at, step->at, 0, step->at);
	int64_t bits;

	find_rivals(bench, partial, joining, affinity, rivals);
	bits = rivals->count ? step_bits(bench, affinity, partial, step, joining->outcome.length)
			     : 0;
	affinity_free(affinity);
	return workbench_goes_on(bench) &&
	       (!rivals->count || bits >= rivals->best_bits + RIVAL_MARGIN);
}

bool joining_judge(struct workbench *bench, const struct partial *partial, struct joining *joining,
	struct assembly *assembly)
{
	struct rivals rivals = { 0 };
	struct breaks accepted = { 0 };
	bool beats;

	if (!joining->is_proved)
		try_other_breaks(bench, partial, joining, &accepted);
	if (!joining->is_proved && accepted.count > 1) {
		choose_break(bench, partial, &accepted, joining);
		assembly->doubt_count = 1;
		assembly->doubt[0].offset = accepted.items[0];
		assembly->doubt[0].length = accepted.items[accepted.count - 1] - accepted.items[0];
	}
	assembly->evidence = joining->proof.bits;
	beats = joining->is_proved || beats_rivals(bench, partial, joining, &rivals);
	if (!joining->is_proved && joining->proof.bits >= EXACT_BITS && !assembly->doubt_count)
		assembly->evidence +=
			survival_bits(&rivals, joining->outcome.length - joining->step.at);
	breaks_free(&accepted);
	return beats;
}
