/*
 * Memory that runs out is not a verdict: each carver checks its golden files while the n-th allocation of the check fails, for every n. Either
 * the carver says so (view_no_memory, or the run ends, as xmalloc does), or the result is the one with enough memory.
 *
 *     build/tests/alloc_failures [-v] [CARVER...]
 *
 * The malloc of this program counts and fails, also for the libraries that decode. Each check runs in a process of its own. Ends with a line
 * `N passed, M failed`: carvers.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "carve/view.h"
#include "evidence/backend.h"

#define GOLDEN "tests/golden"
#define FAILURES_MAX 300 /* allocations of a check that are made to fail */

extern void *__libc_malloc(size_t len);
extern void *__libc_calloc(size_t count, size_t len);
extern void *__libc_realloc(void *old, size_t len);

static bool counting;
static unsigned seen,
	fail_at; /* allocations of the check; the one that fails, from 1 on; 0: none */

static bool fails(void)
{
	if (!counting || ++seen != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t len)
{
	return fails() ? NULL : __libc_malloc(len);
}

void *calloc(size_t count, size_t len)
{
	return fails() ? NULL : __libc_calloc(count, len);
}

void *realloc(void *old, size_t len)
{
	return fails() ? NULL : __libc_realloc(old, len);
}

static uint8_t *content;
static size_t content_len;

static int read_content(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	(void)image;
	memcpy(buffer, content + offset, len);
	return 0;
}

static const struct image_backend backend = { .name = "memory", .read_at = read_content };

/* What a check came to, in memory that processes share. */
struct result {
	bool ended, no_memory;
	enum verdict verdict;
	unsigned allocations;
	struct finding finding;
};

static struct result *result;

static void check(const struct carver *carver)
{
	struct image image = { .backend = &backend,
		.info = { .format = "raw", .size = content_len, .sector_size = 512 },
		.read_unit = 512 };
	struct view *view = view_new();
	struct finding finding = { 0 };

	view_point(view, &image, 0, content_len);
	seen = 0;
	counting = true;
	result->verdict = carver->check(view, &finding);
	counting = false;
	result->allocations = seen;
	result->finding = finding;
	result->no_memory = view_lacked_memory(view);
	result->ended = true;
	view_free(view);
}

/* Returns the exit status of wait. */
static int check_apart(const struct carver *carver, unsigned failing)
{
	int status = 0;
	pid_t pid;

	memset(result, 0, sizeof(*result));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(99);
		fail_at = failing;
		check(carver);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	return status;
}

static const char *const verdicts[] = { "reject", "complete", "truncated", "unverified" };

static bool same(const struct result *a, const struct result *b)
{
	return a->verdict == b->verdict && a->finding.length == b->finding.length &&
	       a->finding.time == b->finding.time &&
	       strcmp(a->finding.title, b->finding.title) == 0 &&
	       strcmp(a->finding.why, b->finding.why) == 0;
}

/* Whether the result with a failure may be as it is. */
static bool is_right(int status, const struct result *wanted)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_IO)
		return true;
	if (!WIFEXITED(status) || WEXITSTATUS(status) || !result->ended)
		return false;
	return result->no_memory || same(result, wanted);
}

static void describe(const char *path, unsigned failing, int status, const struct result *wanted)
{
	if (WIFEXITED(status) && result->ended)
		printf("  %s, allocation %u of %u: %s instead of %s (%s)\n", path, failing,
			wanted->allocations, verdicts[result->verdict], verdicts[wanted->verdict],
			result->finding.why);
	else
		printf("  %s, allocation %u of %u: status %#x\n", path, failing,
			wanted->allocations, (unsigned)status);
}

/* Returns how many failures had a wrong result. */
static unsigned check_file(
	const struct carver *carver, const char *path, unsigned *tried, bool verbose)
{
	unsigned wrong = 0;
	struct result wanted;
	int status = check_apart(carver, 0);

	if (status) {
		printf("  %s: status %#x with enough memory\n", path, (unsigned)status);
		return 1;
	}
	wanted = *result;
	for (unsigned n = 1; n <= wanted.allocations && n <= FAILURES_MAX; n++, ++*tried) {
		status = check_apart(carver, n);
		if (is_right(status, &wanted))
			continue;
		if (!wrong || verbose)
			describe(path, n, status, &wanted);
		wrong++;
	}
	return wrong;
}

static bool load(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		return false;
	content_len = fread(content, 1, (size_t)16 << 20, file);
	fclose(file);
	return content_len > 0;
}

static bool check_carver(const struct carver *carver, bool verbose)
{
	unsigned wrong = 0, tried = 0;
	char folder[300], path[600];
	struct dirent **entries;
	int count;

	snprintf(folder, sizeof(folder), GOLDEN "/%s", carver->name);
	count = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *end = strrchr(entries[i]->d_name, '.');

		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' && end && strcmp(end, ".expected") != 0 &&
			load(path))
			wrong += check_file(carver, path, &tried, verbose);
	}
	if (wrong)
		printf("FAILED  %s: %u of %u failed allocations changed the result\n", carver->name,
			wrong, tried);
	else if (tried)
		printf("ok      %s: %u failed allocations\n", carver->name, tried);
	return !wrong;
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	unsigned passed = 0, failed = 0;

	content = malloc((size_t)16 << 20);
	result = mmap(
		NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!content || result == MAP_FAILED)
		return 1;
	for (size_t i = 0; carvers[i]; i++) {
		bool wanted = argc == 1 + verbose;

		for (int arg = 1 + verbose; arg < argc; arg++)
			wanted |= strcmp(argv[arg], carvers[i]->name) == 0;
		if (!wanted)
			continue;
		if (check_carver(carvers[i], verbose))
			passed++;
		else
			failed++;
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
