/*
 * Pixels and samples repeat themselves: of 256 values a stretch of them has few, and those often.
 * In random bytes each value is as frequent as any other, and the sum of the squares of their
 * counts says so: in 1,024 random bytes it is 5,116 with a standard deviation of 90, in pixels
 * mostly some tens of thousands.
 *
 * A file's sound part ends where, behind data that is plainly none, a run of random windows begins.
 * A picture of noise has nothing else before, a photograph has no such runs.
 */
#include "noise.h"

#include <string.h>

#include "walk.h"

#define WINDOW_LEN 1024
#define RANDOM_BELOW 5660 /* 6 standard deviations above the mean */
#define RANDOM_ABOVE 4580 /* and below it: gradients have each value equally often */
#define PLAIN_ABOVE 7000
#define RUN_LEN (3 * WINDOW_LEN)
#define AT_LEN ((uint64_t)4 * WINDOW_LEN)
#define NO_CODE_ABOVE 16000 /* fewer than 66 values, in the mean */

static uint32_t squares(const uint8_t *bytes)
{
	uint16_t counts[256] = { 0 };
	uint32_t sum = 0;

	for (size_t i = 0; i < WINDOW_LEN; i++)
		counts[bytes[i]]++;
	for (size_t i = 0; i < 256; i++)
		sum += (uint32_t)counts[i] * counts[i];
	return sum;
}

/* Whether the window at `at` holds random bytes. */
static bool random_window(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, WINDOW_LEN);
	uint32_t sum = p ? squares(p) : 0;

	return sum > RANDOM_ABOVE && sum < RANDOM_BELOW;
}

uint64_t noise_start(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t plain = 0, unclear = 0, run = 0;
	const uint8_t *p;

	for (uint64_t at = start; at + WINDOW_LEN <= end; at += WINDOW_LEN) {
		uint32_t sum;

		p = view_peek(view, at, WINDOW_LEN);
		if (!p)
			break;
		sum = squares(p);
		if (sum > RANDOM_ABOVE && sum < RANDOM_BELOW) {
			run += WINDOW_LEN;
			if (run >= RUN_LEN)
				return plain > 8 * unclear ? at + WINDOW_LEN - run : end;
			continue;
		}
		if (sum > PLAIN_ABOVE || sum <= RANDOM_ABOVE)
			plain++;
		else
			unclear++;
		unclear += run / WINDOW_LEN;
		run = 0;
	}
	return end;
}

bool noise_at(struct view *view, uint64_t start, uint64_t end)
{
	if (end - start < AT_LEN)
		return false;
	for (uint64_t at = start; at < start + AT_LEN; at += WINDOW_LEN)
		if (!random_window(view, at))
			return false;
	return true;
}

uint64_t noise_before(struct view *view, uint64_t start, uint64_t end)
{
	while (end - start >= WINDOW_LEN && random_window(view, end - WINDOW_LEN))
		end -= WINDOW_LEN;
	return end;
}

uint64_t plain_start(struct view *view, uint64_t start, uint64_t end)
{
	int run = 0;

	for (uint64_t at = start; at + WINDOW_LEN <= end; at += WINDOW_LEN) {
		const uint8_t *p = view_peek(view, at, WINDOW_LEN);

		if (!p)
			break;
		run = squares(p) > NO_CODE_ABOVE ? run + 1 : 0;
		if (run == 2) {
			uint64_t fill = walk_before_fill(view, start, at);

			return fill < at ? fill : at - WINDOW_LEN;
		}
	}
	return end;
}
