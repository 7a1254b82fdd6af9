/*
 * An engine over a matcher, on the pool.
 *
 * Chunks are cut into pieces while they are searched: each thread that comes for work gets the next
 * piece of the oldest chunk, so threads stay busy across the ends of chunks, and a chunk is
 * finished as early as can be. The matcher writes a piece's hits into the thread's own buffer,
 * where they are sorted; then they are inserted into the chunk's list (hits.h). As pieces are
 * finished nearly in order, little has to be moved. When the list is full, its highest hits go and
 * the chunk's limit sinks to the first of them; pieces behind the limit are not searched any more.
 * So the result is the same whatever the order in which the pieces were finished.
 *
 * When a piece has more hits than the thread's buffer, it is searched again in halves, down to one
 * byte, where all patterns are asked one by one. How long pieces are to be is remembered from piece
 * to piece and chunk to chunk (extent), so a flood of hits costs about one search in vain for each
 * doubling of its density, not for each piece.
 *
 * All of a scan's state is under one lock, which is taken twice a piece; buffers and scratch belong
 * to the pool's worker.
 *
 * For algorithms that are published with OpenMP, a team of its threads takes the pool's place: it
 * comes for pieces in the same way, while the caller waits in submit.
 */
#include "scan/matcher.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/memory.h"
#include "base/pool.h"
#include "scan/hits.h"

enum {
	EXTENT_MAX = 512 << 10, /* bytes of a piece */
	EXTENT_MIN =
		16
		<< 10, /* bytes under which no piece is cut just to have enough for all threads */
	BUFFER_MAX = 16 << 10,  /* hits of a thread's buffer */
	BUFFERS_LEN = 64 << 20, /* bytes of all buffers together */
};

enum slot_state { SLOT_FREE, SLOT_SEARCHING, SLOT_DONE };

/* A chunk that is being searched. */
struct slot {
	enum slot_state state;
	struct chunk *chunk;
	uint64_t number; /* counts submissions */
	size_t next; /* the first start that no thread has got yet, relative to the chunk's data */
	uint64_t limit; /* starts at and behind this offset in the image are not wanted any more */
	unsigned busy;  /* pieces that are being searched */
};

/* What belongs to a worker of the pool. */
struct worker {
	void *scratch;
	struct hit *hits, *spare;
};

/* A job that comes for a piece, and for another one, until there is none. There are as many as
 * workers. */
struct puller {
	struct pool_job job;
	struct scan *scan;
	bool idle;
};

struct scan {
	const struct matcher *matcher;
	void *database;
	const struct pattern_set *set;
	struct pool *pool;
	unsigned threads;
	struct worker *workers; /* threads of them */
	struct puller *pullers; /* threads of them */
	size_t buffer_count;    /* hits of a worker's buffer */
	size_t extent_min;      /* bytes */

	pthread_mutex_t lock; /* over all that follows, the slots' chunks, and the pullers' idle */
	pthread_cond_t changed; /* a slot is done, or a puller idle */
	struct slot *slots;
	unsigned slot_count;
	uint64_t submissions;
	size_t extent; /* bytes of the next piece */
};

struct piece {
	struct slot *slot;
	size_t from, to; /* relative to the chunk's data */
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The end of the starts that are still wanted, relative to the chunk's data. */
static size_t slot_end(const struct slot *slot)
{
	return (size_t)(slot->limit - slot->chunk->offset);
}

static struct slot *oldest(struct scan *scan, bool (*fits)(const struct slot *))
{
	struct slot *best = NULL;

