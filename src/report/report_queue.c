/*
 * A ring of records, one thread that fills it and some that write it down, each its part of the
 * report. A place is used again when all have passed it, and what it held is freed then.
 *
 *     done of each writer <= given <= filled <= least done + QUEUE_LEN
 *
 * Records are handed over some at a time, and taken so: the lock is seldom wanted.
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
/* The part behind which the progress is told. */
#define LEADER 0

struct note {
	struct file_record record;
	struct range run; /* the record's, when it has only one */
};

struct writer {
	struct report_queue *report_queue;
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
	struct note *queue; /* note n lies at n % QUEUE_LEN */
	double waited;
	/* the caller's: notes filled in, and how many there is room for without asking */
	uint64_t filled, room_until;

	pthread_mutex_t lock; /* over given, closing, sleeping, and done of the writers */
	pthread_cond_t work, progressed;
	uint64_t given;
	unsigned sleeping;     /* writers */
	bool closing, waiting; /* waiting: the caller, for progress */
};

static struct note *note_at(struct report_queue *report_queue, uint64_t number)
{
	return &report_queue->queue[number % QUEUE_LEN];
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_notes(struct writer *writer, uint64_t from, uint64_t to)
{
	struct report_queue *report_queue = writer->report_queue;

	for (uint64_t number = from; number < to; number++) {
		const struct file_record *record = &note_at(report_queue, number)->record;
		struct error error = { 0 };
		int status = report_file_part(report_queue->report, writer->part, record, &error);

		if (status)
			report_queue->failed(report_queue->context, status, &error);
		if (report_queue->progress && writer->part == LEADER)
			progress_file(report_queue->progress, record);
	}
}

static void *work(void *arg)
{
	struct writer *writer = arg;
	struct report_queue *report_queue = writer->report_queue;

	pthread_mutex_lock(&report_queue->lock);
	while (writer->done < report_queue->given || !report_queue->closing) {
		uint64_t from = writer->done, to = report_queue->given;

		if (from == to) {
			report_queue->sleeping++;
			pthread_cond_wait(&report_queue->work, &report_queue->lock);
			report_queue->sleeping--;
			continue;
		}
		if (to - from > AT_ONCE)
			to = from + AT_ONCE;
		pthread_mutex_unlock(&report_queue->lock);
		write_notes(writer, from, to);
		pthread_mutex_lock(&report_queue->lock);
		writer->done = to;
		if (report_queue->waiting)
			pthread_cond_signal(&report_queue->progressed);
	}
	pthread_mutex_unlock(&report_queue->lock);
	return NULL;
}

static void start_threads(struct report_queue *report_queue)
{
	for (size_t i = 0; i < REPORT_PARTS; i++) {
		struct writer *writer = &report_queue->writers[i];

		writer->report_queue = report_queue;
		writer->part = i;
		writer->has_thread = thread_start(&writer->thread, work, writer) == 0;
	}
}

struct report_queue *report_queue_new(struct report *report, struct progress *progress,
	void (*failed)(void *context, int status, const struct error *error), void *context)
{
	struct report_queue *report_queue = xcalloc(1, sizeof(*report_queue));

	report_queue->report = report;
	report_queue->progress = progress;
	report_queue->failed = failed;
	report_queue->context = context;
	report_queue->queue = xcalloc(QUEUE_LEN, sizeof(*report_queue->queue));
	report_queue->room_until = QUEUE_LEN;
	pthread_mutex_init(&report_queue->lock, NULL);
	pthread_cond_init(&report_queue->work, NULL);
	pthread_cond_init(&report_queue->progressed, NULL);
	start_threads(report_queue);
	return report_queue;
}

/* ---- handing over -------------------------------------------------------------------------- */

static uint64_t least_done(const struct report_queue *report_queue)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (report_queue->writers[i].done < least)
			least = report_queue->writers[i].done;
	return least;
}

/* Until all writers have done so many notes. They must have been given. */
static void wait_until_done(struct report_queue *report_queue, uint64_t count)
{
	double from = clock_seconds();

	pthread_mutex_lock(&report_queue->lock);
	report_queue->waiting = true;
	while (least_done(report_queue) < count)
		pthread_cond_wait(&report_queue->progressed, &report_queue->lock);
	report_queue->waiting = false;
	report_queue->room_until = least_done(report_queue) + QUEUE_LEN;
	pthread_mutex_unlock(&report_queue->lock);
	report_queue->waited += clock_seconds() - from;
}

void report_queue_push(struct report_queue *report_queue)
{
	if (report_queue->given == report_queue->filled) /* nobody else changes it */
		return;
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (!report_queue->writers[i].has_thread)
			write_notes(&report_queue->writers[i], report_queue->given,
				report_queue->filled);
	pthread_mutex_lock(&report_queue->lock);
	report_queue->given = report_queue->filled;
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (!report_queue->writers[i].has_thread)
			report_queue->writers[i].done = report_queue->given;
	report_queue->room_until = least_done(report_queue) + QUEUE_LEN;
	if (report_queue->sleeping)
		pthread_cond_broadcast(&report_queue->work);
	pthread_mutex_unlock(&report_queue->lock);
}

static void free_note(struct note *note)
{
	if (note->record.runs != &note->run)
		free(note->record.runs);
	free(note->record.path);
}

static void fill_note(struct note *note, const struct file_record *record)
{
	free_note(note);
	note->record = *record;
	note->record.runs = &note->run;
	if (record->run_count == 1) {
		note->run = record->runs[0];
	} else {
		note->record.runs = xcalloc(record->run_count, sizeof(*record->runs));
		memcpy(note->record.runs, record->runs, record->run_count * sizeof(*record->runs));
	}
}

void report_queue_file(struct report_queue *report_queue, const struct file_record *record)
{
	if (report_queue->filled - report_queue->given == AT_ONCE)
		report_queue_push(report_queue);
	if (report_queue->filled ==
		report_queue->room_until) { /* full: waits until there is room for some */
		report_queue_push(report_queue);
		wait_until_done(report_queue, report_queue->filled - QUEUE_LEN + AT_ONCE);
	}
	fill_note(note_at(report_queue, report_queue->filled), record);
	report_queue->filled++;
}

void report_queue_finish(struct report_queue *report_queue)
{
	report_queue_push(report_queue);
	wait_until_done(report_queue, report_queue->filled);
}

int report_queue_flush(struct report_queue *report_queue, struct error *error)
{
	report_queue_finish(report_queue);
	return report_flush(report_queue->report, error);
}

double report_queue_waited(const struct report_queue *report_queue)
{
	return report_queue->waited;
}

void report_queue_free(struct report_queue *report_queue)
{
	if (!report_queue)
		return;
	report_queue_push(report_queue);
	pthread_mutex_lock(&report_queue->lock);
	report_queue->closing = true;
	pthread_cond_broadcast(&report_queue->work);
	pthread_mutex_unlock(&report_queue->lock);
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (report_queue->writers[i].has_thread)
			pthread_join(report_queue->writers[i].thread, NULL);
	pthread_cond_destroy(&report_queue->progressed);
	pthread_cond_destroy(&report_queue->work);
	pthread_mutex_destroy(&report_queue->lock);
	for (size_t i = 0; i < QUEUE_LEN; i++)
		free_note(&report_queue->queue[i]);
	free(report_queue->queue);
	free(report_queue);
}
