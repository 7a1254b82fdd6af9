/* Views, and checking candidates by must, length fields and carvers, on an image in memory. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "carve/check.h"
#include "memory_image.h"
#include "tier.h"

static uint8_t content[300000];

static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));

static void fill(void)
{
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * 7 + i / 256);
}

TestSuite(view, .init = fill);
TestSuite(check, .init = fill);

Test(view, returns_the_bytes_of_its_span_and_no_others)
{
	struct view *view = view_new();

	view_point(view, &evidence.image, 1000, 200000);
	cr_expect_eq(view_size(view), 200000);
	cr_expect_not(view_ends_with_image(view));
	for (uint64_t at = 0; at < 200000; at += 777) {
		const uint8_t *bytes = view_peek(view, at, 100);

		cr_assert_not_null(bytes);
		cr_assert_eq(memcmp(bytes, content + 1000 + at, 100), 0, "at %u", (unsigned)at);
	}
	cr_expect_not_null(view_peek(view, 199999, 1));
	cr_expect_null(view_peek(view, 199999, 2));
	cr_expect_null(view_peek(view, 200001, 0));
	cr_expect_null(view_peek(view, UINT64_MAX, 2));
	cr_expect_null(view_peek(view, 0, VIEW_MAX_PEEK + 1));
	view_point(view, &evidence.image, 299990, UINT64_MAX);
	cr_expect_eq(view_size(view), 10);
	cr_expect(view_ends_with_image(view));
	cr_expect_eq(*view_peek(view, 9, 1), content[299999]);
	cr_expect_null(view_peek(view, 9, 2));
	view_free(view);
}

/* Across seams, forward and back, the first bytes of another candidate left in the buffer. */
Test(view, shows_a_file_in_pieces_as_one)
{
	const struct range runs[] = { { 200000, 5000 }, { 100, 1 }, { 1000, 90000 },
		{ 299900, 100 } };
	static uint8_t file[95101];
	struct view *view = view_new();
	size_t len = 0;

	for (size_t i = 0; i < 4; i++) {
		memcpy(file + len, content + runs[i].offset, runs[i].length);
		len += runs[i].length;
	}
	view_point(view, &evidence.image, 0, 4096);
	view_peek(view, 0, 4096);
	view_point_runs(view, &evidence.image, runs, 4, UINT64_MAX);
	cr_expect_eq(view_size(view), 95101);
	cr_expect(view_ends_with_image(view));
	for (uint64_t at = 0; at < 95000; at += 777) {
		uint64_t from = at * 13 % 95000;

		cr_assert_arr_eq(view_peek(view, at, 101), file + at, 101, "at %u", (unsigned)at);
		cr_assert_arr_eq(view_peek(view, from, 101), file + from, 101);
	}
	cr_expect_arr_eq(view_peek(view, 0, VIEW_MAX_PEEK), file, VIEW_MAX_PEEK);
	cr_expect_arr_eq(view_peek(view, 95100, 1), file + 95100, 1);
	cr_expect_null(view_peek(view, 95100, 2));
	view_point_runs(view, &evidence.image, runs + 1, 2, 50);
	cr_expect_eq(view_size(view), 50);
	cr_expect_not(view_ends_with_image(view));
	cr_expect_arr_eq(view_peek(view, 0, 50), file + 5000, 50);
	view_point(view, &evidence.image, 0, 4096);
	cr_expect_arr_eq(view_peek(view, 0, 50), content, 50, "nothing of the pieces stays");
	view_free(view);
}

Test(view, counts_what_proves_that_two_runs_belong_together)
{
	const struct range runs[] = { { 5000, 100 }, { 100, 100 }, { 1000, 100 } };
	struct view *view = view_new();

	view_point(view, &evidence.image, 0, 4096);
	view_proved(view, 0, 4096, 32);
	cr_expect_eq(view_proof(view, 100), 0, "in one piece nothing is kept");
	view_point_runs(view, &evidence.image, runs, 3, UINT64_MAX);
	cr_expect_not(view_thorough(view));
	view_set_thorough(view, true);
	cr_expect(view_thorough(view));
	view_proved(view, 0, 60, 32);
	view_proved(view, 60, 100, 32); /* up to the first joint, and from the second on */
	view_proved(view, 200, 250, 32);
	view_proved(view, 30, 80, 32);
	cr_expect_eq(view_proof(view, 100), 0);
	cr_expect_eq(view_proof(view, 200), 0);
	view_proved(view, 99, 101, 16);
	view_proved(view, 0, 201, 32);
	cr_expect_eq(view_proof(view, 100), 48);
	cr_expect_eq(view_proof(view, 200), 32);
	cr_expect_eq(view_proof(view, 150), 0, "not a joint");
	view_point_runs(view, &evidence.image, runs, 2, UINT64_MAX);
	cr_expect_not(view_thorough(view));
	cr_expect_eq(view_proof(view, 100), 0, "nothing stays");
	view_free(view);
}

