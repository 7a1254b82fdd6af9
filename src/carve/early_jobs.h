/*
 * Jobs whose checks begin before their candidates are offered: those of likely files (carve/schedule.h). They are in the same
 * order as the candidates will be; when a candidate's turn comes, its job is taken out. One thread.
 */
#ifndef BURIN_CARVE_EARLY_JOBS_H
#define BURIN_CARVE_EARLY_JOBS_H

#include "carve/job_ring.h"

/* Zero-initialise; early_jobs_clear when done. Add to the ring by job_ring_append. */
struct early_jobs {
	struct job_ring ring;
	/* The first that waits for its candidate; those before were taken, or are not needed. */
	uint64_t next;
};

/* Takes out the job of a candidate whose turn it is; NULL: there is none. Jobs of candidates before it are not needed. */
struct carve_job *early_jobs_take(struct early_jobs *early, const struct job_context *context,
	const struct candidate *candidate);
/* Jobs of candidates that start before `start` are not needed. */
void early_jobs_skip(struct early_jobs *early, const struct job_context *context, uint64_t start);
/* Frees those that are not needed, up to the first whose check has not ended. */
void early_jobs_free_done(struct early_jobs *early, const struct job_context *context);
/* Frees all; none is being checked. */
void early_jobs_clear(struct early_jobs *early, const struct job_context *context);

#endif
