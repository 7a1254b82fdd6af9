/*
 * Runs the unit tests of its program (harness.h):
 *
 *     unit [-jN] [--list] [--times] [PATTERN...]
 *
 * A PATTERN names tests as a shell does files: 'ranges/a_*'. N tests run at a time, each in a copy of this process, which has done
 * nothing but load its libraries. What a test prints is kept, and shown when it fails. --times prints the
 * processor milliseconds that each test took, with what it started and waited for.
 *
 * A test fails when a check fails, when it ends with another signal than its own, when it exits, or when the address sanitizer finds
 * a fault or a leak, in a process that it started, too. The last line is `N passed, M failed`, with `, K skipped` when tests
 * were skipped; lines before it say why.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "tier.h"

#define EXIT_SKIPPED 77
/* As what the address sanitizer exits with is not 0, and this is neither. */
#define EXIT_PASSED 42
#define MAX_JOBS 64

/* Made by the linker. */
extern const struct harness_test *const __start_harness_tests[], *const __stop_harness_tests[];
/* None where no test has a suite. */
extern const struct harness_suite *const __start_harness_suites[] __attribute__((weak));
extern const struct harness_suite *const __stop_harness_suites[] __attribute__((weak));

/* Of the process that runs a test. What it starts, and the runner, see whether a check failed, too. */
static struct harness_test running;
static bool *failed;

static void say(
	const char *file, int line, const char *expected, const char *format, va_list values)
{
	fflush(stdout);
	fprintf(stderr, "%s:%d: expected %s:", file, line, expected);
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
}

void harness_failed(const char *file, int line, const char *expected, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	say(file, line, expected, format, values);
	va_end(values);
	*failed = true;
}

/* Without the destructors, and without looking for leaks: what is not freed now is none. */
static _Noreturn void leave(int status)
{
	if (running.fini)
		running.fini();
	fflush(NULL);
	_exit(status);
}

void harness_ended(const char *file, int line, const char *expected, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	say(file, line, expected, format, values);
	va_end(values);
	*failed = true;
	leave(EXIT_FAILURE);
}

void harness_skipped(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	printf("skipped %s/%s: ", running.suite, running.name);
	vprintf(format, values);
	putchar('\n');
	va_end(values);
	leave(EXIT_SKIPPED);
}

void harness_printed(char *text, size_t len)
{
	ssize_t count;

	fflush(NULL);
	count = pread(STDERR_FILENO, text, len - 1, 0);
	text[count < 0 ? 0 : count] = '\0';
}

/* The test with what its suite gives. */
static struct harness_test whole(const struct harness_test *test)
{
	struct harness_test all = *test;

	for (const struct harness_suite *const *at = __start_harness_suites;
		at < __stop_harness_suites; at++) {
		if (strcmp((*at)->name, test->suite) != 0)
			continue;
		all.init = all.init ? all.init : (*at)->init;
		all.fini = all.fini ? all.fini : (*at)->fini;
		all.timeout = all.timeout ? all.timeout : (*at)->timeout;
	}
	return all;
}

static _Noreturn void run_test(const struct harness_test *test, int output)
{
	running = whole(test);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	close(output);
	alarm(running.timeout ? running.timeout : TEST_HANGS);
	if (running.init)
		running.init();
	running.run();
	if (*failed)
		leave(EXIT_FAILURE);
	if (running.fini)
		running.fini();
	exit(EXIT_PASSED);
}

struct job {
	pid_t pid; /* 0: none */
	int output;
	const struct harness_test *test;
};

static struct job jobs[MAX_JOBS];
static bool *check_failed; /* of each job, shared with its process */
static unsigned passes, failures, skips;
static bool times;

static void start(struct job *job, const struct harness_test *test)
{
	failed = &check_failed[job - jobs];
	*failed = false;
	job->test = test;
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
	const struct harness_test *test = job->test;
	bool exited = WIFEXITED(status), leaks = has_leaks(job->output), shown = true;

	if (times) {
		printf("%7.1f ms %s/%s\n",
			(double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e3 +
				(double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e3,
			test->suite, test->name);
	}
	if (!leaks && (exited ? WEXITSTATUS(status) == EXIT_PASSED && !test->signal
			      : WTERMSIG(status) == test->signal)) {
		passes++;
		shown = false;
	} else if (exited && WEXITSTATUS(status) == EXIT_SKIPPED) {
		skips++;
	} else {
		failures++;
		printf("FAILED %s/%s (%s%s %d)\n", test->suite, test->name, leaks ? "leaks; " : "",
			exited ? "exit status" : "signal",
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

static void run(const struct harness_test *test, unsigned count)
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

static bool wanted(const struct harness_test *test, char **patterns)
{
	char name[512];

	snprintf(name, sizeof(name), "%s/%s", test->suite, test->name);
	for (char **pattern = patterns; *pattern; pattern++) {
		if (fnmatch(*pattern, name, 0) == 0)
			return true;
	}
	return !*patterns;
}

int main(int argc, char **argv)
{
	unsigned count = 1;
	bool list = false;

	(void)argc;
	check_failed =
		mmap(NULL, MAX_JOBS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (check_failed == MAP_FAILED) {
		perror("no memory");
		return 2;
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
			return 2;
		}
	}
	for (const struct harness_test *const *at = __start_harness_tests;
		at < __stop_harness_tests; at++) {
		if (!wanted(*at, argv))
			continue;
		if (list)
			printf("%s/%s\n", (*at)->suite, (*at)->name);
		else
			run(*at, count);
	}
	while (reap())
		;
	if (list)
		return 0;
	printf("%u passed, %u failed", passes, failures);
	if (skips)
		printf(", %u skipped", skips);
	putchar('\n');
	return failures > 0 || passes == 0;
}
