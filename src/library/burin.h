/*
 * libburin: finds files in disk images by their content, as the program burin does. burin(3) has an
 * example.
 *
 * Errors: what can fail returns BURIN_CLEAN or another enum burin_code, and fills in the struct burin_error
 * that it is given (NULL: nobody wants to know). The library prints nothing, does not end the process, and
 * leaves signals alone; it aborts where the C library has no memory left for something small.
 *
 * Threads: each object is used by one thread at a time, unless a function says otherwise; different objects
 * may be used at the same time. Only one run can be under way in a process: a second burin_run_carve fails
 * with BURIN_USAGE.
 *
 * Texts are UTF-8 without control characters, whatever the evidence holds.
 */
#ifndef BURIN_H
#define BURIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The exit codes of the program. */
enum burin_code {
	BURIN_CLEAN = 0,     /* finished, without problems */
	BURIN_PROBLEMS = 1,  /* finished, with problems that the report lists */
	BURIN_USAGE = 2,     /* a wrong argument or option, or a rule file with an error */
	BURIN_IO = 3,        /* evidence or report unreadable, or output unwritable */
	BURIN_NO_ENGINE = 4, /* the engine that was asked for is not available */
	BURIN_CANCELLED = 130,
};

struct burin_error {
	int code; /* enum burin_code */
	char text[1024];
};

/* The release and the commit: "0.1.0 (1a2b3c4)". */
const char *burin_release(void);

/* ---- evidence ---- */

/* A disk image of any kind that burin reads, opened read-only. */
struct burin_image;

int burin_image_open(struct burin_image **image, const char *path, struct burin_error *error);
uint64_t burin_image_size(const struct burin_image *image);      /* bytes */
const char *burin_image_format(const struct burin_image *image); /* "raw", "ewf", ... */
/* Reads exactly len bytes. BURIN_IO where the evidence can't be read. Thread-safe. */
int burin_image_read(struct burin_image *image, uint64_t offset, void *buffer, size_t len,
	struct burin_error *error);
/* NULL is fine. */
void burin_image_close(struct burin_image *image);

/* ---- files ---- */

/* A file that was found. Who hands one out says how long it lives. */
struct burin_file;

uint64_t burin_file_offset(struct burin_file *file); /* of its start in the image */
uint64_t burin_file_length(struct burin_file *file); /* bytes */
/* A column of `burin export`: "path", "type", "kind", "status", "sha256", "fs_path", "time" ..., numbers in
 * decimal. NULL: not known, or there is no such column. Valid as long as the file. */
const char *burin_file_get(struct burin_file *file, const char *column);
/* Its extents in the image, in the order of the file. */
size_t burin_file_extent_count(struct burin_file *file);
void burin_file_extent(struct burin_file *file, size_t index, uint64_t *offset, uint64_t *length);
/* Its line in report.jsonl. Valid as long as the file. */
const char *burin_file_json(struct burin_file *file);
/* Reads at most len bytes of the file at offset from its image, whether it was written or not. Returns how
 * many, 0 at its end, or -1 with error set. */
int64_t burin_file_read(struct burin_file *file, struct burin_image *image, uint64_t offset,
	void *buffer, size_t len, struct burin_error *error);

/* ---- reports ---- */

/* The report.jsonl of a run. */
struct burin_report;

/* path: of the report, or of the output folder that holds it. */
int burin_report_open(struct burin_report **report, const char *path, struct burin_error *error);
/* The first line of report.jsonl: image, rules, options. Valid until burin_report_close. */
const char *burin_report_run_json(const struct burin_report *report);
/* Where the report's image is. Valid until burin_report_close. */
const char *burin_report_image(const struct burin_report *report);
/* The next file, valid until the next call; NULL at the end. */
int burin_report_next(
	struct burin_report *report, struct burin_file **file, struct burin_error *error);
/* NULL is fine. */
void burin_report_close(struct burin_report *report);

/* ---- runs ---- */

/* What a run is asked to do. */
struct burin_run;

/* Never NULL. */
struct burin_run *burin_run_new(void);
/* An option of `burin carve` by its long name: ("types", "jpeg,png"), ("dry-run", NULL). Options that take
 * lists add up, others are given once. BURIN_USAGE: there is no such option, it is for the command line
 * only, or the value is not one. */
int burin_run_set(
	struct burin_run *run, const char *option, const char *value, struct burin_error *error);

/*
 * What to call during the run, in threads of the library: file and progress never at the same time, message
 * at any. They may use what they are given, and call burin_run_cancel.
 *
 * file: as soon as it is in the report; valid during the call. Where a file in pieces takes the place of
 * others at the end of a run, only the report has it: read that for the whole result.
 */
void burin_run_on_file(
	struct burin_run *run, void (*file)(void *context, struct burin_file *file), void *context);
/* done, total: bytes searched; twice a second at most, and at the end. */
void burin_run_on_progress(struct burin_run *run,
	void (*progress)(void *context, uint64_t done, uint64_t total, uint64_t files),
	void *context);
enum burin_level { BURIN_ERROR, BURIN_WARNING, BURIN_INFO };
void burin_run_on_message(struct burin_run *run,
	void (*message)(void *context, enum burin_level level, const char *text), void *context);

/* Carves an image into a folder, which must be new or empty. Returns how it ended; BURIN_PROBLEMS is no
 * failure. A run can carve several images one after the other: rules and lists are read for the first. */
int burin_run_carve(
	struct burin_run *run, const char *image, const char *output, struct burin_error *error);
/* Ends the run soon, with complete reports; `burin carve --resume` can continue it. It may be called by any
 * thread, and by a handler of signals; before burin_run_carve, too. */
void burin_run_cancel(struct burin_run *run);
/* NULL is fine. */
void burin_run_free(struct burin_run *run);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
