/* Prints benchmark results to stdout. */
#ifndef BURIN_CLI_BENCH_SHOW_H
#define BURIN_CLI_BENCH_SHOW_H

#include "bench/bench.h"

/* As tables, for people. */
void bench_show_table(const struct bench_options *options, const struct bench_result *result);
/* As one JSON object, for programs. */
void bench_show_json(const struct bench_options *options, const struct bench_result *result);

#endif