static unsigned looks_until_refused(struct view *view)
{
	unsigned looks = 0;

	/* Back and forth, so that each look would have to be read again. */
	while (view_peek(view, looks % 2 ? 0 : 250000, 1) && looks < 1000000)
		looks++;
	return looks;
}

Test(view, the_budget_ends_and_does_not_depend_on_what_was_read_before)
{
	struct view *view = view_new();
	unsigned first, again;

	view_point(view, &evidence.image, 0, sizeof(content));
	first = looks_until_refused(view);
	cr_assert_lt(first, 1000000, "a carver can loop for ever");
	cr_assert_lt(looks_until_refused(view), 3, "a spent budget stays spent");
	view_point(view, &evidence.image, 0, sizeof(content));
	again = looks_until_refused(view);
	cr_assert_eq(first, again);
	view_free(view);
}

static atomic_bool given_back;

static void *reserve_most(void *context)
{
	struct view *view = view_new();
	bool early;

	(void)context;
	view_reserve(view, (uint64_t)700 << 20);
	early = !atomic_load(&given_back);
	view_free(view);
	return early ? view : NULL;
}

/* Two that do not fit together: the second waits until the first gives its memory back. More than
 * there is goes to a check that is alone. */
Test(view, memory_is_reserved_for_the_process)
{
	struct view *view = view_new();
	pthread_t thread;
	void *early;

	view_point(view, &evidence.image, 0, sizeof(content));
	cr_assert(view_reserve(view, (uint64_t)2 << 30));
	cr_assert(view_reserve(view, (uint64_t)600 << 20), "covered by what was reserved");
	cr_assert_eq(pthread_create(&thread, NULL, reserve_most, NULL), 0);
	atomic_store(&given_back, true);
	view_point(view, &evidence.image, 0, sizeof(content));
	cr_assert_eq(pthread_join(thread, &early), 0);
	cr_assert_null(early, "reserved before there was room");
	view_free(view);
}

static bool count_question(void *context, uint64_t bytes)
{
	(void)bytes;
	++*(unsigned *)context;
	return true;
}

/* A question to another process takes as long as thousands of bytes: what is covered is not asked again, and questions are work. */
Test(view, memory_is_asked_for_once)
{
	struct view *view = view_new();
	unsigned asked = 0;

	view_reserve_by(view, count_question);
	view_watch(view, NULL, &asked);
	for (unsigned check = 1; check <= 3; check++) {
		view_point(view, &evidence.image, 0, sizeof(content));
		for (unsigned i = 0; i < 100; i++)
			cr_assert(view_reserve(view, (1 << 20) - i));
		cr_assert_eq(asked, check);
	}
	view_point(view, &evidence.image, 0, sizeof(content));
	for (unsigned i = 1; i <= 100; i++)
		cr_assert(view_reserve(view, i << 10));
	cr_assert_eq(asked, 103);
	cr_assert_geq(view_work_done(view), 100000);
	view_free(view);
}

static struct outcome check(const struct rule *rule, uint64_t start, uint64_t length)
{
	struct candidate candidate = { .start = start, .length = length, .end = END_MAX_SIZE };
	struct view *view = view_new();
	struct outcome outcome;

	check_candidate(view, &evidence.image, rule, &candidate, UINT64_MAX, &outcome);
	view_free(view);
	return outcome;
}

Test(check, what_has_nothing_to_check_is_cut_at_the_image)
{
	struct rule rule = { .max_size = 1000 };
	struct outcome outcome = check(&rule, 100, 1000);

	cr_expect_not(check_needed(&rule));
	cr_expect_eq(outcome.verdict, CARVE_UNVERIFIED);
	cr_expect_eq(outcome.length, 1000);
	cr_expect_eq(outcome.end, END_MAX_SIZE);
	outcome = check(&rule, sizeof(content) - 10, 1000);
	cr_expect_eq(outcome.length, 10);
	cr_expect_eq(outcome.end, END_IMAGE);
}

