/*
 * Windows metafiles ([MS-WMF]).
 *
 *	optionally, 22 bytes: D7 CD C6 9A, a frame, and a checksum of the words before it
 *	META_HEADER, 18 bytes: type, 9, version 1.0 or 3.0, and the size of the file in words
 *	records: size in words (4 bytes, itself included), function (2 bytes), parameters
 *
 * The sizes lead from record to record; a record of size 3 and function 0 ends the file. Each
 * function has to be one that exists. The size in the header is not used: some programs count the
 * first 22 bytes, others do not. A record is valid once another record follows it.
 *
 * Where pieces are put together records of most functions have to be as long as they are, objects have to be created before they are selected or
 * deleted, and the header's size, counted in either way, has to be the file's: foreign records of the same kind seldom agree with all of that.
 */
#include "carver.h"

#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "walk.h"

#define PLACEABLE_LEN 22
#define HEADER_LEN 18
/* Records that make certain that a file which is cut later is a WMF. */
#define SURE 4

/* Whether the function exists: [MS-WMF] 2.1.1.1. */
static bool known(uint16_t function)
{
	static const uint16_t functions[] = { 0x001e, 0x0035, 0x0037, 0x004f, 0x0050, 0x0052,
		0x005e, 0x00f7, 0x00f8, 0x0102, 0x0103, 0x0104, 0x0105, 0x0106, 0x0107, 0x0108,
		0x0127, 0x012a, 0x012b, 0x012c, 0x012d, 0x012e, 0x0139, 0x0142, 0x0149, 0x014c,
		0x014d, 0x01f0, 0x01f9, 0x0201, 0x0209, 0x020a, 0x020b, 0x020c, 0x020d, 0x020e,
		0x020f, 0x0211, 0x0213, 0x0214, 0x0220, 0x0228, 0x0229, 0x0231, 0x0234, 0x02fa,
		0x02fb, 0x02fc, 0x02fd, 0x0324, 0x0325, 0x0410, 0x0412, 0x0415, 0x0416, 0x0418,
		0x0419, 0x041b, 0x041f, 0x0429, 0x0436, 0x0521, 0x0538, 0x0548, 0x061c, 0x061d,
		0x0626, 0x062f, 0x06fe, 0x06ff, 0x0817, 0x081a, 0x0830, 0x0922, 0x0940, 0x0a32,
		0x0b23, 0x0b41, 0x0d33, 0x0f43 };
	size_t count = sizeof(functions) / sizeof(functions[0]);

	for (size_t i = 0; i < count; i++)
		if (functions[i] == function)
			return true;
	return false;
}

/* ---- what pieces have to agree with --------------------------------------------------------- */

#define OBJECTS_MAX 4096

/* The objects that records have created: each gets the first number that is free ([MS-WMF] 3.1.4.1). */
struct objects {
	unsigned count; /* that may be at a time; 0: not known */
	uint8_t used[OBJECTS_MAX / 8];
};

static bool is_used(const struct objects *objects, unsigned n)
{
	return n < objects->count && objects->used[n / 8] >> n % 8 & 1;
}

static bool create_object(struct objects *objects)
{
	unsigned n = 0;

	while (is_used(objects, n))
		n++;
	if (n == objects->count)
		return false;
	objects->used[n / 8] |= (uint8_t)(1 << n % 8);
	return true;
}

/* Whether a record agrees with the objects that there are. */
static bool has_object(struct objects *objects, uint16_t function, unsigned number)
{
	if (!objects->count)
		return true;
	switch (function) {
	case 0x00f7:
	case 0x0142:
	case 0x01f9:
	case 0x02fa:
	case 0x02fb:
	case 0x02fc:
	case 0x06ff:
		return create_object(objects);
	case 0x012d:
		return is_used(objects, number);
	case 0x01f0:
		if (!is_used(objects, number))
			return false;
		objects->used[number / 8] &= (uint8_t) ~(1 << number % 8);
		return true;
	default:
		return true;
	}
}

/* The words of a record of this function, if all have as many, or one more; 0: they differ ([MS-WMF] 2.3). */
static unsigned fixed_len(uint16_t function)
{
	static const struct {
		uint8_t len;
		uint16_t functions[18];
	} lens[] = {
		{ 3, { 0x001e, 0x0035 } },
		{ 4, { 0x0102, 0x0103, 0x0104, 0x0106, 0x0107, 0x0108, 0x0127, 0x012c, 0x012d,
			     0x012e, 0x01f0, 0x0234 } },
		{ 5, { 0x0201, 0x0209, 0x020a, 0x020b, 0x020c, 0x020d, 0x020e, 0x020f, 0x0211,
			     0x0213, 0x0214, 0x0220, 0x0228, 0x0231 } },
		{ 7, { 0x02fc, 0x0410, 0x0412, 0x0415, 0x0416, 0x0418, 0x0419, 0x041b, 0x041f,
			     0x0429 } },
		{ 8, { 0x02fa, 0x0548 } },
		{ 9, { 0x061c, 0x061d } },
		{ 11, { 0x0817, 0x081a, 0x0830 } },
	};

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++)
		for (size_t k = 0; lens[i].functions[k]; k++)
			if (lens[i].functions[k] == function)
				return lens[i].len;
	return 0;
}

