/*
 * The reports of a run: audit.txt (Scalpel's look), report.jsonl (tests/report.schema.json) and
 * report.xml (DFXML). Each is a plug-in behind struct reporter; report.c calls them all.
 */
#ifndef BURIN_REPORT_REPORT_H
#define BURIN_REPORT_REPORT_H

#include <stdio.h>

#include "report/record.h"
#include "output/output_dir.h"

struct report;

/* The longest line about the evidence, which a run completes in place. */
#define REPORT_HEADLINE_LEN 208

/* Creates the report files in the folder and writes their heads. The output_dir and what run points to
 * must live until report_close. */
int report_open(struct report **report, struct output_dir *output_dir, const struct run_record *run,
	struct error *error);
/* For a checkpoint: how far the reports are, so many files. Call report_flush before. */
void report_save(const struct report *report, uint64_t files, struct codec_writer *writer);
/* Instead of report_open: goes on with the reports of an earlier run where they were when they were
 * saved. Returns 0 or a negative errno with error set. What can't have been saved fails the reader;
 * *report is NULL then. */
int report_reopen(struct report **report, struct output_dir *output_dir,
	const struct run_record *run, struct codec_reader *reader, struct error *error);
/* One carved file, in order. Returns 0 or a negative errno (disk full) with the words in error; the
 * record is kept all the same and written with the next one, or by report_close, if there is room
 * again. */
int report_add(struct report *report, const struct file_record *file, struct error *error);
/* The same for one of the report's files, 0 .. REPORT_PARTS - 1. Different parts may be written by
 * different threads at the same time. */
#define REPORT_PARTS 3
int report_add_part(
	struct report *report, size_t part, const struct file_record *file, struct error *error);
/* Brings to the disk what report_add still holds back (up to a second's worth, or 256 KiB). Worth
 * calling now and then while nothing is found. Not at the same time as report_add. */
int report_flush(struct report *report, struct error *error);
/* Writes the sums, completes and closes all files, also after report_add failed: what could be
 * written stays readable. Frees the report. */
int report_close(struct report *report, const struct summary_record *summary, struct error *error);

/* A headline of plain text: before, then what is to be said about the evidence. */
void report_headline(char *text, const char *before, const struct summary_record *summary);

/* What a plug-in offers; report/audit.c, jsonl.c, dfxml.c each define one. A write to the stream
 * never fails there: it ends in memory (report/report_file.h). All three return 0 or a negative
 * errno. */
struct reporter {
	const char *file_name;
	/* What is known only at the end and belongs to the top: writes at most REPORT_HEADLINE_LEN
	 * characters, always as many, and a zero. summary NULL: what stands there until then, which
	 * open must have written. */
	void (*headline)(char *text, const struct summary_record *summary);
	int (*open)(void **state, FILE *stream, const struct run_record *run);
	/* The head is written, and so many files. NULL: nothing to do. */
	void (*skip)(void *state, uint64_t files);
	int (*file)(void *state, const struct file_record *file);
	int (*close)(void *state,
		const struct summary_record *summary); /* frees state, not the stream */
};

extern const struct reporter audit_reporter, jsonl_reporter, dfxml_reporter;
/* All of them, ended by NULL. */
extern const struct reporter *const reporters[];

/* Whether burin keeps something of its own at this path of an output folder: a report, its page,
 * the map, the checkpoint. No carved file has such a path. */
bool report_owns(const char *path);

#endif
