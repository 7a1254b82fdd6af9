/*
 * A text in which clusters of another text lie may still be well-formed: in an element, a comment or a group any text may
 * be, and a missing quote takes in all up to the next. But the other text has other pairs of characters, and it begins
 * and ends exactly with a cluster, which a file's own parts do by chance only.
 *
 * At each sector a code is made for the pairs of the 4 KiB before it, and one for those after it, both without the 64 bytes nearest to
 * the sector's start, which they then have to tell apart, with the change within a few bytes of the start. The same two codes have
 * to show the change back at a later sector. At sectors where no usual cluster begins the change has to be sharper.
 * Logarithms are in sixteenths of a bit, without floating point.
 *
 * In clusters of 512 bytes such a gap is shorter than what a code is made for, so codes are also made for less, and then the change back is
 * looked for near only. There it also suffices that the first codes show it as at a cluster's start, and codes made there as sharply as
 * at a sector's.
 *
 * The other text may also go on to the end: then a change at a cluster's start that is as sharp suffices, or one that its
 * strings show, which texts in one language of markup have in common less than parts of one text. Those across the start are
 * hardly elsewhere, and near it each side has those that it has elsewhere rather than the other side's.
 *
 * How often whole files look like that, and what is found: tests/bench/RESULTS.md.
 */
#include "text_gap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base64_lines.h"
#include "logarithm.h"
#include "walk.h"

#define PAIRS 1024 /* slots of a code, each for some pairs */
#define SIDE ((size_t)4096)
#define NEAR 64
#define NEXT 16              /* and the nearest of these */
#define FIRST (2 * SECTOR)   /* bytes before the first gap, at least */
#define GAIN (LOG_BIT / 4)   /* saved on a pair by two codes instead of one */
#define CANDIDATES 64        /* places in a file from which on the other end is looked for */
#define BACK_WORK (2 * NEAR) /* and to tell whether they change back */
#define SAMPLE 8             /* bytes of which one is counted before any code is made */
#define DISTANCE_UNIT 16
#define STRINGS_SIDE ((size_t)8192) /* bytes on either side whose strings are known */
#define STRINGS_NEAR ((size_t)1024) /* those nearest to the start that are compared */
#define STRINGS_BEFORE 3072         /* bytes before it and after it, at least */
#define STRINGS_AFTER 1024
#define STRING 5 /* bytes */
#define STRING_SLOTS 65536
#define APART 8 /* bytes next to the start in which those across it are not looked for */
#define STRANGE_LEAST 3
#define STRANGE_POINTS 5 /* hundredths */
#define BREAK_POINTS 150
#define STRANGE_WORK 2048  /* units to look for strings across a start... */
#define BREAK_WORK 16384   /* ...and for those of both sides */
#define CLUSTER_DISTANCE 4 /* sixteenths of these that differ on both sides, at least */
#define SECTOR_DISTANCE 6  /* the same where no usual cluster begins */

/* What is required of a change. */
static const struct sharpness {
	ptrdiff_t
		close; /* bytes from the sector's start to the place where the codes differ most */
	int32_t near, next; /* what NEAR and NEXT bytes save by their own side's code */
} at_cluster = { 8, 16 * LOG_BIT, 2 * LOG_BIT }, at_sector = { 4, 64 * LOG_BIT, 5 * LOG_BIT };

/* What is looked at. */
static const struct scale {
	size_t around; /* bytes on either side */
	uint64_t most; /* bytes of a gap */
} scales[] = { { SIDE + NEAR, UINT64_MAX }, { 2 * SECTOR, 8 * SECTOR }, { SECTOR, 2 * SECTOR } };

#define SCALES (sizeof(scales) / sizeof(*scales))

/* By how much the code for what is after a place describes pairs shorter than that for what is before. */
struct codes {
	int32_t gains[PAIRS];
};

