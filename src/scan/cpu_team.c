/*
 * An engine made of a matcher: a team of threads that search pieces of chunks.
 *
 * Chunks are cut into pieces while they are searched: each thread that asks for work gets the next
 * piece of the oldest chunk, so threads stay busy across the ends of chunks, and a chunk is
 * finished as early as possible. A piece's hits (cpu_worker.h) are inserted into the chunk's list
 * (hits.h). As pieces are finished nearly in order, little has to be moved. When the list is full,
 * its highest hits are dropped and the chunk's limit sinks to the first of them; pieces after the
 * limit are not searched any more. So the result is the same whatever the order in which the pieces were
 * finished.
 *
 * One lock guards all of a scan's state, and is taken twice a piece; buffers and scratch space
 * belong to a thread.
 *
 * Algorithms that were published with OpenMP use its threads instead of the pool: they take pieces
 * in the same way, while the caller waits in submit.
 */
#include "scan/cpu_worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/memory.h"
#include "base/thread.h"
#include "base/pool.h"
#include "scan/hits.h"

/* No piece is cut shorter than this only to have enough for all threads. */
#define EXTENT_MIN ((size_t)16 << 10)
/* The most hits in a thread's buffer, and bytes of all buffers together. */
#define BUFFER_MAX ((size_t)16 << 10)
#define BUFFERS_LEN ((size_t)64 << 20)

enum task_state { TASK_FREE, TASK_SEARCHING, TASK_DONE };

/* A chunk in flight, which the threads work on together. */
struct task {
	enum task_state state;
	struct chunk *chunk;
	uint64_t number; /* counts submissions */
	size_t next; /* the first start that no thread has taken yet, relative to the chunk's data */
	uint64_t limit; /* starts from this offset in the image on are not searched any more */
	unsigned busy;  /* pieces that are being searched */
};

/* A job that searches a piece, then another one, until there is none. Each thread has one. */
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
	const struct scan_sifter *sifter;

	pthread_mutex_t lock; /* guards all that follows, the chunks in flight, and pullers' idle */
	pthread_cond_t changed; /* a chunk is done, or a puller idle */
	struct task *tasks;
	unsigned task_count;
	uint64_t submissions;
	size_t extent; /* bytes of the next piece */
};

struct piece {
	struct scan *scan;
	struct task *task;
	size_t from, to; /* relative to the chunk's data */
	unsigned worker; /* who searches it */
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The end of the starts to be searched, relative to the chunk's data. */
static size_t task_end(const struct task *task)
{
	return (size_t)(task->limit - task->chunk->offset);
}

static struct task *oldest(struct scan *scan, bool (*fits)(const struct task *))
{
	struct task *best = NULL;

	for (unsigned i = 0; i < scan->task_count; i++) {
		struct task *task = &scan->tasks[i];

		if (fits(task) && (!best || task->number < best->number))
			best = task;
	}
	return best;
}

static bool is_free(const struct task *task)
{
	return task->state == TASK_FREE;
}

static bool is_done(const struct task *task)
{
	return task->state == TASK_DONE;
}

static bool has_work(const struct task *task)
{
	return task->state == TASK_SEARCHING && task->next < task_end(task);
}

/* The length of a chunk's next piece. */
static size_t piece_len(const struct scan *scan, const struct task *task)
{
	const struct chunk *chunk = task->chunk;
	size_t rest = task_end(task) - task->next, len;

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
	struct task *task = oldest(scan, has_work);

	if (!task)
		return false;
	piece->scan = scan;
	piece->task = task;
	piece->from = task->next;
	piece->to = task->next + piece_len(scan, task);
	assert(piece->from < piece->to && piece->to <= piece->task->chunk->len);
	task->next = piece->to;
	task->busy++;
	return true;
}

static void finish_if_done(struct scan *scan, struct task *task)
{
	struct chunk *chunk = task->chunk;

	if (task->busy || task->next < task_end(task))
		return;
	chunk->until = task_end(task);
	task->state = TASK_DONE;
	pthread_cond_broadcast(&scan->changed);
}

/* Inserts sorted hits into the chunk's list. */
static size_t insert_hits(void *context, struct hit *hits, size_t count)
{
	const struct piece *piece = context;
	struct scan *scan = piece->scan;
	struct task *task = piece->task;
	struct chunk *chunk = task->chunk;
	size_t end;

	if (scan->sifter)
		scan->sifter->sift(scan->sifter->context, piece->worker, chunk, hits, count);
	pthread_mutex_lock(&scan->lock);
	chunk->hit_count = hits_insert(
		chunk->hits, chunk->hit_count, chunk->hit_capacity, hits, count, &task->limit);
	end = task_end(task);
	pthread_mutex_unlock(&scan->lock);
	return end;
}

/* Called with the lock held; releases it while the piece is searched. */
static void search_unlocked(struct scan *scan, struct cpu_worker *worker, struct piece *piece)
{
	const struct cpu_taker taker = { insert_hits, piece };
	size_t extent = scan->extent;
	int rc;

	pthread_mutex_unlock(&scan->lock);
	piece->worker = (unsigned)(worker - scan->workers);
	rc = cpu_worker_search(worker, piece->task->chunk, piece->from, piece->to, &extent, &taker);
	pthread_mutex_lock(&scan->lock);
	scan->extent = extent;
	if (rc) {
		piece->task->chunk->status = rc;
		piece->task->limit = piece->task->chunk->offset; /* search no further */
	}
	assert(piece->task->state == TASK_SEARCHING && piece->task->busy);
	piece->task->busy--;
	finish_if_done(scan, piece->task);
}

static void pull_piece(struct pool_job *job, unsigned worker)
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
	/* Back into the queue, so that jobs nearer to the output go first. */
	pool_submit(scan->pool, POOL_SCAN, job);
}

