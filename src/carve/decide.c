/*
 * A group's candidates are tested in this order:
 * 1. Hidden: it starts strictly inside a COMPLETE file, in bytes that its carver verified
 *    (view_unverified). Rules with and without carvers alike.
 * 2. A part: an earlier candidate of its rule read through it as one of its own parts (view_part).
 *    Its check would only reach the same end again, and from each of ten thousand members that
 *    would take hours; so it is not checked.
 * 3. Unchecked: its check took more work than its rule had left, or that was too little for any.
 *    Each rule's checks may take so much work in all as is linear in the bytes searched, or else
 *    headers that each lead through all of the image would cost quadratic time. What is left grows
 *    with the distance from candidate to candidate, so that the rule is usable again past such a
 *    place, and now and then in it.
 * 4. Rejected by its check.
 * 5. In an unverified part: it starts inside a COMPLETE file, in bytes that its carver could not
 *    verify. Only what is COMPLETE itself is kept there.
 * 6. Contained: a TRUNCATED file that is wholly inside an earlier TRUNCATED one of its own rule.
 *    An archive that lost its end would otherwise be carved again from each of its members, a
 *    thousand members making five hundred times its size; no byte is lost by leaving these out.
 *    A truncated file hides nothing else: what is complete inside it is kept. The same for an
 *    UNVERIFIED one that ends where an earlier one of its own rule ends: both guesses are one.
 * 7. Beaten at its own start: a COMPLETE file beats everything else there; otherwise the first rule
 *    with a carver beats later ones with a carver. Rules without carvers are independent of each
 *    other, as in Scalpel.
 * 8. Embedded: an earlier file that was kept, though it is not complete, named this place as that
 *    of a file inside it (view_embedded), or all of a range (view_holds). It is kept all the same if it is COMPLETE and ends after
 *    that one: otherwise something would be lost.
 * 9. Left out for `strict` or a quota. Such a file still hides what is inside it, as an embedded
 *    one does: a quota limits what is written, not what is true.
 */
#include "carve/decide.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/check.h"
#include "carve/parts.h"
#include "carve/rejections.h"
#include "report/record.h"

struct quota_use {
	uint64_t files, bytes;
};

/* Units of work (view_work) that the checks of a rule may take: at first, and then what is added for
 * each byte from candidate to candidate. */
#define WORK_BASE ((uint64_t)512 << 20)
#define WORK_FACTOR 16

/* The files with unverified parts that are remembered, to say in which one a candidate starts. */
#define OUTER_MAX 64
/* Ranges that are remembered. More than this make candidates count as neither hidden nor in an
 * unverified part: they are decided on like all others. */
#define RANGES_MAX ((size_t)1 << 16)
#define SECTOR_LEN 512

struct decided_type {
	struct quota_use quota;
	uint64_t truncated_until;  /* the furthest end of its truncated files so far */
	uint64_t unverified_until; /* the end of its last unverified file */
	/* work_left - WORK_FACTOR * work_at, which never rises: for other threads. */
	_Atomic int64_t work_base;
	_Atomic bool saves;       /* work_left was too little for a check: for other threads */
	_Atomic uint64_t pending; /* work of checks that are not decided on */
	uint64_t work_left;       /* at work_at */
	uint64_t work_at;         /* the start of the last candidate that was charged */
	uint64_t checks;          /* that were charged */
	uint64_t work;            /* of these checks; of one that took too much, what was left */
	struct parts parts;
	/* The last rejection, and its name in the tally: the next one is often the same. */
	char rejected_why[sizeof(((struct finding *)NULL)->why)];
	char rejected_as[192];
};

struct decider {
	const struct rules *rules;
	struct decide_options options;
	struct tallies *rejected, *skipped;
	uint64_t position;        /* just past the last start that was decided */
	unsigned shares;          /* checks that may be under way at the same time */
	struct ranges hidden;     /* from there on */
	struct ranges unverified; /* parts of complete files, from there on */
	struct range outer[OUTER_MAX];
	unsigned outer_count; /* since the start */
	uint64_t unchecked;
	struct crashed_checks crashed;
	struct parts embedded;   /* in files that were kept, or embedded themselves */
	struct ranges held;      /* the same of ranges, from there on */
	uint64_t embedded_until; /* the furthest end of those files */
	struct quota_use total;
	struct quota_use over;      /* left out for max_bytes */
	struct decided_type *types; /* one a rule */
	bool quota_reached;         /* something was left out for another quota */
};

