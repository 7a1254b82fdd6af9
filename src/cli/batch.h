/* Carves several images: a folder for each, and one summary of all. */
#ifndef BURIN_CLI_BATCH_H
#define BURIN_CLI_BATCH_H

#include "cli/images.h"
#include "run/run.h"

/* Carves each image into its own folder in output, up to `jobs` of them at the same time, with one
 * pool of threads. One that fails does not stop the others. Writes batch.txt and batch.json to
 * output, and prints the table. html: each folder gets its page (page/page.h). Returns the highest
 * exit code. */
int batch_carve(const struct run_options *options, const struct images *images, const char *output,
	unsigned jobs, bool html);

#endif
