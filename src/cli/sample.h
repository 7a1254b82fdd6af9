/* Scans a sample spread over the whole image, to learn how often each pattern occurs. */
#ifndef BURIN_CLI_SAMPLE_H
#define BURIN_CLI_SAMPLE_H

#include <stdint.h>

#include "base/error.h"
#include "rules/rules.h"

struct sample {
	uint64_t *counts;    /* number of hits of each pattern */
	double *lengths;     /* by rule: bytes that a run writes for a header hit, on average */
	uint64_t bytes;      /* scanned; never 0 */
	uint64_t image_size; /* bytes */
	const char *engine;  /* the one that was used */
};

/* Scans about `want` bytes (more than 0) of the image at path: evenly spaced pieces of 1 MiB, or
 * the whole image if it is not larger. On success sample_free must follow. */
int sample_take(struct sample *sample, const struct rules *rules, const char *path, uint64_t want,
	struct error *error);
void sample_free(struct sample *sample);

#endif