/* For images whose numbers of units fit into 63 bits. */
#define SEARCHED_MAX ((uint64_t)1 << 55)

static uint64_t work_at_most(const struct decider *decider)
{
	uint64_t len = decider->options.searched_len;

	if (!len || len > (UINT64_MAX - WORK_BASE) / WORK_FACTOR)
		return UINT64_MAX;
	return WORK_BASE + WORK_FACTOR * len;
}

static void publish_work(struct decided_type *type)
{
	atomic_store_explicit(
		&type->saves, type->work_left < CHECK_WORK_LEAST, memory_order_relaxed);
	atomic_store_explicit(&type->work_base,
		(int64_t)(type->work_left - WORK_FACTOR * type->work_at), memory_order_relaxed);
}

struct decider *decider_new(const struct rules *rules, const struct decide_options *options,
	struct tallies *rejected, struct tallies *skipped)
{
	struct decider *decider = xcalloc(1, sizeof(*decider));

	decider->rules = rules;
	decider->options = *options;
	decider->shares = 1;
	decider->rejected = rejected;
	decider->skipped = skipped;
	decider->types = xcalloc(rules->count, sizeof(*decider->types));
	for (uint32_t i = 0; i < rules->count; i++) {
		decider->types[i].work_left = work_at_most(decider);
		publish_work(&decider->types[i]);
	}
	return decider;
}

void decider_free(struct decider *decider)
{
	if (!decider)
		return;
	for (uint32_t i = 0; i < decider->rules->count; i++)
		parts_free(&decider->types[i].parts);
	parts_free(&decider->embedded);
	ranges_free(&decider->held);
	ranges_free(&decider->hidden);
	ranges_free(&decider->unverified);
	free(decider->types);
	free(decider);
}

/* ---- what is hidden ------------------------------------------------------------------------ */

/* Nearly always there is one range, and it is the first that decides. */
static inline bool in_ranges(const struct ranges *ranges, uint64_t offset)
{
	const struct range *first = ranges->items;

	if (!ranges->count || offset < first->offset)
		return false;
	if (offset - first->offset < first->length)
		return true;
	return ranges->count > 1 && ranges_overlap(ranges, offset, 1);
}

bool decider_hides(const struct decider *decider, uint64_t start)
{
	return !decider->options.nested && in_ranges(&decider->hidden, start);
}

uint64_t decider_hidden_until(const struct decider *decider)
{
	const struct range *first = decider->hidden.items;

	if (decider->options.nested || !decider->hidden.count || first->offset > decider->position)
		return 0;
	return first->offset + first->length;
}

static void add_range(struct ranges *ranges, uint64_t from, uint64_t to)
{
	struct range *first = ranges->items;

	if (to <= from || ranges->count == RANGES_MAX)
		return;
	if (ranges->count == 1 && from >= first->offset && from <= first->offset + first->length) {
		if (to > first->offset + first->length)
			first->length = to - first->offset;
		return;
	}
	ranges_add(ranges, from, to - from);
}

void decider_hide(struct decider *decider, uint64_t until)
{
	if (until > decider_hidden_until(decider))
		add_range(&decider->hidden, decider->position, until);
}

static inline void forget_before(struct ranges *ranges, uint64_t offset)
{
	if (ranges->count && ranges->items->offset + ranges->items->length <= offset)
		ranges_forget_before(ranges, offset);
}

/* A complete file hides what starts inside its verified bytes. */
static void hide_inside(struct decider *decider, uint64_t start, const struct outcome *outcome)
{
	const struct ranges *unverified = &outcome->unverified;
	uint64_t from = start + 1, end = start + outcome->length;

	for (size_t i = 0; i < unverified->count; i++) {
		const struct range *range = &unverified->items[i];

		add_range(&decider->hidden, from, range->offset);
		from = range->offset + range->length;
		add_range(&decider->unverified, range->offset, from);
	}
	add_range(&decider->hidden, from, end);
	if (unverified->count)
		decider->outer[decider->outer_count++ % OUTER_MAX] =
			(struct range){ start, outcome->length };
}

