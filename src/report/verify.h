/* Compares an output folder with its report: every file is hashed again. */
#ifndef BURIN_REPORT_VERIFY_H
#define BURIN_REPORT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum verify_state {
	VERIFY_OK,        /* size and all hashes agree */
	VERIFY_SIZE_ONLY, /* the size agrees; the report holds no hash */
	VERIFY_MISSING,
	VERIFY_SIZE,       /* the size differs */
	VERIFY_HASH,       /* a hash differs */
	VERIFY_UNREADABLE, /* an error, a symbolic link, no plain file */
	VERIFY_UNLISTED,   /* in the folder, but not in the report */
	VERIFY_STATES,
};

/* "ok", "ok (size only)", "missing", "size differs", "hash differs", "unreadable", "not in the
 * report". */
const char *verify_state_name(enum verify_state state);

struct verify_counts {
	uint64_t files[VERIFY_STATES];
	uint64_t bytes;        /* that were hashed */
	bool run_was_complete; /* the report has a summary; false for a killed run or a filtered
				  report */
};

/* True when every file is as reported, and there is no other. */
bool verify_is_clean(const struct verify_counts *counts);

/* Reads a folder's report.jsonl, hashes each file, then names the files that the report does not
 * list, sorted. each: called for every file; name is relative to the folder, detail "" or what is
 * wrong in words (valid during the call). Symbolic links are never followed below path. Returns 0
 * when everything was checked, whatever was found; a negative errno with error set when folder or
 * report can't be read, or the report is of a dry run. */
int verify_folder(const char *path,
	void (*each)(void *context, const char *name, enum verify_state state, const char *detail),
	void *context, struct verify_counts *counts, struct error *error);

#endif
