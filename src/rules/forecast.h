/* Forecasts how often the rules will hit, and how much they will write. Pure arithmetic: the caller
 * scans the sample and prints. */
#ifndef BURIN_RULES_FORECAST_H
#define BURIN_RULES_FORECAST_H

#include <stdint.h>

#include "rules/rules.h"

/* One rule's forecast. Everything is per GiB of image. */
struct forecast {
	double hits;  /* candidates: header hits that pass `must` (on random data) and `align` */
	double bytes; /* bytes that would be written; on random data 0 with a carver, which rejects
		       * chance hits */
	double length; /* expected length of a candidate, bytes; its maximum where a carver decides */
};

/* Counts from a sample of the image. */
struct forecast_sample {
	const uint64_t *counts; /* number of hits of each pattern */
	uint64_t bytes;         /* bytes scanned; not 0 */
	/* Of each rule: bytes that a run writes for one of its header hits, by asking it at some of them;
	 * NULL: not known, and reckoned from the footers' counts. */
	const double *lengths;
};

/* Expected hits per GiB of random data: 2^30 times 2^-(fixed bits); for a regex an upper bound. */
double forecast_pattern(const struct pattern *pattern);

/* Forecasts a rule on random data (sample NULL) or from the counts of a sample. image_size: bytes,
 * no file can be longer; 0 when unknown. Footers end files by the rule's pairing mode and are taken
 * as independent. */
void forecast_rule(const struct rules *rules, uint32_t rule, const struct forecast_sample *sample,
	uint64_t image_size, struct forecast *forecast);

#endif