/* Where the last complete file starts that has the offset in an unverified part. */
static uint64_t outer_of(const struct decider *decider, uint64_t offset)
{
	unsigned count = decider->outer_count < OUTER_MAX ? decider->outer_count : OUTER_MAX;

	for (unsigned i = 1; i <= count; i++) {
		const struct range *outer = &decider->outer[(decider->outer_count - i) % OUTER_MAX];

		if (offset > outer->offset && offset - outer->offset < outer->length)
			return outer->offset;
	}
	return 0;
}

/* ---- work ---------------------------------------------------------------------------------- */

uint64_t decider_work_left(const struct decider *decider, const struct candidate *candidate)
{
	const struct decided_type *type = &decider->types[candidate->rule];
	uint64_t most = work_at_most(decider), advance = 0;

	if (candidate->start > type->work_at) /* not so in Scalpel's order */
		advance = candidate->start - type->work_at;
	if (most == UINT64_MAX || advance > (most - type->work_left) / WORK_FACTOR)
		return most;
	return type->work_left + WORK_FACTOR * advance;
}

/* That a rule must have left for the next check. */
static uint64_t least_work(const struct decided_type *type)
{
	return atomic_load_explicit(&type->saves, memory_order_relaxed) ? DECIDE_SAVED
									: CHECK_WORK_LEAST;
}

bool decider_is_spent(const struct decider *decider, const struct candidate *candidate)
{
	return decider_work_left(decider, candidate) < least_work(&decider->types[candidate->rule]);
}

uint64_t decider_work_cap(const struct decider *decider, const struct candidate *candidate)
{
	uint64_t most = work_at_most(decider);
	int64_t left;

	if (most == UINT64_MAX || decider->options.any_order ||
		decider->options.searched_len > SEARCHED_MAX || candidate->start > SEARCHED_MAX)
		return most;
	left = atomic_load_explicit(
		       &decider->types[candidate->rule].work_base, memory_order_relaxed) +
	       (int64_t)(WORK_FACTOR * candidate->start);
	if (left < 0)
		return 0;
	return (uint64_t)left < most ? (uint64_t)left : most;
}

/* What counts of a check before it is decided on. */
static uint64_t pending_work(const struct decider *decider, uint64_t work)
{
	uint64_t most = work_at_most(decider);

	if (most == UINT64_MAX)
		return 0;
	return work < most ? work : most;
}

void decider_begin_pending(struct decider *decider, uint32_t rule, uint64_t work)
{
	atomic_fetch_add_explicit(
		&decider->types[rule].pending, pending_work(decider, work), memory_order_relaxed);
}

void decider_end_pending(struct decider *decider, uint32_t rule, uint64_t work)
{
	atomic_fetch_sub_explicit(
		&decider->types[rule].pending, pending_work(decider, work), memory_order_relaxed);
}

static uint64_t share_ahead(
	const struct decider *decider, const struct candidate *candidate, bool next)
{
	uint64_t cap = decider_work_cap(decider, candidate), share;
	uint64_t pending = atomic_load_explicit(
		&decider->types[candidate->rule].pending, memory_order_relaxed);

	if (cap == UINT64_MAX || decider->options.any_order)
		return cap;
	if (cap < least_work(&decider->types[candidate->rule]))
		return 0;
	share = pending < cap ? (cap - pending) / decider->shares : 0;
	if (next && share < DECIDE_SAVED)
		return cap < DECIDE_SAVED ? cap : DECIDE_SAVED;
	return share;
}

uint64_t decider_work_ahead(
	const struct decider *decider, const struct candidate *candidate, bool next)
{
	uint64_t share = share_ahead(decider, candidate, next);

	return share < (next ? CHECK_WORK_LEAST : DECIDE_SAVED) ? 0 : share;
}

bool decider_seems_spent(
	const struct decider *decider, const struct candidate *candidate, bool next)
{
	return share_ahead(decider, candidate, next) < CHECK_WORK_LEAST;
}

void decider_share_work(struct decider *decider, unsigned checks)
{
	decider->shares = checks;
}

static const struct rule *rule_of(const struct decider *decider, const struct decision *decision)
{
	return &decider->rules->rules[decision->candidate->rule];
}