/* The slot of the pair that ends with *p. */
static unsigned slot(const uint8_t *p)
{
	return (p[0] * 0x9e37U + p[-1] * 0xb913U) >> 6 & (PAIRS - 1);
}

/* What pairs of one side save, having this many of a slot, of `all` in both. */
static int64_t saved(uint32_t count, uint32_t all)
{
	return count ? (int64_t)count * (log_16(count) - log_16(all)) : 0;
}

/* Makes the codes for what is around p. False: they hardly differ. */
static bool make_codes(const uint8_t *p, size_t before_len, size_t after_len, struct codes *codes)
{
	uint16_t before[PAIRS] = { 0 }, after[PAIRS] = { 0 };
	uint32_t left = (uint32_t)before_len - NEAR - 1, right = (uint32_t)after_len - NEAR;
	int32_t base = log_16(left + PAIRS / 2) - log_16(right + PAIRS / 2);
	int64_t gain = (int64_t)left * (log_16(left + right) - log_16(left)) +
		       (int64_t)right * (log_16(left + right) - log_16(right));

	for (const uint8_t *q = p - before_len + 1; q < p - NEAR; q++)
		before[slot(q)]++;
	for (const uint8_t *q = p + NEAR; q < p + after_len; q++)
		after[slot(q)]++;
	for (unsigned i = 0; i < PAIRS; i++)
		if (before[i] | after[i])
			gain += saved(before[i], before[i] + after[i]) +
				saved(after[i], before[i] + after[i]);
	if (gain < (int64_t)GAIN * (left + right))
		return false;
	for (unsigned i = 0; i < PAIRS; i++)
		codes->gains[i] = log_16(2 * after[i] + 1U) - log_16(2 * before[i] + 1U) + base;
	return true;
}

/* Whether the codes show a change at p: to what was after the place that they were made for (sign 1), or back (sign -1). */
static bool changes(const uint8_t *p, const struct codes *codes, int32_t sign,
	const struct sharpness *sharpness)
{
	int32_t sum = 0, least = INT32_MAX, near[2] = { 0 }, next[2] = { 0 };
	ptrdiff_t least_at = 0;

	for (ptrdiff_t i = -NEAR; i < NEAR; i++) {
		int32_t gain = sign * codes->gains[slot(p + i)];
		int32_t own = i >= 0 ? gain : -gain;

		if (sum < least) {
			least = sum;
			least_at = i;
		}
		sum += gain;
		near[i >= 0] += own;
		next[i >= 0] += i >= -NEXT && i < NEXT ? own : 0;
	}
	return labs((long)least_at) <= sharpness->close && near[0] >= sharpness->near &&
	       near[1] >= sharpness->near && next[0] >= sharpness->next &&
	       next[1] >= sharpness->next;
}

static bool is_cluster(uint64_t at)
{
	return at % USUAL_CLUSTER == 0;
}

/* A part of the text that was read last. */
struct window {
	struct view *view;
	uint64_t at, end; /* in the file; of the text */
	const uint8_t *bytes;
	size_t len;
};

/* The byte at `at`, with `before` bytes before it, and `after` from it on, all in the text. NULL: they can't be read. */
static const uint8_t *look(struct window *window, uint64_t at, size_t before, size_t after)
{
	uint64_t first = at - before;

	if (!window->bytes || first < window->at || at + after > window->at + window->len) {
		window->at = first;
		window->bytes = walk_window(window->view, first, window->end, &window->len);
		if (!window->bytes || window->len < before + after)
			return window->bytes = NULL;
	}
	return window->bytes + (at - window->at);
}

