/*
 * A layout that a carver finds complete is not yet proved: where nobody checks the data, a break might
 * be elsewhere. So at each joint all other breaks are tried, with the same gap, and with the last
 * break all other gaps. If none of them is accepted the layout is unique. If several breaks are, the
 * bytes between them are in doubt, and the content decides (affinity.h). If several gaps are, the
 * carver accepts nearly anything, and unless the content is clear the layout is likelier wrong than
 * right.
 */
#include "assemble/joining.h"

#include <stdlib.h>

#include "assemble/affinity.h"
#include "assemble/fine_log.h"
#include "base/memory.h"

/* Bytes by which the place that a carver names may be off, and which it may take to notice. */
#define NOTICE_SLACK 512
#define NOTICE_TRIALS 48            /* fewer show nothing */
#define MEAN_SLACK 128              /* bytes added to the mean of what was accepted */
#define SURVIVAL_MAX 24             /* bits */
#define LASTING ((uint64_t)8 << 10) /* bytes that are accepted of what is hardly noticed at all */
#define LEARN_MAX ((uint64_t)512 << 10)  /* bytes of one piece that are learnt from... */
#define AROUND ((uint64_t)64 << 10)      /* ...and of what is not the file's */
#define ALIEN_SHARE 1                    /* a bit a byte is unlike */
#define RIVAL_BYTES ((uint64_t)16 << 10) /* that are compared */
#define RIVAL_LASTS ((uint64_t)1 << 10)  /* after a joint: what is accepted for longer may fit */
#define RIVAL_FIT 8                      /* bits with which content fits together */
#define RIVAL_MARGIN 512                 /* bits by which rivals must be worse */
#define OTHERS_MIN 4 /* layouts that must have been tried if the work does not suffice for all */

void joining_free(struct joining *joining)
{
	extents_free(&joining->extents);
	outcome_free(&joining->outcome);
	free(joining->joint_bits);
	*joining = (struct joining){ 0 };
}

void notice_add(struct notice *notice, const struct workbench *bench, uint64_t at)
{
	notice->trials++;
	if (bench->reached + NOTICE_SLACK < at)
		notice->late++;
	else if (bench->reached > at)
		notice->bytes += bench->reached - at;
}

void notice_add_refused(struct notice *notice, uint64_t count, uint64_t bytes)
{
	notice->trials += count;
	notice->bytes += bytes;
}

uint32_t notice_bits(const struct notice *notice, uint64_t bytes)
{
	uint64_t trials = notice->trials - notice->late, bits;

	if (trials < NOTICE_TRIALS)
		return 0;
	bits = bytes / (notice->bytes / trials + MEAN_SLACK);
	return bits < UINT32_MAX ? (uint32_t)bits : UINT32_MAX;
}

uint32_t notice_likely_bits(const struct notice *notice, uint64_t bytes)
{
	uint64_t trials = notice->trials - notice->late,
		 accepted = notice->bytes + trials * MEAN_SLACK;

	if (trials < LIKELY_TRIALS || bytes > UINT64_MAX - accepted)
		return 0;
	if (trials > NOTICE_TRIALS) {
		accepted = accepted / trials * NOTICE_TRIALS;
		trials = NOTICE_TRIALS;
	}
	return (uint32_t)(trials * (uint64_t)(fine_log(accepted + bytes) - fine_log(accepted)) /
			  FINE_LOG_BIT);
}

/* A cheap trial of a step, unless the carver needs the file's tail. */
static bool goes_past(struct workbench *bench, const struct partial *partial,
	const struct step *step, const struct extents *extents)
{
	return partial->tail.from ||
	       workbench_goes_past(bench, extents, step->at, partial->reached);
}

/* A trial of a layout, unless an earlier pass made it. */
static bool try_layout(struct workbench *bench, const struct partial *partial,
	const struct step *step, struct extents *extents, struct outcome *outcome)
{
	uint64_t tested = bench->tested;

	if (workbench_is_known(bench, extents, step->at, partial->reached))
		return false;
	if (goes_past(bench, partial, step, extents) && workbench_try(bench, extents, outcome))
		return true;
	if (bench->tested != tested)
		workbench_note_refused(bench, extents, step->at, partial->reached);
	return false;
}

