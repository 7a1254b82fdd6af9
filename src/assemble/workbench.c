#include "assemble/workbench.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/page_proof.h"
#include "base/memory.h"
#include "carvers/coded.h"

bool workbench_goes_on(const struct workbench *bench)
{
	return !bench->stopped && !bench->no_memory && !bench->exhausted;
}

void workbench_spend(struct workbench *bench, uint64_t units)
{
	bench->work_left -= units < bench->work_left ? units : bench->work_left;
	if (!bench->work_left)
		bench->exhausted = true;
}

#define READ_WORK 256      /* units to read a few bytes, */
#define READ_WORK_BYTES 16 /* and for so many of them one more */

bool workbench_fetch(struct workbench *bench, uint64_t offset, uint8_t *bytes, size_t len)
{
	uint64_t end = bench->clusters->end;

	if (offset > end || len > end - offset || !workbench_goes_on(bench))
		return false;
	view_read_image(bench->view, bench->evidence, offset, bytes, len);
	bench->stopped |= image_was_cut(bench->evidence);
	return !bench->stopped;
}

bool workbench_read(struct workbench *bench, uint64_t offset, uint8_t *bytes, size_t len)
{
	workbench_spend(bench, READ_WORK + len / READ_WORK_BYTES);
	return workbench_fetch(bench, offset, bytes, len);
}

void workbench_open(struct workbench *bench, const struct extents *extents)
{
	view_point_runs(
		bench->view, bench->evidence, extents->runs, extents->count, bench->rule->max_size);
	view_limit_work(bench->view, bench->work_left);
}

void workbench_close(struct workbench *bench)
{
	struct view *view = bench->view;

	workbench_spend(bench, view_work_done(view));
	view_release(view);
	bench->stopped |= view_stopped(view);
	bench->no_memory |= view_lacked_memory(view);
	view_point(view, bench->evidence, 0, 0);
}

static bool is_accepted(const struct outcome *outcome, enum verdict least)
{
	return outcome_is_whole(outcome) ||
	       (outcome->verdict == CARVE_UNVERIFIED && least == CARVE_UNVERIFIED);
}

/* What a trial must come to. */
static enum verdict least_verdict(const struct workbench *bench)
{
	return bench->takes_unverified ? CARVE_UNVERIFIED : CARVE_COMPLETE;
}

static uint64_t offset_of(const struct carve_state *state)
{
	return state ? state->offset : UINT64_MAX;
}

static bool is_same(const struct extents *a, const struct extents *b)
{
	return a->count == b->count && !memcmp(a->runs, b->runs, a->count * sizeof(*a->runs));
}

/* Whether a check that was made ahead began with that state, or with none. */
static bool is_from(const struct workbench *bench, const struct workbench_check *known,
	const struct carve_state *state)
{
	return known->from == offset_of(state) && (!state || known->states == bench->states.number);
}

/* The same check, if it was made ahead and no budget would have ended it. */
static const struct workbench_check *find_known(const struct workbench *bench,
	const struct extents *extents, const struct check_options *options)
{
	for (size_t i = 0; bench->ahead && !options->spacing && i < bench->ahead->count; i++) {
		const struct workbench_check *known = &bench->ahead->items[i];

		if (is_from(bench, known, options->from) && known->work < bench->work_left &&
			options->thorough == !options->from && is_same(&known->extents, extents))
			return known;
	}
	return NULL;
}

/* How far the check of the view looked; where the file's end was found elsewhere, before that. */
static uint64_t looked_at(const struct workbench *bench, const struct carve_state *from)
{
	uint64_t reach = bench->tail ? view_tail_reach(bench->view) : view_reach(bench->view);

	return bench->tail && from && from->offset > reach ? from->offset : reach;
}

/* Notes a check for the thread that it is made for, unless that is to make it itself. */
static void note_check(struct workbench *bench, const struct extents *extents,
	const struct check_options *options, const struct outcome *outcome)
{
	struct workbench_ahead *noted = bench->noted;
	struct workbench_check *item;

	if (!noted || noted->count == WORKBENCH_CHECKS || bench->no_memory || bench->stopped ||
		outcome->work >= bench->work_left || is_accepted(outcome, least_verdict(bench)))
		return;
	item = &noted->items[noted->count++];
	*item = (struct workbench_check){ .from = offset_of(options->from),
		.states = bench->states.number,
		.verdict = outcome->verdict,
		.length = outcome->length,
		.work = outcome->work,
		.seen = bench->looked_at,
		.proof = view_proof(bench->view, noted->at) };
	extents_set(&item->extents, extents->runs, extents->count);
}

