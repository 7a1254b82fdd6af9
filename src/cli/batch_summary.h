/* What a batch came to: a row for each image in batch.txt and batch.json of the output folder. */
#ifndef BURIN_CLI_BATCH_SUMMARY_H
#define BURIN_CLI_BATCH_SUMMARY_H

#include <stdbool.h>
#include <time.h>

#include "run/run.h"

struct batch_item {
	const char *image;
	char *folder; /* OUT/NAME */
	bool begun;
	int exit;
	struct run_sums sums;
};

struct batch_summary {
	const struct batch_item *items;
	size_t count;
	time_t started;
	int exit;   /* of the whole batch */
	bool quiet; /* else the table goes to stderr, too */
};

/* True: a file of this name is the summary's own. */
bool batch_summary_owns(const char *name);
/* Returns the exit code: EXIT_IO, said on stderr, when the files could not be written and the
 * batch's own was lower. */
int batch_summary_write(const struct batch_summary *batch, const char *output);

#endif
