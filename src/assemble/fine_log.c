#include "assemble/fine_log.h"

#include <pthread.h>
#include <stddef.h>

#define SLOTS 256                    /* of numbers that are alike in their first bits... */
#define SLOT_LEN ((uint64_t)1 << 24) /* ...which are so many, from 2^32 on */

/* The fraction of a logarithm to base 2, in FINE_LOG_BITs, of a number from 2^32 on, below 2^33. */
static unsigned fraction_of(uint64_t number)
{
	unsigned fraction = 0;

	for (unsigned place = 1; place < FINE_LOG_BIT; place *= 2) {
		number = (number * (number >> 16)) >> 16;
		fraction *= 2;
		if (number >> 33) {
			number >>= 1;
			fraction++;
		}
	}
	return fraction;
}

/* The same by the number's first bits, as logarithms are what takes the time: it rises, and in a slot once at most. */
static struct {
	uint64_t rise; /* the first number of the next fraction */
	uint8_t fraction;
} fractions[SLOTS];

static void make_fractions(void)
{
	for (uint64_t i = 0; i < SLOTS; i++) {
		uint64_t low = (SLOTS + i) * SLOT_LEN, high = low + SLOT_LEN;

		fractions[i].fraction = (uint8_t)fraction_of(low);
		while (low < high) {
			uint64_t middle = low + (high - low) / 2;

			if (fraction_of(middle) == fractions[i].fraction)
				low = middle + 1;
			else
				high = middle;
		}
		fractions[i].rise = low;
	}
}

int64_t fine_log(uint64_t number)
{
	int whole = 63 - __builtin_clzll(number);
	uint64_t rest = whole > 32 ? number >> (whole - 32) : number << (32 - whole);
	size_t slot = rest / SLOT_LEN - SLOTS;

	return whole * FINE_LOG_BIT + fractions[slot].fraction + (rest >= fractions[slot].rise);
}

void fine_log_get_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_fractions);
}
