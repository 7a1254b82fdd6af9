/*
 * An engine over a matcher, on the pool.
 *
 * Chunks are cut into pieces while they are searched: each thread that comes for work gets the next
 * piece of the oldest chunk, so threads stay busy across the ends of chunks, and a chunk is
 * finished as early as can be. A piece's hits (cpu_worker.h) are inserted into the chunk's list
 * (hits.h). As pieces are finished nearly in order, little has to be moved. When the list is full,
 * its highest hits go and the chunk's limit sinks to the first of them; pieces behind the limit are
 * not searched any more. So the result is the same whatever the order in which the pieces were
 * finished.
 *
 * All of a scan's state is under one lock, which is taken twice a piece; buffers and scratch belong
 * to the pool's worker.
 *
 * For algorithms that are published with OpenMP, a team of its threads takes the pool's place: it
 * comes for pieces in the same way, while the caller waits in submit.
 */
#include "scan/cpu_worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/memory.h"
#include "base/pool.h"
#include "scan/hits.h"

/* Bytes under which no piece is cut just to have enough for all threads. */
#define EXTENT_MIN ((size_t)16 << 10)
/* Hits of a thread's buffer, and bytes of all buffers together. */
#define BUFFER_MAX ((size_t)16 << 10)
#define BUFFERS_LEN ((size_t)64 << 20)

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
	struct cpu_worker *workers; /* threads of them */
	struct puller *pullers;     /* threads of them */
	size_t buffer_count;        /* hits of a worker's buffer */
	size_t extent_min;          /* bytes */

	pthread_mutex_t lock; /* over all that follows, the slots' chunks, and the pullers' idle */
	pthread_cond_t changed; /* a slot is done, or a puller idle */
	struct slot *slots;
	unsigned slot_count;
	uint64_t submissions;
	size_t extent; /* bytes of the next piece */
};

struct piece {
	struct scan *scan;
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
	piece->scan = scan;
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

/* Inserts sorted hits into the chunk's list. */
static size_t insert(void *context, const struct hit *hits, size_t count)
{
	const struct piece *piece = context;
	struct scan *scan = piece->scan;
	struct slot *slot = piece->slot;
	struct chunk *chunk = slot->chunk;
	size_t end;

	pthread_mutex_lock(&scan->lock);
	chunk->hit_count = hits_insert(
		chunk->hits, chunk->hit_count, chunk->hit_capacity, hits, count, &slot->limit);
	end = slot_end(slot);
	pthread_mutex_unlock(&scan->lock);
	return end;
}

/* Called with the lock, which is given up while the piece is searched. */
static void search_unlocked(struct scan *scan, struct cpu_worker *worker, struct piece *piece)
{
	const struct cpu_taker taker = { insert, piece };
	size_t extent = scan->extent;
	int rc;

	pthread_mutex_unlock(&scan->lock);
	rc = cpu_worker_search(worker, piece->slot->chunk, piece->from, piece->to, &extent, &taker);
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
static void pull_all(struct scan *scan, struct cpu_worker *worker)
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
	for (unsigned i = 0; i < scan->threads; i++)
		cpu_worker_free(&scan->workers[i]);
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
	scan->extent = CPU_EXTENT_MAX;
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
	for (unsigned i = 0; i < scan->threads; i++)
		if (!cpu_worker_init(&scan->workers[i], scan->matcher, scan->database, scan->set,
			    scan->buffer_count))
			return error_set(error, EXIT_IO, ENOMEM,
				"memory is short for %u searching threads: use fewer with "
				"--threads",
				scan->threads);
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

void matcher_describe(char *text, size_t len, const struct matcher_part *parts, size_t part_count)
{
	size_t used = 0;

	snprintf(text, len, "no patterns");
	for (size_t i = 0; i < part_count && used < len; i++) {
		const char *unit = used ? "" : parts[i].count == 1 ? " pattern" : " patterns";

		if (parts[i].count)
			used += (size_t)snprintf(text + used, len - used, "%s%s (%u%s)",
				used ? " + " : "", parts[i].name, parts[i].count, unit);
	}
}