	for (unsigned i = 0; i < scan->slot_count; i++) {
		struct slot *slot = &scan->slots[i];

		if (fits(slot) && (!best || slot->number < best->number))
			best = slot;
	}
	return best;
}

static bool is_free(const struct slot *slot)
{
	return slot->state == SLOT_FREE;
}

static bool is_done(const struct slot *slot)
{
	return slot->state == SLOT_DONE;
}

static bool has_work(const struct slot *slot)
{
	return slot->state == SLOT_SEARCHING && slot->next < slot_end(slot);
}

/* How long the next piece of a slot is to be. */
static size_t piece_len(const struct scan *scan, const struct slot *slot)
{
	const struct chunk *chunk = slot->chunk;
	size_t rest = slot_end(slot) - slot->next, len;

	if (scan->matcher->team == TEAM_SEGMENTS)
		len = (chunk->len - chunk->from + scan->threads - 1) / scan->threads;
	else
		len = rest / (2 * scan->threads);
	if (len < scan->extent_min)
		len = scan->extent_min;
	if (scan->matcher->team != TEAM_SEGMENTS)
		len = smaller(len, scan->extent);
	return smaller(len, rest);
}

static bool take_piece(struct scan *scan, struct piece *piece)
{
	struct slot *slot = oldest(scan, has_work);

	if (!slot)
		return false;
	piece->slot = slot;
	piece->from = slot->next;
	piece->to = slot->next + piece_len(scan, slot);
	slot->next = piece->to;
	slot->busy++;
	return true;
}

static void finish_if_done(struct scan *scan, struct slot *slot)
{
	struct chunk *chunk = slot->chunk;

	if (slot->busy || slot->next < slot_end(slot))
		return;
	chunk->until = slot_end(slot);
	slot->state = SLOT_DONE;
	pthread_cond_broadcast(&scan->changed);
}

/* Inserts sorted hits into the chunk's list. Returns the end of the starts that are still wanted.
 */
static size_t insert(struct scan *scan, struct slot *slot, const struct hit *hits, size_t count)
{
	struct chunk *chunk = slot->chunk;
	size_t end;

	pthread_mutex_lock(&scan->lock);
	chunk->hit_count = hits_insert(
		chunk->hits, chunk->hit_count, chunk->hit_capacity, hits, count, &slot->limit);
	end = slot_end(slot);
	pthread_mutex_unlock(&scan->lock);
	return end;
}

/* The last resort: one start at which more patterns match than the buffer holds. */
static size_t search_start(struct scan *scan, struct worker *worker, struct slot *slot, size_t at)
{
	const struct chunk *chunk = slot->chunk;
	size_t readable = chunk->len + chunk->tail_len - at;
	struct hit_sink sink = { .hits = worker->hits, .capacity = scan->buffer_count };

	for (uint32_t i = 0; i < scan->set->count; i++) {
		if (!pattern_match_len(&scan->set->patterns[i], chunk->data + at, readable))
			continue;
		if (sink.count == sink.capacity) {
			insert(scan, slot, sink.hits, sink.count);
			sink.count = 0;
		}
		hit_sink_add(&sink, chunk->offset + at, i);
	}
	return insert(scan, slot, sink.hits, sink.count);
}

/* Searches [from, from + len) into the worker's buffer; count: what was found, sorted. -ENOBUFS:
 * too much. */
static int search_extent(struct scan *scan, struct worker *worker, const struct chunk *chunk,
	size_t from, size_t len, size_t *count)
{
	size_t overlap = scan->set->longest ? scan->set->longest - 1 : 0;
	size_t behind = chunk->len + chunk->tail_len - from - len;
	struct hit_sink sink = { .hits = worker->hits };
	int rc;

	/* More than the chunk has room for is not wanted anyway. */
	sink.capacity = smaller(scan->buffer_count, chunk->hit_capacity);
	rc = scan->matcher->find(scan->database, worker->scratch, chunk->data + from, len,
		len + smaller(behind, overlap), chunk->offset + from, &sink);
	if (rc)
		return rc;
	if (sink.full)
		return -ENOBUFS;
	*count = hits_sort(sink.hits, sink.count, worker->spare);
	return 0;
}

/* extent: the length with which the searching starts; out: with which it would go on. */
static int search_piece(
	struct scan *scan, struct worker *worker, const struct piece *piece, size_t *extent)
{
	size_t from = piece->from, to = piece->to;

