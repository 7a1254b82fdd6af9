/*
 * A candidate is early if it probably is a file, and one that is not inside another: it starts at a
 * sector, as files on disks do, and its header seldom occurs there by chance. The others are late:
 * headers of two bytes, of which random data are full, and the pictures and archives inside other
 * files.
 *
 * There is a cursor for each of the two, and one for the early jobs that are not in the ring yet.
 * Those of the early ones run ahead as far as such are known. The other stops at the first early candidate whose check has not ended: after that all
 * that covers a late candidate is known. Covered candidates are left where they are (carve/cover.h):
 * when the file that covers them is decided on they are hidden, for the price of a comparison.
 * Where that turns out otherwise, the cover says which part of the ring must be visited again.
 *
 * Neighbours are checked together, one after the other, since a file that is found often covers the
 * next candidate, and so that little is paid for starting them. Candidates that are far from each
 * other are not: they may be large files.
 */
#include "carve/schedule.h"

#include <stdlib.h>

#include "base/memory.h"
#include "rules/forecast.h"

#define SECTOR 512
/* Chance hits in 1 GiB of random data, at the offsets that count, beyond which a header is weak. */
#define WEAK_HITS 64
/* Bytes from the first candidate of a batch to its last. */
#define BATCH_SPAN (64 * 1024)
/* Candidates after one that everything waits for that are looked at with it. */
#define RETRIES (4 * CHECK_BATCH)
/* Candidates that are visited again in vain before the rest is left to the next time. */
#define VAIN_MAX 1024

enum { EARLY, LATE, ORDERS };

struct schedule {
	struct schedule_options options;
	bool *weak;                  /* by pattern */
	uint64_t next[ORDERS];       /* cursors: the jobs before them were visited */
	uint64_t next_ahead;         /* the same of early jobs that are not in the ring */
	bool waits;                  /* the late ones' cursor is at an early one that is not done */
	uint64_t retry, retry_until; /* jobs from there on, up to that offset, are visited again */
	struct covered_range covered; /* the last that was found; until there is a retry */
};

struct schedule *schedule_new(const struct schedule_options *options)
{
	struct schedule *schedule = xcalloc(1, sizeof(*schedule));
	const struct pattern_set *patterns = &options->rules->patterns;

	schedule->options = *options;
	schedule->weak = xcalloc(patterns->count + 1, sizeof(*schedule->weak));
	for (uint32_t i = 0; i < patterns->count; i++)
		schedule->weak[i] =
			forecast_pattern(&patterns->patterns[i]) > (double)WEAK_HITS * SECTOR;
	return schedule;
}

void schedule_free(struct schedule *schedule)
{
	if (!schedule)
		return;
	free(schedule->weak);
	free(schedule);
}

bool schedule_is_late(const struct schedule *schedule, const struct candidate *candidate)
{
	return schedule->options.cover &&
	       (candidate->start % SECTOR || schedule->weak[candidate->pattern]);
}

/* ---- what may be started ------------------------------------------------------------------- */

static bool is_covered(struct schedule *schedule, const struct candidate *candidate)
{
	struct covered_range *covered = &schedule->covered;
	struct cover *cover = schedule->options.cover;

	if (cover && candidate->start - covered->range.offset < covered->range.length &&
		(covered->rule == COVER_ALL_RULES || covered->rule == candidate->rule))
		return true;
	return cover && cover_find(cover, candidate, covered);
}

/* It waits to be checked, and nothing speaks against doing it now; next: after one that everything waits for. */
static bool may_start(struct schedule *schedule, const struct carve_job *job, bool next)
{
	const struct candidate *candidate = &job->candidate;

	return job_state(job) == JOB_WAITING && !is_covered(schedule, candidate) &&
	       !job_needs_no_outcome(job, schedule->options.decider) &&
	       decider_work_ahead(schedule->options.decider, candidate, next) &&
	       defer_may_begin(schedule->options.defer, candidate, false);
}

static bool fits(const struct check_batch *batch, const struct carve_job *job)
{
	return !batch->count ||
	       (batch->count < CHECK_BATCH &&
		       job->candidate.start - batch->jobs[0]->candidate.start <= BATCH_SPAN);
}

static void add(struct check_batch *batch, struct carve_job *job, bool next)
{
	job->next = next;
	job_set_state(job, JOB_CHECKING);
	batch->jobs[batch->count++] = job;
}

/* ---- cursors ------------------------------------------------------------------------------- */

/* An early job whose check has not ended. One that its cursor has left waiting is covered. */
static bool is_pending(const struct schedule *schedule, uint64_t number)
{
	const struct carve_job *job = job_ring_at(schedule->options.ring, number);
	enum job_state state = job_state(job);

	return !job->late &&
	       (state == JOB_CHECKING || (state == JOB_WAITING && number >= schedule->next[EARLY]));
}

/* Moves a cursor on until the batch is full. patient: late jobs wait for early ones. */
static bool visit(
	struct schedule *schedule, unsigned order, bool patient, struct check_batch *batch)
{
	const struct job_ring *ring = schedule->options.ring;

	for (; schedule->next[order] < ring->end; schedule->next[order]++) {
		struct carve_job *job = job_ring_at(ring, schedule->next[order]);

		if (order == LATE && is_pending(schedule, schedule->next[LATE]) && patient) {
			schedule->waits = true;
			break;
		}
		if (job->late != (order == LATE) || !may_start(schedule, job, false))
			continue;
		if (!fits(batch, job))
			break;
		add(batch, job, false);
	}
	return batch->count;
}