/* Tries a step. True: it is COMPLETE, and the new piece is needed for that. */
static bool try(struct workbench *bench, const struct partial *partial, const struct step *step,
	struct extents *extents, struct outcome *outcome)
{
	bench->reached = 0;
	if (!step_lay_out(bench->clusters, partial, step, extents) ||
		!try_layout(bench, partial, step, extents, outcome)) {
		if (bench->reached > step->at + LASTING)
			workbench_note_lasting(bench, step_target(bench->clusters, partial, step));
		return false;
	}
	if (outcome->length > step->at)
		return true;
	outcome_free(outcome);
	return false;
}

/* What checks prove of the joint of which they prove least. */
static uint32_t checked_bits(const struct joining *joining)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i + 1 < joining->extents.count; i++)
		if (joining->joint_bits[i].checked < least)
			least = joining->joint_bits[i].checked;
	return least;
}

/* The layout was accepted: tries it thoroughly. False: it is freed. */
static bool prove(struct workbench *bench, struct joining *joining)
{
	if (!workbench_prove(bench, &joining->extents, &joining->outcome, &joining->bits,
		    &joining->joint_bits)) {
		joining_free(joining);
		return false;
	}
	joining->is_proved = workbench_is_proof(bench, checked_bits(joining));
	return true;
}

bool joining_try(struct workbench *bench, const struct partial *partial, const struct step *step,
	struct joining *joining)
{
	*joining = (struct joining){ 0 };
	if (try(bench, partial, step, &joining->extents, &joining->outcome))
		return prove(bench, joining);
	joining_free(joining);
	return false;
}

void joining_look_ahead(
	struct workbench *bench, const struct partial *partial, const struct step *step)
{
	struct extents extents = { 0 };
	struct outcome outcome;

	if (step_lay_out(bench->clusters, partial, step, &extents) &&
		try_layout(bench, partial, step, &extents, &outcome))
		outcome_free(&outcome);
	extents_free(&extents);
}

/* Whether another layout that was accepted would do as well. Where nothing shows the end, one that ends
 * earlier would not. */
static bool is_as_long(
	const struct workbench *bench, const struct joining *joining, const struct outcome *other)
{
	return !bench->takes_unverified || other->length >= joining->outcome.length;
}

/* ---- other breaks -------------------------------------------------------------------------- */

/* A joint whose place is looked for. Offsets are in the file. */
struct joint {
	size_t before;      /* the run that ends there */
	uint64_t from, to;  /* where that run begins, and the next one ends */
	uint64_t at;        /* the break that was found first */
	uint64_t *accepted; /* all that are, rising */
	size_t count;
};

/* The same layout with another break. */
static bool try_break(struct workbench *bench, const struct joining *joining,
	const struct joint *joint, uint64_t at, struct joining *other)
{
	const struct extents *extents = &joining->extents;

	*other = (struct joining){ 0 };
	for (size_t i = 0; i < extents->count; i++) {
		struct range run = extents->runs[i];

		if (i == joint->before) {
			run.length = at - joint->from;
		} else if (i == joint->before + 1) {
			run.offset += at - joint->at;
			run.length = joint->to - at;
		}
		extents_add(&other->extents, run.offset, run.length);
	}
	if (other->extents.count == extents->count &&
		workbench_try(bench, &other->extents, &other->outcome) &&
		other->outcome.length > at && is_as_long(bench, joining, &other->outcome))
		return prove(bench, other);
	joining_free(other);
	return false;
}

/* Whether the file's bytes are the same with that break. */
static bool is_same_break(struct workbench *bench, const struct joining *joining,
	const struct joint *joint, uint64_t at)
{
	const struct range *run = &joining->extents.runs[joint->before];
	uint64_t from = at < joint->at ? at : joint->at,
		 len = (at < joint->at ? joint->at : at) - from;

	return len && workbench_is_same(bench, run->offset + (from - joint->from),
			      run[1].offset + (from - joint->at), len);
}

