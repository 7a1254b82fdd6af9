/*
 * A pool of worker threads. One pool serves a whole run: scanning, checking candidates, writing
 * files. Jobs run in the order of their priority, and in the order of submission within one.
 */
#ifndef BURIN_BASE_POOL_H
#define BURIN_BASE_POOL_H

struct pool;

/* The lower, the sooner: what is nearest to the output goes first, so that memory drains. */
enum pool_priority { POOL_WRITE, POOL_CHECK, POOL_SCAN, POOL_PRIORITIES };

/* A job is embedded in its owner's struct and belongs to the pool from pool_submit until its run
 * function is called. worker: 0 .. pool_threads - 1, for scratch space a worker. */
struct pool_job {
	void (*run)(struct pool_job *job, unsigned worker);
	struct pool_job *next;
};

/* threads: 0 means one a processor that this process may run on. Returns NULL when no thread could
 * be started. */
struct pool *pool_new(unsigned threads);
unsigned pool_threads(const struct pool *pool);
/* Thread-safe, from a job too. */
void pool_submit(struct pool *pool, enum pool_priority priority, struct pool_job *job);
/* Waits for all submitted jobs, ends the threads. NULL is fine. */
void pool_free(struct pool *pool);

#endif
