/*
 * A ring of jobs, one a candidate, in order, with three cursors, none of which ever passes the one
 * before it:
 *
 *     reported <= decided <= offered
 *
 * offered: a job was added. decided: all jobs of its start were checked and the decider has decided
 * on them, and the writes of those that are kept were started. reported: written and in the report.
 *
 * Checks happen in any order, between offer and decision; carve/schedule.h says which is next. How
 * far they run ahead is limited by the memory that the jobs take. The likely files are known before
 * they are offered, as early jobs, and their checks begin at once: they go into the ring when their
 * turn comes. The other candidates are best offered late (carving_holds).
 *
 * The ring is this thread's alone. Checks and writes happen elsewhere (carve/local_jobs.h,
 * carve/remote_jobs.h); they set the states of their jobs, and this thread looks at these whenever
 * the tracker says that something was completed. In a checkpoint, what is between the cursors is
 * saved as it was given; checks and writes under way are not waited for, but done again.
 */
#include "carve/carving.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "carve/cover.h"
#include "carve/defer.h"
#include "carve/early_jobs.h"
#include "carve/kept_files.h"
#include "carve/local_jobs.h"
#include "carve/precheck_cache.h"
#include "carve/remote_jobs.h"
#include "carve/schedule.h"
#include "carve/tracker.h"
#include "evidence/extent_image.h"
#include "report/report_queue.h"

/* Bytes that the candidates in flight may take, with the outcomes of their checks and the records of
 * files that are not reported yet. */
#define IN_FLIGHT_MAX ((size_t)64 << 20)
/* Of these, for files: so that candidates are checked while many files wait to be written. In a dry
 * run they only wait for the scan to pass their ends; fewer stay in a processor's cache. */
#define FILES_MAX (IN_FLIGHT_MAX / 2)
#define DRY_FILES_MAX (IN_FLIGHT_MAX / 16)
/* When this much is in flight no more candidates are taken: the rest is for outcomes. */
#define OFFERED_MAX (IN_FLIGHT_MAX / 4 * 3)
/* Candidates that are offered, and starts that are decided on, before checks are started. */
#define OFFERED_AT_ONCE 64
#define DECIDED_AT_ONCE 64
/* Hidden starts are passed faster. */
#define PASSED_AT_ONCE 1024
/* The most early jobs. */
#define EARLY_MAX (JOB_RING_MAX / 8)

/* A file that had been decided on, and was not reported. */
struct loaded_record {
	struct candidate candidate;
	struct file_record record;
};

struct carving {
	struct carving_options options;
	struct decider *decider; /* NULL without rules */
	struct job_ring ring;
	struct early_jobs early;
	bool has_early; /* whether there may be any */
	uint64_t
		last_early; /* the number, in the ring, of the last job that is not late; UINT64_MAX: there was none */
	uint64_t early_from; /* all candidates before this were offered or skipped */
	uint64_t group_max;  /* jobs of one start, at most one a rule, and the next start's first */
	uint64_t reported, decided, offered; /* cursors: counts since the start */
	_Atomic size_t outcomes_len;
	unsigned threads; /* of the pool, or how many checks others can make at a time */
	struct job_context context;
	void (*on_decided)(void *context, const struct decision *decision); /* NULL: nobody */
	void *decided_context;
	struct tracker *tracker;
	struct local_jobs *local; /* one of these two; the other is NULL */
	struct remote_jobs *remote;
	uint64_t scanned;
	uint64_t offered_until; /* all candidates before this have been offered */
	struct defer *defer;
	struct cover *cover;       /* NULL where nothing hides anything */
	struct schedule *schedule; /* NULL without rules */
	struct precheck_cache *precheck_cache;
	bool needs_volumes; /* decisions wait until they are known */
	bool dropping;      /* what could not be written is given up */
	struct kept_files files;
	struct record_builder *record_builder; /* NULL with on_outcome */
	struct decision *group;                /* scratch: the decisions of one start */
	struct outcome *group_rejected; /* of those that were rejected where the hit was found... */
	struct outcome *group_unchecked; /* ...or need no check */
	double waited;
	/* Of a checkpoint, from carving_load to carving_resume. */
	struct loaded_record *loaded;
	struct candidate *undecided;
	size_t loaded_count, undecided_count;
	struct strpool texts; /* of records that were loaded */
};

