/*
 * A pixel differs less from the one above it than from others near that one. How often, is learnt from all rows of the picture:
 * the rank of the difference among those with eight others, and that of one of the others, which would be as likely if the
 * two rows had nothing to do with each other. Ranks depend neither on how much detail a part of the picture has nor on its
 * colours. A code that gives several pixels is one chance only, and the same code again none.
 */
#include "row_seam.h"

#include <stdbool.h>
#include <stdlib.h>

#include "logarithm.h"
#include "seam_bits.h"

#define OTHERS 8
#define RANKS (2 * OTHERS + 1)
#define DETAILS 3 /* of a change: none, little, much */
#define DETAIL_MUCH 24
#define ROWS_MIN 4
#define LEARNT_MAX 32768 /* pixels, of rows all over the picture */
#define WIDTH_MIN 48
#define CODE_MAX (4 * LOG_BIT) /* that a code speaks for the joint, at most */

/* See RESULTS.md. */
static const struct seam_bits measured[] = { { 10, 8 }, { 20, 10 }, { 40, 12 } };

/* How often a rank came, by the detail of the pixel. */
struct counts {
	uint32_t above[DETAILS][RANKS], others[DETAILS][RANKS];
};

static uint32_t detail_of(const uint8_t *p)
{
	uint32_t size = 0;

	for (int i = 0; i < ROW_SEAM_COLOURS; i++)
		size += (uint32_t)abs(p[i] - p[i - ROW_SEAM_COLOURS]);
	return size == 0 ? 0 : size < DETAIL_MUCH ? 1 : 2;
}

/* The difference between two pixels, and between their changes against those on the left. */
static uint32_t difference(const uint8_t *p, const uint8_t *other)
{
	uint32_t sum = 0;

	for (int i = 0; i < ROW_SEAM_COLOURS; i++)
		sum += (uint32_t)abs(p[i] - other[i]) +
		       (uint32_t)abs(p[i] - p[i - ROW_SEAM_COLOURS] -
				     (other[i] - other[i - ROW_SEAM_COLOURS]));
	return sum;
}

/* The differences of a pixel that is not the first of its row: with that above it, and with others. */
static void compare(const struct row_seam *seam, uint64_t at, uint32_t all[OTHERS + 1])
{
	static const uint32_t shifts[OTHERS / 2] = { 5, 9, 14, 21 };
	uint32_t width = seam->width, x = (uint32_t)(at % width);
	const uint8_t *p = seam->colours + at * ROW_SEAM_COLOURS;
	const uint8_t *above = seam->colours + (at - x - width) * ROW_SEAM_COLOURS;

	all[0] = difference(p, above + (size_t)x * ROW_SEAM_COLOURS);
	for (uint32_t i = 0; i < OTHERS; i++) {
		uint32_t shift = i % 2 ? width - 1 - shifts[i / 2] : shifts[i / 2];
		uint32_t other = (x - 1 + shift) % (width - 1) + 1;

		all[i + 1] = difference(p, above + (size_t)other * ROW_SEAM_COLOURS);
	}
}

/* How many of the differences are less than one of them, twice, and how many are the same. */
static uint32_t rank_of(const uint32_t all[OTHERS + 1], uint32_t number)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i <= OTHERS; i++)
		if (i != number)
			rank += all[i] < all[number] ? 2 : all[i] == all[number];
	return rank;
}

static void learn(const struct row_seam *seam, struct counts *counts)
{
	uint64_t step = seam->count / LEARNT_MAX + 1;

	for (uint64_t at = seam->width; at < seam->count; at++) {
		uint32_t detail, all[OTHERS + 1];

		if (at % seam->width == 0) {
			if (at / seam->width % step)
				at += seam->width - 1;
			continue;
		}
		if (at >= seam->joint && at - seam->joint < seam->width)
			continue;
		detail = detail_of(seam->colours + at * ROW_SEAM_COLOURS);
		compare(seam, at, all);
		counts->above[detail][rank_of(all, 0)]++;
		counts->others[detail][rank_of(all, 1 + at % OTHERS)]++;
	}
}

/* By how many bits, in LOG_BITs, a rank is likelier for the pixel above. */
static int32_t gain_of(const struct counts *counts, uint32_t detail, uint32_t rank)
{
	uint32_t above = 1, others = 1;

	for (uint32_t i = rank ? rank - 1 : 0; i <= rank + 1 && i < RANKS; i++) {
		uint32_t weight = i == rank ? 2 : 1;

		above += weight * counts->above[detail][i];
		others += weight * counts->others[detail][i];
	}
	return log_16(above) - log_16(others);
}

/* The sum over the row of pixels after the joint, or up to the next one. What is flat differs little from what is flat, wherever
 * it is: it speaks against the joint only. */
static int64_t sum_up(const struct row_seam *seam)
{
	uint64_t begin = seam->joint > seam->width ? seam->joint : seam->width, end = seam->count;
	uint8_t seen[ROW_SEAM_CODES] = { 0 };
	struct counts counts = { 0 };
	int64_t sum = 0, code = 0;
	bool is_new = false;

	if (end > seam->joint + seam->width)
		end = seam->joint + seam->width;
	if (end > seam->next)
		end = seam->next;
	learn(seam, &counts);
	for (uint64_t at = begin; at < end; at++) {
		uint32_t detail, all[OTHERS + 1];
		int32_t gain;

		if (seam->codes[at] < ROW_SEAM_CODES) {
			sum += code < CODE_MAX ? code : CODE_MAX;
			code = 0;
			is_new = !seen[seam->codes[at]];
			seen[seam->codes[at]] = 1;
		}
		if (at % seam->width == 0)
			continue;
		detail = detail_of(seam->colours + at * ROW_SEAM_COLOURS);
		compare(seam, at, all);
		gain = gain_of(&counts, detail, rank_of(all, 0));
		if ((detail && is_new) || gain < 0)
			code += gain;
	}
	return (sum + (code < CODE_MAX ? code : CODE_MAX)) / LOG_BIT;
}

unsigned row_seam_bits(const struct row_seam *seam)
{
	if (seam->width < WIDTH_MIN || seam->count / seam->width < ROWS_MIN)
		return 0;
	return seam_bits_of(measured, sizeof(measured) / sizeof(*measured), sum_up(seam));
}
