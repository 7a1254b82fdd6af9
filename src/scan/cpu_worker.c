#include "scan/cpu_worker.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "scan/hits.h"

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The last resort: one start at which more patterns match than the buffer holds. */
static size_t search_start(struct cpu_worker *worker, const struct chunk *chunk, size_t at,
	const struct cpu_taker *taker)
{
	size_t readable = chunk->len + chunk->tail_len - at;
	struct hit_sink sink = { .hits = worker->hits, .capacity = worker->buffer_count };

	for (uint32_t i = 0; i < worker->set->count; i++) {
		if (!pattern_match_len(&worker->set->patterns[i], chunk->data + at, readable))
			continue;
		if (sink.count == sink.capacity) {
			taker->take(taker->context, sink.hits, sink.count);
			sink.count = 0;
		}
		hit_sink_add(&sink, chunk->offset + at, i);
	}
	return taker->take(taker->context, sink.hits, sink.count);
}

/* Searches [from, from + len) into the worker's buffer, sorted. -ENOBUFS: too many hits. */
static int search_extent(struct cpu_worker *worker, const struct chunk *chunk, size_t from,
	size_t len, size_t *count)
{
	size_t overlap = worker->set->longest ? worker->set->longest - 1 : 0;
	size_t after = chunk->len + chunk->tail_len - from - len;
	struct hit_sink sink = { .hits = worker->hits };
	int rc;

	/* The chunk has no room for more anyway. */
	sink.capacity = smaller(worker->buffer_count, chunk->hit_capacity);
	rc = worker->matcher->find(worker->database, worker->scratch, chunk->data + from, len,
		len + smaller(after, overlap), chunk->offset + from, &sink);
	if (rc)
		return rc;
	if (sink.full)
		return -ENOBUFS;
	*count = hits_sort(sink.hits, sink.count, worker->spare);
	return 0;
}

int cpu_worker_search(struct cpu_worker *worker, const struct chunk *chunk, size_t from, size_t to,
	size_t *extent, const struct cpu_taker *taker)
{
	while (from < to) {
		size_t len = smaller(*extent, to - from), count = 0, end;
		int rc = search_extent(worker, chunk, from, len, &count);

		if (rc == -ENOBUFS && len > 1) {
			*extent = len / 2;
			continue;
		}
		if (rc && rc != -ENOBUFS)
			return rc;
		end = rc ? search_start(worker, chunk, from, taker)
			 : taker->take(taker->context, worker->hits, count);
		if (!rc && count < worker->buffer_count / 4 && *extent < CPU_EXTENT_MAX)
			*extent *= 2;
		to = smaller(to, end);
		from += len;
	}
	return 0;
}

bool cpu_worker_init(struct cpu_worker *worker, const struct matcher *matcher, const void *database,
	const struct pattern_set *set, size_t buffer_count)
{
	assert(buffer_count);
	*worker = (struct cpu_worker){
		.matcher = matcher,
		.database = database,
		.set = set,
		.hits = malloc(buffer_count * sizeof(*worker->hits)),
		.spare = malloc(buffer_count * sizeof(*worker->spare)),
		.buffer_count = buffer_count,
	};
	if (matcher->scratch_new)
		worker->scratch = matcher->scratch_new(database);
	return worker->hits && worker->spare && (!matcher->scratch_new || worker->scratch);
}

void cpu_worker_free(struct cpu_worker *worker)
{
	if (worker->scratch)
		worker->matcher->scratch_free(worker->scratch);
	free(worker->hits);
	free(worker->spare);
}
