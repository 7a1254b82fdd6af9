/*
 * burin's test of itself on the machine at hand: it carves an image of known layout with every
 * engine, every GPU kernel and some chunk sizes, and compares the results with what was planted.
 */
#ifndef BURIN_SELFTEST_SELFTEST_H
#define BURIN_SELFTEST_SELFTEST_H

#include <stdio.h>

#include "selftest/layout.h"

struct selftest_score {
	uint64_t planted;
	uint64_t right;    /* reported as expected; damaged files and decoys: not called complete */
	uint64_t reported; /* files that start in the class's part of the image */
	uint64_t fitting;  /* of these, where one was planted */
};

/* One run over the image. */
struct selftest_run {
	const char *engine, *kernel; /* as requested; kernel NULL: the engine's choice */
	uint64_t chunk_size;         /* bytes; 0: the default */
	unsigned threads;            /* 0: one per processor */
	bool nested;
	char worked[128]; /* the kernel that the engine reports */
	int exit;
	bool unsuited; /* an engine for comparison, or a GPU kernel, that can't search for these
			  rules: not counted */
	bool same;     /* the same files as in the first run with these options */
	bool verified; /* every file on the disk is as the report says */
	uint64_t files, whole_but_wrong; /* called complete where no such file was planted */
	struct selftest_score scores[CLASSES];
	double seconds;
	char digest[65];   /* SHA-256 of the report's lines of files */
	char problem[512]; /* "" when all is right */
};

struct selftest {
	const struct rules *rules;
	struct layout layout;
	struct selftest_run *runs;
	size_t count, capacity;
	struct bytes absent; /* lines: engines that are not available here, and why */
	char program_hash[65];
	int64_t started; /* seconds since 1970 UTC */
	int signal;      /* that ended it early; 0 */
};

/* Makes the image and all runs in a folder below TMPDIR, which it removes at the end. Fills
 * selftest, which is all zero; selftest_free must follow. each (may be NULL) is called after each
 * run. Returns 0 or a negative errno with error set: no rule can be tested, the image can't be
 * written. */
int selftest_run(struct selftest *selftest, const struct rules *rules,
	void (*each)(const struct selftest_run *run), struct error *error);
bool selftest_passed(const struct selftest *selftest);
void selftest_free(struct selftest *selftest);

/* The protocol as text, or as one HTML page. Return 0 or -EIO. */
int selftest_text(const struct selftest *selftest, FILE *stream);
int selftest_page(const struct selftest *selftest, FILE *stream);

#endif
