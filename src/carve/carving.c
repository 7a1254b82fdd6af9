/*
 * The stage's interface. A ring of tickets, one a candidate, in order, goes through checking,
 * deciding, writing and reporting (carving_cursors.c); checks and writes are jobs of the pool
 * (carving_jobs.c).
 */
#include "carve/carving_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"

#define RING_MIN 4096

static void init_room(struct carving *carving, struct worker_room *room)
{
	const struct carving_options *options = &carving->options;

	room->carving = carving;
	room->view = view_new();
	view_watch(room->view, jobs_go_on, room);
	copier_init(&room->copier, options->hash_mask);
	room->copier.sets = options->sets;
	room->copier.skip_known = options->skip_known;
}

struct carving *carving_new(const struct carving_options *options)
{
	struct carving *carving = xcalloc(1, sizeof(*carving));
	size_t rule_count = options->rules ? options->rules->count : 0;

	carving->options = *options;
	/* A group of one start, at most one ticket a rule, must fit with the next start's first. */
	carving->ring_len = rule_count + 2 > RING_MIN ? rule_count + 2 : RING_MIN;
	carving->ring = xcalloc(carving->ring_len, sizeof(*carving->ring));
	carving->group = xcalloc(carving->ring_len, sizeof(*carving->group));
	carving->threads =
		options->remote ? options->remote->capacity() : pool_threads(options->pool);
	carving->rooms = xcalloc(carving->threads, sizeof(*carving->rooms));
	carving->spans = xcalloc(carving->threads, sizeof(*carving->spans));
	for (unsigned i = 0; i < carving->threads && !options->remote; i++)
		init_room(carving, &carving->rooms[i]);
	carving->defer = defer_new(carving->threads, options->decide.nested, (uint32_t)rule_count);
	carving->early = precheck_cache_new();
	if (!options->on_outcome)
		carving->record_builder = record_builder_new(options->rules, options->output_dir,
			options->names, options->label, options->no_extension, options->image,
			options->volumes);
	if (options->rules)
		carving->decider = decider_new(
			options->rules, &options->decide, options->rejected, options->skipped);
	pthread_mutex_init(&carving->lock, NULL);
	thread_cond_init(&carving->rung);
	if (!options->on_outcome)
		carving->report_queue = report_queue_new(
			options->report, options->progress, jobs_note_error, carving);
	return carving;
}

static int carving_status(const struct carving *carving)
{
	return atomic_load_explicit(&carving->status, memory_order_acquire);
}

static void pause_here(struct carving *carving)
{
	if (carving->options.on_wait)
		carving->options.on_wait(carving->options.context);
}

/* Makes room for one ticket. */
static int make_room(struct carving *carving)
{
	for (;;) {
		int status = carving_status(carving);
		uint64_t seen;

		if (status)
			return status;
		if (carving->offered - carving->retired < carving->ring_len)
			return 0;
		seen = jobs_bell(carving);
		cursors_pump(carving, false);
		if (carving->offered - carving->retired < carving->ring_len)
			return 0;
		pause_here(carving);
		if (!jobs_wait(carving, seen))
			return -EAGAIN;
	}
}

int carving_offer(struct carving *carving, const struct candidate *candidate)
{
	struct ticket *ticket;
	int status;

	/* Most of what is found starts inside a complete file: that costs no ticket. */
	if (decider_skip_hidden(carving->decider, candidate))
		return carving_status(carving);
	status = make_room(carving);
	if (status)
		return status;
	ticket = ticket_at(carving, carving->offered++);
	ticket->candidate = *candidate;
	ticket->keep = false;
	ticket->force = false;
	ticket_set_state(ticket, TICKET_OFFERED);
	if (carving->offered - carving->checked >= CHECK_BATCH)
		cursors_pump(carving, false);
	return 0;
}

int carving_add_record(struct carving *carving, struct file_record *record)
{
	int status = make_room(carving);
	struct ticket *ticket;

	if (status)
		return status;
	ticket = ticket_at(carving, carving->offered++);
	carving->checked = carving->decided = carving->offered;
	ticket->record = *record;
	ticket->candidate.start = record->offset;
	ticket->expected = record->hashes;
	record->path = NULL;
	record->runs = NULL;
	cursors_write(carving, ticket);
	return 0;
}

void carving_add_precheck(
	struct carving *carving, uint64_t start, uint32_t rule, struct outcome *outcome)
{
	precheck_cache_add(carving->early, start, rule, outcome);
}

void carving_hide(struct carving *carving, uint64_t until)
{
	defer_hide(carving->defer, until);
}

