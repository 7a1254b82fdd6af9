/* Files written into the reports by several threads. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "report/report_queue.h"
#include "report_data.h"
#include "tier.h"

TestSuite(report_queue, .init = temp_make, .fini = temp_remove, .timeout = TEST_HANGS);

struct failures {
	_Atomic unsigned count;
	_Atomic int status;
	char text[1024];
};

static void note_failure(void *context, int status, const struct error *error)
{
	struct failures *failures = context;

	if (failures->count++ == 0)
		memcpy(failures->text, error->text, sizeof(failures->text));
	failures->status = status;
}

static struct report *open_report(struct output_dir **output_dir)
{
	static struct run_record run;
	struct error error = { 0 };
	struct report *report;

	run = data_run();
	cr_assert_eq(output_dir_open(output_dir, temp_at("out"), &error), 0, "%s", error.text);
	cr_assert_eq(report_open(&report, *output_dir, &run, &error), 0, "%s", error.text);
	return report;
}

static unsigned given, given_back;

static const struct file_record *open_file(void *context, void *item, void *scratch)
{
	cr_assert_eq(context, &given);
	return memcpy(scratch, item, sizeof(struct file_record));
}

static void close_file(void *context, void *item, void *scratch)
{
	const struct file_record *file = item, *copy = scratch;

	cr_assert_eq(context, &given);
	cr_assert_eq(file->offset, copy->offset);
}

static void release_file(void *context, void *item)
{
	struct file_record *file = item;

	cr_assert_eq(context, &given);
	free(file->path);
	free(file->runs);
	file->path = NULL;
}

static void take_back(void *context, void *item)
{
	struct file_record *file = item;

	cr_assert_eq(context, &given);
	cr_assert_null(file->path, "released before");
	cr_assert_eq(file->offset, 1000 * (uint64_t)given_back, "in order");
	given_back++;
	free(file);
}

/* Number i has i % 3 runs, if it has any. */
static void give(struct report_queue *report_queue, unsigned i)
{
	struct range runs[2] = { { 1000 * i, 10 }, { 1000 * i + 20, 5 } };
	struct file_record *file = malloc(sizeof(*file));

	*file = data_file();
	file->path = malloc(32);
	snprintf(file->path, 32, "png/%u.png", i);
	file->offset = 1000 * (uint64_t)i;
	file->runs = malloc(sizeof(runs));
	memcpy(file->runs, runs, sizeof(runs));
	file->run_count = i % 3;
	given++;
	report_queue_add(report_queue, file);
}

static struct report_queue *new_queue(struct report *report, struct failures *failures)
{
	return report_queue_new(&(struct report_queue_options){ .report = report,
		.threads = 3,
		.failed = note_failure,
		.context = failures,
		.source = { open_file, close_file, sizeof(struct file_record), release_file,
			take_back, &given } });
}

/* How many lines about files the report has, which must be numbers 0, 1, ... in order. */
static unsigned count_files(void)
{
	char *text = temp_read("out/report.jsonl", NULL), *rest = text, *line;
	unsigned count = 0;

	/* Line by line: with the address sanitizer strstr takes the length of all that follows. */
	while ((line = strsep(&rest, "\n"))) {
		char *path = strstr(line, "\"path\":\"png/");

		if (!path)
			continue;
		cr_assert_eq(strtoul(path + strlen("\"path\":\"png/"), NULL, 10), count);
		count++;
	}
	free(text);
	return count;
}

static void end(
	struct report_queue *report_queue, struct report *report, struct output_dir *output_dir)
{
	const struct summary_record summary = { 0 };

	report_queue_free(report_queue);
	cr_expect_eq(given_back, given);
	cr_expect_eq(report_close(report, &summary, NULL), 0);
	output_dir_close(output_dir);
}

Test(report_queue, all_files_in_order)
{
	struct failures failures = { 0 };
	struct output_dir *output_dir;
	struct report *report = open_report(&output_dir);
	struct report_queue *report_queue = new_queue(report, &failures);
	char *text;

	for (unsigned i = 0; i < 10000; i++)
		give(report_queue, i);
	end(report_queue, report, output_dir);
	cr_expect_eq(count_files(), 10000);
	cr_expect_eq(failures.count, 0);
	text = temp_read("out/report.jsonl", NULL);
	cr_expect_not_null(strstr(text, "\"runs\":[[9998000,10],[9998020,5]]"));
	cr_expect_not_null(strstr(text, "\"runs\":[[9997000,10]]"));
	free(text);
}

Test(report_queue, flushing_brings_what_was_given_to_the_disk)
{
	struct failures failures = { 0 };
	struct output_dir *output_dir;
	struct report *report = open_report(&output_dir);
	struct report_queue *report_queue = new_queue(report, &failures);

	for (unsigned i = 0; i < 300; i++) {
		give(report_queue, i);
		if (i % 100 != 0)
			continue;
		cr_assert_eq(report_queue_flush(report_queue, NULL), 0);
		cr_assert_eq(count_files(), i + 1);
	}
	report_queue_finish(report_queue);
	report_queue_finish(report_queue);
	cr_expect_geq(report_queue_waited(report_queue), 0);
	end(report_queue, report, output_dir);
}

Test(report_queue, a_full_disk_is_told)
{
	struct rlimit limit = { 100000, RLIM_INFINITY };
	struct failures failures = { 0 };
	struct output_dir *output_dir;
	struct report *report = open_report(&output_dir);
	struct report_queue *report_queue = new_queue(report, &failures);

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (unsigned i = 0; i < 3000; i++)
		give(report_queue, i);
	report_queue_finish(report_queue);
	cr_expect_gt(failures.count, 0);
	cr_expect_eq(failures.status, -EFBIG);
	cr_expect_not_null(strstr(failures.text, "/out/"), "%s", failures.text);
	cr_expect_eq(report_queue_flush(report_queue, NULL), -EFBIG);
	limit.rlim_cur = RLIM_INFINITY;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	end(report_queue, report, output_dir);
	cr_expect_eq(count_files(), 3000);
}

/* No thread can be started: the caller does the work. */
Test(report_queue, works_without_a_thread)
{
	struct rlimit before, limit;
	struct failures failures = { 0 };
	struct output_dir *output_dir;
	struct report *report = open_report(&output_dir);
	struct report_queue *report_queue;
	bool is_root = geteuid() == 0;

	if (is_root && setresuid(65534, 65534, 0)) /* the limit does not bind root */
		return;
	cr_assert_eq(getrlimit(RLIMIT_NPROC, &before), 0);
	limit = (struct rlimit){ 1, before.rlim_max };
	cr_assert_eq(setrlimit(RLIMIT_NPROC, &limit), 0);
	report_queue = new_queue(report, &failures);
	for (unsigned i = 0; i < 5000; i++)
		give(report_queue, i);
	end(report_queue, report, output_dir);
	cr_expect_eq(count_files(), 5000);
	/* A process of its own stops this one at its end, to look for leaks. */
	cr_assert_eq(setrlimit(RLIMIT_NPROC, &before), 0);
	cr_assert(!is_root || setresuid(0, 0, 0) == 0);
	prctl(PR_SET_DUMPABLE, 1);
}