struct carving *carving_new(const struct carving_options *options)
{
	struct carving *carving = xcalloc(1, sizeof(*carving));
	uint32_t rule_count = options->rules ? options->rules->count : 0;
	carving->context = (struct job_context){ .image = options->image,
		.rules = options->rules,
		.output_dir = options->dry_run ? NULL : options->output_dir,
		.pool = options->pool,
		.outcomes_len = &carving->outcomes_len,
		.hash_mask = options->hash_mask,
		.sets = options->sets,
		.ahead = options->ahead,
		.nested = options->decide.nested,
		.confined = options->confined && options->rules,
		.lost = options->lost };

	if (!options->on_outcome)
		carving->context.record_builder = carving->record_builder =
			record_builder_new(options->rules, options->output_dir, options->names,
				options->style, options->image, options->volumes);

	carving->options = *options;
	carving->group_max = (uint64_t)rule_count + 1;
	carving->group = xcalloc(carving->group_max, sizeof(*carving->group));
	carving->group_rejected = xcalloc(carving->group_max, sizeof(*carving->group_rejected));
	carving->group_unchecked = xcalloc(carving->group_max, sizeof(*carving->group_unchecked));
	carving->threads =
		options->remote ? options->remote->capacity() : pool_threads(options->pool);
	carving->context.defer = carving->defer =
		carving->context.confined && !options->remote
			? defer_new_shared(carving->threads, options->decide.nested, rule_count)
			: defer_new(carving->threads, options->decide.nested, rule_count);
	carving->context.tracker = carving->tracker =
		tracker_new(carving->threads, options->interrupted);
	if (options->rules)
		carving->decider = decider_new(
			options->rules, &options->decide, options->rejected, options->skipped);
	carving->context.decider = carving->decider;
	if (carving->decider)
		decider_share_work(carving->decider, carving->threads);
	/* Scalpel's order is not that of the image. */
	if (!options->decide.nested && !options->decide.any_order)
		carving->context.cover = carving->cover = cover_new(rule_count);
	carving->has_early = carving->cover && !options->remote && !options->on_outcome &&
			     rules_have_carver(options->rules);
	carving->last_early = UINT64_MAX;
	if (options->rules)
		carving->schedule = schedule_new(&(struct schedule_options){ &carving->ring,
			options->rules, carving->decider, carving->defer, carving->cover,
			carving->has_early ? &carving->early : NULL });
	if (options->remote)
		carving->remote =
			remote_jobs_new(&carving->context, options->remote, carving->threads);
	else
		carving->local = local_jobs_new(&carving->context);
	carving->precheck_cache = precheck_cache_new();
	kept_files_open(
		&carving->files, &carving->options, carving->record_builder, carving->tracker);
	return carving;
}

void carving_watch_decisions(struct carving *carving,
	void (*on_decided)(void *context, const struct decision *decision), void *context)
{
	carving->on_decided = on_decided;
	carving->decided_context = context;
}

static void free_loaded(struct carving *carving)
{
	for (size_t i = 0; i < carving->loaded_count; i++) {
		free(carving->loaded[i].record.path);
		free(carving->loaded[i].record.runs);
	}
	free(carving->loaded);
	free(carving->undecided);
	carving->loaded = NULL;
	carving->undecided = NULL;
	carving->loaded_count = carving->undecided_count = 0;
}

/* All that are still in flight, because the run ended early. */
static void drop_jobs(struct carving *carving)
{
	struct job_ring *ring = &carving->ring;

	for (uint64_t n = ring->first; n < ring->end; n++) {
		struct carve_job *job = job_ring_at(ring, n);

		job_drop_outcome(&carving->context, job);
		if (job->file)
			kept_files_drop(&carving->files, job->file);
	}
	job_ring_clear(ring);
	early_jobs_clear(&carving->early, &carving->context);
}

void carving_free(struct carving *carving)
{
	if (!carving)
		return;
	tracker_wait_all(carving->tracker);
	local_jobs_free(carving->local);
	remote_jobs_free(carving->remote);
	drop_jobs(carving);
	kept_files_close(&carving->files);
	tracker_free(carving->tracker);
	decider_free(carving->decider);
	free_loaded(carving);
	strpool_free(&carving->texts);
	record_builder_free(carving->record_builder);
	defer_free(carving->defer);
	cover_free(carving->cover);
	schedule_free(carving->schedule);
	precheck_cache_free(carving->precheck_cache);
	free(carving->group);
	free(carving->group_rejected);
	free(carving->group_unchecked);
	free(carving);
}

