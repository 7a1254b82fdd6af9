/*
 * Probabilities. A pattern with b fixed bits matches at a given offset of random data with the
 * probability 2^-b. If footers occur at a rate of q per byte, independently, there is one within x
 * bytes with the probability 1 - e^-qx; this gives the expected length for each pairing mode (M:
 * maximum size, x = qM):
 *
 *     forward  first footer, nothing when there is none in range   (1 - e^-x (1 + x)) / q
 *     next     first footer, M when there is none in range         (1 - e^-x) / q
 *     reverse  last footer in range, nothing when there is none    M - (1 - e^-x) / q
 */
#include "rules/forecast.h"

#include <math.h>

#include "patterns/regex.h"

#define GIB 1073741824.0

/* The probability that a pattern matches at a given offset of random data. */
static double pattern_chance(const struct pattern *pattern)
{
	int bits = 0;

	if (pattern->regex)
		return regex_chance(pattern->regex);
	for (uint32_t i = 0; i < pattern->len && bits < 2000; i++)
		bits += __builtin_popcount(pattern->mask[i]);
	return ldexp(1, -bits);
}

double forecast_pattern(const struct pattern *pattern)
{
	return GIB * pattern_chance(pattern);
}

/* Hits of the listed patterns per byte. */
static double list_rate(const struct rules *rules, const uint32_t *list, uint32_t count,
	const struct forecast_sample *sample)
{
	double rate = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (sample)
			rate += (double)sample->counts[list[i]] / (double)sample->bytes;
		else
			rate += pattern_chance(&rules->patterns.patterns[list[i]]);
	}
	return rate;
}

/* The expected offset of the first footer, counting M if there is none in range: (1 - e^-x) / q. */
static double first_footer(double rate, double most)
{
	double x = rate * most;

	return x > 0 ? most * (-expm1(-x) / x) : most;
}

static double footer_length(enum pair_mode pair, double rate, double most)
{
	double x = rate * most;

	if (pair == PAIR_NEXT)
		return first_footer(rate, most);
	if (x < 1e-4) /* below, nearly equal numbers would be subtracted; this is the first term of
		       * the difference */
		return most * x / 2;
	if (pair == PAIR_REVERSE)
		return most - first_footer(rate, most);
	return first_footer(rate, most) - most * exp(-x);
}

/* Takes every value of the field as equally likely; files that are too long are not carved. */
static double field_length(const struct length_field *length, double most)
{
	double range = ldexp((double)length->multiply, 8 * length->width);
	double least = (double)length->add, highest = least + range;

	if (least < 0)
		least = 0;
	if (highest <= least || least >= most)
		return 0;
	if (highest > most)
		highest = most;
	return (highest - least) / range * (least + highest) / 2;
}

static double expected_length(const struct rules *rules, const struct rule *rule,
	const struct forecast_sample *sample, double most)
{
	if (rule->carver)
		return most;
	if (rule->length.width)
		return field_length(&rule->length, most);
	if (!rule->footer_count)
		return most;
	return footer_length(
		rule->pair, list_rate(rules, rule->footers, rule->footer_count, sample), most);
}

void forecast_rule(const struct rules *rules, uint32_t rule_index,
	const struct forecast_sample *sample, uint64_t image_size, struct forecast *forecast)
{
	const struct rule *rule = &rules->rules[rule_index];
	uint64_t most = rule->max_size;
	double rate = list_rate(rules, rule->headers, rule->header_count, sample);
	double written = sample && sample->lengths ? GIB * rate * sample->lengths[rule_index] : 0;

	if (image_size && image_size < most)
		most = image_size;
	for (uint32_t i = 0; i < rule->must_count && !sample; i++)
		rate *= pattern_chance(&rule->musts[i].pattern);
	if (rule->align > 1)
		rate /= (double)rule->align;
	forecast->hits = GIB * rate;
	forecast->length = expected_length(rules, rule, sample, (double)most);
	forecast->bytes = sample && sample->lengths ? written
			  : rule->carver            ? 0
						    : forecast->hits * forecast->length;
}
