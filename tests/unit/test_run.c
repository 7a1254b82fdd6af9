/*
 * Whole runs with engines that fail, which real ones seldom do: the table of engines is this file's
 * own. The reference engine runs after each failing one, so that what a run finds is known.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <zlib.h>

#include "assemble/assemble.h"
#include "base/confine.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/sandbox.h"
#include "run/run.h"
#include "run/session.h"
#include "run/signals.h"
#include "rules/load.h"
#include "scan/scan.h"
#include "photos_case.h"
#include "temp.h"
#include "tier.h"

#define FILE_COUNT 200
#define FILE_LEN 100
#define CHUNK_LEN 1024

extern const struct scan_engine reference_engine;

/* What the engine of the test does when the chunk at trouble_at has been searched. */
static enum { NO_TROUBLE, NO_OPENING, BREAK_DOWN, SIGNAL } trouble;
static uint64_t trouble_at;
static unsigned broken_chunks;
static unsigned room, inside; /* chunks that the engine takes at a time (0: any number), and has */

/* The first engine takes long to open, in a thread of its own: until the other one has searched some chunks, which
 * waits then until that thread is gone. */
#define LATE_CHUNKS 5
static bool is_late, awaits_late;
static atomic_uint reaped;
static atomic_int late_thread;

static int test_probe(char *reason, size_t len)
{
	(void)reason;
	(void)len;
	return 0;
}

static int test_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	struct scan_options without_kernel = *options;

	while (awaits_late && reaped < LATE_CHUNKS)
		sched_yield();
	late_thread = (int)syscall(SYS_gettid);
	if (trouble == NO_OPENING)
		return error_set(error, EXIT_IO, ENOMEM, "no memory on this device");
	without_kernel.kernel = NULL; /* this engine has all that one can ask for */
	return reference_engine.open(scan, set, &without_kernel, error);
}

static int test_submit(struct scan *scan, struct chunk *chunk)
{
	int status;

	if (room && inside == room)
		return -EAGAIN;
	status = reference_engine.submit(scan, chunk);
	inside += status == 0;
	return status;
}

/* From trouble_at on nothing works any more, as with a device that has fallen off its bus. */
static int test_reap(struct scan *scan, struct chunk **chunk)
{
	int status = reference_engine.reap(scan, chunk);

	inside -= status == 0;
	if (status || (*chunk)->offset < trouble_at)
		return status;
	if (trouble == SIGNAL) {
		trouble = NO_TROUBLE; /* a second signal would end the process */
		raise(SIGTERM);
	}
	if (trouble == BREAK_DOWN) {
		broken_chunks++;
		(*chunk)->status = -EIO;
		(*chunk)->hit_count = 1;
		(*chunk)->until = 0;
	}
	return 0;
}

static void test_close(struct scan *scan)
{
	reference_engine.close(scan);
}

static bool test_starts_late(void)
{
	return is_late;
}

static struct scan_engine failing_engine = {
	.name = "failing",
	.summary = "fails as a test wants it",
	.probe = test_probe,
	.open = test_open,
	.submit = test_submit,
	.reap = test_reap,
	.close = test_close,
	.starts_late = test_starts_late,
};

/* ---- the one after it in the table ---- */

/* Until the thread that opened the late engine is gone. */
static void await_late(void)
{
	char path[64];

	while (!late_thread)
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d", late_thread);
	while (!access(path, F_OK))
		sched_yield();
}

static int second_reap(struct scan *scan, struct chunk **chunk)
{
	int status = reference_engine.reap(scan, chunk);

	if (awaits_late && !status && ++reaped == LATE_CHUNKS)
		await_late();
	return status;
}

static int plain_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return reference_engine.open(scan, set, options, error);
}

static int plain_submit(struct scan *scan, struct chunk *chunk)
{
	return reference_engine.submit(scan, chunk);
}

/* Its description is there as long as the engine is open. */
static char description[] = "waiting";

static const char *second_kernel(const struct scan *scan)
{
	(void)scan;
	return description;
}

static void second_close(struct scan *scan)
{
	memset(description, '?', strlen(description));
	test_close(scan);
}

