/*
 * Bytes of two files are distributed differently: how often each value occurs, or each difference to the pixel or
 * sample before. Where one follows the other, the bits that a code for the first wastes on a byte rise at once, and
 * those that a code for the second wastes fall. Data of one file change, too, but hardly ever within four bytes of the
 * start of a cluster: of 57,667 sectors in 347 whole sounds and pictures 11 look like that, and of 332 clusters from
 * which on such files had others' bytes 272.
 *
 * The two codes are made from up to 4 KiB on either side, without the 64 bytes nearest to the cluster's start, which
 * they then have to tell apart. A file whose other sectors change half as sharply shortly before is left alone.
 * Logarithms are in sixteenths of a bit, without floating point.
 */
#include "turning.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "logarithm.h"
#include "walk.h"

#define SEARCH_LEN (UINT64_C(1) << 20)
#define SIDE 4096          /* bytes that a code is made from */
#define BEFORE 1024        /* and the least before the cluster */
#define AFTER 256          /* and after it */
#define NEAR 64            /* bytes on either side that the codes tell apart */
#define NEXT 16            /* and the nearest of them */
#define CLOSE 4            /* bytes from the cluster's start to the place where they differ most */
#define GAIN (LOG_BIT / 4) /* saved on a byte by two codes instead of one */
#define NEAR_GAIN (32 * LOG_BIT) /* saved on NEAR bytes by their own side's code */
#define NEXT_GAIN (5 * LOG_BIT)
#define OTHERS_LEN 12288 /* before a cluster: other sectors there are looked at */
#define STEP_MAX 64
#define WORK (4 * SIDE)

/* How much more a code for the bytes after a place saves on a value than one for those before. */
struct scores {
	int32_t of[256];
	int32_t gain; /* of two codes over one, for a byte */
};

/* Bytes around a place. */
struct place {
	const uint8_t *bytes; /* at the place */
	size_t before, after; /* how many there are */
	size_t step;          /* 0: the values count, else their differences at this distance */
};

static uint8_t value_at(const struct place *place, ptrdiff_t i)
{
	const uint8_t *p = place->bytes + i;

	return place->step ? (uint8_t)(*p - p[-(ptrdiff_t)place->step]) : *p;
}

/* What the bytes of one side save, having this many of a value, of `all` in both. */
static int64_t saved(uint32_t count, uint32_t all)
{
	return count ? (int64_t)count * (log_16(count) - log_16(all)) : 0;
}

static void make_scores(const struct place *place, struct scores *scores)
{
	uint32_t before[256] = { 0 }, after[256] = { 0 };
	ptrdiff_t first = -(ptrdiff_t)(place->before - place->step), last = (ptrdiff_t)place->after;
	uint32_t before_len = (uint32_t)(-first - NEAR), after_len = (uint32_t)(last - NEAR);
	int32_t base = log_16(before_len + 128) - log_16(after_len + 128);
	int64_t gain = (int64_t)before_len * (log_16(before_len + after_len) - log_16(before_len)) +
		       (int64_t)after_len * (log_16(before_len + after_len) - log_16(after_len));

	for (ptrdiff_t i = first; i < -NEAR; i++)
		before[value_at(place, i)]++;
	for (ptrdiff_t i = NEAR; i < last; i++)
		after[value_at(place, i)]++;
	for (unsigned v = 0; v < 256; v++) {
		scores->of[v] = log_16(2 * after[v] + 1) - log_16(2 * before[v] + 1) + base;
		gain += saved(before[v], before[v] + after[v]) +
			saved(after[v], before[v] + after[v]);
	}
	scores->gain = (int32_t)(gain / (before_len + after_len));
}

