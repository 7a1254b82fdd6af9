/*
 * A ring of tickets, one a candidate, in order. Four cursors go round it, each never ahead of the
 * one before it:
 *
 *     retired <= decided <= checked <= offered
 *
 * offered: a ticket was filled. checked: its check was started, as a job of the pool (or done at
 * once when there is nothing to look at). decided: all tickets of its start were checked, so the
 * decider has spoken, and a write job was started for what is kept. retired: written and reported.
 * Only the jobs run elsewhere; they set the ticket's state and ring the bell.
 *
 * Checks run ahead of decisions, but not far: what turns out to lie inside a complete file would be
 * checked for nothing. For the same reason a check may be put off until the decider has come to its
 * ticket (carve/ahead.h).
 */
#include "carve/carving.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "carve/ahead.h"
#include "carve/copy.h"
#include "output/scribe.h"

#define RING_MIN 1024
/* Most candidates are refused after one look: a job for each would cost more than the look. */
#define CHECK_BATCH 16
#define BATCHES_AHEAD_PER_THREAD 2
/* Files with a wrong hash that are named in the log; the report has them all. */
#define TELL_MAX 20

enum ticket_state {
	TICKET_OFFERED,
	TICKET_CHECKING,
	TICKET_PUT_OFF, /* it may be hidden soon: carve/ahead.h */
	TICKET_CHECKED,
	TICKET_WRITING,
	TICKET_DONE
};

struct ticket {
	struct pool_job job; /* first: a job's address is its ticket's */
	struct carving *carving;
	uint32_t batch; /* tickets that the check job of this one covers, from this one on */
	bool insist;    /* it was put off once */
	_Atomic enum ticket_state state;
	struct candidate candidate;
	struct outcome outcome;
	bool keep;
	int status; /* of writing */
	struct file_record record;
	struct range run;
	struct hashes expected; /* carving_add: "" for what is not known */
};

struct worker_room {
	struct carving *carving;
	struct view *view;
	struct copier copier;
};

struct carving {
	struct carving_options options;
	struct decider *decider;
	struct ticket *ring;
	size_t ring_len;
	uint64_t retired, decided, checked, offered; /* cursors: counts since the start */
	struct worker_room *rooms;                   /* one a worker of the pool */
	unsigned threads;
	uint64_t scanned;
	uint64_t offered_until; /* whatever starts before this has been offered */
	struct ahead *ahead;
	atomic_bool cancelled;
	pthread_mutex_t lock; /* guards bell and the setting of error */
	pthread_cond_t rung;
	uint64_t bell;      /* jobs finished since the start */
	uint64_t jobs;      /* jobs started since the start */
	struct error error; /* good once status is not 0 */
	_Atomic int status;
	uint64_t files, bytes, unreadable, mismatches;
	struct filing *filing;
	struct scribe *scribe;
	struct decision *group;
	double waited;
};

/* The first failure ends the carving. A write that was cancelled is none: it follows from one, or
 * from a signal. */
static void note_error(void *context, int status, const struct error *error)
{
	struct carving *carving = context;

	if (status == -ECANCELED)
		return;
	pthread_mutex_lock(&carving->lock);
	if (!carving->status) {
		carving->error = *error;
		carving->status = status;
	}
	pthread_mutex_unlock(&carving->lock);
	atomic_store(&carving->cancelled, true);
}

/* Its waits are bounded by the clock that nobody sets. */
static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

static bool go_on(void *context, uint64_t reached)
{
	struct worker_room *room = context;
	struct carving *carving = room->carving;

	return ahead_reach(carving->ahead, (unsigned)(room - carving->rooms), reached);
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
	carving->threads = pool_threads(options->pool);
	carving->rooms = xcalloc(carving->threads, sizeof(*carving->rooms));
	for (unsigned i = 0; i < carving->threads; i++) {
		carving->rooms[i].carving = carving;
		carving->rooms[i].view = view_new();
		view_watch(carving->rooms[i].view, go_on, &carving->rooms[i]);
		copier_init(&carving->rooms[i].copier, options->hash_mask);
	}
	carving->ahead = ahead_new(carving->threads, options->decide.nested);
	carving->filing = filing_new(options->rules, options->sink, options->names, options->label,
		options->no_extension, image_info(options->image)->size);
	if (options->rules)
		carving->decider = decider_new(
			options->rules, &options->decide, options->rejected, options->skipped);
	pthread_mutex_init(&carving->lock, NULL);
	init_condition(&carving->rung);
	carving->scribe = scribe_new(options->report, options->progress, note_error, carving);
	return carving;
}

static struct ticket *ticket_at(struct carving *carving, uint64_t cursor)
{
	return &carving->ring[cursor % carving->ring_len];
}

static enum ticket_state state_of(struct ticket *ticket)
{
	return atomic_load_explicit(&ticket->state, memory_order_acquire);
}