static const struct scan_engine second_engine = {
	.name = "reference",
	.summary = "the reference engine, which waits for one that is late",
	.probe = test_probe,
	.open = plain_open,
	.submit = plain_submit,
	.reap = second_reap,
	.close = second_close,
	.kernel = second_kernel,
};

/* ---- an engine that decodes, as a GPU does ---- */

static struct chunk kept[2];     /* those that were reaped last, the newest first */
static unsigned valid, crossing; /* pictures that were found valid, and those of two chunks */

struct coded_batch {
	struct coded_scan *scans;
	size_t count;
	uint64_t ends[];
};

static int decoding_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	cr_assert(options->decodes);
	memset(kept, 0, sizeof(kept));
	return reference_engine.open(scan, set, options, error);
}

static int decoding_reap(struct scan *scan, struct chunk **chunk)
{
	int status = reference_engine.reap(scan, chunk);

	if (status)
		return status;
	kept[1] = kept[0];
	kept[0] = **chunk;
	return 0;
}

static struct photo_text text_of(const struct chunk *chunk)
{
	return photo_text_on_host(chunk->data, (uint32_t)chunk->len,
		(uint32_t)(chunk->len + chunk->tail_len), chunk->offset);
}

static struct coded_batch *decode_begin(struct scan *scan, struct coded_scan *scans, size_t count)
{
	struct coded_batch *batch = calloc(1, sizeof(*batch) + count * sizeof(batch->ends[0]));
	struct photo_text texts[2];
	unsigned text_count = 0;

	(void)scan;
	if (kept[1].offset + kept[1].len == kept[0].offset)
		texts[text_count++] = text_of(&kept[1]);
	texts[text_count++] = text_of(&kept[0]);
	batch->scans = scans;
	batch->count = count;
	for (size_t i = 0; i < count; i++) {
		scans[i].end = 0;
		batch->ends[i] = photo_decode_on_host(
			texts, text_count, scans[i].data, scans[i].coded, &scans[i].cut);
		valid += batch->ends[i] != 0;
		crossing += batch->ends[i] && scans[i].data < kept[0].offset;
	}
	while (text_count--)
		free((void *)texts[text_count].tiles);
	return batch;
}

static void decode_end(struct scan *scan, struct coded_batch *batch)
{
	(void)scan;
	for (size_t i = 0; i < batch->count; i++)
		batch->scans[i].end = batch->ends[i];
	free(batch);
}

static const struct scan_engine decoding_engine = {
	.name = "decoding",
	.summary = "decodes pictures, on the host",
	.probe = test_probe,
	.open = decoding_open,
	.submit = plain_submit,
	.reap = decoding_reap,
	.close = test_close,
	.decode_begin = decode_begin,
	.decode_end = decode_end,
};

const struct scan_engine *const scan_engines[] = { &failing_engine, &second_engine, NULL };

const struct scan_engine *scan_engine_find(const char *name)
{
	return strcmp(name, "failing") == 0    ? &failing_engine
	       : strcmp(name, "decoding") == 0 ? &decoding_engine
					       : &reference_engine;
}

const struct scan_engine *scan_engine_pick(
	const char *name, char *reason, size_t len, struct error *error)
{
	(void)error;
	snprintf(reason, len, "the test's choice");
	return name ? scan_engine_find(name) : &failing_engine;
}

/* ---- runs ---------------------------------------------------------------------------------- */

static struct rules *rules;
static size_t chunk_len = CHUNK_LEN;

static void set_up(void)
{
	static const char text[] =
		"types = ( { name = \"rec\"; header = \"'REC['\"; footer = \"']CER'\"; "
		"max_size = \"1K\"; } );";
	char image[FILE_COUNT * FILE_LEN];
	struct error error = { 0 };

	temp_make();
	log_set_level(LOG_ERROR);
	memset(image, '.', sizeof(image));
	for (int i = 0; i < FILE_COUNT; i++) {
		memcpy(image + i * FILE_LEN, "REC[", 4);
		memcpy(image + i * FILE_LEN + 60, "]CER", 4);
	}
	temp_write("image", image, sizeof(image));
	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0,
		"%s", error.text);
}

