/* The carving stage's work outside its caller's thread: checks and writes are jobs of the pool;
 * they set their tickets' states and ring the bell. */
#include "carve/carving_state.h"

#include <errno.h>
#include <time.h>

#include "evidence/gathered.h"

#define JOBS_IN_HAND_PER_THREAD 2

/* The first failure ends the carving. A write that was cancelled is none: it follows from one, or
 * from a signal. */
void jobs_note_error(void *context, int status, const struct error *error)
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

bool jobs_go_on(void *context, uint64_t reached)
{
	struct worker_room *room = context;
	struct carving *carving = room->carving;

	return ahead_reach(carving->ahead, (unsigned)(room - carving->rooms), reached);
}

/* ---- jobs, in the pool's threads --------------------------------------------------------------
 */

/* Whoever waits is not woken, which would take a processor from the work, while there are more jobs
 * than will be begun soon: until then he could only start others behind them. */
static void ring_bell(struct carving *carving)
{
	uint64_t left;

	pthread_mutex_lock(&carving->lock);
	left = atomic_load_explicit(&carving->jobs, memory_order_relaxed) - ++carving->bell;
	if (left <= (uint64_t)JOBS_IN_HAND_PER_THREAD * carving->threads)
		pthread_cond_signal(&carving->rung);
	pthread_mutex_unlock(&carving->lock);
}

static void start_job(struct carving *carving, struct ticket *ticket, enum pool_priority priority,
	void (*run)(struct pool_job *, unsigned))
{
	ticket->carving = carving;
	ticket->job.run = run;
	atomic_fetch_add_explicit(&carving->jobs, 1, memory_order_relaxed);
	pool_submit(carving->options.pool, priority, &ticket->job);
}

static enum ticket_state check_ticket(
	struct carving *carving, struct ticket *ticket, unsigned worker)
{
	const struct candidate *candidate = &ticket->candidate;

	return ahead_check(carving->ahead, worker, carving->rooms[worker].view, carving->options.image,
		       &carving->options.rules->rules[candidate->rule], candidate, ticket->insist, &ticket->outcome)
		       ? TICKET_CHECKED
		       : TICKET_PUT_OFF;
}

/* Takes what of the batch is to be checked now; the rest is put off. Returns how many. */
static uint32_t pick_tickets(struct carving *carving, struct ticket *first, unsigned worker,
	struct ticket **picked, struct carving_asked *asked)
{
	size_t at = (size_t)(first - carving->ring);
	uint32_t batch = first->batch, count = 0;

	for (uint32_t i = 0; i < batch; i++) {
		struct ticket *ticket = &carving->ring[(at + i) % carving->ring_len];

		if (!ahead_begin(carving->ahead, worker, &ticket->candidate, ticket->insist)) {
			ticket_set_state(ticket, TICKET_PUT_OFF);
			continue;
		}
		asked[count] = (struct carving_asked){ .candidate = &ticket->candidate,
			.insist = ticket->insist || carving->options.decide.nested,
			.outcome = &ticket->outcome };
		picked[count++] = ticket;
	}
	return count;
}

struct asking {
	struct carving *carving;
	unsigned worker;
};

static void note_reached(void *context, uint64_t start, uint64_t reached)
{
	const struct asking *asking = context;

	ahead_tell(asking->carving->ahead, asking->worker, start, reached);
}

static uint64_t until_of_all(struct ahead *ahead, const struct carving_checks *checks)
{
	uint64_t until = 0;

	for (uint32_t i = 0; i < checks->count; i++) {
		const struct carving_asked *asked = &checks->asked[i];
		uint64_t one = asked->put_off ? 0 : ahead_until(ahead, asked->candidate, asked->outcome);

		until = one > until ? one : until;
	}
	return until;
}

