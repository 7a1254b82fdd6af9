/* What the files of src/bench share; nobody else includes this. */
#ifndef BURIN_BENCH_BENCH_STATE_H
#define BURIN_BENCH_BENCH_STATE_H

#include "bench/bench.h"
#include "bench/search_text.h"
#include "bench/whole.h"
#include "scan/scan.h"

struct gpu_bench;

struct bench {
	const struct bench_options *options;
	struct bench_result *result;
	struct pool *pool;
	struct bench_text text;
	const struct scan_engine *base; /* the CPU engine with which all rows are compared */
	struct hit_tallies right;       /* by reference on the part, by base on all */
	struct gpu_bench *gpu;
	double *seconds; /* as many as rounds */
};

/* bench.c */
struct bench_row *bench_add_row(struct bench *bench, enum bench_mode mode, enum bench_bound bound,
	const char *engine, const char *kernel);
/* Notes why the row was not run. */
void bench_row_failed(struct bench_row *row, const char *why);
bool bench_wants_engine(const struct bench *bench, const char *name);
/* The nth kernel to run the gpu engine with by the contract: NULL is its own choice. False past the
 * last. */
bool bench_nth_kernel(
	const struct bench *bench, const struct scan_engine *engine, size_t n, const char **kernel);
/* Whether to measure another round, after `done` that took this long; at least one. */
bool bench_wants_round(const struct bench *bench, unsigned done, double spent);
/* The ceiling is measured only once. */
bool bench_wants_ceiling(const struct bench *bench, enum bench_bound bound);
void bench_set_ceiling(struct bench *bench, enum bench_bound bound, uint64_t bytes, unsigned count);

/* bench_text.c: on text in memory. A negative errno ends everything. */
int bench_expect(struct bench *bench, struct error *error);
void bench_resident(struct bench *bench);
void bench_host(struct bench *bench);

/* bench_file.c */
void bench_files(struct bench *bench);

#endif
