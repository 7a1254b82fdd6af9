/*
 * Who is asked what may follow coded data: a made-up device that keeps clusters in memory, has room for some of
 * them, and fails when a test wants it to. Whatever it does, the answers and the work counted are the processor's.
 */
#include "carver_case.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "assemble/confined.h"
#include "assemble/continuations.h"
#include "assemble/device_server.h"
#include "assemble/searcher.h"
#include "assemble/searches_served.h"
#include "base/channel.h"
#include "carvers/coded.h"
#include "memory_image.h"
#include "carve/check_messages.h"
#include "carve/coded_codec.h"
#include "rules/load.h"
#include "temp.h"
#include "tier.h"

#define CLUSTER 1024
#define CLUSTERS 1200
#define STAGE 256                       /* clusters */
#define HEAD 2                          /* clusters that the file has before it breaks off */
#define TAIL 900                        /* where it goes on */
#define SIZE (CLUSTERS * CLUSTER - 100) /* the last cluster is not whole */

static uint8_t content[CLUSTERS * CLUSTER];

static struct memory_image evidence = MEMORY_IMAGE(content, SIZE);

/* ---- the device ---- */

struct search_device {
	uint8_t stage[STAGE * CLUSTER];
	uint8_t kept[5 * STAGE * CLUSTER];
	size_t len; /* of each cluster */
	size_t count, taken;
	_Atomic size_t asked;
};

static struct search_device device;
static size_t room, fails_at; /* whole clusters; questions */

static int open_device(struct search_device **opened, const char *devices, struct error *error)
{
	(void)devices;
	(void)error;
	memset(&device, 0, sizeof(device));
	*opened = &device;
	return 0;
}

static void close_device(struct search_device *opened)
{
	cr_expect_eq(opened, &device);
}

static uint64_t room_len(struct search_device *opened)
{
	(void)opened;
	return room * CLUSTER;
}

static uint8_t *stage(struct search_device *opened, size_t len, size_t *count)
{
	*count = STAGE * CLUSTER / len;
	opened->len = len;
	return (opened->count + *count) * len <= room * CLUSTER ? opened->stage : NULL;
}

static int keep(struct search_device *opened, size_t count)
{
	memcpy(opened->kept + opened->count * opened->len, opened->stage, count * opened->len);
	opened->count += count;
	return 0;
}

/* What a scan has kept. */
struct kept_text {
	uint64_t from, to; /* of the image */
};

static size_t take(struct search_device *opened, const struct kept_text *text, uint64_t offset,
	uint64_t size, size_t len)
{
	size_t count = STAGE * CLUSTER / len;

	opened->len = len;
	if (offset < text->from || offset + count * size > text->to)
		return 0;
	for (size_t i = 0; i < count; i++)
		memcpy(opened->kept + (opened->count + i) * len, content + offset + i * size, len);
	opened->count += count;
	opened->taken += count;
	return count;
}

static void answer(const struct search_device *opened, const struct coded_question *question)
{
	cr_assert_leq(question->first + question->count, opened->count);
	memset(question->bits, 0, question->count / 8);
	for (uint64_t i = 0; i < question->count; i++)
		question->bits[i / 64] |=
			(uint64_t)coded_may_follow(question->coded,
				opened->kept + (question->first + i) * opened->len,
				(uint32_t)opened->len)
			<< i % 64;
}

static int find_coded(
	struct search_device *opened, const struct coded_question *questions, size_t count)
{
	cr_assert(count && count <= CODED_QUESTIONS_MAX);
	if (++opened->asked >= fails_at)
		return -EIO;
	for (size_t i = 0; i < count; i++)
		answer(opened, &questions[i]);
	return 0;
}

static const struct search_tool tool = { .name = "made up",
	.open = open_device,
	.close = close_device,
	.find_coded = find_coded,
	.room = room_len,
	.stage = stage,
	.keep = keep,
	.take = take };

/* ---- the file ---- */

static struct clusters clusters = { .size = CLUSTER, .end = SIZE };

#define DECOY 700       /* another place where it seems to go on... */
#define DECOY_VALID 800 /* ...for this many bytes */

