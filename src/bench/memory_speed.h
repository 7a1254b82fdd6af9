/* How fast all threads together read memory, and nearly nothing else. */
#ifndef BURIN_BENCH_MEMORY_SPEED_H
#define BURIN_BENCH_MEMORY_SPEED_H

#include "bench/search_text.h"

struct pool;

/* Reads the text once. Returns the seconds. */
double bench_memory_read(struct pool *pool, const struct bench_text *text);

#endif
