/* The carving stage's work outside its caller's thread: checks and writes are jobs of the pool;
 * they set their tickets' states and ring the bell. */
#include "base/thread.h"
#include "base/clock.h"
#include "carve/carving_state.h"

#include <errno.h>

#include "evidence/extent_image.h"

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

	return defer_progress(carving->defer, (unsigned)(room - carving->rooms), reached);
}

/* ---- jobs, in the pool's threads ----------------------------------------------------------- */

/* Whoever waits is not woken, which would take a processor from the work, while there are more jobs
 * than will be begun soon: until then he could only start others behind them. */
void jobs_ring_bell(struct carving *carving)
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
	note_job(carving);
	pool_submit(carving->options.pool, priority, &ticket->job);
}

static enum ticket_state check_ticket(
	struct carving *carving, struct ticket *ticket, unsigned worker)
{
	const struct candidate *candidate = &ticket->candidate;

	return defer_check(carving->defer, worker, carving->rooms[worker].view,
		       carving->options.image, &carving->options.rules->rules[candidate->rule],
		       candidate, ticket->force, &ticket->outcome)
		       ? TICKET_CHECKED
		       : TICKET_PUT_OFF;
}

static void run_checks(struct pool_job *job, unsigned worker)
{
	struct ticket *ticket = (struct ticket *)job, *next;
	struct carving *carving = ticket->carving;

	/* Once a ticket is checked it may be retired and used again: it is not touched any more. */
	for (; ticket; ticket = next) {
		next = ticket->next;
		ticket_set_state(ticket, check_ticket(carving, ticket, worker));
	}
	jobs_ring_bell(carving);
}

static int write_file(
	struct carving *carving, struct ticket *ticket, unsigned worker, struct error *error)
{
	if (atomic_load(&carving->cancelled))
		return -ECANCELED;
	return copy_file(&carving->rooms[worker].copier,
		extent_image_evidence(carving->options.image), carving->options.output_dir,
		&ticket->record, &carving->cancelled, error);
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
	jobs_ring_bell(carving);
}

/* ---- starting them, and waiting ------------------------------------------------------------ */

void jobs_start_checks(struct carving *carving, struct ticket *first)
{
	if (carving->options.remote)
		remote_check(carving, first);
	else
		start_job(carving, first, POOL_CHECK, run_checks);
}

void jobs_start_write(struct carving *carving, struct ticket *ticket)
{
	if (carving->options.remote)
		remote_write(carving, ticket);
	else
		start_job(carving, ticket, POOL_WRITE, run_write);
}

/* A file may take hours to write: whoever waits for it looks at the signals too. With the lock
 * held. False when nothing has happened. */
static bool wait_a_moment(struct carving *carving)
{
	bool rung = thread_cond_wait(&carving->rung, &carving->lock, 0.1);

	if (carving->options.interrupted && carving->options.interrupted())
		atomic_store(&carving->cancelled, true);
	return rung;
}

/* What else is to be done now and then. */
static void look_around(struct carving *carving)
{
	if (carving->report_queue)
		report_queue_push(carving->report_queue);
	if (carving->options.remote)
		carving->options.remote->poll(atomic_load(&carving->cancelled));
}

/* Waits until a job has finished since `seen` bells were counted. False when none did and none is
 * running: then nothing will change. */
bool jobs_wait(struct carving *carving, uint64_t seen)
{
	double from = clock_seconds();
	bool hope;

	if (carving->options.remote)
		remote_push(carving);
	pthread_mutex_lock(&carving->lock);
	while (carving->bell == seen && carving->bell < carving->jobs) {
		if (wait_a_moment(carving))
			continue;
		pthread_mutex_unlock(&carving->lock);
		look_around(carving);
		pthread_mutex_lock(&carving->lock);
	}
	hope = carving->bell != seen;
	pthread_mutex_unlock(&carving->lock);
	carving->waited += clock_seconds() - from;
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
