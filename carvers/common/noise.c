/*
 * Pixels and samples repeat themselves: a stretch of them has few of the 256 values, and those
 * often. In random bytes each value is as frequent as any other, which the sum of the squares of
 * their counts shows: in 1,024 random bytes it is 5,116 with a standard deviation of 90, in pixels
 * mostly some tens of thousands.
 *
 * The valid part of a file ends where, after data that is clearly not random, a run of random
 * windows begins. A picture of noise has nothing else before; a photograph has no such runs.
 */
#include "noise.h"

#include <string.h>

#include "coded.h"
#include "plain_text.h"
#include "walk.h"

#define WINDOW_LEN 1024
#define RANDOM_BELOW 5660 /* 6 standard deviations above the mean */
#define RANDOM_ABOVE 4580 /* 6 below it: gradients have each value equally often */
#define PLAIN_ABOVE 7000
#define RUN_LEN (3 * WINDOW_LEN)
#define AT_LEN ((uint64_t)4 * WINDOW_LEN)
#define NO_CODE_ABOVE 16000 /* fewer than 66 values, on average */

/* Values in a sector: random bytes have 203 to 238 of 256 in 20,000 sectors. In 96 BMP, WAV, AIFF and AU files (10,403 sectors)
 * no run of sectors has so many where those on either side have so few. */
#define RANDOM_VALUES 200
#define PLAIN_VALUES 128
#define STEP_MAX 64
#define RANDOM_DIFFERENCES 180 /* random bytes have 190 or more at the most distant step */

#define HANDFUL 12
#define PLAIN_LEN 12
#define ZEROS_MAX 48 /* after those */

/* Four tables, one for each quarter, so that equal bytes need not wait for each other. */
static uint32_t squares(const uint8_t *bytes)
{
	enum { QUARTER = WINDOW_LEN / 4 };
	uint16_t counts[4][256] = { 0 };
	uint32_t sum = 0;

	for (size_t i = 0; i < QUARTER; i++) {
		counts[0][bytes[i]]++;
		counts[1][bytes[i + QUARTER]]++;
		counts[2][bytes[i + 2 * QUARTER]]++;
		counts[3][bytes[i + 3 * QUARTER]]++;
	}
	for (size_t i = 0; i < 256; i++) {
		/* 16 bits, which compilers multiply by the vector. */
		int16_t count =
			(int16_t)(counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i]);

		sum += (uint32_t)((int32_t)count * count);
	}
	return sum;
}

typedef uint8_t lanes __attribute__((vector_size(16)));

static uint32_t sum_lanes(lanes counts)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < sizeof(counts); i++)
		sum += counts[i];
	return sum * sum;
}

/* Of the squares of how often some bytes come that are frequent in programs, tables and text. */
static uint32_t frequent(const uint8_t *bytes)
{
	lanes zeros = { 0 }, ones = { 0 }, spaces = { 0 }, next;

	for (size_t i = 0; i < WINDOW_LEN; i += sizeof(next)) {
		memcpy(&next, bytes + i, sizeof(next));
		/* A comparison gives -1 where it is true. */
		zeros -= (lanes)(next == 0);
		ones -= (lanes)(next == 0xff);
		spaces -= (lanes)(next == ' ');
	}
	return sum_lanes(zeros) + sum_lanes(ones) + sum_lanes(spaces);
}

/* As squares, but where that is more than `enough`, any number that is: most windows of programs need only some counts. */
static uint32_t squares_up_to(const uint8_t *bytes, uint32_t enough)
{
	uint32_t sum = frequent(bytes);

	return sum > enough ? sum : squares(bytes);
}

/* Nothing has to be made for windows. */
static void make_nothing(void *made, const void *bytes)
{
	(void)made;
	(void)bytes;
}

/* Of the windows of a file of which several layouts are tried, most are the same in all: their sums are noted. 0: they are not. */
static uint32_t windows_of(struct view *view)
{
	static const struct coded_coding coding = { "noise", sizeof("noise"), 1, make_nothing };
	const void *made;

	return view_coding(view, &coding, &made);
}

/* As squares_up_to, for the window at `at`, whose bytes are p. */
static uint32_t sum_at(
	struct view *view, uint32_t windows, uint64_t at, const uint8_t *p, uint32_t enough)
{
	struct coded_stretch noted = { .bytes = WINDOW_LEN, .after = WINDOW_LEN };
	uint32_t sum;

	if (!windows)
		return squares_up_to(p, enough);
	if (view_recall(view, windows, at, 0, &noted))
		return (uint32_t)(uint16_t)noted.sum[1] << 16 | (uint16_t)noted.sum[0];
	sum = squares(p);
	noted.sum[0] = (int16_t)sum;
	noted.sum[1] = (int16_t)(sum >> 16);
	view_note(view, windows, at, 0, &noted);
	return sum;
}

