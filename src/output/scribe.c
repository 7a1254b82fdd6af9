/*
 * A ring of records between two threads. The writer takes some of them at a time, so that the lock
 * is taken seldom, and not all, so that the other thread does not wait for room longer than it
 * must.
 */
#include "output/scribe.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

#define QUEUE_LEN 2048
#define AT_ONCE 64

struct note {
	struct file_record record;
	struct range run; /* the record's, when it has only one */
};

struct scribe {
	struct report *report;
	struct progress *progress;
	void (*failed)(void *context, int status, const struct error *error);
	void *context;
	bool has_thread;
	pthread_t thread;
	double waited;

	pthread_mutex_t lock; /* over all that follows, but for the notes in [done, taken) */
	pthread_cond_t work, room;
	struct note *queue;
	uint64_t done, given; /* counts since the start; note n lies at n % QUEUE_LEN */
	bool sleeping, closing;
};

static struct note *note_at(struct scribe *scribe, uint64_t number)
{
	return &scribe->queue[number % QUEUE_LEN];
}

static void write_note(struct scribe *scribe, struct note *note)
{
	struct error error = { 0 };
	int status = report_file(scribe->report, &note->record, &error);

	if (status)
		scribe->failed(scribe->context, status, &error);
	if (scribe->progress)
		progress_file(scribe->progress, &note->record);
	if (note->record.runs != &note->run)
		free(note->record.runs);
	free(note->record.path);
}

static void *work(void *arg)
{
	struct scribe *scribe = arg;

	pthread_mutex_lock(&scribe->lock);
	for (;;) {
		uint64_t from = scribe->done, to = scribe->given;

		if (from == to && scribe->closing)
			break;
		if (from == to) {
			scribe->sleeping = true;
			pthread_cond_wait(&scribe->work, &scribe->lock);
			scribe->sleeping = false;
			continue;
		}
		if (to - from > AT_ONCE)
			to = from + AT_ONCE;
		pthread_mutex_unlock(&scribe->lock);
		for (uint64_t number = from; number < to; number++)
			write_note(scribe, note_at(scribe, number));
		pthread_mutex_lock(&scribe->lock);
		scribe->done = to;
		pthread_cond_signal(&scribe->room);
	}
	pthread_mutex_unlock(&scribe->lock);
	return NULL;
}

/* Signals are for the main thread. */
static void start_thread(struct scribe *scribe)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	scribe->has_thread = pthread_create(&scribe->thread, NULL, work, scribe) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
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
	pthread_mutex_init(&scribe->lock, NULL);
	pthread_cond_init(&scribe->work, NULL);
	pthread_cond_init(&scribe->room, NULL);
	start_thread(scribe);
	return scribe;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Under the lock: until at most so many notes are left. */
static void wait_for(struct scribe *scribe, uint64_t left)
{
	double from;

	if (scribe->given - scribe->done <= left)
		return;
	from = now();
	while (scribe->given - scribe->done > left)
		pthread_cond_wait(&scribe->room, &scribe->lock);
	scribe->waited += now() - from;
}

static void fill_note(struct note *note, const struct file_record *record)
{
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
	pthread_mutex_lock(&scribe->lock);
	wait_for(scribe, QUEUE_LEN - 1);
	fill_note(note_at(scribe, scribe->given), record);
	if (scribe->has_thread) {
		scribe->given++;
		if (scribe->sleeping)
			pthread_cond_signal(&scribe->work);
	} else {
		write_note(scribe, note_at(scribe, scribe->given));
	}
	pthread_mutex_unlock(&scribe->lock);
}

void scribe_finish(struct scribe *scribe)
{
	pthread_mutex_lock(&scribe->lock);
	wait_for(scribe, 0);
	pthread_mutex_unlock(&scribe->lock);
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
	pthread_mutex_lock(&scribe->lock);
	scribe->closing = true;
	pthread_cond_signal(&scribe->work);
	pthread_mutex_unlock(&scribe->lock);
	if (scribe->has_thread)
		pthread_join(scribe->thread, NULL);
	pthread_cond_destroy(&scribe->room);
	pthread_cond_destroy(&scribe->work);
	pthread_mutex_destroy(&scribe->lock);
	free(scribe->queue);
	free(scribe);
}