static void set_state(struct ticket *ticket, enum ticket_state state)
{
	atomic_store_explicit(&ticket->state, state, memory_order_release);
}

/* ---- jobs, in the pool's threads --------------------------------------------------------------
 */

static void ring_bell(struct carving *carving)
{
	pthread_mutex_lock(&carving->lock);
	carving->bell++;
	pthread_cond_signal(&carving->rung);
	pthread_mutex_unlock(&carving->lock);
}

static void start_job(struct carving *carving, struct ticket *ticket, enum pool_priority priority,
	void (*run)(struct pool_job *, unsigned))
{
	ticket->carving = carving;
	ticket->job.run = run;
	carving->jobs++;
	pool_submit(carving->options.pool, priority, &ticket->job);
}

/* What starts before this need not be checked, most likely, once this outcome is decided on. */
static uint64_t likely_until(const struct candidate *candidate, const struct outcome *outcome)
{
	if (outcome->verdict == CARVE_COMPLETE)
		return candidate->start + outcome->length;
	return outcome->part_count ? outcome->parts[outcome->part_count - 1] + 1 : 0;
}

static enum ticket_state check_ticket(
	struct carving *carving, struct ticket *ticket, unsigned worker)
{
	const struct candidate *candidate = &ticket->candidate;
	struct outcome *outcome = &ticket->outcome;
	struct view *view = carving->rooms[worker].view;

	if (!ahead_begin(carving->ahead, worker, candidate->start, ticket->insist))
		return TICKET_PUT_OFF;
	check_candidate(view, carving->options.image,
		&carving->options.rules->rules[candidate->rule], candidate, outcome);
	if (view_gave_up(view)) {
		outcome_free(outcome);
		ahead_end(carving->ahead, worker, 0);
		return TICKET_PUT_OFF;
	}
	ahead_end(carving->ahead, worker, likely_until(candidate, outcome));
	return TICKET_CHECKED;
}

static void run_checks(struct pool_job *job, unsigned worker)
{
	struct ticket *first = (struct ticket *)job;
	struct carving *carving = first->carving;
	size_t at = (size_t)(first - carving->ring);
	uint32_t batch = first->batch;

	/* Once a ticket is checked it may be retired and used again: `first` is not touched any
	 * more. */
	for (uint32_t i = 0; i < batch; i++) {
		struct ticket *ticket = &carving->ring[(at + i) % carving->ring_len];

		set_state(ticket, check_ticket(carving, ticket, worker));
	}
	ring_bell(carving);
}

static int write_file(
	struct carving *carving, struct ticket *ticket, unsigned worker, struct error *error)
{
	struct file_record *record = &ticket->record;
	int fd = sink_create(carving->options.sink, record->path, error);
	int status;

	if (fd < 0)
		return fd;
	status = copy_runs(&carving->rooms[worker].copier, carving->options.image, record->runs,
		record->run_count, fd, &carving->cancelled, &record->hashes, &record->unreadable);
	if (close(fd) && !status)
		status = -errno;
	if (!status)
		return 0;
	sink_remove(carving->options.sink, record->path);
	return sink_error(carving->options.sink, record->path, -status, error);
}

static void run_write(struct pool_job *job, unsigned worker)
{
	struct ticket *ticket = (struct ticket *)job;
	struct carving *carving = ticket->carving;
	struct error error = { 0 };

	ticket->status = atomic_load(&carving->cancelled)
				 ? -ECANCELED
				 : write_file(carving, ticket, worker, &error);
	if (ticket->status)
		note_error(carving, ticket->status, &error);
	set_state(ticket, TICKET_DONE);
	ring_bell(carving);
}

/* ---- the four cursors -------------------------------------------------------------------------
 */

/* What the decider will not look at, so that any outcome will do. */
static bool is_settled(const struct carving *carving, const struct ticket *ticket)
{
	return ticket->candidate.start < decider_hidden_until(carving->decider) ||
	       decider_is_part(carving->decider, &ticket->candidate);
}

static bool ticket_needs_check(const struct carving *carving, const struct ticket *ticket)
{
	return check_needed(&carving->options.rules->rules[ticket->candidate.rule]) &&
	       !is_settled(carving, ticket);
}

static void start_check_job(struct carving *carving, struct ticket *first, uint32_t batch)
{
	first->batch = batch;
	start_job(carving, first, POOL_CHECK, run_checks);
}