/* Whether the window at `at` holds random bytes. */
static bool random_window(struct view *view, uint32_t windows, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, WINDOW_LEN);
	uint32_t sum = p ? sum_at(view, windows, at, p, RANDOM_BELOW) : 0;

	return sum > RANDOM_ABOVE && sum < RANDOM_BELOW;
}

uint64_t noise_start(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t plain = 0, unclear = 0, run = 0;
	uint32_t windows = windows_of(view);
	const uint8_t *p;

	for (uint64_t at = start; at + WINDOW_LEN <= end; at += WINDOW_LEN) {
		uint32_t sum;

		p = view_peek(view, at, WINDOW_LEN);
		if (!p)
			break;
		sum = sum_at(view, windows, at, p, PLAIN_ABOVE);
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

/* How many of the 256 values a sector's bytes have, or their differences to those `step` before. */
static unsigned distinct_values(const uint8_t *sector, size_t step)
{
	uint8_t seen[256] = { 0 };
	unsigned count = 0;

	for (size_t i = step; i < SECTOR; i++)
		seen[(uint8_t)(sector[i] - (step ? sector[i - step] : 0))] = 1;
	for (size_t i = 0; i < sizeof(seen); i++)
		count += seen[i];
	return count;
}

/* step: 0, or that of differences that have as many values; those of gradients have few. */
static bool has_random_values(const uint8_t *sector, unsigned values, size_t step)
{
	return values >= RANDOM_VALUES &&
	       (!step || distinct_values(sector, step) >= RANDOM_DIFFERENCES);
}

uint64_t noise_between(struct view *view, uint64_t start, uint64_t end, uint64_t step)
{
	size_t apart = step <= STEP_MAX ? (size_t)step : 0;
	uint64_t at = (start + SECTOR - 1) / SECTOR * SECTOR, from = end;
	bool after_plain = false;
	const uint8_t *p;

	for (; at < end && end - at >= SECTOR; at += SECTOR) {
		unsigned values;

		p = view_peek(view, at, SECTOR);
		if (!p)
			break;
		values = distinct_values(p, 0);
		if (has_random_values(p, values, apart)) {
			from = after_plain ? at : from;
			after_plain = false;
			continue;
		}
		after_plain = values <= PLAIN_VALUES;
		if (after_plain && from < end)
			return from;
		from = end;
	}
	return end;
}

bool noise_at(struct view *view, uint64_t start, uint64_t end)
{
	uint32_t windows = windows_of(view);

	if (end - start < AT_LEN)
		return false;
	for (uint64_t at = start; at < start + AT_LEN; at += WINDOW_LEN)
		if (!random_window(view, windows, at))
			return false;
	return true;
}

uint64_t noise_before(struct view *view, uint64_t start, uint64_t end)
{
	uint32_t windows = windows_of(view);

	while (end - start >= WINDOW_LEN && random_window(view, windows, end - WINDOW_LEN))
		end -= WINDOW_LEN;
	return end;
}

uint64_t plain_start(struct view *view, uint64_t start, uint64_t end)
{
	uint32_t windows = windows_of(view);
	int run = 0;

	for (uint64_t at = start; at + WINDOW_LEN <= end; at += WINDOW_LEN) {
		const uint8_t *p = view_peek(view, at, WINDOW_LEN);

		if (!p)
			break;
		run = sum_at(view, windows, at, p, NO_CODE_ABOVE) > NO_CODE_ABOVE ? run + 1 : 0;
		if (run == 2) {
			uint64_t fill = walk_before_fill(view, start, at);

			return fill < at ? fill : at - WINDOW_LEN;
		}
	}
	return end;
}

bool plain_at_end(struct view *view, uint64_t start, uint64_t end)
{
	size_t max = PLAIN_LEN + ZEROS_MAX, zeros = 0, first = 0, ends = 0;
	size_t len = end - start < max ? (size_t)(end - start) : max;
	const uint8_t *p;

	if (end - start <= HANDFUL)
		return true;
	p = view_peek(view, end - len, len);
	if (!p)
		return false;
	while (ends < len && !p[len - 1 - ends])
		ends++;
	if (ends == len || ends > ZEROS_MAX)
		return false;
	/* The bytes before the last zeros, and one zero, which may belong to a number. */
	len -= ends > 1 ? ends - 1 : 0;
	if (len > PLAIN_LEN) {
		p += len - PLAIN_LEN;
		len = PLAIN_LEN;
	}
	for (size_t i = 0; i < len; i++)
		zeros += !p[i];
	while (first < 3 && first < len && p[first] >> 6 == 2) /* within a character */
		first++;
	return zeros >= (len + 1) / 2 || utf8_valid(p + first, len - first);
}
