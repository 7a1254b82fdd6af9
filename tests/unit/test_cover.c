/* What complete files that are not decided on cover, and what is visited again. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "carve/cover.h"
#include "tier.h"

#define RULES 3

static struct cover *cover;

static void set_up(void)
{
	cover = cover_new(RULES);
}

static void tear_down(void)
{
	cover_free(cover);
}

TestSuite(cover, .init = set_up, .fini = tear_down);

static void add(uint64_t start, uint64_t length)
{
	const struct candidate candidate = { .start = start };
	const struct outcome outcome = { .verdict = CARVE_COMPLETE, .length = length };

	cover_add(cover, &candidate, &outcome);
}

static bool covers_of(uint64_t offset, uint32_t rule)
{
	const struct candidate candidate = { .start = offset, .rule = rule };
	struct covered_range found;
	bool covered = cover_find(cover, &candidate, &found);

	if (!covered)
		return false;
	cr_expect(offset >= found.range.offset && offset - found.range.offset < found.range.length);
	cr_expect(found.rule == COVER_ALL_RULES || found.rule == rule);
	return true;
}

static bool covers(uint64_t offset)
{
	return covers_of(offset, 0);
}

Test(cover, a_complete_file_covers_what_starts_inside_it)
{
	add(10000, 5000);
	cr_expect_not(covers(10000), "it does not hide what starts with it");
	cr_expect(covers(10001));
	cr_expect(covers(14999));
	cr_expect_not(covers(15000));
}

Test(cover, only_verified_bytes_are_covered)
{
	const struct candidate candidate = { .start = 10000 };
	struct outcome outcome = { .verdict = CARVE_COMPLETE, .length = 50000 };

	ranges_add(&outcome.unverified, 20000, 1000);
	ranges_add(&outcome.unverified, 59000, 1000);
	cover_add(cover, &candidate, &outcome);
	cr_expect(covers(19999));
	cr_expect_not(covers(20000));
	cr_expect_not(covers(20999));
	cr_expect(covers(21000));
	cr_expect_not(covers(59000));
	ranges_free(&outcome.unverified);
}

Test(cover, others_cover_the_parts_that_they_named)
{
	uint64_t parts[] = { 12000, 18000 };
	const struct candidate candidate = { .start = 10000 };
	const struct outcome cut = {
		.verdict = CARVE_TRUNCATED, .length = 30000, .parts = parts, .part_count = 2
	};
	const struct outcome guessed = { .verdict = CARVE_UNVERIFIED, .length = 30000 };

	cover_add(cover, &candidate, &guessed);
	cr_expect_not(covers(12000));
	cover_add(cover, &candidate, &cut);
	cr_expect(covers(18000));
	cr_expect_not(covers(18001));
}

/* Those of a short file, too: each of its parts would be checked, and its own parts walked again. */
Test(cover, parts_of_short_files_are_covered)
{
	uint64_t parts[] = { 10100, 10200 };
	const struct candidate candidate = { .start = 10000 };
	struct outcome cut = { .verdict = CARVE_TRUNCATED, .length = 300 };

	cover_add(cover, &candidate, &cut);
	cr_expect_not(covers(10100));
	cut.parts = parts;
	cut.part_count = 2;
	cover_add(cover, &candidate, &cut);
	cr_expect(covers(10001));
	cr_expect(covers(10200));
	cr_expect_not(covers(10201));
	add(20000, 300);
	cr_expect_not(covers(20001), "hardly anything starts in it");
}

/* What another rule looks for there is not hidden by them, and would wait for nothing. */
Test(cover, parts_cover_candidates_of_their_own_rule)
{
	uint64_t parts[] = { 12000, 18000 }, more[] = { 30000 }, from, until;
	const struct candidate candidate = { .start = 10000, .rule = 1 },
			       around = { .start = 9000, .rule = 2 };
	struct outcome cut = {
		.verdict = CARVE_TRUNCATED, .length = 30000, .parts = parts, .part_count = 2
	};

	cover_add(cover, &candidate, &cut);
	cr_expect(covers_of(12000, 1));
	cr_expect_not(covers_of(12000, 0));
	cut.parts = more;
	cut.part_count = 1;
	cover_add(cover, &around, &cut);
	cr_expect(covers_of(12000, 1), "it is not lost in the larger one");
	cr_expect(covers_of(12000, 2));
	add(11000, 5000);
	cr_expect(covers_of(12000, 0));
	cr_expect(covers_of(17000, 1));
	cover_decided(cover, 9001, 0);
	cr_assert(cover_take_retry(cover, &from, &until));
	cr_expect_eq(until, 30001);
	cr_expect_not(covers_of(17000, 2));
	cr_expect(covers_of(17000, 1));
	cover_decided(cover, 10001, 0);
	cr_expect_not(covers_of(17000, 1));
	cr_expect(covers_of(12000, 1), "in the complete one");
}

Test(cover, a_file_that_is_decided_on_covers_nothing)
{
	uint64_t from, until;

	add(10000, 5000);
	add(20000, 5000);
	cover_decided(cover, 10001, 15000);
	cr_expect_not(covers(12000));
	cr_expect(covers(22000));
	cr_expect_not(cover_take_retry(cover, &from, &until), "all in it is hidden");
	cover_decided(cover, 20001, 15000);
	cr_assert(cover_take_retry(cover, &from, &until), "it was not kept");
	cr_expect_eq(from, 20001);
	cr_expect_eq(until, 25000);
	cr_expect_not(cover_take_retry(cover, &from, &until));
	add(20000, 7000);
	cr_expect_not(covers(22000), "it was decided on before");
}

Test(cover, retries_are_one_range)
{
	uint64_t from, until;

	cover_retry(cover, 500, 600);
	cover_retry(cover, 100, 50);
	cover_retry(cover, 300, 400);
	cr_assert(cover_take_retry(cover, &from, &until));
	cr_expect_eq(from, 300);
	cr_expect_eq(until, 600);
}

/* Against a plain array of files. Where files are decided on in between, one that was displaced by a
 * larger one before it may not be known any more. */
static void compare_with_array(bool decide)
{
	enum { FILES = 60, SPACE = 1 << 20 };
	uint64_t starts[FILES], lengths[FILES], decided = 0;

	for (unsigned i = 0; i < FILES; i++) {
		starts[i] = (uint64_t)rand() % SPACE;
		lengths[i] = COVER_MIN + (uint64_t)rand() % (SPACE / 8);
		add(starts[i], lengths[i]);
		if (decide && rand() % 10 == 0)
			cover_decided(cover, decided += (uint64_t)rand() % 10000, UINT64_MAX);
		for (unsigned k = 0; k < 100; k++) {
			uint64_t offset = decided + (uint64_t)rand() % SPACE;
			bool expected = false, found = covers(offset);

			for (unsigned j = 0; j <= i; j++)
				expected |= starts[j] >= decided && offset > starts[j] &&
					    offset - starts[j] < lengths[j];
			cr_assert(decide ? expected || !found : found == expected);
		}
	}
}

Test(cover, any_files_in_any_order)
{
	srand((unsigned)test_seed());
	for (unsigned round = 0; round < test_tier(10, 100, 1000); round++) {
		compare_with_array(round % 2);
		tear_down();
		set_up();
	}
}
