/*
 * What the strategies that go piece by piece try, in order. Clusters that likely are another file's come late,
 * and so do breaks far from where the carver noticed something.
 */
#include "assemble/by_codes.h"
#include "assemble/mapping.h"
#include "assemble/steps.h"
#include "assemble/strategies.h"

#define PIECES_MAX 8
/* Cells that come before any step from what others lead to, */
#define NEAR_ALONE 2
#define TAIL_ALONE 5
/* and before any from what chance would explain. */
#define DOUBTED 9
#define ELSEWHERE_SHARE 3 /* of the work of the last pass is not for the tail that tables show */
#define CODES_SHARE 4     /* of the work is for steps that nothing shows to be likely */

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Files of codes, with most of the work: what is proved is right, whatever the head looks like. */
static bool find_codes(struct workbench *bench, const struct broken *broken, bool is_near,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	uint64_t kept = bench->work_left / CODES_SHARE;
	bool found;

	bench->work_left -= kept;
	found = by_codes_find(bench, broken, is_near, extents, outcome, assembly);
	bench->work_left += kept;
	bench->exhausted = false;
	return found;
}

bool find_near(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	static const struct cell cells[] = {
		{ RING_FEW, ZONE_HERE, LIKELY },
		{ RING_FEW, ZONE_CHANGE, LIKELY },
		{ RING_FEW, ZONE_NEXT, LIKELY },
		{ RING_END, ZONE_HERE, LIKELY },
		{ RING_NEAR, ZONE_HERE, LIKELY },
		{ RING_FEW, ZONE_HERE, UNLIKELY },
		{ RING_END, ZONE_CHANGE, LIKELY },
		{ RING_END, ZONE_NEXT, LIKELY },
		{ RING_FEW, ZONE_CLOSE, LIKELY },
		{ RING_FEW, ZONE_BEFORE, LIKELY },
		{ RING_FEW, ZONE_AFTER, LIKELY },
		{ RING_NEAR, ZONE_CHANGE, LIKELY },
		{ RING_NEAR, ZONE_NEXT, LIKELY },
		{ RING_FEW, ZONE_NEXT, UNLIKELY },
		{ RING_NEAR, ZONE_HERE, UNLIKELY },
		{ RING_NEAR, ZONE_NEXT, UNLIKELY },
		{ RING_NEAR, ZONE_CLOSE, LIKELY },
		{ RING_NEAR, ZONE_BEFORE, LIKELY },
		{ RING_NEAR, ZONE_AFTER, LIKELY },
		{ RING_FEW, ZONE_CLOSE, UNLIKELY },
		{ RING_NEAR, ZONE_CLOSE, UNLIKELY },
		{ RING_FEW, ZONE_BEFORE, UNLIKELY },
		{ RING_NEAR, ZONE_BEFORE, UNLIKELY },
		{ RING_FEW, ZONE_AFTER, UNLIKELY },
		{ RING_NEAR, ZONE_AFTER, UNLIKELY },
	};
	static const struct plan plan = { .cells = cells,
		.count = COUNT(cells),
		.alone = NEAR_ALONE,
		.pieces = 2,
		.only_sure = true };

	/* What only lacks an end may be whole, and heads that were rejected are nearly all false. */
	return find_codes(bench, broken, true, extents, outcome, assembly) ||
	       (broken->verdict == CARVE_TRUNCATED &&
		       steps_find(bench, broken, NULL, &plan, extents, outcome, assembly));
}

