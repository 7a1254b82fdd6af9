#include "run/sift.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

/* Hits that a thread takes at a time. */
#define BATCH 512

struct sift {
	struct quick *quick;
	struct scan_sifter sifter;
	struct pool *pool;
	unsigned threads;
	struct chunk *chunk;
	_Atomic size_t next; /* hit of the chunk */
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

static void sift_batches(void *context, unsigned number, unsigned worker)
{
	struct sift *sift = context;
	size_t from, end = sift->chunk->hit_count;

	(void)number;
	while ((from = atomic_fetch_add(&sift->next, BATCH)) < end)
		note_hits(sift, worker, sift->chunk, sift->chunk->hits + from,
			end - from < BATCH ? end - from : BATCH);
}

void sift_chunk(struct sift *sift, struct chunk *chunk)
{
	size_t count = (chunk->hit_count + BATCH - 1) / BATCH;

	sift->chunk = chunk;
	sift->next = 0;
	pool_share(sift->pool, POOL_WRITE, count < sift->threads ? (unsigned)count : sift->threads,
		sift_batches, sift);
}

struct sift *sift_new(
	const struct quick_options *options, struct rejections *rejections, struct pool *pool)
{
	struct sift *sift = xcalloc(1, sizeof(*sift));

	sift->quick = quick_new(options, rejections);
	sift->sifter = (struct scan_sifter){ note_hits, sift };
	sift->pool = pool;
	sift->threads = options->threads;
	return sift;
}

void sift_free(struct sift *sift)
{
	if (!sift)
		return;
	quick_free(sift->quick);
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
