/*
 * Runs the unit tests of its program, which are Criterion's:
 *
 *     unit [-jN] [--list] [--times] [PATTERN...]
 *     BURIN_CRITERION=1 unit [OPTION OF CRITERION...]
 *
 * Criterion starts the whole program again for each test, which takes longer than most tests do (15 ms of the processor, and 70 with
 * the address sanitizer). A copy of this process, which has done nothing but load its libraries, takes 1: each test runs in one, and
 * the functions of Criterion's that tests call are defined here. With BURIN_CRITERION its own runner runs the same tests.
 *
 * A PATTERN names tests as a shell does files: 'ranges/a_*'. N tests run at a time. What a test prints is kept, and shown when it
 * fails. --times prints the processor milliseconds that each test took, with what it started and waited for.
 *
 * A test fails when a check fails, in a process that it started, too, when it ends with another signal than its own, when it exits,
 * or when the address sanitizer finds a fault or a leak, in a process that it started, too. The last line is `N passed, M failed`,
 * with `, K skipped` when tests were skipped; lines before it say why.
 */
#include <criterion/criterion.h>
#include <criterion/internal/ordered-set.h>
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tier.h"

#define EXIT_SKIPPED 77
/* As what the address sanitizer exits with is not 0, and this is neither. */
#define EXIT_PASSED 42
#define MAX_JOBS 64

/* A test, and what its suite gives. */
struct test {
	const struct criterion_test *own;
	const struct criterion_test_extra_data *suite; /* or NULL */
};

/* Of the process that runs a test; NULL where Criterion does. */
static const struct test *running;
/* What a test starts, and the runner, see whether a check failed, too. */
static bool *failed;

/* ---- what tests call ---- */

/* Criterion's function of this name. */
#define CRITERIONS(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

static void call(void (*function)(void))
{
	if (function)
		function();
}

static void tear_down(void)
{
	call(running->own->data->fini);
	if (running->suite)
		call(running->suite->fini);
}

/* Without the destructors, and without looking for leaks: what is not freed now is none. */
static _Noreturn void leave(int status)
{
	tear_down();
	fflush(NULL);
	_exit(status);
}

void criterion_send_assert(struct criterion_assert_stats *stats)
{
	if (!running) {
		CRITERIONS(criterion_send_assert)(stats);
		return;
	}
	if (stats->passed)
		return;
	fflush(stdout);
	fprintf(stderr, "%s:%u: %s\n", stats->file, stats->line, stats->message);
	*failed = true;
}

void criterion_abort_test(void)
{
	if (!running)
		CRITERIONS(criterion_abort_test)();
	leave(EXIT_FAILURE);
}

void criterion_continue_test(void)
{
	if (!running)
		CRITERIONS(criterion_continue_test)();
}

void cri_asserts_passed_incr(void)
{
	if (!running)
		CRITERIONS(cri_asserts_passed_incr)();
}

void criterion_skip_test(const char *format, ...)
{
	char text[512];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	if (!running)
		CRITERIONS(criterion_skip_test)("%s", text);
	printf("skipped %s/%s: %s\n", running->own->category, running->own->name, text);
	leave(EXIT_SKIPPED);
}

void criterion_internal_test_setup(void)
{
	if (!running) {
		CRITERIONS(criterion_internal_test_setup)();
		return;
	}
	if (running->suite)
		call(running->suite->init);
	call(running->own->data->init);
}

void criterion_internal_test_main(void (*function)(void))
{
	if (running)
		function();
	else
		CRITERIONS(criterion_internal_test_main)(function);
}

void criterion_internal_test_teardown(void)
{
	if (running)
		tear_down();
	else
		CRITERIONS(criterion_internal_test_teardown)();
}

/* ---- the runner ---- */

static unsigned timeout_of(const struct test *test)
{
	double timeout = test->own->data->timeout;

	if (timeout <= 0 && test->suite)
		timeout = test->suite->timeout;
	return timeout > 0 ? (unsigned)timeout : TEST_HANGS;
}

static _Noreturn void run_test(const struct test *test, int output)
{
	running = test;
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	close(output);
	alarm(timeout_of(test));
	test->own->test();
	exit(*failed ? EXIT_FAILURE : EXIT_PASSED);
}

struct job {
	pid_t pid; /* 0: none */
	int output;
	struct test test;
};

static struct job jobs[MAX_JOBS];
static bool *check_failed; /* of each job, shared with its process */
static unsigned passes, failures, skips;
static bool times;

static void start(struct job *job, const struct test *test)
{
	failed = &check_failed[job - jobs];
	*failed = false;
	job->test = *test;
	job->output = memfd_create("output", MFD_CLOEXEC);
	fflush(stdout);
	job->pid = fork();
	if (job->output < 0 || job->pid < 0) {
		perror("a test can't be started");
		exit(EXIT_FAILURE);
	}
	if (job->pid == 0)
		run_test(test, job->output);
}

