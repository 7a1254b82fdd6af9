/*
 * Writes files into the report, each of its parts in a thread of its own: with a GPU, putting three
 * lines together for each of some hundred thousand files would take the conductor longer than all
 * the rest it does.
 */
#ifndef BURIN_REPORT_REPORT_QUEUE_H
#define BURIN_REPORT_REPORT_QUEUE_H

#include "output/progress.h"
#include "report/report.h"

struct scribe;

/* The report and progress (NULL: none) are the caller's; until scribe_free nobody else may write to
 * them, but for progress_update. failed is called, perhaps in other threads, for every failure of
 * report_file_part. Where no thread is to be had, the caller's does the work. Never NULL. All
 * functions are called by one thread. */
struct scribe *scribe_new(struct report *report, struct progress *progress,
	void (*failed)(void *context, int status, const struct error *error), void *context);

/* The next file. The record is copied, and its path taken over; the other texts must live until
 * scribe_free. Waits while the queue is full. It may lie there until the next call of a function
 * below. */
void scribe_file(struct scribe *scribe, const struct file_record *record);
/* There may be no more files for a while. */
void scribe_push(struct scribe *scribe);
/* Waits until all files are in the report. */
void scribe_finish(struct scribe *scribe);
/* The same, and brings the report to the disk. Result as for report_flush. */
int scribe_flush(struct scribe *scribe, struct error *error);

/* Waited so far, seconds. */
double scribe_waited(const struct scribe *scribe);

/* Finishes. NULL is fine. */
void scribe_free(struct scribe *scribe);

#endif
