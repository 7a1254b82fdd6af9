/*
 * A ring of batches. The caller fills one after the other; threads take them in that order, format what
 * each report has of their files, and then write what is next: of each report, one batch at a time and in
 * order. A thread that has formatted a batch whose turn it is not yet leaves it to the one that writes
 * those before it. A batch is given back when all reports have it.
 *
 *     given back <= written of each report <= taken <= pushed < given back + BATCHES
 */
#include "report/report_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

#define BATCH_LEN 128
#define BATCHES 32
/* Progress is reported after this part. */
#define LEADER 0

/* What the reports have of a batch. */
struct lines {
	struct lines *next; /* of those that are not used */
	struct strbuf parts[REPORT_PARTS];
	size_t unwritten; /* parts */
};

struct batch {
	void *items[BATCH_LEN];
	size_t count;
	uint64_t number;     /* of its first file */
	struct lines *lines; /* from its formatting until it is written */
};

struct report_queue {
	struct report_queue_options options;
	pthread_t *threads;
	unsigned thread_count;
	double waited;
	uint64_t given_back; /* batches; the caller's */
	void *scratch;       /* the caller's, where there are no threads */

	pthread_mutex_t beginning; /* over begun: the reports' heads are written */
	bool begun;

	pthread_mutex_t lock; /* over what follows */
	pthread_cond_t work, progressed;
	uint64_t pushed, taken, written[REPORT_PARTS]; /* batches */
	bool writing[REPORT_PARTS];
	struct lines *spare;
	unsigned sleeping;     /* threads */
	bool closing, waiting; /* waiting: the caller, for progress */

	struct batch batches[BATCHES]; /* batch n is at n % BATCHES */
};

static struct batch *batch_at(struct report_queue *queue, uint64_t number)
{
	return &queue->batches[number % BATCHES];
}

/* ---- formatting ---------------------------------------------------------------------------- */

static void note(struct report_queue *queue, int status, const struct error *error)
{
	if (status)
		queue->options.failed(queue->options.context, status, error);
}

static void begin_reports(struct report_queue *queue)
{
	struct error error = { 0 };

	pthread_mutex_lock(&queue->beginning);
	if (!queue->begun)
		note(queue, report_begin(queue->options.report, &error), &error);
	queue->begun = true;
	pthread_mutex_unlock(&queue->beginning);
}

static void format(
	struct report_queue *queue, const struct batch *batch, struct lines *lines, void *scratch)
{
	const struct report_source *source = &queue->options.source;

	for (size_t i = 0; i < batch->count; i++) {
		const struct file_record *record =
			source->open(source->context, batch->items[i], scratch);

		for (size_t part = 0; part < REPORT_PARTS; part++)
			report_line(queue->options.report, part, record, batch->number + i,
				&lines->parts[part]);
		source->close(source->context, batch->items[i], scratch);
	}
	lines->unwritten = REPORT_PARTS;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void tell_progress(struct report_queue *queue, const struct batch *batch, void *scratch)
{
	const struct report_source *source = &queue->options.source;
	struct progress *progress = queue->options.progress;

	if (!progress)
		return;
	if (!progress_wants_files(progress)) {
		progress_files(progress, batch->count);
		return;
	}
	for (size_t i = 0; i < batch->count; i++) {
		progress_file(progress, source->open(source->context, batch->items[i], scratch));
		source->close(source->context, batch->items[i], scratch);
	}
}

static void release(struct report_queue *queue, const struct batch *batch)
{
	const struct report_source *source = &queue->options.source;

	for (size_t i = 0; i < batch->count; i++)
		source->release(source->context, batch->items[i]);
}

/* Whether the next batch of the part is formatted, and no thread is writing one. With the lock held. */
static bool may_write(struct report_queue *queue, size_t part)
{
	return !queue->writing[part] && queue->written[part] < queue->taken &&
	       batch_at(queue, queue->written[part])->lines;
}

/* Writes it. With the lock held, but not meanwhile. */
static void write_next(struct report_queue *queue, size_t part, void *scratch)
{
	struct batch *batch = batch_at(queue, queue->written[part]);
	struct lines *lines = batch->lines;
	struct error error = { 0 };

	queue->writing[part] = true;
	pthread_mutex_unlock(&queue->lock);
	note(queue, report_write_part(queue->options.report, part, &lines->parts[part], &error),
		&error);
	if (part == LEADER)
		tell_progress(queue, batch, scratch);
	pthread_mutex_lock(&queue->lock);
	if (--lines->unwritten == 0) {
		pthread_mutex_unlock(&queue->lock);
		release(queue, batch);
		pthread_mutex_lock(&queue->lock);
		batch->lines = NULL;
		lines->next = queue->spare;
		queue->spare = lines;
	}
	queue->writing[part] = false;
	queue->written[part]++;
	if (queue->waiting)
		pthread_cond_signal(&queue->progressed);
}

/* Formats the next batch, and writes what can be. With the lock held, but not meanwhile. */
static void work_on_next(struct report_queue *queue, void *scratch)
{
	struct batch *batch = batch_at(queue, queue->taken++);
	struct lines *lines = queue->spare;

	if (lines)
		queue->spare = lines->next;
	pthread_mutex_unlock(&queue->lock);
	if (!lines)
		lines = xcalloc(1, sizeof(*lines));
	begin_reports(queue);
	format(queue, batch, lines, scratch);
	pthread_mutex_lock(&queue->lock);
	batch->lines = lines;
	for (size_t part = 0; part < REPORT_PARTS; part++)
		while (may_write(queue, part))
			write_next(queue, part, scratch);
}

static void *work(void *arg)
{
	struct report_queue *queue = arg;
	void *scratch = xmalloc(queue->options.source.scratch_len);

	pthread_mutex_lock(&queue->lock);
	while (queue->taken < queue->pushed || !queue->closing) {
		if (queue->taken < queue->pushed) {
			work_on_next(queue, scratch);
			continue;
		}
		queue->sleeping++;
		pthread_cond_wait(&queue->work, &queue->lock);
		queue->sleeping--;
	}
	pthread_mutex_unlock(&queue->lock);
	free(scratch);
	return NULL;
}

struct report_queue *report_queue_new(const struct report_queue_options *options)
{
	struct report_queue *queue = xcalloc(1, sizeof(*queue));