static void expect_length(
	struct length_field field, const char *bytes, uint64_t max_size, uint64_t length)
{
	struct rule rule = { .max_size = max_size, .length = field };
	struct outcome outcome;

	memcpy(content + 500 + field.at, bytes, field.width);
	outcome = check(&rule, 500, max_size);
	cr_expect_eq(outcome.length, length, "%u instead of %u", (unsigned)outcome.length,
		(unsigned)length);
	cr_expect_eq(outcome.verdict, length ? CARVE_UNVERIFIED : CARVE_REJECT);
	if (length)
		cr_expect_eq(outcome.end, END_LENGTH);
	else
		cr_expect(outcome.finding.why[0]);
}

Test(check, length_fields)
{
	expect_length(
		(struct length_field){ .at = 4, .width = 1, .multiply = 1 }, "\x40", 1000, 0x40);
	expect_length((struct length_field){ .at = 4, .width = 2, .multiply = 1 }, "\x10\x01", 1000,
		0x110);
	expect_length(
		(struct length_field){ .at = 4, .width = 2, .multiply = 1, .big_endian = true },
		"\x01\x10", 1000, 0x110);
	expect_length((struct length_field){ .at = 4, .width = 4, .multiply = 512, .add = 8 },
		"\2\0\0\0", 5000, 1032);
	expect_length((struct length_field){ .at = 4, .width = 4, .multiply = 1, .add = -6 },
		"\x14\0\0\0", 5000, 14);
	/* More than max_size; negative; less than its own field; more than 64 bits. */
	expect_length(
		(struct length_field){ .at = 4, .width = 4, .multiply = 1 }, "\0\0\0\1", 5000, 0);
	expect_length((struct length_field){ .at = 4, .width = 4, .multiply = 1, .add = -6 },
		"\5\0\0\0", 5000, 0);
	expect_length(
		(struct length_field){ .at = 4, .width = 4, .multiply = 1 }, "\7\0\0\0", 5000, 0);
	expect_length((struct length_field){ .at = 4, .width = 8, .multiply = 2 },
		"\x40\0\0\0\0\0\0\x80", UINT64_MAX, 0);
	expect_length((struct length_field){ .at = 4, .width = 8, .multiply = 1, .add = 100 },
		"\xff\xff\xff\xff\xff\xff\xff\xff", UINT64_MAX, 0);
}

Test(check, a_length_beyond_the_image_is_truncated)
{
	struct rule rule = { .max_size = 1000000,
		.length = { .at = 0, .width = 4, .multiply = 1 } };
	struct outcome outcome;

	memcpy(content + sizeof(content) - 100, "\0\4\0\0", 4);
	outcome = check(&rule, sizeof(content) - 100, 1000000);
	cr_expect_eq(outcome.verdict, CARVE_TRUNCATED);
	cr_expect_eq(outcome.length, 100);
	cr_expect_eq(outcome.end, END_IMAGE);
	cr_expect_not_null(strstr(outcome.finding.why, "924"));
	outcome = check(&rule, sizeof(content) - 2, 1000000);
	cr_expect_eq(outcome.verdict, CARVE_REJECT, "the field itself is past the end");
}

Test(check, musts)
{
	uint8_t bytes[] = { content[1010], content[1011] }, mask[] = { 0xff, 0xff };
	struct must must = { .at = 10,
		.pattern = { .bytes = bytes, .mask = mask, .len = 2, .min_len = 2 } };
	struct rule rule = { .max_size = 50, .musts = &must, .must_count = 1 };

	cr_expect_eq(check(&rule, 1000, 50).verdict, CARVE_UNVERIFIED);
	cr_expect_eq(check(&rule, 1001, 50).verdict, CARVE_REJECT);
	cr_expect_eq(check(&rule, sizeof(content) - 5, 50).verdict, CARVE_REJECT);
}

/* Why a file at 1000 is rejected that has `found` at offset 16, where the pattern is expected. */
static const char *must_reason(struct pattern pattern, const char *found, size_t found_len)
{
	static struct outcome outcome;
	struct must must = { .at = 16, .pattern = pattern };
	struct rule rule = { .max_size = 50, .musts = &must, .must_count = 1 };

	memcpy(content + 1016, found, found_len);
	outcome = check(&rule, 1000, 50);
	cr_expect_eq(outcome.verdict, CARVE_REJECT);
	return outcome.finding.why;
}