/* Takes the check's work from what the rule has left; false when it was more, or no check would do. */
static bool charge_work(struct decider *decider, const struct decision *decision)
{
	struct decided_type *type = &decider->types[decision->candidate->rule];
	uint64_t work = decision->outcome->work, left;
	bool enough;

	if (!check_needed(rule_of(decider, decision)))
		return true;
	if (decider_is_spent(decider, decision->candidate))
		return false;
	left = decider_work_left(decider, decision->candidate);
	enough = work <= left && work != UINT64_MAX;
	type->checks++;
	type->work += enough ? work : left;
	type->work_left = enough ? left - work : 0;
	type->work_at = decision->candidate->start;
	publish_work(type);
	return enough;
}

const struct crashed_checks *decider_crashed(const struct decider *decider)
{
	return &decider->crashed;
}

uint64_t decider_unchecked(const struct decider *decider)
{
	return decider->unchecked;
}

void decider_tally_checks(const struct decider *decider, struct tallies *checks)
{
	for (uint32_t i = 0; i < decider->rules->count; i++)
		tally_add_many(checks, decider->rules->rules[i].name, decider->types[i].checks,
			decider->types[i].work);
}

/* ---- single candidates --------------------------------------------------------------------- */

static void tally_hidden(struct decider *decider, uint64_t count)
{
	tally_add_many(decider->skipped, "inside a complete file", count, 0);
}

bool decider_skip_hidden(struct decider *decider, const struct candidate *candidate)
{
	if (!decider_hides(decider, candidate->start))
		return false;
	tally_hidden(decider, 1);
	return true;
}

void decider_skip_many(struct decider *decider, uint64_t count)
{
	tally_hidden(decider, count);
}

uint64_t decider_position(const struct decider *decider)
{
	return decider->position;
}

void decider_quota(const struct decider *decider, struct quota_state *quota)
{
	*quota = (struct quota_state){
		.kept_bytes = decider->total.bytes,
		.over_files = decider->over.files,
		.over_bytes = decider->over.bytes,
		.other = decider->quota_reached,
	};
}

bool decider_is_part(const struct decider *decider, const struct candidate *candidate)
{
	return parts_has(&decider->types[candidate->rule].parts, candidate->start);
}

static uint64_t end_of(const struct decision *decision)
{
	return decision->candidate->start + decision->outcome->length;
}

static bool is_contained(const struct decider *decider, const struct decision *decision)
{
	const struct decided_type *type = &decider->types[decision->candidate->rule];

	if (decider->options.nested || !rule_of(decider, decision)->carver)
		return false;
	if (decision->outcome->verdict == CARVE_TRUNCATED)
		return end_of(decision) <= type->truncated_until;
	return decision->outcome->verdict == CARVE_UNVERIFIED &&
	       end_of(decision) == type->unverified_until;
}

/* It is not even a possible file, or not known to be one. */
static bool is_out(const struct decision *decision)
{
	return decision->unchecked || decision->outcome->verdict == CARVE_REJECT ||
	       (decision->overlaps && decision->outcome->verdict != CARVE_COMPLETE);
}

/* In a range that an earlier file holds. What starts at a sector may be a file that overwrote a part of that one. */
static bool is_held(const struct decider *decider, const struct decision *decision)
{
	return in_ranges(&decider->held, decision->candidate->start) &&
	       decision->candidate->start % SECTOR_LEN != 0;
}

static bool is_embedded(const struct decider *decider, const struct decision *decision)
{
	return !decider->options.nested &&
	       (parts_has(&decider->embedded, decision->candidate->start) ||
		       is_held(decider, decision)) &&
	       (decision->outcome->verdict != CARVE_COMPLETE ||
		       end_of(decision) <= decider->embedded_until);
}

static void note_parts(struct parts *parts, uint64_t start, const uint64_t *offsets, size_t count)
{
	parts_forget_before(parts, start);
	for (size_t i = 0; i < count; i++)
		parts_add(parts, offsets[i]);
}