/* Whether a record of `words` words is as long as the points, or polygons, of which it has the number. */
static bool has_points(struct view *view, uint64_t at, uint16_t function, uint64_t words)
{
	const uint8_t *p = view_peek(view, at, 8);
	uint64_t polygons = p ? le16(p + 6) : 0, points = 0;

	if (!p)
		return true;
	if (function != 0x0538)
		return words == 4 + 2 * polygons;
	p = view_peek(view, at + 8, 2 * (size_t)polygons);
	for (uint64_t i = 0; p && i < polygons; i++)
		points += le16(p + 2 * i);
	return !p || words == 4 + polygons + 2 * points;
}

/* Whether the record at `at`, of `words` words, can be the next one. */
static bool may_follow(struct view *view, struct objects *objects, uint64_t at, uint64_t words)
{
	const uint8_t *p = view_peek(view, at, 6);
	uint16_t function = p ? le16(p + 4) : 0;
	unsigned fixed = fixed_len(function), number = 0;

	if (fixed && words != fixed && words != fixed + 1)
		return false;
	if ((function == 0x0324 || function == 0x0325 || function == 0x0538) &&
		(words < 4 || !has_points(view, at, function, words)))
		return false;
	if (words > 3 && (p = view_peek(view, at, 8)))
		number = le16(p + 6);
	return has_object(objects, function, number);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Reads the heads and moves *at past them; *end: the file's, by its own account. Returns what is wrong with
 * them, or NULL. */
static const char *read_heads(struct view *view, uint64_t *at, uint64_t *end)
{
	const uint8_t *p = view_peek(view, 0, PLACEABLE_LEN);

	*at = 0;
	if (p && le32(p) == 0x9ac6cdd7) {
		uint16_t sum = 0;

		for (int i = 0; i < 20; i += 2)
			sum ^= le16(p + i);
		/* Some programs leave it out. */
		if (sum != le16(p + 20) && le16(p + 20) != 0)
			return "the checksum of the placeable header is wrong";
		*at = PLACEABLE_LEN;
		view_part(view, PLACEABLE_LEN); /* what follows is a metafile too */
	}
	p = view_peek(view, *at, HEADER_LEN);
	*end = p ? *at + 2 * (uint64_t)le32(p + 6) : 0;
	if (!p || le16(p) < 1 || le16(p) > 2 || le16(p + 2) != 9 ||
		(le16(p + 4) != 0x0100 && le16(p + 4) != 0x0300))
		return "no metafile header";
	*at += HEADER_LEN;
	return NULL;
}

static enum verdict broken_verdict(
	struct view *view, struct finding *finding, unsigned count, uint64_t last, uint64_t at)
{
	if (count < SURE)
		return verdict_because(CARVE_REJECT, finding, "no known record at %" PRIu64, at);
	if (view_size(view) - at < 6)
		return walk_cut(view, finding, at + 6, view_size(view));
	finding->length = last;
	return verdict_because(CARVE_TRUNCATED, finding, "no known record at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	bool is_strict = view_thorough(view) || view_is_trial(view);
	struct objects objects = { 0 };
	uint64_t at, last, end;
	const char *problem = read_heads(view, &at, &end);
	const uint8_t *head;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, at);
	head = view_peek(view, at - HEADER_LEN, HEADER_LEN);
	if (head && le16(head + 10) <= OBJECTS_MAX)
		objects.count = le16(head + 10);
	last = at;
	for (unsigned count = 0;; count++) {
		const uint8_t *p = view_peek(view, at, 6);
		uint64_t len = p ? le32(p) * 2ull : 0;

		if (p && len == 6 && le16(p + 4) == 0 && count) {
			finding->length = at + 6;
			if (is_strict && at + 6 != end && at + 6 + PLACEABLE_LEN != end)
				return verdict_because(CARVE_UNVERIFIED, finding,
					"the header has another size than %" PRIu64, at + 6);
			return CARVE_COMPLETE;
		}
		if (!p || len < 6 || !known(le16(p + 4)))
			return broken_verdict(view, finding, count, last, at);
		if (len > view_size(view) - at) {
			/* Not cut, if all that the header announces is there. */
			if (count < SURE || end <= view_size(view))
				return broken_verdict(view, finding, count, last, at);
			return walk_cut(view, finding, at + len, view_size(view));
		}
		if (is_strict && !may_follow(view, &objects, at, len / 2))
			return broken_verdict(view, finding, count, at, at);
		last = at;
		at += len;
	}
}

const struct carver wmf_carver = {
	.name = "wmf",
	.summary = "Windows metafiles, by their records",
	.check = check,
};
