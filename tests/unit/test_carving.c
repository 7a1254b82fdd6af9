/*
 * The carving stage with a carver of the test's own, which counts its checks and ends some of them
 * only when the test has seen what it waits for: that others are checked meanwhile, and what is not
 * checked in vain. A test that fails hangs.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>

#include "carve/carving.h"
#include "carve/job.h"
#include "carvers/carver.h"
#include "rules/load.h"
#include "temp.h"
#include "tier.h"

/* Candidates are this far from each other. */
#define STEP 512
#define PLACES 20000
/* Units of work of a costly check. */
#define COST ((uint64_t)16 << 20)
/* More than a sixteenth of what a rule has, and less than all of it. */
#define HUGE_COST ((uint64_t)128 << 20)

static atomic_uint checks;    /* that were begun */
static atomic_uint wanted;    /* a blocking check ends when this many were begun */
static atomic_uint outcomes;  /* that were passed on */
static atomic_uint completes; /* of these */
static atomic_uint waits;     /* calls of on_wait */
static atomic_uint costly;    /* checks that took COST */
static atomic_uint huge;      /* checks that took HUGE_COST, or would have */
static uint64_t last_start;

/* 'B' blocks, and is complete, or not a file in lower case; 'W' waits for calls of on_wait; 'C'
 * is costly, and 'L' ends after the costly ones that are made meanwhile; 'O' is always over its
 * budget; 'H' costs much and is complete, and 'h' ends after one began. What follows is the length.
 * Anything else is rejected. */
static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *bytes = view_peek(view, 0, 4);
	uint8_t kind = bytes ? bytes[0] : 0;
	uint64_t length = bytes ? (uint64_t)(bytes[1] | bytes[2] << 8 | bytes[3] << 16) : 0;

	checks++;
	while ((kind == 'B' || kind == 'b') && checks < wanted)
		usleep(100);
	while (kind == 'W' && waits < 3)
		usleep(100);
	while (kind == 'h' && !huge)
		usleep(100);
	for (unsigned seen = 0; kind == 'L' && (costly < 32 || costly != seen);) {
		seen = costly;
		usleep(20000);
	}
	if (kind == 'C')
		costly += view_work(view, COST);
	if (kind == 'O')
		view_work(view, UINT64_MAX);
	huge += kind == 'H';
	if (kind == 'H' && !view_work(view, HUGE_COST))
		return CARVE_REJECT;
	if (kind != 'B' && kind != 'F' && kind != 'H')
		return verdict_because(CARVE_REJECT, finding, "not a file");
	finding->length = length;
	return CARVE_COMPLETE;
}

static const struct carver the_carver = { .name = "test", .check = check };

static struct rules *rules;
static struct image *image;
static struct pool *pool;
static struct tallies rejected, skipped, by_type, by_kind;
static struct carving *carving;
static uint8_t *bytes;

static void set_up(void)
{
	static const char text[] =
		"types = ( { name = \"strong\"; header = \"'STRONG'\"; max_size = \"100M\"; carver "
		"= \"png\"; }, { name = \"weak\"; header = \"'W'\"; max_size = \"100M\"; carver = "
		"\"png\"; } );";
	struct error error;

	temp_make();
	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0);
	for (uint32_t i = 0; i < rules->count; i++)
		rules->rules[i].carver = &the_carver;
	bytes = calloc(PLACES, STEP);
}

static void on_wait(void *context)
{
	(void)context;
	waits++;
}

static void on_outcome(
	void *context, const struct candidate *candidate, const struct outcome *outcome)
{
	(void)context;
	cr_expect(outcomes == 0 || candidate->start > last_start, "in order");
	last_start = candidate->start;
	completes += outcome->verdict == CARVE_COMPLETE;
	outcomes++;
}

static void start(unsigned threads, bool nested)
{
	struct error error;
	struct carving_options options = {
		.rules = rules,
		.decide = { .nested = nested, .searched_len = (uint64_t)PLACES * STEP },
		.on_wait = on_wait,
		.on_outcome = on_outcome,
		.rejected = &rejected,
		.skipped = &skipped,
		.by_type = &by_type,
		.by_kind = &by_kind,
	};

	temp_write("image", bytes, (size_t)PLACES * STEP);
	cr_assert_eq(image_open(&image, temp_at("image"), &error), 0, "%s", error.text);
	options.image = image;
	options.pool = pool = pool_new(threads);
	carving = carving_new(&options);
}

static void tear_down(void)
{
	carving_free(carving);
	pool_free(pool);
	image_close(image);
	tallies_free(&rejected);
	tallies_free(&skipped);
	tallies_free(&by_type);
	tallies_free(&by_kind);
	rules_free(rules);
	free(bytes);
	temp_remove();
}

