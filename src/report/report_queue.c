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
#include <time.h>

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
	struct scribe *scribe;
	size_t part;
	bool has_thread;
	pthread_t thread;
	uint64_t done; /* under the lock */
};

struct scribe {
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

static struct note *note_at(struct scribe *scribe, uint64_t number)
{
	return &scribe->queue[number % QUEUE_LEN];
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_notes(struct writer *writer, uint64_t from, uint64_t to)
{
	struct scribe *scribe = writer->scribe;

	for (uint64_t number = from; number < to; number++) {
		const struct file_record *record = &note_at(scribe, number)->record;
		struct error error = { 0 };
		int status = report_file_part(scribe->report, writer->part, record, &error);

		if (status)
			scribe->failed(scribe->context, status, &error);
		if (scribe->progress && writer->part == LEADER)
			progress_file(scribe->progress, record);
	}
}

static void *work(void *arg)
{
	struct writer *writer = arg;
	struct scribe *scribe = writer->scribe;

	pthread_mutex_lock(&scribe->lock);
	while (writer->done < scribe->given || !scribe->closing) {
		uint64_t from = writer->done, to = scribe->given;

		if (from == to) {
			scribe->sleeping++;
			pthread_cond_wait(&scribe->work, &scribe->lock);
			scribe->sleeping--;
			continue;
		}
		if (to - from > AT_ONCE)
			to = from + AT_ONCE;
		pthread_mutex_unlock(&scribe->lock);
		write_notes(writer, from, to);
		pthread_mutex_lock(&scribe->lock);
		writer->done = to;
		if (scribe->waiting)
			pthread_cond_signal(&scribe->progressed);
	}
	pthread_mutex_unlock(&scribe->lock);
	return NULL;
}

static void start_threads(struct scribe *scribe)
{
	for (size_t i = 0; i < REPORT_PARTS; i++) {
		struct writer *writer = &scribe->writers[i];

		writer->scribe = scribe;
		writer->part = i;
		writer->has_thread = thread_start(&writer->thread, work, writer) == 0;
	}
}

struct scribe *scribe_new(struct report *report, struct progress *progress,
	void (*failed)(void *context, int status, const struct error *error), void *context)
{
	struct scribe *scribe = xcalloc(1, sizeof(*scribe));

	scribe->report = report;
	scribe->progress = progress;
	scribe->failed = failed;
	scribe->context = context;
	scribe->queue = xcalloc(QUEUE_LEN, sizeof(*scribe->queue));
	scribe->room_until = QUEUE_LEN;
	pthread_mutex_init(&scribe->lock, NULL);
	pthread_cond_init(&scribe->work, NULL);
	pthread_cond_init(&scribe->progressed, NULL);
	start_threads(scribe);
	return scribe;
}

/* ---- handing over -------------------------------------------------------------------------- */

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t least_done(const struct scribe *scribe)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (scribe->writers[i].done < least)
			least = scribe->writers[i].done;
	return least;
}

/* Until all writers have done so many notes. They must have been given. */
static void wait_until_done(struct scribe *scribe, uint64_t count)
{
	double from = now();

	pthread_mutex_lock(&scribe->lock);
	scribe->waiting = true;
	while (least_done(scribe) < count)
		pthread_cond_wait(&scribe->progressed, &scribe->lock);
	scribe->waiting = false;
	scribe->room_until = least_done(scribe) + QUEUE_LEN;
	pthread_mutex_unlock(&scribe->lock);
	scribe->waited += now() - from;
}

void scribe_push(struct scribe *scribe)
{
	if (scribe->given == scribe->filled) /* nobody else changes it */
		return;
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (!scribe->writers[i].has_thread)
			write_notes(&scribe->writers[i], scribe->given, scribe->filled);
	pthread_mutex_lock(&scribe->lock);
	scribe->given = scribe->filled;
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (!scribe->writers[i].has_thread)
			scribe->writers[i].done = scribe->given;
	scribe->room_until = least_done(scribe) + QUEUE_LEN;
	if (scribe->sleeping)
		pthread_cond_broadcast(&scribe->work);
	pthread_mutex_unlock(&scribe->lock);
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

void scribe_file(struct scribe *scribe, const struct file_record *record)
{
	if (scribe->filled - scribe->given == AT_ONCE)
		scribe_push(scribe);
	if (scribe->filled == scribe->room_until) { /* full: waits until there is room for some */
		scribe_push(scribe);
		wait_until_done(scribe, scribe->filled - QUEUE_LEN + AT_ONCE);
	}
	fill_note(note_at(scribe, scribe->filled), record);
	scribe->filled++;
}

void scribe_finish(struct scribe *scribe)
{
	scribe_push(scribe);
	wait_until_done(scribe, scribe->filled);
}

int scribe_flush(struct scribe *scribe, struct error *error)
{
	scribe_finish(scribe);
	return report_flush(scribe->report, error);
}

double scribe_waited(const struct scribe *scribe)
{
	return scribe->waited;
}

void scribe_free(struct scribe *scribe)
{
	if (!scribe)
		return;
	scribe_push(scribe);
	pthread_mutex_lock(&scribe->lock);
	scribe->closing = true;
	pthread_cond_broadcast(&scribe->work);
	pthread_mutex_unlock(&scribe->lock);
	for (size_t i = 0; i < REPORT_PARTS; i++)
		if (scribe->writers[i].has_thread)
			pthread_join(scribe->writers[i].thread, NULL);
	pthread_cond_destroy(&scribe->progressed);
	pthread_cond_destroy(&scribe->work);
	pthread_mutex_destroy(&scribe->lock);
	for (size_t i = 0; i < QUEUE_LEN; i++)
		free_note(&scribe->queue[i]);
	free(scribe->queue);
	free(scribe);
}
