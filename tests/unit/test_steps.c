/* The search for pieces, on an image in memory and for made-up formats. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "assemble/beam.h"
#include "assemble/fine_log.h"
#include "assemble/inner_hits.h"
#include "assemble/joining.h"
#include "assemble/mapping.h"
#include "carvers/bytes.h"
#include "carver_case.h"
#include "memory_image.h"
#include "strategy_case.h"

#define CLUSTER ((uint64_t)4096)
#define START (4 * CLUSTER)

static uint8_t content[64 * CLUSTER], file[12 * CLUSTER];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = { .size = CLUSTER, .end = sizeof(content) };

/* A run of the file, at a cluster of the image. */
static void plant(uint64_t from, uint64_t to, uint64_t cluster)
{
	memcpy(content + cluster * CLUSTER, file + from, to - from);
}

static void fill_file(uint32_t seed)
{
	for (size_t i = 0; i < sizeof(file); i++) {
		seed = seed * 1664525 + 1013904223;
		file[i] = (uint8_t)(seed >> 24);
	}
}

#define HELPERS 3

static void *help(void *helpers)
{
	struct view *view = view_new();

	helpers_begin(helpers);
	helpers_end(helpers, view);
	view_free(view);
	return NULL;
}

static bool is_last;               /* the pass */
static struct known_trials *known; /* of the passes before */

static struct strategy_result search(const struct carver *carver, const struct broken *broken,
	uint64_t work, struct helpers *helpers, struct extents *extents)
{
	const struct workbench bench = { .evidence = &evidence.image,
		.clusters = &clusters,
		.helpers = helpers,
		.work_left = work,
		.known = known,
		.is_last = is_last };

	return strategy_try(find_anywhere, &bench, carver, broken, extents);
}

/* The same by several threads. */
static struct strategy_result search_together(const struct carver *carver,
	const struct broken *broken, uint64_t work, struct extents *extents)
{
	struct helpers *helpers = helpers_new();
	struct view *view = view_new();
	pthread_t threads[HELPERS];
	struct strategy_result answer;

	helpers_begin(helpers);
	for (size_t i = 0; i < HELPERS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, help, helpers), 0);
	while (helpers_idle(helpers) < HELPERS)
		sched_yield();
	answer = search(carver, broken, work, helpers, extents);
	helpers_end(helpers, view);
	for (size_t i = 0; i < HELPERS; i++)
		pthread_join(threads[i], NULL);
	view_free(view);
	helpers_free(helpers);
	return answer;
}

/* That helpers change nothing, nor where the work ends. */
static void compare(const struct carver *carver, const struct broken *broken, uint64_t work)
{
	struct extents alone = { 0 }, together = { 0 };
	struct strategy_result a = search(carver, broken, work, NULL, &alone),
			       b = search_together(carver, broken, work, &together);

	cr_expect_eq(a.found, b.found, "work %" PRIu64, work);
	cr_expect_eq(a.length, b.length, "work %" PRIu64, work);
	cr_expect_eq(a.work_left, b.work_left, "work %" PRIu64, work);
	cr_expect_eq(a.tested, b.tested, "work %" PRIu64, work);
	cr_expect_eq(a.assembly.doubt_count, b.assembly.doubt_count, "work %" PRIu64, work);
	cr_expect_eq(a.assembly.evidence, b.assembly.evidence, "work %" PRIu64, work);
	cr_assert_eq(alone.count, together.count, "work %" PRIu64, work);
	for (size_t i = 0; i < alone.count; i++) {
		cr_expect_eq(alone.runs[i].offset, together.runs[i].offset);
		cr_expect_eq(alone.runs[i].length, together.runs[i].length);
	}
	extents_free(&alone);
	extents_free(&together);
}

#define WORK ((uint64_t)1 << 28)

/* What the search puts together of the file that begins at START. */
static bool find(const struct carver *carver, const struct broken *broken, struct extents *extents)
{
	for (uint64_t work = WORK; work > 1 << 12; work -= work / 3)
		compare(carver, broken, work);
	return search(carver, broken, WORK, NULL, extents).found;
}

static void expect_runs(const struct extents *extents, const uint64_t (*runs)[2], size_t count)
{
	cr_assert_eq(extents->count, count, "%zu pieces", extents->count);
	for (size_t i = 0; i < count; i++) {
		cr_expect_eq(extents->runs[i].offset, runs[i][0] * CLUSTER, "piece %zu", i);
		cr_expect_eq(extents->runs[i].length, runs[i][1], "piece %zu", i);
	}
}

/* ---- records with a sum each ---------------------------------------------------------------- */

#define RECORD 9000
#define RECORDS 4

