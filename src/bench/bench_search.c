#include "bench/bench_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"

/* For an engine without a wish: enough that none of its threads waits. */
#define CHUNKS 4
#define HITS_PER_CHUNK ((size_t)256 * 1024)

struct flight {
	struct chunk chunk; /* first, so that a chunk is its flight */
	bool busy;
};

struct bench_search {
	struct bench_search_options options;
	struct scan_options scan_options;
	struct scan *scan;
	struct flight *flights;
	size_t overlap;
	/* of the current run */
	size_t len;
	uint64_t at,
		end; /* the next start to be submitted, counted over all passes; where they end */
	struct hit_tallies *hits;
	uint64_t count;
};

static void take_hits(struct bench_search *search, size_t pattern_count)
{
	size_t capacity = pattern_count > HITS_PER_CHUNK ? pattern_count : HITS_PER_CHUNK;

	search->flights = xcalloc(search->scan_options.chunks, sizeof(*search->flights));
	for (unsigned i = 0; i < search->scan_options.chunks; i++) {
		search->flights[i].chunk.hits = xmalloc(capacity * sizeof(struct hit));
		search->flights[i].chunk.hit_capacity = capacity;
	}
}

int bench_search_open(struct bench_search **result, const struct bench_search_options *options,
	struct error *error)
{
	struct bench_search *search = xcalloc(1, sizeof(*search));
	unsigned chunks = options->engine->chunks;
	int status;

	search->options = *options;
	search->overlap = options->set->longest ? options->set->longest - 1 : 0;
	search->scan_options = (struct scan_options){
		.pool = options->pool,
		.chunk_len = options->chunk_len + search->overlap,
		.chunks = chunks ? chunks : CHUNKS,
		.ring = options->text->bytes,
		.ring_len = options->text->len,
		.kernel = options->kernel,
		.gpu = options->gpu,
	};
	status = options->engine->open(&search->scan, options->set, &search->scan_options, error);
	if (status) {
		free(search);
		return status;
	}
	take_hits(search, options->set->count);
	*result = search;
	return 0;
}

void bench_search_close(struct bench_search *search)
{
	if (!search)
		return;
	search->options.engine->close(search->scan);
	for (unsigned i = 0; i < search->scan_options.chunks; i++)
		free(search->flights[i].chunk.hits);
	free(search->flights);
	free(search);
}

const char *bench_search_kernel(const struct bench_search *search)
{
	const struct scan_engine *engine = search->options.engine;

	return engine->kernel ? engine->kernel(search->scan) : engine->name;
}

/* The next chunk. */
static void cut_chunk(const struct bench_search *search, struct chunk *chunk)
{
	size_t from = (size_t)(search->at % search->len), left = search->len - from, after;

	chunk->data = search->options.text->bytes + from;
	chunk->offset = from;
	chunk->from = 0;
	chunk->status = 0;
	chunk->len = left < search->options.chunk_len ? left : search->options.chunk_len;
	after = search->options.text->len - from - chunk->len;
	chunk->tail_len = after < search->overlap ? after : search->overlap;
}

/* Submits as much as there is room for. */
static int submit(struct bench_search *search)
{
	for (unsigned i = 0; i < search->scan_options.chunks && search->at < search->end; i++) {
		struct flight *flight = &search->flights[i];
		int status;

		if (flight->busy)
			continue;
		cut_chunk(search, &flight->chunk);
		status = search->options.engine->submit(search->scan, &flight->chunk);
		if (status)
			return status == -EAGAIN ? 0 : status;
		flight->busy = true;
		search->at += flight->chunk.len;
	}
	return 0;
}

/* Counts a chunk's hits. An unfinished one goes back first, as the engine has room for it. */
static int take(struct bench_search *search, struct chunk *chunk)
{
	if (chunk->status)
		return chunk->status;
	search->count += chunk->hit_count;
	for (size_t i = 0; search->hits && i < chunk->hit_count; i++)
		hit_tallies_add(search->hits, chunk->hits[i].offset, chunk->hits[i].pattern);
	chunk->from = chunk->until;
	if (chunk->until < chunk->len)
		return search->options.engine->submit(search->scan, chunk);
	((struct flight *)chunk)->busy = false;
	return 0;
}

/* After a failure: empties the engine. */
static void drain(struct bench_search *search)
{
	struct chunk *chunk;

	while (search->options.engine->reap(search->scan, &chunk) == 0)
		((struct flight *)chunk)->busy = false;
}

static int search_all(struct bench_search *search)
{
	int status = submit(search);

	while (!status) {
		struct chunk *chunk;

		status = search->options.engine->reap(search->scan, &chunk);
		if (status == -EAGAIN && search->at == search->end)
			return 0;
		if (!status)
			status = take(search, chunk);
		if (!status)
			status = submit(search);
	}
	drain(search);
	return status;
}

double bench_search_run(struct bench_search *search, size_t len, unsigned passes,
	struct hit_tallies *hits, uint64_t *count, struct error *error)
{
	double from = clock_seconds();
	int status;

	search->len = len;
	search->at = 0;
	search->end = (uint64_t)len * passes;
	search->hits = hits;
	search->count = 0;
	status = search_all(search);
	*count = search->count;
	if (status)
		return error_set(error, EXIT_PROBLEMS, -status, "the engine %s failed: %s",
			search->options.engine->name, strerror(-status));
	return clock_seconds() - from;
}