static void show(int output)
{
	char bytes[4096];
	ssize_t len;

	lseek(output, 0, SEEK_SET);
	while ((len = read(output, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)len, stdout);
}

/* Whether a process that the test started ended with leaks. */
static bool has_leaks(int output)
{
	static const char words[] = "ERROR: LeakSanitizer";
	off_t len = lseek(output, 0, SEEK_END);
	void *bytes =
		len > 0 ? mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, output, 0) : MAP_FAILED;
	bool has;

	if (bytes == MAP_FAILED)
		return false;
	has = memmem(bytes, (size_t)len, words, strlen(words)) != NULL;
	munmap(bytes, (size_t)len);
	return has;
}

static void judge(const struct job *job, int status, const struct rusage *usage)
{
	const struct criterion_test *test = job->test.own;
	int signal = test->data->signal;
	bool exited = WIFEXITED(status), leaks = has_leaks(job->output), shown = true;

	if (times) {
		printf("%7.1f ms %s/%s\n",
			(double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e3 +
				(double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e3,
			test->category, test->name);
	}
	if (!leaks && (exited ? WEXITSTATUS(status) == EXIT_PASSED && !signal
			      : WTERMSIG(status) == signal)) {
		passes++;
		shown = false;
	} else if (exited && WEXITSTATUS(status) == EXIT_SKIPPED) {
		skips++;
	} else {
		failures++;
		printf("FAILED %s/%s (%s%s %d)\n", test->category, test->name,
			leaks ? "leaks; " : "", exited ? "exit status" : "signal",
			exited ? WEXITSTATUS(status) : WTERMSIG(status));
	}
	if (shown)
		show(job->output);
}

/* Waits until a test has ended. False when none runs. */
static bool reap(void)
{
	struct rusage usage;
	int status;
	pid_t pid = wait4(-1, &status, 0, &usage);

	for (struct job *job = jobs; job < jobs + MAX_JOBS; job++) {
		if (pid <= 0 || job->pid != pid)
			continue;
		judge(job, status, &usage);
		close(job->output);
		job->pid = 0;
		return true;
	}
	return pid > 0 || errno == EINTR;
}

static void run(const struct test *test, unsigned count)
{
	for (;;) {
		for (struct job *job = jobs; job < jobs + count; job++) {
			if (job->pid == 0) {
				start(job, test);
				return;
			}
		}
		reap();
	}
}

static bool wanted(const struct criterion_test *test, char **patterns)
{
	char name[512];

	snprintf(name, sizeof(name), "%s/%s", test->category, test->name);
	for (char **pattern = patterns; *pattern; pattern++) {
		if (fnmatch(*pattern, name, 0) == 0)
			return true;
	}
	return !*patterns;
}

/* Runs the tests that the patterns name, or lists them. */
static void run_all(char **patterns, unsigned count, bool list)
{
	struct criterion_test_set *set = criterion_initialize();

	FOREACH_SET(struct criterion_suite_set * suite, set->suites)
	{
		FOREACH_SET(struct criterion_test * own, suite->tests)
		{
			const struct test test = { own, suite->suite.data };

			if (!wanted(own, patterns))
				continue;
			if (list)
				printf("%s/%s\n", own->category, own->name);
			else
				run(&test, count);
		}
	}
	while (reap())
		;
	criterion_finalize(set);
}

/* Before Criterion's main, which is left to the processes that it starts, and to BURIN_CRITERION. */
static __attribute__((constructor)) void run_in_copies(int argc, char **argv)
{
	unsigned count = 1;
	bool list = false;

	(void)argc;
	if (getenv("BURIN_CRITERION"))
		return;
	check_failed =
		mmap(NULL, MAX_JOBS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (check_failed == MAP_FAILED) {
		perror("no memory");
		exit(2);
	}
	for (argv++; *argv && **argv == '-'; argv++) {
		if (strncmp(*argv, "-j", 2) == 0) {
			count = (unsigned)atoi(*argv + 2);
			count = count < 1 ? 1 : count > MAX_JOBS ? MAX_JOBS : count;
		} else if (strcmp(*argv, "--list") == 0) {
			list = true;
		} else if (strcmp(*argv, "--times") == 0) {
			times = true;
		} else {
			fprintf(stderr, "usage: [-jN] [--list] [--times] [PATTERN...]\n");
			exit(2);
		}
	}
	run_all(argv, count, list);
	if (list)
		exit(0);
	printf("%u passed, %u failed", passes, failures);
	if (skips)
		printf(", %u skipped", skips);
	putchar('\n');
	exit(failures > 0 || passes == 0);
}