/* A grey JPEG of 1,024 times 1,024 pixels: the golden one's beginning, and blocks in which nothing changes, each
 * the bits 00 1010. */
static struct bytes make_picture(void)
{
	static const uint8_t four_blocks[3] = { 0x28, 0xa2, 0x8a }, end[2] = { 0xff, 0xd9 };
	struct bytes golden = bytes_of_file("tests/golden/jpeg/grey.jpg"), file = { 0 };
	uint8_t *frame = memmem(golden.data, golden.len, "\xff\xc0", 2);
	const uint8_t *scan = memmem(golden.data, golden.len, "\xff\xda", 2);

	cr_assert(frame && scan);
	frame[5] = frame[7] = 1024 >> 8;
	frame[6] = frame[8] = 0;
	bytes_add(&file, golden.data, (size_t)(scan - golden.data) + 10);
	for (unsigned i = 0; i < 1024 * 1024 / 64 / 4; i++)
		bytes_add(&file, four_blocks, sizeof(four_blocks));
	bytes_add(&file, end, sizeof(end));
	free(golden.data);
	return file;
}

/* A JPEG whose first clusters are at the image's start and whose others are at TAIL; random bytes, and zeros,
 * elsewhere. */
static void make_image(void)
{
	struct bytes file = make_picture(), random = { 0 };

	bytes_add_random(&random, 7, sizeof(content));
	memcpy(content, random.data, sizeof(content));
	memset(content + 300 * CLUSTER, 0, 100 * CLUSTER);
	memcpy(content, file.data, HEAD * CLUSTER);
	memcpy(content + TAIL * CLUSTER, file.data + HEAD * CLUSTER, file.len - HEAD * CLUSTER);
	memcpy(content + DECOY * CLUSTER, file.data + HEAD * CLUSTER, DECOY_VALID);
	free(file.data);
	free(random.data);
}

struct answers {
	bool may_follow[CLUSTERS];
	uint64_t tested, work_left, skipped;
};

/* Asks of all clusters after the head; skips: those that are known to be refused are skipped. */
static void ask(const struct search_tool *used, bool skips, struct answers *answers)
{
	const struct rule rule = { .carver = carver_find("jpeg"), .max_size = sizeof(content) };
	struct searcher *searcher = searcher_new(used, NULL, &clusters);
	struct pool *pool = pool_new(2);
	struct workbench bench = { .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.searcher = searcher,
		.work_left = 1 << 24 };
	const struct broken broken = { .length = HEAD * CLUSTER, .verdict = CARVE_TRUNCATED };
	struct continuations *continuations;
	struct partial partial;

	cr_assert(searcher_keep_heads(searcher, &evidence.image, &clusters, NULL, pool, NULL));
	cr_assert(partial_begin(&clusters, &broken, NULL, &partial));
	workbench_prepare(&bench, &partial.extents, 0);
	continuations = continuations_new(&bench, &partial);
	for (int64_t i = HEAD + 1; i < CLUSTERS; i++) {
		const struct step step = { HEAD * CLUSTER, (i - HEAD) * CLUSTER };
		bool skipped = skips && continuations_skip(continuations, &step.at, 1, step.gap);

		answers->skipped += skipped;
		answers->may_follow[i] =
			!skipped && continuations_may_follow(continuations, &step, ANSWER_NONE);
		cr_expect(continuations_is_open(continuations, &step) ||
			  continuations_ask(continuations, &step, bench.view) != ANSWER_YES);
		cr_expect_not(skipped && continuations_is_open(continuations, &step));
	}
	/* A device's answers do not reach past the image, nor before it. */
	for (int64_t i = 1; i < 3; i++) {
		const struct step after = { HEAD * CLUSTER, (CLUSTERS - HEAD + i) * CLUSTER },
				  before = { HEAD * CLUSTER, -(HEAD + i) * CLUSTER };

		cr_expect_not(continuations_is_open(continuations, &after));
		cr_expect_not(continuations_is_open(continuations, &before));
	}
	answers->tested = bench.tested;
	answers->work_left = bench.work_left;
	continuations_free(continuations);
	partial_free(&partial);
	workbench_end(&bench);
	view_free(bench.view);
	pool_free(pool);
	searcher_free(searcher);
}

