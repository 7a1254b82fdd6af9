#include "run/sift.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"

/* Hits that a thread takes at a time. */
#define BATCH 512

struct sift_job {
	struct pool_job job; /* first: its address is the job's */
	struct sift *sift;
};

struct sift {
	struct quick *quick;
	struct scan_sifter sifter;
	struct pool *pool;
	unsigned threads;
	struct sift_job *jobs; /* threads of them */

	pthread_mutex_t lock; /* over all that follows */
	pthread_cond_t ended;
	struct chunk *chunk;
	size_t next;   /* hit of the chunk */
	unsigned busy; /* jobs */
};

/* The engine's sifter. */
static void note_hits(
	void *context, unsigned worker, const struct chunk *chunk, struct hit *hits, size_t count)
{
	struct sift *sift = context;

	for (size_t i = 0; i < count; i++)
		hits[i].note = quick_try(sift->quick, worker, chunk->data, chunk->offset,
			chunk->len + chunk->tail_len, hits[i].offset, hits[i].pattern);
}

static size_t take_batch(struct sift *sift, struct hit **hits)
{
	size_t rest, count;

	pthread_mutex_lock(&sift->lock);
	rest = sift->chunk->hit_count - sift->next;
	count = rest < BATCH ? rest : BATCH;
	*hits = sift->chunk->hits + sift->next;
	sift->next += count;
	if (!count && !--sift->busy)
		pthread_cond_signal(&sift->ended);
	pthread_mutex_unlock(&sift->lock);
	return count;
}

static void run_job(struct pool_job *job, unsigned worker)
{
	struct sift *sift = ((struct sift_job *)job)->sift;
	struct hit *hits;
	size_t count;

	while ((count = take_batch(sift, &hits)))
		note_hits(sift, worker, sift->chunk, hits, count);
}

void sift_chunk(struct sift *sift, struct chunk *chunk)
{
	size_t count = (chunk->hit_count + BATCH - 1) / BATCH;
	unsigned busy = count < sift->threads ? (unsigned)count : sift->threads;

	sift->chunk = chunk;
	sift->next = 0;
	sift->busy = busy;
	for (unsigned i = 0; i < busy; i++)
		pool_submit(sift->pool, POOL_WRITE, &sift->jobs[i].job);
	pthread_mutex_lock(&sift->lock);
	while (sift->busy)
		pthread_cond_wait(&sift->ended, &sift->lock);
	pthread_mutex_unlock(&sift->lock);
}

struct sift *sift_new(
	const struct quick_options *options, struct rejections *rejections, struct pool *pool)
{
	struct sift *sift = xcalloc(1, sizeof(*sift));

	sift->quick = quick_new(options, rejections);
	sift->sifter = (struct scan_sifter){ note_hits, sift };
	sift->pool = pool;
	sift->threads = options->threads;
	sift->jobs = xcalloc(sift->threads, sizeof(*sift->jobs));
	for (unsigned i = 0; i < sift->threads; i++) {
		sift->jobs[i].job.run = run_job;
		sift->jobs[i].sift = sift;
	}
	pthread_mutex_init(&sift->lock, NULL);
	pthread_cond_init(&sift->ended, NULL);
	return sift;
}

void sift_free(struct sift *sift)
{
	if (!sift)
		return;
	pthread_cond_destroy(&sift->ended);
	pthread_mutex_destroy(&sift->lock);
	quick_free(sift->quick);
	free(sift->jobs);
	free(sift);
}

const struct scan_sifter *sift_sifter(const struct sift *sift)
{
	return sift ? &sift->sifter : NULL;
}

uint32_t sift_rule(const struct sift *sift, const struct hit *hit)
{
	return quick_rule(sift->quick, hit->pattern);
}