static int32_t least_of(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

/* How sharply the bytes change at the place, in eighths of what is required; 0 if they change most elsewhere in the
 * NEAR bytes, unless `loose`. */
static int32_t find_change(const struct place *place, bool loose)
{
	struct scores scores;
	int32_t sum = 0, least = INT32_MAX, near[2] = { 0 }, next[2] = { 0 }, change;
	ptrdiff_t least_at = 0;

	make_scores(place, &scores);
	if (scores.gain < GAIN / 8)
		return 0;
	for (ptrdiff_t i = -NEAR; i < NEAR; i++) {
		int32_t score = scores.of[value_at(place, i)];

		if (sum < least) {
			least = sum;
			least_at = i;
		}
		sum += score;
		near[i >= 0] += i >= 0 ? score : -score;
		if (i >= -NEXT && i < NEXT)
			next[i >= 0] += i >= 0 ? score : -score;
	}
	if (!loose && labs((long)least_at) > CLOSE)
		return 0;
	change = least_of(scores.gain * 8 / GAIN, least_of(near[0], near[1]) * 8 / NEAR_GAIN);
	change = least_of(change, least_of(next[0], next[1]) * 8 / NEXT_GAIN);
	return change > 0 ? change : 0;
}

/* How sharply values or differences change at `at`, of [start, end). */
static int32_t change_at(
	struct view *view, uint64_t start, uint64_t at, uint64_t end, size_t step, bool loose)
{
	struct place place;
	int32_t values, differences;
	const uint8_t *p;

	place.before = at - start < SIDE + NEAR + step ? (size_t)(at - start) : SIDE + NEAR + step;
	place.after = end - at < SIDE + NEAR ? (size_t)(end - at) : SIDE + NEAR;
	p = view_peek(view, at - place.before, place.before + place.after);
	if (!p || !view_work(view, WORK))
		return 0;
	place.bytes = p + place.before;
	place.step = 0;
	values = find_change(&place, loose);
	place.step = step;
	differences = find_change(&place, loose);
	return values > differences ? values : differences;
}

/* Whether the data change at the cluster at `at`, and not half as sharply at other sectors before it. */
static bool turns_at(struct view *view, uint64_t start, uint64_t at, uint64_t end, size_t step)
{
	int32_t change = change_at(view, start, at, end, step, false);
	uint64_t other = at - start > OTHERS_LEN + BEFORE ? at - OTHERS_LEN : start + BEFORE;

	if (change < 8)
		return false;
	for (other = (other + SECTOR - 1) / SECTOR * SECTOR; other + SECTOR < at; other += SECTOR)
		if (change_at(view, start, other, at < end ? at : end, step, true) * 2 >= change)
			return false;
	return true;
}

uint64_t turning_cluster(struct view *view, uint64_t start, uint64_t end, uint64_t step)
{
	uint64_t at = end - start > SEARCH_LEN ? end - SEARCH_LEN : start;
	size_t near = step < STEP_MAX ? (size_t)step : STEP_MAX;

	at = (at + BEFORE + USUAL_CLUSTER - 1) / USUAL_CLUSTER * USUAL_CLUSTER;
	for (; at + AFTER <= end; at += USUAL_CLUSTER)
		if (turns_at(view, start, at, end, near))
			return at;
	return end;
}

uint64_t turning_in_unit(struct view *view, uint64_t unit, uint64_t end)
{
	uint64_t at = (end - 1) / USUAL_CLUSTER * USUAL_CLUSTER, size = view_size(view);
	uint64_t stop = at + SIDE < size ? at + SIDE : size;

	if (at <= unit || at < 2 * BEFORE || stop < at + AFTER || !turns_at(view, 0, at, stop, 1))
		return end;
	return at;
}

enum verdict turning_uncounted(
	struct view *view, struct finding *finding, uint64_t unit, uint64_t end, const char *name)
{
	finding->length = turning_in_unit(view, unit, end);
	if (finding->length < end)
		return verdict_because(CARVE_TRUNCATED, finding,
			"bytes unlike the %ss before at %" PRIu64, name, finding->length);
	return walk_uncounted(view, finding, end, end, 0, name);
}
