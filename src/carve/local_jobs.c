#include "carve/local_jobs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/copy.h"
#include "carve/decide.h"
#include "carve/defer.h"
#include "carve/tracker.h"
#include "evidence/extent_image.h"

/* Batches of checks that are under way for each thread: enough that none has to wait for the
 * stage's thread. */
#define BATCHES_PER_THREAD 4

/* A thread's scratch. */
struct job_scratch {
	struct local_jobs *local;
	struct view *view;
	struct copier copier;
};

/* Jobs that are checked by one thread, one after the other. */
struct local_batch {
	struct pool_job pool_job; /* first: its address is the batch's */
	struct local_jobs *local;
	size_t count;
	struct carve_job *jobs[CHECK_BATCH];
};

struct local_jobs {
	struct job_context context;
	_Atomic unsigned batches; /* under way */
	unsigned threads;
	struct job_scratch scratch[]; /* one a thread of the pool */
};

/* A view's watcher. */
static bool may_go_on(void *context, uint64_t reached)
{
	const struct job_scratch *scratch = context;
	const struct local_jobs *local = scratch->local;

	return !tracker_is_cancelled(local->context.tracker) &&
	       defer_progress(local->context.defer, (unsigned)(scratch - local->scratch), reached);
}

struct local_jobs *local_jobs_new(const struct job_context *context)
{
	unsigned threads = pool_threads(context->pool);
	struct local_jobs *local = xcalloc(1, sizeof(*local) + threads * sizeof(local->scratch[0]));

	local->context = *context;
	local->threads = threads;
	for (unsigned i = 0; i < threads; i++) {
		struct job_scratch *scratch = &local->scratch[i];

		scratch->local = local;
		scratch->view = view_new();
		view_watch(scratch->view, may_go_on, scratch);
		copier_init(&scratch->copier, context->hash_mask);
		scratch->copier.sets = context->sets;
		scratch->copier.skip_known = context->skip_known;
	}
	return local;
}

void local_jobs_free(struct local_jobs *local)
{
	if (!local)
		return;
	for (unsigned i = 0; i < local->threads; i++) {
		view_free(local->scratch[i].view);
		copier_free(&local->scratch[i].copier);
	}
	free(local);
}

/* Another verdict with more memory: there is none without. */
static void fail_for_memory(
	struct local_jobs *local, const struct rule *rule, const struct candidate *candidate)
{
	struct error error = { 0 };

	check_memory_error(&error, rule, candidate);
	tracker_fail(local->context.tracker, -ENOMEM, &error);
}

static enum job_state check_job(struct local_jobs *local, struct carve_job *job, unsigned worker)
{
	const struct job_context *context = &local->context;
	const struct candidate *candidate = &job->candidate;
	const struct rule *rule = &context->rules->rules[candidate->rule];
	uint64_t work_max =
		rule->carver ? decider_work_cap(context->decider, candidate) : UINT64_MAX;
	struct outcome outcome;

	assert(job_state(job) == JOB_CHECKING);
	if (tracker_is_cancelled(context->tracker) ||
		!defer_check(context->defer, worker, local->scratch[worker].view, context->image,
			rule, candidate, work_max, job->force, &outcome))
		return JOB_DEFERRED;
	if (outcome.no_memory)
		fail_for_memory(local, rule, candidate);
	job_set_outcome(context, job, &outcome);
	return JOB_CHECKED;
}

static void run_checks(struct pool_job *pool_job, unsigned worker)
{
	struct local_batch *batch = (struct local_batch *)pool_job;
	struct local_jobs *local = batch->local;

	for (size_t i = 0; i < batch->count; i++)
		job_set_state(batch->jobs[i], check_job(local, batch->jobs[i], worker));
	free(batch);
	atomic_fetch_sub_explicit(&local->batches, 1, memory_order_relaxed);
	tracker_complete(local->context.tracker);
}

bool local_jobs_may_check(const struct local_jobs *local)
{
	return atomic_load_explicit(&local->batches, memory_order_relaxed) <
	       BATCHES_PER_THREAD * local->threads;
}

void local_jobs_check(struct local_jobs *local, struct carve_job *const *jobs, size_t count)
{
	struct local_batch *batch = xmalloc(sizeof(*batch));

	assert(count <= CHECK_BATCH);
	batch->pool_job.run = run_checks;
	batch->local = local;
	batch->count = count;
	memcpy(batch->jobs, jobs, count * sizeof(*jobs));
	atomic_fetch_add_explicit(&local->batches, 1, memory_order_relaxed);
	tracker_start(local->context.tracker);
	pool_submit(local->context.pool, POOL_CHECK, &batch->pool_job);
}

static int write_file(
	struct local_jobs *local, struct kept_file *file, unsigned worker, struct error *error)
{
	const struct job_context *context = &local->context;

	if (tracker_is_cancelled(context->tracker))
		return -ECANCELED;
	return copy_file(&local->scratch[worker].copier, extent_image_evidence(context->image),
		context->output_dir, &file->record, tracker_cancel_flag(context->tracker), error);
}

static void run_write(struct pool_job *pool_job, unsigned worker)
{
	struct kept_file *file = (struct kept_file *)pool_job;
	struct local_jobs *local = file->local;
	struct error error = { 0 };

	assert(job_state(file->job) == JOB_WRITING);
	file->status = write_file(local, file, worker, &error);
	if (file->status)
		tracker_fail(local->context.tracker, file->status, &error);
	job_set_state(file->job, JOB_DONE);
	tracker_complete(local->context.tracker);
}

void local_jobs_write(struct local_jobs *local, struct kept_file *file)
{
	file->local = local;
	file->pool_job.run = run_write;
	tracker_start(local->context.tracker);
	pool_submit(local->context.pool, POOL_WRITE, &file->pool_job);
}