/* Starts one job for the next tickets; those with nothing to look at are done here. */
static void start_batch(struct carving *carving)
{
	struct ticket *first = ticket_at(carving, carving->checked);
	uint32_t batch = 0;

	while (batch < CHECK_BATCH && carving->checked < carving->offered) {
		struct ticket *ticket = ticket_at(carving, carving->checked);

		if (ticket_needs_check(carving, ticket)) {
			set_state(ticket, TICKET_CHECKING);
			batch++;
		} else if (batch) {
			break;
		} else {
			if (!is_settled(carving, ticket))
				check_candidate(NULL, carving->options.image,
					&carving->options.rules->rules[ticket->candidate.rule],
					&ticket->candidate, &ticket->outcome);
			set_state(ticket, TICKET_CHECKED);
			first = ticket_at(carving, carving->checked + 1);
		}
		carving->checked++;
	}
	if (batch)
		start_check_job(carving, first, batch);
}

/* Checks may run ahead of decisions by some batches, but the group that is decided next must always
 * get checked whole, however many rules start there. */
static bool may_check(struct carving *carving)
{
	uint64_t ahead = (uint64_t)CHECK_BATCH * BATCHES_AHEAD_PER_THREAD * carving->threads;

	if (carving->checked == carving->offered)
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

static void start_write(struct carving *carving, struct ticket *ticket)
{
	ticket->keep = true;
	ticket->status = 0;
	if (carving->options.dry_run) {
		set_state(ticket, TICKET_DONE);
		return;
	}
	ticket->record.written = true;
	set_state(ticket, TICKET_WRITING);
	start_job(carving, ticket, POOL_WRITE, run_write);
}

static bool is_checked(struct carving *carving, struct ticket *ticket)
{
	enum ticket_state state = state_of(ticket);

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
		if (state_of(ticket) == TICKET_PUT_OFF && !is_checked(carving, ticket))
			return true;
	}
	return false;
}

/* Checks all that was put off, in batches of neighbours. */
static void check_put_off(struct carving *carving)
{
	uint64_t cursor = carving->decided;

	while (cursor < carving->checked) {
		struct ticket *first = ticket_at(carving, cursor), *ticket = first;
		uint32_t batch = 0;

		while (batch < CHECK_BATCH && cursor < carving->checked &&
			state_of(ticket) == TICKET_PUT_OFF && !is_settled(carving, ticket)) {
			ticket->insist = true;
			set_state(ticket, TICKET_CHECKING);
			batch++;
			ticket = ticket_at(carving, ++cursor);
		}
		if (batch)
			start_check_job(carving, first, batch);
		else
			cursor++;
	}
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
		decide_group(carving->decider, carving->group, count);
		ahead_hide(carving->ahead, decider_hidden_until(carving->decider));
		for (size_t i = 0; i < count; i++) {
			struct ticket *ticket = ticket_at(carving, carving->decided++);

			ticket->keep = carving->group[i].keep;
			if (ticket->keep) {
				ticket->expected = (struct hashes){ 0 };
				filing_record(carving->filing, &ticket->candidate, &ticket->outcome,
					&ticket->record, &ticket->run);
				start_write(carving, ticket);
			} else {
				set_state(ticket, TICKET_DONE);
			}
			outcome_free(&ticket->outcome);
		}
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
	if (carving->mismatches++ < TELL_MAX)
		log_warn("%s has another hash than the report says", record->path);
}

static void report_ticket(struct carving *carving, struct ticket *ticket)
{
	struct file_record *record = &ticket->record;

	if (ticket->status) {
		tally_add(carving->options.skipped,
			ticket->status == -ECANCELED ? SKIPPED_BY_END : "could not be written", 0);
	} else {
		if (carving->options.dry_run && carving->options.unreadable)
			record->unreadable = ranges_overlap(
				carving->options.unreadable, record->offset, record->length);
		compare_hashes(carving, ticket);
		carving->files++;
		carving->bytes += record->length;
		carving->unreadable += record->unreadable;
		tally_add(carving->options.by_type, record->type, record->length);
		scribe_file(carving->scribe, record);
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
	       ticket->record.offset + ticket->record.length > carving->scanned;
}

static void retire_done(struct carving *carving)
{
	while (carving->retired < carving->decided) {
		struct ticket *ticket = ticket_at(carving, carving->retired);

		if (state_of(ticket) != TICKET_DONE || waits_for_scan(carving, ticket))
			return;
		if (ticket->keep)
			report_ticket(carving, ticket);
		carving->retired++;
	}
}

static int carving_status(const struct carving *carving)
{
	return atomic_load_explicit(&carving->status, memory_order_acquire);
}

static void pump(struct carving *carving, bool no_more)
{
	start_checks(carving);
	decide_ready(carving, no_more);
	retire_done(carving);
	scribe_push(carving->scribe);
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A file may take hours to write: whoever waits for it looks at the signals too. With the lock
 * held. */
static void wait_a_moment(struct carving *carving)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 100 * 1000 * 1000;
	if (until.tv_nsec >= 1000 * 1000 * 1000) {
		until.tv_nsec -= 1000 * 1000 * 1000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&carving->rung, &carving->lock, &until);
	if (carving->options.interrupted && carving->options.interrupted())
		atomic_store(&carving->cancelled, true);
}

/* Waits until a job has finished since `seen` bells were counted. False when none did and none is
 * running: then nothing will change. */
static bool wait_bell(struct carving *carving, uint64_t seen)
{
	double from = seconds_now();
	bool hope;

	pthread_mutex_lock(&carving->lock);
	while (carving->bell == seen && carving->bell < carving->jobs)
		wait_a_moment(carving);
	hope = carving->bell != seen;
	pthread_mutex_unlock(&carving->lock);
	carving->waited += seconds_now() - from;
	return hope;
}

static uint64_t bell_of(struct carving *carving)
{
	uint64_t bell;

	pthread_mutex_lock(&carving->lock);
	bell = carving->bell;
	pthread_mutex_unlock(&carving->lock);
	return bell;
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
		seen = bell_of(carving);
		pump(carving, false);
		if (carving->offered - carving->retired < carving->ring_len)
			return 0;
		if (!wait_bell(carving, seen))
			return -EAGAIN;
	}
}

