#include "carve/local_jobs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "carve/copy.h"
#include "carve/decide.h"
#include "carve/defer.h"
#include "carve/tracker.h"
#include "evidence/extent_image.h"

/* A thread's scratch. */
struct job_scratch {
	struct local_jobs *local;
	struct view *view;
	struct copier copier;
};

struct local_jobs {
	struct job_context context;
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

static void submit(struct local_jobs *local, struct carve_job *job, enum pool_priority priority,
	void (*run)(struct pool_job *, unsigned))
{
	job->local = local;
	job->pool_job.run = run;
	tracker_start(local->context.tracker);
	pool_submit(local->context.pool, priority, &job->pool_job);
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
	uint64_t cap = rule->carver ? decider_work_cap(context->decider, candidate) : UINT64_MAX;

	if (cap < job->work_max)
		job->work_max = cap;
	assert(job_state(job) == JOB_CHECKING);
	if (tracker_is_cancelled(context->tracker) ||
		!defer_check(context->defer, worker, local->scratch[worker].view, context->image,
			rule, candidate, job->work_max, job->force, &job->outcome))
		return JOB_DEFERRED;
	if (job->outcome.no_memory)
		fail_for_memory(local, rule, candidate);
	return JOB_CHECKED;
}

static void run_checks(struct pool_job *pool_job, unsigned worker)
{
	struct carve_job *job = (struct carve_job *)pool_job, *next;
	struct local_jobs *local = job->local;

	/* Once a job is checked it may be reported and used again: read next before. */
	for (; job; job = next) {
		next = job->next;
		job_set_state(job, check_job(local, job, worker));
	}
	tracker_complete(local->context.tracker);
}

void local_jobs_check(struct local_jobs *local, struct carve_job *first)
{
	submit(local, first, POOL_CHECK, run_checks);
}

static int write_file(
	struct local_jobs *local, struct carve_job *job, unsigned worker, struct error *error)
{
	const struct job_context *context = &local->context;

	if (tracker_is_cancelled(context->tracker))
		return -ECANCELED;
	return copy_file(&local->scratch[worker].copier, extent_image_evidence(context->image),
		context->output_dir, &job->record, tracker_cancel_flag(context->tracker), error);
}

static void run_write(struct pool_job *pool_job, unsigned worker)
{
	struct carve_job *job = (struct carve_job *)pool_job;
	struct local_jobs *local = job->local;
	struct error error = { 0 };

	assert(job_state(job) == JOB_WRITING);
	job->status = write_file(local, job, worker, &error);
	if (job->status)
		tracker_fail(local->context.tracker, job->status, &error);
	job_set_state(job, JOB_DONE);
	tracker_complete(local->context.tracker);
}

void local_jobs_write(struct local_jobs *local, struct carve_job *job)
{
	submit(local, job, POOL_WRITE, run_write);
}
