/*
 * Four cursors go round the ring of tickets, each never ahead of the one before it:
 *
 *     retired <= decided <= checked <= offered
 *
 * offered: a ticket was filled. checked: its check was started, as a job of the pool (or done at
 * once when there is nothing to look at). decided: all tickets of its start were checked, so the
 * decider has spoken, and a write job was started for what is kept. retired: written and reported.
 *
 * Checks run ahead of decisions, but not far: what turns out to lie inside a complete file would be
 * checked for nothing. For the same reason a check may be put off until the decider has come to its
 * ticket (carve/defer.h).
 */
#include "carve/carving_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define BATCHES_AHEAD_PER_THREAD 4
/* So many candidates are looked at each time when one that was put off has to be checked after
 * all. */
#define RETRIES (4 * CHECK_BATCH)
/* Files with a wrong hash that are named in the log; the report has them all. */
#define TELL_MAX 20

/* What the decider will not look at, so that any outcome will do. */
static bool is_settled(const struct carving *carving, const struct ticket *ticket)
{
	return ticket->candidate.start < decider_hidden_until(carving->decider) ||
	       decider_is_part(carving->decider, &ticket->candidate);
}

/* Whoever searched it has looked at it already, or may have seen that it lies in a file that he
 * found; then it waits for what becomes of that one. */
static bool use_early(struct carving *carving, struct ticket *ticket)
{
	uint64_t start = ticket->candidate.start, until;

	if (precheck_cache_take(carving->early, &ticket->candidate, &ticket->outcome)) {
		until = defer_covered_until(carving->defer, &ticket->candidate, &ticket->outcome);
		if (until > carving->precheck_cache_until) {
			carving->precheck_cache_from = start;
			carving->precheck_cache_until = until;
		}
		ticket_set_state(ticket, TICKET_CHECKED);
		return true;
	}
	if (start <= carving->precheck_cache_from || start >= carving->precheck_cache_until ||
		carving->options.decide.nested)
		return false;
	ticket_set_state(ticket, TICKET_PUT_OFF);
	return true;
}

/* True when it is done with, for there is nothing to look at. */
static bool needs_no_look(struct carving *carving, struct ticket *ticket)
{
	const struct rule *rule = &carving->options.rules->rules[ticket->candidate.rule];

	if (is_settled(carving, ticket)) {
		precheck_cache_skip(carving->early, &ticket->candidate);
		ticket_set_state(ticket, TICKET_CHECKED);
		return true;
	}
	if (check_needed(rule))
		return use_early(carving, ticket);
	check_candidate(NULL, carving->options.image, rule, &ticket->candidate, &ticket->outcome);
	ticket_set_state(ticket, TICKET_CHECKED);
	return true;
}

/* Tickets that one job checks. */
struct batch {
	struct ticket *first, **end;
	uint32_t count;
};

static void add_to_batch(struct batch *batch, struct ticket *ticket)
{
	ticket_set_state(ticket, TICKET_CHECKING);
	ticket->next = NULL;
	*batch->end = ticket;
	batch->end = &ticket->next;
	batch->count++;
}

/* Starts one job for the next tickets that need one. */
static void start_batch(struct carving *carving)
{
	struct batch batch = { .end = &batch.first };

	while (batch.count < CHECK_BATCH && carving->checked < carving->offered) {
		struct ticket *ticket = ticket_at(carving, carving->checked++);

		if (!needs_no_look(carving, ticket))
			add_to_batch(&batch, ticket);
	}
	if (batch.count)
		jobs_start_checks(carving, batch.first);
}

/* Checks may run ahead of decisions by some batches, but the group that is decided next must always
 * get checked whole, however many rules start there. */
static bool may_check(struct carving *carving)
{
	uint64_t ahead = (uint64_t)CHECK_BATCH * BATCHES_AHEAD_PER_THREAD * carving->threads;

	if (carving->checked == carving->offered ||
		(carving->options.remote && !remote_may_check(carving)))
		return false;
	return carving->checked - carving->decided < ahead ||
	       ticket_at(carving, carving->checked)->candidate.start ==
		       ticket_at(carving, carving->decided)->candidate.start;
}

