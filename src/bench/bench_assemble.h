/*
 * `burin bench --mode assemble`: the searches over all clusters (assemble/search_device.h), on the processor with
 * all threads and on the GPU, whose answers are compared.
 */
#ifndef BURIN_BENCH_BENCH_ASSEMBLE_H
#define BURIN_BENCH_BENCH_ASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bench/stats.h"

struct bench_assemble_options {
	const char *data; /* whose clusters' first bytes are looked at; NULL: random ones */
	uint64_t size;    /* bytes of the image whose clusters are searched; 0: 8 GiB */
	uint64_t seed;
	unsigned rounds, threads; /* threads 0: one a processor */
	const char *devices;      /* as --gpus has them */
};

struct bench_assemble_row {
	const char *what; /* "breaks by CRC" */
	const char *device;
	const char *unit; /* "pairs" */
	uint64_t count;   /* of them, in a round */
	uint64_t found;   /* what passed */
	struct bench_stats seconds;
	bool is_equal; /* to what the processor found */
};

#define BENCH_ASSEMBLE_ROWS 8

struct bench_assemble {
	struct bench_assemble_row rows[BENCH_ASSEMBLE_ROWS];
	unsigned count, threads;
	char why_no_gpu[1024]; /* "": it was measured */
	double keep_seconds;   /* to copy the first bytes of all clusters to the GPU */
	uint64_t clusters;
};

/* Returns 0 or a negative errno with error set. */
int bench_assemble_run(struct bench_assemble *result, const struct bench_assemble_options *options,
	struct error *error);

#endif