/* Whether enough bytes differ on both sides of `at`, where p is, for codes for pairs to differ. */
static bool may_change(const uint8_t *p, size_t before_len, size_t after_len, uint64_t at)
{
	uint32_t before[256] = { 0 }, after[256] = { 0 };
	uint32_t left = 0, right = 0, share = is_cluster(at) ? CLUSTER_DISTANCE : SECTOR_DISTANCE;
	uint64_t distance = 0;

	for (size_t i = 0; i < before_len; i += SAMPLE, left++)
		before[(p - before_len)[i]]++;
	for (size_t i = 0; i < after_len; i += SAMPLE, right++)
		after[p[i]]++;
	for (unsigned i = 0; i < 256; i++)
		distance +=
			(uint32_t)abs((int32_t)(before[i] * right) - (int32_t)(after[i] * left));
	return distance * DISTANCE_UNIT >= (uint64_t)2 * left * right * share;
}

/* Whether the text changes at `at`, as `codes` then show. */
static bool changes_at(
	struct window *window, uint64_t at, size_t around, struct codes *codes, bool *is_sharp)
{
	size_t before = at < around ? (size_t)at : around;
	size_t after = window->end - at < around ? (size_t)(window->end - at) : around;
	const uint8_t *p = look(window, at, before, after);

	if (!p || !view_work(window->view, around / SAMPLE) || !may_change(p, before, after, at) ||
		!view_work(window->view, 2 * around) || !make_codes(p, before, after, codes))
		return false;
	*is_sharp = changes(p, codes, 1, &at_sector);
	return *is_sharp || (is_cluster(at) && changes(p, codes, 1, &at_cluster));
}

/* Whether the text changes back at `at`, as `codes` show, or new ones, too. */
static bool changes_back(struct window *window, uint64_t at, const struct codes *codes,
	const struct sharpness *sharpness, const struct scale *scale)
{
	const uint8_t *p = look(window, at, NEAR + 1, NEAR);
	struct codes own;
	bool is_sharp;

	if (!p || !view_work(window->view, BACK_WORK))
		return false;
	if (changes(p, codes, -1, sharpness))
		return true;
	return scale->most < UINT64_MAX && changes(p, codes, -1, &at_cluster) &&
	       changes_at(window, at, scale->around, &own, &is_sharp) && is_sharp;
}

/* Looks for the change back after `from`. */
static bool find_back(struct window *window, uint64_t from, const struct codes *codes,
	bool is_sharp, const struct scale *scale, uint64_t *to)
{
	uint64_t step = is_sharp ? SECTOR : USUAL_CLUSTER;

	for (*to = from + step; *to + NEAR <= window->end && *to - from <= scale->most; *to += step)
		if (changes_back(window, *to, codes,
			    is_cluster(from) && is_cluster(*to) ? &at_cluster : &at_sector, scale))
			return true;
	return false;
}

/* Whether a string is in the bytes around `joint`, of which before and after those next to it. */
static bool is_elsewhere(
	const uint8_t *joint, size_t before, size_t after, const uint8_t *string, size_t len)
{
	return memmem(joint - before, before - APART, string, len) ||
	       memmem(joint + APART, after - APART, string, len);
}

/* How strange the bytes at a joint are together: a string of two counts as much as two of three or four of four. 0: those of
 * three are usual. */
static unsigned strangeness(const uint8_t *joint, size_t before, size_t after)
{
	unsigned sum = 0;

	for (unsigned first = 1; first < 3; first++)
		sum += is_elsewhere(joint, before, after, joint - first, 3) ? 0 : 2;
	if (!sum)
		return 0;
	for (unsigned first = 1; first < 4; first++)
		sum += is_elsewhere(joint, before, after, joint - first, 4) ? 0 : 1;
	return sum + (is_elsewhere(joint, before, after, joint - 1, 2) ? 0 : 4);
}

/* Which strings a side has, and which it has twice. */
struct strings {
	uint8_t once[STRING_SLOTS / 8], twice[STRING_SLOTS / 8];
};

static unsigned string_slot(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < STRING; i++)
		value = value << 8 | bytes[i];
	return (unsigned)((value * 0x9e3779b97f4a7c15U) >> 48);
}

static void note_strings(struct strings *strings, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i + STRING <= len; i++) {
		unsigned at = string_slot(bytes + i);
		uint8_t bit = (uint8_t)(1U << at % 8);

		strings->twice[at / 8] |= strings->once[at / 8] & bit;
		strings->once[at / 8] |= bit;
	}
}