static void start_checks(struct carving *carving)
{
	while (may_check(carving))
		start_batch(carving);
}

void cursors_write(struct carving *carving, struct ticket *ticket)
{
	ticket->keep = true;
	ticket->status = 0;
	if (carving->options.dry_run) {
		ticket_set_state(ticket, TICKET_DONE);
		return;
	}
	ticket->record.written = true;
	ticket_set_state(ticket, TICKET_WRITING);
	jobs_start_write(carving, ticket);
}

static bool is_checked(struct carving *carving, struct ticket *ticket)
{
	enum ticket_state state = ticket_state(ticket);

	return state == TICKET_CHECKED || (state == TICKET_PUT_OFF && is_settled(carving, ticket));
}

/* Length of the group of one start at the decided cursor; 0 while it is not whole or not checked.
 */
static size_t ready_group(struct carving *carving, bool no_more)
{
	uint64_t cursor = carving->decided;
	uint64_t start;

	if (cursor == carving->checked)
		return 0;
	start = ticket_at(carving, cursor)->candidate.start;
	for (; cursor < carving->checked; cursor++) {
		struct ticket *ticket = ticket_at(carving, cursor);

		if (ticket->candidate.start != start)
			return (size_t)(cursor - carving->decided);
		if (!is_checked(carving, ticket))
			return 0;
	}
	if (cursor < carving->offered)
		return ticket_at(carving, cursor)->candidate.start != start
			       ? (size_t)(cursor - carving->decided)
			       : 0;
	return no_more || start < carving->offered_until ? (size_t)(cursor - carving->decided) : 0;
}

/* Whether the decider can't go on because of something that was put off, and is not hidden after
 * all. */
static bool front_is_put_off(struct carving *carving)
{
	uint64_t start = ticket_at(carving, carving->decided)->candidate.start;

	for (uint64_t cursor = carving->decided; cursor < carving->checked; cursor++) {
		struct ticket *ticket = ticket_at(carving, cursor);

		if (ticket->candidate.start != start)
			return false;
		if (ticket_state(ticket) == TICKET_PUT_OFF && !is_checked(carving, ticket))
			return true;
	}
	return false;
}

/* Checks what is to be decided next, which was put off, and tries again what was put off close
 * behind it, in batches of neighbours: those may be put off again. */
static void check_put_off(struct carving *carving)
{
	uint64_t cursor = carving->decided, front = ticket_at(carving, cursor)->candidate.start;
	uint64_t end = cursor + RETRIES;

	while (cursor < carving->checked &&
		(!carving->options.remote || remote_may_check(carving)) &&
		(cursor < end || ticket_at(carving, cursor)->candidate.start == front)) {
		struct batch batch = { .end = &batch.first };
		struct ticket *ticket = ticket_at(carving, cursor);

		while (batch.count < CHECK_BATCH && cursor < carving->checked &&
			ticket_state(ticket) == TICKET_PUT_OFF && !is_settled(carving, ticket)) {
			ticket->force = ticket->candidate.start == front;
			add_to_batch(&batch, ticket);
			ticket = ticket_at(carving, ++cursor);
		}
		if (batch.count)
			jobs_start_checks(carving, batch.first);
		else
			cursor++;
	}
}

static void tell_group(struct carving *carving, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ticket *ticket = ticket_at(carving, carving->decided + i);

		if (!is_settled(carving, ticket))
			carving->options.on_outcome(
				carving->options.context, &ticket->candidate, &ticket->outcome);
	}
}

static void note_hidden(struct carving *carving)
{
	uint64_t until = decider_hidden_until(carving->decider);

	if (until <= defer_hidden_until(carving->defer))
		return;
	defer_hide(carving->defer, until);
	if (carving->options.remote)
		carving->options.remote->hide(until);
}

static void end_decision(struct carving *carving, struct ticket *ticket, bool keep)
{
	ticket->keep = keep && !carving->options.on_outcome;
	if (ticket->keep) {
		ticket->expected = (struct hashes){ 0 };
		record_builder_build(carving->record_builder, &ticket->candidate, &ticket->outcome,
			&ticket->record, &ticket->run);
		cursors_write(carving, ticket);
	} else {
		ticket_set_state(ticket, TICKET_DONE);
	}
	outcome_free(&ticket->outcome);
}

