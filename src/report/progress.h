/*
 * How far a run is: a line on stderr for people, events on stdout for programs (--json). Only one
 * run at a time may overwrite its line on a terminal; messages of base/log.h and the line don't
 * garble each other. Several runs at a time must use PROGRESS_LINES, or be parts of
 * a whole.
 */
#ifndef BURIN_REPORT_PROGRESS_H
#define BURIN_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/record.h"

enum progress_style {
	PROGRESS_AUTO,     /* PROGRESS_TERMINAL where stderr is one, else PROGRESS_LINES */
	PROGRESS_TERMINAL, /* one line, written over at most twice a second */
	PROGRESS_LINES,    /* a line now and then: every 30 seconds */
};

/* What else hears of a run's progress; functions may be NULL. */
struct progress_listener {
	void (*update)(void *context, uint64_t done, uint64_t total, uint64_t files);
	void (*file)(void *context, const struct file_record *file);
	void *context;
};

struct progress_options {
	bool quiet; /* nothing on stderr */
	bool json;  /* events on stdout, one object a line: start, progress, file, done */
	enum progress_style style;
	const struct progress_listener
		*listener; /* NULL: none; called as events would be written */
	const char *label; /* which of several images, for lines and events; NULL: there is one */
};

struct progress;

/* total: bytes that will be scanned. Never NULL. The label must live until progress_close. */
struct progress *progress_open(const struct progress_options *options, uint64_t total);
/* From now on errors and warnings are events, too: {"event":"error","text":...}. */
void progress_log_events(void);
/* Reports {"event":"start","image":...,"output":...,"total":...}. */
void progress_start(struct progress *progress, const struct run_record *run);

/* The run continues one that had found this many files in this many seconds. */
void progress_resume(struct progress *progress, uint64_t files, double seconds);

/* done: bytes scanned so far. Cheap enough to be called for every chunk; thread-safe. */
void progress_update(struct progress *progress, uint64_t done);

/* A carved file, in the report's order: counted, and reported as {"event":"file", ...the record's
 * fields...}. Thread-safe. */
void progress_file(struct progress *progress, const struct file_record *file);
/* The same for several, where nobody needs their records: where progress_wants_files is false. */
void progress_files(struct progress *progress, uint64_t count);
bool progress_wants_files(const struct progress *progress);

/* Clears the line, reports {"event":"done","exit":...} and frees. NULL is fine. */
void progress_close(struct progress *progress, int exit_code);

/* A run that is a part of a whole, such as one of several images that are carved at a time: its listener
 * counts its files for the whole, and how far it is, by its weight (bytes). One thread at a time. */
struct progress_part {
	struct progress *whole;
	uint64_t weight, counted;
	struct progress_listener listener;
};

/* The part must stay where it is until progress_part_end, which counts the rest of its weight. */
void progress_part_begin(struct progress_part *part, struct progress *whole, uint64_t weight);
void progress_part_end(struct progress_part *part);

/* The text of the line, cut to width - 1 columns (width 0: not cut): "12.3 GiB of 27.1 GiB (45%),
 * 512.0 MiB/s, 0:29 left, 12 files". seconds: since the start. Returns buffer. */
char *progress_format(uint64_t done, uint64_t total, uint64_t files, double seconds, unsigned width,
	char *buffer, size_t len);

#endif