TestSuite(searcher);

Test(searcher, answers_do_not_depend_on_who_is_asked)
{
	/* All is kept; half of all clusters; half of some; nothing. */
	static const size_t cases[][2] = { { 5 * STAGE, SIZE_MAX }, { 3 * STAGE, SIZE_MAX },
		{ STAGE, SIZE_MAX }, { 0, SIZE_MAX }, { 5 * STAGE, 1 } };
	static struct answers right, answers;
	size_t may_follow = 0;

	make_image();
	clusters_take(&clusters, (uint64_t)500 * CLUSTER, 10 * CLUSTER);
	ask(NULL, false, &right);
	ask(NULL, true, &answers);
	cr_expect_arr_eq(answers.may_follow, right.may_follow, sizeof(right.may_follow));
	cr_expect_eq(answers.tested, right.tested);
	cr_expect_eq(answers.work_left, right.work_left);
	cr_expect_gt(answers.skipped, right.tested / 2);
	for (size_t i = 0; i < CLUSTERS; i++)
		may_follow += right.may_follow[i];
	cr_expect(right.may_follow[TAIL]);
	cr_expect_not(right.may_follow[DECOY], "a part of it may follow");
	cr_expect(right.may_follow[CLUSTERS - 1]);
	cr_expect_lt(may_follow, (size_t)CLUSTERS / 2, "%zu", may_follow);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		room = cases[i][0];
		fails_at = cases[i][1];
		ask(&tool, i % 2, &answers);
		cr_expect_arr_eq(answers.may_follow, right.may_follow, sizeof(right.may_follow));
		cr_expect_eq(answers.tested, right.tested, "case %zu", i);
		cr_expect_eq(answers.work_left, right.work_left, "case %zu", i);
		cr_expect_eq(device.asked > 0, room > 0, "case %zu", i);
	}
	clusters_free(&clusters);
}

/* ---- gaps on both sides, many at a time ---- */

#define MIDDLE 520 /* where the file is then */
#define AROUND 16  /* clusters on each side */

/* What the gaps that lead `distance` clusters away count, one by one. */
static void ask_pair(
	struct continuations *continuations, const uint64_t *breaks, size_t count, int64_t distance)
{
	for (int side = -1; side <= 1; side += 2)
		for (size_t i = 0; i < count; i++) {
			const struct step step = { breaks[i], side * distance * CLUSTER };

			continuations_may_follow(continuations, &step, ANSWER_NONE);
		}
}

/* Asks on both sides of two breaks; how many blocks of gaps were skipped. */
static size_t ask_around(const struct search_tool *used, bool skips, struct answers *answers)
{
	static const uint64_t breaks[] = { HEAD * CLUSTER, CLUSTER };
	const struct rule rule = { .carver = carver_find("jpeg"), .max_size = sizeof(content) };
	struct searcher *searcher = searcher_new(used, NULL, &clusters);
	struct pool *pool = pool_new(2);
	struct workbench bench = { .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.searcher = searcher,
		.work_left = 1 << 24 };
	const struct broken broken = {
		.start = MIDDLE * CLUSTER, .length = HEAD * CLUSTER, .verdict = CARVE_TRUNCATED
	};
	struct continuations *continuations;
	struct partial partial;
	size_t skipped = 0;

	cr_assert(searcher_keep_heads(searcher, &evidence.image, &clusters, NULL, pool, NULL));
	cr_assert(partial_begin(&clusters, &broken, NULL, &partial));
	workbench_prepare(&bench, &partial.extents, 0);
	continuations = continuations_new(&bench, &partial);
	continuations_expect(continuations, breaks, 2);
	for (uint64_t distance = 1; distance < CLUSTERS; distance += AROUND) {
		if (skips &&
			continuations_skip_around(continuations, breaks, 2, distance, AROUND)) {
			skipped++;
			continue;
		}
		for (uint64_t i = 0; i < AROUND; i++)
			ask_pair(continuations, breaks, 2, (int64_t)(distance + i));
	}
	answers->tested = bench.tested;
	answers->work_left = bench.work_left;
	continuations_free(continuations);
	partial_free(&partial);
	workbench_end(&bench);
	view_free(bench.view);
	pool_free(pool);
	searcher_free(searcher);
	return skipped;
}

