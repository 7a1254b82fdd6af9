/*
 * Measuring engines and kernels on given data, and comparing what they find: `burin bench`.
 *
 * A row counts only if its hits were compared in the same run. The reference engine searches a part
 * of the text, the engine cpu all of it; every row must agree with the former on the part and with
 * the latter on the whole, by count and by a checksum over (offset, pattern). Whole runs are compared
 * by the report's lines about files, again with reference on a part and with cpu on the whole.
 */
#ifndef BURIN_BENCH_BENCH_H
#define BURIN_BENCH_BENCH_H

#include "bench/stats.h"
#include "scan/hit_tally.h"
#include "run/run.h"

enum bench_mode {
	BENCH_RESIDENT, /* kernels on text that is on the device */
	BENCH_HOST,     /* engines on text in memory, by the engine contract, from a pinned ring */
	BENCH_WHOLE,    /* `burin carve --dry-run` of a file */
	BENCH_MODES
};

/* A row's upper bound, measured in the same run. */
enum bench_bound {
	BENCH_DEVICE_READ,
	BENCH_DEVICE_COPY,
	BENCH_HOST_READ,
	BENCH_FILE_READ,
	BENCH_BOUNDS
};

const char *bench_mode_name(enum bench_mode mode);    /* "resident", "host", "end-to-end" */
const char *bench_bound_name(enum bench_bound bound); /* "device memory read", ... */

enum bench_verdict { BENCH_NOT_RUN, BENCH_EQUAL, BENCH_DIFFERENT };

struct bench_ceiling {
	double speed;   /* bytes a second; 0: not measured */
	char why[1024]; /* why not; "" where no row needs it */
};

struct bench_row {
	enum bench_mode mode;
	const char *engine, *kernel; /* kernel NULL: the engine's choice */
	char how[320];               /* how it works */
	enum bench_bound bound;
	uint64_t bytes;             /* searched in a round */
	struct bench_stats seconds; /* of the rounds */
	double compile;             /* seconds, BENCH_RESIDENT */
	struct hit_tally found;     /* hits; BENCH_WHOLE: lines of the report */
	struct run_sums sums;       /* BENCH_WHOLE: of the last round */
	enum bench_verdict verdict;
	char why[1024]; /* why it was not run, or what is different */
};

struct bench_options {
	const struct rules *rules;     /* NULL: no whole runs */
	const struct pattern_set *set; /* of the rules, or others */
	const char *data;              /* an image; NULL: random bytes */
	uint64_t size;                 /* of the text in memory; 0: by bench_text_size */
	uint64_t seed, plant;          /* plant: one pattern for this many bytes; 0: none */
	unsigned rounds;               /* at least 1; a slow row ends earlier */
	unsigned threads;              /* 0: one a processor */
	uint64_t chunk_size;           /* bytes */
	bool modes[BENCH_MODES];
	const char **engines, **kernels; /* names that exist; none: all but exhibits */
	size_t engine_count, kernel_count;
	struct gpu_options gpu;
	bool zero_copy; /* BENCH_RESIDENT: the kernels fetch the text from the host's memory */
	enum reader_method io;
	enum reader_cache cache;
	char **arguments; /* as in struct run_options */
};

struct bench_result {
	struct bench_ceiling ceilings[BENCH_BOUNDS];
	struct bench_row *rows;
	size_t count, capacity;
	uint64_t text_len,
		part_len; /* bytes in memory, and those of them that reference has searched */
	unsigned threads;
};

/* Measures. Returns 0, also when rows differ or could not be run; -EINTR when a signal was caught
 * (see signals_catch); else a negative errno with error set. bench_result_free must follow
 * either way. */
int bench_run(
	struct bench_result *result, const struct bench_options *options, struct error *error);
void bench_result_free(struct bench_result *result);

/* Compares a row's hits: fills in found, verdict and why. */
void bench_judge(
	struct bench_row *row, const struct hit_tallies *found, const struct hit_tallies *right);

#endif