bool find_anywhere(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	static const struct cell cells[] = {
		{ RING_FEW, ZONE_HERE, LIKELY },
		{ RING_FEW, ZONE_CHANGE, LIKELY },
		{ RING_FEW, ZONE_NEXT, LIKELY },
		{ RING_END, ZONE_HERE, LIKELY },
		{ RING_END, ZONE_CHANGE, LIKELY },
		{ RING_END, ZONE_NEXT, LIKELY },
		{ RING_NEAR, ZONE_HERE, LIKELY },
		{ RING_NEAR, ZONE_CHANGE, LIKELY },
		{ RING_BOTH, ZONE_HERE, LIKELY },
		{ RING_WIDE, ZONE_HERE, BRIEFLY },
		{ RING_NEAR, ZONE_NEXT, LIKELY },
		{ RING_FEW, ZONE_HERE, UNLIKELY },
		{ RING_FEW, ZONE_NEXT, UNLIKELY },
		{ RING_FEW, ZONE_CLOSE, LIKELY },
		{ RING_END, ZONE_CLOSE, LIKELY },
		{ RING_FEW, ZONE_BEFORE, LIKELY },
		{ RING_FEW, ZONE_AFTER, LIKELY },
		{ RING_BOTH, ZONE_CHANGE, LIKELY },
		{ RING_BOTH, ZONE_NEXT, LIKELY },
		{ RING_NEAR, ZONE_HERE, UNLIKELY },
		{ RING_NEAR, ZONE_NEXT, UNLIKELY },
		{ RING_BOTH, ZONE_HERE, UNLIKELY },
		{ RING_BOTH, ZONE_NEXT, UNLIKELY },
		{ RING_NEAR, ZONE_CLOSE, LIKELY },
		{ RING_NEAR, ZONE_BEFORE, LIKELY },
		{ RING_NEAR, ZONE_AFTER, LIKELY },
		{ RING_BOTH, ZONE_CLOSE, LIKELY },
		{ RING_BOTH, ZONE_BEFORE, LIKELY },
		{ RING_WIDE, ZONE_HERE, LIKELY },
		{ RING_WIDE, ZONE_NEXT, LIKELY },
		{ RING_WIDE, ZONE_CLOSE, BRIEFLY },
		{ RING_FEW, ZONE_CLOSE, UNLIKELY },
		{ RING_NEAR, ZONE_CLOSE, UNLIKELY },
		{ RING_ALL, ZONE_HERE, LIKELY },
		{ RING_ALL, ZONE_NEXT, LIKELY },
		{ RING_BOTH, ZONE_AFTER, LIKELY },
	};
	static const struct plan plan = { .cells = cells,
		.count = COUNT(cells),
		.alone = NEAR_ALONE,
		.doubted = DOUBTED,
		.pieces = PIECES_MAX };

	return find_codes(bench, broken, false, extents, outcome, assembly) ||
	       steps_find(bench, broken, NULL, &plan, extents, outcome, assembly);
}

/* First what is whole with two pieces, near where the carver noticed something: a carver that finds no such file complete finds the
 * right one plausible. */
bool find_before_tail(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	static const struct cell cells[] = {
		{ RING_TAIL, ZONE_HERE, LIKELY },
		{ RING_TAIL, ZONE_CHANGE, LIKELY },
		{ RING_TAIL, ZONE_NEXT, LIKELY },
		{ RING_FEW, ZONE_HERE, LIKELY },
		{ RING_FEW, ZONE_CHANGE, LIKELY },
		{ RING_FEW, ZONE_NEXT, LIKELY },
		{ RING_NEAR, ZONE_HERE, LIKELY },
		{ RING_NEAR, ZONE_CHANGE, LIKELY },
		{ RING_BOTH, ZONE_HERE, LIKELY },
		{ RING_TAIL, ZONE_CLOSE, LIKELY },
		{ RING_TAIL, ZONE_BEFORE, LIKELY },
		{ RING_TAIL, ZONE_AFTER, LIKELY },
		{ RING_NEAR, ZONE_NEXT, LIKELY },
		{ RING_FEW, ZONE_CLOSE, LIKELY },
		{ RING_FEW, ZONE_BEFORE, LIKELY },
		{ RING_BOTH, ZONE_NEXT, LIKELY },
		{ RING_FEW, ZONE_HERE, UNLIKELY },
		{ RING_NEAR, ZONE_HERE, UNLIKELY },
		{ RING_NEAR, ZONE_CLOSE, LIKELY },
		{ RING_BOTH, ZONE_HERE, UNLIKELY },
		{ RING_NEAR, ZONE_BEFORE, LIKELY },
	};
	static const struct plan plan = { .cells = cells,
		.count = COUNT(cells),
		.alone = TAIL_ALONE,
		.doubted = DOUBTED,
		.pieces = PIECES_MAX };
	struct tail tail;

	return mapping_find_tail(bench, broken, &tail) &&
	       steps_find(bench, broken, &tail, &plan, extents, outcome, assembly);
}

/* Where the tables are right, nothing else can be: that takes most of the work. */
bool find_again(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	uint64_t kept = bench->work_left / ELSEWHERE_SHARE;
	bool spent, found;

	bench->work_left -= kept;
	if (find_before_tail(bench, broken, extents, outcome, assembly))
		return true;
	spent = bench->exhausted;
	bench->work_left += kept;
	bench->exhausted = false;
	found = find_anywhere(bench, broken, extents, outcome, assembly);
	bench->exhausted |= spent;
	return found;
}
