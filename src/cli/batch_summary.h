/* The results of a batch: a row for each image, in batch.txt and batch.json of the output folder. */
#ifndef BURIN_CLI_BATCH_SUMMARY_H
#define BURIN_CLI_BATCH_SUMMARY_H

#include <stdbool.h>
#include <time.h>

#include "cli/images.h"
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
	const struct images *images; /* what was not taken for an image */
	time_t started;
	int exit;     /* of the whole batch */
	bool resumed; /* the summary replaces that of the batch that is resumed */
	bool quiet;   /* do not print the table on stderr */
};

/* Whether the summary uses this file name. */
bool batch_summary_owns(const char *name);
/* Returns the exit code of the batch, or EXIT_IO if that is higher and the files could not be
 * written; logs why. */
int batch_summary_write(const struct batch_summary *batch, const char *output);

#endif