/* Tries all breaks of a joint; the ones accepted are noted. True: one is proved, and chosen. */
static bool try_breaks(struct workbench *bench, struct joining *joining, struct joint *joint)
{
	uint64_t size = bench->clusters->size;
	struct joining best = { 0 };

	joint->accepted = xcalloc((joint->to - joint->from) / size + 2, sizeof(uint64_t));
	for (uint64_t at = joint->from + size; at < joint->to && !best.is_proved; at += size) {
		struct joining other = { 0 };

		if (is_same_break(bench, joining, joint, at) ||
			(at != joint->at && !try_break(bench, joining, joint, at, &other)))
			continue;
		joint->accepted[joint->count++] = at;
		if (other.bits > joining->bits && other.bits > best.bits) {
			struct joining previous = best;

			best = other;
			other = previous;
		}
		joining_free(&other);
	}
	if (!best.extents.count)
		return false;
	joining_free(joining);
	*joining = best;
	return true;
}

/* Where a byte of the file is if the break is after it, or before it. */
static uint64_t place(
	const struct joining *joining, const struct joint *joint, uint64_t at, bool after)
{
	const struct range *run = &joining->extents.runs[joint->before];

	return after ? run[1].offset + (at - joint->at) : run->offset + (at - joint->from);
}

/* The file's own bytes from offset on. */
static void learn_own(
	struct affinity *affinity, struct workbench *bench, uint64_t offset, uint64_t length)
{
	affinity_learn(affinity, bench, offset, length < LEARN_MAX ? length : LEARN_MAX, true);
}

/* What is around the possible breaks: own bytes, and others'. */
static struct affinity *learn_around(
	struct workbench *bench, const struct joining *joining, const struct joint *joint)
{
	struct affinity *affinity = affinity_new(bench);
	const struct extents *extents = &joining->extents;
	const struct range *first = extents->runs, *last = first + extents->count - 1;
	uint64_t before = first->offset < AROUND ? first->offset : AROUND, at = 0;
	uint64_t least = joint->accepted[0], most = joint->accepted[joint->count - 1];
	uint64_t size = bench->clusters->size;
	uint64_t from = place(joining, joint, most, false), to = place(joining, joint, least, true);
	uint64_t end = last->offset + (last->length + size - 1) / size * size;

	for (size_t i = 0; i < extents->count; i++) {
		uint64_t offset = first[i].offset, len = first[i].length;

		if (i == joint->before) {
			len = least - at;
		} else if (i == joint->before + 1) {
			offset += most - joint->at;
			len = joint->to - most;
		}
		learn_own(affinity, bench, offset, len);
		at += first[i].length;
	}
	affinity_learn(affinity, bench, first->offset - before, before, false);
	affinity_learn(affinity, bench, end, AROUND, false);
	if (from < to)
		affinity_learn(
			affinity, bench, from, to - from < AROUND ? to - from : AROUND, false);
	return affinity;
}

/* Whether a cluster between the possible breaks is unlike the file with this one. */
static bool has_alien(struct workbench *bench, struct affinity *affinity,
	const struct joining *joining, const struct joint *joint, uint64_t chosen)
{
	uint64_t size = bench->clusters->size, most = joint->accepted[joint->count - 1];

	for (uint64_t at = joint->accepted[0]; at < most; at += size)
		if (affinity_bits(affinity, bench, place(joining, joint, at, at >= chosen), size) <
			-(int64_t)size / ALIEN_SHARE)
			return true;
	return false;
}

/* The content chooses one of several breaks: that which gives the file what looks most like its own.
 * False: what it is given there does not, so that another piece may be missing. */
static bool choose_break(
	struct workbench *bench, struct joining *joining, const struct joint *joint)
{
	struct affinity *affinity = learn_around(bench, joining, joint);
	uint64_t size = bench->clusters->size, best = joint->accepted[0];
	int64_t sum = 0, best_sum = 0;
	struct joining other;
	bool is_alien;

