/* The one clock for durations and deadlines: monotonic, so that setting the time of day does not
 * disturb it. */
#ifndef BURIN_BASE_CLOCK_H
#define BURIN_BASE_CLOCK_H

#include <time.h>

/* Seconds since an arbitrary moment; only differences mean something. Thread-safe. */
static inline double clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