/* From now on what this file named is embedded. */
static void note_embedded(struct decider *decider, const struct decision *decision)
{
	const struct outcome *outcome = decision->outcome;

	if (!outcome->embedded_count && !outcome->held.count)
		return;
	note_parts(&decider->embedded, decision->candidate->start, outcome->embedded,
		outcome->embedded_count);
	for (size_t i = 0; i < outcome->held.count; i++)
		add_range(&decider->held, outcome->held.items[i].offset,
			outcome->held.items[i].offset + outcome->held.items[i].length);
	if (end_of(decision) > decider->embedded_until)
		decider->embedded_until = end_of(decision);
}

/* From now on truncated files inside these are contained, and what starts at the parts that they
 * named is not checked. */
static void note_inside(struct decider *decider, const struct decision *decisions, size_t count,
	const struct decision *winner)
{
	for (size_t i = 0; i < count; i++) {
		struct decided_type *type = &decider->types[decisions[i].candidate->rule];

		if (decisions[i].unchecked || decisions[i].unused)
			continue;
		/* It hides all that is inside it anyway. */
		if (&decisions[i] == winner && winner->outcome->verdict == CARVE_COMPLETE &&
			!winner->outcome->unverified.count && !decider->options.nested)
			continue;
		note_parts(&type->parts, decisions[i].candidate->start, decisions[i].outcome->parts,
			decisions[i].outcome->part_count);
		if (!rule_of(decider, &decisions[i])->carver || is_out(&decisions[i]))
			continue;
		if (decisions[i].outcome->verdict == CARVE_UNVERIFIED)
			type->unverified_until = end_of(&decisions[i]);
		if (decisions[i].outcome->verdict == CARVE_TRUNCATED &&
			end_of(&decisions[i]) > type->truncated_until)
			type->truncated_until = end_of(&decisions[i]);
	}
}

/* The decision that wins this start among those with carvers; NULL when all are rejected. */
static const struct decision *find_winner(
	const struct decider *decider, const struct decision *decisions, size_t count)
{
	const struct decision *winner = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct decision *decision = &decisions[i];

		if (!rule_of(decider, decision)->carver || decision->unused || is_out(decision) ||
			is_contained(decider, decision))
			continue;
		if (decision->outcome->verdict == CARVE_COMPLETE)
			return decision;
		if (!winner)
			winner = decision;
	}
	return winner;
}

static bool fits_quota(
	const struct quota_use *used, uint64_t length, uint64_t max_files, uint64_t max_bytes)
{
	if (max_files && used->files >= max_files)
		return false;
	return !max_bytes || (length <= max_bytes && used->bytes <= max_bytes - length);
}

/* What is left out may come to more than 64 bits. */
static void take(struct quota_use *used, uint64_t length)
{
	used->files++;
	used->bytes += length < UINT64_MAX - used->bytes ? length : UINT64_MAX - used->bytes;
}

static bool take_quota(struct decider *decider, const struct decision *decision)
{
	const struct decide_options *options = &decider->options;
	struct quota_use *type = &decider->types[decision->candidate->rule].quota;
	uint64_t length = decision->outcome->length;

	if (!fits_quota(&decider->total, length, options->max_files, 0) ||
		!fits_quota(type, length, options->max_files_type, options->max_bytes_type)) {
		decider->quota_reached = true;
		return false;
	}
	if (!fits_quota(&decider->total, length, 0, options->max_bytes)) {
		take(&decider->over, length);
		return false;
	}
	take(&decider->total, length);
	take(type, length);
	return true;
}

/* Why a file is left out, for the tally of skipped files; NULL when it is kept. */
static const char *reason_to_skip(
	struct decider *decider, struct decision *decision, const struct decision *winner)
{
	const struct outcome *outcome = decision->outcome;
	bool beaten =
		winner && decision != winner &&
		(winner->outcome->verdict == CARVE_COMPLETE || rule_of(decider, decision)->carver);

	if (beaten)
		return "another type starts here";
	if (is_embedded(decider, decision)) {
		note_embedded(decider, decision);
		return "a part of an earlier file";
	}
	if (decider->options.strict && outcome->verdict != CARVE_COMPLETE)
		return "not complete (--strict)";
	decision->over_quota = !take_quota(decider, decision);
	return decision->over_quota ? "quota" : NULL;
}