static void tear_down(void)
{
	rules_free(rules);
	temp_remove();
}

TestSuite(run, .init = set_up, .fini = tear_down, .timeout = TEST_HANGS);

static int carve_with(
	const char *engine, const char *kernel, const char *output, struct run_sums *sums)
{
	struct run_options options = { .rules = rules,
		.engine = engine,
		.kernel = kernel,
		.threads = 2,
		.chunk_size = chunk_len,
		.hash_mask = HASH_SHA256,
		.progress = { .quiet = true } };

	return run_carve(&options, temp_at("image"), temp_at(output), sums);
}

static int carve(const char *engine, const char *output, struct run_sums *sums)
{
	return carve_with(engine, NULL, output, sums);
}

/* The lines about files: everything between the first line and the last. The caller frees it. */
static char *file_lines(const char *report)
{
	char *text = temp_read(report, NULL), *start = strchr(text, '\n'), *end, *lines;

	cr_assert_not_null(start);
	end = strstr(start, "{\"record\":\"summary\"");
	cr_assert_not_null(end, "%s has no summary", report);
	lines = strndup(start, (size_t)(end - start));
	free(text);
	return lines;
}

static void expect_same_files(const char *report)
{
	char *wanted, *found;

	if (access(temp_at("wanted"), F_OK))
		cr_assert_eq(carve("reference", "wanted", NULL), EXIT_CLEAN);
	wanted = file_lines("wanted/report.jsonl");
	found = file_lines(report);
	cr_expect_str_eq(found, wanted);
	free(found);
	free(wanted);
}

static void expect_in_report(const char *report, const char *text)
{
	char *content = temp_read(report, NULL);

	cr_expect_not_null(strstr(content, text), "no %s in: %s", text, content);
	free(content);
}

Test(run, an_engine_that_can_not_be_opened_is_passed_over)
{
	struct run_sums sums;

	trouble = NO_OPENING;
	cr_expect_eq(carve(NULL, "out", &sums), EXIT_CLEAN);
	cr_expect_eq(sums.files, FILE_COUNT);
	expect_in_report("out/report.jsonl", "\"name\":\"reference\"");
	expect_in_report("out/report.jsonl", "failing: no memory on this device");
	expect_in_report("out/report.jsonl", "\"problems\":[]");
	expect_same_files("out/report.jsonl");
}

Test(run, an_engine_that_was_asked_for_has_no_stand_in)
{
	struct run_sums sums;

	trouble = NO_OPENING;
	cr_expect_eq(carve("failing", "out", &sums), EXIT_IO);
	cr_expect_eq(sums.files, 0);
	cr_expect_neq(access(temp_at("out"), F_OK), 0, "an output folder was made for nothing");
}

Test(run, an_engine_that_breaks_down_loses_no_hit)
{
	struct run_sums sums;

	trouble = BREAK_DOWN;
	trouble_at = 5 * CHUNK_LEN;
	cr_expect_eq(carve(NULL, "out", &sums), EXIT_PROBLEMS);
	cr_expect_geq(broken_chunks, 1);
	cr_expect_eq(sums.files, FILE_COUNT);
	expect_in_report("out/report.jsonl",
		"the engine failing broke down at byte 5120 (Input/output error)");
	expect_same_files("out/report.jsonl");
}

/* Of an engine in the summary; UINT64_MAX: it is not there. */
static uint64_t bytes_searched(const char *report, const char *engine)
{
	char name[64], *content = temp_read(report, NULL), *at = strstr(content, "\"engines\":[");
	unsigned long long bytes = UINT64_MAX;

	snprintf(name, sizeof(name), "{\"name\":\"%s\"", engine);
	at = at ? strstr(at, name) : NULL;
	at = at ? strstr(at, "\"bytes\":") : NULL;
	if (at)
		sscanf(at, "\"bytes\":%llu", &bytes);
	free(content);
	return bytes;
}

