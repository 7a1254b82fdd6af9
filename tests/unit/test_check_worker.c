/* Checks in burin-carver, as a thread of burin has them made. */
#include <criterion/criterion.h>
#include <bzlib.h>
#include <lzma.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carve/batch_work.h"
#include "carve/check_worker.h"
#include "carvers/coded.h"
#include "rules/load.h"
#include "temp.h"
#include "tier.h"

#define COUNT 4
#define UNPACKED ((unsigned)8 << 20) /* bytes of a stream */

static unsigned checked, deferred;
static bool was_last_deferred;

static bool go_on(void *context, size_t index, uint64_t reached)
{
	(void)context, (void)index, (void)reached;
	return true;
}

static void done(void *context, size_t index, struct outcome *outcome, uint64_t waited)
{
	was_last_deferred = !outcome;
	(void)context, (void)index, (void)waited;
	deferred += !outcome;
	checked += outcome != NULL;
	if (!outcome)
		return;
	cr_expect_eq(outcome->work, UINT64_MAX, "it has more to do than it may");
	outcome_free(outcome);
}

/* COUNT streams of bzip2 in a row, and a worker for them. */
static struct rules *rules;
static struct image *image;
static struct check_workers *workers;
static struct check_worker *worker;
static struct check_request requests[COUNT];
static struct candidate candidates[COUNT];

static void set_up(void)
{
	static const char text[] = "types = ( { name = \"bz2\"; header = \"'BZh'\"; carver = "
				   "\"bz2\"; max_size = \"1M\"; } );";
	char *zeros = calloc(1, UNPACKED), *packed = malloc(COUNT * 65536);
	struct error error = { 0 };
	unsigned len = 0;

	temp_make();
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned stream_len = 65536;

		cr_assert_eq(BZ2_bzBuffToBuffCompress(
				     packed + len, &stream_len, zeros, UNPACKED, 9, 0, 0),
			BZ_OK);
		candidates[i] = (struct candidate){ .start = len, .length = stream_len };
		len += stream_len;
	}
	temp_write("image", packed, len);
	free(packed);
	free(zeros);
	cr_assert_eq(image_open(&image, temp_at("image"), &error), 0, "%s", error.text);
	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0,
		"%s", error.text);
	workers = check_workers_new(image, rules, false, 0, NULL, 0);
	worker = check_worker_new(workers, 3);
}

static void tear_down(void)
{
	check_worker_free(worker);
	check_workers_free(workers);
	rules_free(rules);
	image_close(image);
	temp_remove();
}

TestSuite(check_worker, .init = set_up, .fini = tear_down, .timeout = TEST_HANGS);

static void check(uint64_t work_max, bool force)
{
	const struct check_listener listener = { NULL, go_on, done, NULL };
	struct error error = { 0 };

	checked = deferred = 0;
	for (unsigned i = 0; i < COUNT; i++)
		requests[i] = (struct check_request){
			.candidate = &candidates[i], .work_max = work_max, .force = force
		};
	cr_assert_eq(check_worker_check(worker, requests, COUNT, 0, &listener, &error), 0, "%s",
		error.text);
}

Test(check_worker, a_batch_costs_no_more_than_its_rule_may)
{
	check((uint64_t)4 << 20, false);
	cr_expect_eq(checked, 1, "%u", checked);
	cr_expect_eq(deferred, COUNT - 1);
	check((uint64_t)4 << 20, true);
	cr_expect_eq(checked, COUNT, "those whose turn it is are checked");
	check(CHECK_WORK_LEAST, false);
	cr_expect_eq(checked, 1, "%u: nor a batch that may cost little", checked);
}

static bool go_on_no_more(void *context, size_t index, uint64_t reached)
{
	unsigned *asked = context;

	(void)index, (void)reached;
	return (*asked)++ > 0;
}

static bool cancelled(void *context)
{
	(void)context;
	return true;
}

/* When the run is to end, what follows the check under way is given up with it: each would have to be noticed first. */
Test(check_worker, nothing_of_a_batch_goes_on_when_it_is_cancelled)
{
	unsigned asked = 0;
	const struct check_listener listener = { &asked, go_on_no_more, done, cancelled };
	struct error error = { 0 };

	checked = deferred = 0;
	for (unsigned i = 0; i < COUNT; i++)
		requests[i] = (struct check_request){ .candidate = &candidates[i],
			.work_max = UINT64_MAX };
	cr_assert_eq(check_worker_check(worker, requests, COUNT, 0, &listener, &error), 0, "%s",
		error.text);
	cr_expect_gt(asked, 0);
	cr_expect_gt(deferred, 0);
	cr_expect_leq(checked + 1, COUNT, "%u", checked);
	cr_expect(was_last_deferred);
}

/* The same in this process, as ranks of a cluster that confine nothing do it. */
static void check_here(uint64_t work_max, bool force)
{
	struct batch_work *batch = batch_work_new(1);
	struct defer *defer = defer_new(1, true, 1);
	struct view *view = view_new();
	struct outcome outcome;
	uint64_t waited;

	checked = deferred = 0;
	batch_work_begin(batch);
	for (unsigned i = 0; i < COUNT; i++)
		done(NULL, i,
			batch_work_check(batch, defer, 0, view, image, &rules->rules[0],
				&candidates[i], work_max, force, !i, &outcome, &waited)
				? &outcome
				: NULL,
			waited);
	batch_work_free(batch);
	defer_free(defer);
	view_free(view);
}

Test(check_worker, a_batch_without_a_process_costs_no_more)
{
	check_here((uint64_t)4 << 20, false);
	cr_expect_eq(checked, 1, "%u", checked);
	cr_expect_eq(deferred, COUNT - 1);
	check_here((uint64_t)4 << 20, true);
	cr_expect_eq(checked, COUNT, "those whose turn it is are checked");
	check_here(CHECK_WORK_LEAST, false);
	cr_expect_eq(checked, 1, "%u: nor a batch that may cost little", checked);
}