Test(check, a_failed_must_says_what_was_expected_and_found)
{
	uint8_t bytes[20] = "HEAD", mask[20] = "\xff\xff\xff\xff";
	struct pattern pattern = { .bytes = bytes, .mask = mask, .len = 4, .min_len = 4 };

	cr_expect_str_eq(must_reason(pattern, "HEAX", 4),
		"expected 48 45 41 44 at offset 16, found 48 45 41 58");
	mask[1] = 0;
	bytes[1] = 0;
	mask[2] = 0xf0;
	bytes[2] = 0x40;
	mask[3] = 0xdf;
	cr_expect_str_eq(must_reason(pattern, "HEAX", 4),
		"expected 48 ?? 4? 44/64 at offset 16, found 48 45 41 58");
	/* Of a long pattern the part from the first byte that differs. */
	memset(mask, 0xff, sizeof(mask));
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	pattern.len = pattern.min_len = sizeof(bytes);
	cr_expect_str_eq(must_reason(pattern, "\0\1\2\3\xff\5\6\7\x8\x9\xa\xb\xc", 13),
		"expected 04 05 06 07 08 09 0A 0B ... at offset 20, found FF 05 06 07 08 09 0A 0B");
	memcpy(content + 1016, bytes, 20);
	cr_expect_str_eq(must_reason(pattern,
				 "\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10\x11\x12\xff", 20),
		"expected 0C 0D 0E 0F 10 11 12 13 at offset 28, found 0C 0D 0E 0F 10 11 12 FF");
}

Test(check, a_must_past_the_end_says_which_end)
{
	uint8_t bytes[] = { 1, 2, 3, 4 }, mask[] = { 0xff, 0xff, 0xff, 0xff };
	struct must must = { .at = 8,
		.pattern = { .bytes = bytes, .mask = mask, .len = 4, .min_len = 4 } };
	struct rule rule = { .max_size = 50, .musts = &must, .must_count = 1 };
	size_t start = sizeof(content) - 10;
	struct outcome outcome;

	memcpy(content + start + 8, bytes, 2);
	outcome = check(&rule, start, 50);
	cr_expect_str_eq(outcome.finding.why,
		"expected 01 02 03 04 at offset 8, found 01 02 and the end of the image");
	outcome = check(&rule, sizeof(content) - 8, 50);
	cr_expect_str_eq(outcome.finding.why,
		"expected 01 02 03 04 at offset 8, found the end of the image");
	outcome = check(&rule, 1000, 8);
	cr_expect_str_eq(outcome.finding.why,
		"expected 01 02 03 04 at offset 8, found the end of the candidate");
}

Test(check, a_bad_length_says_the_limit)
{
	struct rule rule = {
		.min_size = 20, .max_size = 1000, .length = { .at = 4, .width = 2, .multiply = 1 }
	};
	struct outcome outcome;

	memcpy(content + 504, "\xe9\x03", 2);
	outcome = check(&rule, 500, 1000);
	cr_expect_str_eq(outcome.finding.why,
		"the length field at offset 4 gives 1001 bytes, more than max_size (1000)");
	memcpy(content + 504, "\x13\0", 2);
	outcome = check(&rule, 500, 1000);
	cr_expect_str_eq(outcome.finding.why,
		"the length field at offset 4 gives 19 bytes, fewer than min_size (20)");
	rule.min_size = 0;
	memcpy(content + 504, "\5\0", 2);
	outcome = check(&rule, 500, 1000);
	cr_expect_str_eq(outcome.finding.why,
		"the length field at offset 4 gives 5 bytes, but it ends at 6 itself");
	memcpy(content + 504, "\0\0", 2);
	outcome = check(&rule, 500, 1000);
	cr_expect_str_eq(outcome.finding.why,
		"the length field at offset 4 holds 0, which gives no valid length");
	outcome = check(&rule, sizeof(content) - 5, 1000);
	cr_expect_str_eq(outcome.finding.why,
		"expected a length field at offset 4, found the end of the image");
}

static enum verdict too_long(struct view *view, struct finding *finding)
{
	finding->length = view_size(view) + 1;
	return CARVE_COMPLETE;
}

