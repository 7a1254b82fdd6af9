#include "carve/job_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SEGMENTS (JOB_RING_MAX / JOB_SEGMENT + 1)

void job_ring_clear(struct job_ring *ring)
{
	for (size_t i = 0; i < SEGMENTS; i++)
		free(ring->segments[i]);
	free(ring->spare);
	*ring = (struct job_ring){ 0 };
}

struct carve_job *job_ring_append(struct job_ring *ring)
{
	struct carve_job **segment = &ring->segments[ring->end / JOB_SEGMENT % SEGMENTS];
	struct carve_job *job;

	assert(ring->end - ring->first < JOB_RING_MAX);
	if (!*segment) {
		*segment = ring->spare ? ring->spare : xmalloc(JOB_SEGMENT * sizeof(*ring->spare));
		ring->spare = NULL;
	}
	job = &(*segment)[ring->end++ % JOB_SEGMENT];
	memset(job, 0, sizeof(*job));
	return job;
}

void job_ring_drop(struct job_ring *ring)
{
	struct carve_job **segment = &ring->segments[ring->first / JOB_SEGMENT % SEGMENTS];

	assert(ring->first < ring->end);
	if (++ring->first % JOB_SEGMENT)
		return;
	free(ring->spare);
	ring->spare = *segment;
	*segment = NULL;
}