/* The job at a cursor, which is in the ring: reported <= cursor < offered. */
static struct carve_job *job_at(const struct carving *carving, uint64_t cursor)
{
	return job_ring_at(&carving->ring, cursor);
}

static uint64_t start_at(const struct carving *carving, uint64_t cursor)
{
	return job_at(carving, cursor)->candidate.start;
}

/* Bytes in flight. */
static size_t in_flight(const struct carving *carving)
{
	const struct job_ring *early = &carving->early.ring;

	return (size_t)(carving->offered - carving->reported + early->end - early->first) *
		       sizeof(struct carve_job) +
	       kept_files_len(&carving->files) +
	       atomic_load_explicit(&carving->outcomes_len, memory_order_relaxed);
}

/* Memory or not, the group that is decided next is offered whole. */
static bool ring_is_full(const struct carving *carving)
{
	assert(carving->reported <= carving->decided && carving->decided <= carving->offered);
	assert(carving->ring.first == carving->reported && carving->ring.end == carving->offered);
	return carving->offered - carving->reported == JOB_RING_MAX ||
	       (carving->offered - carving->decided > carving->group_max &&
		       in_flight(carving) >= OFFERED_MAX);
}

/* The caller fills it in. The ring must not be full. */
static struct carve_job *append_job(struct carving *carving)
{
	carving->offered++;
	return job_ring_append(&carving->ring);
}

/* ---- early jobs ---------------------------------------------------------------------------- */

bool carving_offer_early(struct carving *carving, const struct candidate *candidate)
{
	const struct job_ring *ring = &carving->early.ring;

	if (!carving->has_early || candidate->rejection || candidate->start < carving->early_from ||
		schedule_is_late(carving->schedule, candidate) ||
		!check_needed(&carving->options.rules->rules[candidate->rule]) ||
		decider_hides(carving->decider, candidate->start))
		return true;
	if (ring->end - ring->first >= EARLY_MAX || in_flight(carving) >= OFFERED_MAX)
		return false;
	job_ring_append(&carving->early.ring)->candidate = *candidate;
	return true;
}

void carving_skip_hidden(struct carving *carving, uint64_t until, uint64_t count)
{
	if (!count)
		return;
	decider_skip_many(carving->decider, count);
	carving->early_from = until;
	early_jobs_skip(&carving->early, &carving->context, until);
	precheck_cache_skip(carving->precheck_cache, &(struct candidate){ .start = until });
}

/* ---- starting checks ----------------------------------------------------------------------- */

static void start_batch(struct carving *carving, const struct check_batch *batch)
{
	if (carving->remote)
		remote_jobs_check(carving->remote, batch->jobs, batch->count);
	else
		local_jobs_check(carving->local, batch->jobs, batch->count);
}

/* Whether there is somebody to check one more batch. */
static bool may_start_batch(struct carving *carving)
{
	return !tracker_is_cancelled(carving->tracker) &&
	       (carving->remote ? remote_jobs_may_check(carving->remote)
				: local_jobs_may_check(carving->local));
}

/* Nothing that is found later could be checked before. */
static bool is_impatient(const struct carving *carving)
{
	return carving->scanned == UINT64_MAX || ring_is_full(carving);
}

static void start_checks(struct carving *carving)
{
	struct check_batch batch;

	if (!carving->schedule)
		return;
	while (in_flight(carving) < IN_FLIGHT_MAX && may_start_batch(carving) &&
		schedule_next(carving->schedule, carving->decided, is_impatient(carving), &batch))
		start_batch(carving, &batch);
}

/* Just past the last job of the start that is decided next. */
static uint64_t group_end(const struct carving *carving)
{
	uint64_t cursor = carving->decided;

	while (cursor < carving->offered &&
		start_at(carving, cursor) == start_at(carving, carving->decided))
		cursor++;
	return cursor;
}

/* What is decided next waits for no other check. */
static void start_front(struct carving *carving)
{
	struct check_batch batch;

	if (carving->decided == carving->offered || !carving->schedule)
		return;
	while (may_start_batch(carving) && schedule_next_forced(carving->schedule, carving->decided,
						   group_end(carving), &batch))
		start_batch(carving, &batch);
}

