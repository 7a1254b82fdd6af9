/* Which candidates are checked next: likely files first, the others when it is known what covers
 * them. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "carve/schedule.h"
#include "rules/load.h"

#define MIB ((uint64_t)1 << 20)
#define SECTOR_LEN 512

static struct rules *rules;
static struct tallies tallies;
static struct decider *decider;
static struct defer *defer;
static struct cover *cover;
static struct job_ring ring;
static struct schedule *schedule;
static size_t outcomes_len;
static struct check_batch batch;

enum { PICTURE, SOUND };

static void set_up(void)
{
	static const char text[] =
		"types = ( { name = \"picture\"; header = \"'PICT'\"; max_size = \"1G\"; carver = "
		"\"png\"; }, { name = \"sound\"; header = \"'S'\"; max_size = \"1G\"; carver = "
		"\"mp3\"; } );";
	const struct decide_options options = { .searched_len = 1024 * MIB };
	struct error error;

	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0);
	decider = decider_new(rules, &options, &tallies, &tallies);
	defer = defer_new(2, false, rules->count);
	cover = cover_new(rules->count);
	schedule = schedule_new(
		&(struct schedule_options){ &ring, rules, decider, defer, cover, NULL });
}

static void tear_down(void)
{
	for (uint64_t n = ring.first; n < ring.end; n++)
		free(job_ring_at(&ring, n)->outcome);
	job_ring_clear(&ring);
	schedule_free(schedule);
	cover_free(cover);
	defer_free(defer);
	decider_free(decider);
	tallies_free(&tallies);
	rules_free(rules);
}

TestSuite(schedule, .init = set_up, .fini = tear_down);

static void offer(uint64_t start, uint32_t rule)
{
	struct carve_job *job = job_ring_append(&ring);

	job->candidate =
		(struct candidate){ .start = start, .length = MIB, .rule = rule, .pattern = rule };
	job->late = schedule_is_late(schedule, &job->candidate);
}

/* The jobs that are checked next, by their numbers. */
static const char *next(bool impatient)
{
	static char text[200];
	size_t len = 0;

	text[0] = '\0';
	if (!schedule_next(schedule, ring.first, impatient, &batch))
		return text;
	for (size_t i = 0; i < batch.count; i++)
		for (uint64_t n = ring.first; n < ring.end; n++)
			if (job_ring_at(&ring, n) == batch.jobs[i])
				len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d",
					i ? " " : "", (int)n);
	return text;
}

static void end_check(uint64_t number, enum verdict verdict, uint64_t length)
{
	struct carve_job *job = job_ring_at(&ring, number);
	struct job_context context = { .outcomes_len = (_Atomic size_t *)&outcomes_len };
	const struct outcome outcome = { .verdict = verdict, .length = length };

	cr_assert_eq(job_state(job), JOB_CHECKING);
	cover_add(cover, &job->candidate, &outcome);
	job_set_outcome(&context, job, &outcome);
	job_set_state(job, JOB_CHECKED);
}

/* All jobs before it. */
static void decide_until(uint64_t number)
{
	while (ring.first < number) {
		struct carve_job *job = job_ring_at(&ring, ring.first);
		struct decision decision = { .candidate = &job->candidate,
			.outcome = job->outcome };

		decide_group(decider, &decision, 1);
		cover_decided(cover, decider_position(decider), decider_hidden_until(decider));
		free(job->outcome);
		job_ring_drop(&ring);
	}
}

Test(schedule, likely_files_run_ahead_and_the_rest_waits)
{
	offer(1 * MIB, PICTURE);     /* 0 */
	offer(1 * MIB + 700, SOUND); /* 1 */
	offer(2 * MIB + 1, PICTURE); /* 2: not at a sector */
	offer(3 * MIB, SOUND);       /* 3: a header of one byte */
	offer(4 * MIB, PICTURE);     /* 4 */
	offer(5 * MIB, PICTURE);     /* 5 */
	cr_expect_str_eq(next(false), "0");
	cr_expect_str_eq(next(false), "4");
	end_check(4, CARVE_REJECT, 0);
	cr_expect_str_eq(next(false), "5", "the first is not known");
	cr_expect_str_eq(next(false), "");
	end_check(0, CARVE_COMPLETE, MIB / 2);
	cr_expect_str_eq(next(false), "2", "the sound is in the picture");
	cr_expect_str_eq(next(false), "3");
	cr_expect_str_eq(next(false), "");
	cr_expect_eq(schedule_reached(schedule, 0), 6);
	decide_until(1);
	cr_expect_str_eq(next(false), "", "it is hidden");
	cr_expect(job_needs_no_outcome(job_ring_at(&ring, 1), decider));
}

Test(schedule, what_an_overruled_file_covers_is_checked_after_all)
{
	offer(1 * MIB, PICTURE);
	offer(1 * MIB + 700, SOUND);
	cr_expect_str_eq(next(false), "0");
	end_check(0, CARVE_COMPLETE, MIB / 2);
	cr_expect_str_eq(next(false), "");
	job_ring_at(&ring, 0)->outcome->work = UINT64_MAX; /* more than its rule has left */
	decide_until(1);
	cr_expect_str_eq(next(false), "1");
}

Test(schedule, impatient_late_ones_do_not_wait)
{
	offer(1 * MIB, PICTURE);
	offer(2 * MIB + 700, SOUND);
	cr_expect_str_eq(next(true), "0");
	cr_expect_str_eq(next(false), "");
	cr_expect_str_eq(next(true), "1");
}

