/* Searches a part of an image, spread over all of it, to learn how often each pattern occurs in
 * it. */
#ifndef BURIN_CLI_SAMPLE_H
#define BURIN_CLI_SAMPLE_H

#include <stdint.h>

#include "base/error.h"
#include "rules/rules.h"

struct sample {
	uint64_t *counts;    /* hits, one number a pattern of the set */
	uint64_t bytes;      /* searched; never 0 */
	uint64_t image_size; /* bytes */
	const char *engine;  /* the one that searched */
};

/* Searches about `want` bytes (more than 0) of the image at path: evenly spaced pieces of 1 MiB, or
 * all of an image that is not larger. On success sample_free must follow. */
int sample_take(struct sample *sample, const struct rules *rules, const char *path, uint64_t want,
	struct error *error);
void sample_free(struct sample *sample);

#endif