/* ---- deciding ------------------------------------------------------------------------------ */

/* How many jobs of one start are next to be decided; 0 while not all of them are offered and
 * checked. */
static size_t ready_group(const struct carving *carving, bool no_more)
{
	uint64_t cursor = carving->decided;
	uint64_t start;

	if (cursor == carving->offered)
		return 0;
	start = start_at(carving, cursor);
	for (; cursor < carving->offered; cursor++) {
		struct carve_job *job = job_at(carving, cursor);

		if (job->candidate.start != start)
			return (size_t)(cursor - carving->decided);
		if (!job_may_be_decided(&carving->context, job))
			return 0;
	}
	return no_more || start < carving->offered_until ? (size_t)(cursor - carving->decided) : 0;
}

static void start_write(struct carving *carving, struct kept_file *file)
{
	if (!carving_reads_files(&carving->options)) {
		job_set_state(file->job, JOB_DONE);
		return;
	}
	kept_files_begin(&carving->files, file);
	job_set_state(file->job, JOB_WRITING);
	if (carving->remote)
		remote_jobs_write(carving->remote, file);
	else
		local_jobs_write(carving->local, file);
}

static void pass_on_outcomes(struct carving *carving, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct carve_job *job = job_at(carving, carving->decided + i);

		if (job_state(job) == JOB_CHECKED && !job_needs_no_outcome(job, carving->decider))
			carving->options.on_outcome(carving->options.context, &job->candidate,
				carving->group[i].outcome);
	}
}

static void announce_decided(struct carving *carving)
{
	uint64_t position = decider_position(carving->decider);
	uint64_t until = decider_hidden_until(carving->decider);

	if (carving->cover)
		cover_decided(carving->cover, position, until);
	if (!carving->options.decide.any_order)
		defer_set_decided(carving->defer, position);
	if (until <= defer_hidden_until(carving->defer))
		return;
	defer_hide(carving->defer, until);
	if (carving->options.remote)
		carving->options.remote->hide(until);
}

static void apply_decision(
	struct carving *carving, struct carve_job *job, const struct decision *decision)
{
	if (carving->on_decided)
		carving->on_decided(carving->decided_context, decision);
	if (decision->keep && !carving->options.on_outcome) {
		struct kept_file *file =
			kept_files_add(&carving->files, job, decision->outcome->length);

		record_builder_plan(carving->record_builder, decision,
			job_take_outcome(&carving->context, job), &file->plan);
		start_write(carving, file);
	} else {
		job_set_state(job, JOB_DONE);
	}
	job_drop_outcome(&carving->context, job);
}

/* Where the candidate needed no check, the outcome is what its rule alone determines. */
static void fill_group(struct carving *carving, size_t count)
{
	static const struct outcome unused = { .verdict = CARVE_REJECT };
	const struct rules *rules = carving->options.rules;

	for (size_t i = 0; i < count; i++) {
		const struct carve_job *job = job_at(carving, carving->decided + i);
		const struct rule *rule = &rules->rules[job->candidate.rule];
		const struct outcome *outcome = job->outcome ? job->outcome : &unused;

		if (job->candidate.rejection) {
			rejections_outcome(carving->options.rejections, job->candidate.rejection,
				&carving->group_rejected[i]);
			outcome = &carving->group_rejected[i];
		} else if (!job->outcome && !check_needed(rule)) {
			check_nothing(carving->options.image, &job->candidate,
				&carving->group_unchecked[i]);
			outcome = &carving->group_unchecked[i];
		}
		carving->group[i] =
			(struct decision){ .candidate = &job->candidate, .outcome = outcome };
	}
}

static void decide_next(struct carving *carving, size_t count)
{
	fill_group(carving, count);
	if (carving->options.on_outcome)
		pass_on_outcomes(carving, count);
	decide_group(carving->decider, carving->group, count);
	announce_decided(carving);
	for (size_t i = 0; i < count; i++)
		apply_decision(carving, job_at(carving, carving->decided++), &carving->group[i]);
}

/* No more files are kept until some are reported. */
static bool files_are_full(const struct carving *carving)
{
	size_t max = carving_reads_files(&carving->options) ? FILES_MAX : DRY_FILES_MAX;

	return carving->files.waiting >= max / kept_files_each(&carving->files);
}

