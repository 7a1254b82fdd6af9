/*
 * Checks and writes by other processes. They are asked for some at a time, and nobody waits for an
 * answer: when it has come, a job of the pool takes it in, as that of a check or write here ends.
 * How many checks are under way is bounded by what the others can do, how many writes by the ring
 * of tickets.
 */
#include "carve/carving_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

/* So that a large file does not keep others waiting, which somebody else could write. */
#define WRITES_LEN ((uint64_t)1 << 20)

struct asking {
	struct pool_job job;           /* first: a job's address is its asking's */
	struct remote_request request; /* what follows is what it points to */
	struct carving *carving;
	unsigned worker; /* of `ahead` */
	uint32_t count;
	uint64_t len; /* writes: bytes */
	struct ticket *tickets[CHECK_BATCH];
	struct remote_check checks[CHECK_BATCH];
	struct remote_write writes[CHECK_BATCH];
	int status;
	struct error error;
};

static struct asking *asking_of(struct remote_request *request)
{
	return (struct asking *)((char *)request - offsetof(struct asking, request));
}

static void note_reached(struct remote_request *request, uint64_t start, uint64_t reached)
{
	const struct asking *asking = asking_of(request);

	defer_remote_progress(asking->carving->defer, asking->worker, start, reached);
}

static void note_answer(struct remote_request *request, int status, const struct error *error)
{
	struct asking *asking = asking_of(request);

	asking->status = status;
	if (status)
		asking->error = *error;
	pool_submit(asking->carving->options.pool, POOL_CHECK, &asking->job);
}

static struct asking *new_asking(struct carving *carving, void (*run)(struct pool_job *, unsigned))
{
	struct asking *asking = xcalloc(1, sizeof(*asking));

	asking->job.run = run;
	asking->carving = carving;
	asking->request = (struct remote_request){
		.checks = asking->checks,
		.writes = asking->writes,
		.reached = note_reached,
		.done = note_answer,
	};
	return asking;
}

static void ask(struct asking *asking)
{
	struct carving *carving = asking->carving;

	asking->request.hidden_until = defer_hidden_until(carving->defer);
	note_job(carving);
	carving->options.remote->submit(&asking->request);
}

/* ---- checks -------------------------------------------------------------------------------- */

bool remote_may_check(struct carving *carving)
{
	return atomic_load_explicit(&carving->spans_used, memory_order_acquire) < carving->threads;
}

static void take_span(struct carving *carving, struct asking *asking)
{
	pthread_mutex_lock(&carving->lock);
	while (carving->spans[asking->worker])
		asking->worker++;
	carving->spans[asking->worker] = asking;
	pthread_mutex_unlock(&carving->lock);
	atomic_fetch_add_explicit(&carving->spans_used, 1, memory_order_relaxed);
}

static void give_span(struct carving *carving, const struct asking *asking, uint64_t until)
{
	defer_end(carving->defer, asking->worker, until);
	pthread_mutex_lock(&carving->lock);
	carving->spans[asking->worker] = NULL;
	pthread_mutex_unlock(&carving->lock);
	atomic_fetch_sub_explicit(&carving->spans_used, 1, memory_order_release);
}

static uint64_t until_of_all(const struct asking *asking)
{
	struct defer *ahead = asking->carving->defer;
	uint64_t until = 0;

	for (uint32_t i = 0; i < asking->count; i++) {
		const struct remote_check *asked = &asking->checks[i];
		uint64_t one = asked->deferred ? 0
					       : defer_covered_until(
							 ahead, asked->candidate, asked->outcome);

		until = one > until ? one : until;
	}
	return until;
}

/* What could not be checked stays as it is: the carving ends. */
static void take_checks(struct pool_job *job, unsigned worker)
{
	struct asking *asking = (struct asking *)job;
	struct carving *carving = asking->carving;

	(void)worker;
	if (asking->status)
		jobs_note_error(carving, asking->status, &asking->error);
	give_span(carving, asking, asking->status ? 0 : until_of_all(asking));
	for (uint32_t i = 0; i < asking->count && !asking->status; i++)
		ticket_set_state(asking->tickets[i],
			asking->checks[i].deferred ? TICKET_PUT_OFF : TICKET_CHECKED);
	free(asking);
	jobs_ring_bell(carving);
}

/* Unless it is to be put off. */
static void add_check(struct asking *asking, struct ticket *ticket)
{
	struct carving *carving = asking->carving;

	if (!defer_begin(carving->defer, asking->worker, &ticket->candidate, ticket->force)) {
		ticket_set_state(ticket, TICKET_PUT_OFF);
		return;
	}
	asking->checks[asking->count] = (struct remote_check){ .candidate = &ticket->candidate,
		.force = ticket->force || carving->options.decide.nested,
		.outcome = &ticket->outcome };
	asking->tickets[asking->count++] = ticket;
}

void remote_check(struct carving *carving, struct ticket *first)
{
	struct asking *asking;

	if (atomic_load(&carving->cancelled))
		return;
	asking = new_asking(carving, take_checks);
	take_span(carving, asking);
	for (struct ticket *ticket = first; ticket; ticket = ticket->next)
		add_check(asking, ticket);
	if (asking->count) {
		asking->request.check_count = asking->count;
		ask(asking);
		return;
	}
	give_span(carving, asking, 0);
	free(asking);
}

/* ---- writes -------------------------------------------------------------------------------- */

/* Whoever wrote it knows of no sets. */
static int mark(struct carving *carving, struct file_record *record, struct error *error)
{
	const struct carving_options *options = &carving->options;
	int status;

	if (!options->sets)
		return 0;
	status = mark_known(options->sets, options->skip_known, record, error);
	if (status || record->left_out)
		output_dir_remove(options->output_dir, record->path);
	return status;
}

static void take_writes(struct pool_job *job, unsigned worker)
{
	struct asking *asking = (struct asking *)job;
	struct carving *carving = asking->carving;

	(void)worker;
	if (asking->status)
		jobs_note_error(carving, asking->status, &asking->error);
	for (uint32_t i = 0; i < asking->count; i++) {
		struct ticket *ticket = asking->tickets[i];
		struct error error = { 0 };

		ticket->status = asking->writes[i].status;
		if (!ticket->status) {
			ticket->status = mark(carving, &ticket->record, &error);
			if (ticket->status)
				jobs_note_error(carving, ticket->status, &error);
		}
		ticket_set_state(ticket, TICKET_DONE);
	}
	free(asking);
	jobs_ring_bell(carving);
}

void remote_write(struct carving *carving, struct ticket *ticket)
{
	struct asking *asking = carving->writing;

	if (!asking)
		carving->writing = asking = new_asking(carving, take_writes);
	asking->writes[asking->count] =
		(struct remote_write){ .record = &ticket->record, .status = -ECANCELED };
	asking->tickets[asking->count++] = ticket;
	asking->len += ticket->record.length;
	if (asking->count == CHECK_BATCH || asking->len >= WRITES_LEN)
		remote_push(carving);
}

void remote_push(struct carving *carving)
{
	struct asking *asking = carving->writing;

	if (!asking)
		return;
	carving->writing = NULL;
	asking->request.write_count = asking->count;
	if (!atomic_load(&carving->cancelled)) {
		ask(asking);
		return;
	}
	note_job(carving);
	pool_submit(carving->options.pool, POOL_WRITE, &asking->job);
}
