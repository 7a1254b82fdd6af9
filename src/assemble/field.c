#include "assemble/field.h"

#include <stdlib.h>

#include "base/memory.h"

/* Bytes: a break may be that far from the end of what was validated. Some formats notice wrong data
 * late, others only know that a large part as a whole is wrong; but it is hardly later than what the
 * carver looked at. */
#define BREAK_FAR ((uint64_t)128 << 10)
#define BREAK_AFTER ((uint64_t)4 << 10)
#define CLOSE ((uint64_t)4 << 10) /* breaks tried with all gaps first */
#define FEW_GAPS 16
#define NEAR_GAPS 128
#define BOTH_GAPS 256
#define WIDE_GAPS 4096
#define POWERS 2 /* 32 and 64 clusters */
#define END_SEEN \
	((uint64_t)8 << 10) /* a carver that looks as far ahead knows where the file ends */
#define RUNS_MAX 256        /* that a piece goes on over; more hold no file that could be found */

/* ---- pieces -------------------------------------------------------------------------------- */

/* ranges_after, from what it returned for a smaller offset: that is often still right, or the one after it. */
static const struct range *go_on_to(
	const struct ranges *ranges, const struct range *range, uint64_t offset)
{
	if (!range)
		return NULL;
	if (range->offset + range->length <= offset)
		range++;
	return range < ranges->items + ranges->count && range->offset + range->length > offset
		       ? range
		       : ranges_after(ranges, offset);
}

static uint64_t last_end(const struct extents *extents)
{
	uint64_t last = 0;

	for (size_t i = 0; i < extents->count; i++) {
		uint64_t end = extents->runs[i].offset + extents->runs[i].length;

		last = end > last ? end : last;
	}
	return last;
}

/* Where the first obstacle at or after offset is: a complete file, of which `taken` is the next one, or
 * what this file has already. Returns its end, and its start in *from; without any, the image's end. */
static uint64_t next_obstacle(const struct clusters *clusters, const struct range *taken,
	const struct extents *extents, size_t own, uint64_t offset, uint64_t *from)
{
	uint64_t end = clusters->end;

	*from = clusters->end;
	if (taken) {
		*from = taken->offset;
		end = taken->offset + taken->length;
	}
	for (size_t i = 0; i < own; i++) {
		const struct range *run = &extents->runs[i];

		if (run->offset + run->length <= offset || run->offset >= *from)
			continue;
		*from = run->offset;
		end = run->offset + run->length;
	}
	return clusters_next(clusters, end);
}

/* Adds what is listed from offset on, until there are `most` runs, of which one more has room. */
static void add_listed(
	const struct clusters *clusters, struct extents *extents, uint64_t offset, size_t most)
{
	const struct range *run = clusters_free_after(clusters, offset);
	size_t left;

	if (!run)
		return;
	if (run->offset > offset)
		offset = run->offset;
	/* That may continue what the file has. */
	extents_add(extents, offset, run->offset + run->length - offset);
	run++;
	left = (size_t)(clusters->free_runs + clusters->free_count - run);
	if (left > most - extents->count)
		left = most - extents->count;
	if (left)
		extents_add_apart(extents, run, left);
}

/* Adds all free clusters from offset on, RUNS_MAX runs of them at most. Up to the end of what the file has already they are
 * looked for; what comes after is listed for the pass. */
static void add_free(const struct clusters *clusters, struct extents *extents, uint64_t offset)
{
	const struct range *taken = ranges_after(&clusters->taken, offset);
	size_t own = extents->count, most = own + RUNS_MAX;
	uint64_t own_end = last_end(extents);

	while (offset < clusters->end && extents->count < most) {
		uint64_t from, end;

		if (clusters->free_runs && offset >= own_end) {
			add_listed(clusters, extents, offset, most);
			return;
		}
		taken = go_on_to(&clusters->taken, taken, offset);
		end = next_obstacle(
			clusters, taken, extents, offset < own_end ? own : 0, offset, &from);
		if (from > offset)
			extents_add(extents, offset, from - offset);
		offset = end;
	}
}

static uint64_t length_of(const struct extents *extents)
{
	uint64_t length = 0;

	for (size_t i = 0; i < extents->count; i++)
		length += extents->runs[i].length;
	return length;
}

/* What is laid out up to the tail, and the tail. False: there is not enough. */
static bool add_tail(
	const struct clusters *clusters, const struct tail *tail, struct extents *extents)
{
	uint64_t place = tail->from + tail->shift, left = clusters->end - place;

	if (!tail->from)
		return true;
	if (length_of(extents) < tail->from || place >= clusters->end)
		return false;
	if (tail->length && tail->length <= tail->from)
		return false;
	if (tail->length && tail->length - tail->from < left)
		left = tail->length - tail->from;
	extents_cut(extents, tail->from);
	extents_add(extents, place, left);
	return true;
}