static uint32_t sum_of(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 1;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static void make_records(void)
{
	memset(content, 0xee, sizeof(content));
	fill_file(1);
	for (uint64_t at = 0; at < RECORDS * RECORD; at += RECORD) {
		uint32_t sum = sum_of(file + at + 4, RECORD - 4);

		memcpy(file + at, &sum, 4);
	}
}

static enum verdict check_records(struct view *view, struct finding *finding)
{
	for (uint64_t at = 0; at < RECORDS * RECORD; at += RECORD) {
		const uint8_t *p = view_peek(view, at, RECORD);

		finding->length = at ? at : 1;
		if (!p || le32(p) != sum_of(p + 4, RECORD - 4))
			return verdict_because(CARVE_TRUNCATED, finding, "a wrong sum");
	}
	finding->length = RECORDS * RECORD;
	return CARVE_COMPLETE;
}

/* Nothing proves the joint of what is whole, and the work does not suffice for all other layouts: only the last pass
 * takes it. */
Test(steps, what_can_not_be_judged_to_the_end_stays_in_the_last_pass)
{
	static const struct carver carver = { .name = "x", .check = check_records };
	static const struct broken broken = {
		.start = START, .length = 1, .verdict = CARVE_TRUNCATED
	};
	static const uint64_t runs[][2] = { { 4, 3 * CLUSTER },
		{ 9, RECORDS * RECORD - 3 * CLUSTER } };
	unsigned stayed = 0;

	make_records();
	plant(0, 3 * CLUSTER, 4);
	plant(3 * CLUSTER, RECORDS * RECORD, 9);
	for (uint64_t work = WORK; work > 1 << 12; work -= work / 3) {
		struct extents before = { 0 }, last = { 0 };
		bool found;

		is_last = false;
		found = search(&carver, &broken, work, NULL, &before).found;
		is_last = true;
		if (search(&carver, &broken, work, NULL, &last).found && !found) {
			compare(&carver, &broken, work);
			expect_runs(&last, runs, 2);
			stayed++;
		}
		is_last = false;
		extents_free(&before);
		extents_free(&last);
	}
	cr_expect_gt(stayed, 0);
}

/* Records that nothing verifies to the end: all that there is to agree does. */
static enum verdict check_unproved(struct view *view, struct finding *finding)
{
	enum verdict verdict = check_records(view, finding);

	if (verdict != CARVE_COMPLETE)
		return verdict;
	view_agrees(view);
	return verdict_because(CARVE_UNVERIFIED, finding, "nothing verifies the end");
}

/* What its format can't prove is put together all the same, but not what is whole as it was found. */
Test(steps, what_can_never_be_complete_is_put_together)
{
	static const struct carver carver = { .name = "x", .check = check_unproved };
	static const struct broken broken = {
		.start = START, .length = RECORDS * RECORD, .verdict = CARVE_UNVERIFIED
	};
	static const uint64_t runs[][2] = { { 4, 3 * CLUSTER },
		{ 9, RECORDS * RECORD - 3 * CLUSTER } };
	struct extents extents = { 0 };
	struct strategy_result answer;

	make_records();
	plant(0, 3 * CLUSTER, 4);
	plant(3 * CLUSTER, RECORDS * RECORD, 9);
	cr_assert(find(&carver, &broken, &extents));
	expect_runs(&extents, runs, 2);
	extents_free(&extents);
	plant(0, RECORDS * RECORD, 4);
	answer = search(&carver, &broken, WORK, NULL, &extents);
	cr_expect_not(answer.found);
	cr_expect_leq(answer.tested, 2, "%" PRIu64, answer.tested);
	extents_free(&extents);
}

#define LAST_RECORD ((RECORDS - 1) * RECORD)
#define IS_VERIFIED 1

/* Records of which the last one says whether anything verifies them. */
static enum verdict check_doubtful(struct view *view, struct finding *finding)
{
	enum verdict verdict = check_records(view, finding);

	if (verdict != CARVE_COMPLETE || view_peek(view, LAST_RECORD, 5)[4] == IS_VERIFIED)
		return verdict;
	view_agrees(view);
	return verdict_because(CARVE_UNVERIFIED, finding, "nothing verifies the end");
}

static void make_last_record(uint8_t verified)
{
	uint32_t sum;

	file[LAST_RECORD + 4] = verified;
	sum = sum_of(file + LAST_RECORD + 4, RECORD - 4);
	memcpy(file + LAST_RECORD, &sum, 4);
}

/* A last piece with which the file is complete has no rival in one with which nothing verifies it. */
Test(steps, what_is_not_complete_is_no_rival_of_what_is)
{
	static const struct carver carver = { .name = "x", .check = check_doubtful };
	static const struct broken broken = {
		.start = START, .length = 1, .verdict = CARVE_TRUNCATED
	};
	static const uint64_t runs[][2] = { { 4, 3 * CLUSTER },
		{ 9, RECORDS * RECORD - 3 * CLUSTER } };
	struct extents extents = { 0 };

	make_records();
	make_last_record(!IS_VERIFIED);
	plant(3 * CLUSTER, RECORDS * RECORD, 40);
	make_last_record(IS_VERIFIED);
	plant(0, 3 * CLUSTER, 4);
	plant(3 * CLUSTER, RECORDS * RECORD, 9);
	cr_assert(find(&carver, &broken, &extents));
	expect_runs(&extents, runs, 2);
	extents_free(&extents);
}

static uint64_t layout_state;

static uint64_t draw(uint64_t below)
{
	layout_state = layout_state * 6364136223846793005 + 1442695040888963407;
	return (layout_state >> 33) % below;
}

/* Of some clusters, of which complete files have parts: they are not whole ones, nor at clusters. */
static void take_some(struct clusters *some, uint64_t most)
{
	for (uint64_t at = draw(most); at < some->end; at += 1 + draw(most)) {
		uint64_t length = 1 + draw(3 * some->size);

		if (length > some->end - at)
			length = some->end - at;
		ranges_add(&some->taken, at, length);
		at += length;
	}
}

/* Layouts by the list of what is free are those that are found without it: with few and many files, clusters of all sizes, steps
 * forwards and backwards, past the file's own pieces and into them. */
Test(steps, lay_out_what_is_listed_as_free)
{
	struct extents found = { 0 }, listed = { 0 };
	unsigned laid_out = 0;

	for (unsigned round = 0; round < 400; round++) {
		struct clusters some = { .size = 512 << draw(4), .origin = 0 };
		struct partial partial = { 0 };

		some.end = some.size * (100 + draw(1000)) + draw(some.size);
		some.origin = draw(2) ? 0 : 512 * draw(some.size / 512);
		take_some(&some, some.size * (1 + draw(40)));
		for (uint64_t piece = 0; piece < 1 + draw(4); piece++)
			extents_add(&partial.extents,
				some.origin + some.size * draw(some.end / some.size - 10),
				some.size * (1 + draw(6)));
		for (unsigned n = 0; n < 40; n++) {
			const struct step step = { some.size * (1 + draw(8)),
				((int64_t)draw(200) - 100) * (int64_t)some.size };
			struct clusters with = some;
			bool works = step_lay_out(&some, &partial, &step, &found);

			with.free_runs = NULL;
			clusters_list_free(&with);
			cr_assert_eq(step_lay_out(&with, &partial, &step, &listed), works);
			free(with.free_runs);
			if (!works)
				continue;
			laid_out++;
			cr_assert_eq(listed.count, found.count);
			cr_assert_arr_eq(
				listed.runs, found.runs, found.count * sizeof(*found.runs));
		}
		partial_free(&partial);
		ranges_free(&some.taken);
	}
	cr_expect_gt(laid_out, 1000);
	extents_free(&found);
	extents_free(&listed);
}

/* A second pass makes only the trials again that look at clusters which were taken since. */
Test(steps, what_was_refused_costs_little_in_the_next_pass)
{
	static const struct carver carver = { .name = "x", .check = check_records };
	static const struct broken broken = {
		.start = START, .length = 1, .verdict = CARVE_TRUNCATED
	};
	struct strategy_result first, again, changed;
	struct extents extents = { 0 };

	make_records();
	plant(0, 3 * CLUSTER, 4);
	plant(3 * CLUSTER, RECORDS * RECORD - CLUSTER, 9); /* its end is nowhere */
	known = known_trials_new(1 << 16);
	first = search(&carver, &broken, WORK, NULL, &extents);
	again = search(&carver, &broken, WORK, NULL, &extents);
	compare(&carver, &broken, WORK);
	ranges_add(&clusters.taken, 30 * CLUSTER, CLUSTER);
	changed = search(&carver, &broken, WORK, NULL, &extents);
	known_trials_free(known);
	known = NULL;
	cr_expect_not(first.found || again.found || changed.found);
	cr_expect_eq(again.tested, first.tested);
	cr_expect_lt(WORK - again.work_left, WORK - first.work_left);
	cr_expect_lt(WORK - again.work_left, WORK - changed.work_left);
	cr_expect_eq(search(&carver, &broken, WORK, NULL, &extents).tested, changed.tested);
	ranges_free(&clusters.taken);
	clusters.taken = (struct ranges){ 0 };
	extents_free(&extents);
}

/* The second piece is shorter than a record: what follows it is noticed at the record's begin, in the piece's first
 * bytes, or before it. */
Test(steps, follow_a_piece_that_is_shorter_than_a_record)
{
	static const struct carver carver = { .name = "x", .check = check_records };
	static const struct broken broken = {
		.start = START, .length = 1, .verdict = CARVE_TRUNCATED
	};
	static const uint64_t runs[][2] = { { 4, 2 * CLUSTER }, { 9, CLUSTER },
		{ 12, RECORDS * RECORD - 3 * CLUSTER } };
	struct extents extents = { 0 };

	make_records();
	plant(0, 2 * CLUSTER, 4);
	plant(2 * CLUSTER, 3 * CLUSTER, 9);
	plant(3 * CLUSTER, RECORDS * RECORD, 12);
	cr_assert(find(&carver, &broken, &extents));
	expect_runs(&extents, runs, 3);
	extents_free(&extents);
}

#define LINE 64
#define LINES_LEN (8 * CLUSTER)
#define WHOLE_BITS 14

static uint32_t whole_sum;

/* Lines that end with their sum, and a sum of them all that proves little. */
static enum verdict check_lines(struct view *view, struct finding *finding)
{
	const uint8_t *p;

	for (uint64_t at = 0; at < LINES_LEN; at += LINE) {
		p = view_peek(view, at, LINE);
		finding->length = at ? at : 1;
		if (!p || p[LINE - 1] != (uint8_t)sum_of(p, LINE - 1))
			return verdict_because(CARVE_TRUNCATED, finding, "a wrong line");
	}
	p = view_peek(view, 0, LINES_LEN);
	if (!p || sum_of(p, LINES_LEN) != whole_sum)
		return verdict_because(CARVE_TRUNCATED, finding, "a wrong sum");
	finding->length = LINES_LEN;
	view_proved(view, 0, LINES_LEN, WHOLE_BITS);
	return CARVE_COMPLETE;
}

static void make_lines(uint32_t seed)
{
	fill_file(seed);
	for (uint64_t at = 0; at < LINES_LEN; at += LINE)
		file[at + LINE - 1] = (uint8_t)sum_of(file + at, LINE - 1);
}

/* Wrong bytes after each joint are noticed soon: that counts for a joint before the last one, too, but not if a wrong piece
 * is accepted there for as long as the right one. */
Test(steps, what_follows_each_joint_speaks_for_it)
{
	static const struct carver carver = { .name = "x", .check = check_lines };
	static const struct broken broken = {
		.start = START, .length = 1, .verdict = CARVE_TRUNCATED
	};
	static const uint64_t runs[][2] = { { 4, 3 * CLUSTER }, { 8, 3 * CLUSTER },
		{ 12, 2 * CLUSTER } };

	for (unsigned rivals = 0; rivals < 2; rivals++) {
		struct extents extents = { 0 };
		struct strategy_result answer;

		memset(content, 0xee, sizeof(content));
		make_lines(7);
		if (rivals)
			plant(3 * CLUSTER, 6 * CLUSTER, 40);
		make_lines(8);
		whole_sum = sum_of(file, LINES_LEN);
		plant(0, 3 * CLUSTER, 4);
		plant(3 * CLUSTER, 6 * CLUSTER, 8);
		plant(6 * CLUSTER, LINES_LEN, 12);
		answer = search(&carver, &broken, WORK, NULL, &extents);
		cr_assert(answer.found);
		expect_runs(&extents, runs, 3);
		cr_expect_eq(answer.assembly.evidence > WHOLE_BITS, !rivals,
			"%" PRIu32 " bits, %u rivals", answer.assembly.evidence, rivals);
		extents_free(&extents);
		compare(&carver, &broken, WORK);
	}
}

static unsigned broken_records; /* checks in which the second record, which was valid, is not */

/* The same, and each sum is declared. */
static enum verdict check_proved_records(struct view *view, struct finding *finding)
{
	enum verdict verdict = check_records(view, finding);

	if (finding->length == RECORD && view_size(view) > 2 * RECORD)
		__atomic_fetch_add(&broken_records, 1, __ATOMIC_RELAXED);
	for (uint64_t at = 0; at + RECORD <= finding->length; at += RECORD)
		view_proved(view, at, at + RECORD, 32);
	return verdict;
}

/* Where a sum covers both sides of a boundary, the file does not break off. */
Test(steps, no_break_is_tried_inside_a_valid_record)
{
	static const struct carver proving = { .name = "x", .check = check_proved_records };
	static const struct broken broken = {
		.start = START, .length = 2 * RECORD, .verdict = CARVE_TRUNCATED
	};
	static const uint64_t runs[][2] = { { 4, 6 * CLUSTER },
		{ 24, RECORDS * RECORD - 6 * CLUSTER } };
	struct extents extents = { 0 };

	make_records();
	plant(0, 6 * CLUSTER, 4);
	plant(6 * CLUSTER, RECORDS * RECORD, 24);
	cr_assert(find(&proving, &broken, &extents));
	extents_free(&extents);
	broken_records = 0;
	cr_expect(search(&proving, &broken, WORK, NULL, &extents).found);
	cr_expect_eq(broken_records, 0);
	expect_runs(&extents, runs, 2);
	extents_free(&extents);
}

/* ---- zeros ---------------------------------------------------------------------------------- */

#define PADDED_LEN (7 * CLUSTER)

/* A record, and zeros. */
static enum verdict check_padded(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, RECORD);

	finding->length = 1;
	if (!p || le32(p) != sum_of(p + 4, RECORD - 4))
		return verdict_because(CARVE_TRUNCATED, finding, "a wrong sum");
	for (uint64_t at = RECORD; at < PADDED_LEN; at++) {
		finding->length = at;
		p = view_peek(view, at, 1);
		if (!p || *p)
			return verdict_because(CARVE_TRUNCATED, finding, "no zeros");
	}
	finding->length = PADDED_LEN;
	return CARVE_COMPLETE;
}