static bool is_hidden(const struct carving *carving)
{
	return decider_hides(carving->decider, start_at(carving, carving->decided));
}

/* What starts inside a complete file, as most candidates do, is only counted. The next start is
 * hidden. */
static void pass_hidden(struct carving *carving, bool no_more)
{
	unsigned starts = 0;
	uint64_t from = carving->decided, start = 0;
	size_t count;

	while (starts++ < PASSED_AT_ONCE && (count = ready_group(carving, no_more)) &&
		is_hidden(carving)) {
		start = start_at(carving, carving->decided);
		while (count--) {
			struct carve_job *job = job_at(carving, carving->decided++);

			job_set_state(job, JOB_DONE);
			job_drop_outcome(&carving->context, job);
		}
	}
	decider_pass_hidden(carving->decider, start, carving->decided - from);
	announce_decided(carving);
}

/* Whether it is not known yet whose files the kept ones are. Meanwhile candidates are checked, but not
 * decided on. */
static bool needs_volumes(const struct carving *carving)
{
	return carving->options.volumes && !volumes_known(carving->options.volumes);
}

static void decide_ready(struct carving *carving, bool no_more)
{
	unsigned decided = 0;
	size_t count;

	carving->needs_volumes = needs_volumes(carving);
	if (carving->needs_volumes)
		return;
	while (!files_are_full(carving) && (count = ready_group(carving, no_more))) {
		if (is_hidden(carving))
			pass_hidden(carving, no_more);
		else
			decide_next(carving, count);
		/* Meanwhile checks have ended. */
		if (++decided % DECIDED_AT_ONCE == 0)
			start_checks(carving);
	}
}

/* ---- reporting ----------------------------------------------------------------------------- */

void carving_was_reported(
	struct carving *carving, struct report *report, const struct file_sums *sums)
{
	kept_files_were_reported(&carving->files, report, sums);
}

struct record_builder *carving_record_builder(struct carving *carving)
{
	return carving->record_builder;
}

/* Where files are not read, whether one can be is known only when the reader has passed its
 * end. */
static bool waits_for_scan(const struct carving *carving, const struct carve_job *job)
{
	return job->file && !carving_reads_files(&carving->options) &&
	       job->candidate.start + job->file->length > carving->scanned;
}

static void report_ready(struct carving *carving)
{
	while (carving->reported < carving->decided) {
		struct carve_job *job = job_at(carving, carving->reported);

		if (job_state(job) != JOB_DONE || waits_for_scan(carving, job))
			return;
		/* A checkpoint must find it not done, whatever the reason. */
		if (job->file && job->file->status && !carving->dropping)
			return;
		if (job->file)
			kept_files_report(&carving->files, job->file);
		job->file = NULL;
		job_ring_drop(&carving->ring);
		carving->reported++;
	}
}

/* ---- moving on, and waiting ---------------------------------------------------------------- */

/* Does what can be done without waiting. no_more: there will be no more candidates. */
static void advance(struct carving *carving, bool no_more)
{
	bool full;

	if (carving->decider)
		decider_hide(carving->decider, defer_hidden_until(carving->defer));
	early_jobs_free_done(&carving->early, &carving->context);
	do {
		start_checks(carving);
		decide_ready(carving, no_more);
		start_checks(carving);
		start_front(carving);
		full = files_are_full(carving);
		report_ready(carving);
	} while (full && !files_are_full(carving)); /* nobody else may wake this thread for it */
}

static void call_on_wait(struct carving *carving)
{
	if (carving->options.on_wait)
		carving->options.on_wait(carving->options.context);
}

/* Whether decisions that waited for the volumes can be made now. */
static bool take_volumes(struct carving *carving)
{
	bool taken = carving->needs_volumes && !needs_volumes(carving);

	if (taken)
		carving->needs_volumes = false;
	return taken;
}

/* Waits until more than `seen` checks and writes were completed, or the volumes are known. False when they
 * were not and none is under way: then nothing will change. may_save: carving_save may be called meanwhile. */
