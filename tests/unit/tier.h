/* How thorough tests are, and what they draw. */
#ifndef BURIN_TESTS_TIER_H
#define BURIN_TESTS_TIER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The time after which a test counts as hanging, in seconds. No test takes this long on any machine:
 * what a test finds must not depend on how fast it runs. */
#define TEST_HANGS 1800

/* One of three values: for `make test` (BURIN_TESTS=short), `make check` and `make check-long`
 * (BURIN_TESTS=long). */
static inline __attribute__((unused)) unsigned test_tier(
	unsigned quick, unsigned medium, unsigned thorough)
{
	const char *tier = getenv("BURIN_TESTS");

	if (tier && strcmp(tier, "short") == 0)
		return quick;
	return tier && strcmp(tier, "long") == 0 ? thorough : medium;
}

/* Where random tests begin. It is the same each time, so that no change fails because of what a draw
 * happens to hold; `make check-long` draws another one, prints it, and sets BURIN_SEED. */
static inline __attribute__((unused)) uint64_t test_seed(void)
{
	const char *seed = getenv("BURIN_SEED");

	return seed ? strtoull(seed, NULL, 0) : 1;
}

#endif