Test(searcher, gaps_that_are_skipped_together_count_as_many)
{
	static struct answers right, answers;
	static size_t skipped;

	make_image();
	memcpy(content + MIDDLE * CLUSTER, content, HEAD * CLUSTER);
	/* The first cluster of a block may follow, and the last of another, on both sides. */
	for (size_t i = 0; i < 4; i++) {
		static const size_t places[] = { MIDDLE + HEAD + 8 * AROUND + 1,
			MIDDLE + HEAD + 12 * AROUND, MIDDLE + HEAD - 3 * AROUND - 1,
			MIDDLE + HEAD - 6 * AROUND };

		memcpy(content + places[i] * CLUSTER, content + TAIL * CLUSTER, CLUSTER);
	}
	room = 5 * STAGE;
	fails_at = SIZE_MAX;
	clusters_take(&clusters, (uint64_t)100 * CLUSTER, 10 * CLUSTER);
	ask_around(NULL, false, &right);
	ask_around(NULL, true, &answers);
	cr_expect_eq(answers.tested, right.tested);
	cr_expect_eq(answers.work_left, right.work_left);
	skipped = ask_around(&tool, true, &answers);
	cr_expect(skipped > 20 && skipped < 70, "%zu", skipped);
	cr_expect_eq(answers.tested, right.tested, "%" PRIu64, answers.tested);
	cr_expect_eq(answers.work_left, right.work_left);
	cr_expect_eq(device.asked, 1, "all breaks are asked about together: %zu", device.asked);
	clusters_free(&clusters);
}

/* ---- many threads ---- */

#define THREADS 8
#define QUESTIONS test_tier(30, 100, 200) /* of each thread */

struct crowd {
	struct searcher *searcher;
	struct carve_coded *coded; /* one more for each thread; it decides what may follow */
	_Atomic size_t wrong, refused;
};

/* Whether the bits are those of what the device keeps. */
static bool is_right(const struct coded_question *question)
{
	for (uint64_t i = 0; i < question->count; i++) {
		const uint8_t *head = device.kept + (question->first + i) * device.len;

		if ((question->bits[i / 64] >> i % 64 & 1) !=
			coded_may_follow(question->coded, head, (uint32_t)device.len))
			return false;
	}
	return true;
}

static void ask_often(void *context, unsigned number, unsigned worker)
{
	struct crowd *crowd = context;

	(void)worker;
	for (size_t n = 0; n < QUESTIONS; n++) {
		size_t count = 1 + (n + number) % 30;
		uint64_t bits[30];
		struct coded_question questions[30];
		bool is_rough;

		for (size_t i = 0; i < count; i++)
			questions[i] = (struct coded_question){ &crowd->coded[number],
				(n + i + number) % (5 * STAGE / 64) * 64, 64, &bits[i] };
		if (!searcher_find_coded(crowd->searcher, questions, count, &is_rough)) {
			crowd->refused++;
			continue;
		}
		for (size_t i = 0; i < count; i++)
			crowd->wrong += !is_right(&questions[i]);
	}
}

/* Codes of two bits, of which one more in each picture does not exist: DC without value, and what ends a block. */
static void describe(struct carve_coded *coded, unsigned number)
{
	memset(coded, 0, sizeof(*coded));
	coded->block_count = 1;
	coded->mcus = 1 + number;
	coded->blocks[0].ac = 1;
	for (unsigned i = 0; i < 1 << CODED_BITS; i++) {
		coded->tables[0].fast[i] = i % (number + 2) ? 1 << 8 : 0;
		coded->tables[1].fast[i] = 2 << 8;
	}
}

