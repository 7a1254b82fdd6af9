/*
 * Files on their way into the reports: the caller adds them in order, several threads format their lines,
 * and write them in that order, so that neither holds up decisions. All functions but those of the source
 * are called by one thread.
 */
#ifndef BURIN_REPORT_REPORT_QUEUE_H
#define BURIN_REPORT_REPORT_QUEUE_H

#include "report/progress.h"
#include "report/report.h"

struct report_queue;

/* What the queue's items are: it knows only their addresses. */
struct report_source {
	/* The file's record, in scratch or elsewhere, and until close. In any thread, also again for the
	 * same item. */
	const struct file_record *(*open)(void *context, void *item, void *scratch);
	void (*close)(void *context, void *item, void *scratch);
	size_t scratch_len; /* bytes that each thread has for it */
	/* No report needs it any more: frees what it owns. In any thread. */
	void (*release)(void *context, void *item);
	/* And then, in the caller's thread, in order, at the latest in report_queue_free. The item's memory is in other
	 * processors' caches: it had better not be touched. */
	void (*done)(void *context, void *item);
	void *context;
};

struct report_queue_options {
	struct report *report;
	struct progress *progress; /* gets every file; NULL: none */
	unsigned threads;          /* that format and write */
	/* Called, possibly in other threads, for every failure of report_begin or report_write_part. */
	void (*failed)(void *context, int status, const struct error *error);
	void *context;
	struct report_source source;
};

/* What the options point to must outlive it; until report_queue_free nothing else may write to the report and
 * the progress, except progress_update. Where no thread can be started, the caller's does the work. Never
 * NULL. */
struct report_queue *report_queue_new(const struct report_queue_options *options);

/* The next file. The item must stay as it is until it is given back. Waits while the queue is full. It may
 * stay unwritten until the next call of a function below. */
void report_queue_add(struct report_queue *queue, void *item);
/* To be called when there may be no more files for a while. */
void report_queue_push(struct report_queue *queue);
/* Waits until all files are in the report. */
void report_queue_finish(struct report_queue *queue);
/* The same, and flushes the report. Result as for report_flush. */
int report_queue_flush(struct report_queue *queue, struct error *error);

/* Seconds spent waiting so far. */
double report_queue_waited(const struct report_queue *queue);

/* Finishes. NULL is fine. */
void report_queue_free(struct report_queue *queue);

#endif
