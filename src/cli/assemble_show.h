/* What `burin bench --mode assemble` prints. */
#ifndef BURIN_CLI_ASSEMBLE_SHOW_H
#define BURIN_CLI_ASSEMBLE_SHOW_H

#include "bench/bench_assemble.h"

/* Both return whether all rows found the same. */
bool assemble_show_table(const struct bench_assemble *result);
bool assemble_show_json(const struct bench_assemble *result);

#endif