static bool wait_for_change(struct carving *carving, uint64_t seen, bool may_save)
{
	double from = clock_seconds();
	enum tracker_wait result;

	if (carving->remote)
		remote_jobs_push(carving->remote);
	if (may_save)
		call_on_wait(carving);
	do {
		result = tracker_wait(carving->tracker, seen);
		if (result == TRACKER_IDLE && carving->needs_volumes &&
			!volumes_wait_briefly(carving->options.volumes))
			result = TRACKER_TIMEOUT;
		/* Sets the flag that writes under way look at. */
		(void)tracker_is_cancelled(carving->tracker);
		if (result != TRACKER_TIMEOUT)
			continue;
		if (carving->files.queue)
			report_queue_push(carving->files.queue);
		if (carving->remote)
			carving->options.remote->poll(tracker_is_cancelled(carving->tracker));
		if (may_save)
			call_on_wait(carving);
		if (carving->needs_volumes && !needs_volumes(carving))
			break;
	} while (result == TRACKER_TIMEOUT);
	carving->waited += clock_seconds() - from;
	return take_volumes(carving) || result == TRACKER_CHANGED;
}

/* Waits until the ring has room for a job. */
static int make_room(struct carving *carving)
{
	for (;;) {
		int status = tracker_status(carving->tracker);
		uint64_t seen;

		if (status)
			return status;
		if (!ring_is_full(carving))
			return 0;
		seen = tracker_completed(carving->tracker);
		advance(carving, false);
		if (!ring_is_full(carving))
			return 0;
		if (!wait_for_change(carving, seen, true))
			return -EAGAIN;
	}
}

/* ---- what goes in -------------------------------------------------------------------------- */

/* Whether schedule_holds, as far as is decided. */
static bool is_held(const struct carving *carving, const struct candidate *candidate)
{
	uint64_t last = carving->last_early;

	if (carving->scanned == UINT64_MAX || carving->offered == carving->decided)
		return false;
	if (last != UINT64_MAX && last < carving->decided)
		last = UINT64_MAX;
	return schedule_holds(carving->schedule, last, candidate);
}

bool carving_holds(struct carving *carving, const struct candidate *candidate)
{
	uint64_t decided;

	if (!carving->has_early)
		return false;
	while (is_held(carving, candidate)) {
		decided = carving->decided;
		carving->offered_until = candidate->start;
		advance(carving, false);
		if (carving->decided == decided)
			return true;
	}
	return false;
}

/* Nothing has to be read for some candidates, and others were checked before. */
static void take_candidate(struct carving *carving, const struct candidate *candidate)
{
	struct carve_job *job = early_jobs_take(&carving->early, &carving->context, candidate);
	struct outcome outcome;

	if (job) {
		carving->last_early = carving->offered++;
		job_ring_add(&carving->ring, job);
		return;
	}
	job = append_job(carving);
	job->candidate = *candidate;
	job->late = schedule_is_late(carving->schedule, candidate);
	if (!job->late)
		carving->last_early = carving->offered - 1;
	if (candidate->rejection ||
		!check_needed(&carving->options.rules->rules[candidate->rule])) {
		job_set_state(job, JOB_CHECKED);
	} else if (precheck_cache_take(carving->precheck_cache, candidate, &outcome)) {
		defer_covered_until(carving->defer, candidate, &outcome);
		if (carving->cover)
			cover_add(carving->cover, candidate, &outcome);
		job_set_outcome(&carving->context, job, &outcome);
		job_set_state(job, JOB_CHECKED);
	}
}

int carving_offer(struct carving *carving, const struct candidate *candidate)
{
	int status;

	/* Most candidates start inside a complete file: these cost no job. */
	carving->early_from = candidate->start + 1;
	if (decider_skip_hidden(carving->decider, candidate)) {
		precheck_cache_skip(carving->precheck_cache, candidate);
		return tracker_status(carving->tracker);
	}
	status = make_room(carving);
	if (status)
		return status;
	take_candidate(carving, candidate);
	if (carving->offered % OFFERED_AT_ONCE == 0)
		advance(carving, false);
	return 0;
}

int carving_add_record(struct carving *carving, struct file_record *record)
{
	int status = make_room(carving);
	struct carve_job *job;

	if (status)
		return status;
	job = append_job(carving);
	carving->decided = carving->offered;
	job->candidate.start = record->offset;
	start_write(carving, kept_files_add_given(&carving->files, job, record));
	return 0;
}