static enum verdict nothing(struct view *view, struct finding *finding)
{
	(void)view;
	(void)finding;
	return CARVE_UNVERIFIED;
}

static enum verdict twenty(struct view *view, struct finding *finding)
{
	(void)view;
	finding->length = 20;
	return CARVE_COMPLETE;
}

Test(check, a_carvers_length_is_checked)
{
	struct carver carver = { .name = "x", .check = too_long };
	struct rule rule = { .max_size = 50, .carver = &carver };

	cr_expect_eq(check(&rule, 1000, 50).verdict, CARVE_REJECT);
	carver.check = nothing;
	cr_expect_eq(check(&rule, 1000, 50).verdict, CARVE_REJECT);
	carver.check = twenty;
	cr_expect_eq(check(&rule, 1000, 50).verdict, CARVE_COMPLETE);
	cr_expect_eq(check(&rule, 1000, 50).length, 20);
	rule.min_size = 21;
	cr_expect_eq(check(&rule, 1000, 50).verdict, CARVE_REJECT);
}

static enum verdict parts_verdict;

static enum verdict of_parts(struct view *view, struct finding *finding)
{
	view_part(view, 0);
	view_part(view, 10);
	view_part(view, 30);
	view_part(view, 20);
	view_part(view, 40);
	view_embedded(view, 30);
	view_embedded(view, 40);
	view_embedded(view, 15);
	view_holds(view, 35, 50);
	view_holds(view, 5, 7);
	finding->length = 40;
	return parts_verdict;
}

/* Its first byte is that of one piece, its second of another. */
static enum verdict of_pieces(struct view *view, struct finding *finding)
{
	const uint8_t *bytes = view_peek(view, 0, 12);

	finding->length = 20;
	view_unverified(view, 5, 7);
	return bytes && memcmp(bytes, content + 5000, 8) == 0 &&
			       memcmp(bytes + 8, content + 100, 4) == 0
		       ? CARVE_COMPLETE
		       : CARVE_REJECT;
}

Test(check, a_file_in_pieces_has_offsets_of_its_own)
{
	struct carver carver = { .name = "x", .check = of_pieces };
	struct rule rule = { .max_size = 50, .carver = &carver };
	const struct range runs[] = { { 5000, 8 }, { 100, 12 } };
	const struct check_options thorough = { .thorough = true };
	struct view *view = view_new();
	struct outcome outcome;

	check_runs(view, &evidence.image, &rule, runs, 2, UINT64_MAX, NULL, &outcome);
	cr_expect_eq(outcome.verdict, CARVE_COMPLETE);
	cr_expect_eq(outcome.length, 20);
	cr_assert_eq(outcome.unverified.count, 1);
	cr_expect_eq(outcome.unverified.items[0].offset, 5);
	outcome_free(&outcome);
	rule.max_size = 19;
	check_runs(view, &evidence.image, &rule, runs, 2, UINT64_MAX, &thorough, &outcome);
	cr_expect_eq(outcome.verdict, CARVE_REJECT, "it exceeds max_size");
	view_free(view);
}

Test(check, parts_are_inside_the_file_or_in_what_was_rejected)
{
	struct carver carver = { .name = "x", .check = of_parts };
	struct rule rule = { .max_size = 50, .carver = &carver };
	struct outcome outcome;

	parts_verdict = CARVE_TRUNCATED;
	outcome = check(&rule, 1000, 50);
	cr_assert_eq(outcome.part_count, 2, "%zu", outcome.part_count);
	cr_expect_eq(outcome.parts[0], 1010);
	cr_expect_eq(outcome.parts[1], 1030);
	cr_assert_eq(outcome.embedded_count, 2, "%zu", outcome.embedded_count);
	cr_expect_eq(outcome.embedded[0], 1030);
	cr_expect_eq(outcome.embedded[1], 1015, "in any order");
	cr_assert_eq(outcome.held.count, 2);
	cr_expect_eq(outcome.held.items[0].offset, 1005);
	cr_expect_eq(outcome.held.items[1].length, 5, "up to the file's end");
	outcome_free(&outcome);
	cr_expect_null(outcome.parts);
	cr_expect_null(outcome.embedded);
	parts_verdict = CARVE_REJECT;
	outcome = check(&rule, 1000, 50);
	cr_assert_eq(outcome.part_count, 3);
	cr_expect_eq(outcome.parts[2], 1040);
	cr_expect_eq(outcome.embedded_count, 0);
	cr_expect_eq(outcome.held.count, 0);
	outcome_free(&outcome);
	carver.check = twenty;
	cr_expect_eq(check(&rule, 1000, 50).part_count, 0, "those of the one before are dropped");
}