/* Zeros are in many places: they are no rivals of those that are found, and no other breaks. */
Test(steps, zeros_anywhere_are_the_same)
{
	static const struct carver carver = { .name = "x", .check = check_padded };
	static const struct broken broken = {
		.start = START, .length = 1, .verdict = CARVE_TRUNCATED
	};
	struct extents extents = { 0 };
	struct strategy_result answer;

	make_records();
	memset(file + RECORD, 0, PADDED_LEN - RECORD);
	plant(0, 5 * CLUSTER, 4);
	plant(5 * CLUSTER, PADDED_LEN, 12);
	memset(content + 20 * CLUSTER, 0, 3 * CLUSTER);
	memset(content + 30 * CLUSTER, 0, 5 * CLUSTER);
	answer = search(&carver, &broken, WORK, NULL, &extents);
	cr_assert(answer.found);
	cr_expect_eq(answer.length, PADDED_LEN);
	cr_expect_eq(answer.assembly.doubt_count, 0);
	extents_free(&extents);
}

/* ---- frames without an end ------------------------------------------------------------------ */

#define FRAME 100

static enum verdict check_frames(struct view *view, struct finding *finding)
{
	uint64_t at = 0;
	const uint8_t *p;

	while ((p = view_peek(view, at, 4)) && memcmp(p, "FRAM", 4) == 0)
		at += FRAME;
	finding->length = at < view_size(view) ? at : view_size(view);
	return verdict_because(at ? CARVE_UNVERIFIED : CARVE_REJECT, finding, "no frame");
}

