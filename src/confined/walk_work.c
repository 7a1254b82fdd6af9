/* The other end is evidence/walk_process.c. */
#include "confined/walk_work.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "confined/tsk_walk.h"

/* libtsk can be made to wait for itself. At this interval the process checks whether it has slept, though
 * it requested nothing; after this many times it will never wake up. */
#define CHECK_USECONDS 200000
#define CHECKS_ASLEEP 3
/* What the check itself takes, and more. */
#define ASLEEP_NSECONDS 10000000

struct walk_job {
	struct walk_host host; /* first: the host's pointer is ours */
	char unsent[WALK_BUFFER_LEN];
	size_t unsent_len;
};

/* It waits for the parent, which may be busy, and the evidence slow. */
static volatile sig_atomic_t waiting;

static bool flush(struct walk_job *job)
{
	bool sent;

	waiting = true;
	sent = sandbox_send(SANDBOX_FD, job->unsent, job->unsent_len);
	waiting = false;
	job->unsent_len = 0;
	return sent;
}

static bool queue_message(struct walk_job *job, uint32_t kind, const void *bytes, size_t len)
{
	struct walk_head message = { kind, (uint32_t)len };

	if (job->unsent_len + sizeof(message) + len > sizeof(job->unsent) && !flush(job))
		return false;
	memcpy(job->unsent + job->unsent_len, &message, sizeof(message));
	job->unsent_len += sizeof(message);
	if (len)
		memcpy(job->unsent + job->unsent_len, bytes, len);
	job->unsent_len += len;
	return true;
}

/* Opened while it can be; -1: it can't. */
static int schedstat_fd;

/* Nanoseconds that this process has run, or was ready to run; 0 where the kernel does not report
 * them. */
static uint64_t time_awake(void)
{
	char text[128], *end;
	ssize_t len = pread(schedstat_fd, text, sizeof(text) - 1, 0);
	uint64_t ran;

	if (len <= 0)
		return 0;
	text[len] = '\0';
	ran = strtoull(text, &end, 10);
	return ran + strtoull(end, NULL, 10);
}

static void check_progress(int signal_number)
{
	static uint64_t before;
	static int asleep;
	uint64_t now = time_awake();

	asleep = now && !waiting && now - before < ASLEEP_NSECONDS ? asleep + 1 : 0;
	before = now;
	if (asleep < CHECKS_ASLEEP)
		return;
	signal(signal_number, SIG_DFL);
	raise(signal_number); /* once the handler has returned */
}

static void watch_for_deadlock(void)
{
	const struct sigaction action = { .sa_handler = check_progress, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, CHECK_USECONDS }, { 0, CHECK_USECONDS } };

	schedstat_fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static bool request_read(struct walk_host *host, uint64_t offset, void *buffer, size_t len)
{
	struct walk_job *job = (struct walk_job *)host;
	struct walk_read request = { offset, len };
	bool good;

	if (!queue_message(job, WALK_READ_REQUEST, &request, sizeof(request)) || !flush(job))
		return false;
	waiting = true;
	good = sandbox_receive(SANDBOX_FD, buffer, len);
	waiting = false;
	return good;
}

/* Reports are small: WALK_RANGES_MAX ranges are the largest. */
static bool report(struct walk_host *host, enum walk_message what, const void *bytes, size_t len)
{
	return queue_message((struct walk_job *)host, what, bytes, len);
}

static void walk(struct walk_job *job, enum evidence_work work, const struct volume *volume)
{
	if (work == EVIDENCE_LIST_VOLUMES)
		walk_list(&job->host);
	else if (work == EVIDENCE_WALK_ALLOCATION)
		walk_allocation(&job->host, volume);
	else if (work == EVIDENCE_WALK_FILES)
		walk_files(&job->host, volume);
	else
		walk_streams(&job->host, volume);
}

/* For the first walk and all that follow. */
static void prepare(const struct evidence_job *given)
{
	/* Some file systems store local times. The result must not depend on this machine's zone. */
	setenv("TZ", "UTC0", 1);
	tzset();
	sandbox_limit(&(struct sandbox_limits){ .memory = given->limits.memory });
	watch_for_deadlock();
	confine(&(struct confine_rights){ 0 });
}

bool walk_work(const struct evidence_job *given, const struct volume *volume)
{
	struct walk_job *job = xcalloc(1, sizeof(*job));
	static bool prepared;
	bool done;

	job->host = (struct walk_host){ .size = given->size,
		.sector_size = given->sector_size,
		.read = request_read,
		.report = report };
	if (!prepared)
		prepare(given);
	prepared = true;
	waiting = false;
	sandbox_allow_time(given->limits.cpu_seconds);
	walk(job, given->work, volume);
	done = queue_message(job, WALK_DONE, NULL, 0) && flush(job);
	waiting = true; /* for the next job */
	free(job);
	return done;
}