/* By how many hundredths of its strings a part of one side rather is of its own than of the other. */
static int side_points(
	const struct strings *own, const struct strings *other, const uint8_t *bytes, size_t len)
{
	int sum = 0;

	for (size_t i = 0; i + STRING <= len; i++) {
		unsigned at = string_slot(bytes + i);

		sum += (own->twice[at / 8] >> at % 8 & 1) - (other->once[at / 8] >> at % 8 & 1);
	}
	return len < STRING ? 0 : sum * 100 / (int)(len - STRING + 1);
}

/* Whether another text begins at `at`, by strings. */
static bool breaks_at(struct window *window, uint64_t at)
{
	size_t before = at < STRINGS_SIDE ? (size_t)at : STRINGS_SIDE;
	uint64_t left = window->end - at;
	size_t after = left < STRINGS_SIDE ? (size_t)left : STRINGS_SIDE;
	size_t near_before = before / 2 < STRINGS_NEAR ? before / 2 : STRINGS_NEAR;
	size_t near_after = after / 2 < STRINGS_NEAR ? after / 2 : STRINGS_NEAR;
	struct strings sides[2] = { 0 };
	const uint8_t *p;
	unsigned strange;

	if (before < STRINGS_BEFORE || after < STRINGS_AFTER)
		return false;
	p = look(window, at, before, after);
	if (!p || !view_work(window->view, STRANGE_WORK))
		return false;
	strange = strangeness(p, before, after);
	if (strange < STRANGE_LEAST || !view_work(window->view, BREAK_WORK))
		return false;
	note_strings(&sides[0], p - before, before);
	note_strings(&sides[1], p, after);
	return side_points(&sides[0], &sides[1], p - near_before, near_before) +
		       side_points(&sides[1], &sides[0], p, near_after) +
		       (int)(strange * STRANGE_POINTS) >
	       BREAK_POINTS;
}

bool text_gap_find(struct view *view, uint64_t end, bool to_end, uint64_t *from, uint64_t *to)
{
	struct window window = { .view = view, .end = end }, others = window;
	unsigned candidates = 0;
	struct codes codes;
	bool is_sharp, is_break;

	for (*from = FIRST; *from + SECTOR + NEAR <= end && candidates < CANDIDATES;
		*from += SECTOR) {
		is_break = false;
		if (changes_at(&window, *from, scales->around, &codes, &is_sharp)) {
			candidates++;
			is_break = is_sharp;
			window.bytes = others.bytes = NULL; /* only what was read last is there */
			if (find_back(&others, *from, &codes, is_sharp, scales, to))
				return true;
			window.bytes = NULL;
		}
		for (const struct scale *scale = scales + 1; scale < scales + SCALES; scale++)
			if (changes_at(&window, *from, scale->around, &codes, &is_sharp) &&
				is_sharp && find_back(&window, *from, &codes, true, scale, to))
				return true;
		*to = end;
		if (to_end && is_cluster(*from) && (is_break || breaks_at(&window, *from)))
			return true;
	}
	return false;
}

enum verdict text_gap_found(struct view *view, struct finding *finding, uint64_t from, uint64_t to)
{
	bool in_pieces = walk_assembles(view);

	if (in_pieces)
		finding->length = from;
	return verdict_because(in_pieces ? CARVE_TRUNCATED : CARVE_UNVERIFIED, finding,
		"another text from %" PRIu64 " to %" PRIu64, from, to);
}

enum verdict text_gap_verdict(struct view *view, bool to_end, struct finding *finding)
{
	uint64_t from, to;

	if (!base64_find_cut(view, finding->length, &from, &to) &&
		!text_gap_find(view, finding->length, to_end, &from, &to))
		return CARVE_COMPLETE;
	return text_gap_found(view, finding, from, to);
}
