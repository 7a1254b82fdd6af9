/*
 * Most fragmented files have two pieces. A layout of two is a break (where the first ends, in the
 * file) and a gap (how many clusters lie between the pieces). What the scan's carver validated shows
 * about where the break is: it noticed the wrong data there, or somewhat later, because some formats
 * notice late.
 *
 * A layout that the carver finds complete is not yet proved: where nobody checks the data, the break
 * might be elsewhere. So all other breaks with this gap, and all other gaps with this break, are
 * tried as well. If none of them is accepted the layout is unique. If several breaks are, all of
 * them share the first and the last bytes, and what is between is in doubt.
 */
#include <stdlib.h>

#include "assemble/strategies.h"
#include "base/memory.h"

#define BREAK_BEFORE \
	((uint64_t)128 << 10)           /* bytes: a break may be that far before the end of what
					      was validated */
#define BREAK_AFTER ((uint64_t)4 << 10) /* and that far after it */
#define CLOSE ((uint64_t)4 << 10)       /* breaks tried with all gaps first */
#define NEAR_GAPS 128
#define FAR_GAPS 8192
#define USUAL_CLUSTER 4096
/* What it is worth that a carver accepts a layout and none beside it. */
#define UNIQUE_BITS 40

/* What is searched: breaks in the order of their likelihood, as bytes of the file; gaps as bytes from
 * where the first piece ends to where the second begins. Negative gaps: it lies before. */
struct field {
	uint64_t *breaks;
	size_t break_count, close_count;
	int64_t *gaps;
	size_t gap_count, gap_capacity;
};

/* ---- breaks -------------------------------------------------------------------------------- */

static void find_breaks(
	const struct clusters *clusters, const struct broken *broken, struct field *field)
{
	uint64_t size = clusters->size, inside = (broken->start - clusters->origin) % size;
	uint64_t first = size - inside; /* of the file's first cluster */
	uint64_t least = broken->length > BREAK_BEFORE ? broken->length - BREAK_BEFORE : 0;
	uint64_t most = broken->length + (BREAK_AFTER > size ? BREAK_AFTER : size);
	uint64_t nearest, below, above;

	nearest = broken->length < first ? first : first + (broken->length - first) / size * size;
	field->breaks = xcalloc((most - least) / size + 3, sizeof(*field->breaks));
	field->breaks[field->break_count++] = nearest;
	below = above = nearest;
	for (;;) {
		bool any = false;

		if (above + size <= most) {
			field->breaks[field->break_count++] = above += size;
			any = true;
		}
		if (below >= first + size && below - size >= least) {
			field->breaks[field->break_count++] = below -= size;
			any = true;
		}
		if (!any)
			break;
		if (nearest - below <= CLOSE)
			field->close_count = field->break_count;
	}
	if (!field->close_count)
		field->close_count = field->break_count;
}

/* ---- gaps ---------------------------------------------------------------------------------- */

static bool has_gap(const struct field *field, int64_t gap)
{
	for (size_t i = 0; i < field->gap_count; i++)
		if (field->gaps[i] == gap)
			return true;
	return false;
}

static void add_gap(struct field *field, int64_t gap)
{
	if (has_gap(field, gap))
		return;
	field->gaps =
		xgrow(field->gaps, &field->gap_capacity, field->gap_count, sizeof(*field->gaps));
	field->gaps[field->gap_count++] = gap;
}

/* The commonest gaps are powers of two, then the smaller ones. Where clusters are small the gaps may
 * be those of larger ones. */
static void find_near_gaps(const struct clusters *clusters, struct field *field)
{
	int64_t size = (int64_t)clusters->size;

	for (int64_t n = 1; n <= 64; n *= 2)
		add_gap(field, n * size);
	for (int64_t n = 1; n <= NEAR_GAPS && size < USUAL_CLUSTER; n++)
		add_gap(field, n * USUAL_CLUSTER);
	for (int64_t n = 1; n <= NEAR_GAPS; n++)
		add_gap(field, n * size);
}

/* ---- trials -------------------------------------------------------------------------------- */