unsigned workbench_proof(const struct workbench *bench, uint64_t at)
{
	return bench->was_known ? bench->known_proof : view_proof(bench->view, at);
}

void workbench_forget(struct workbench_ahead *ahead)
{
	for (size_t i = 0; i < ahead->count; i++)
		extents_free(&ahead->items[i].extents);
	ahead->count = 0;
}

static uint64_t seen_by(const struct workbench *bench)
{
	return bench->was_known ? bench->known_seen : bench->looked_at;
}

/* Keeps account of the check's work, or of what it was allowed, and of why it may have ended early. */
static void check(struct workbench *bench, const struct extents *extents,
	const struct check_options *options, struct outcome *outcome)
{
	const struct workbench_check *known = find_known(bench, extents, options);
	struct check_options with_tail = *options;

	bench->was_known = known;
	if (known) {
		bench->known_seen = known->seen;
		bench->known_proof = known->proof;
		*outcome = (struct outcome){ .verdict = known->verdict, .length = known->length };
		workbench_spend(bench, known->work);
		return;
	}
	with_tail.tail = bench->tail;
	check_runs(bench->view, bench->evidence, bench->rule, extents->runs, extents->count,
		bench->work_left, &with_tail, outcome);
	bench->no_memory = outcome->no_memory;
	bench->stopped = view_stopped(bench->view);
	bench->looked_at = looked_at(bench, options->from);
	note_check(bench, extents, options, outcome);
	workbench_spend(bench, outcome->work);
}

/* Bytes of which the last state is kept: most pieces end where those do. */
#define STATE_SPACING 4096

/* Frees the first ones. */
static void drop_states(struct workbench_states *states, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((void *)states->items[i].data);
	states->count -= count;
	memmove(states->items, states->items + count, states->count * sizeof(*states->items));
}

static void forget_states(struct workbench_states *states)
{
	drop_states(states, states->count);
}

/* Adds those of a check that began with one of these, or from the file's beginning: as if that had made all. */
static void add_states(struct workbench_states *states, struct view *view)
{
	struct carve_state items[VIEW_STATES];
	size_t count = view_take_states(view, items), kept = 0;

	while (kept < states->count && count &&
		states->items[kept].offset / STATE_SPACING < items[0].offset / STATE_SPACING)
		kept++;
	while (count && states->count > kept)
		free((void *)states->items[--states->count].data);
	if (states->count + count > VIEW_STATES)
		drop_states(states, states->count + count - VIEW_STATES);
	memcpy(states->items + states->count, items, count * sizeof(*items));
	states->count += count;
}

void workbench_note_lasting(struct workbench *bench, uint64_t target)
{
	bench->lasting = xgrow(bench->lasting, &bench->lasting_capacity, bench->lasting_count,
		sizeof(*bench->lasting));
	bench->lasting[bench->lasting_count++] = target;
}

void workbench_end(struct workbench *bench)
{
	free(bench->lasting);
	bench->lasting = NULL;
	bench->lasting_count = bench->lasting_capacity = 0;
	extents_free(&bench->states.extents);
	extents_free(&bench->heads.extents);
	forget_states(&bench->states);
}

/* How many bytes two files have in common from their beginning. */
static uint64_t common_length(const struct extents *a, const struct extents *b)
{
	uint64_t length = 0;

	for (size_t i = 0; i < a->count && i < b->count; i++) {
		const struct range *left = &a->runs[i], *right = &b->runs[i];

		if (left->offset != right->offset)
			break;
		if (left->length != right->length)
			return length +
			       (left->length < right->length ? left->length : right->length);
		length += left->length;
	}
	return length;
}

/* The last state inside what the extents have in common with those that were checked, at `most` at most, or NULL. */
static const struct carve_state *find_state_before(
	const struct workbench *bench, const struct extents *extents, uint64_t most)
{
	const struct workbench_states *states = &bench->states;
	uint64_t common = states->count ? common_length(extents, &states->extents) : 0;

	common = common < most ? common : most;
	for (size_t i = states->count; i > 0; i--)
		if (states->items[i - 1].offset <= common)
			return &states->items[i - 1];
	return NULL;
}

static const struct carve_state *find_state(
	const struct workbench *bench, const struct extents *extents)
{
	return find_state_before(bench, extents, UINT64_MAX);
}

bool workbench_decodes_on(const struct workbench *bench)
{
	return bench->rule->carver->codes && bench->rule->carver->codes->goes_on;
}

/* Where the carver decodes all in order, those of the file before are of use as far as this one has the same bytes. What is before
 * the joint is not doubted again. */
