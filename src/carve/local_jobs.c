#include "carve/local_jobs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/ahead.h"
#include "carve/batch_work.h"
#include "carve/check_worker.h"
#include "carve/copy.h"
#include "carve/cover.h"
#include "carve/decide.h"
#include "carve/defer.h"
#include "carve/kept_files.h"
#include "carve/tracker.h"
#include "evidence/extent_image.h"

/* Batches of checks that are under way for each thread: enough that none has to wait for the
 * stage's thread, and that many go to a worker in one message. */
#define BATCHES_PER_THREAD 16
/* Batches that a worker is given at a time. */
#define BATCHES_MAX BATCHES_PER_THREAD
#define REQUESTS_MAX ((size_t)BATCHES_MAX * CHECK_BATCH)

/* A thread's scratch. */
struct job_scratch {
	struct local_jobs *local;
	const struct carve_job *job; /* being checked */
	uint64_t covered_version;    /* of the cover when the job was last looked up; 0: not yet */
	struct view *view;
	struct batch_work *batch_work;        /* NULL without rules */
	struct check_worker *worker;          /* NULL: checks are made in the thread itself */
	struct carve_job *jobs[REQUESTS_MAX]; /* that the worker has */
	size_t count;
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
	/* Batches since the start; the pool begins them in order. Only the stage's thread submits them. */
	_Atomic uint64_t submitted, begun, ended;
	uint64_t *starts; /* of batches under way, by their number modulo batches_max */
	unsigned threads, batches_max;
	struct check_workers *workers; /* NULL: none */
	struct job_scratch scratch[];  /* one a thread of the pool */
};

static void watch_job(struct job_scratch *scratch, const struct carve_job *job)
{
	scratch->job = job;
	scratch->covered_version = 0;
}

/* While it is checked, a file that covers it may be found. Most checks end at the first look, before
 * this is asked. */
static bool is_covered(struct job_scratch *scratch)
{
	struct cover *cover = scratch->local->context.cover;
	uint64_t version;
	struct covered_range found;

	if (!cover || scratch->job->force)
		return false;
	version = cover_version(cover);
	if (version == scratch->covered_version)
		return false;
	scratch->covered_version = version;
	return cover_find(cover, &scratch->job->candidate, &found);
}

/* A view's watcher. */
static bool may_go_on(void *context, uint64_t reached)
{
	struct job_scratch *scratch = context;
	const struct local_jobs *local = scratch->local;

	return !tracker_is_cancelled(local->context.tracker) &&
	       defer_progress(
		       local->context.defer, (unsigned)(scratch - local->scratch), reached) &&
	       !is_covered(scratch) && !job_seems_spent(&local->context, scratch->job);
}

struct local_jobs *local_jobs_new(const struct job_context *context)
{
	unsigned threads = pool_threads(context->pool);
	struct local_jobs *local = xcalloc(1, sizeof(*local) + threads * sizeof(local->scratch[0]));

	local->context = *context;
	local->threads = threads;
	local->batches_max = BATCHES_PER_THREAD * threads;
	local->starts = xcalloc(local->batches_max, sizeof(*local->starts));
	if (context->confined) {
		local->workers = check_workers_new(context->image, context->rules, context->nested,
			0, context->defer, threads);
		local->workers->lost = context->lost;
	}
	for (unsigned i = 0; i < threads; i++) {
		struct job_scratch *scratch = &local->scratch[i];

		scratch->local = local;
		scratch->view = view_new();
		view_watch(scratch->view, may_go_on, scratch);
		view_know(scratch->view, context->ahead);
		if (context->rules)
			scratch->batch_work = batch_work_new(context->rules->count);
		if (local->workers)
			scratch->worker = check_worker_new(local->workers, i);
		copier_init(&scratch->copier, context->hash_mask, context->sets);
	}
	return local;
}

