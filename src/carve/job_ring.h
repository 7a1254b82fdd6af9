/*
 * The jobs in flight, in order: a queue of which every element can be looked at. A job stays where it
 * is, and may go from one ring to another. A ring takes memory for the jobs that it holds, not for
 * those that it may hold. One thread.
 */
#ifndef BURIN_CARVE_JOB_RING_H
#define BURIN_CARVE_JOB_RING_H

#include <assert.h>

#include "carve/job.h"

/* Places that are allocated together, and unused jobs that are kept. */
#define JOB_SEGMENT 1024
/* The most jobs that a ring may hold, a multiple of that. */
#define JOB_RING_MAX ((uint64_t)1 << 20)

/* Jobs have numbers: 0, 1, ... since the start. */
struct job_ring {
	struct carve_job **segments[JOB_RING_MAX / JOB_SEGMENT + 1];
	struct carve_job **spare;
	struct carve_job *unused[JOB_SEGMENT];
	size_t unused_count;
	uint64_t first, end; /* it holds [first, end) */
};

/* Zero-initialise; job_ring_clear when done. */
void job_ring_clear(struct job_ring *ring);
/* Adds a job, all zero, whose number is ring->end before. The ring must hold less than
 * JOB_RING_MAX. */
struct carve_job *job_ring_append(struct job_ring *ring);
/* The same with a job of another ring. */
void job_ring_add(struct job_ring *ring, struct carve_job *job);
/* Takes the job out, whose place stays, empty. */
struct carve_job *job_ring_take(struct job_ring *ring, uint64_t number);
/* Drops the first place, and the job unless it was taken. What it owns must have been freed. */
void job_ring_drop(struct job_ring *ring);

static inline struct carve_job **job_ring_place(const struct job_ring *ring, uint64_t number)
{
	assert(number >= ring->first && number < ring->end);
	return &ring->segments[number / JOB_SEGMENT % (JOB_RING_MAX / JOB_SEGMENT + 1)]
			      [number % JOB_SEGMENT];
}

/* NULL: it was taken. */
static inline struct carve_job *job_ring_at(const struct job_ring *ring, uint64_t number)
{
	return *job_ring_place(ring, number);
}

#endif