static uint64_t many;

static enum verdict of_many_parts(struct view *view, struct finding *finding)
{
	(void)finding;
	for (uint64_t i = 1; i <= many; i++) {
		view_part(view, 12 * i);
		view_embedded(view, 12 * i);
	}
	return CARVE_REJECT;
}

/* The nodes of 12 bytes that a flash image of 32 MiB may have: else each of the others would be checked. */
Test(check, millions_of_parts_are_kept)
{
	struct carver carver = { .name = "x", .check = of_many_parts };
	struct rule rule = { .max_size = 50, .carver = &carver };
	struct outcome outcome;

	many = (32 << 20) / 12;
	outcome = check(&rule, 1000, 50);
	cr_assert_eq(outcome.part_count, many, "%zu", outcome.part_count);
	cr_expect_eq(outcome.parts[many - 1], 1000 + 12 * many);
	outcome_free(&outcome);
	many = VIEW_PARTS_MAX + 1;
	outcome = check(&rule, 1000, 50);
	cr_expect_eq(outcome.part_count, VIEW_PARTS_MAX, "%zu", outcome.part_count);
	outcome_free(&outcome);
}

/* A check that goes on from a state finds what a whole one does, with less work, and proves as much. */
static void expect_to_go_on(const char *carver, const char *path, size_t begin, bool thorough)
{
	const struct rule rule = {
		.name = (char *)carver, .carver = carver_find(carver), .max_size = sizeof(content)
	};
	struct carve_state states[VIEW_STATES];
	uint8_t file[8192];
	FILE *golden = fopen(path, "rb");
	size_t len = golden ? fread(file, 1, sizeof(file), golden) : 0, count, taken, resumed = 0;
	unsigned same = 0, proved = 0, step = test_tier(3, 1, 1);

	cr_assert_gt(len, begin, "%s", path);
	fclose(golden);
	memcpy(content + 4096, file, len);
	for (size_t at = begin; at < len; at += step) {
		const struct range first = { 4096, len };
		struct range runs[] = { { 4096, at }, { 20000, len - at } };
		struct check_options from = { .spacing = 16 };
		struct outcome whole, rest;
		struct view *view = view_new(); /* which takes the content not to change */
		unsigned proof;

		/* The rest of it, or of another place in it. */
		memcpy(content + 20000, at % 2 ? file + at : file + at - 60, len - at);
		check_runs(view, &evidence.image, &rule, &first, 1, UINT64_MAX, &from, &whole);
		cr_assert_eq(whole.verdict, CARVE_COMPLETE, "%s", whole.finding.why);
		outcome_free(&whole);
		count = taken = view_take_states(view, states);
		from = (struct check_options){ .thorough = thorough };
		check_runs(view, &evidence.image, &rule, runs, 2, UINT64_MAX, &from, &whole);
		proof = view_proof(view, at);
		cr_assert(at % 2 == 0 || whole.verdict == CARVE_COMPLETE);
		while (count && states[count - 1].offset > at)
			count--;
		if (count) {
			from = (struct check_options){ .from = &states[count - 1] };
			check_runs(view, &evidence.image, &rule, runs, 2, UINT64_MAX, &from, &rest);
			cr_assert_eq(rest.verdict, whole.verdict, "%s at %zu", path, at);
			cr_assert_eq(rest.length, whole.length, "%s at %zu", path, at);
			cr_assert_str_eq(rest.finding.why, whole.finding.why);
			cr_assert_leq(rest.work, whole.work);
			cr_assert_eq(view_proof(view, at), proof, "%s at %zu", path, at);
			outcome_free(&rest);
			resumed++;
			same += at % 2;
			proved += whole.verdict == CARVE_COMPLETE && proof >= 3;
		}
		outcome_free(&whole);
		for (size_t i = 0; i < taken; i++)
			free((void *)states[i].data);
		view_free(view);
	}
	cr_assert_gt(resumed, 300 / step, "%s: %zu", path, resumed);
	cr_assert_gt(same, 100 / step);
	cr_assert(proved > 200 / step || !strcmp(carver, "mp3") || !strcmp(carver, "mkv") ||
			  !strcmp(carver, "mp4"),
		"%s", path);
}