void local_jobs_free(struct local_jobs *local)
{
	if (!local)
		return;
	/* All of them end at the same time. */
	for (unsigned i = 0; i < local->threads; i++)
		check_worker_dismiss(local->scratch[i].worker);
	for (unsigned i = 0; i < local->threads; i++) {
		view_free(local->scratch[i].view);
		batch_work_free(local->scratch[i].batch_work);
		check_worker_free(local->scratch[i].worker);
		copier_free(&local->scratch[i].copier);
	}
	check_workers_free(local->workers);
	free(local->starts);
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

/* outcome: NULL if it was not checked. waited: as defer_end returns it. */
static void end_check(struct local_jobs *local, struct carve_job *job,
	const struct outcome *outcome, uint64_t waited)
{
	struct cover *cover = local->context.cover;
	uint64_t start = job->candidate.start;

	assert(job_state(job) == JOB_CHECKING);
	if (outcome && cover)
		cover_add(cover, &job->candidate, outcome);
	if (outcome)
		job_set_outcome(&local->context, job, outcome);
	if (waited && cover)
		cover_retry(cover, start, waited);
	job_set_state(job, outcome ? JOB_CHECKED : JOB_WAITING);
	/* The job may be the stage's again, and what it waited for over. */
	if (!outcome && cover)
		cover_retry(cover, start, start + 1);
}

/* ---- in this process ----------------------------------------------------------------------- */

static void check_job(struct local_jobs *local, struct carve_job *job, unsigned worker)
{
	const struct job_context *context = &local->context;
	const struct candidate *candidate = &job->candidate;
	const struct rule *rule = &context->rules->rules[candidate->rule];
	struct job_scratch *scratch = &local->scratch[worker];
	struct outcome outcome;
	uint64_t waited = 0;
	bool checked = false;

	watch_job(scratch, job);
	if (!tracker_is_cancelled(context->tracker) && job_limit_work(context, job))
		checked = batch_work_check(scratch->batch_work, context->defer, worker,
			scratch->view, context->image, rule, candidate, job->work_max, job->force,
			false, &outcome, &waited);
	if (checked && outcome.no_memory)
		fail_for_memory(local, rule, candidate);
	end_check(local, job, checked ? &outcome : NULL, waited);
}

/* ---- in another process -------------------------------------------------------------------- */

/* As may_go_on. */
static bool worker_may_go_on(void *context, size_t index, uint64_t reached)
{
	struct job_scratch *scratch = context;
	struct local_jobs *local = scratch->local;
	const struct carve_job *job = scratch->jobs[index];

	(void)reached;
	if (scratch->job != job)
		watch_job(scratch, job);
	return !tracker_is_cancelled(local->context.tracker) &&
	       defer_may_go_on(local->context.defer, job->candidate.start, job->force) &&
	       !is_covered(scratch) && !job_seems_spent(&local->context, job);
}

static bool worker_is_cancelled(void *context)
{
	const struct job_scratch *scratch = context;

	return tracker_is_cancelled(scratch->local->context.tracker);
}

static void worker_is_done(void *context, size_t index, struct outcome *outcome, uint64_t waited)
{
	struct job_scratch *scratch = context;
	struct carve_job *job = scratch->jobs[index];

	scratch->jobs[index] = NULL;
	end_check(scratch->local, job, outcome, waited);
}

static bool is_parsed(const struct job_context *context, const struct carve_job *job)
{
	return context->rules->rules[job->candidate.rule].carver != NULL;
}

static void add_known(const struct ahead *ahead, struct check_request *request)
{
	uint64_t data, end;

	if (!ahead || !ahead_find(ahead, request->candidate->start, &data, &end))
		return;
	request->known_data = data;
	request->known_end = end;
}

/* Those that need not be deferred at once; the others are not checked. What no carver parses is compared here. */
static void collect_requests(struct job_scratch *scratch, const struct local_batch *batch,
	struct check_request *requests)
{
	const struct job_context *context = &scratch->local->context;

	for (size_t i = 0; i < batch->count; i++) {
		struct carve_job *job = batch->jobs[i];

		if (!is_parsed(context, job)) {
			check_job(
				scratch->local, job, (unsigned)(scratch - scratch->local->scratch));
			continue;
		}
		if (tracker_is_cancelled(context->tracker) || !job_limit_work(context, job) ||
			!defer_may_begin(context->defer, &job->candidate, job->force)) {
			end_check(scratch->local, job, NULL, 0);
			continue;
		}
		requests[scratch->count] = (struct check_request){
			.candidate = &job->candidate,
			.work_max = job->work_max,
			.force = job->force,
		};
		add_known(context->ahead, &requests[scratch->count]);
		scratch->jobs[scratch->count++] = job;
	}
}

static void check_requests(struct job_scratch *scratch, const struct check_request *requests)
{
	const struct check_listener listener = { scratch, worker_may_go_on, worker_is_done,
		worker_is_cancelled };
	struct local_jobs *local = scratch->local;
	struct error error = { 0 };
	int status;

	status = check_worker_check(scratch->worker, requests, scratch->count,
		defer_hidden_until(local->context.defer), &listener, &error);
	if (status)
		tracker_fail(local->context.tracker, status, &error);
	for (size_t i = 0; i < scratch->count; i++)
		if (scratch->jobs[i])
			end_check(local, scratch->jobs[i], NULL, 0);
}

/* Batches that wait, divided by the pool's threads. A thread takes that many beside its own, because a message to
 * another process and its answer cost as much as a short check. */
static size_t fair_share(const struct local_jobs *local)
{
	uint64_t waiting = atomic_load_explicit(&local->submitted, memory_order_relaxed) -
			   atomic_load_explicit(&local->begun, memory_order_relaxed);
	size_t share = (size_t)(waiting / local->threads);

	return share < BATCHES_MAX - 1 ? share : BATCHES_MAX - 1;
}

static void check_in_worker(
	struct job_scratch *scratch, struct local_batch *const *batches, size_t count)
{
	struct check_request requests[REQUESTS_MAX];

	scratch->count = 0;
	scratch->job = NULL;
	for (size_t i = 0; i < count; i++)
		collect_requests(scratch, batches[i], requests);
	if (scratch->count)
		check_requests(scratch, requests);
}

/* ---- either -------------------------------------------------------------------------------- */

static void begin_batch(struct local_jobs *local)
{
	atomic_fetch_add_explicit(&local->begun, 1, memory_order_relaxed);
}

static void end_batch(struct local_jobs *local, struct local_batch *batch)
{
	free(batch);
	atomic_fetch_add_explicit(&local->ended, 1, memory_order_relaxed);
	tracker_complete(local->context.tracker);
}

static void run_checks(struct pool_job *pool_job, unsigned worker);

/* Stages of several images may share a pool. */
static bool is_own_batch(const struct pool_job *job, const void *local)
{
	return job->run == run_checks && ((const struct local_batch *)job)->local == local;
}

static void run_batches(struct local_jobs *local, struct local_batch *first, unsigned worker)
{
	struct local_batch *batches[BATCHES_MAX] = { first };
	size_t count = 1, share = fair_share(local);
	struct pool_job *next;

	while (count <= share &&
		(next = pool_take(local->context.pool, POOL_CHECK, is_own_batch, local))) {
		begin_batch(local);
		batches[count++] = (struct local_batch *)next;
	}
	check_in_worker(&local->scratch[worker], batches, count);
	for (size_t i = 0; i < count; i++)
		end_batch(local, batches[i]);
}

static void run_checks(struct pool_job *pool_job, unsigned worker)
{
	struct local_batch *batch = (struct local_batch *)pool_job;
	struct local_jobs *local = batch->local;

	begin_batch(local);
	if (local->workers)
		return run_batches(local, batch, worker);
	batch_work_begin(local->scratch[worker].batch_work);
	for (size_t i = 0; i < batch->count; i++)
		check_job(local, batch->jobs[i], worker);
	end_batch(local, batch);
}

bool local_jobs_may_check(const struct local_jobs *local)
{
	return local->submitted - atomic_load_explicit(&local->ended, memory_order_relaxed) <
	       local->batches_max;
}

uint64_t local_jobs_begun(const struct local_jobs *local)
{
	uint64_t until = UINT64_MAX;

	for (uint64_t n = atomic_load_explicit(&local->begun, memory_order_relaxed);
		n < local->submitted; n++)
		if (local->starts[n % local->batches_max] < until)
			until = local->starts[n % local->batches_max];
	return until;
}

void local_jobs_check(struct local_jobs *local, struct carve_job *const *jobs, size_t count)
{
	struct local_batch *batch = xmalloc(sizeof(*batch));

	assert(count && count <= CHECK_BATCH && local_jobs_may_check(local));
	batch->pool_job.run = run_checks;
	batch->local = local;
	batch->count = count;
	memcpy(batch->jobs, jobs, count * sizeof(*jobs));
	local->starts[local->submitted % local->batches_max] = jobs[0]->candidate.start;
	local->submitted++;
	tracker_start(local->context.tracker);
	pool_submit(local->context.pool, POOL_CHECK, &batch->pool_job);
}

static int write_file(
	struct local_jobs *local, struct kept_file *file, unsigned worker, struct error *error)
{
	const struct job_context *context = &local->context;

	if (tracker_is_cancelled(context->tracker))
		return -ECANCELED;
	kept_file_build(context->record_builder, file);
	return copy_file(&local->scratch[worker].copier, extent_image_evidence(context->image),
		context->output_dir, &file->kept->record, tracker_cancel_flag(context->tracker),
		error);
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