/* ---- coded data ---------------------------------------------------------------------------- */

/* One candidate, all of the image; text: the rules. */
static void open_file(const char *text, const void *bytes, size_t len)
{
	struct error error = { 0 };

	temp_make();
	temp_write("image", bytes, len);
	candidates[0] = (struct candidate){ .length = len };
	cr_assert_eq(image_open(&image, temp_at("image"), &error), 0, "%s", error.text);
	cr_assert_eq(rules_load_text(&rules, NULL, text, strlen(text), RULES_AUTO, NULL, &error), 0,
		"%s", error.text);
	workers = check_workers_new(image, rules, false, 0, NULL, 0);
	worker = check_worker_new(workers, 0);
}

static void open_picture(void)
{
	static const char text[] = "types = ( { name = \"jpeg\"; header = \"FF D8 FF\"; carver = "
				   "\"jpeg\"; max_size = \"1M\"; } );";
	uint8_t picture[65536];
	FILE *file = fopen("tests/golden/jpeg/422.jpg", "rb");
	size_t len;

	cr_assert_not_null(file);
	len = fread(picture, 1, sizeof(picture), file);
	fclose(file);
	memset(picture + len / 2, 0xfe, 64); /* no codes of it */
	open_file(text, picture, len);
}

TestSuite(check_worker_coded, .init = open_picture, .fini = tear_down, .timeout = TEST_HANGS);

static void take_outcome(void *context, size_t index, struct outcome *outcome, uint64_t waited)
{
	(void)index, (void)waited;
	cr_assert_not_null(outcome);
	*(struct outcome *)context = *outcome;
}

static enum verdict check_knowing(uint64_t data, uint64_t end)
{
	struct outcome outcome;
	const struct check_listener listener = { &outcome, go_on, take_outcome, NULL };
	const struct check_request request = { .candidate = candidates,
		.work_max = UINT64_MAX,
		.force = true,
		.known_data = data,
		.known_end = end };
	struct error error = { 0 };
	enum verdict verdict;

	cr_assert_eq(
		check_worker_check(worker, &request, 1, 0, &listener, &error), 0, "%s", error.text);
	verdict = outcome.verdict;
	outcome_free(&outcome);
	return verdict;
}

/* A stream of xz whose decoder needs 65 MiB. */
static void open_stream(void)
{
	static const char text[] =
		"types = ( { name = \"xz\"; header = \"FD 37 7A 58 5A 00\"; carver = "
		"\"xz\"; max_size = \"1M\"; } );";
	uint8_t zeros[1000] = { 0 }, packed[1000];
	size_t len = 0;

	cr_assert_eq(lzma_easy_buffer_encode(9, LZMA_CHECK_CRC64, NULL, zeros, sizeof(zeros),
			     packed, &len, sizeof(packed)),
		LZMA_OK);
	open_file(text, packed, len);
}

TestSuite(check_worker_memory, .init = open_stream, .fini = tear_down, .timeout = TEST_HANGS);

static atomic_bool stream_was_checked;

static void *check_stream(void *verdict)
{
	*(enum verdict *)verdict = check_knowing(0, 0);
	atomic_store(&stream_was_checked, true);
	return NULL;
}

/* What another check of this process has reserved counts for those in workers' processes, too. Without that the check ends
 * in the time that it is given here; how fast it is changes nothing where all is well. */
Test(check_worker_memory, processes_share_what_decoders_may_take)
{
	static const uint8_t none[1];
	struct view *other = view_new_memory(none, sizeof(none));
	enum verdict verdict = CARVE_REJECT;
	pthread_t thread;

	cr_assert(view_reserve(other, (uint64_t)1 << 30));
	cr_assert_eq(pthread_create(&thread, NULL, check_stream, &verdict), 0);
	for (int i = 0; i < 300 && !atomic_load(&stream_was_checked); i++)
		usleep(1000);
	cr_expect_not(atomic_load(&stream_was_checked), "it took more than all may together");
	view_free(other);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_expect_eq(verdict, CARVE_COMPLETE);
	/* It has given back what it had, or this waits for ever. */
	other = view_new_memory(none, sizeof(none));
	cr_assert(view_reserve(other, (uint64_t)1 << 30));
	view_free(other);
}

/* The picture is damaged, so it is complete only for those who believe that an engine decoded all of it. */
Test(check_worker_coded, what_an_engine_decoded_is_not_decoded_again)
{
	struct carve_coded *coded = NULL;
	uint64_t end = candidates->length - 2, data;

	cr_assert(check_worker_describe(worker, candidates, 1, &coded));
	cr_assert_not_null(coded);
	cr_expect(coded->begins);
	cr_expect_eq(
		coded->block_count, 4, "two of brightness, two of colour: %u", coded->block_count);
	data = coded->data;
	cr_assert(data > 0 && data < end);
	free(coded);
	cr_expect_neq(check_knowing(0, 0), CARVE_COMPLETE);
	cr_expect_eq(check_knowing(data, end), CARVE_COMPLETE);
	cr_expect_neq(check_knowing(data + 1, end), CARVE_COMPLETE, "of other data");
	cr_expect_neq(check_knowing(0, 0), CARVE_COMPLETE, "and of no later check");
}

Test(check_worker_coded, what_has_no_coded_data_is_not_described)
{
	struct carve_coded *coded = NULL;
	struct candidate middle = { .start = 100, .length = 1000 };

	cr_assert(check_worker_describe(worker, &middle, 1, &coded));
	cr_expect_null(coded);
}