/* Counts a rejection under its type and reason. */
static void tally_rejection(struct decider *decider, const struct decision *decision)
{
	struct decided_type *type = &decider->types[decision->candidate->rule];
	const char *why = decision->outcome->finding.why;
	char *key = type->rejected_as;
	const size_t room = sizeof(type->rejected_as);
	size_t len;

	if (!*key || strcmp(why, type->rejected_why) != 0) {
		len = (size_t)snprintf(key, room / 2, "%s: ", rule_of(decider, decision)->name);
		if (len >= room / 2)
			len = room / 2 - 1;
		rejection_reason(why, key + len, room - len);
		memcpy(type->rejected_why, why, strlen(why) + 1);
	}
	tally_add(decider->rejected, key, 0);
}

static void tally_unchecked(struct decider *decider, const struct decision *decision)
{
	char name[160];

	decider->unchecked++;
	snprintf(name, sizeof(name), "%.64s: not checked, the rule's work budget was spent",
		rule_of(decider, decision)->name);
	tally_add(decider->skipped, name, 0);
}

static void tally_crash(struct decider *decider, const struct decision *decision)
{
	struct crashed_checks *crashed = &decider->crashed;
	const struct candidate *candidate = decision->candidate;
	char name[256];

	if (crashed->count < CRASHES_NAMED) {
		crashed->first[crashed->count].start = candidate->start;
		crashed->first[crashed->count].rule = candidate->rule;
	}
	crashed->count++;
	snprintf(name, sizeof(name), "%.64s: %s", rule_of(decider, decision)->name,
		decision->outcome->finding.why);
	tally_add(decider->skipped, name, 0);
}

/* Decides on a candidate that is not hidden. Returns why it is skipped; NULL when it is kept, or
 * counted under another name. */
static const char *decide_one(
	struct decider *decider, struct decision *decision, const struct decision *winner)
{
	const char *why;

	if (decision->unused)
		return "a part of an earlier file of its type";
	if (decision->unchecked) {
		tally_unchecked(decider, decision);
		return NULL;
	}
	if (decision->outcome->crashed) {
		tally_crash(decider, decision);
		return NULL;
	}
	if (decision->outcome->verdict == CARVE_REJECT) {
		tally_rejection(decider, decision);
		return NULL;
	}
	if (is_out(decision))
		return "in an unverified part of a complete file";
	if (is_contained(decider, decision))
		return decision->outcome->verdict == CARVE_TRUNCATED
			       ? "inside a truncated file of its type"
			       : "inside an unverified file of its type";
	why = reason_to_skip(decider, decision, winner);
	decision->keep = !why;
	if (decision->keep)
		note_embedded(decider, decision);
	return why;
}

/* Finds out what a decision rests on beside the outcome. */
static void examine(struct decider *decider, struct decision *decision)
{
	uint64_t start = decision->candidate->start;

	decision->keep = decision->over_quota = false;
	decision->unused = decider_is_part(decider, decision->candidate);
	decision->unchecked = !decision->unused && !charge_work(decider, decision);
	decision->overlaps = !decider->options.nested && in_ranges(&decider->unverified, start);
	decision->outer = decision->overlaps ? outer_of(decider, start) : 0;
}

static void decide_visible(struct decider *decider, struct decision *decisions, size_t count)
{
	const struct decision *winner;

	for (size_t i = 0; i < count; i++)
		examine(decider, &decisions[i]);
	winner = find_winner(decider, decisions, count);
	for (size_t i = 0; i < count; i++) {
		const char *why = decide_one(decider, &decisions[i], winner);

		if (why)
			tally_add(decider->skipped, why, 0);
	}
	note_inside(decider, decisions, count, winner);
	if (winner && winner->outcome->verdict == CARVE_COMPLETE)
		hide_inside(decider, winner->candidate->start, winner->outcome);
}

/* All that starts there or before is being decided on. */
static void move_past(struct decider *decider, uint64_t start)
{
	forget_before(&decider->hidden, start);
	forget_before(&decider->unverified, start);
	forget_before(&decider->held, start);
	decider->position = start + 1;
}

void decider_pass_hidden(struct decider *decider, uint64_t start, size_t count)
{
	assert(decider_hides(decider, start));
	tally_hidden(decider, count);
	move_past(decider, start);
}