/* Another file's frames fit at the same place of a frame as the file's own, and go on for longer. */
Test(steps, a_file_without_end_is_not_lengthened_by_another_ones_pieces)
{
	static const struct carver carver = { .name = "x", .check = check_frames };
	static const struct broken broken = {
		.start = START, .length = 2 * CLUSTER + 8, .verdict = CARVE_UNVERIFIED
	};
	static const uint64_t runs[][2] = { { 4, 2 * CLUSTER }, { 9, CLUSTER + 2012 } };
	struct extents extents = { 0 };

	memset(content, 0xee, sizeof(content));
	fill_file(2);
	for (uint64_t at = 0; at < sizeof(file); at += FRAME)
		memcpy(file + at, "FRAM", 4);
	plant(0, 2 * CLUSTER, 4);
	plant(2 * CLUSTER, 3 * CLUSTER + 2012, 9);
	plant(3 * CLUSTER, 5 * CLUSTER + 3000, 14);
	cr_assert(find(&carver, &broken, &extents));
	expect_runs(&extents, runs, 2);
	extents_free(&extents);
}

#define LONG_FRAME 500

/* Frames end with '!', which only a check while files are put together looks for. */
static enum verdict check_long_frames(struct view *view, struct finding *finding)
{
	uint64_t at = 0;
	const uint8_t *p;