Test(run, another_engine_searches_until_the_first_one_has_started)
{
	uint64_t before, after;

	is_late = awaits_late = true;
	failing_engine.late_len = 1;
	cr_expect_eq(carve(NULL, "out", NULL), EXIT_CLEAN);
	before = bytes_searched("out/report.jsonl", "reference");
	after = bytes_searched("out/report.jsonl", "failing");
	cr_expect_gt(before, (LATE_CHUNKS - 1) * CHUNK_LEN, "%llu", (unsigned long long)before);
	cr_expect_gt(after, 0);
	cr_expect_eq(before + after, FILE_COUNT * FILE_LEN);
	expect_same_files("out/report.jsonl");
}

/* Puts a picture in two pieces into the image, the joint in a chunk with a CRC. */
static void cut_picture(uint8_t *image)
{
	enum { CLUSTER = 4096, HEAD = 33, CHUNK = 6000, REST_MAX = 4096 };
	static uint8_t file[HEAD + CHUNK + 12 + REST_MAX];
	FILE *picture = fopen("tests/golden/png/grey.png", "rb");
	uint8_t *chunk = file + HEAD;
	uint32_t crc;
	size_t len;

	cr_assert_not_null(picture);
	cr_assert_eq(fread(file, 1, HEAD, picture), HEAD);
	len = fread(chunk + CHUNK + 12, 1, REST_MAX, picture);
	fclose(picture);
	chunk[2] = CHUNK >> 8;
	chunk[3] = CHUNK & 255;
	memcpy(chunk + 4, "prVt", 4);
	for (unsigned i = 0; i < CHUNK; i++)
		chunk[8 + i] = (uint8_t)(i * i >> 4);
	crc = (uint32_t)crc32(0, chunk + 4, CHUNK + 4);
	for (int i = 0; i < 4; i++)
		chunk[8 + CHUNK + i] = (uint8_t)(crc >> (24 - 8 * i));
	memcpy(image + CLUSTER, file, CLUSTER);
	memcpy(image + 3 * CLUSTER, file + CLUSTER, HEAD + CHUNK + 12 + len - CLUSTER);
}

/* They are written a second time once files were put together. */
Test(run, the_reports_describe_the_engine_that_began)
{
	static const char text[] = "types = ( { name = \"png\"; header = \"89 'PNG'\"; "
				   "max_size = \"1M\"; carver = \"png\"; } );";
	static uint8_t image[1 << 16];
	struct run_options options = { .threads = 2,
		.chunk_size = CHUNK_LEN,
		.fragments = FRAGMENTS_KNOWN,
		.fragment_budget = 100,
		.hash_mask = HASH_SHA256,
		.progress = { .quiet = true } };
	struct error error = { 0 };
	char *report;

	rules_free(rules);
	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0,
		"%s", error.text);
	options.rules = rules;
	cut_picture(image);
	temp_write("image", image, sizeof(image));
	is_late = awaits_late = true;
	failing_engine.late_len = 1;
	cr_expect_eq(run_carve(&options, temp_at("image"), temp_at("out"), NULL), EXIT_CLEAN);
	cr_expect_gt(bytes_searched("out/report.jsonl", "failing"), 0);
	expect_in_report("out/report.jsonl", "\"assembly\":{\"by\":\"table\"");
	report = temp_read("out/report.jsonl", NULL);
	*strchr(report, '\n') = '\0'; /* the first line */
	cr_expect_not_null(strstr(report, "\"kernel\":\"waiting\""), "%s", report);
	free(report);
}

Test(run, an_engine_that_starts_late_and_in_vain_is_named)
{
	is_late = awaits_late = true;
	failing_engine.late_len = 1;
	trouble = NO_OPENING;
	cr_expect_eq(carve(NULL, "out", NULL), EXIT_CLEAN);
	cr_expect_eq(bytes_searched("out/report.jsonl", "reference"), FILE_COUNT * FILE_LEN);
	cr_expect_eq(bytes_searched("out/report.jsonl", "failing"), 0);
	expect_in_report("out/report.jsonl", "\"why\":\"no memory on this device\"");
	expect_same_files("out/report.jsonl");
}

Test(run, an_engine_that_starts_late_and_breaks_down_loses_no_hit)
{
	is_late = awaits_late = true;
	failing_engine.late_len = 1;
	trouble = BREAK_DOWN;
	cr_expect_eq(carve(NULL, "out", NULL), EXIT_PROBLEMS);
	cr_expect_geq(broken_chunks, 1);
	cr_expect_eq(bytes_searched("out/report.jsonl", "failing"), 0);
	expect_same_files("out/report.jsonl");
}