	while (from < to) {
		size_t len = smaller(*extent, to - from), count = 0, end;
		int rc = search_extent(scan, worker, piece->slot->chunk, from, len, &count);

		if (rc == -ENOBUFS && len > 1) {
			*extent = len / 2;
			continue;
		}
		if (rc && rc != -ENOBUFS)
			return rc;
		end = rc ? search_start(scan, worker, piece->slot, from)
			 : insert(scan, piece->slot, worker->hits, count);
		if (!rc && count < scan->buffer_count / 4 && *extent < EXTENT_MAX)
			*extent *= 2;
		to = smaller(to, end);
		from += len;
	}
	return 0;
}

/* Called with the lock, which is given up while the piece is searched. */
static void search_unlocked(struct scan *scan, struct worker *worker, const struct piece *piece)
{
	size_t extent = scan->extent;
	int rc;

	pthread_mutex_unlock(&scan->lock);
	rc = search_piece(scan, worker, piece, &extent);
	pthread_mutex_lock(&scan->lock);
	scan->extent = extent;
	if (rc) {
		piece->slot->chunk->status = rc;
		piece->slot->limit = piece->slot->chunk->offset; /* nothing more is wanted */
	}
	piece->slot->busy--;
	finish_if_done(scan, piece->slot);
}

static void pull(struct pool_job *job, unsigned worker)
{
	struct puller *puller = (struct puller *)job;
	struct scan *scan = puller->scan;
	struct piece piece;

	pthread_mutex_lock(&scan->lock);
	if (!take_piece(scan, &piece)) {
		puller->idle = true;
		pthread_cond_broadcast(&scan->changed);
		pthread_mutex_unlock(&scan->lock);
		return;
	}
	search_unlocked(scan, &scan->workers[worker], &piece);
	pthread_mutex_unlock(&scan->lock);
	/* Through the queue, so that jobs nearer to the output come first. */
	pool_submit(scan->pool, POOL_SCAN, job);
}

/* A member of a team takes pieces until there are no more. */
static void pull_all(struct scan *scan, struct worker *worker)
{
	struct piece piece;

	pthread_mutex_lock(&scan->lock);
	while (take_piece(scan, &piece))
		search_unlocked(scan, worker, &piece);
	pthread_mutex_unlock(&scan->lock);
}

static void search_by_team(struct scan *scan)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(scan->threads)
	pull_all(scan, &scan->workers[omp_get_thread_num()]);
#else
	pull_all(scan, &scan->workers[0]);
#endif
}

static void wake_pullers(struct scan *scan)
{
	for (unsigned i = 0; i < scan->threads; i++) {
		if (!scan->pullers[i].idle)
			continue;
		scan->pullers[i].idle = false;
		pool_submit(scan->pool, POOL_SCAN, &scan->pullers[i].job);
	}
}

int cpu_scan_submit(struct scan *scan, struct chunk *chunk)
{
	bool by_team = scan->matcher->team != TEAM_POOL, searching;
	struct slot *slot;

	pthread_mutex_lock(&scan->lock);
	slot = oldest(scan, is_free);
	if (!slot) {
		pthread_mutex_unlock(&scan->lock);
		return -EAGAIN;
	}
	*slot = (struct slot){
		.state = SLOT_SEARCHING,
		.chunk = chunk,
		.number = scan->submissions++,
		.next = chunk->from,
		.limit = chunk->offset + chunk->len,
	};
	chunk->hit_count = 0;
	chunk->status = 0;
	if (chunk->from > chunk->len || chunk->hit_capacity < scan->set->count) {
		chunk->status = -EINVAL; /* see scan.h: nothing could come of it */
		slot->limit = chunk->offset;
	}
	finish_if_done(scan, slot);
	searching = slot->state != SLOT_DONE;
	if (searching && !by_team)
		wake_pullers(scan);
	pthread_mutex_unlock(&scan->lock);
	if (searching && by_team)
		search_by_team(scan);
	return 0;
}

static bool in_flight(const struct scan *scan)
{
	for (unsigned i = 0; i < scan->slot_count; i++)
		if (scan->slots[i].state != SLOT_FREE)
			return true;
	return false;
}

int cpu_scan_reap(struct scan *scan, struct chunk **chunk)
{
	struct slot *slot;

	pthread_mutex_lock(&scan->lock);
	if (!in_flight(scan)) {
		pthread_mutex_unlock(&scan->lock);
		return -EAGAIN;
	}
	while (!(slot = oldest(scan, is_done)))
		pthread_cond_wait(&scan->changed, &scan->lock);
	*chunk = slot->chunk;
	slot->state = SLOT_FREE;
	pthread_mutex_unlock(&scan->lock);
	return 0;
}