void workbench_prepare(struct workbench *bench, const struct extents *extents, uint64_t joint)
{
	struct check_options spaced = { .spacing = STATE_SPACING };
	struct workbench_states *states = &bench->states;
	struct outcome outcome;

	if (workbench_decodes_on(bench) && states->count && is_same(extents, &states->extents))
		return;
	states->number++;
	if (!bench->rule->carver->resume || !workbench_goes_on(bench)) {
		forget_states(states);
		return;
	}
	if (bench->rule->carver->coded)
		spaced.from = find_state(bench, extents);
	else if (workbench_decodes_on(bench))
		spaced.from = find_state_before(bench, extents, joint);
	while (states->count && spaced.from != &states->items[states->count - 1])
		free((void *)states->items[--states->count].data);
	check(bench, extents, &spaced, &outcome);
	states->verdict = outcome.verdict;
	states->length = outcome.length;
	states->seen = bench->looked_at;
	outcome_free(&outcome);
	extents_set(&states->extents, extents->runs, extents->count);
	add_states(states, bench->view);
}

bool workbench_describe_stored(
	struct workbench *bench, const struct extents *extents, struct carve_stored *stored)
{
	bool described;

	if (!bench->rule->carver->stored || !workbench_goes_on(bench))
		return false;
	workbench_open(bench, extents);
	described = bench->rule->carver->stored(bench->view, stored);
	workbench_close(bench);
	return described && workbench_goes_on(bench);
}

bool workbench_describe(struct workbench *bench, const struct extents *extents, uint64_t at,
	struct carve_coded *coded)
{
	struct extents start = { 0 };
	bool described = false;

	if (bench->rule->carver->coded && workbench_goes_on(bench)) {
		extents_set_first(&start, extents->runs, extents->count, at);
		workbench_open(bench, &start);
		coded->begins = false;
		described =
			bench->rule->carver->coded(bench->view, find_state(bench, &start), coded);
		workbench_close(bench);
	}
	extents_free(&start);
	return described && workbench_goes_on(bench);
}

void *workbench_begin_codes(struct workbench *bench, const struct extents *extents, uint64_t at)
{
	struct extents start = { 0 };
	void *made = NULL;

	if (workbench_goes_on(bench)) {
		extents_set_first(&start, extents->runs, extents->count, at);
		workbench_open(bench, &start);
		made = bench->rule->carver->codes->begin(bench->view, find_state(bench, &start));
		workbench_close(bench);
	}
	extents_free(&start);
	return made;
}

/* A thorough check notices what is wrong earlier, unless the carver goes on from a state. */
static void set_options(
	const struct workbench *bench, const struct extents *extents, struct check_options *options)
{
	options->from = find_state(bench, extents);
	options->thorough = !options->from;
	options->is_trial = !bench->looks;
}

/* Bytes at the end of what is cut that a carver may leave out: half a record. */
#define CUT_SLACK 64
/* Bytes after a break, beside one cluster, that a cheap trial has. */
#define PAST_BREAK 4096

/* Checks the first `length` bytes of the extents. Returns how many of them are valid; UINT64_MAX when that
 * says nothing. */
static uint64_t check_start(struct workbench *bench, const struct extents *extents, uint64_t length)
{
	struct extents *start = &bench->heads.extents;
	struct check_options options = { 0 };
	struct outcome outcome;
	uint64_t valid;

	extents_set_first(start, extents->runs, extents->count, length);
	set_options(bench, start, &options);
	check(bench, start, &options, &outcome);
	bench->seen = seen_by(bench);
	bench->verdict = outcome.verdict;
	valid = outcome.verdict == CARVE_TRUNCATED || outcome.verdict == CARVE_UNVERIFIED
			? outcome.length
			: UINT64_MAX;
	outcome_free(&outcome);
	return valid;
}

/* Whether a file that is valid up to there may have the cluster after the break, or end in it. */
static bool has_cluster(const struct workbench *bench, uint64_t at, uint64_t valid)
{
	uint64_t size = bench->clusters->size;
	bool may_end = bench->verdict == CARVE_UNVERIFIED;

	return valid >= at + (may_end ? size / 8 : size - size / 4);
}

/* How many bytes the carver finds valid if the file is cut at the break. */
static uint64_t valid_head(struct workbench *bench, const struct extents *extents, uint64_t at)
{
	struct workbench_heads *heads = &bench->heads;
	uint64_t hash = extents_hash(extents, at);
	size_t slot = hash % WORKBENCH_HEADS;

	if (heads->hash[slot] != hash) {
		heads->valid[slot] = check_start(bench, extents, at);
		heads->hash[slot] = hash;
	}
	return heads->valid[slot];
}

