#include "carve/remote_jobs.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "carve/copy.h"
#include "carve/cover.h"
#include "carve/decide.h"
#include "carve/defer.h"
#include "carve/kept_files.h"
#include "carve/tracker.h"
#include "output/output_dir.h"

/* Bytes of files in one request, so that small files need not wait for a large one while another
 * worker could write them. */
#define WRITES_LEN ((uint64_t)1 << 20)

/* A request, and the jobs that it is for. */
struct remote_batch {
	struct pool_job pool_job;      /* first: its address is the batch's */
	struct remote_request request; /* points to what follows */
	struct remote_jobs *remote;
	unsigned slot; /* checks: its number in remote->slots, and as a worker in carve/defer.h */
	uint32_t count;
	uint64_t len; /* writes: bytes */
	struct carve_job *jobs[CHECK_BATCH];
	struct remote_check checks[CHECK_BATCH];
	struct outcome outcomes[CHECK_BATCH];
	struct kept_file *files[CHECK_BATCH];
	struct remote_write writes[CHECK_BATCH];
	int status;
	struct error error;
};

struct remote_jobs {
	struct job_context context;
	const struct remote_workers *workers;
	struct remote_batch *writing; /* not sent yet; NULL: none */
	pthread_mutex_t lock;         /* guards slots */
	_Atomic unsigned slots_used;
	unsigned slot_count;
	struct remote_batch *slots[]; /* checks under way; NULL: free */
};

struct remote_jobs *remote_jobs_new(
	const struct job_context *context, const struct remote_workers *workers, unsigned capacity)
{
	struct remote_jobs *remote =
		xcalloc(1, sizeof(*remote) + capacity * sizeof(remote->slots[0]));

	remote->context = *context;
	remote->workers = workers;
	remote->slot_count = capacity;
	pthread_mutex_init(&remote->lock, NULL);
	return remote;
}

void remote_jobs_free(struct remote_jobs *remote)
{
	if (!remote)
		return;
	assert(!remote->slots_used);
	free(remote->writing);
	pthread_mutex_destroy(&remote->lock);
	free(remote);
}

static struct remote_batch *batch_of(struct remote_request *request)
{
	return (struct remote_batch *)((char *)request - offsetof(struct remote_batch, request));
}

static void on_reached(struct remote_request *request, uint64_t start, uint64_t reached)
{
	const struct remote_batch *batch = batch_of(request);

	defer_remote_progress(batch->remote->context.defer, batch->slot, start, reached);
}

static void on_done(struct remote_request *request, int status, const struct error *error)
{
	struct remote_batch *batch = batch_of(request);

	batch->status = status;
	if (status)
		batch->error = *error;
	pool_submit(batch->remote->context.pool, POOL_CHECK, &batch->pool_job);
}

static struct remote_batch *new_batch(
	struct remote_jobs *remote, void (*run)(struct pool_job *, unsigned))
{
	struct remote_batch *batch = xcalloc(1, sizeof(*batch));

	batch->pool_job.run = run;
	batch->remote = remote;
	batch->request = (struct remote_request){
		.checks = batch->checks,
		.writes = batch->writes,
		.reached = on_reached,
		.done = on_done,
	};
	return batch;
}

static void send(struct remote_batch *batch)
{
	struct remote_jobs *remote = batch->remote;

	batch->request.hidden_until = defer_hidden_until(remote->context.defer);
	tracker_start(remote->context.tracker);
	remote->workers->submit(&batch->request);
}

/* ---- checks -------------------------------------------------------------------------------- */

bool remote_jobs_may_check(struct remote_jobs *remote)
{
	return atomic_load_explicit(&remote->slots_used, memory_order_acquire) < remote->slot_count;
}

static void take_slot(struct remote_batch *batch)
{
	struct remote_jobs *remote = batch->remote;

	pthread_mutex_lock(&remote->lock);
	while (remote->slots[batch->slot]) {
		batch->slot++;
		assert(batch->slot < remote->slot_count);
	}
	remote->slots[batch->slot] = batch;
	pthread_mutex_unlock(&remote->lock);
	atomic_fetch_add_explicit(&remote->slots_used, 1, memory_order_relaxed);
}

/* Returns what defer_end does. */
static uint64_t free_slot(struct remote_batch *batch, uint64_t until)
{
	struct remote_jobs *remote = batch->remote;
	uint64_t waited = defer_end(remote->context.defer, batch->slot, until);

	pthread_mutex_lock(&remote->lock);
	assert(remote->slots[batch->slot] == batch);
	remote->slots[batch->slot] = NULL;
	pthread_mutex_unlock(&remote->lock);
	atomic_fetch_sub_explicit(&remote->slots_used, 1, memory_order_release);
	return waited;
}

static uint64_t covered_until(const struct remote_batch *batch)
{
	struct defer *defer = batch->remote->context.defer;
	uint64_t until = 0;

	for (uint32_t i = 0; i < batch->count; i++) {
		const struct remote_check *check = &batch->checks[i];
		uint64_t one = check->deferred ? 0
					       : defer_covered_until(
							 defer, check->candidate, check->outcome);

		until = one > until ? one : until;
	}
	return until;
}

