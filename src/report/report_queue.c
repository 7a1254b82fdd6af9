/*
 * A ring of records, one thread that fills it and one thread for each report that writes from it.
 * A record is given back when all writers are past it.
 *
 *     given back <= done of each writer <= pushed <= filled <= given back + QUEUE_LEN
 *
 * Records are pushed and written several at a time, so the lock is seldom needed, nor is the file.
 */
#include "report/report_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

#define QUEUE_LEN 2048
#define AT_ONCE 64
/* Records from the one that is given back to the one that is loaded meanwhile. */
#define EXPECTED 4
/* Progress is reported after this part. */
#define LEADER 0

struct writer {
	struct report_queue *queue;
	size_t part;
	bool has_thread;
	pthread_t thread;
	uint64_t done; /* under the lock */
};

struct report_queue {
	struct report *report;
	struct progress *progress;
	void (*failed)(void *context, int status, const struct error *error);
	void *context;
	void (*done)(void *context, struct file_record *record);
	void *done_context;
	struct writer writers[REPORT_PARTS];
	double waited;
	/* the caller's: records filled in, and given back */
	uint64_t filled, given_back;

	pthread_mutex_t lock; /* over pushed, closing, sleeping, and done of the writers */
	pthread_cond_t work, progressed;
	uint64_t pushed;
	unsigned sleeping;     /* writers */
	bool closing, waiting; /* waiting: the caller, for progress */

	struct file_record *ring[QUEUE_LEN]; /* record n is at n % QUEUE_LEN */
};

/* ---- writing ------------------------------------------------------------------------------- */

static void note(struct report_queue *queue, int status, const struct error *error)
{
	if (status)
		queue->failed(queue->context, status, error);
}

static void write_records(struct writer *writer, uint64_t from, uint64_t to)
{
	struct report_queue *queue = writer->queue;
	struct error error = { 0 };

	for (uint64_t number = from; number < to; number++) {
		const struct file_record *record = queue->ring[number % QUEUE_LEN];

		error = (struct error){ 0 };
		note(queue, report_add_part(queue->report, writer->part, record, &error), &error);
		if (queue->progress && writer->part == LEADER)
			progress_file(queue->progress, record);
	}
	error = (struct error){ 0 };
	note(queue, report_flush_part(queue->report, writer->part, &error), &error);
}

static void *work(void *arg)
{
	struct writer *writer = arg;
	struct report_queue *queue = writer->queue;

	pthread_mutex_lock(&queue->lock);
	while (writer->done < queue->pushed || !queue->closing) {
		uint64_t from = writer->done, to = queue->pushed;

		if (from == to) {
			queue->sleeping++;
			pthread_cond_wait(&queue->work, &queue->lock);
			queue->sleeping--;
			continue;
		}
		if (to - from > AT_ONCE)
			to = from + AT_ONCE;
		pthread_mutex_unlock(&queue->lock);
		write_records(writer, from, to);
		pthread_mutex_lock(&queue->lock);
		writer->done = to;
		if (queue->waiting)
			pthread_cond_signal(&queue->progressed);
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

static void start_threads(struct report_queue *queue)
{
	for (size_t i = 0; i < REPORT_PARTS; i++) {
		struct writer *writer = &queue->writers[i];

		writer->queue = queue;
		writer->part = i;
		writer->has_thread = thread_start(&writer->thread, work, writer) == 0;
	}
}

struct report_queue *report_queue_new(struct report *report, struct progress *progress,
	void (*failed)(void *context, int status, const struct error *error), void *context,
	void (*done)(void *context, struct file_record *record), void *done_context)
{
	struct report_queue *queue = xcalloc(1, sizeof(*queue));

	queue->report = report;
	queue->progress = progress;
	queue->failed = failed;
	queue->context = context;
	queue->done = done;
	queue->done_context = done_context;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->work, NULL);
	pthread_cond_init(&queue->progressed, NULL);
	start_threads(queue);
	return queue;
}

/* ---- handing over -------------------------------------------------------------------------- */

static uint64_t lowest_done(const struct report_queue *queue)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (queue->writers[i].done < lowest)
			lowest = queue->writers[i].done;
	return lowest;
}

/* Gives back the records before `until`, which all writers are past. */
static void give_back(struct report_queue *queue, uint64_t until)
{
	for (; queue->given_back < until; queue->given_back++) {
		const char *next =
			(const char *)queue->ring[(queue->given_back + EXPECTED) % QUEUE_LEN];

		/* What it will be given back to looks at its head, and at what is before it. */
		if (queue->given_back + EXPECTED < until)
			for (int line = -1; line <= 1; line++)
				__builtin_prefetch(next + line * 64, 1);
		queue->done(queue->done_context, queue->ring[queue->given_back % QUEUE_LEN]);
	}
}

/* Waits until all writers have written this many records, which must have been pushed. */
static void wait_until_done(struct report_queue *queue, uint64_t count)
{
	double from = clock_seconds();
	uint64_t done;

	pthread_mutex_lock(&queue->lock);
	queue->waiting = true;
	while (lowest_done(queue) < count)
		pthread_cond_wait(&queue->progressed, &queue->lock);
	queue->waiting = false;
	done = lowest_done(queue);
	pthread_mutex_unlock(&queue->lock);
	give_back(queue, done);
	queue->waited += clock_seconds() - from;
}

void report_queue_push(struct report_queue *queue)
{
	uint64_t done;

	if (queue->pushed == queue->filled) /* only the caller changes it */
		return;
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (!queue->writers[i].has_thread)
			write_records(&queue->writers[i], queue->pushed, queue->filled);
	pthread_mutex_lock(&queue->lock);
	queue->pushed = queue->filled;
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (!queue->writers[i].has_thread)
			queue->writers[i].done = queue->pushed;
	done = lowest_done(queue);
	if (queue->sleeping)
		pthread_cond_broadcast(&queue->work);
	pthread_mutex_unlock(&queue->lock);
	give_back(queue, done);
}

void report_queue_add(struct report_queue *queue, struct file_record *record)
{
	if (queue->filled - queue->pushed == AT_ONCE)
		report_queue_push(queue);
	if (queue->filled - queue->given_back == QUEUE_LEN) { /* waits until there is room */
		report_queue_push(queue);
		wait_until_done(queue, queue->filled - QUEUE_LEN + AT_ONCE);
	}
	queue->ring[queue->filled++ % QUEUE_LEN] = record;
}

void report_queue_finish(struct report_queue *queue)
{
	report_queue_push(queue);
	wait_until_done(queue, queue->filled);
}

int report_queue_flush(struct report_queue *queue, struct error *error)
{
	report_queue_finish(queue);
	return report_flush(queue->report, error);
}

double report_queue_waited(const struct report_queue *queue)
{
	return queue->waited;
}

void report_queue_free(struct report_queue *queue)
{
	if (!queue)
		return;
	report_queue_push(queue);
	pthread_mutex_lock(&queue->lock);
	queue->closing = true;
	pthread_cond_broadcast(&queue->work);
	pthread_mutex_unlock(&queue->lock);
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (queue->writers[i].has_thread)
			pthread_join(queue->writers[i].thread, NULL);
	pthread_cond_destroy(&queue->progressed);
	pthread_cond_destroy(&queue->work);
	pthread_mutex_destroy(&queue->lock);
	give_back(queue, queue->filled);
	free(queue);
}
