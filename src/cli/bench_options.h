/* The options of `burin bench`. */
#ifndef BURIN_CLI_BENCH_OPTIONS_H
#define BURIN_CLI_BENCH_OPTIONS_H

#include "bench/bench.h"
#include "bench/papers/papers.h"
#include "base/options.h"
#include "rules/rules.h"

struct bench_settings {
	const char *config, *patterns, *gpus;
	struct option_list types;
	struct option_list engines, kernels;
	enum rules_format rules_format;
	enum gpu_transfer transfer;
	unsigned io;
	unsigned mode;
	uint64_t size, rounds, threads, chunk_size, seed, plant, parts, paper;
	uint64_t words, blocks, block_threads, thread_bytes, block_bytes;
	bool papers, uints, no_diagonal, round_robin, unmerged, zero_copy, json, verbose;
};

/* The group of the options of single kernels; without one they are zero. */
#define BENCH_KERNEL_GROUP "Kernels of papers"

extern const struct option_row bench_option_rows[];

/* data: the file given as DATA, or NULL. The caller sets the rules or patterns. */
struct bench_options bench_options_of(const struct bench_settings *settings, const char *data);
struct papers_options papers_options_of(const struct bench_settings *settings, const char *data);

#endif
