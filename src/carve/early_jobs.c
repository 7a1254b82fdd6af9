#include "carve/early_jobs.h"

void early_jobs_free_done(struct early_jobs *early, const struct job_context *context)
{
	while (early->ring.first < early->next) {
		struct carve_job *job = job_ring_at(&early->ring, early->ring.first);

		if (job && job_state(job) == JOB_CHECKING)
			return;
		if (job)
			job_drop_outcome(context, job);
		job_ring_drop(&early->ring);
	}
}

struct carve_job *early_jobs_take(struct early_jobs *early, const struct job_context *context,
	const struct candidate *candidate)
{
	struct carve_job *job = NULL;

	while (early->next < early->ring.end && !job) {
		const struct candidate *first = &job_ring_at(&early->ring, early->next)->candidate;

		if (candidate_is_before(candidate, first))
			break;
		if (!candidate_is_before(first, candidate))
			job = job_ring_take(&early->ring, early->next);
		early->next++;
	}
	early_jobs_free_done(early, context);
	return job;
}

void early_jobs_skip(struct early_jobs *early, const struct job_context *context, uint64_t start)
{
	while (early->next < early->ring.end &&
		job_ring_at(&early->ring, early->next)->candidate.start < start)
		early->next++;
	early_jobs_free_done(early, context);
}

void early_jobs_clear(struct early_jobs *early, const struct job_context *context)
{
	for (uint64_t n = early->ring.first; n < early->ring.end; n++)
		if (job_ring_at(&early->ring, n))
			job_drop_outcome(context, job_ring_at(&early->ring, n));
	job_ring_clear(&early->ring);
	early->next = 0;
}
