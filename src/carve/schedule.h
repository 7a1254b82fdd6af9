/*
 * Which candidates are checked next. Decisions are in order of offset, checks need not be: files
 * that are there hide most of what starts inside them, so the candidates that most likely are files
 * are checked first and far ahead, and the others when it is known that no such file covers them.
 * The order makes no difference to any result, only to the work that is done in vain. One thread.
 *
 * Jobs in the ring cost time and memory, and most candidates start inside a file that is about to be
 * found. So only the likely ones are known here at once, as early jobs; the others may be held back
 * (schedule_holds) until the file is decided on, which hides them all at once.
 */
#ifndef BURIN_CARVE_SCHEDULE_H
#define BURIN_CARVE_SCHEDULE_H

#include "carve/cover.h"
#include "carve/decide.h"
#include "carve/defer.h"
#include "carve/early_jobs.h"

struct schedule_options {
	const struct job_ring *ring;
	const struct rules *rules;
	const struct decider *decider;
	struct defer *defer;
	struct cover *cover; /* NULL: nothing covers anything, jobs are checked in their order */
	const struct early_jobs *early; /* NULL: there are none */
};

struct schedule;

/* What options point to must outlive it. Never NULL. */
struct schedule *schedule_new(const struct schedule_options *options);
/* NULL is fine. */
void schedule_free(struct schedule *schedule);

/* Whether a candidate had better wait for others that start before it: for job->late. */
bool schedule_is_late(const struct schedule *schedule, const struct candidate *candidate);
/* Whether a candidate, which comes next in the ring, had better not be there yet: the check of the last early job before it
 * (its number in the ring, or UINT64_MAX: there is none) has not ended, or a file covers it that is not decided on. */
bool schedule_holds(
	struct schedule *schedule, uint64_t last_early, const struct candidate *candidate);

/* Jobs that are checked by one thread, one after the other. */
struct check_batch {
	struct carve_job *jobs[CHECK_BATCH];
	size_t count;
};

/* Takes the next jobs to be checked and sets their state to JOB_CHECKING. decided: the first job
 * that is not decided on. impatient: late candidates need not wait, for there is nothing else to
 * do. False: there are none for now. */
bool schedule_next(
	struct schedule *schedule, uint64_t decided, bool impatient, struct check_batch *batch);
/* The same for the jobs [decided, end) that everything waits for, which are waiting, and waiting ones close after them. */
bool schedule_next_forced(
	struct schedule *schedule, uint64_t decided, uint64_t end, struct check_batch *batch);
/* The checks of all jobs before this one were started, or wait for others. */
uint64_t schedule_reached(const struct schedule *schedule, uint64_t decided);
/* The same of the early jobs: where the first of the others starts; UINT64_MAX: there is none. */
uint64_t schedule_early_reached(const struct schedule *schedule);

#endif
