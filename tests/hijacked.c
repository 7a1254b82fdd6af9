/*
 * A burin-evidence that an image has taken over: in place of the list of volumes it does what the image says
 * in its first sector, a line: "try PATH" tries all of attempts.h on the file, and reports what worked;
 * others make it crash, hang, or use up memory. For tests/cli/hijacked.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "attempts.h"
#include "confined/tsk_walk.h"

#define BESIDE ".beside"

static void report_problem(struct walk_host *host, const char *text)
{
	host->report(host, WALK_PROBLEM, text, strlen(text));
}

static void try_all(struct walk_host *host, const char *path)
{
	static char beside[600], text[400] = "worked:";

	snprintf(beside, sizeof(beside), "%s" BESIDE, path);
	victim.path = path;
	victim.beside = beside;
	victim.port = htons(9);
	victim.other = getppid();
	/* Never a descriptor that is open already: with --sandbox=off the attempts work, and /dev/null's
	 * mode would be changed. */
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

void walk_list(struct walk_host *host)
{
	char line[513] = "";

	host->read(host, 0, line, sizeof(line) - 1);
	line[strcspn(line, "\n")] = 0;
	if (!strncmp(line, "try ", 4))
		try_all(host, line + 4);
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
