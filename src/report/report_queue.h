/*
 * Writes file records into the reports, each report in a thread of its own: with a GPU, formatting
 * three lines for each of several hundred thousand files would take the main thread longer than
 * everything else it does.
 */
#ifndef BURIN_REPORT_REPORT_QUEUE_H
#define BURIN_REPORT_REPORT_QUEUE_H

#include "report/progress.h"
#include "report/report.h"

struct report_queue;

/* The report and progress (NULL: none) are the caller's; until report_queue_free nothing else may
 * write to them, except progress_update. failed is called, possibly in other threads, for every
 * failure of report_add_part or report_flush_part. done gets each record when no report needs it any more, in order and
 * in the caller's thread, at the latest in report_queue_free. Where no thread can be started, the caller's does the work. Never
 * NULL. All functions are called by one thread. */
struct report_queue *report_queue_new(struct report *report, struct progress *progress,
	void (*failed)(void *context, int status, const struct error *error), void *context,
	void (*done)(void *context, struct file_record *record), void *done_context);

/* The next file. The record and all that it points to must stay as they are until it is given back.
 * Waits while the queue is full. The record may stay unwritten until the next call of a function
 * below. */
void report_queue_add(struct report_queue *queue, struct file_record *record);
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