static void decide_ready(struct carving *carving, bool no_more)
{
	size_t count;

	while ((count = ready_group(carving, no_more))) {
		for (size_t i = 0; i < count; i++) {
			struct ticket *ticket = ticket_at(carving, carving->decided + i);

			carving->group[i] =
				(struct decision){ &ticket->candidate, &ticket->outcome, false };
		}
		if (carving->options.on_outcome)
			tell_group(carving, count);
		decide_group(carving->decider, carving->group, count);
		note_hidden(carving);
		for (size_t i = 0; i < count; i++)
			end_decision(carving, ticket_at(carving, carving->decided++),
				carving->group[i].keep);
		start_checks(carving);
	}
	if (front_is_put_off(carving))
		check_put_off(carving);
}

static bool hash_differs(const char *expected, const char *computed)
{
	return *expected && *computed && strcmp(expected, computed) != 0;
}

static void compare_hashes(struct carving *carving, struct ticket *ticket)
{
	struct file_record *record = &ticket->record;
	const struct hashes *expected = &ticket->expected, *computed = &record->hashes;

	if (!hash_differs(expected->md5, computed->md5) &&
		!hash_differs(expected->sha1, computed->sha1) &&
		!hash_differs(expected->sha256, computed->sha256))
		return;
	snprintf(record->reason, sizeof(record->reason), "another hash than in the report before");
	record->known = record->alert = NULL; /* were of that one */
	if (carving->mismatches++ < TELL_MAX)
		log_warn("%s has another hash than the report says", record->path);
}

static void count_marks(struct carving *carving, const struct file_record *record)
{
	carving->known += record->known != NULL;
	if (record->alert && carving->alert++ < TELL_MAX)
		log_warn("%s is in the set of hashes %s", record->path, record->alert);
}

static void report_ticket(struct carving *carving, struct ticket *ticket)
{
	struct file_record *record = &ticket->record;

	if (ticket->status) {
		tally_add(carving->options.skipped,
			ticket->status == -ECANCELED ? SKIPPED_BY_END : "could not be written", 0);
	} else if (record->left_out) {
		tally_add(carving->options.skipped, SKIPPED_KNOWN, 0);
	} else {
		if (carving->options.dry_run && carving->options.unreadable)
			record->unreadable = ranges_overlap(carving->options.unreadable,
				ticket->candidate.start, record->length);
		compare_hashes(carving, ticket);
		count_marks(carving, record);
		carving->files++;
		carving->bytes += record->length;
		carving->unreadable += record->unreadable;
		tally_add(carving->options.by_type, record->type, record->length);
		report_queue_file(carving->report_queue, record);
		record->path = NULL; /* taken over */
	}
	if (record->runs != &ticket->run)
		free(record->runs);
	free(record->path);
}

/* A dry run reads no files, so whether one can be read is known only when the reader has passed its
 * end. */
static bool waits_for_scan(const struct carving *carving, const struct ticket *ticket)
{
	return ticket->keep && carving->options.dry_run &&
	       ticket->candidate.start + ticket->record.length > carving->scanned;
}

void cursors_retire(struct carving *carving)
{
	while (carving->retired < carving->decided) {
		struct ticket *ticket = ticket_at(carving, carving->retired);

		if (ticket_state(ticket) != TICKET_DONE || waits_for_scan(carving, ticket))
			return;
		/* A checkpoint must find it undone, whatever the reason. */
		if (ticket->keep && ticket->status && !carving->dropping)
			return;
		if (ticket->keep)
			report_ticket(carving, ticket);
		carving->retired++;
	}
}

void cursors_pump(struct carving *carving, bool no_more)
{
	if (carving->decider)
		decider_hide(carving->decider, defer_hidden_until(carving->defer));
	start_checks(carving);
	decide_ready(carving, no_more);
	cursors_retire(carving);
}
