/*
 * The files that were decided on, until they are in the reports: their memory, what is said of each
 * once it was written, and the sums over those that were reported. One thread.
 */
#ifndef BURIN_CARVE_KEPT_FILES_H
#define BURIN_CARVE_KEPT_FILES_H

#include "carve/carving.h"
#include "carve/job.h"
#include "carve/record_builder.h"
#include "carve/tracker.h"
#include "report/report_queue.h"

struct kept_files {
	const struct carving_options *options;
	struct record_builder *record_builder;
	struct tracker *tracker;
	struct report_queue *queue; /* NULL with on_outcome: then no files are kept */
	struct kept_file **spare;   /* to be used again */
	size_t spare_count, spare_capacity;
	uint64_t waiting; /* that are not reported yet */
	struct file_sums sums;
	uint64_t mismatches; /* hashes that differ from those expected */
};

/* What it is given must outlive it. The tracker gets the reports' failures. */
void kept_files_open(struct kept_files *files, const struct carving_options *options,
	struct record_builder *record_builder, struct tracker *tracker);
/* Frees all but the files that were neither reported nor dropped. Zeros are fine. */
void kept_files_close(struct kept_files *files);

/* Bytes that those which wait take. */
size_t kept_files_len(const struct kept_files *files);
/* That each of them may take. */
size_t kept_files_each(const struct kept_files *files);

/* The job's candidate becomes a file of that length, whose plan the caller fills in. */
struct kept_file *kept_files_add(struct kept_files *files, struct carve_job *job, uint64_t length);
/* The job is this file, whose record was given: path and runs are taken over, and NULL afterwards. */
struct kept_file *kept_files_add_given(
	struct kept_files *files, struct carve_job *job, struct file_record *record);
/* It will be read: makes room for its record, which kept_file_build then fills in, in any thread, unless it was
 * given. */
void kept_files_begin(const struct kept_files *files, struct kept_file *file);
void kept_file_build(struct record_builder *record_builder, struct kept_file *file);
/* For a checkpoint, also while it is being written. */
void kept_files_save(
	const struct kept_files *files, const struct kept_file *file, struct codec_writer *writer);
/* It was written, or could not be: counts it, or why there is none, and passes it to the reports. */
void kept_files_report(struct kept_files *files, struct kept_file *file);
/* It was neither. */
void kept_files_drop(struct kept_files *files, struct kept_file *file);

/* All of them were reported again, to this report. */
void kept_files_were_reported(
	struct kept_files *files, struct report *report, const struct file_sums *sums);

#endif