void decide_group(struct decider *decider, struct decision *decisions, size_t count)
{
	uint64_t start = decisions[0].candidate->start;

	assert(count);
	if (decider_hides(decider, start)) {
		for (size_t i = 0; i < count; i++) {
			decisions[i].keep = false;
			decisions[i].unused = true;
		}
		decider_pass_hidden(decider, start, count);
		return;
	}
	move_past(decider, start);
	decide_visible(decider, decisions, count);
}

static void save_quota(const struct quota_use *quota, struct codec_writer *writer)
{
	codec_put(writer, quota->files);
	codec_put(writer, quota->bytes);
}

void decider_save(const struct decider *decider, struct codec_writer *writer)
{
	codec_put(writer, decider->position);
	ranges_save(&decider->hidden, UINT64_MAX, writer);
	ranges_save(&decider->unverified, UINT64_MAX, writer);
	ranges_save(&decider->held, UINT64_MAX, writer);
	codec_put(writer, decider->outer_count);
	for (unsigned i = 0; i < OUTER_MAX; i++) {
		codec_put(writer, decider->outer[i].offset);
		codec_put(writer, decider->outer[i].length);
	}
	codec_put(writer, decider->unchecked);
	codec_put(writer, decider->crashed.count);
	for (unsigned i = 0; i < CRASHES_NAMED; i++) {
		codec_put(writer, decider->crashed.first[i].start);
		codec_put(writer, decider->crashed.first[i].rule);
	}
	codec_put(writer, decider->quota_reached);
	save_quota(&decider->total, writer);
	save_quota(&decider->over, writer);
	codec_put(writer, decider->embedded_until);
	parts_save(&decider->embedded, writer);
	for (uint32_t i = 0; i < decider->rules->count; i++) {
		save_quota(&decider->types[i].quota, writer);
		codec_put(writer, decider->types[i].truncated_until);
		codec_put(writer, decider->types[i].unverified_until);
		codec_put(writer, decider->types[i].work_left);
		codec_put(writer, decider->types[i].work_at);
		codec_put(writer, decider->types[i].checks);
		codec_put(writer, decider->types[i].work);
		parts_save(&decider->types[i].parts, writer);
	}
}

static void load_quota(struct quota_use *quota, struct codec_reader *reader)
{
	quota->files = codec_get(reader, UINT64_MAX);
	quota->bytes = codec_get(reader, UINT64_MAX);
}

void decider_load(struct decider *decider, uint64_t limit, struct codec_reader *reader)
{
	decider->position = codec_get(reader, limit);
	ranges_load(&decider->hidden, limit, reader);
	ranges_load(&decider->unverified, limit, reader);
	ranges_load(&decider->held, limit, reader);
	decider->outer_count = (unsigned)codec_get(reader, UINT32_MAX);
	for (unsigned i = 0; i < OUTER_MAX; i++) {
		decider->outer[i].offset = codec_get(reader, limit);
		decider->outer[i].length = codec_get(reader, limit);
	}
	decider->unchecked = codec_get(reader, UINT64_MAX);
	decider->crashed.count = codec_get(reader, UINT64_MAX);
	for (unsigned i = 0; i < CRASHES_NAMED; i++) {
		decider->crashed.first[i].start = codec_get(reader, limit);
		decider->crashed.first[i].rule =
			(uint32_t)codec_get(reader, decider->rules->count - 1);
	}
	decider->quota_reached = codec_get_flag(reader);
	load_quota(&decider->total, reader);
	load_quota(&decider->over, reader);
	decider->embedded_until = codec_get(reader, limit);
	parts_load(&decider->embedded, limit, reader);
	for (uint32_t i = 0; i < decider->rules->count && codec_ok(reader); i++) {
		load_quota(&decider->types[i].quota, reader);
		decider->types[i].truncated_until = codec_get(reader, limit);
		decider->types[i].unverified_until = codec_get(reader, limit);
		decider->types[i].work_left = codec_get(reader, work_at_most(decider));
		decider->types[i].work_at = codec_get(reader, limit);
		publish_work(&decider->types[i]);
		decider->types[i].checks = codec_get(reader, UINT64_MAX);
		decider->types[i].work = codec_get(reader, UINT64_MAX);
		parts_load(&decider->types[i].parts, limit, reader);
	}
}
