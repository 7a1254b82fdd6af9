#include "bench/stats.h"

#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct bench_stats bench_stats_of(double *values, unsigned count)
{
	unsigned middle = count / 2;
	struct bench_stats stats = { .count = count };

	if (!count)
		return stats;
	qsort(values, count, sizeof(*values), compare);
	stats.least = values[0];
	stats.most = values[count - 1];
	stats.median = count % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
	return stats;
}

double bench_speed(uint64_t bytes, double seconds)
{
	return seconds > 0 ? (double)bytes / seconds : 0;
}

char *bench_speed_print(double speed, char buffer[24])
{
	double giga = speed / 1e9;
	int decimals = giga >= 1000 ? 0 : giga >= 100 ? 1 : giga >= 1 ? 2 : 4;

	snprintf(buffer, 24, "%.*f GB/s", decimals, giga);
	return buffer;
}

char *bench_share_print(double part, double whole, char buffer[24])
{
	if (whole > 0)
		snprintf(buffer, 24, "%.1f %%", 100 * part / whole);
	else
		snprintf(buffer, 24, "-");
	return buffer;
}
