/*
 * A burin-carver that a candidate has taken over: its carver of GIF does what the file says after its magic, a
 * line: "try PATH" tries all of attempts.h on that file, and the title is what worked; others make it crash, hang,
 * use up memory, or tell burin what is not so. For tests/cli/hijacked_carver.sh.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attempts.h"
#include "base/sandbox.h"
#include "carve/check_limits.h"
#include "carve/check_messages.h"
#include "carvers/carver.h"
#include "checker/checker.h"

#define MAGIC_LEN 6
#define LINE_MAX_LEN 200
#define BESIDE ".beside"
/* Not before its pieces are put together. */
#define IN_PIECES "in pieces "

static void try_all(const char *path, struct finding *finding)
{
	static char beside[600];
	struct stat status;

	/* Not devices and the like: with --sandbox=off the attempts work. */
	if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return;
	snprintf(beside, sizeof(beside), "%s" BESIDE, path);
	victim.path = path;
	victim.beside = beside;
	victim.port = htons(9);
	victim.other = getppid();
	/* Of the image: a descriptor that it has. */
	victim.fd = SANDBOX_SHARED_FD + 1;
	snprintf(finding->title, sizeof(finding->title), "nothing worked");
	for (size_t i = 0; i < ATTEMPTS; i++)
		if (attempts[i].attempt())
			snprintf(finding->title, sizeof(finding->title), "worked: %s",
				attempts[i].name);
}

static void use_memory(struct view *view)
{
	while (malloc(1 << 20))
		;
	view_no_memory(view);
}

static void say(uint32_t kind, const void *body, uint32_t len)
{
	const uint32_t head[] = { kind, len };

	sandbox_send(SANDBOX_FD, head, sizeof(head));
	sandbox_send(SANDBOX_FD, body, len);
}

/* It claims more and more work. */
static void claim(void)
{
	struct check_shared *shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, SANDBOX_SHARED_FD, 0);

	for (uint64_t work = 0;; work += 1000)
		atomic_store(&shared->work, work);
}

/* All checks are deferred, also those that nothing can be deferred for. */
static void put_off(void)
{
	static const uint8_t deferred[] = { 0, 1 };
	char request[4096];

	do
		say(CHECK_OUTCOMES, deferred, sizeof(deferred));
	while (recv(SANDBOX_FD, request, sizeof(request), 0) > 0);
	_exit(0);
}

/* Outcomes of no check, for ever. */
static void hum(void)
{
	for (;;)
		say(CHECK_OUTCOMES, NULL, 0);
}

/* An outcome of one check: not deferred; complete; far longer than the image. */
static void lie(void)
{
	static const uint8_t outcome[] = { 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0 };

	say(CHECK_OUTCOMES, outcome, sizeof(outcome));
	for (;;)
		pause();
}

/* A file in pieces that is longer than the image. */
static void forge(void)
{
	static const uint8_t file[] = { 1, 1, 1, 0, 0xff, 0xff, 0xff, 0x7f };

	say(CHECK_FOUND, file, sizeof(file));
	for (;;)
		pause();
}

static void obey(struct view *view, const char *line)
{
	volatile uint8_t *nowhere = NULL;

	if (!strcmp(line, "crash"))
		*nowhere = 0;
	else if (!strcmp(line, "abort"))
		abort();
	else if (!strcmp(line, "leave"))
		_exit(0);
	else if (!strcmp(line, "eat"))
		use_memory(view);
	else if (!strcmp(line, "lie"))
		lie();
	else if (!strcmp(line, "forge"))
		forge();
	else if (!strcmp(line, "babble"))
		say(99, line, 4);
	else if (!strcmp(line, "beg"))
		say(CHECK_NO_MEMORY, NULL, 0);
	else if (!strcmp(line, "put off"))
		put_off();
	else if (!strcmp(line, "hum"))
		hum();
	else if (!strcmp(line, "claim"))
		claim();
	else if (!strcmp(line, "sleep"))
		for (;;)
			usleep(100000);
	else if (!strcmp(line, "hang"))
		for (;;)
			;
}

static enum verdict hijacked_check(struct view *view, struct finding *finding)
{
	char line[LINE_MAX_LEN + 1] = "";
	const uint8_t *bytes = view_peek(view, MAGIC_LEN, LINE_MAX_LEN);

	if (!bytes)
		return verdict_because(CARVE_REJECT, finding, "too short");
	memcpy(line, bytes, LINE_MAX_LEN);
	line[strcspn(line, "\n")] = 0;
	finding->length = LINE_MAX_LEN;
	if (!strncmp(line, IN_PIECES, sizeof(IN_PIECES) - 1)) {
		if (checker.threads)
			obey(view, line + sizeof(IN_PIECES) - 1);
		return verdict_because(CARVE_TRUNCATED, finding, "it is in pieces");
	}
	if (!strncmp(line, "try ", 4))
		try_all(line + 4, finding);
	else
		obey(view, line);
	return verdict_because(CARVE_UNVERIFIED, finding, "it does as it was told");
}

const struct carver gif_carver = {
	.name = "gif",
	.summary = "does what the file says",
	.check = hijacked_check,
};