	for (size_t i = 1; i < joint->count; i++) {
		for (uint64_t at = joint->accepted[i - 1]; at < joint->accepted[i]; at += size)
			sum += affinity_bits(
				       affinity, bench, place(joining, joint, at, false), size) -
			       affinity_bits(
				       affinity, bench, place(joining, joint, at, true), size);
		if (sum > best_sum) {
			best_sum = sum;
			best = joint->accepted[i];
		}
	}
	is_alien = has_alien(bench, affinity, joining, joint, best);
	affinity_free(affinity);
	if (best != joint->at && try_break(bench, joining, joint, best, &other)) {
		joining_free(joining);
		*joining = other;
	}
	return !is_alien;
}

/* Looks for the best break of each joint. False: where the breaks are not certain there may be further
 * pieces. */
static bool judge_breaks(
	struct workbench *bench, struct joining *joining, struct assembly *assembly)
{
	uint64_t from = 0;
	bool is_likely = true;

	for (size_t i = 0; i + 1 < joining->extents.count && !joining->is_proved; i++) {
		const struct range *run = &joining->extents.runs[i];
		struct joint joint = { .before = i,
			.from = from,
			.at = from + run->length,
			.to = from + run->length + run[1].length };

		if (!try_breaks(bench, joining, &joint) && joint.count > 1) {
			is_likely &=
				choose_break(bench, joining, &joint) && joining->extents.count == 2;
			workbench_doubt(
				assembly, joint.accepted[0], joint.accepted[joint.count - 1]);
		}
		free(joint.accepted);
		from += joining->extents.runs[i].length;
	}
	return is_likely;
}

/* ---- other gaps ---------------------------------------------------------------------------- */

/* What the trials of other gaps with one break show. */
struct rivals {
	struct notice notice;
	size_t count;      /* accepted layouts... */
	size_t weaker;     /* ...without those that are not complete, where the file is... */
	int64_t best_bits; /* ...and of the former the most by which one looks like the file's own */
	bool one_fits; /* the content of one, or what lasts like it, fits as that of the layout does */
};

/* Whether an offset is in the piece that was found after a joint: a step that leads there only leaves out some of it, and
 * is no rival. */
static bool is_own(const struct range *piece, uint64_t offset)
{
	return offset >= piece->offset && offset < piece->offset + piece->length;
}

/* Bits by which the first of length bytes look like the file's own. */
static int64_t bits_at(
	struct workbench *bench, struct affinity *affinity, uint64_t offset, uint64_t length)
{
	return affinity_bits(affinity, bench, offset, length < RIVAL_BYTES ? length : RIVAL_BYTES);
}

/* A joint at which other gaps are tried. */
struct contest {
	const struct partial *partial; /* up to the joint */
	const struct range *piece;     /* that was found after it */
	uint64_t at;
	const struct joining *whole; /* NULL: further joints follow */
	struct affinity *affinity;   /* of the whole */
	struct rivals rivals;
};

/* A layout that was accepted. Before the last joint it is a rival, and after it if the whole is as long; but none if it has the
 * same bytes, as zeros anywhere have. */
static void add_accepted(struct workbench *bench, struct contest *contest, uint64_t target,
	const struct outcome *outcome)
{
	struct rivals *rivals = &contest->rivals;
	int64_t bits;

	if (bench->clusters->end - target >= contest->piece->length &&
		workbench_is_same(bench, contest->piece->offset, target, contest->piece->length))
		return;
	if (!contest->whole) {
		rivals->count++;
		return;
	}
	bits = bits_at(bench, contest->affinity, target, outcome->length - contest->at);
	if (!is_as_long(bench, contest->whole, outcome))
		return;
	if (outcome->verdict != CARVE_COMPLETE &&
		contest->whole->outcome.verdict == CARVE_COMPLETE) {
		rivals->weaker++;
		return;
	}
	if (!rivals->count++ || bits > rivals->best_bits)
		rivals->best_bits = bits;
}

