/* What was measured, on stdout. */
#ifndef BURIN_CLI_BENCH_SHOW_H
#define BURIN_CLI_BENCH_SHOW_H

#include "bench/bench.h"

/* Tables for people. */
void bench_show_table(const struct bench_options *options, const struct bench_result *result);
/* One object for programs. */
void bench_show_json(const struct bench_options *options, const struct bench_result *result);

#endif
