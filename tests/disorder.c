/*
 * Checks, writes and scans that start late and in any order: linked into a program with
 * -Wl,--wrap=pool_submit, this delays jobs of the pool at random and gives them random priorities.
 * A run's result must not depend on that.
 */
#include "disorder.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pool.h"

atomic_bool disorder = true;

struct late_job {
	struct pool_job pool_job; /* first: its address is the job's */
	struct pool_job *job;
	unsigned delay; /* microseconds */
};

void __real_pool_submit(struct pool *pool, enum pool_priority priority, struct pool_job *job);
void __wrap_pool_submit(struct pool *pool, enum pool_priority priority, struct pool_job *job);

/* Every thread may draw. */
static uint64_t draw(uint64_t below)
{
	static _Atomic uint64_t count;
	uint64_t number = atomic_fetch_add(&count, 0x9E3779B97F4A7C15u);

	number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
	number = (number ^ number >> 27) * 0x94D049BB133111EBu;
	return (number ^ number >> 31) % below;
}

static unsigned draw_delay(void)
{
	switch (draw(8)) {
	case 0:
		return (unsigned)draw(2000);
	case 1:
	case 2:
	case 3:
		return (unsigned)draw(200);
	default:
		return 0;
	}
}

static void run_late(struct pool_job *pool_job, unsigned worker)
{
	struct late_job *late = (struct late_job *)pool_job;
	struct pool_job *job = late->job;

	if (late->delay)
		usleep(late->delay);
	free(late);
	job->run(job, worker);
}

void __wrap_pool_submit(struct pool *pool, enum pool_priority priority, struct pool_job *job)
{
	struct late_job *late;

	if (!disorder) {
		__real_pool_submit(pool, priority, job);
		return;
	}
	late = xmalloc(sizeof(*late));
	late->pool_job.run = run_late;
	late->job = job;
	late->delay = draw_delay();
	__real_pool_submit(pool, (enum pool_priority)draw(POOL_PRIORITIES), &late->pool_job);
}
