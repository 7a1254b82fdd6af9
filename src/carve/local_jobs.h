/* Checks and writes in the threads of this process's pool. */
#ifndef BURIN_CARVE_LOCAL_JOBS_H
#define BURIN_CARVE_LOCAL_JOBS_H

#include "carve/job.h"

struct local_jobs;

/* What the context points to must outlive all jobs. */
struct local_jobs *local_jobs_new(const struct job_context *context);
/* After the last job. NULL is fine. */
void local_jobs_free(struct local_jobs *local);

/* Checks a batch, the jobs that hang on first: each becomes JOB_CHECKED or JOB_DEFERRED. By the
 * stage's thread, as the next. */
void local_jobs_check(struct local_jobs *local, struct carve_job *first);
/* Writes the file of a job's record; sets its status, and JOB_DONE. */
void local_jobs_write(struct local_jobs *local, struct carve_job *job);

#endif
