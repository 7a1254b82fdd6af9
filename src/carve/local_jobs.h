/* Checks and writes in the threads of this process's pool. */
#ifndef BURIN_CARVE_LOCAL_JOBS_H
#define BURIN_CARVE_LOCAL_JOBS_H

#include "carve/job.h"

struct local_jobs;

/* What the context points to must outlive all jobs. */
struct local_jobs *local_jobs_new(const struct job_context *context);
/* After the last job. NULL is fine. */
void local_jobs_free(struct local_jobs *local);

/* Whether one more batch may be checked now: otherwise it would only wait for a thread. */
bool local_jobs_may_check(const struct local_jobs *local);
/* The lowest start of those batches that no thread has begun; UINT64_MAX: all are begun. */
uint64_t local_jobs_begun(const struct local_jobs *local);
/* Checks a batch, at most CHECK_BATCH jobs: each becomes JOB_CHECKED or JOB_WAITING. By the end of
 * the last, the tracker counts the batch as completed. Only if local_jobs_may_check. By the stage's
 * thread, as the next. */
void local_jobs_check(struct local_jobs *local, struct carve_job *const *jobs, size_t count);
/* Writes the file; sets its status, and its job's state to JOB_DONE. */
void local_jobs_write(struct local_jobs *local, struct kept_file *file);

#endif