	while ((p = view_peek(view, at, LONG_FRAME)) && memcmp(p, "FRAM", 4) == 0) {
		finding->length = at;
		if (view_thorough(view) && p[LONG_FRAME - 1] != '!')
			return verdict_because(CARVE_TRUNCATED, finding, "a frame without end");
		at += LONG_FRAME;
	}
	finding->length = at;
	return verdict_because(at ? CARVE_UNVERIFIED : CARVE_REJECT, finding, "no frame");
}

/* The scan took the last frame for whole, which ends far in another file's cluster. */
Test(steps, a_break_that_the_scan_did_not_notice_is_followed)
{
	static const struct carver carver = { .name = "x", .check = check_long_frames };
	static const struct broken broken = {
		.start = START, .length = 17 * LONG_FRAME, .verdict = CARVE_UNVERIFIED
	};
	static const uint64_t runs[][2] = { { 4, 2 * CLUSTER }, { 9, CLUSTER + 2212 } };
	struct extents extents = { 0 };

	memset(content, 0xee, sizeof(content));
	fill_file(2);
	for (uint64_t at = 0; at < sizeof(file); at += LONG_FRAME) {
		memcpy(file + at, "FRAM", 4);
		if (at + LONG_FRAME <= sizeof(file))
			file[at + LONG_FRAME - 1] = '!';
	}
	plant(0, 2 * CLUSTER, 4);
	plant(2 * CLUSTER, 3 * CLUSTER + 2212, 9);
	cr_assert(find(&carver, &broken, &extents));
	expect_runs(&extents, runs, 2);
	extents_free(&extents);
}

