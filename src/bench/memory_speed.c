#include "bench/memory_speed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"

struct latch {
	pthread_mutex_t lock;
	pthread_cond_t zero;
	unsigned count;
};

struct job {
	struct pool_job job;
	const uint64_t *words;
	size_t word_count;
	struct latch *latch;
};

static _Atomic uint64_t sink; /* takes the sums, so that the compiler keeps the reads */

static void read_words(struct pool_job *pool_job, unsigned worker)
{
	const struct job *job = (const struct job *)pool_job;
	uint64_t sums[8] = { 0 };
	size_t i;

	(void)worker;
	for (i = 0; i + 8 <= job->word_count; i += 8)
		for (unsigned j = 0; j < 8; j++)
			sums[j] ^= job->words[i + j];
	for (unsigned j = 0; j < 8; j++)
		atomic_fetch_xor_explicit(&sink, sums[j], memory_order_relaxed);
	pthread_mutex_lock(&job->latch->lock);
	if (--job->latch->count == 0)
		pthread_cond_signal(&job->latch->zero);
	pthread_mutex_unlock(&job->latch->lock);
}

double bench_memory_read(struct pool *pool, const struct bench_text *text)
{
	unsigned threads = pool_threads(pool);
	size_t share = text->len / sizeof(uint64_t) / threads;
	struct latch latch = { .count = threads };
	struct job *jobs = xcalloc(threads, sizeof(*jobs));
	double from, seconds;

	pthread_mutex_init(&latch.lock, NULL);
	pthread_cond_init(&latch.zero, NULL);
	from = clock_seconds();
	for (unsigned i = 0; i < threads; i++) {
		jobs[i] = (struct job){ .job = { .run = read_words },
			.words = (const uint64_t *)text->bytes + i * share,
			.word_count = share,
			.latch = &latch };
		pool_submit(pool, POOL_SCAN, &jobs[i].job);
	}
	pthread_mutex_lock(&latch.lock);
	while (latch.count)
		pthread_cond_wait(&latch.zero, &latch.lock);
	pthread_mutex_unlock(&latch.lock);
	seconds = clock_seconds() - from;
	pthread_cond_destroy(&latch.zero);
	pthread_mutex_destroy(&latch.lock);
	free(jobs);
	return seconds;
}
