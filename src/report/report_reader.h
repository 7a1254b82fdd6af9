/*
 * Reads a report.jsonl back, record by record. The file may have been filtered, edited or made up:
 * everything in it is checked. File records may be missing or in any order, the summary may be
 * missing, and an incomplete last line (of a killed run) is ignored; the run's record must be the
 * first line.
 */
#ifndef BURIN_REPORT_REPORT_READER_H
#define BURIN_REPORT_REPORT_READER_H

#include <jansson.h>

#include "report/record.h"

struct report_reader;

/* From the run's record, valid until report_reader_close. Texts are never NULL ("" when missing).
 */
struct report_reader_run {
	const char *burin;      /* version */
	const char *image_path; /* as given to that run */
	const char *image_absolute;
	const char *image_format;
	uint64_t image_size; /* bytes; every run of every file is inside */
	char stored_md5[33],
		stored_sha1[41]; /* hex in lower case; "" when the evidence stores none */
	const char *rules_path;
	const char *rules_sha256;
	const char *types; /* that were selected, as --types takes them; "": all */
	const char *space; /* "unallocated", "allocated"; "": all was searched */
	bool dry_run;      /* no files were written */
	bool both, nested, strict;
	uint64_t align, range_offset, range_length; /* 0 where not given */
};

/* path: of a report, or of the output folder that holds it. Returns that of the report, which the caller frees. */
char *report_reader_path(const char *path);

/* Opens a report and reads its first record. path: relative to dir_fd, a folder's descriptor, in
 * which case it must be a plain file and symbolic links are not followed; or dir_fd is AT_FDCWD,
 * and any file will do, a pipe too. Errors (EXIT_IO) name file and line. On success the
 * caller owns *report. */
int report_reader_open(
	struct report_reader **report, int dir_fd, const char *path, struct error *error);
const struct report_reader_run *report_reader_run(const struct report_reader *report);

/* Where the report's image is: at the path as it was typed, or, seen from another folder, at the absolute
 * one. Valid like report_reader_run. */
const char *report_reader_image(const struct report_reader *report);
/* Whether an image, which is at path, can be that of the report: 0, or -EINVAL (EXIT_USAGE). */
int report_reader_check_image(const struct report_reader *report, const struct image *image,
	const char *path, struct error *error);

/* Reads the next file record. Returns 1, 0 at the end, or a negative errno with "FILE:LINE: ..." in
 * error. Checked: path is relative, of plain components and clean text; type and extension are
 * plain names; the runs are inside the image and add up to length; hashes are hex, made lower case.
 * Missing fields other than path, type, offset, length and runs are empty. The record and all it
 * points to are valid until the next call. */
int report_reader_next(struct report_reader *report, struct file_record *file, struct error *error);

/* True once the summary was read: the run was finished. */
bool report_reader_saw_summary(const struct report_reader *report);

/* The records as they are in the file, unchecked: the run's, that of the file that
 * report_reader_next returned last, and the summary's, which is NULL when it is missing, not read
 * yet, or too long to be kept. The first and the last are valid until report_reader_close. */
const json_t *report_reader_run_record(const struct report_reader *report);
const json_t *report_reader_file_record(const struct report_reader *report);
const json_t *report_reader_summary_record(const struct report_reader *report);

/* NULL is fine. */
void report_reader_close(struct report_reader *report);

#endif