Test(searcher, each_thread_gets_the_answers_to_what_it_asked)
{
	static struct carve_coded coded[THREADS];
	struct pool *pool = pool_new(THREADS);
	struct crowd crowd = { .coded = coded };

	make_image();
	room = 5 * STAGE;
	for (unsigned i = 0; i < THREADS; i++)
		describe(&coded[i], i);
	for (fails_at = SIZE_MAX; fails_at; fails_at = fails_at == SIZE_MAX ? 50 : 0) {
		crowd.searcher = searcher_new(&tool, NULL, &clusters);
		cr_assert(searcher_keep_heads(
			crowd.searcher, &evidence.image, &clusters, NULL, pool, NULL));
		pool_share(pool, POOL_CHECK, THREADS, ask_often, &crowd);
		cr_expect_eq(crowd.wrong, 0);
		cr_expect_eq(crowd.refused > 0, fails_at != SIZE_MAX);
		cr_expect_leq(device.asked, THREADS * QUESTIONS);
		cr_expect(fails_at == SIZE_MAX || device.asked < fails_at + SEARCHES_MAX,
			"one that failed is not asked again");
		searcher_free(crowd.searcher);
	}
	pool_free(pool);
	clusters_free(&clusters);
}

Test(searcher, what_the_scan_has_kept_is_not_read_again)
{
	static const struct kept_text text = { STAGE * CLUSTER, 3 * STAGE * CLUSTER };
	struct pool *pool = pool_new(2);
	struct searcher *searcher;

	make_image();
	room = 5 * STAGE;
	searcher = searcher_new(&tool, NULL, &clusters);
	cr_assert(searcher_keep_heads(searcher, &evidence.image, &clusters, &text, pool, NULL));
	cr_expect_eq(searcher_kept(searcher), 5 * STAGE);
	cr_expect_eq(device.taken, 2 * STAGE);
	cr_expect_arr_eq(device.kept, content, SIZE / CLUSTER * CLUSTER);
	searcher_free(searcher);
	pool_free(pool);
	clusters_free(&clusters);
}

Test(searcher, a_device_keeps_what_is_free)
{
	struct searcher *searcher;
	struct pool *pool = pool_new(2);
	uint64_t number;

	make_image();
	room = 5 * STAGE;
	clusters_take(&clusters, (uint64_t)100 * CLUSTER, 10 * CLUSTER);
	searcher = searcher_new(&tool, NULL, &clusters);
	cr_assert(searcher_keep_heads(searcher, &evidence.image, &clusters, NULL, pool, NULL));
	cr_expect_eq(searcher_kept(searcher), 5 * STAGE);
	for (size_t i = 0; i < 2 * STAGE; i++) {
		static const uint8_t zeros[CLUSTER];
		bool is_taken = i >= 100 && i < 110;

		cr_expect_arr_eq(device.kept + i * CLUSTER,
			is_taken ? zeros : content + i * CLUSTER, CLUSTER, "%zu", i);
	}
	cr_expect_eq(searcher_place(searcher, 3), 3 * CLUSTER);
	cr_expect(searcher_number(searcher, 5 * CLUSTER, &number) && number == 5);
	cr_expect_not(searcher_number(searcher, 5 * CLUSTER + 1, &number));
	searcher_free(searcher);
	pool_free(pool);
	clusters_free(&clusters);
}

/* ---- a device that burin asks for the process that puts files together ---- */

#define BROKEN_LEN 8192 /* of the picture, at the image's start */

static struct rules *rules;
static struct image *image;
static struct assemble_options options;

static void set_up(void)
{
	static const char text[] = "types = ( { name = \"jpeg\"; header = \"FF D8 FF\"; carver = "
				   "\"jpeg\"; max_size = \"1M\"; } );";
	struct bytes file = make_picture(), random = { 0 };
	struct error error = { 0 };

	bytes_add_random(&random, 7, sizeof(content));
	memcpy(content, random.data, sizeof(content));
	memcpy(content, file.data, BROKEN_LEN);
	memcpy(content + TAIL * CLUSTER, file.data + BROKEN_LEN, file.len - BROKEN_LEN);
	free(file.data);
	free(random.data);
	temp_make();
	temp_write("image", content, SIZE);
	cr_assert_eq(image_open(&image, temp_at("image"), &error), 0, "%s", error.text);
	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0,
		"%s", error.text);
	options = (struct assemble_options){ .image = image,
		.rules = rules,
		.pool = pool_new(2),
		.level = FRAGMENTS_SEARCH,
		.budget = 100,
		.tool = &tool };
	room = 5 * STAGE;
	fails_at = SIZE_MAX;
}

