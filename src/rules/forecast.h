/* How often the rules will hit, and how much they will write: arithmetic alone. The caller scans
 * the sample and prints. */
#ifndef BURIN_RULES_FORECAST_H
#define BURIN_RULES_FORECAST_H

#include <stdint.h>

#include "rules/rules.h"

/* One rule's forecast. Everything is per GiB of image. */
struct forecast {
	double hits;   /* candidates: header hits that pass `must` (on random data) and `align` */
	double bytes;  /* bytes that would be written; with a carver 0, because it decides, and
			  chance hits fail it */
	double length; /* expected bytes of a candidate, or most of it where a carver decides */
};

/* What was counted in a sample of the image. */
struct forecast_sample {
	const uint64_t *counts; /* hits, one number a pattern of the set */
	uint64_t bytes;         /* how much was scanned; not 0 */
};

/* Expected hits per GiB of random data: 2^30 times 2^-(bits that must agree); an estimate from
 * above for a regex. */
double forecast_pattern(const struct pattern *pattern);

/* Forecasts rule number `rule` on random data (sample NULL) or from what a sample showed.
 * image_size: bytes, no file can be longer; 0 when unknown. Footers end files as the rule's pair
 * mode says, taken as evenly spread at their rate. */
void forecast_rule(const struct rules *rules, uint32_t rule, const struct forecast_sample *sample,
	uint64_t image_size, struct forecast *forecast);

#endif