	queue->options = *options;
	pthread_mutex_init(&queue->beginning, NULL);
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->work, NULL);
	pthread_cond_init(&queue->progressed, NULL);
	queue->threads = xcalloc(options->threads, sizeof(*queue->threads));
	while (queue->thread_count < options->threads &&
		!thread_start(&queue->threads[queue->thread_count], work, queue))
		queue->thread_count++;
	if (!queue->thread_count)
		queue->scratch = xmalloc(options->source.scratch_len);
	return queue;
}

/* ---- the caller ---------------------------------------------------------------------------- */

static uint64_t lowest_written(const struct report_queue *queue)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (queue->written[i] < lowest)
			lowest = queue->written[i];
	return lowest;
}

/* Gives back the batches before `until`, which all reports have. */
static void give_back(struct report_queue *queue, uint64_t until)
{
	const struct report_source *source = &queue->options.source;

	for (; queue->given_back < until; queue->given_back++) {
		struct batch *batch = batch_at(queue, queue->given_back);

		for (size_t i = 0; i < batch->count; i++)
			source->done(source->context, batch->items[i]);
		batch->count = 0;
	}
}

/* Waits until all reports have this many batches, which must have been pushed. */
static void wait_until_written(struct report_queue *queue, uint64_t count)
{
	double from = clock_seconds();
	uint64_t written;

	pthread_mutex_lock(&queue->lock);
	queue->waiting = true;
	while (lowest_written(queue) < count)
		pthread_cond_wait(&queue->progressed, &queue->lock);
	queue->waiting = false;
	written = lowest_written(queue);
	pthread_mutex_unlock(&queue->lock);
	give_back(queue, written);
	queue->waited += clock_seconds() - from;
}

/* Only the caller changes the number of batches that are pushed. */
void report_queue_push(struct report_queue *queue)
{
	uint64_t written;

	if (queue->pushed - queue->given_back == BATCHES || !batch_at(queue, queue->pushed)->count)
		return;
	pthread_mutex_lock(&queue->lock);
	queue->pushed++;
	if (!queue->thread_count)
		work_on_next(queue, queue->scratch);
	else if (queue->pushed - queue->taken > queue->thread_count - queue->sleeping)
		pthread_cond_signal(&queue->work); /* those awake have enough to do */
	written = lowest_written(queue);
	pthread_mutex_unlock(&queue->lock);
	give_back(queue, written);
}

void report_queue_add(struct report_queue *queue, void *item)
{
	uint64_t number = report_number(queue->options.report, 1);
	struct batch *batch = batch_at(queue, queue->pushed);

	if (queue->pushed - queue->given_back == BATCHES)
		wait_until_written(queue, queue->given_back + 1);
	if (!batch->count)
		batch->number = number;
	batch->items[batch->count++] = item;
	if (batch->count == BATCH_LEN)
		report_queue_push(queue);
}

void report_queue_finish(struct report_queue *queue)
{
	report_queue_push(queue);
	wait_until_written(queue, queue->pushed);
}

int report_queue_flush(struct report_queue *queue, struct error *error)
{
	report_queue_finish(queue);
	return report_flush(queue->options.report, error);
}

double report_queue_waited(const struct report_queue *queue)
{
	return queue->waited;
}

void report_queue_free(struct report_queue *queue)
{
	if (!queue)
		return;
	report_queue_finish(queue);
	pthread_mutex_lock(&queue->lock);
	queue->closing = true;
	pthread_cond_broadcast(&queue->work);
	pthread_mutex_unlock(&queue->lock);
	for (unsigned i = 0; i < queue->thread_count; i++)
		pthread_join(queue->threads[i], NULL);
	for (struct lines *lines; (lines = queue->spare);) {
		queue->spare = lines->next;
		for (size_t i = 0; i < REPORT_PARTS; i++)
			strbuf_free(&lines->parts[i]);
		free(lines);
	}
	pthread_cond_destroy(&queue->progressed);
	pthread_cond_destroy(&queue->work);
	pthread_mutex_destroy(&queue->lock);
	pthread_mutex_destroy(&queue->beginning);
	free(queue->threads);
	free(queue->scratch);
	free(queue);
}
