/*
 * A table shows pieces of a file by anchors in them (mapping.c). Where two of them meet in bytes that have a CRC, it
 * shows by arithmetic where, and whether there is a piece in between that has no anchor: near the two first, and only where chance would hardly
 * find one.
 */
#include "assemble/sum_breaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PIECES_MAX 64
#define SETTLE_SHARE 2  /* of the work is for that */
#define SETTLE_CHANCE 4 /* bits: chance finds a piece in between once in 2^bits times */

/* What mapping_solve will search is where the next piece may begin at the latest. False: no cluster begins there. */
static bool expect_joints(const struct sum_breaks *search, struct mapping *mapping)
{
	uint64_t size = search->size, start = mapping->items[0].shift;
	uint64_t origin = start - search->bench->clusters->origin;

	for (size_t i = 1; i < mapping->count; i++) {
		struct stretch *piece = &mapping->items[i];

		if (mapping_distance(piece->shift, start) % size)
			return false;
		if (!piece->has_joint)
			piece->joint = piece->from - (origin + piece->from) % size;
		if (piece->joint > piece->from || piece->joint < mapping->items[i - 1].to ||
			piece->joint <= mapping->items[i - 1].joint)
			return false;
	}
	return true;
}

/* The first CRC from an offset on that does not agree, in the bytes where two pieces meet: after number *number. */
static bool next_wrong(
	struct sum_breaks *search, struct mapping *mapping, uint64_t from, size_t *number)
{
	struct extents extents = { 0 };
	bool found = false;

	search->sum = (struct carve_sum){ .from = from };
	if (expect_joints(search, mapping) && mapping_lay_out(search->bench, mapping, &extents)) {
		workbench_open(search->bench, &extents);
		found = search->map->sum(search->bench->view, &search->sum);
		workbench_close(search->bench);
	}
	extents_free(&extents);
	for (*number = 0; *number + 1 < mapping->count &&
			  mapping->items[*number + 1].joint <= search->sum.from;)
		++*number;
	return found && search->sum.from >= from && search->sum.from < search->sum.to;
}

/* Finds one way for the piece after this number to begin in the bytes of the CRC, or for one in between. */
static void search_between(struct sum_breaks *search, uint64_t own, uint64_t shift)
{
	static const int64_t clusters[] = { 0, 8, 64, 512, INT32_MAX };
	int64_t first = (int64_t)(search->first + own), next = (int64_t)(search->first + shift);

	sum_breaks_try_one(search, shift);
	for (size_t i = 0; i < sizeof(clusters) / sizeof(*clusters) && !search->hit_count &&
			   workbench_goes_on(search->bench);
		i++) {
		int64_t far = clusters[i] * (int64_t)search->size;

		search->low = (first < next ? first : next) - far;
		search->high = (first < next ? next : first) + far;
		sum_breaks_try_two(search, shift, 0, SETTLE_CHANCE);
	}
	search->low = search->high = 0;
}

/* Takes over a hit: after this number the pieces begin there, and nowhere else. */
static void settle(struct mapping *mapping, size_t number, const struct sum_hit *hit)
{
	struct stretch *next;

	if (hit->count == 2) {
		mapping->items = xgrow(mapping->items, &mapping->capacity, mapping->count,
			sizeof(*mapping->items));
		memmove(&mapping->items[number + 2], &mapping->items[number + 1],
			(mapping->count++ - number - 1) * sizeof(*mapping->items));
		mapping->items[number + 1] = (struct stretch){ .from = hit->pieces[0].joint,
			.to = hit->pieces[1].joint,
			.shift = hit->pieces[0].shift };
	}
	for (size_t i = 0; i < hit->count; i++) {
		next = &mapping->items[number + 1 + i];
		next->has_joint = true;
		next->joint = next->least = next->most = hit->pieces[i].joint;
	}
}

static void settle_after(struct sum_breaks *search, struct mapping *mapping, size_t number)
{
	struct mapping known = {
		.items = mapping->items, .count = number + 1, .length = search->sum.to
	};
	uint64_t shift;

	search->mapping = &known;
	sum_breaks_place(search);
	if (known.count >= mapping->count || mapping->items[known.count].has_joint ||
		mapping->items[known.count].from < search->sum.to || !sum_breaks_open(search))
		return;
	shift = mapping->items[known.count].shift;
	known.items = xmalloc(known.count * sizeof(*known.items));
	known.capacity = known.count;
	memcpy(known.items, mapping->items, known.count * sizeof(*known.items));
	search_between(search, known.items[number].shift, shift);
	sum_breaks_close(search);
	mapping_free(&known);
	if (search->hit_count == 1 && !search->too_many && workbench_goes_on(search->bench))
		settle(mapping, number, &search->hits[0]);
}

void mapping_settle(struct workbench *bench, struct mapping *mapping)
{
	const struct carve_map *map = bench->rule->carver->map;
	uint64_t kept = bench->work_left / SETTLE_SHARE;
	struct sum_breaks *search;
	size_t number;

	if (!map->sum || !map->tail || map->common || mapping->count < 2)
		return;
	search = xmalloc(sizeof(*search));
	sum_breaks_init(search, bench);
	bench->work_left -= kept;
	for (uint64_t from = 0; workbench_goes_on(bench) && mapping->count < PIECES_MAX &&
				next_wrong(search, mapping, from, &number);
		from = search->sum.to)
		settle_after(search, mapping, number);
	bench->work_left += kept;
	bench->exhausted = false;
	free(search);
}
