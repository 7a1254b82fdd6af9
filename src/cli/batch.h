/* Many images in one go: a folder for each, and one summary of all. */
#ifndef BURIN_CLI_BATCH_H
#define BURIN_CLI_BATCH_H

#include "cli/images.h"
#include "run/run.h"

/* Carves each image into a folder of its own in output, up to `jobs` of them side by side, with one
 * pool of threads. One that fails does not stop the others. Leaves batch.txt and batch.json there,
 * and shows the table. html: each folder gets its page (page/page.h). Returns the highest exit code
 * of all. */
int batch_carve(const struct run_options *options, const struct images *images, const char *output,
	unsigned jobs, bool html);

#endif