static void apply_outcome(const struct remote_batch *batch, uint32_t i)
{
	const struct job_context *context = &batch->remote->context;
	struct carve_job *job = batch->jobs[i];

	assert(job_state(job) == JOB_CHECKING);
	if (batch->checks[i].deferred) {
		job_set_state(job, JOB_WAITING);
		return;
	}
	if (context->cover)
		cover_add(context->cover, &job->candidate, &batch->outcomes[i]);
	job_set_outcome(context, job, &batch->outcomes[i]);
	job_set_state(job, JOB_CHECKED);
}

/* After a failure the jobs keep their state: the stage ends. */
static void apply_checks(struct pool_job *pool_job, unsigned worker)
{
	struct remote_batch *batch = (struct remote_batch *)pool_job;
	const struct job_context *context = &batch->remote->context;
	uint64_t start = batch->jobs[0]->candidate.start, waited;

	(void)worker;
	if (batch->status)
		tracker_fail(context->tracker, batch->status, &batch->error);
	waited = free_slot(batch, batch->status ? 0 : covered_until(batch));
	for (uint32_t i = 0; i < batch->count && !batch->status; i++)
		apply_outcome(batch, i);
	if (context->cover)
		cover_retry(context->cover, start, waited);
	free(batch);
	tracker_complete(context->tracker);
}

/* Unless the check is to be deferred. */
static void add_check(struct remote_batch *batch, struct carve_job *job)
{
	const struct job_context *context = &batch->remote->context;

	if (!job_limit_work(context, job) ||
		!defer_begin(context->defer, batch->slot, &job->candidate, job->force)) {
		job_set_state(job, JOB_WAITING);
		if (context->cover)
			cover_retry(context->cover, job->candidate.start, job->candidate.start + 1);
		return;
	}
	batch->checks[batch->count] = (struct remote_check){ .candidate = &job->candidate,
		.work_max = job->work_max,
		.force = job->force || context->nested,
		.outcome = &batch->outcomes[batch->count] };
	batch->jobs[batch->count++] = job;
}

void remote_jobs_check(struct remote_jobs *remote, struct carve_job *const *jobs, size_t count)
{
	struct remote_batch *batch;

	if (tracker_is_cancelled(remote->context.tracker))
		return;
	batch = new_batch(remote, apply_checks);
	take_slot(batch);
	for (size_t i = 0; i < count; i++)
		add_check(batch, jobs[i]);
	if (batch->count) {
		batch->request.check_count = batch->count;
		send(batch);
		return;
	}
	free_slot(batch, 0);
	free(batch);
}

/* ---- writes -------------------------------------------------------------------------------- */

/* The process that wrote the file has no hash sets. */
static int look_up(
	const struct job_context *context, struct file_record *record, struct error *error)
{
	int status;

	if (!context->sets)
		return 0;
	status = mark_known(context->sets, record, error);
	if (status || record->left_out)
		output_dir_remove(context->output_dir, record->path);
	return status;
}

static void apply_writes(struct pool_job *pool_job, unsigned worker)
{
	struct remote_batch *batch = (struct remote_batch *)pool_job;
	const struct job_context *context = &batch->remote->context;

	(void)worker;
	if (batch->status)
		tracker_fail(context->tracker, batch->status, &batch->error);
	for (uint32_t i = 0; i < batch->count; i++) {
		struct kept_file *file = batch->files[i];
		struct error error = { 0 };

		assert(job_state(file->job) == JOB_WRITING);
		file->status = batch->writes[i].status;
		if (!file->status) {
			file->status = look_up(context, &file->kept->record, &error);
			if (file->status)
				tracker_fail(context->tracker, file->status, &error);
		}
		job_set_state(file->job, JOB_DONE);
	}
	free(batch);
	tracker_complete(context->tracker);
}

void remote_jobs_write(struct remote_jobs *remote, struct kept_file *file)
{
	struct remote_batch *batch = remote->writing;

	if (!batch)
		remote->writing = batch = new_batch(remote, apply_writes);
	kept_file_build(remote->context.record_builder, file);
	batch->writes[batch->count] =
		(struct remote_write){ .record = &file->kept->record, .status = -ECANCELED };
	batch->files[batch->count++] = file;
	batch->len += file->length;
	if (batch->count == CHECK_BATCH || batch->len >= WRITES_LEN)
		remote_jobs_push(remote);
}

void remote_jobs_push(struct remote_jobs *remote)
{
	struct remote_batch *batch = remote->writing;

	if (!batch)
		return;
	remote->writing = NULL;
	batch->request.write_count = batch->count;
	if (!tracker_is_cancelled(remote->context.tracker)) {
		send(batch);
		return;
	}
	/* Its writes end as they are, with -ECANCELED. */
	tracker_start(remote->context.tracker);
	pool_submit(remote->context.pool, POOL_WRITE, &batch->pool_job);
}