void carving_add_precheck(
	struct carving *carving, uint64_t start, uint32_t rule, struct outcome *outcome)
{
	precheck_cache_add(carving->precheck_cache, start, rule, outcome);
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

/* ---- progress, and the end ----------------------------------------------------------------- */

int carving_scanned(struct carving *carving, uint64_t position)
{
	carving->scanned = position;
	advance(carving, false);
	if (carving->remote)
		remote_jobs_push(carving->remote);
	return tracker_status(carving->tracker);
}

/* All checks of what starts before this are begun, but for those that wait for others. */
static uint64_t begun_until(const struct carving *carving)
{
	uint64_t reached = schedule_reached(carving->schedule, carving->decided);
	uint64_t started = reached < carving->offered ? start_at(carving, reached) : UINT64_MAX;
	uint64_t begun = carving->local ? local_jobs_begun(carving->local) : UINT64_MAX;
	uint64_t early = schedule_early_reached(carving->schedule);

	if (early < started)
		started = early;
	return started < begun ? started : begun;
}

int carving_start_checks(struct carving *carving, uint64_t position)
{
	for (;;) {
		uint64_t seen = tracker_completed(carving->tracker);

		advance(carving, false);
		if (begun_until(carving) >= position || tracker_is_cancelled(carving->tracker))
			return tracker_status(carving->tracker);
		if (!wait_for_change(carving, seen, true))
			return tracker_status(carving->tracker);
	}
}

uint64_t carving_decided_until(const struct carving *carving)
{
	return carving->decided < carving->offered ? start_at(carving, carving->decided)
						   : carving->offered_until;
}

int carving_decide_until(struct carving *carving, uint64_t position)
{
	for (;;) {
		uint64_t seen = tracker_completed(carving->tracker);
		bool changed;

		advance(carving, false);
		if (carving_decided_until(carving) >= position ||
			tracker_is_cancelled(carving->tracker))
			return tracker_status(carving->tracker);
		changed = wait_for_change(carving, seen, false);
		assert(changed || tracker_is_cancelled(carving->tracker));
	}
}

int carving_finish(struct carving *carving)
{
	carving->scanned = UINT64_MAX;
	for (;;) {
		uint64_t seen = tracker_completed(carving->tracker);
		bool changed;

		advance(carving, true);
		if (carving->reported == carving->offered ||
			tracker_is_cancelled(carving->tracker)) {
			report_queue_finish(carving->files.queue);
			return tracker_status(carving->tracker);
		}
		changed = wait_for_change(carving, seen, true);
		assert(changed || tracker_is_cancelled(carving->tracker));
	}
}

void carving_cancel(struct carving *carving)
{
	bool changed;

	tracker_cancel(carving->tracker);
	carving->dropping = true;
	carving->scanned = UINT64_MAX;
	do {
		uint64_t seen = tracker_completed(carving->tracker);

		report_ready(carving);
		changed = wait_for_change(carving, seen, false);
	} while (changed);
	report_ready(carving);
	tally_add_many(
		carving->options.skipped, SKIPPED_BY_END, carving->offered - carving->decided, 0);
	drop_jobs(carving);
	carving->decided = carving->reported = carving->offered = 0;
	if (carving->files.queue)
		report_queue_finish(carving->files.queue);
}

int carving_flush(struct carving *carving, struct error *error)
{
	return report_queue_flush(carving->files.queue, error);
}

/* ---- checkpoints --------------------------------------------------------------------------- */

static uint64_t count_kept(const struct carving *carving)
{
	uint64_t count = 0;

	for (uint64_t n = carving->reported; n < carving->decided; n++)
		count += job_at(carving, n)->file != NULL;
	return count;
}

void carving_save(struct carving *carving, struct codec_writer *writer)
{
	file_sums_save(&carving->files.sums, writer);
	decider_save(carving->decider, writer);
	record_builder_save(carving->record_builder, writer);
	codec_put(writer, count_kept(carving));
	for (uint64_t n = carving->reported; n < carving->decided; n++) {
		const struct carve_job *job = job_at(carving, n);

		if (!job->file)
			continue;
		candidate_save(&job->candidate, writer);
		kept_files_save(&carving->files, job->file, writer);
	}
	codec_put(writer, carving->offered - carving->decided);
	for (uint64_t n = carving->decided; n < carving->offered; n++)
		candidate_save(&job_at(carving, n)->candidate, writer);
}

static void load_records(struct carving *carving, uint64_t limit, struct codec_reader *reader)
{
	struct image *evidence = extent_image_evidence(carving->options.image);
	uint64_t evidence_limit = image_info(evidence)->size;
	uint64_t count = codec_get(reader, JOB_RING_MAX);
	size_t room = 0;

	while (carving->loaded_count < count && codec_ok(reader)) {
		struct loaded_record *loaded;

		carving->loaded = xgrow(
			carving->loaded, &room, carving->loaded_count, sizeof(*carving->loaded));
		loaded = &carving->loaded[carving->loaded_count++];
		*loaded = (struct loaded_record){ 0 };

		candidate_load(&loaded->candidate, carving->options.rules, limit, reader);
		file_record_load(&loaded->record, carving->options.rules, evidence_limit,
			&carving->texts, reader);
	}
}

static void load_candidates(struct carving *carving, uint64_t limit, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, JOB_RING_MAX - carving->loaded_count);
	bool in_order = carving->options.names < NAMES_SCALPEL; /* of start */
	uint64_t position = decider_position(carving->decider);
	size_t room = 0;