/* Whether all is valid up to a cut. Then the carver notices soon what is wrong after it. */
static bool is_valid_head(struct workbench *bench, const struct extents *extents, uint64_t at)
{
	uint64_t valid = valid_head(bench, extents, at);

	return valid != UINT64_MAX && valid + CUT_SLACK >= at;
}

bool workbench_may_break(
	struct workbench *bench, const struct extents *extents, uint64_t at, uint64_t noticed)
{
	uint64_t size = bench->clusters->size, before = noticed / size * size;

	if (workbench_decodes_on(bench))
		return !workbench_goes_on(bench) || is_valid_head(bench, extents, at);
	return !workbench_goes_on(bench) || is_valid_head(bench, extents, at) || !before ||
	       before >= at || valid_head(bench, extents, at) != noticed ||
	       !is_valid_head(bench, extents, before);
}

/* Whether the carver goes on from a state, and decodes all in order: then a check of the whole costs no more than a cheap
 * trial, which comes to the same where it is refused. */
static bool decodes_in_order(const struct workbench *bench, const struct extents *extents)
{
	return bench->rule->carver->coded && find_state(bench, extents);
}

bool workbench_goes_past(
	struct workbench *bench, const struct extents *extents, uint64_t at, uint64_t noticed)
{
	uint64_t size = bench->clusters->size, valid;

	if (!workbench_may_break(bench, extents, at, noticed))
		return false;
	if (!workbench_goes_on(bench) || !is_valid_head(bench, extents, at))
		return true;
	if (decodes_in_order(bench, extents)) {
		bench->near_break = at;
		return true;
	}
	valid = check_start(bench, extents, at + size + PAST_BREAK);
	if (has_cluster(bench, at, valid) || !workbench_goes_on(bench))
		return true;
	bench->tested++;
	bench->reached = valid;
	bench->verdict = CARVE_TRUNCATED;
	return false;
}

/* Where a cheap trial would have refused the piece, only what that has seen counts. */
static void forget_far(struct workbench *bench)
{
	uint64_t at = bench->near_break, end = at + bench->clusters->size + PAST_BREAK;

	bench->near_break = 0;
	if (at && bench->seen > end && !has_cluster(bench, at, bench->reached))
		bench->seen = end;
}

bool workbench_check(struct workbench *bench, struct extents *extents, enum verdict least,
	struct outcome *outcome)
{
	struct check_options options = { 0 };
	bool good;

	if (!workbench_goes_on(bench))
		return false;
	assert(extents->count);
	bench->tested++;
	set_options(bench, extents, &options);
	check(bench, extents, &options, outcome);
	bench->reached = outcome->length;
	bench->seen = seen_by(bench);
	bench->verdict = outcome->verdict;
	forget_far(bench);
	good = is_accepted(outcome, least);
	if (!good || bench->no_memory || bench->stopped) {
		outcome_free(outcome);
		return false;
	}
	extents_cut(extents, outcome->length);
	if (!extents_overlaps_itself(extents))
		return true;
	outcome_free(outcome);
	return false;
}

bool workbench_try(struct workbench *bench, struct extents *extents, struct outcome *outcome)
{
	if (!workbench_check(bench, extents, least_verdict(bench), outcome))
		return false;
	if (clusters_all_free(bench->clusters, extents->runs, extents->count))
		return true; /* no complete file has a byte of it */
	outcome_free(outcome);
	return false;
}

uint32_t workbench_fit(struct workbench *bench, uint64_t at, uint64_t end)
{
	const struct carver *carver = bench->rule->carver;

	return carver->joint ? carver->joint(bench->view, at, end) : 0;
}

/* The bits of each of the file's joints, as many as there are. What the carver declared is read first, as
 * looking at a joint may make it declare again. */
static struct joint_bits *find_bits(struct workbench *bench, const struct extents *extents)
{
	size_t count = extents->count - 1;
	struct joint_bits *bits = xcalloc(count + 1, sizeof(*bits));
	uint64_t joint = 0;

	for (size_t i = 0; i < count; i++) {
		joint += extents->runs[i].length;
		bits[i].checked = view_proof(bench->view, joint);
	}
	joint = 0;
	for (size_t i = 0; i < count; i++) {
		joint += extents->runs[i].length;
		bits[i].fit = workbench_fit(bench, joint, joint + extents->runs[i + 1].length);
	}
	page_proof_add(bench, extents, bits);
	return bits;
}