int carving_offer(struct carving *carving, const struct candidate *candidate)
{
	int status = make_room(carving);
	struct ticket *ticket;

	if (status)
		return status;
	ticket = ticket_at(carving, carving->offered++);
	ticket->candidate = *candidate;
	ticket->keep = false;
	ticket->insist = false;
	set_state(ticket, TICKET_OFFERED);
	if (carving->offered - carving->checked >= CHECK_BATCH)
		pump(carving, false);
	return 0;
}

int carving_add(struct carving *carving, struct file_record *record)
{
	int status = make_room(carving);
	struct ticket *ticket;

	if (status)
		return status;
	ticket = ticket_at(carving, carving->offered++);
	carving->checked = carving->decided = carving->offered;
	ticket->record = *record;
	ticket->expected = record->hashes;
	record->path = NULL;
	record->runs = NULL;
	start_write(carving, ticket);
	return 0;
}

void carving_offered_until(struct carving *carving, uint64_t position)
{
	carving->offered_until = position;
}

int carving_scanned(struct carving *carving, uint64_t position)
{
	carving->scanned = position;
	pump(carving, false);
	return carving_status(carving);
}

int carving_finish(struct carving *carving)
{
	carving->scanned = UINT64_MAX;
	for (;;) {
		uint64_t seen = bell_of(carving);

		pump(carving, true);
		if (carving->retired == carving->offered || atomic_load(&carving->cancelled)) {
			scribe_finish(carving->scribe);
			return carving_status(carving);
		}
		if (!wait_bell(carving, seen))
			return error_set(&carving->error, EXIT_IO, EDEADLK,
				"a fault in burin: %" PRIu64 " candidates stay undecided",
				carving->offered - carving->retired);
	}
}

void carving_cancel(struct carving *carving)
{
	atomic_store(&carving->cancelled, true);
	carving->scanned = UINT64_MAX;
	for (;;) {
		uint64_t seen = bell_of(carving);

		retire_done(carving);
		if (!wait_bell(carving, seen))
			break;
	}
	retire_done(carving);
	tally_add_many(
		carving->options.skipped, SKIPPED_BY_END, carving->offered - carving->decided, 0);
	carving->decided = carving->retired = carving->checked = carving->offered;
	scribe_finish(carving->scribe);
}

int carving_flush(struct carving *carving, struct error *error)
{
	return scribe_flush(carving->scribe, error);
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

bool carving_quota_reached(const struct carving *carving)
{
	return carving->decider && decider_quota_reached(carving->decider);
}

double carving_waited(const struct carving *carving)
{
	return carving->waited + scribe_waited(carving->scribe);
}

/* A job rings the bell last, when its ticket may long have been reported. */
static void wait_for_jobs(struct carving *carving)
{
	pthread_mutex_lock(&carving->lock);
	while (carving->bell < carving->jobs)
		pthread_cond_wait(&carving->rung, &carving->lock);
	pthread_mutex_unlock(&carving->lock);
}

void carving_free(struct carving *carving)
{
	if (!carving)
		return;
	wait_for_jobs(carving);
	scribe_free(carving->scribe);
	for (unsigned i = 0; i < carving->threads; i++) {
		view_free(carving->rooms[i].view);
		copier_free(&carving->rooms[i].copier);
	}
	decider_free(carving->decider);
	pthread_cond_destroy(&carving->rung);
	pthread_mutex_destroy(&carving->lock);
	filing_free(carving->filing);
	ahead_free(carving->ahead);
	for (size_t i = 0; i < carving->ring_len; i++)
		outcome_free(&carving->ring[i].outcome);
	free(carving->rooms);
	free(carving->group);
	free(carving->ring);
	free(carving);
}
