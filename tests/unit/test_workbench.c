/* Checks that were made ahead are as good as those that are made in their turn, and no better. */
#include <criterion/criterion.h>
#include <string.h>

#include "assemble/workbench.h"
#include "memory_image.h"

#define CLUSTER ((uint64_t)4096)
#define PIECE (4 * CLUSTER)
#define PROOF 13

static uint8_t content[64 * CLUSTER];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = { .size = CLUSTER, .end = sizeof(content) };
static unsigned checks; /* that the carver made */

/* Goes on over all that begins with an x, and counts that as proved. */
static enum verdict check_from(struct view *view, uint64_t at, struct finding *finding)
{
	const uint8_t *p;

	checks++;
	while ((p = view_peek(view, at, 1)) && *p == 'x' && view_work(view, 1000)) {
		struct carve_state state = { .offset = at };

		if (view_wants_states(view))
			view_save(view, &state);
		at += CLUSTER;
	}
	view_proved(view, 0, at + 1, PROOF);
	finding->length = at ? at : 1;
	return verdict_because(CARVE_TRUNCATED, finding, "no x");
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return check_from(view, 0, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	return check_from(view, state->offset, finding);
}

static const struct carver plain = { .name = "x", .check = check };
static const struct carver resuming = { .name = "x", .check = check, .resume = resume };
static char name[] = "x";
static struct rule rule = { .name = name, .extension = name, .max_size = 1 << 20 };
static struct workbench bench;
static struct workbench_ahead ahead;
static struct extents layout;

/* Makes a check of the layout ahead, after which the view has checked something else. */
static void begin(const struct carver *carver)
{
	struct extents other = { 0 };
	struct outcome outcome;

	memset(content, 'x', sizeof(content) - CLUSTER);
	rule.carver = carver;
	bench = (struct workbench){ .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.work_left = 1 << 24 };
	extents_add(&layout, 0, PIECE);
	extents_add(&layout, 2 * PIECE, PIECE);
	workbench_prepare(&bench, &layout, 0);
	ahead = (struct workbench_ahead){ .at = PIECE };
	bench.noted = &ahead;
	cr_assert_not(workbench_check(&bench, &layout, CARVE_COMPLETE, &outcome));
	bench.noted = NULL;
	cr_assert_eq(ahead.count, 1);
	extents_add(&other, sizeof(content) - CLUSTER, CLUSTER);
	cr_assert_not(workbench_check(&bench, &other, CARVE_COMPLETE, &outcome));
	cr_assert_eq(workbench_proof(&bench, PIECE), 0);
	extents_free(&other);
	bench.ahead = &ahead;
	checks = 0;
}

static void end(void)
{
	workbench_forget(&ahead);
	workbench_end(&bench);
	extents_free(&layout);
	view_free(bench.view);
}

static void check_layout(void)
{
	struct outcome outcome;

	cr_expect_not(workbench_check(&bench, &layout, CARVE_COMPLETE, &outcome));
}

Test(workbench, what_was_made_ahead_is_not_made_again)
{
	uint64_t left;

	begin(&plain);
	left = bench.work_left;
	check_layout();
	cr_expect_eq(checks, 0);
	cr_expect_eq(bench.reached, 2 * PIECE);
	cr_expect_geq(workbench_proof(&bench, PIECE), PROOF);
	cr_expect_eq(bench.work_left, left - ahead.items[0].work);
	end();
}

Test(workbench, what_is_known_of_a_check_outlives_it)
{
	begin(&plain);
	check_layout();
	workbench_forget(&ahead);
	memset(ahead.items, 0, sizeof(ahead.items));
	bench.ahead = NULL;
	cr_expect_geq(workbench_proof(&bench, PIECE), PROOF);
	end();
}

/* With so little work it would have ended early. */
Test(workbench, a_check_made_ahead_is_not_taken_if_its_work_is_not_left)
{
	begin(&plain);
	bench.work_left = ahead.items[0].work;
	check_layout();
	cr_expect_eq(checks, 1);
	cr_expect(bench.exhausted);
	end();

	begin(&plain);
	bench.work_left = ahead.items[0].work / 2;
	check_layout();
	cr_expect_eq(checks, 1);
	cr_expect_lt(bench.reached, 2 * PIECE);
	end();
}

Test(workbench, a_check_made_ahead_from_a_state_is_not_taken_for_one_from_another)
{
	begin(&resuming);
	check_layout();
	cr_expect_eq(checks, 0);
	workbench_prepare(&bench, &layout, 0);
	checks = 0;
	check_layout();
	cr_expect_eq(checks, 1);
	end();
}