/* The offset in the file of the joint after the piece with this index. */
static uint64_t joint_after(const struct extents *extents, size_t index)
{
	uint64_t at = 0;

	for (size_t i = 0; i <= index; i++)
		at += extents->runs[i].length;
	return at;
}

/* Whether the content of a layout fits together at the joint. */
static bool fits(struct workbench *bench, const struct extents *extents, uint64_t at)
{
	struct outcome outcome;

	if (!workbench_look(bench, extents, &outcome))
		return false;
	outcome_free(&outcome);
	return workbench_fit(bench, at, UINT64_MAX) >= RIVAL_FIT;
}

/* Whether what follows a joint in the image, after the piece with this index, fits too: then there may be none. */
static bool goes_on(struct workbench *bench, const struct joining *joining, size_t index)
{
	const struct range *runs = joining->extents.runs;
	uint64_t from = runs[index].offset + runs[index].length, length = runs[index + 1].length;
	uint64_t end = bench->clusters->end;
	struct extents extents = { 0 };
	bool is_fit;

	if (!bench->rule->carver->joint || from >= end)
		return false;
	extents_set(&extents, runs, index + 1);
	extents_add(&extents, from, length < end - from ? length : end - from);
	is_fit = fits(bench, &extents, joint_after(&joining->extents, index));
	extents_free(&extents);
	return is_fit;
}

/* Tries the other gaps of a ring. Before the last joint a rival is also what the carver accepts for as many bytes as the
 * piece has. */
static void add_rivals(struct workbench *bench, struct contest *contest, enum ring ring)
{
	const struct cell cell = { ring, ZONE_HERE, LIKELY };
	struct step step = { contest->at, 0 };
	struct extents extents = { 0 };
	struct outcome outcome;

	for (uint64_t n = 0; cell_gap(bench->clusters, contest->partial, &cell, n, &step.gap);
		n++) {
		uint64_t tested = bench->tested;
		uint64_t target = step_target(bench->clusters, contest->partial, &step);
		bool accepted, lasts;

		if (is_own(contest->piece, target))
			continue;
		accepted = try(bench, contest->partial, &step, &extents, &outcome);
		lasts = accepted || bench->reached >= contest->at + RIVAL_LASTS;

		if (accepted) {
			add_accepted(bench, contest, target, &outcome);
			outcome_free(&outcome);
		} else if (bench->tested != tested) {
			notice_add(&contest->rivals.notice, bench, contest->at);
			contest->rivals.count +=
				!contest->whole &&
				bench->reached >= contest->at + contest->piece->length;
		}
		if (lasts && !contest->rivals.one_fits && bench->rule->carver->joint)
			contest->rivals.one_fits = fits(bench, &extents, contest->at);
	}
	extents_free(&extents);
}

/* Trials of which much was accepted although they were wrong. What is in this layout lasts as well if it is
 * right, so that it is not counted. */
static uint64_t count_lasting(const struct workbench *bench, const struct joining *joining)
{
	const struct extents *extents = &joining->extents;
	uint64_t count = 0;

	for (size_t i = 0; i < bench->lasting_count; i++) {
		bool is_own = false;

		for (size_t k = 0; k < extents->count && !is_own; k++)
			is_own = bench->lasting[i] - extents->runs[k].offset <
				 extents->runs[k].length;
		count += !is_own;
	}
	return count;
}

/* The bits of what follows a joint. Only where the carver notices wrong data as it goes, and all
 * others with this break were refused. If wrong data lasted, as another picture's does that was coded with the
 * same tables, this may be such data, too. */
static uint32_t survival_bits(const struct workbench *bench, const struct joining *joining,
	const struct rivals *rivals, uint64_t bytes)
{
	const struct notice *notice = &rivals->notice;
	uint32_t bits = notice_bits(notice, bytes), most = SURVIVAL_MAX;
	uint64_t lasting = count_lasting(bench, joining);

	if (bench->rule->carver->lasts || notice->late * 8 > notice->trials || rivals->count ||
		rivals->weaker)
		return 0;
	if (lasting && workbench_bits(bench->tested / lasting) < most)
		most = workbench_bits(bench->tested / lasting);
	return bits < most ? bits : most;
}