static void tear_down(void)
{
	pool_free(options.pool);
	rules_free(rules);
	image_close(image);
	temp_remove();
}

TestSuite(device_server, .init = set_up, .fini = tear_down, .timeout = TEST_HANGS);
TestSuite(confined, .init = set_up, .fini = tear_down, .timeout = TEST_HANGS);

/* Makes the passes that are left, confined. Frees it. */
static void expect_found(struct assembler *assembler)
{
	char how[CONFINED_HOW_LEN] = "";
	struct error error = { 0 };
	const struct assembled *found;
	size_t count;

	if (assembler_has_pass(assembler))
		cr_assert_eq(confined_passes_make(assembler, how, &error), 0, "%s", error.text);
	assembler_crashed(assembler, &count);
	cr_assert_eq(count, 0, "%s", how);
	found = assembler_results(assembler, &count);
	cr_assert_eq(count, 1);
	cr_assert_eq(found->run_count, 2);
	cr_expect_eq(found->runs[0].length, BROKEN_LEN);
	cr_expect_eq(found->runs[1].offset, TAIL * CLUSTER);
	assembler_free(assembler);
}

/* To which the scan has shown the broken file. */
static struct assembler *new_assembler(void)
{
	const struct candidate candidate = { .length = 1 << 20 };
	const struct outcome outcome = { .verdict = CARVE_TRUNCATED, .length = BROKEN_LEN };
	const struct decision decision = {
		.candidate = &candidate, .outcome = &outcome, .keep = true
	};
	struct assembler *assembler = assembler_new(&options);

	assembler_note(assembler, &decision);
	return assembler;
}

static void expect_put_together(void)
{
	device.asked = 0;
	expect_found(new_assembler());
}

Test(device_server, confined_searches_ask_the_device)
{
	options.tool = NULL;
	expect_put_together();
	options.tool = &tool;
	expect_put_together();
	cr_expect_gt(device.asked, 0);
	fails_at = 1;
	expect_put_together();
	cr_expect_eq(device.asked, 1, "one that failed is not asked again");
}

static struct codec_writer saved[16];
static size_t saved_count;

static void save_pass(void *context, const struct assembler *assembler)
{
	(void)context;
	assembler_save(assembler, &saved[saved_count++]);
}

static const char *keep_extension(const char *text)
{
	return *text ? "kept" : NULL;
}

Test(device_server, confined_searches_go_on_after_any_pass)
{
	options.tool = NULL;
	options.on_pass = save_pass;
	expect_put_together();
	options.on_pass = NULL;
	cr_assert_gt(saved_count, 5);
	for (size_t i = 0; i < saved_count; i++) {
		struct assembler *assembler = assembler_new(&options);
		struct codec_reader reader = codec_reader_from(saved[i].bytes, saved[i].len);

		assembler_load(assembler, keep_extension, &reader);
		cr_assert(codec_at_end(&reader), "pass %zu", i);
		cr_expect_eq(assembler_has_pass(assembler), i + 1 < saved_count);
		expect_found(assembler);
		free(saved[i].bytes);
	}
}

/* Another process of two, which has nothing to try, or gives what is said. */
static struct codec_writer given[16]; /* by this one, one a pass */
static size_t given_count, asked_count;
static bool has_given_up;
static const char *told; /* NULL: nothing was tried */
static size_t told_len;

static bool exchange(void *context, const struct codec_writer *own, struct codec_writer *theirs)
{
	(void)context;
	asked_count++;
	codec_append(&given[given_count++], own);
	if (told)
		codec_put_bytes(theirs, told, told_len);
	else
		codec_put_bytes(theirs, "", 1);
	return true;
}

static bool replay(void *context, const struct codec_writer *own, struct codec_writer *theirs)
{
	(void)context;
	(void)own;
	if (asked_count == given_count)
		return false;
	codec_put_bytes(theirs, given[asked_count].bytes, given[asked_count].len);
	asked_count++;
	return true;
}