	while (carving->undecided_count < count && codec_ok(reader)) {
		struct candidate *candidate;

		carving->undecided = xgrow(carving->undecided, &room, carving->undecided_count,
			sizeof(*carving->undecided));
		candidate = &carving->undecided[carving->undecided_count++];
		candidate_load(candidate, carving->options.rules, limit, reader);
		/* What starts before would wait for a decision on what hides it for ever. */
		if (in_order && candidate->start < position)
			codec_fail(reader);
		position = candidate->start;
	}
}

static bool is_leftover(void *context, const char *folder, const char *name)
{
	return record_builder_is_later(context, folder, name);
}

static void remove_leftovers(struct carving *carving)
{
	output_dir_sweep(carving->options.output_dir, is_leftover, carving->record_builder);
}

void carving_load(struct carving *carving, struct codec_reader *reader)
{
	uint64_t limit = image_info(carving->options.image)->size;

	file_sums_load(&carving->files.sums, reader);
	decider_load(carving->decider, limit, reader);
	record_builder_load(carving->record_builder, reader);
	load_records(carving, limit, reader);
	load_candidates(carving, limit, reader);
}

/* A killed run may have begun its file, which is removed first. */
static int write_again(struct carving *carving, struct loaded_record *loaded)
{
	int status;

	if (!carving->options.dry_run)
		output_dir_discard(carving->options.output_dir, loaded->record.path);
	status = carving_add_record(carving, &loaded->record);
	if (!status)
		job_at(carving, carving->offered - 1)->candidate = loaded->candidate;
	return status;
}

int carving_resume(struct carving *carving)
{
	int status = 0;

	remove_leftovers(carving);
	for (size_t i = 0; i < carving->loaded_count && !status; i++)
		status = write_again(carving, &carving->loaded[i]);
	for (size_t i = 0; i < carving->undecided_count && !status; i++)
		status = carving_offer(carving, &carving->undecided[i]);
	free_loaded(carving);
	return status;
}

/* ---- figures ------------------------------------------------------------------------------- */

const struct error *carving_error(const struct carving *carving)
{
	return tracker_error(carving->tracker);
}

const struct file_sums *carving_sums(const struct carving *carving)
{
	return &carving->files.sums;
}

uint64_t carving_mismatches(const struct carving *carving)
{
	return carving->files.mismatches;
}

void carving_quota(const struct carving *carving, struct quota_state *quota)
{
	*quota = (struct quota_state){ 0 };
	if (carving->decider)
		decider_quota(carving->decider, quota);
}

void carving_tally_checks(const struct carving *carving, struct tallies *checks)
{
	if (carving->decider)
		decider_tally_checks(carving->decider, checks);
}

const struct crashed_checks *carving_crashed(const struct carving *carving)
{
	return carving->decider ? decider_crashed(carving->decider) : NULL;
}

uint64_t carving_unchecked(const struct carving *carving)
{
	return carving->decider ? decider_unchecked(carving->decider) : 0;
}

double carving_waited(const struct carving *carving)
{
	return carving->waited + report_queue_waited(carving->files.queue);
}
