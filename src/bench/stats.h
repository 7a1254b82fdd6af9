/* Statistics of measured times, and speeds as text. */
#ifndef BURIN_BENCH_STATS_H
#define BURIN_BENCH_STATS_H

#include <stdint.h>

struct bench_stats {
	double median, least, most;
	unsigned count; /* of the values; without any, all members are 0 */
};

/* Sorts the values. */
struct bench_stats bench_stats_of(double *values, unsigned count);

/* Bytes a second; 0 for times too short to be measured. */
double bench_speed(uint64_t bytes, double seconds);

/* Writes "53.4 GB/s", of 10^9 bytes; four digits where it matters: "0.0123 GB/s", "4502 GB/s".
 * Returns buffer. */
char *bench_speed_print(double speed, char buffer[24]);

/* Writes "97.2 %" for a share of whole, "-" where there is no whole. Returns buffer. */
char *bench_share_print(double part, double whole, char buffer[24]);

#endif
