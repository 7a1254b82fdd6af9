/*
 * A burin-evidence that an image has taken over: in place of the list of volumes it does what the image says
 * in its first sector, a line: "try PATH" tries all of attempts.h on the file, and reports what worked;
 * "volumes" reports more of them when only the allocation of one is to be reported, and "falling" what is in
 * use from its end to its beginning; others make it crash, hang, or use up memory. For tests/cli/hijacked.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "attempts.h"
#include "confined/tsk_walk.h"

#define BESIDE ".beside"
/* Enough that burin would have to move those that it has. */
#define MORE_VOLUMES 1000

static bool is_falling;

static void report_problem(struct walk_host *host, const char *text)
{
	host->report(host, WALK_PROBLEM, text, strlen(text));
}

/* Not devices and the like: with --sandbox=off the attempts work. Where it is confined it can't see what it is. */
static bool may_be_tried(const char *path)
{
	struct stat status;

	return lstat(path, &status) != 0 || S_ISREG(status.st_mode);
}

static void try_all(struct walk_host *host, const char *path)
{
	static char beside[600], text[400] = "worked:";

	if (!may_be_tried(path)) {
		report_problem(host, "not a file");
		return;
	}
	snprintf(beside, sizeof(beside), "%s" BESIDE, path);
	victim.path = path;
	victim.beside = beside;
	victim.port = htons(9);
	victim.other = getppid();
	/* Never a descriptor that is open already: /dev/null's mode would be changed. */
	victim.fd = open(path, O_RDONLY);
	for (size_t i = 0; i < ATTEMPTS; i++)
		if (attempts[i].attempt()) {
			strncat(text, " ", sizeof(text) - strlen(text) - 1);
			strncat(text, attempts[i].name, sizeof(text) - strlen(text) - 1);
		}
	report_problem(host, strcmp(text, "worked:") ? text : "nothing worked");
}

static void use_memory(void)
{
	while (malloc(1 << 20))
		;
}

static void report_volume(struct walk_host *host)
{
	const struct volume volume = {
		.length = host->size, .kind = VOLUME_WHOLE, .type = 1, .file_system = "ntfs"
	};

	host->report(host, WALK_VOLUME, &volume, sizeof(volume));
}

void walk_list(struct walk_host *host)
{
	char line[513] = "";

	host->read(host, 0, line, sizeof(line) - 1);
	line[strcspn(line, "\n")] = 0;
	if (!strncmp(line, "try ", 4))
		try_all(host, line + 4);
	else if (!strcmp(line, "volumes") || (is_falling = !strcmp(line, "falling")))
		report_volume(host);
	else if (!strcmp(line, "crash"))
		raise(SIGSEGV);
	else if (!strcmp(line, "hang"))
		for (;;)
			sleep(1000);
	else if (!strcmp(line, "spin"))
		for (volatile unsigned i = 0;; i++)
			;
	else if (!strcmp(line, "eat")) {
		use_memory();
		report_problem(host, "no memory");
	}
}

/* Every other byte. */
static void report_falling(struct walk_host *host)
{
	static struct range ranges[WALK_RANGES_MAX];
	uint64_t end = host->size;

	while (end >= 2 * WALK_RANGES_MAX) {
		for (size_t i = 0; i < WALK_RANGES_MAX; i++)
			ranges[i] = (struct range){ end -= 2, 1 };
		host->report(host, WALK_IN_USE, ranges, sizeof(ranges));
	}
}

void walk_allocation(struct walk_host *host, const struct volume *volume)
{
	(void)volume;
	if (is_falling) {
		report_falling(host);
		return;
	}
	for (unsigned i = 0; i < MORE_VOLUMES; i++)
		report_volume(host);
}

void walk_files(struct walk_host *host, const struct volume *volume)
{
	(void)host;
	(void)volume;
}

void walk_streams(struct walk_host *host, const struct volume *volume)
{
	(void)host;
	(void)volume;
}