/* What could not be checked stays as it is: the carving ends. */
static void run_remote_checks(struct pool_job *job, unsigned worker)
{
	struct ticket *picked[CHECK_BATCH], *first = (struct ticket *)job;
	struct carving_asked asked[CHECK_BATCH];
	struct carving *carving = first->carving;
	struct asking asking = { carving, worker };
	struct carving_checks checks = { .asked = asked,
		.count = pick_tickets(carving, first, worker, picked, asked),
		.hidden_until = ahead_hidden(carving->ahead),
		.reached = note_reached,
		.context = &asking };
	struct error error = { 0 };
	int status = 0;

	if (checks.count)
		status = carving->options.remote->check(&checks, &carving->cancelled, &error);
	if (status)
		jobs_note_error(carving, status, &error);
	ahead_end(carving->ahead, worker, status ? 0 : until_of_all(carving->ahead, &checks));
	for (uint32_t i = 0; i < checks.count && !status; i++)
		ticket_set_state(picked[i], asked[i].put_off ? TICKET_PUT_OFF : TICKET_CHECKED);
	ring_bell(carving);
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

		ticket_set_state(ticket, check_ticket(carving, ticket, worker));
	}
	ring_bell(carving);
}

/* Whoever writes it knows of no sets. */
static int write_remotely(
	struct carving *carving, struct file_record *record, struct error *error)
{
	const struct carving_options *options = &carving->options;
	int status = options->remote->write(record, &carving->cancelled, error);

	if (status || !options->sets)
		return status;
	status = mark_file(options->sets, options->skip_known, record, error);
	if (status || record->left_out)
		sink_remove(options->sink, record->path);
	return status;
}

static int write_file(
	struct carving *carving, struct ticket *ticket, unsigned worker, struct error *error)
{
	if (atomic_load(&carving->cancelled))
		return -ECANCELED;
	if (carving->options.remote)
		return write_remotely(carving, &ticket->record, error);
	return copy_file(&carving->rooms[worker].copier, gathered_evidence(carving->options.image),
		carving->options.sink, &ticket->record, &carving->cancelled, error);
}

static void run_write(struct pool_job *job, unsigned worker)
{
	struct ticket *ticket = (struct ticket *)job;
	struct carving *carving = ticket->carving;
	struct error error = { 0 };

	ticket->status = write_file(carving, ticket, worker, &error);
	if (ticket->status)
		jobs_note_error(carving, ticket->status, &error);
	ticket_set_state(ticket, TICKET_DONE);
	ring_bell(carving);
}

/* ---- starting them, and waiting ---------------------------------------------------------------
 */

void jobs_start_checks(struct carving *carving, struct ticket *first, uint32_t batch)
{
	first->batch = batch;
	start_job(carving, first, POOL_CHECK,
		carving->options.remote ? run_remote_checks : run_checks);
}

void jobs_start_write(struct carving *carving, struct ticket *ticket)
{
	start_job(carving, ticket, POOL_WRITE, run_write);
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A file may take hours to write: whoever waits for it looks at the signals too. With the lock
 * held. False when nothing has happened. */
static bool wait_a_moment(struct carving *carving)
{
	struct timespec until;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 100 * 1000 * 1000;
	if (until.tv_nsec >= 1000 * 1000 * 1000) {
		until.tv_nsec -= 1000 * 1000 * 1000;
		until.tv_sec++;
	}
	status = pthread_cond_timedwait(&carving->rung, &carving->lock, &until);
	if (carving->options.interrupted && carving->options.interrupted())
		atomic_store(&carving->cancelled, true);
	return !status;
}

/* Waits until a job has finished since `seen` bells were counted. False when none did and none is
 * running: then nothing will change. */
bool jobs_wait(struct carving *carving, uint64_t seen)
{
	double from = seconds_now();
	bool hope;

	pthread_mutex_lock(&carving->lock);
	while (carving->bell == seen && carving->bell < carving->jobs) {
		if (wait_a_moment(carving))
			continue;
		pthread_mutex_unlock(&carving->lock);
		scribe_push(carving->scribe);
		pthread_mutex_lock(&carving->lock);
	}
	hope = carving->bell != seen;
	pthread_mutex_unlock(&carving->lock);
	carving->waited += seconds_now() - from;
	return hope;
}

uint64_t jobs_bell(struct carving *carving)
{
	uint64_t bell;

	pthread_mutex_lock(&carving->lock);
	bell = carving->bell;
	pthread_mutex_unlock(&carving->lock);
	return bell;
}

/* A job rings the bell last, when its ticket may long have been reported. */
void jobs_wait_all(struct carving *carving)
{
	pthread_mutex_lock(&carving->lock);
	while (carving->bell < carving->jobs)
		pthread_cond_wait(&carving->rung, &carving->lock);
	pthread_mutex_unlock(&carving->lock);
}