/* The same of early jobs that are not in the ring yet. */
static bool visit_ahead(struct schedule *schedule, struct check_batch *batch)
{
	const struct early_jobs *early = schedule->options.early;

	if (!early)
		return false;
	if (schedule->next_ahead < early->next)
		schedule->next_ahead = early->next;
	for (; schedule->next_ahead < early->ring.end; schedule->next_ahead++) {
		struct carve_job *job = job_ring_at(&early->ring, schedule->next_ahead);

		if (!may_start(schedule, job, false))
			continue;
		if (!fits(batch, job))
			break;
		add(batch, job, false);
	}
	return batch->count;
}

/* The first job of [from, to) that starts at the offset or later. */
static uint64_t job_from(const struct job_ring *ring, uint64_t from, uint64_t to, uint64_t offset)
{
	while (from < to) {
		uint64_t middle = from + (to - from) / 2;

		if (job_ring_at(ring, middle)->candidate.start >= offset)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

static uint64_t visited(const struct schedule *schedule)
{
	return schedule->next[EARLY] > schedule->next[LATE] ? schedule->next[EARLY]
							    : schedule->next[LATE];
}

static void take_retry(struct schedule *schedule, uint64_t decided)
{
	uint64_t from, until;

	if (!schedule->options.cover || !cover_take_retry(schedule->options.cover, &from, &until))
		return;
	from = job_from(schedule->options.ring, decided, visited(schedule), from);
	if (from < schedule->retry || !schedule->retry_until)
		schedule->retry = from;
	if (until > schedule->retry_until)
		schedule->retry_until = until;
	schedule->covered = (struct covered_range){ 0 };
}

/* Whether its cursor has left the job waiting. */
static bool was_left(const struct schedule *schedule, uint64_t number, const struct carve_job *job)
{
	return number < schedule->next[job->late ? LATE : EARLY];
}

/* The jobs that one of the cursors has left waiting for something that is over. */
static bool visit_again(struct schedule *schedule, struct check_batch *batch)
{
	uint64_t end = visited(schedule);
	unsigned vain = 0;

	if (!schedule->retry_until)
		return false;
	for (; schedule->retry < end; schedule->retry++) {
		struct carve_job *job = job_ring_at(schedule->options.ring, schedule->retry);

		if (job->candidate.start >= schedule->retry_until)
			break;
		if (was_left(schedule, schedule->retry, job) && may_start(schedule, job, false)) {
			if (!fits(batch, job))
				return true;
			add(batch, job, false);
		} else if (++vain == VAIN_MAX) {
			return batch->count;
		}
	}
	schedule->retry_until = 0;
	return batch->count;
}

static void pass_decided(struct schedule *schedule, uint64_t decided)
{
	for (unsigned i = 0; i < ORDERS; i++)
		if (schedule->next[i] < decided)
			schedule->next[i] = decided;
	if (schedule->retry < decided)
		schedule->retry = decided;
}

/* Late candidates come first where they need not wait: they are nearer to what is decided next. */
bool schedule_next(
	struct schedule *schedule, uint64_t decided, bool impatient, struct check_batch *batch)
{
	batch->count = 0;
	schedule->waits = !schedule->options.cover;
	pass_decided(schedule, decided);
	take_retry(schedule, decided);
	return visit_again(schedule, batch) ||
	       (schedule->options.cover && visit(schedule, LATE, true, batch)) ||
	       visit(schedule, EARLY, true, batch) || visit_ahead(schedule, batch) ||
	       (impatient && schedule->options.cover && visit(schedule, LATE, false, batch));
}

bool schedule_next_forced(
	struct schedule *schedule, uint64_t decided, uint64_t end, struct check_batch *batch)
{
	const struct job_ring *ring = schedule->options.ring;

	batch->count = 0;
	pass_decided(schedule, decided);
	for (uint64_t n = decided; n < end && batch->count < CHECK_BATCH; n++) {
		struct carve_job *job = job_ring_at(ring, n);

		if (job_state(job) != JOB_WAITING ||
			job_needs_no_check(job, schedule->options.decider))
			continue;
		job->force = true;
		add(batch, job, false);
	}
	if (!batch->count)
		return false;
	for (uint64_t n = end; n < end + RETRIES && n < visited(schedule); n++) {
		struct carve_job *job = job_ring_at(ring, n);

		if (!fits(batch, job))
			break;
		if (was_left(schedule, n, job) && may_start(schedule, job, true))
			add(batch, job, true);
	}
	return true;
}

uint64_t schedule_reached(const struct schedule *schedule, uint64_t decided)
{
	const uint64_t *next = schedule->next;
	uint64_t reached = schedule->waits || next[EARLY] < next[LATE] ? next[EARLY] : next[LATE];

	return reached > decided ? reached : decided;
}

uint64_t schedule_early_reached(const struct schedule *schedule)
{
	const struct early_jobs *early = schedule->options.early;
	uint64_t next = schedule->next_ahead;

	if (!early)
		return UINT64_MAX;
	if (next < early->next)
		next = early->next;
	return next < early->ring.end ? job_ring_at(&early->ring, next)->candidate.start
				      : UINT64_MAX;
}

bool schedule_holds(
	struct schedule *schedule, uint64_t last_early, const struct candidate *candidate)
{
	return (last_early != UINT64_MAX && is_pending(schedule, last_early)) ||
	       is_covered(schedule, candidate);
}