/* A length that is many times what was accepted in trials speaks for a joint, the more the more trials there were. */
Test(steps, a_few_trials_show_what_is_likely)
{
	struct notice notice = { .trials = 5, .bytes = 5 * 72 };

	fine_log_get_ready();
	cr_expect_eq(notice_likely_bits(&notice, 100000), 0, "too few");
	notice.trials = 9;
	notice.late = 1;
	notice.bytes = 8 * 72;
	cr_expect_eq(notice_likely_bits(&notice, 0), 0);
	cr_expect_eq(
		notice_likely_bits(&notice, 8 * 200), 8, "twice the sum: a bit for each trial");
	cr_expect_eq(notice_likely_bits(&notice, 8 * 200 * 15), 32);
	cr_expect_eq(notice_likely_bits(&notice, UINT64_MAX), 0, "no length");
	notice = (struct notice){ .trials = 96000, .bytes = 96000 * 72 };
	cr_expect_eq(notice_likely_bits(&notice, 48 * 200), 48, "many are no more than 48");
}

/* ---- a tail, without which nothing is known of what is before ------------------------------- */

#define TAIL_AT (RECORDS * RECORD)
#define TAIL "TAILTAIL"

static bool read_head(struct view *view, struct carve_table *table)
{
	struct carve_anchor anchor = { .offset = TAIL_AT, .len = 8, .bytes = TAIL };

	(void)view;
	table->length = TAIL_AT + 8;
	return table->add(table, &anchor);
}

static enum verdict check_before_tail(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, TAIL_AT, 8);
	enum verdict verdict;

	finding->length = 1;
	if (!p || memcmp(p, TAIL, 8) != 0)
		return verdict_because(CARVE_TRUNCATED, finding, "no tail");
	verdict = check_records(view, finding);
	if (verdict == CARVE_COMPLETE)
		finding->length += 8;
	return verdict;
}

static const struct carve_map map = {
	.words = { { .len = 8, .bytes = TAIL } }, .common = true, .head = read_head
};
static const struct carver with_tail = { .name = "x", .check = check_before_tail, .map = &map };
static const struct broken before_tail = {
	.start = START, .length = 1, .verdict = CARVE_TRUNCATED
};

static void make_file_with_tail(void)
{
	memset(content, 0xee, sizeof(content));
	fill_file(3);
	for (uint64_t at = 0; at < TAIL_AT; at += RECORD) {
		uint32_t sum = sum_of(file + at + 4, RECORD - 4);

		memcpy(file + at, &sum, 4);
	}
	memcpy(file + TAIL_AT, TAIL, 8);
}

static struct tail tail; /* that was found */

static bool find_tail_first(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	cr_assert(mapping_find_tail(bench, broken, &tail));
	return find_before_tail(bench, broken, extents, outcome, assembly);
}

static bool find_with_tail(struct extents *extents)
{
	const struct inner_hits_source source = { &evidence.image, NULL, NULL };
	struct inner_hits *hits = inner_hits_new();
	struct pool *pool = pool_new(1);
	const struct workbench bench = {
		.evidence = &evidence.image, .clusters = &clusters, .hits = hits, .work_left = WORK
	};
	bool found;

	inner_hits_add_map(hits, &map);
	inner_hits_add_window(hits, 0, sizeof(content));
	cr_assert(inner_hits_find(hits, &source, &clusters.taken, UINT64_MAX, pool, NULL));
	found = strategy_try(find_tail_first, &bench, &with_tail, &before_tail, extents).found;
	pool_free(pool);
	inner_hits_free(hits);
	return found;
}

/* The tail is in the image before the file's start, and a piece is between them in the file, after both in the image. */
Test(steps, the_piece_before_a_tail_is_found_by_what_the_tail_explains)
{
	static const uint64_t runs[][2] = { { 4, 3 * CLUSTER }, { 21, 3 * CLUSTER },
		{ 1, TAIL_AT + 8 - 6 * CLUSTER } };
	struct extents extents = { 0 };

	make_file_with_tail();
	plant(0, 3 * CLUSTER, 4);
	plant(3 * CLUSTER, 6 * CLUSTER, 21);
	plant(6 * CLUSTER, TAIL_AT + 8, 1);
	cr_assert(find_with_tail(&extents));
	cr_expect_eq(tail.from, TAIL_AT / CLUSTER * CLUSTER);
	cr_expect_eq(tail.shift, CLUSTER - 6 * CLUSTER);
	cr_expect_eq(tail.length, TAIL_AT + 8);
	expect_runs(&extents, runs, 3);
	extents_free(&extents);
}

/* What was validated may seem to go on past the tail: no more breaks are noted than there is room for. */
Test(steps, breaks_before_a_tail_are_in_the_file)
{
	struct partial partial = { .reached = 40 * CLUSTER,
		.seen = 41 * CLUSTER,
		.tail = { .from = 2 * CLUSTER, .shift = CLUSTER } };

	partial_find_breaks(&clusters, &partial);
	cr_assert_leq(partial.breaks.count, 41);
	for (size_t i = 0; i < partial.breaks.count; i++)
		cr_expect_leq(partial.breaks.items[i], 40 * CLUSTER);
	partial_free(&partial);
}