Test(run, an_engine_that_starts_late_is_not_started_for_little)
{
	is_late = true;
	failing_engine.late_len = FILE_COUNT * FILE_LEN / 2 + 1; /* of two threads */
	cr_expect_eq(carve(NULL, "out", NULL), EXIT_CLEAN);
	cr_expect_eq(late_thread, 0);
	cr_expect_eq(bytes_searched("out/report.jsonl", "reference"), FILE_COUNT * FILE_LEN);
	expect_in_report(
		"out/report.jsonl", "failing: would start only when nearly all is searched");
	expect_same_files("out/report.jsonl");
}

Test(run, an_engine_that_was_asked_for_is_waited_for)
{
	is_late = true;
	failing_engine.late_len = 1;
	cr_expect_eq(carve("failing", "out", NULL), EXIT_CLEAN);
	cr_expect_eq(bytes_searched("out/report.jsonl", "failing"), FILE_COUNT * FILE_LEN);
	expect_same_files("out/report.jsonl");
}

Test(run, an_engine_that_breaks_down_at_once_loses_no_hit)
{
	trouble = BREAK_DOWN;
	trouble_at = 0;
	cr_expect_eq(carve(NULL, "out", NULL), EXIT_PROBLEMS);
	expect_same_files("out/report.jsonl");
}

Test(run, a_kernel_is_no_concern_of_the_stand_in)
{
	trouble = BREAK_DOWN;
	trouble_at = 3 * CHUNK_LEN;
	cr_expect_eq(carve_with(NULL, "gram", "out", NULL), EXIT_PROBLEMS);
	expect_same_files("out/report.jsonl");
}

Test(run, an_engine_with_little_room_gets_every_chunk)
{
	for (room = 1; room < 5; room++) {
		const char *output = room == 1 ? "1" : room == 2 ? "2" : room == 3 ? "3" : "4";
		struct run_sums sums;

		cr_expect_eq(carve("failing", output, &sums), EXIT_CLEAN);
		cr_expect_eq(sums.files, FILE_COUNT, "with room for %u", room);
		cr_expect_eq(sums.scanned, FILE_COUNT * FILE_LEN);
		cr_expect_eq(sums.hits, 2 * FILE_COUNT);
		cr_expect_eq(inside, 0);
	}
	expect_same_files("1/report.jsonl");
}

Test(run, an_engine_with_little_room_breaks_down)
{
	trouble = BREAK_DOWN;
	trouble_at = 5 * CHUNK_LEN;
	room = 2;
	cr_expect_eq(carve(NULL, "out", NULL), EXIT_PROBLEMS);
	expect_same_files("out/report.jsonl");
}

Test(run, the_times_of_the_stages_are_told)
{
	struct run_sums sums;

	cr_expect_eq(carve("reference", "out", &sums), EXIT_CLEAN);
	cr_expect_gt(sums.start, 0);
	cr_expect_gt(sums.total, sums.start + sums.read_wait + sums.scan_wait + sums.carve_wait);
	cr_expect_str_eq(sums.kernel, "reference");
	expect_in_report("out/report.jsonl", "\"start\":");
}

Test(run, without_a_stand_in_what_was_found_so_far_is_reported)
{
	struct run_sums sums;

	trouble = BREAK_DOWN;
	trouble_at = 5 * CHUNK_LEN;
	cr_expect_eq(carve("failing", "out", &sums), EXIT_NO_ENGINE);
	cr_expect_lt(sums.files, FILE_COUNT);
	expect_in_report("out/report.jsonl", "the engine failing broke down at byte 5120");
	expect_in_report("out/report.jsonl", "\"exit\":4");
	expect_in_report("out/report.jsonl", "\"scanned\":5120");
}

