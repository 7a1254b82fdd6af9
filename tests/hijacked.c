/*
 * A burin-filesystems, and a burin-evidence, that an image has taken over: in place of the list of volumes it does what the image says
 * in its first sector, a line: "try PATH" tries all of attempts.h on the file, and reports what worked;
 * "volumes" reports more of them when only the allocation of one is to be reported, and "falling" what is in
 * use from its end to its beginning, and "slow" reports that all is in use once it gets SIGUSR1; others make it
 * crash, hang, or use up memory. Those from "sleep" on lift the
 * limits of this process first, which whoever took it over could. "open" and "read" sleep while it opens a shadow
 * copy, or reads from it, and "busy" works for ever there. For tests/cli/hijacked.sh.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "attempts.h"
#include "confined/served_work.h"
#include "filesystems/tsk_walk.h"

#define BESIDE ".beside"
/* Enough that burin would have to move those that it has. */
#define MORE_VOLUMES 1000

static bool is_falling, is_slow;
static volatile sig_atomic_t may_go_on;

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

/* It was given that to read it. Never /dev/null's: its mode would be changed. */
static int image_descriptor(void)
{
	struct stat status;
	int fd = SANDBOX_FD + 1;

	while (fd < 64 && (fstat(fd, &status) || !S_ISREG(status.st_mode)))
		fd++;
	return fd < 64 ? fd : -1;
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
	victim.fd = open(path, O_RDONLY);
	if (victim.fd < 0)
		victim.fd = image_descriptor();
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

static void spin(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}

static void lift_limits(void)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_CPU, &none);
	signal(SIGALRM, SIG_IGN);
}

static void sleep_on(void)
{
	for (;;)
		sleep(1000);
}

static void request(uint64_t len)
{
	const struct {
		struct walk_head head;
		struct walk_read request;
	} message = { { WALK_READ_REQUEST, sizeof(struct walk_read) }, { 0, len } };

	sandbox_send(SANDBOX_FD, &message, sizeof(message));
}

/* Something is always answered soon. */
static void trickle(void)
{
	char byte;

	for (;;) {
		request(1);
		sandbox_receive(SANDBOX_FD, &byte, 1);
		usleep(40000);
	}
}

/* Requests more than a socket holds, and receives nothing of it. */
static void be_deaf(void)
{
	request(WALK_READ_MAX);
	sleep_on();
}

static void lift_and_do(const char *line)
{
	lift_limits();
	if (!strcmp(line, "sleep"))
		sleep_on();
	else if (!strcmp(line, "trickle"))
		trickle();
	else if (!strcmp(line, "deaf"))
		be_deaf();
	else if (!strcmp(line, "spin on"))
		spin();
}

void walk_list(struct walk_host *host)
{
	char line[513] = "";

	host->read(host, 0, line, sizeof(line) - 1);
	line[strcspn(line, "\n")] = 0;
	if (!strncmp(line, "try ", 4))
		try_all(host, line + 4);
	else if (!strcmp(line, "volumes") || (is_falling = !strcmp(line, "falling")) ||
		 (is_slow = !strcmp(line, "slow")) || !strcmp(line, "open") ||
		 !strcmp(line, "read") || !strcmp(line, "busy"))
		report_volume(host);
	else if (!strcmp(line, "crash"))
		raise(SIGSEGV);
	else if (!strcmp(line, "hang"))
		sleep_on();
	else if (!strcmp(line, "spin"))
		spin();
	else if (!strcmp(line, "eat")) {
		use_memory();
		report_problem(host, "no memory");
	} else {
		lift_and_do(line);
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

static void go_on(int signal_number)
{
	(void)signal_number;
	may_go_on = true;
}

static void report_slowly(struct walk_host *host)
{
	const struct range all = { 0, host->size };

	signal(SIGUSR1, go_on);
	while (!may_go_on)
		;
	host->report(host, WALK_IN_USE, &all, sizeof(all));
}

void walk_allocation(struct walk_host *host, const struct volume *volume)
{
	(void)volume;
	if (is_slow) {
		report_slowly(host);
		return;
	}
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

static bool is_busy;

static void *shadow_open(struct served *served, void *arg)
{
	char line[5] = "";

	lift_limits();
	served_outer_read(served, 0, line, sizeof(line) - 1);
	if (!strcmp(line, "open"))
		sleep_on();
	is_busy = !strcmp(line, "busy");
	served_set_size(served, 4096, 512);
	return arg;
}

static int shadow_read_at(void *handle, uint64_t offset, void *buffer, size_t len)
{
	(void)handle;
	(void)offset;
	(void)buffer;
	(void)len;
	if (is_busy)
		spin();
	sleep_on();
	return 0;
}

const struct served_kind served_shadow = {
	.name = "shadow",
	.memory = (uint64_t)1 << 30,
	.open = shadow_open,
	.read_at = shadow_read_at,
};

const struct served_kind served_changed = { .name = "shadow changes" };
