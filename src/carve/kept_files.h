/*
 * The files that were decided on, until they are in the reports: their memory, what is said of each
 * once it was written, and the sums over those that were reported. One thread.
 */
#ifndef BURIN_CARVE_KEPT_FILES_H
#define BURIN_CARVE_KEPT_FILES_H

#include "carve/carving.h"
#include "carve/job.h"
#include "carve/tracker.h"
#include "report/report_queue.h"

struct kept_files {
	const struct carving_options *options;
	struct tracker *tracker;
	struct report_queue *queue; /* NULL with on_outcome: then no files are kept */
	struct kept_file *spare;    /* to be used again */
	uint64_t waiting;           /* that are not reported yet */
	struct file_sums sums;
	uint64_t mismatches; /* hashes that differ from those expected */
};

/* The options and the tracker, which gets the reports' failures, must outlive it. */
void kept_files_open(
	struct kept_files *files, const struct carving_options *options, struct tracker *tracker);
/* Frees all but the files that were neither reported nor dropped. Zeros are fine. */
void kept_files_close(struct kept_files *files);

/* The job's candidate becomes a file: the caller fills in its record. */
struct kept_file *kept_files_add(struct kept_files *files, struct carve_job *job);
/* It will soon be reported: its memory is loaded meanwhile. */
void kept_files_expect(const struct kept_file *file);
/* It was written, or could not be: counts it, or why there is none, and passes it to the reports. */
void kept_files_report(struct kept_files *files, struct kept_file *file);
/* It was neither. */
void kept_files_drop(struct kept_files *files, struct kept_file *file);

/* All of them were reported again, to this report. */
void kept_files_were_reported(
	struct kept_files *files, struct report *report, const struct file_sums *sums);

#endif