TestSuite(carving, .init = set_up, .fini = tear_down, .timeout = TEST_HANGS);

static void put(uint32_t place, char kind, uint32_t length)
{
	uint8_t *at = bytes + (size_t)place * STEP;

	at[0] = (uint8_t)kind;
	at[1] = (uint8_t)length;
	at[2] = (uint8_t)(length >> 8);
	at[3] = (uint8_t)(length >> 16);
}

static void offer(uint32_t place, uint32_t rule)
{
	const struct candidate candidate = { .start = (uint64_t)place * STEP,
		.length = 100 << 20,
		.rule = rule,
		.pattern = rule,
		.end = END_MAX_SIZE };

	cr_assert_eq(carving_offer(carving, &candidate), 0);
}

/* The first place has one of the first rule, all others have one of the other. */
static void offer_all(uint32_t first_rule, uint32_t rule)
{
	offer(0, first_rule);
	for (uint32_t i = 1; i < PLACES; i++)
		offer(i, rule);
	carving_set_offered_until(carving, (uint64_t)PLACES * STEP);
	cr_expect_eq(carving_decide_until(carving, (uint64_t)PLACES * STEP), 0);
}

enum { STRONG, WEAK };

/* However long the check of the first takes, all others are checked meanwhile, but for those that
 * are checked by the same thread. */
Test(carving, one_long_check_does_not_stop_the_rest)
{
	put(0, 'b', 0);
	wanted = PLACES - CHECK_BATCH;
	start(2, false);
	offer_all(STRONG, STRONG);
	cr_expect_eq(checks, PLACES);
	cr_expect_eq(outcomes, PLACES);
}

Test(carving, nor_where_all_is_kept)
{
	put(0, 'B', PLACES * STEP);
	wanted = PLACES - CHECK_BATCH;
	start(2, true);
	offer_all(WEAK, WEAK);
	cr_expect_eq(outcomes, PLACES);
}

/* Weak headers inside a complete file cost no check, however many threads there are. */
Test(carving, what_a_complete_file_covers_is_not_checked)
{
	put(0, 'F', PLACES * STEP);
	start(8, false);
	offer_all(STRONG, WEAK);
	cr_expect_eq(checks, 1);
	cr_expect_eq(outcomes, 1);
	cr_expect_eq(completes, 1);
}

Test(carving, what_no_file_covers_is_checked_once)
{
	put(0, 'F', 100 * STEP);
	start(8, false);
	offer_all(STRONG, WEAK);
	cr_expect_eq(checks, 1 + PLACES - 100);
	cr_expect_eq(outcomes, 1 + PLACES - 100);
}

/* While nothing can be decided on, as the first check goes on, the others may not each take what their rule
 * may for all of them. */
Test(carving, what_is_checked_ahead_costs_no_more_than_the_rule_may)
{
	const uint64_t size = (uint64_t)PLACES * STEP, most = ((uint64_t)512 << 20) + 2 * 16 * size;

	put(0, 'L', 0);
	for (uint32_t i = 1; i < PLACES; i++)
		put(i, 'C', 0);
	start(4, false);
	offer_all(STRONG, STRONG);
	cr_expect_leq(outcomes, PLACES, "none of those that took too much");
	cr_expect_geq(costly, (512 << 20) / COST, "%u", costly);
	cr_expect_leq(costly, 2 * most / COST, "%u", costly);
}

/* One that takes more than its share of that is checked again when everything waits for it, with all that is left. */
Test(carving, a_check_that_took_more_than_its_share_is_made_again)
{
	put(0, 'h', 0);
	put(100, 'H', STEP);
	start(16, false);
	offer_all(STRONG, STRONG);
	cr_expect_eq(completes, 1);
	cr_expect_eq(huge, 2, "%u", huge);
}

/* Where a rule has nothing left, only so many candidates are checked as the bytes between them allow. */
Test(carving, what_a_rule_has_no_work_for_is_not_checked)
{
	const uint64_t allowed = 16 * (uint64_t)PLACES * STEP / CHECK_WORK_LEAST;

	for (uint32_t i = 0; i < PLACES; i++)
		put(i, 'O', 0);
	start(2, false);
	offer_all(STRONG, STRONG);
	cr_expect_leq(checks, 4 * allowed, "%u", checks);
	cr_expect_leq(outcomes, checks);
}

/* A checkpoint may be written while a check takes hours. */
Test(carving, the_run_is_asked_while_it_waits)
{
	put(0, 'W', 0);
	start(1, false);
	offer(0, STRONG);
	offer(1000, STRONG);
	cr_expect_eq(carving_start_checks(carving, UINT64_MAX), 0);
	cr_expect_geq(waits, 3);
	carving_cancel(carving);
}