Test(run, a_signal_ends_it_with_a_report)
{
	struct run_sums sums;

	trouble = SIGNAL;
	trouble_at = 5 * CHUNK_LEN;
	signals_catch();
	cr_expect_eq(carve("failing", "out", &sums), 128 + SIGTERM);
	cr_expect_lt(sums.files, FILE_COUNT);
	expect_in_report("out/report.jsonl", "interrupted by SIGTERM after ");
	expect_in_report("out/report.jsonl", "\"signal\":15,\"exit\":143");
	free(file_lines("out/report.jsonl"));
}

/* ---- what confines processes ---- */

/* That is, nothing needs to be asked any more: without descriptors no process could be. */
static void expect_layers_are_known(void)
{
	struct rlimit limit, none;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	cr_expect(sandbox_layers()->limits);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

Test(run, what_confines_is_known_before_a_session_has_threads)
{
	const struct run_options options = { 0 };
	struct session session;

	session_init(&session, &options, "image");
	expect_layers_are_known();
}

Test(run, what_confines_is_known_before_a_pool_has_threads)
{
	struct pool *pool = session_pool_new(1);

	cr_assert_not_null(pool);
	expect_layers_are_known();
	pool_free(pool);
}

/* ---- pictures that are decoded ahead ---- */

/* Whole pictures and damaged ones, some of them in two chunks. */
static void fill_with_pictures(uint8_t *image, size_t size)
{
	static const char *const names[] = { "422", "444", "exif-big", "samsung-trailer",
		"restart" };
	size_t at = 0;

	for (unsigned n = 0; at < size; n++) {
		char path[64];
		FILE *file;
		size_t len;

		snprintf(path, sizeof(path), "tests/golden/jpeg/%s.jpg", names[n % 5]);
		file = fopen(path, "rb");
		cr_assert_not_null(file, "%s", path);
		len = fread(image + at, 1, size - at, file);
		fclose(file);
		if (n / 5 % 3 == 1)
			image[at + len / 2] ^= 0x10;
		at += len + 100 + 37 * (n % 7);
	}
}

Test(run, pictures_that_are_decoded_ahead_are_the_same)
{
	static const char text[] = "types = ( { name = \"jpeg\"; header = \"FF D8 FF\"; "
				   "max_size = \"1M\"; carver = \"jpeg\"; } );";
	static uint8_t image[1 << 18];
	struct error error = { 0 };
	struct run_sums sums;

	rules_free(rules);
	cr_assert_eq(
		rules_load_text(&rules, NULL, text, sizeof(text) - 1, RULES_AUTO, NULL, &error), 0,
		"%s", error.text);
	fill_with_pictures(image, sizeof(image));
	valid = crossing = 0;
	temp_write("image", image, sizeof(image));
	chunk_len = 5000;
	/* Carvers describe the pictures in this process, and in others. */
	for (int confined = 0; confined < 2; confined++) {
		const char *output = confined ? "confined" : "here";

		confine_set_mode(confined ? CONFINE_AUTO : CONFINE_OFF);
		valid = crossing = 0;
		cr_expect_eq(carve("decoding", output, &sums), EXIT_CLEAN);
		/* Three of five have no restart markers, and a third of them are damaged. */
		cr_expect_geq(valid, 80, "%s: %u", output, valid);
		cr_expect_geq(crossing, 10, "%s: %u", output, crossing);
	}
	expect_in_report("here/report.jsonl", "\"checks\":false");
	expect_in_report("confined/report.jsonl", "\"checks\":true");
	expect_same_files("here/report.jsonl");
	expect_same_files("confined/report.jsonl");
}

/* ---- a disk that fails --------------------------------------------------------------------- */

#define DISK_LEN (1u << 20)

static ino_t disk; /* the inode of the image */
static size_t disk_chunk_len = 256 * 1024;
static off_t bad_from, bad_to;     /* what of it can't be read */
static _Atomic unsigned bad_reads; /* that were tried... */
static unsigned interrupt_at;      /* ... of which this one is interrupted by a signal... */
static _Atomic unsigned late;      /* ... and these began after it */

/* Instead of the C library's. */
ssize_t pread(int fd, void *buffer, size_t len, off_t offset)
{
	struct stat info;

	if (offset >= bad_to || offset + (off_t)len <= bad_from || fstat(fd, &info) ||
		info.st_ino != disk)
		return syscall(SYS_pread64, fd, buffer, len, offset);
	if (signals_caught())
		late++;
	if (++bad_reads == interrupt_at) { /* this thread blocks signals */
		kill(getpid(), SIGTERM);
		while (!signals_caught())
			sched_yield();
	}
	errno = EIO;
	return -1;
}

/* A record at every 256 bytes. */
static void make_disk(void)
{
	char *image = malloc(DISK_LEN);
	struct stat info;

	cr_assert_not_null(image);
	memset(image, '.', DISK_LEN);
	for (int i = 0; i < (int)(DISK_LEN / 256); i++) {
		memcpy(image + i * 256 + 100, "REC[", 4);
		memcpy(image + i * 256 + 252, "]CER", 4);
	}
	temp_write("disk", image, DISK_LEN);
	free(image);
	cr_assert_eq(stat(temp_at("disk"), &info), 0);
	disk = info.st_ino;
}

static int carve_disk(const char *output, bool resume, enum run_verify verify)
{
	struct run_options options = { .rules = rules,
		.engine = "reference",
		.threads = 2,
		.chunk_size = disk_chunk_len,
		.io = READER_THREADS,
		.cache = READER_BUFFERED,
		.verify = verify,
		.verify_mask = HASH_SHA256,
		.hash_mask = HASH_SHA256,
		.resume = resume,
		.checkpoint_interval = 3600000,
		.progress = { .quiet = true } };

	return run_carve(&options, temp_at("disk"), temp_at(output), NULL);
}

/* In a process of its own, which the signal has for good. The disk fails from one offset to another,
 * and the signal comes in the nth read that fails. Only reads under way may still be made after it. */
static void interrupt_run(
	const char *output, bool resume, enum run_verify verify, off_t from, off_t to, unsigned nth)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	cr_assert_geq(child, 0);
	if (!child) {
		bad_from = from;
		bad_to = to;
		interrupt_at = nth;
		signals_catch();
		status = carve_disk(output, resume, verify);
		_exit(status != 128 + SIGTERM ? 1 : late >= 64 ? 2 : 0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "%s",
		WEXITSTATUS(status) == 2 ? "it went on reading" : "it was not interrupted");
}

Test(run, a_signal_ends_reading_around_what_can_not_be_read)
{
	char *wanted, *found;

	make_disk();
	cr_assert_eq(carve_disk("wanted", false, RUN_VERIFY_NONE), EXIT_CLEAN);
	interrupt_run("out", false, RUN_VERIFY_NONE, 300 * 1024 + 250, 450 * 1024, 10);
	expect_in_report("out/report.jsonl", "\"unreadable\":[]");
	cr_assert_eq(carve_disk("out", true, RUN_VERIFY_NONE), EXIT_CLEAN, "nothing was lost");
	wanted = file_lines("wanted/report.jsonl");
	found = file_lines("out/report.jsonl");
	cr_expect_str_eq(found, wanted);
	free(found);
	free(wanted);
}

/* The hash and the map of a run that is resumed read what was read before. */
Test(run, a_signal_ends_reading_what_was_read_before)
{
	char *wanted, *found;

	make_disk();
	/* So short that some are searched before what fails first can be read. */
	disk_chunk_len = 64 * 1024;
	cr_assert_eq(carve_disk("wanted", false, RUN_VERIFY_KINDS), EXIT_CLEAN);
	interrupt_run("out", false, RUN_VERIFY_KINDS, 600 * 1024, 900 * 1024, 1);
	interrupt_run("out", true, RUN_VERIFY_KINDS, 100 * 1024, 400 * 1024, 10);
	cr_assert_eq(carve_disk("out", true, RUN_VERIFY_KINDS), EXIT_CLEAN);
	wanted = temp_read("wanted/report.jsonl", NULL);
	found = temp_read("out/report.jsonl", NULL);
	cr_assert_not_null(strstr(wanted, "\"evidence\":"));
	cr_expect_eq(
		strncmp(strstr(strstr(found, "\"record\":\"summary\""), "\"evidence\":"),
			strstr(strstr(wanted, "\"record\":\"summary\""), "\"evidence\":"), 100),
		0);
	free(found);
	free(wanted);
}