/* Lays out the two pieces. False: the second would be outside the image, or where a complete file
 * is, or another one starts. */
static bool lay_out(const struct workbench *bench, const struct broken *broken, uint64_t at,
	int64_t gap, struct extents *extents)
{
	const struct clusters *clusters = bench->clusters;
	uint64_t end = broken->start + at, second = end + (uint64_t)gap, left;

	if (end >= clusters->end || (gap < 0 && end < (uint64_t)-gap) || second >= clusters->end ||
		!clusters_are_free(clusters, second, 1) || clusters_is_start(clusters, second))
		return false;
	extents_clear(extents);
	extents_add(extents, broken->start, at);
	left = clusters->end - second;
	if (gap < 0 && second < broken->start && left > broken->start - second)
		left = broken->start - second;
	extents_add(extents, second, left);
	return true;
}

static bool try(struct workbench *bench, const struct broken *broken, uint64_t at, int64_t gap,
	struct extents *extents, struct outcome *outcome)
{
	if (!lay_out(bench, broken, at, gap, extents) || !workbench_try(bench, extents, outcome))
		return false;
	if (outcome->length > at)
		return true;
	outcome_free(outcome); /* the second piece was not needed */
	return false;
}

/* All breaks with this gap: the least and the largest that is accepted. */
static void find_other_breaks(struct workbench *bench, const struct broken *broken,
	const struct field *field, int64_t gap, uint64_t *least, uint64_t *most)
{
	struct extents extents = { 0 };
	struct outcome outcome;

	for (size_t i = 0; i < field->break_count; i++) {
		uint64_t at = field->breaks[i];

		if ((at >= *least && at <= *most) ||
			!try(bench, broken, at, gap, &extents, &outcome))
			continue;
		outcome_free(&outcome);
		if (at < *least)
			*least = at;
		if (at > *most)
			*most = at;
	}
	extents_free(&extents);
}

/* Whether another gap is accepted with this break. */
static bool has_other_gap(struct workbench *bench, const struct broken *broken,
	const struct field *field, uint64_t at, int64_t gap)
{
	struct extents extents = { 0 };
	struct outcome outcome;
	bool found = false;

	for (size_t i = 0; i < field->gap_count && !found; i++) {
		if (field->gaps[i] == gap)
			continue;
		found = try(bench, broken, at, field->gaps[i], &extents, &outcome);
		if (found)
			outcome_free(&outcome);
	}
	extents_free(&extents);
	return found;
}

/* The layout was accepted: how sure it is. length: of the file. */
static void judge(struct workbench *bench, const struct broken *broken, const struct field *field,
	uint64_t at, int64_t gap, uint64_t length, struct assembly *assembly)
{
	uint64_t least = at, most = at;

	find_other_breaks(bench, broken, field, gap, &least, &most);
	if (has_other_gap(bench, broken, field, at, gap) || !workbench_goes_on(bench))
		most = length;
	if (least == most) {
		assembly->evidence = UNIQUE_BITS;
		return;
	}
	assembly->doubt_count = 1;
	assembly->doubt[0] = (struct range){ least, most - least };
}

static bool search(struct workbench *bench, const struct broken *broken, const struct field *field,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	for (unsigned round = 0; round < 2; round++) {
		size_t from = round ? field->close_count : 0;
		size_t to = round ? field->break_count : field->close_count;

		for (size_t g = 0; g < field->gap_count; g++)
			for (size_t b = from; b < to; b++) {
				if (!workbench_goes_on(bench))
					return false;
				if (!try(bench, broken, field->breaks[b], field->gaps[g], extents,
					    outcome))
					continue;
				judge(bench, broken, field, field->breaks[b], field->gaps[g],
					outcome->length, assembly);
				return true;
			}
	}
	return false;
}

bool find_near(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	struct field field = { 0 };
	bool found;

	if (broken->start < bench->clusters->origin)
		return false;
	find_breaks(bench->clusters, broken, &field);
	find_near_gaps(bench->clusters, &field);
	workbench_prepare(bench, broken);
	found = search(bench, broken, &field, extents, outcome, assembly);
	free(field.breaks);
	free(field.gaps);
	return found;
}