/* A record that goes on over a boundary may have the joint there: both breaks are tried with each gap. */
Test(steps, breaks_around_a_record_come_first)
{
	struct partial partial = { .reached = 5 * CLUSTER + 100, .seen = 6 * CLUSTER + 8 };

	partial_find_breaks(&clusters, &partial);
	cr_assert_eq(partial.breaks.ends[ZONE_HERE], 2);
	cr_expect_eq(partial.breaks.items[0], 5 * CLUSTER);
	cr_expect_eq(partial.breaks.items[1], 6 * CLUSTER);
	breaks_drop(&partial.breaks, 0);
	cr_assert_eq(partial.breaks.ends[ZONE_HERE], 1);
	cr_expect_eq(partial.breaks.items[0], 6 * CLUSTER);
	cr_expect_eq(partial.breaks.ends[ZONE_AFTER], partial.breaks.count);
	/* What the carver did not look at cannot have shown anything. */
	partial.seen = 5 * CLUSTER + 200;
	partial_find_breaks(&clusters, &partial);
	cr_expect_eq(partial.breaks.ends[ZONE_HERE], 1);
	partial_free(&partial);
}

/* ---- the rest before the beginning ---------------------------------------------------------- */

static unsigned looks, trials;

/* A file of which only the first clusters are known to be valid before all of it is. */
static enum verdict check_as_a_whole(struct view *view, struct finding *finding)
{
	const uint8_t *p;

	(*(view_is_trial(view) ? &trials : &looks))++;
	p = view_peek(view, 0, sizeof(file));
	finding->length = p ? 3 * CLUSTER : view_size(view);
	if (!p)
		return verdict_because(CARVE_TRUNCATED, finding, "too short");
	if (memcmp(p, file, sizeof(file)) != 0)
		return verdict_because(CARVE_TRUNCATED, finding, "wrong");
	view_proved(view, 0, sizeof(file), 64);
	finding->length = sizeof(file);
	return CARVE_COMPLETE;
}

/* The rest is as far away as it is long, but right before the beginning: it is tried soon. */
Test(steps, the_rest_right_before_the_beginning_is_tried_soon)
{
	static const struct carver carver = { .name = "x", .check = check_as_a_whole };
	const struct broken broken = {
		.start = 40 * CLUSTER, .length = 3 * CLUSTER, .verdict = CARVE_TRUNCATED
	};
	static const uint64_t runs[][2] = { { 40, 3 * CLUSTER }, { 29, 9 * CLUSTER } };
	const uint64_t work = 16 * sizeof(file);
	struct extents extents = { 0 };

	fill_file(5);
	plant(0, 3 * CLUSTER, 40);
	plant(3 * CLUSTER, sizeof(file), 29);
	cr_assert(search(&carver, &broken, work, NULL, &extents).found);
	expect_runs(&extents, runs, 2);
	cr_expect_gt(looks, 0);
	cr_expect_gt(trials, 0);
	compare(&carver, &broken, work);
	extents_free(&extents);
}

/* ---- content that fits ---------------------------------------------------------------------- */

static uint8_t decoy[6 * CLUSTER];

/* A file whose second half may be another one's: its content does not fit. */
static enum verdict check_halves(struct view *view, struct finding *finding)
{
	uint64_t half = sizeof(file) / 2;
	const uint8_t *p = view_peek(view, 0, sizeof(file));

	finding->length = p ? half : view_size(view);
	if (!p || memcmp(p, file, half) != 0 ||
		(memcmp(p + half, file + half, half) != 0 && memcmp(p + half, decoy, half) != 0))
		return verdict_because(CARVE_TRUNCATED, finding, "wrong");
	view_proved(view, half - 1, sizeof(file), 15);
	finding->length = sizeof(file);
	return CARVE_COMPLETE;
}

static unsigned fit_halves(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = view_peek(view, at, CLUSTER);

	(void)end;
	return p && at == sizeof(file) / 2 && memcmp(p, file + at, CLUSTER) == 0 ? 30 : 0;
}

/* What is found first is not taken if what fits better is farther away; and it is, if there is nothing else. */
Test(steps, what_does_not_fit_is_taken_last)
{
	static const struct carver carver = {
		.name = "x", .check = check_halves, .joint = fit_halves
	};
	const struct broken broken = {
		.start = 40 * CLUSTER, .length = sizeof(file) / 2, .verdict = CARVE_TRUNCATED
	};
	static const uint64_t wrong[][2] = { { 40, 6 * CLUSTER }, { 50, 6 * CLUSTER } };
	static const uint64_t right[][2] = { { 40, 6 * CLUSTER }, { 10, 6 * CLUSTER } };
	struct extents extents = { 0 };

	fill_file(8);
	memset(decoy, 5, sizeof(decoy));
	plant(0, sizeof(file) / 2, 40);
	memcpy(content + 50 * CLUSTER, decoy, sizeof(decoy));
	cr_assert(search(&carver, &broken, 1 << 28, NULL, &extents).found);
	expect_runs(&extents, wrong, 2);
	extents_free(&extents);
	plant(sizeof(file) / 2, sizeof(file), 10);
	cr_assert(search(&carver, &broken, 1 << 28, NULL, &extents).found);
	expect_runs(&extents, right, 2);
	compare(&carver, &broken, 1 << 28);
	extents_free(&extents);
}