/* An OpenMP thread takes pieces until there are no more. */
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
	struct task *task;

	pthread_mutex_lock(&scan->lock);
	task = oldest(scan, is_free);
	if (!task) {
		pthread_mutex_unlock(&scan->lock);
		return -EAGAIN;
	}
	*task = (struct task){
		.state = TASK_SEARCHING,
		.chunk = chunk,
		.number = scan->submissions++,
		.next = chunk->from,
		.limit = chunk->offset + chunk->len,
	};
	chunk->hit_count = 0;
	chunk->status = 0;
	if (chunk->from > chunk->len || chunk->hit_capacity < scan->set->count) {
		chunk->status = -EINVAL; /* see scan.h: it could not make progress */
		task->limit = chunk->offset;
	}
	finish_if_done(scan, task);
	searching = task->state != TASK_DONE;
	if (searching && !by_team)
		wake_pullers(scan);
	pthread_mutex_unlock(&scan->lock);
	if (searching && by_team)
		search_by_team(scan);
	return 0;
}

static bool in_flight(const struct scan *scan)
{
	for (unsigned i = 0; i < scan->task_count; i++)
		if (scan->tasks[i].state != TASK_FREE)
			return true;
	return false;
}

int cpu_scan_reap(struct scan *scan, struct chunk **chunk)
{
	struct task *task;

	pthread_mutex_lock(&scan->lock);
	if (!in_flight(scan)) {
		pthread_mutex_unlock(&scan->lock);
		return -EAGAIN;
	}
	while (!(task = oldest(scan, is_done)))
		pthread_cond_wait(&scan->changed, &scan->lock);
	*chunk = task->chunk;
	task->state = TASK_FREE;
	pthread_mutex_unlock(&scan->lock);
	return 0;
}

/* The last chunk may be reaped before the pullers notice that nothing is left. */
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
	free(scan->tasks);
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
	scan->sifter = options->sifter;
	scan->workers = xcalloc(scan->threads, sizeof(*scan->workers));
	scan->pullers = xcalloc(scan->threads, sizeof(*scan->pullers));
	for (unsigned i = 0; i < scan->threads; i++) {
		scan->pullers[i].job.run = pull_piece;
		scan->pullers[i].scan = scan;
		scan->pullers[i].idle = true;
	}
	/* Each worker has two buffers. */
	scan->buffer_count =
		smaller(BUFFER_MAX, BUFFERS_LEN / (2 * sizeof(struct hit)) / scan->threads);
	scan->extent = CPU_EXTENT_MAX;
	/* Pieces are much longer than the overlap, so that searching it twice costs nothing. */
	scan->extent_min = EXTENT_MIN + 4 * (size_t)set->longest;
	scan->task_count = options->chunks ? options->chunks : 1;
	scan->tasks = xcalloc(scan->task_count, sizeof(*scan->tasks));
	thread_lock_init(&scan->lock);
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
