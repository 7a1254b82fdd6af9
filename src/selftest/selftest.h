/*
 * burin's test of itself on the machine at hand: an image of known layout is carved with every
 * engine, GPU kernel and some chunk sizes, and what came out is held against what was planted.
 */
#ifndef BURIN_SELFTEST_SELFTEST_H
#define BURIN_SELFTEST_SELFTEST_H

#include <stdio.h>

#include "selftest/layout.h"

struct selftest_score {
	uint64_t planted;
	uint64_t right; /* reported as it must be; of damaged files and decoys: not called whole */
	uint64_t reported; /* files that begin in the class's part of the image */
	uint64_t fitting;  /* of these, where one was planted */
};

/* One run over the image. */
struct selftest_run {
	const char *engine, *kernel; /* as asked for; kernel NULL: the engine's choice */
	uint64_t chunk_size;         /* bytes; 0: the default */
	unsigned threads;            /* 0: one a processor */
	bool nested;
	char worked[128]; /* how the engine says that it worked */
	int exit;
	bool unsuited; /* an engine for comparison, or a GPU kernel, that can't take these rules:
			  not counted */
	bool same;     /* the same files as the first run of these options */
	bool verified; /* every file is on the disk as the report says */
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
	struct bytes absent; /* lines: engines that are not here, and why */
	char program_hash[65];
	int64_t started; /* seconds since 1970 UTC */
	int signal;      /* that ended it early; 0 */
};

/* Makes the image and all runs in a folder below TMPDIR, which is removed again. Fills selftest,
 * which the caller zeroed, and frees by selftest_free. each (may be NULL) is called behind each
 * run. Errors: no rule to test by, no room for the image. */
int selftest_run(struct selftest *selftest, const struct rules *rules,
	void (*each)(const struct selftest_run *run), struct error *error);
bool selftest_passed(const struct selftest *selftest);
void selftest_free(struct selftest *selftest);

/* The protocol, one page. Returns 0 or -EIO. */
int selftest_text(const struct selftest *selftest, FILE *stream);
int selftest_page(const struct selftest *selftest, FILE *stream);

#endif
