/* The runs in an output folder: one, or those of a batch. */
#ifndef BURIN_CLI_RUNS_H
#define BURIN_CLI_RUNS_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise; runs_free when done. */
struct runs {
	char **folders;
	size_t count, capacity;
	bool batch; /* folders are those of a batch's images, else the only one is the folder itself */
};

/* Finds them, for a batch by its summary, in its order. An image that could not be opened has no run.
 * What is not a batch, or one without runs, counts as a run: reading its report then gives the
 * error, so that nothing is verified without a word. */
void runs_find(struct runs *runs, const char *folder);
void runs_free(struct runs *runs);

#endif