bool partial_begin(const struct clusters *clusters, const struct broken *broken,
	const struct tail *tail, struct partial *partial)
{
	uint64_t head = (broken->length + clusters->size - 1) / clusters->size * clusters->size;

	*partial = (struct partial){ .reached = broken->length };
	if (head > clusters->end - broken->start)
		head = clusters->end - broken->start;
	/* What is in the file may look like a complete one. */
	extents_add(&partial->extents, broken->start, head);
	add_free(clusters, &partial->extents, broken->start + head);
	if (tail)
		partial->tail = *tail;
	return add_tail(clusters, &partial->tail, &partial->extents);
}

void partial_free(struct partial *partial)
{
	extents_free(&partial->extents);
	free(partial->breaks.items);
	partial->breaks = (struct breaks){ 0 };
}

void partial_copy(struct partial *to, const struct partial *from)
{
	partial_free(to);
	*to = *from;
	to->extents = (struct extents){ 0 };
	to->breaks = (struct breaks){ 0 };
	extents_set(&to->extents, from->extents.runs, from->extents.count);
}

/* ---- breaks -------------------------------------------------------------------------------- */

static void add_break(struct breaks *breaks, uint64_t at)
{
	breaks->items[breaks->count++] = at;
}

/* Breaks that are still to be added, on both sides of those that were. */
struct sides {
	uint64_t below, above, least, most, size;
};

/* Adds `count` breaks upwards, and as many downwards, in turns. */
static void add_around(struct breaks *breaks, struct sides *sides, uint64_t count)
{
	for (; count; count--) {
		sides->above += sides->size;
		if (sides->above <= sides->most)
			add_break(breaks, sides->above);
		if (sides->below >= sides->least + sides->size)
			add_break(breaks, sides->below -= sides->size);
	}
}

void partial_find_breaks(const struct clusters *clusters, struct partial *partial)
{
	struct breaks *breaks = &partial->breaks;
	uint64_t size = clusters->size, reached = partial->reached, first = partial->joint + size;
	uint64_t least = reached > BREAK_FAR + first ? reached - BREAK_FAR : first;
	uint64_t most = reached + (BREAK_AFTER > size ? BREAK_AFTER : size);
	uint64_t seen = partial->seen < reached + BREAK_FAR ? partial->seen : reached + BREAK_FAR;
	uint64_t nearest = reached < first ? first : reached / size * size;
	struct sides sides = { nearest, nearest, least, most < seen ? seen : most, size };

	if (partial->tail.from && sides.most > partial->tail.from)
		sides.most = partial->tail.from > nearest ? partial->tail.from : nearest;
	free(breaks->items);
	*breaks = (struct breaks){ 0 };
	least = least < sides.most ? least : sides.most;
	breaks->items = xcalloc((sides.most - least) / size + 5, sizeof(uint64_t));
	add_break(breaks, nearest);
	if (partial->seen > nearest + size && nearest + size <= sides.most)
		add_break(breaks, sides.above += size);
	breaks->ends[ZONE_HERE] = breaks->count;
	if (partial->same >= first && partial->same / size * size < nearest)
		add_break(breaks, partial->same / size * size);
	breaks->ends[ZONE_CHANGE] = breaks->count;
	add_around(breaks, &sides, 1);
	breaks->ends[ZONE_NEXT] = breaks->count;
	add_around(breaks, &sides, CLOSE > size ? CLOSE / size - 1 : 0);
	breaks->ends[ZONE_CLOSE] = breaks->count;
	while (sides.below >= sides.least + size)
		add_break(breaks, sides.below -= size);
	breaks->ends[ZONE_BEFORE] = breaks->count;
	while (sides.above + size <= sides.most)
		add_break(breaks, sides.above += size);
	breaks->ends[ZONE_AFTER] = breaks->count;
}

void breaks_drop(struct breaks *breaks, size_t index)
{
	breaks->count--;
	for (size_t i = index; i < breaks->count; i++)
		breaks->items[i] = breaks->items[i + 1];
	for (size_t z = 0; z < ZONE_COUNT; z++)
		breaks->ends[z] -= breaks->ends[z] > index;
}

/* ---- gaps ---------------------------------------------------------------------------------- */

/* The commonest gaps are powers of two, then the smaller ones. */
static bool near_gap(const struct clusters *clusters, uint64_t number, int64_t *gap)
{
	uint64_t size = clusters->size;

	if (number < POWERS) {
		*gap = (int64_t)(2 * FEW_GAPS * size << number);
		return true;
	}
	number -= POWERS;
	*gap = (int64_t)((FEW_GAPS + number + 1) * size);
	return FEW_GAPS + number < NEAR_GAPS;
}