/* The last chunk may be reaped before the pullers have seen that there is nothing left. */
static void wait_for_pullers(struct scan *scan)
{
	pthread_mutex_lock(&scan->lock);
	for (unsigned i = 0; i < scan->threads; i++)
		while (!scan->pullers[i].idle)
			pthread_cond_wait(&scan->changed, &scan->lock);
	pthread_mutex_unlock(&scan->lock);
}

void cpu_scan_close(struct scan *scan)
{
	if (!scan)
		return;
	wait_for_pullers(scan);
	for (unsigned i = 0; i < scan->threads; i++) {
		if (scan->workers[i].scratch)
			scan->matcher->scratch_free(scan->workers[i].scratch);
		free(scan->workers[i].hits);
		free(scan->workers[i].spare);
	}
	if (scan->database)
		scan->matcher->free(scan->database);
	pthread_cond_destroy(&scan->changed);
	pthread_mutex_destroy(&scan->lock);
	free(scan->workers);
	free(scan->pullers);
	free(scan->slots);
	free(scan);
}

static struct scan *scan_new(const struct matcher *matcher, const struct pattern_set *set,
	const struct scan_options *options)
{
	struct scan *scan = xcalloc(1, sizeof(*scan));

	scan->matcher = matcher;
	scan->set = set;
	scan->pool = options->pool;
	scan->threads = pool_threads(options->pool);
	scan->workers = xcalloc(scan->threads, sizeof(*scan->workers));
	scan->pullers = xcalloc(scan->threads, sizeof(*scan->pullers));
	for (unsigned i = 0; i < scan->threads; i++) {
		scan->pullers[i].job.run = pull;
		scan->pullers[i].scan = scan;
		scan->pullers[i].idle = true;
	}
	/* Each worker has two buffers. */
	scan->buffer_count =
		smaller(BUFFER_MAX, BUFFERS_LEN / (2 * sizeof(struct hit)) / scan->threads);
	scan->extent = EXTENT_MAX;
	/* In pieces much longer than the overlap, searching that twice costs nothing. */
	scan->extent_min = EXTENT_MIN + 4 * (size_t)set->longest;
	scan->slot_count = options->chunks ? options->chunks : 1;
	scan->slots = xcalloc(scan->slot_count, sizeof(*scan->slots));
	pthread_mutex_init(&scan->lock, NULL);
	pthread_cond_init(&scan->changed, NULL);
	return scan;
}

static int make_workers(struct scan *scan, struct error *error)
{
	for (unsigned i = 0; i < scan->threads; i++) {
		struct worker *worker = &scan->workers[i];

		worker->hits = malloc(scan->buffer_count * sizeof(*worker->hits));
		worker->spare = malloc(scan->buffer_count * sizeof(*worker->spare));
		if (scan->matcher->scratch_new)
			worker->scratch = scan->matcher->scratch_new(scan->database);
		if (!worker->hits || !worker->spare ||
			(scan->matcher->scratch_new && !worker->scratch))
			return error_set(error, EXIT_IO, ENOMEM,
				"memory is short for %u searching threads: use fewer with "
				"--threads",
				scan->threads);
	}
	return 0;
}

int cpu_scan_open(struct scan **out, const struct matcher *matcher, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	struct scan *scan;
	int rc;

	if (options->kernel)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the engine '%s' has no kernel '%s': only the gpu engine has kernels to "
			"choose from",
			matcher->name, options->kernel);
	scan = scan_new(matcher, set, options);
	rc = matcher->compile(&scan->database, set, error);
	if (rc == 0)
		rc = make_workers(scan, error);
	if (rc) {
		cpu_scan_close(scan);
		return rc;
	}
	*out = scan;
	return 0;
}

const char *cpu_scan_kernel(const struct scan *scan)
{
	const char *kernel = NULL;

	if (scan->matcher->kernel)
		kernel = scan->matcher->kernel(scan->database);
	return kernel ? kernel : scan->matcher->name;
}