/* Rivals at a joint before the last one, after the piece with this index: by trials of other gaps there. */
static struct rivals inner_rivals(
	struct workbench *bench, const struct joining *joining, size_t index)
{
	const struct range *runs = joining->extents.runs;
	struct partial partial = { 0 };
	struct contest contest = { .partial = &partial,
		.piece = &runs[index + 1],
		.at = joint_after(&joining->extents, index) };

	extents_set(&partial.extents, runs, index + 1);
	partial.reached = contest.at;
	contest.rivals.one_fits = goes_on(bench, joining, index);
	add_rivals(bench, &contest, RING_FEW);
	add_rivals(bench, &contest, RING_NEAR);
	partial_free(&partial);
	return contest.rivals;
}

/* The bits of the joint that is proved least. Where checks do not prove one, how long all is accepted after it counts, and how
 * well the content fits, if that of no other layout does. last: rivals at the last joint. */
static uint32_t find_evidence(
	struct workbench *bench, const struct joining *joining, const struct rivals *last)
{
	size_t count = joining->extents.count - 1;
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		const struct joint_bits *joint = &joining->joint_bits[count - 1 - i];
		uint32_t bits = joint->checked;
		struct rivals rivals;

		/* Where that decides nothing it is not looked for. */
		if (bits >= least || (i && workbench_is_proof(bench, bits)))
			continue;
		rivals = i ? inner_rivals(bench, joining, count - 1 - i) : *last;
		bits += survival_bits(
				bench, joining, &rivals, joining->extents.runs[count - i].length) +
			(rivals.one_fits ? 0 : joint->fit);
		least = bits < least ? bits : least;
	}
	return bench->exhausted ? checked_bits(joining) : least;
}

/* Tries other gaps at the last joint. True: there are no rivals, or the content of all is worse. */
static bool judge_gaps(struct workbench *bench, const struct partial *partial,
	const struct joining *joining, struct rivals *rivals)
{
	const struct range *last = &joining->extents.runs[joining->extents.count - 1];
	struct contest contest = { .partial = partial,
		.piece = last,
		.at = joining->outcome.length - last->length,
		.whole = joining,
		.affinity = affinity_new(bench) };
	int64_t bits;

	for (const struct range *run = joining->extents.runs; run < last; run++)
		learn_own(contest.affinity, bench, run->offset, run->length);
	contest.rivals.one_fits = goes_on(bench, joining, joining->extents.count - 2);
	add_rivals(bench, &contest, RING_FEW);
	add_rivals(bench, &contest, RING_NEAR);
	add_rivals(bench, &contest, RING_END);
	*rivals = contest.rivals;
	bits = rivals->count ? bits_at(bench, contest.affinity, last->offset, last->length) : 0;
	affinity_free(contest.affinity);
	return !rivals->count || bits >= rivals->best_bits + RIVAL_MARGIN;
}

/* The work ended before all others were tried. What is whole, and has no rival among those that were, is still likelier
 * right than what is found without it, but nothing proves it. */
static bool may_stay(const struct workbench *bench, const struct joining *joining, uint64_t tested)
{
	return bench->is_last && outcome_is_whole(&joining->outcome) &&
	       bench->tested - tested >= OTHERS_MIN;
}

bool joining_judge(struct workbench *bench, const struct partial *partial, struct joining *joining,
	struct assembly *assembly)
{
	struct rivals rivals = { 0 };
	uint64_t tested = bench->tested;
	bool is_likely;

	is_likely = judge_breaks(bench, joining, assembly);
	assembly->evidence = checked_bits(joining);
	if (joining->is_proved) {
		assembly->doubt_count = 0;
		return true;
	}
	if (!is_likely || !judge_gaps(bench, partial, joining, &rivals))
		return false;
	if (bench->exhausted) {
		assembly->evidence = 0;
		return may_stay(bench, joining, tested);
	}
	if (joining->bits >= EXACT_BITS && !assembly->doubt_count)
		assembly->evidence = find_evidence(bench, joining, &rivals);
	return true;
}
