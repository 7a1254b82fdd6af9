/* The progress line and the events: the line as text, then what goes to stderr and stdout. */
#include "report/progress.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "report_data.h"

/* In these tests time stands still until a test lets some of it pass. */
static bool stopped;
static double passed;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	if (!stopped || clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, now);
	now->tv_sec = 1000 + (time_t)passed;
	now->tv_nsec = (long)(1e9 * (passed - (double)(time_t)passed));
	return 0;
}

static void pass(double seconds)
{
	passed += seconds;
}

static void set_up(void)
{
	stopped = true;
	temp_make();
}

TestSuite(progress, .init = set_up, .fini = temp_remove);

#define GIB (1ull << 30)

Test(progress, line)
{
	static const struct {
		uint64_t done, total, files;
		double seconds;
		const char *line;
	} cases[] = {
		{ 0, 4 * GIB, 0, 0, "0 bytes of 4.0 GiB (0%), 0 bytes/s, -:-- left, 0 files" },
		{ GIB, 4 * GIB, 1, 2, "1.0 GiB of 4.0 GiB (25%), 512.0 MiB/s, 0:06 left, 1 file" },
		{ GIB, 4 * GIB, 12, 100,
			"1.0 GiB of 4.0 GiB (25%), 10.2 MiB/s, 5:00 left, 12 files" },
		{ GIB, 41 * GIB, 12, 100,
			"1.0 GiB of 41.0 GiB (2%), 10.2 MiB/s, 1:06:40 left, 12 files" },
		{ GIB, 4 * GIB, 0, 0.5, "1.0 GiB of 4.0 GiB (25%), 2.0 GiB/s, -:-- left, 0 files" },
		{ 4 * GIB, 4 * GIB, 7, 4,
			"4.0 GiB of 4.0 GiB (100%), 1.0 GiB/s, 0:00 left, 7 files" },
		{ 4000 * GIB - 1, 4000 * GIB, 7, 4,
			"3.9 TiB of 3.9 TiB (99%), 1000.0 GiB/s, 0:00 left, 7 files" },
		{ 9 * GIB, 4 * GIB, 7, 4,
			"4.0 GiB of 4.0 GiB (100%), 1.0 GiB/s, 0:00 left, 7 files" },
		{ 0, 0, 0, 3, "0 bytes of 0 bytes (100%), 0 bytes/s, -:-- left, 0 files" },
		{ 1, UINT64_MAX, 2, 1,
			"1 bytes of 16777216.0 TiB (0%), 1 bytes/s, -:-- left, 2 files" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[128];

		cr_expect_str_eq(progress_format(cases[i].done, cases[i].total, cases[i].files,
					 cases[i].seconds, 0, line, sizeof(line)),
			cases[i].line);
	}
}

Test(progress, line_is_cut_to_the_terminal)
{
	char whole[128], line[128];

	progress_format(GIB, 4 * GIB, 12, 100, 0, whole, sizeof(whole));
	for (unsigned width = 1; width < 70; width++) {
		progress_format(GIB, 4 * GIB, 12, 100, width, line, sizeof(line));
		cr_expect_leq(strlen(line), width - 1);
		cr_expect_eq(strncmp(line, whole, strlen(line)), 0);
	}
	cr_expect_str_eq(line, whole);
	cr_expect_eq(strlen(progress_format(GIB, 4 * GIB, 12, 100, 0, line, 10)), 9);
}

/* Redirects a stream to a file of the temporary folder; returns what restores it. */
static int redirect(FILE *stream, const char *name)
{
	int kept, fd = open(temp_at(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	fflush(stream);
	kept = dup(fileno(stream));
	cr_assert_geq(dup2(fd, fileno(stream)), 0);
	close(fd);
	return kept;
}

static void put_back(FILE *stream, int kept)
{
	fflush(stream);
	dup2(kept, fileno(stream));
	close(kept);
}

Test(progress, terminal_line_is_not_torn_and_comes_twice_a_second)
{
	const struct progress_options options = { .style = PROGRESS_TERMINAL };
	int kept = redirect(stderr, "stderr");
	struct progress *progress = progress_open(&options, 1000);
	const char *line = "500 bytes of 1000 bytes (50%)";
	char *text, *at;

	for (unsigned i = 0; i < 1000; i++)
		progress_update(progress, 1);
	pass(0.55);
	for (unsigned i = 0; i < 1000; i++)
		progress_update(progress, 500);
	log_info("a message");
	progress_close(progress, 0);
	log_info("the end");
	put_back(stderr, kept);
	text = temp_read("stderr", NULL);
	at = strstr(text, line);
	cr_assert_not_null(at, "%s", text);
	cr_expect_null(strstr(text, "1 bytes of"), "before half a second nothing is shown");
	at = strstr(at, "\rburin: a message\n500 bytes of");
	cr_assert_not_null(at, "cleared, written, drawn again: %s", text);
	cr_expect_not_null(strstr(at, " \rburin: the end\n"), "%s", text);
	cr_expect_null(strstr(strstr(at, "the end"), line), "nothing after the end");
	at = strstr(text, line);
	cr_expect_null(strstr(strstr(at + 1, line) + 1, line),
		"drawn once, and once more after the message");
	free(text);
}

static void take_whole(void *context, uint64_t done, uint64_t total, uint64_t files)
{
	uint64_t *last = context;

	last[0] = done;
	last[1] = total;
	last[2] = files;
}

Test(progress, parts_count_by_their_weight)
{
	uint64_t last[3] = { 0 };
	const struct progress_listener listener = { .update = take_whole, .context = last };
	const struct progress_options options = { .quiet = true, .listener = &listener };
	struct progress *progress = progress_open(&options, 1000);
	const struct file_record file = { 0 };
	struct progress_part small, large;

	progress_part_begin(&small, progress, 100);
	progress_part_begin(&large, progress, 900);
	pass(0.55);
	small.listener.update(small.listener.context, 4, 8, 0);
	cr_expect_eq(last[0], 50, "half of it was searched, whatever its own total is");
	large.listener.file(large.listener.context, &file);
	pass(0.55);
	large.listener.update(large.listener.context, 1, 3, 1);
	cr_expect_eq(last[0], 350);
	pass(0.55);
	large.listener.update(large.listener.context, 1, 9, 1);
	cr_expect_eq(last[0], 350, "it never goes back");
	progress_part_end(&small);
	progress_close(progress, 0);
	cr_expect_eq(last[0], 400);
	cr_expect_eq(last[1], 1000);
	cr_expect_eq(last[2], 1);
}

Test(progress, quiet_means_quiet)
{
	const struct progress_options options = { .quiet = true, .style = PROGRESS_TERMINAL };
	int kept = redirect(stderr, "stderr");
	struct progress *progress = progress_open(&options, 1000);
	char *text;

	pass(0.55);
	progress_update(progress, 500);
	progress_close(progress, 0);
	progress_close(NULL, 0);
	put_back(stderr, kept);
	text = temp_read("stderr", NULL);
	cr_expect_str_eq(text, "");
	free(text);
}

Test(progress, no_terminal_no_line_at_first)
{
	int kept = redirect(stderr, "stderr");
	struct progress *progress = progress_open(&(struct progress_options){ 0 }, 1000);
	char *text;

	pass(0.55);
	progress_update(progress, 500);
	progress_close(progress, 0);
	put_back(stderr, kept);
	text = temp_read("stderr", NULL);
	cr_expect_str_eq(text, "");
	free(text);
}

static void expect_start(const char *line, const char *start)
{
	cr_assert_not_null(line);
	cr_expect_eq(strncmp(line, start, strlen(start)), 0, "%s", line);
}

Test(progress, events)
{
	const struct progress_options options = { .quiet = true, .json = true };
	struct file_record file = data_file();
	int kept = redirect(stdout, "stdout");
	struct progress *progress = progress_open(&options, 1000);
	json_t *event;
	char *text, *line;

	progress_update(progress, 10);
	progress_file(progress, &file);
	progress_file(progress, &file);
	pass(0.55);
	progress_update(progress, 500);
	progress_update(progress, 600);
	progress_close(progress, 3);
	put_back(stdout, kept);
	text = temp_read("stdout", NULL);

	line = strtok(text, "\n");
	expect_start(
		line, "{\"event\":\"file\",\"path\":\"png/000000123456.png\",\"type\":\"png\",");
	cr_expect_not_null(strstr(line, "\"written\":true}"));
	cr_expect_str_eq(strtok(NULL, "\n"), line);

	line = strtok(NULL, "\n");
	expect_start(line,
		"{\"event\":\"progress\",\"done\":500,\"total\":1000,\"files\":2,\"seconds\":0.");
	event = json_loads(line, 0, NULL);
	cr_expect_not_null(event);
	json_decref(event);
	expect_start(strtok(NULL, "\n"), "{\"event\":\"progress\",\"done\":600,");
	cr_expect_str_eq(strtok(NULL, "\n"), "{\"event\":\"done\",\"exit\":3}");
	cr_expect_null(strtok(NULL, "\n"));
	free(text);
}