static void give_up(void *context)
{
	(void)context;
	has_given_up = true;
}

static struct assemble_others others = { 0, 2, exchange, give_up, NULL, keep_extension };

Test(confined, passes_have_parts_that_others_take_over)
{
	options.tool = NULL;
	options.others = &others;
	expect_put_together();
	cr_expect_gt(asked_count, 3, "each pass is shared");
	others.part = 1;
	others.exchange = replay;
	asked_count = 0;
	expect_put_together();
	cr_expect_eq(asked_count, given_count);
	for (size_t i = 0; i < given_count; i++)
		free(given[i].bytes);
}

static bool refuse(void *context, const struct codec_writer *own, struct codec_writer *theirs)
{
	(void)context;
	(void)own;
	(void)theirs;
	asked_count++;
	return false;
}

Test(confined, the_first_goes_on_alone_where_others_do_not_or_give_what_is_invalid)
{
	static const char *const invalid[] = { "\1\4\0", "\2\4\0", "\1", "\0\0", "\2\377\0" };
	static const size_t lens[] = { 3, 3, 1, 2, 3 };

	options.tool = NULL;
	options.others = &others;
	for (size_t i = 0; i < 5; i++) {
		given_count = 0;
		told = invalid[i];
		told_len = lens[i];
		expect_put_together();
		cr_expect_eq(given_count, 1, "%zu", i);
		free(given[0].bytes);
		given[0] = (struct codec_writer){ 0 };
	}
	others.exchange = refuse;
	asked_count = 0;
	expect_put_together();
	cr_expect_eq(asked_count, 1);
	cr_expect_not(has_given_up);
}

Test(confined, another_ends_where_the_first_does_not_go_on)
{
	char how[CONFINED_HOW_LEN];
	struct assembler *assembler;
	struct error error = { 0 };

	options.tool = NULL;
	options.others = &others;
	others.part = 1;
	others.exchange = refuse;
	assembler = new_assembler();
	cr_expect_eq(confined_passes_make(assembler, how, &error), -ENOLINK);
	cr_expect(has_given_up);
	assembler_free(assembler);
}

static bool is_answered(struct device_server *server, uint32_t kind, struct codec_writer *question)
{
	struct codec_reader reader = codec_reader_from(question->bytes, question->len);
	struct codec_writer answer = { 0 };
	bool valid = device_server_answer(server, kind, &reader, &answer);

	cr_expect_eq(answer.len > 0, valid);
	free(answer.bytes);
	question->len = 0;
	return valid;
}

static bool is_kept(struct device_server *server, uint64_t size, uint64_t origin, uint64_t end)
{
	struct codec_writer question = { 0 };
	bool valid;

	codec_put(&question, size);
	codec_put(&question, origin);
	codec_put(&question, end);
	valid = is_answered(server, CHECK_KEEP, &question);
	free(question.bytes);
	return valid;
}

static bool is_looked_at(struct device_server *server, uint64_t first, uint64_t count)
{
	struct carve_coded *coded = calloc(1, sizeof(*coded));
	struct codec_writer question = { 0 };
	bool valid;

	coded->block_count = 1;
	coded->mcus = 1;
	codec_put(&question, 2);
	for (unsigned i = 0; i < 2; i++) {
		codec_put(&question, i ? first : 0);
		codec_put(&question, i ? count : 64);
		coded_save(coded, &question);
	}
	valid = is_answered(server, CHECK_FIND_CODED, &question);
	free(question.bytes);
	free(coded);
	return valid;
}

