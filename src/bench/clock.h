#ifndef BURIN_BENCH_CLOCK_H
#define BURIN_BENCH_CLOCK_H

#include <time.h>

/* Seconds, of which only differences mean something. */
static inline double bench_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
