/*
 * What a run of any carver reports, in one form: burin's report.jsonl, the audit.txt of Scalpel and
 * of Foremost, PhotoRec's report.xml (or any DFXML with offsets in the image). The format is
 * detected from the content.
 */
#ifndef BURIN_COMPARE_LISTING_H
#define BURIN_COMPARE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ranges.h"
#include "hashing/hash.h"

enum listing_tool { TOOL_BURIN, TOOL_SCALPEL, TOOL_FOREMOST, TOOL_PHOTOREC, TOOL_DFXML };

struct listed {
	char *path; /* as the report names it, cleaned */
	char *type; /* burin: the rule's name; other tools: the extension, in lower case; "" for
		       none */
	char *extension;     /* in lower case, "" for none */
	const char *status;  /* "complete", "truncated", "unverified"; "" if the tool has none */
	char *note;          /* why it ended where it did, or what the tool adds; "" */
	uint64_t offset;     /* of its first byte in the image */
	uint64_t length;     /* bytes */
	uint64_t length_off; /* bytes that may be missing in length: Foremost's audit rounds to KB.
				0: exact */
	struct range *runs;  /* its bytes in the image */
	size_t run_count;
	struct hashes hashes;
	bool chopped; /* cut at the rule's largest size */
};

struct listing {
	char *path; /* of the report */
	enum listing_tool tool;
	char *version, *image_path; /* from the report, cleaned; "" when missing */
	char *rules_path, *rules_sha256;
	char *types, *space;                   /* burin's options; "" where not given */
	uint64_t image_size;                   /* bytes; 0: not known */
	uint64_t sector_size;                  /* bytes; 0: not known */
	bool ended;                            /* false: the run, or its report, is not complete */
	bool both, nested, strict, skip_known; /* burin's options */
	uint64_t align, range_offset, range_length;
	struct listed *files; /* by offset, then length, then path */
	size_t count, capacity;
};

const char *listing_tool_name(enum listing_tool tool); /* "burin", "Scalpel", ... */

/* Reads a report, or the one in the folder path: report.jsonl, report.xml, audit.txt, the first
 * that exists. Errors (EXIT_IO, EXIT_USAGE for the content) name it. The caller owns *listing. */
int listing_open(struct listing **listing, const char *path, struct error *error);
/* NULL is fine. */
void listing_free(struct listing *listing);

/* ---- for the readers ----------------------------------------------------------------------- */

/* A new file at the end, with empty texts; valid until the next call. */
struct listed *listing_add(struct listing *listing);
/* Replaces the text at *place by a cleaned copy of text. */
void listing_set(char **place, const char *text);
/* Sets path, and derives extension and type from it. */
void listing_name(struct listed *file, const char *path);
void listing_add_run(struct listed *file, uint64_t offset, uint64_t length);

/* Add the files of a report of that kind, which is at listing->path. 0, or a negative errno with error set. */
int listing_read_burin(struct listing *listing, struct error *error);
int listing_read_audit(struct listing *listing, struct error *error);
int listing_read_dfxml(struct listing *listing, struct error *error);

#endif
