/*
 * A ring of records, one thread that fills it and one thread for each report that writes from it.
 * An entry is reused, and what it held freed, when all writers are past it.
 *
 *     done of each writer <= pushed <= filled <= lowest done + QUEUE_LEN
 *
 * Records are pushed and written several at a time, so the lock is seldom needed.
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
/* Progress is reported after this part. */
#define LEADER 0

struct queued {
	struct file_record record;
	struct range run; /* of the record, when it has only one */
};

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
	struct writer writers[REPORT_PARTS];
	struct queued *ring; /* record n is at n % QUEUE_LEN */
	double waited;
	/* the caller's: records filled in, and how far there is room without checking */
	uint64_t filled, room_until;

	pthread_mutex_t lock; /* over pushed, closing, sleeping, and done of the writers */
	pthread_cond_t work, progressed;
	uint64_t pushed;
	unsigned sleeping;     /* writers */
	bool closing, waiting; /* waiting: the caller, for progress */
};

static struct queued *queued_at(struct report_queue *queue, uint64_t number)
{
	return &queue->ring[number % QUEUE_LEN];
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_records(struct writer *writer, uint64_t from, uint64_t to)
{
	struct report_queue *queue = writer->queue;

	for (uint64_t number = from; number < to; number++) {
		const struct file_record *record = &queued_at(queue, number)->record;
		struct error error = { 0 };
		int status = report_add_part(queue->report, writer->part, record, &error);

		if (status)
			queue->failed(queue->context, status, &error);
		if (queue->progress && writer->part == LEADER)
			progress_file(queue->progress, record);
	}
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
	void (*failed)(void *context, int status, const struct error *error), void *context)
{
	struct report_queue *queue = xcalloc(1, sizeof(*queue));

	queue->report = report;
	queue->progress = progress;
	queue->failed = failed;
	queue->context = context;
	queue->ring = xcalloc(QUEUE_LEN, sizeof(*queue->ring));
	queue->room_until = QUEUE_LEN;
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

/* Waits until all writers have written this many records, which must have been pushed. */
static void wait_until_done(struct report_queue *queue, uint64_t count)
{
	double from = clock_seconds();

	pthread_mutex_lock(&queue->lock);
	queue->waiting = true;
	while (lowest_done(queue) < count)
		pthread_cond_wait(&queue->progressed, &queue->lock);
	queue->waiting = false;
	queue->room_until = lowest_done(queue) + QUEUE_LEN;
	pthread_mutex_unlock(&queue->lock);
	queue->waited += clock_seconds() - from;
}

void report_queue_push(struct report_queue *queue)
{
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
	queue->room_until = lowest_done(queue) + QUEUE_LEN;
	if (queue->sleeping)
		pthread_cond_broadcast(&queue->work);
	pthread_mutex_unlock(&queue->lock);
}

static void free_queued(struct queued *queued)
{
	if (queued->record.runs != &queued->run)
		free(queued->record.runs);
	free(queued->record.path);
}

static void fill_queued(struct queued *queued, const struct file_record *record)
{
	free_queued(queued);
	queued->record = *record;
	queued->record.runs = &queued->run;
	if (record->run_count == 1) {
		queued->run = record->runs[0];
	} else {
		queued->record.runs = xcalloc(record->run_count, sizeof(*record->runs));
		memcpy(queued->record.runs, record->runs,
			record->run_count * sizeof(*record->runs));
	}
}

void report_queue_add(struct report_queue *queue, const struct file_record *record)
{
	if (queue->filled - queue->pushed == AT_ONCE)
		report_queue_push(queue);
	if (queue->filled == queue->room_until) { /* full: waits until there is room for some */
		report_queue_push(queue);
		wait_until_done(queue, queue->filled - QUEUE_LEN + AT_ONCE);
	}
	fill_queued(queued_at(queue, queue->filled), record);
	queue->filled++;
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
	for (size_t i = 0; i < QUEUE_LEN; i++)
		free_queued(&queue->ring[i]);
	free(queue->ring);
	free(queue);
}
