/*
 * Checks and writes by other processes (carve/remote.h). Requests hold several jobs each, and
 * nothing waits for a result: when it arrives, a job of this process's pool applies it, as a local
 * check or write ends. The workers' capacity bounds how many checks are under way, the stage's ring
 * how many writes.
 */
#ifndef BURIN_CARVE_REMOTE_JOBS_H
#define BURIN_CARVE_REMOTE_JOBS_H

#include "carve/job.h"
#include "carve/remote.h"

struct remote_jobs;

/* capacity: the workers', which may grow smaller later. What the context and workers point to must
 * outlive all jobs. All functions are the stage's thread's. */
struct remote_jobs *remote_jobs_new(
	const struct job_context *context, const struct remote_workers *workers, unsigned capacity);
/* After the last job. NULL is fine. */
void remote_jobs_free(struct remote_jobs *remote);

/* Whether one more batch may be checked now. */
bool remote_jobs_may_check(struct remote_jobs *remote);
/* As local_jobs_check. Does nothing once the stage is cancelled. */
void remote_jobs_check(struct remote_jobs *remote, struct carve_job *const *jobs, size_t count);
/* As local_jobs_write, but several are collected into one request first: remote_jobs_push sends
 * what there is, and must be called before waiting. */
void remote_jobs_write(struct remote_jobs *remote, struct kept_file *file);
void remote_jobs_push(struct remote_jobs *remote);

#endif