/* A file may have taken over the process that asks. */
Test(device_server, what_is_no_question_does_not_reach_the_device)
{
	struct device_server *server = device_server_new(&options);
	struct codec_writer question = { 0 };

	cr_expect_not(is_looked_at(server, 0, 64), "nothing is kept");
	cr_expect_not(is_kept(server, 0, 0, SIZE));
	cr_expect_not(is_kept(server, 256, 0, SIZE));
	cr_expect_not(is_kept(server, 1000, 0, SIZE));
	cr_expect_not(is_kept(server, 1024, 1024, SIZE));
	cr_expect_not(is_kept(server, 1024, 0, SIZE + 1));
	cr_expect(is_kept(server, 1024, 0, SIZE));
	cr_expect(is_looked_at(server, 0, 64));
	cr_expect_not(is_looked_at(server, 0, 63));
	cr_expect_not(is_looked_at(server, 1, 64));
	cr_expect_not(is_looked_at(server, 0, 0));
	cr_expect_not(is_looked_at(server, 64, UINT64_MAX - 63));
	cr_expect_not(is_looked_at(server, 0, 6 * STAGE));
	codec_put(&question, 0);
	cr_expect_not(is_answered(server, CHECK_FIND_CODED, &question), "none at all");
	codec_put(&question, CODED_QUESTIONS_MAX + 1);
	cr_expect_not(is_answered(server, CHECK_FIND_CODED, &question), "too many");
	free(question.bytes);
	device_server_free(server);
}

/* A device that answers no question before it has been asked both. */
static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t both_came = PTHREAD_COND_INITIALIZER;
static size_t came;

static int find_coded_together(
	struct search_device *opened, const struct coded_question *questions, size_t count)
{
	pthread_mutex_lock(&meeting);
	came += count;
	pthread_cond_broadcast(&both_came);
	while (came < 2)
		pthread_cond_wait(&both_came, &meeting);
	pthread_mutex_unlock(&meeting);
	return find_coded(opened, questions, count);
}

/* Sockets to what serves them, and it. */
struct served {
	struct device_server *server;
	struct searches_served *searches;
	int ours[2], theirs[2];
};

static void begin_to_serve(struct served *served)
{
	served->server = device_server_new(&options);
	cr_assert(is_kept(served->server, 1024, 0, SIZE));
	for (size_t i = 0; i < 2; i++) {
		int ends[2];

		cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		served->ours[i] = ends[0];
		served->theirs[i] = ends[1];
	}
	served->searches = searches_served_new(served->server, served->ours, 2);
}

static void end_serving(struct served *served)
{
	searches_served_free(served->searches);
	device_server_free(served->server);
	for (size_t i = 0; i < 2; i++) {
		close(served->ours[i]);
		close(served->theirs[i]);
	}
}

Test(device_server, what_comes_over_two_sockets_is_asked_at_the_same_time)
{
	struct search_tool together = tool;
	struct carve_coded *coded = calloc(1, sizeof(*coded));
	struct channel channels[2] = { 0 };
	struct served served;

	together.find_coded = find_coded_together;
	options.tool = &together;
	coded->block_count = 1;
	coded->mcus = 1;
	begin_to_serve(&served);
	for (size_t i = 0; i < 2; i++) {
		struct codec_writer question = { 0 };

		channels[i].fd = served.theirs[i];
		codec_put(&question, 1);
		codec_put(&question, 64 * i);
		codec_put(&question, 64);
		coded_save(coded, &question);
		cr_assert(channel_send(&channels[i], CHECK_FIND_CODED, &question));
		free(question.bytes);
	}
	for (size_t i = 0; i < 2; i++) {
		struct codec_reader body;
		uint32_t kind;

		cr_assert_eq(channel_receive(&channels[i], &kind, &body), 1);
		cr_expect_eq(kind, CHECK_ANSWER);
		cr_expect_eq(codec_get(&body, 1), 0, "the status");
		channel_free(&channels[i]);
	}
	cr_expect_not(searches_served_failed(served.searches));
	free(coded);
	end_serving(&served);
}

Test(device_server, other_messages_over_its_sockets_are_none)
{
	static const uint32_t kinds[] = { CHECK_READ, CHECK_KEEP, CHECK_FIND_CODED };

	for (size_t i = 0; i < 3; i++) {
		struct channel channel = { 0 };
		struct served served;

		begin_to_serve(&served);
		channel.fd = served.theirs[1];
		cr_assert(channel_send(&channel, kinds[i], NULL));
		while (!searches_served_failed(served.searches))
			sched_yield();
		end_serving(&served);
	}
}