static const struct check_options thorough = { .thorough = true };

bool workbench_look(struct workbench *bench, const struct extents *extents, struct outcome *outcome)
{
	if (!workbench_goes_on(bench))
		return false;
	bench->tested++;
	check(bench, extents, &thorough, outcome);
	if (workbench_goes_on(bench))
		return true;
	outcome_free(outcome);
	return false;
}

bool workbench_prove(struct workbench *bench, const struct extents *extents,
	struct outcome *outcome, uint32_t *bits, struct joint_bits **joint_bits)
{
	struct outcome again;
	struct joint_bits *each;

	if (!workbench_goes_on(bench))
		return false;
	check(bench, extents, &thorough, &again);
	if (!is_accepted(&again, least_verdict(bench)) || again.length != outcome->length ||
		bench->no_memory || bench->stopped) {
		outcome_free(&again);
		return false;
	}
	each = find_bits(bench, extents);
	*bits = UINT32_MAX;
	for (size_t i = 0; i + 1 < extents->count; i++) {
		uint32_t all = each[i].checked + each[i].fit;

		*bits = all < *bits ? all : *bits;
	}
	if (joint_bits)
		*joint_bits = each;
	else
		free(each);
	outcome_free(outcome);
	*outcome = again;
	return true;
}

#define COMPARED_LEN ((uint64_t)1 << 16) /* bytes read at once */

bool workbench_is_same(struct workbench *bench, uint64_t a, uint64_t b, uint64_t len)
{
	uint8_t *bytes = xmalloc(2 * COMPARED_LEN);
	bool same = true;

	for (uint64_t at = 0; at < len && same; at += COMPARED_LEN) {
		size_t part = len - at < COMPARED_LEN ? (size_t)(len - at) : COMPARED_LEN;

		same = workbench_read(bench, a + at, bytes, part) &&
		       workbench_read(bench, b + at, bytes + COMPARED_LEN, part) &&
		       memcmp(bytes, bytes + COMPARED_LEN, part) == 0;
	}
	free(bytes);
	return same;
}

#define KNOWN_WORK 256 /* units to know a trial */

/* What a trial has in common with the same one in another pass. */
static uint64_t trial_key(
	const struct workbench *bench, const struct extents *extents, uint64_t at, uint64_t noticed)
{
	uint64_t hash = extents_hash(extents, at + bench->clusters->size);

	hash = (hash ^ at) * 0x9e3779b97f4a7c15 ^ noticed;
	if (bench->tail)
		hash = (hash ^ bench->tail ^ bench->tail_shift) * 0xbf58476d1ce4e5b9;
	return hash;
}

bool workbench_is_known(
	struct workbench *bench, const struct extents *extents, uint64_t at, uint64_t noticed)
{
	const struct known_trial *known =
		known_trials_find(bench->known, trial_key(bench, extents, at, noticed));

	if (!known || bench->takes_unverified || bench->looks ||
		known->hash != extents_hash(extents, known->seen))
		return false;
	workbench_spend(bench, KNOWN_WORK);
	bench->tested++;
	bench->reached = known->reached;
	bench->seen = bench->known_seen = known->seen;
	bench->verdict = known->verdict;
	bench->known_proof = known->proof;
	bench->was_known = true;
	return true;
}

void workbench_note_refused(
	struct workbench *bench, const struct extents *extents, uint64_t at, uint64_t noticed)
{
	const struct known_trial trial = { .key = trial_key(bench, extents, at, noticed),
		.hash = extents_hash(extents, bench->seen),
		.reached = bench->reached,
		.seen = bench->seen,
		.verdict = bench->verdict,
		.proof = workbench_proof(bench, at) };

	/* What is made ahead is noted by the thread that makes it itself. */
	if (!bench->noted && workbench_goes_on(bench) && !bench->takes_unverified &&
		bench->verdict != CARVE_COMPLETE)
		known_trials_add(bench->known, &trial);
}

uint32_t workbench_bits(uint64_t number)
{
	uint32_t bits = 0;

	for (; number > 1; number = (number + 1) / 2)
		bits++;
	return bits;
}

bool workbench_is_proof(const struct workbench *bench, uint32_t bits)
{
	return bits >= PROOF_BITS + workbench_bits(bench->tested);
}

void workbench_doubt(struct assembly *assembly, uint64_t from, uint64_t to)
{
	if (from >= to || assembly->doubt_count == ASSEMBLY_DOUBTS_MAX)
		return;
	assembly->doubt[assembly->doubt_count++] = (struct range){ from, to - from };
}
