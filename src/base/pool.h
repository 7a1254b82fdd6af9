/*
 * A pool of worker threads. One pool serves a whole run: scanning, checking candidates, writing
 * files. Jobs start in the order of their priorities, and within one priority in the order of
 * submission.
 */
#ifndef BURIN_BASE_POOL_H
#define BURIN_BASE_POOL_H

#include <stdbool.h>

struct pool;

/* Lower values run first: work nearest to the output comes first, so that memory is freed. */
enum pool_priority { POOL_WRITE, POOL_CHECK, POOL_SCAN, POOL_PRIORITIES };

/* A job is embedded in its owner's struct and belongs to the pool from pool_submit until its run
 * function is called. worker: 0 .. pool_threads - 1, for scratch space per worker. */
struct pool_job {
	void (*run)(struct pool_job *job, unsigned worker);
	struct pool_job *next;
};

/* threads: 0 means one per processor that this process may use. Returns NULL when no thread can be
 * started. */
struct pool *pool_new(unsigned threads);
unsigned pool_threads(const struct pool *pool);
/* Thread-safe; jobs may call it too. */
void pool_submit(struct pool *pool, enum pool_priority priority, struct pool_job *job);
/* Takes back the next job of the priority, for a job that does its work along with its own; NULL: there is none,
 * or it is another's: `is_alike`, which gets the context, says so. */
struct pool_job *pool_take(struct pool *pool, enum pool_priority priority,
	bool (*is_alike)(const struct pool_job *job, const void *context), const void *context);
/* Lets `count` jobs (at most POOL_SHARES_MAX) run the function, each with its number, and waits until
 * all have ended. Not to be called by a job. */
#define POOL_SHARES_MAX 1024
void pool_share(struct pool *pool, enum pool_priority priority, unsigned count,
	void (*run)(void *context, unsigned number, unsigned worker), void *context);
/* Waits for all submitted jobs and ends the threads. NULL is fine. */
void pool_free(struct pool *pool);

#endif