Test(schedule, neighbours_are_checked_together)
{
	for (uint64_t i = 0; i < 20; i++)
		offer(MIB + i * 512, PICTURE);
	offer(3 * MIB, PICTURE);
	offer(3 * MIB + 64 * 1024 + 512, PICTURE);
	cr_expect_str_eq(next(false), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
	cr_expect_str_eq(next(false), "16 17 18 19");
	cr_expect_str_eq(next(false), "20");
	cr_expect_str_eq(next(false), "21");
}

/* A long check that does not find a file leaves to others what it has read past. */
Test(schedule, what_waited_for_a_check_is_visited_again)
{
	uint64_t waited;

	offer(1 * MIB, PICTURE);
	offer(2 * MIB, PICTURE);
	offer(9 * MIB, PICTURE);
	cr_expect_str_eq(next(false), "0");
	cr_expect(defer_begin(defer, 0, &job_ring_at(&ring, 0)->candidate, false));
	cr_expect(defer_progress(defer, 0, 3 * MIB));
	cr_expect_str_eq(next(false), "2");
	cr_expect_str_eq(next(false), "");
	waited = defer_end(defer, 0, 0);
	cr_expect_eq(waited, 3 * MIB);
	end_check(0, CARVE_REJECT, 0);
	cover_retry(cover, MIB, waited);
	cr_expect_str_eq(next(false), "1");
	cr_expect_str_eq(next(false), "");
}

/* A check that was given up is waiting again. */
Test(schedule, given_up_checks_are_begun_again)
{
	offer(1 * MIB, PICTURE);
	cr_expect_str_eq(next(false), "0");
	job_set_state(job_ring_at(&ring, 0), JOB_WAITING);
	cr_expect_str_eq(next(false), "");
	cover_retry(cover, MIB, MIB + 1);
	cr_expect_str_eq(next(false), "0");
}

Test(schedule, what_everything_waits_for_is_checked_at_once)
{
	offer(1 * MIB + 1, SOUND);
	offer(1 * MIB + 1, PICTURE);
	offer(2 * MIB, PICTURE);
	defer_remote_progress(defer, 1, MIB, 5 * MIB);
	cr_expect_str_eq(next(false), "");
	cr_assert(schedule_next_forced(schedule, 0, 2, &batch));
	cr_expect_eq(batch.count, 2);
	cr_expect(batch.jobs[0]->force && batch.jobs[1]->force);
	cr_expect_not(schedule_next_forced(schedule, 0, 2, &batch));
}

/* Where nothing covers anything the order is that of the ring. */
Test(schedule, without_a_cover_nothing_waits)
{
	schedule_free(schedule);
	schedule = schedule_new(
		&(struct schedule_options){ &ring, rules, decider, defer, NULL, NULL });
	offer(1 * MIB, PICTURE);
	offer(1 * MIB + 700, SOUND);
	offer(4 * MIB, PICTURE);
	cr_expect_str_eq(next(false), "0 1");
	cr_expect_str_eq(next(false), "2");
}

/* Where a rule has little left, most of it for what is far ahead, those after the one that everything waits for are checked
 * with it all the same: alone, each would cost a message and an answer. */
Test(schedule, what_follows_the_front_is_checked_with_it)
{
	for (unsigned i = 0; i < CHECK_BATCH + 4; i++)
		offer(1 * MIB + i * SECTOR_LEN, PICTURE);
	decider_begin_pending(decider, PICTURE, UINT64_MAX / 2);
	cr_expect_str_eq(next(true), "", "nothing is left for any");
	cr_assert(schedule_next_forced(schedule, 0, 1, &batch));
	cr_expect_eq(batch.count, CHECK_BATCH);
	cr_expect(batch.jobs[0]->force && !batch.jobs[0]->next);
	cr_expect(!batch.jobs[1]->force && batch.jobs[1]->next);
	decider_end_pending(decider, PICTURE, UINT64_MAX / 2);
}

static struct early_jobs early;

static void offer_early(uint64_t start, uint32_t rule)
{
	job_ring_append(&early.ring)->candidate =
		(struct candidate){ .start = start, .length = MIB, .rule = rule, .pattern = rule };
}

/* Likely files are checked before they are in the ring, and what comes after them is held back until they are decided on. */
Test(schedule, early_jobs_are_checked_before_their_turn)
{
	const struct candidate after = { .start = 2 * MIB, .length = MIB };
	const struct candidate inside = {
		.start = MIB + 700, .length = MIB, .rule = SOUND, .pattern = SOUND
	};

	schedule_free(schedule);
	schedule = schedule_new(
		&(struct schedule_options){ &ring, rules, decider, defer, cover, &early });
	offer_early(1 * MIB, PICTURE);
	offer_early(5 * MIB, PICTURE);
	cr_expect_eq(schedule_early_reached(schedule), 1 * MIB);
	cr_assert(schedule_next(schedule, 0, false, &batch));
	cr_expect_eq(batch.jobs[0], job_ring_at(&early.ring, 0));
	cr_expect_eq(schedule_early_reached(schedule), 5 * MIB);
	cr_assert(schedule_next(schedule, 0, false, &batch));
	cr_expect_eq(batch.jobs[0], job_ring_at(&early.ring, 1));
	cr_expect_eq(schedule_early_reached(schedule), UINT64_MAX);
	job_ring_add(&ring, job_ring_take(&early.ring, early.next++));
	cr_expect_null(job_ring_at(&early.ring, 0));
	cr_expect_str_eq(next(false), "");
	cr_expect(schedule_holds(schedule, 0, &inside), "the check of the picture goes on");
	end_check(0, CARVE_COMPLETE, MIB / 2);
	cr_expect(schedule_holds(schedule, 0, &inside), "the picture is not decided on");
	decide_until(1);
	cr_expect(decider_hides(decider, inside.start));
	cr_expect_not(schedule_holds(schedule, UINT64_MAX, &after));
	job_ring_clear(&early.ring);
}
