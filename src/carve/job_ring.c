#include "carve/job_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SEGMENTS (JOB_RING_MAX / JOB_SEGMENT + 1)

void job_ring_clear(struct job_ring *ring)
{
	for (uint64_t n = ring->first; n < ring->end; n++)
		free(job_ring_at(ring, n));
	for (size_t i = 0; i < SEGMENTS; i++)
		free(ring->segments[i]);
	for (size_t i = 0; i < ring->unused_count; i++)
		free(ring->unused[i]);
	free(ring->spare);
	*ring = (struct job_ring){ 0 };
}

void job_ring_add(struct job_ring *ring, struct carve_job *job)
{
	struct carve_job ***segment = &ring->segments[ring->end / JOB_SEGMENT % SEGMENTS];

	assert(ring->end - ring->first < JOB_RING_MAX);
	if (!*segment) {
		*segment = ring->spare ? ring->spare : xmalloc(JOB_SEGMENT * sizeof(*ring->spare));
		ring->spare = NULL;
	}
	(*segment)[ring->end++ % JOB_SEGMENT] = job;
}

struct carve_job *job_ring_append(struct job_ring *ring)
{
	struct carve_job *job;

	if (ring->unused_count) {
		job = ring->unused[--ring->unused_count];
		memset(job, 0, sizeof(*job));
	} else {
		job = xcalloc(1, sizeof(*job));
	}
	job_ring_add(ring, job);
	return job;
}

struct carve_job *job_ring_take(struct job_ring *ring, uint64_t number)
{
	struct carve_job **place = job_ring_place(ring, number), *job = *place;

	*place = NULL;
	return job;
}

void job_ring_drop(struct job_ring *ring)
{
	struct carve_job ***segment = &ring->segments[ring->first / JOB_SEGMENT % SEGMENTS];
	struct carve_job *job = job_ring_take(ring, ring->first);

	if (ring->unused_count < JOB_SEGMENT && job)
		ring->unused[ring->unused_count++] = job;
	else
		free(job);
	if (++ring->first % JOB_SEGMENT)
		return;
	free(ring->spare);
	ring->spare = *segment;
	*segment = NULL;
}