uint64_t carving_hidden_until(const struct carving *carving)
{
	return decider_hidden_until(carving->decider);
}

void carving_set_offered_until(struct carving *carving, uint64_t position)
{
	carving->offered_until = position;
}

int carving_scanned(struct carving *carving, uint64_t position)
{
	carving->scanned = position;
	cursors_pump(carving, false);
	if (carving->options.remote)
		remote_push(carving);
	return carving_status(carving);
}

int carving_start_checks(struct carving *carving, uint64_t position)
{
	for (;;) {
		uint64_t seen = jobs_bell(carving);

		cursors_pump(carving, false);
		if (carving->checked == carving->offered ||
			ticket_at(carving, carving->checked)->candidate.start >= position ||
			atomic_load(&carving->cancelled))
			return carving_status(carving);
		pause_here(carving);
		if (!jobs_wait(carving, seen))
			return carving_status(carving);
	}
}

uint64_t carving_decided_until(const struct carving *carving)
{
	return carving->decided < carving->offered
		       ? ticket_at(carving, carving->decided)->candidate.start
		       : carving->offered_until;
}

int carving_decide_until(struct carving *carving, uint64_t position)
{
	for (;;) {
		uint64_t seen = jobs_bell(carving);

		cursors_pump(carving, false);
		if (carving_decided_until(carving) >= position || atomic_load(&carving->cancelled))
			return carving_status(carving);
		if (!jobs_wait(carving, seen))
			return error_set(&carving->error, EXIT_IO, EDEADLK,
				"a fault in burin: what starts at %" PRIu64 " stays undecided",
				carving_decided_until(carving));
	}
}

int carving_finish(struct carving *carving)
{
	carving->scanned = UINT64_MAX;
	for (;;) {
		uint64_t seen = jobs_bell(carving);

		cursors_pump(carving, true);
		if (carving->retired == carving->offered || atomic_load(&carving->cancelled)) {
			report_queue_finish(carving->report_queue);
			return carving_status(carving);
		}
		pause_here(carving);
		if (!jobs_wait(carving, seen))
			return error_set(&carving->error, EXIT_IO, EDEADLK,
				"a fault in burin: %" PRIu64 " candidates stay undecided",
				carving->offered - carving->retired);
	}
}

void carving_cancel(struct carving *carving)
{
	atomic_store(&carving->cancelled, true);
	carving->dropping = true;
	carving->scanned = UINT64_MAX;
	for (;;) {
		uint64_t seen = jobs_bell(carving);

		cursors_retire(carving);
		if (!jobs_wait(carving, seen))
			break;
	}
	cursors_retire(carving);
	tally_add_many(
		carving->options.skipped, SKIPPED_BY_END, carving->offered - carving->decided, 0);
	carving->decided = carving->retired = carving->checked = carving->offered;
	if (carving->report_queue)
		report_queue_finish(carving->report_queue);
}

int carving_flush(struct carving *carving, struct error *error)
{
	return report_queue_flush(carving->report_queue, error);
}

const struct error *carving_error(const struct carving *carving)
{
	return &carving->error;
}

void carving_sums(const struct carving *carving, uint64_t *files, uint64_t *bytes)
{
	*files = carving->files;
	*bytes = carving->bytes;
}

uint64_t carving_unreadable(const struct carving *carving)
{
	return carving->unreadable;
}

uint64_t carving_mismatches(const struct carving *carving)
{
	return carving->mismatches;
}

void carving_marks(const struct carving *carving, uint64_t *known, uint64_t *alert)
{
	*known = carving->known;
	*alert = carving->alert;
}

bool carving_quota_reached(const struct carving *carving)
{
	return carving->decider && decider_quota_reached(carving->decider);
}

double carving_waited(const struct carving *carving)
{
	return carving->waited + report_queue_waited(carving->report_queue);
}

void carving_free(struct carving *carving)
{
	if (!carving)
		return;
	jobs_wait_all(carving);
	report_queue_free(carving->report_queue);
	for (unsigned i = 0; i < carving->threads && !carving->options.remote; i++) {
		view_free(carving->rooms[i].view);
		copier_free(&carving->rooms[i].copier);
	}
	decider_free(carving->decider);
	pthread_cond_destroy(&carving->rung);
	pthread_mutex_destroy(&carving->lock);
	strpool_free(&carving->texts);
	record_builder_free(carving->record_builder);
	defer_free(carving->defer);
	precheck_cache_free(carving->early);
	for (size_t i = 0; i < carving->ring_len; i++)
		outcome_free(&carving->ring[i].outcome);
	free(carving->rooms);
	free(carving->spans);
	free(carving->group);
	free(carving->ring);
	free(carving);
}
