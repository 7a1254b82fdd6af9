/*
 * The jobs in flight, in order: a queue of which every element can be looked at, and stays where it
 * is. It takes memory for the jobs that it holds, not for those that it may hold. One thread.
 */
#ifndef BURIN_CARVE_JOB_RING_H
#define BURIN_CARVE_JOB_RING_H

#include <assert.h>

#include "carve/job.h"

/* Jobs that are allocated together. */
#define JOB_SEGMENT 1024
/* The most jobs that a ring may hold, a multiple of that. */
#define JOB_RING_MAX ((uint64_t)1 << 20)

/* Jobs have numbers: 0, 1, ... since the start. */
struct job_ring {
	struct carve_job *segments[JOB_RING_MAX / JOB_SEGMENT + 1];
	struct carve_job *spare;
	uint64_t first, end; /* it holds [first, end) */
};

/* Zero-initialise; job_ring_clear when done. */
void job_ring_clear(struct job_ring *ring);
/* Adds a job, all zero, whose number is ring->end before. The ring must hold less than
 * JOB_RING_MAX. */
struct carve_job *job_ring_append(struct job_ring *ring);
/* Drops the first job. What it owns must have been freed. */
void job_ring_drop(struct job_ring *ring);

static inline struct carve_job *job_ring_at(const struct job_ring *ring, uint64_t number)
{
	assert(number >= ring->first && number < ring->end);
	return &ring->segments[number / JOB_SEGMENT % (JOB_RING_MAX / JOB_SEGMENT + 1)]
			      [number % JOB_SEGMENT];
}

#endif