/* The most clusters that a ring's gaps have, in both directions. */
static uint64_t ring_end(const struct clusters *clusters, enum ring ring)
{
	switch (ring) {
	case RING_BOTH:
		return BOTH_GAPS;
	case RING_WIDE:
		return BOTH_GAPS + WIDE_GAPS;
	default:
		return clusters->end / clusters->size;
	}
}

bool ring_gap(const struct clusters *clusters, enum ring ring, uint64_t number, int64_t *gap)
{
	uint64_t first = ring > RING_BOTH ? ring_end(clusters, ring - 1) : NEAR_GAPS, count;

	if (ring == RING_FEW) {
		*gap = (int64_t)((number + 1) * clusters->size);
		return number < FEW_GAPS;
	}
	if (ring == RING_NEAR)
		return near_gap(clusters, number, gap);
	if (ring == RING_BOTH && number < NEAR_GAPS) {
		*gap = -(int64_t)((number + 1) * clusters->size);
		return true;
	}
	if (ring == RING_BOTH)
		number -= NEAR_GAPS;
	count = first + number / 2 + 1;
	*gap = (int64_t)(count * clusters->size);
	if (number % 2 == 0)
		*gap = -*gap;
	return count <= ring_end(clusters, ring);
}

/* ---- steps --------------------------------------------------------------------------------- */

uint64_t step_target(
	const struct clusters *clusters, const struct partial *partial, const struct step *step)
{
	uint64_t end = extents_place(&partial->extents, step->at),
		 target = end + (uint64_t)step->gap;

	if (end >= clusters->end || (step->gap < 0 && end < (uint64_t)-step->gap) ||
		target >= clusters->end)
		return UINT64_MAX;
	return target;
}

/* The gap of the step that leads to the tail, from any break in the last piece. False: there is no tail. */
static bool tail_gap(const struct clusters *clusters, const struct partial *partial, int64_t *gap)
{
	uint64_t at = partial->joint + clusters->size, end = extents_place(&partial->extents, at);

	*gap = (int64_t)(at + partial->tail.shift - end);
	return partial->tail.from && end != UINT64_MAX && *gap;
}

/* The gap with this number of those that lead to the rest of the file right before its beginning: as near as those of
 * RING_FEW, though the rest may be long. False: there is none, or it is not known where the file ends. */
static bool end_gap(const struct clusters *clusters, const struct partial *partial, uint64_t number,
	int64_t *gap)
{
	uint64_t size = clusters->size, at = partial->joint + size, length = partial->seen, back;
	uint64_t start = partial->extents.runs[0].offset,
		 end = extents_place(&partial->extents, at);

	if (number >= FEW_GAPS || length < partial->reached + END_SEEN || length <= at ||
		partial->tail.from || end == UINT64_MAX)
		return false;
	back = (length - at + size - 1) / size * size + number * size;
	if (back > start)
		return false;
	*gap = (int64_t)(start - back - end);
	return *gap != 0;
}

bool cell_gap(const struct clusters *clusters, const struct partial *partial,
	const struct cell *cell, uint64_t number, int64_t *gap)
{
	if (cell->ring == RING_TAIL)
		return !number && tail_gap(clusters, partial, gap);
	if (cell->ring == RING_END)
		return end_gap(clusters, partial, number, gap);
	return ring_gap(clusters, cell->ring, number, gap);
}

bool ring_is_near(enum ring ring)
{
	return ring <= RING_NEAR || ring == RING_TAIL || ring == RING_END;
}

bool cell_is_around(const struct clusters *clusters, const struct cell *cell, uint64_t number,
	uint64_t count, uint64_t *distance)
{
	int64_t first, last;

	if ((cell->ring != RING_WIDE && cell->ring != RING_ALL) || number % 2 ||
		!ring_gap(clusters, cell->ring, number, &first) ||
		!ring_gap(clusters, cell->ring, number + 2 * count - 1, &last))
		return false;
	*distance = (uint64_t)-first / clusters->size;
	return true;
}

bool step_lay_out(const struct clusters *clusters, const struct partial *partial,
	const struct step *step, struct extents *extents)
{
	uint64_t target = step_target(clusters, partial, step), left = step->at;

	if (target == UINT64_MAX || !clusters_are_free(clusters, target, 1) ||
		clusters_is_start(clusters, target))
		return false;
	extents_clear(extents);
	for (size_t i = 0; i < partial->extents.count && left; i++) {
		struct range run = partial->extents.runs[i];

		if (run.length > left)
			run.length = left;
		if (target >= run.offset && target < run.offset + run.length)
			return false;
		extents_add(extents, run.offset, run.length);
		left -= run.length;
	}
	add_free(clusters, extents, target);
	if (step->at >= partial->tail.from)
		return !partial->tail.from || target - step->at == partial->tail.shift;
	return add_tail(clusters, &partial->tail, extents);
}