Test(steps, a_beam_has_one_way_into_a_piece_and_prefers_what_fits)
{
	struct beam beam = { 0 };
	struct partial *room = beam_room(&beam, 4, 90, 700, false);

	cr_assert(room);
	room->reached = 700;
	cr_expect(beam_has_piece(&beam, 8, 91) && beam_has_piece(&beam, 4, 50));
	cr_expect_not(beam_has_piece(&beam, 8, 92));
	cr_expect_null(beam_room(&beam, 8, 91, 600, false), "the same piece, from later on");
	room = beam_room(&beam, 8, 40, 300, true);
	cr_assert_eq(room, &beam.items[0], "what fits comes first");
	room->reached = 300;
	room->fits = true;
	cr_expect_eq(beam.count, 2);
	cr_expect_null(beam_room(&beam, 12, 40, 500, false));
	room = beam_room(&beam, 12, 90, 650, true);
	cr_assert_eq(room, &beam.items[0], "in the place of that which does not fit");
	cr_expect_eq(beam.count, 2);
	beam_free(&beam);
}

/* ---- codes ---------------------------------------------------------------------------------- */

/* Compressed lines of numbers and words: more than 10 clusters, and fewer than 12. */
static uint64_t make_codes(void)
{
	static const char words[] =
		"lowering the mainsail and stowing it below the deck in fair weather";
	static char lines[1 << 20];
	uint32_t seed = 5;
	size_t len = 0;
	uLong packed = 0;

	while (packed <= 10 * CLUSTER) {
		for (size_t end = len + 8192; len < end;) {
			seed = seed * 1664525 + 1013904223;
			len += (size_t)snprintf(lines + len, 64, "%u %.*s%s", seed >> 22,
				(int)(2 + (seed >> 9) % 7), words + (seed >> 13) % 56,
				(seed >> 5) % 8 ? "; " : "\n");
		}
		z_stream stream = { .next_in = (uint8_t *)lines,
			.avail_in = (unsigned)len,
			.next_out = file,
			.avail_out = sizeof(file) };

		cr_assert_lt(len, sizeof(lines) - 10000);
		cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
		cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
		deflateEnd(&stream);
		packed = stream.total_out;
	}
	return packed;
}

static void fill_content(uint32_t seed)
{
	for (size_t i = 0; i < sizeof(content); i++) {
		seed = seed * 1664525 + 1013904223;
		content[i] = (uint8_t)(seed >> 23);
	}
}

/* Among random bytes, in any order, with little work: it goes where the codes go on. */
Test(steps, finds_codes_in_many_pieces)
{
	static const struct broken broken = {
		.start = START, .length = 2 * CLUSTER + 100, .verdict = CARVE_TRUNCATED
	};
	struct extents extents = { 0 };
	uint64_t len = make_codes(), work = (uint64_t)1 << 24;
	const uint64_t runs[][2] = { { 4, 2 * CLUSTER }, { 55, 3 * CLUSTER }, { 30, CLUSTER },
		{ 44, 3 * CLUSTER }, { 12, len - 9 * CLUSTER } };

	fill_content(3);
	for (uint64_t i = 0, at = 0; i < 5; at += runs[i++][1])
		plant(at, at + runs[i][1], runs[i][0]);
	compare(carver_find("gz"), &broken, work);
	cr_assert(search(carver_find("gz"), &broken, work, NULL, &extents).found);
	expect_runs(&extents, runs, 5);
	extents_free(&extents);
}

/* Nothing proves that the pieces of lossless WebP belong together: a layout is found all the same, if no other would do. */
Test(steps, finds_codes_that_nothing_proves)
{
	static const struct broken broken = {
		.start = START, .length = 2 * CLUSTER + 100, .verdict = CARVE_TRUNCATED
	};
	struct bytes picture = bytes_of_file("tests/golden/webp/long-lossless.webp");
	uint64_t len = picture.len, work = (uint64_t)1 << 26;
	const uint64_t runs[][2] = { { 4, 2 * CLUSTER }, { 55, 3 * CLUSTER }, { 30, 3 * CLUSTER },
		{ 12, len - 8 * CLUSTER } };
	struct extents extents = { 0 };

	cr_assert(len > 8 * CLUSTER && len < 9 * CLUSTER);
	memcpy(file, picture.data, len);
	fill_content(7);
	for (uint64_t i = 0, at = 0; i < 4; at += runs[i++][1])
		plant(at, at + runs[i][1], runs[i][0]);
	cr_assert(search(carver_find("webp"), &broken, work, NULL, &extents).found);
	expect_runs(&extents, runs, 4);
	extents_free(&extents);
	free(picture.data);
}
