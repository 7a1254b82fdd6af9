/*
 * The reports of a run: audit.txt (as Scalpel writes it), report.jsonl (tests/report.schema.json)
 * and report.xml (DFXML). Each is a plug-in with a struct reporter; report.c calls them all.
 */
#ifndef BURIN_REPORT_REPORT_H
#define BURIN_REPORT_REPORT_H

#include <stdio.h>

#include "base/strbuf.h"
#include "report/record.h"
#include "output/output_dir.h"

struct report;

/* The length of the line about the evidence, which a run completes in place. */
#define REPORT_HEADLINE_LEN 208

/* Creates the report files in the folder and writes their heads; one that needs the run's volumes, which are
 * not known yet, with a later flush or the first file. The output_dir and what run points to must live until
 * report_close. */
int report_open(struct report **report, struct output_dir *output_dir, const struct run_record *run,
	struct error *error);
/* For a checkpoint: the lengths of the reports, after this many files. Call report_flush before. */
void report_save(const struct report *report, uint64_t files, struct codec_writer *writer);
/* Instead of report_open: opens the reports of an earlier run, to continue them from where they were
 * saved. It changes nothing, and report_close leaves the files as they are, until report_continue is
 * called. Returns 0 or a negative errno with error set. Invalid saved data fails the reader; *report
 * is NULL then. */
int report_reopen(struct report **report, struct output_dir *output_dir,
	const struct run_record *run, struct codec_reader *reader, struct error *error);
/* Cuts off what the reports got after they were saved. Returns 0 or a negative errno with error set. */
int report_continue(struct report *report, struct error *error);
/* One carved file, in order. Returns 0 or a negative errno (disk full), worded in error; the record
 * is kept all the same and written with the next one, or by report_close, if there is space again.
 */
int report_add(struct report *report, const struct file_record *file, struct error *error);
/* The same in three steps, for several threads (report/report_queue.h). First, by one thread: the number
 * of the first of `count` files that are next. */
uint64_t report_number(struct report *report, size_t count);
/* Then, by any number of them after report_begin was called once: appends what one of the report's files,
 * 0 .. REPORT_PARTS - 1, has of the file with that number. */
#define REPORT_PARTS 3
int report_begin(struct report *report, struct error *error);
void report_line(const struct report *report, size_t part, const struct file_record *file,
	uint64_t number, struct strbuf *lines);
/* And last, in order of the numbers, by one thread at a time for each part: adds the lines, and empties the
 * buffer. Writes what was added so far, if there is much of it or some time has passed. */
int report_write_part(
	struct report *report, size_t part, struct strbuf *lines, struct error *error);
/* Writes what report_add still buffers (up to a second's worth, or 256 KiB). Worth calling now and
 * then while nothing is found. Not at the same time as report_add. */
int report_flush(struct report *report, struct error *error);
/* Writes the sums, completes and closes all files, also after report_add failed: what could be
 * written stays readable. Frees the report. */
int report_close(struct report *report, const struct summary_record *summary, struct error *error);

/* ---- writing the reports a second time ---- */

/* Reports of the same run beside its reports, under temporary names: they replace these when they are
 * complete, so that nothing is lost if they can't be completed. Result as for report_open. */
int report_open_again(struct report **again, struct output_dir *output_dir,
	const struct run_record *run, struct error *error);
/* Gives the new reports their names. The old ones keep others, until the run is over: a run that is
 * resumed needs them. Frees the old one. Returns 0, or a negative errno with error set: then the old
 * ones are as before, and the new one is freed. */
int report_replace(struct report *old, struct report *again, struct error *error);
/* Removes and frees reports that are not needed. NULL is fine. */
void report_drop_again(struct report *again);
/* Removes the old reports: the run is over. */
void report_remove_old(struct output_dir *output_dir);

/* A headline of plain text: before, then the outcome for the evidence. */
void report_headline(char *text, const char *before, const struct summary_record *summary);

/* What a plug-in provides; audit.c, jsonl_report.c and dfxml.c each define one. A write to the
 * stream never fails there: it ends in memory (report/report_file.h). open and close return 0 or a
 * negative errno. */
struct reporter {
	const char *file_name;
	/* What is known only at the end but belongs at the top: writes a fixed number of
	 * characters, at most REPORT_HEADLINE_LEN, and a zero. summary NULL: the placeholder, which
	 * open must have written. */
	void (*headline)(char *text, const struct summary_record *summary);
	int (*open)(void **state, FILE *stream, const struct run_record *run);
	/* Appends what the report has of the file with that number, from 1 on. Any thread. */
	void (*line)(const void *state, const struct file_record *file, uint64_t number,
		struct strbuf *line);
	int (*close)(void *state,
		const struct summary_record *summary); /* frees state, not the stream */
	bool needs_volumes; /* its head has what is found out about them */
};

extern const struct reporter audit_reporter, jsonl_reporter, dfxml_reporter;
/* All of them, ends with NULL. */
extern const struct reporter *const reporters[];

/* What the page (page/page.h) consists of, in the output folder. */
#define PAGE_NAME "report.html"
#define PAGE_DATA_DIR "report.data/" /* the files' rows, when they are too many for the page */
#define PAGE_THUMBS_DIR "thumbs/"    /* thumbnails */

/* Whether burin keeps something of its own at this path of an output folder: a report, its page,
 * the content map, the checkpoint. No carved file has such a path. */
bool report_owns(const char *path);

#endif