Test(check, goes_on_from_states)
{
	expect_to_go_on("jpeg", "tests/golden/jpeg/restart.jpg", 700, false);
	expect_to_go_on("flac", "tests/golden/flac/kinds.flac", 700, true);
	expect_to_go_on("mp3", "tests/golden/mp3/id3v1.mp3", 300, true);
	expect_to_go_on("mp3", "tests/golden/mp3/lame.mp3", 300, true);
	expect_to_go_on("mkv", "tests/golden/mkv/film.mkv", 300, true);
	expect_to_go_on("mp4", "tests/golden/mp4/last.mp4", 100, true);
	expect_to_go_on("gif", "tests/golden/gif/grey.gif", 800, false);
}

/* What checks over data as it is in the file prove of a joint in it. */
Test(check, proves_joints_by_checksums)
{
	static const struct {
		const char *carver, *file;
		size_t joint;
		unsigned bits;
		size_t cut; /* the file has only this many bytes; 0: all */
	} rows[] = {
		{ "cab", "cab/mszip.cab", 400, 32, 0 },
		{ "arj", "arj/two.arj", 30, 32, 0 },
		/* The data, and the next header. */
		{ "rar", "rar/five.rar", 500, 48, 0 },
		{ "rar", "rar/four-large.rar", 600, 48, 0 },
		{ "rar", "rar/four-part.rar", 300, 48, 0 },
		{ "rar", "rar/five-part.rar", 300, 48, 0 },
		{ "dmg", "dmg/volume.dmg", 100, 32, 0 },
		{ "psd", "psd/deflated.psd", 1500, 32, 0 },
		{ "prefetch", "prefetch/packed-long.pf", 9000, 64, 0 },
		{ "prefetch", "prefetch/packed.pf", 400, 48, 0 },
		{ "swf", "swf/zlib.swf", 100, 32, 0 },
		{ "woff", "woff/plain.woff", 500, 64, 0 },
		{ "sfnt", "sfnt/plain.ttf", 500, 44, 0 },
		{ "evtx", "evtx/one.evtx", 4700, 48, 0 },
		/* Each of its two streams has a page before, and the next one after it. */
		{ "ogg", "ogg/theora.ogv", 1000, 96, 0 },
		/* 48 by 40 pixels: near its ends others' data may have as many. */
		{ "gif", "gif/grey.gif", 2000, 10, 0 },
		{ "gif", "gif/grey.gif", 900, 5, 0 },
		{ "gif", "gif/grey.gif", 2504, 5, 0 },
		{ "zip", "zip/android.apk", 155, 32, 0 },
		/* Only the directory shows whether a name is right, and the data whether its lengths are. */
		{ "zip", "zip/android.apk", 155, 0, 311 },
		{ "zip", "zip/android.apk", 130, 32, 311 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct check_options thorough = { .thorough = true };
		const struct rule rule = { .name = (char *)"x",
			.carver = carver_find(rows[i].carver),
			.max_size = sizeof(content) };
		struct range runs[] = { { 100000, rows[i].joint }, { 0, 0 } };
		struct view *view = view_new();
		struct outcome outcome;
		char path[128];
		FILE *file;

		snprintf(path, sizeof(path), "tests/golden/%s", rows[i].file);
		file = fopen(path, "rb");
		cr_assert_not_null(file, "%s", path);
		runs[1].length = fread(content, 1, 100000, file);
		fclose(file);
		if (rows[i].cut)
			runs[1].length = rows[i].cut;
		memcpy(content + 100000, content, rows[i].joint);
		runs[1].offset = rows[i].joint;
		runs[1].length -= rows[i].joint;
		check_runs(view, &evidence.image, &rule, runs, 2, UINT64_MAX, &thorough, &outcome);
		cr_expect_eq(outcome.verdict, rows[i].cut ? CARVE_TRUNCATED : CARVE_COMPLETE,
			"%s: %s", path, outcome.finding.why);
		cr_expect_eq(view_proof(view, rows[i].joint), rows[i].bits, "%s: %u bits", path,
			view_proof(view, rows[i].joint));
		outcome_free(&outcome);
		view_free(view);
	}
}
