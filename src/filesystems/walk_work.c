/* The other end is evidence/walk_process.c. */
#include "filesystems/walk_work.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "filesystems/tsk_walk.h"
#include "evidence/shared_image.h"

/* libtsk can be made to wait for itself. At this interval the process checks whether it has slept, though
 * it requested nothing; after this many times it will never wake up. */
#define CHECK_USECONDS 200000
#define CHECKS_ASLEEP 3
/* What the check itself takes, and more. */
#define ASLEEP_NSECONDS 10000000

static struct {
	struct image *image; /* of this walk and all that follow */
	char unsent[WALK_BUFFER_LEN];
	size_t unsent_len;
} walker;

/* It waits for the parent, which may be busy, or for the evidence, which may be slow. */
static volatile sig_atomic_t waiting;

static bool flush(void)
{
	bool was_waiting = waiting, sent;

	waiting = true;
	sent = sandbox_send(SANDBOX_FD, walker.unsent, walker.unsent_len);
	waiting = was_waiting;
	walker.unsent_len = 0;
	return sent;
}

static bool queue_message(uint32_t kind, const void *bytes, size_t len)
{
	struct walk_head message = { kind, (uint32_t)len };

	if (walker.unsent_len + sizeof(message) + len > sizeof(walker.unsent) && !flush())
		return false;
	memcpy(walker.unsent + walker.unsent_len, &message, sizeof(message));
	walker.unsent_len += sizeof(message);
	if (len)
		memcpy(walker.unsent + walker.unsent_len, bytes, len);
	walker.unsent_len += len;
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

/* When burin is gone, so is the work. Zeros are in the place of what can't be read. */
static int request_read(uint64_t offset, void *buffer, size_t len)
{
	struct walk_read request = { offset, len };

	if (!queue_message(WALK_READ_REQUEST, &request, sizeof(request)) || !flush() ||
		!sandbox_receive(SANDBOX_FD, buffer, len))
		_exit(EXIT_FAILURE);
	return 0;
}

static bool read_image(struct walk_host *host, uint64_t offset, void *buffer, size_t len)
{
	(void)host;
	waiting = true;
	image_read_around(walker.image, offset, buffer, len);
	waiting = false;
	return true;
}

/* Reports are small: WALK_RANGES_MAX ranges are the largest. */
static bool report(struct walk_host *host, enum walk_message what, const void *bytes, size_t len)
{
	(void)host;
	return queue_message(what, bytes, len);
}

static void walk(struct walk_host *host, enum evidence_work work, const struct volume *volume)
{
	if (work == EVIDENCE_LIST_VOLUMES)
		walk_list(host);
	else if (work == EVIDENCE_WALK_ALLOCATION)
		walk_allocation(host, volume);
	else if (work == EVIDENCE_WALK_FILES)
		walk_files(host, volume);
	else
		walk_streams(host, volume);
}

static struct image *receive_image(void)
{
	size_t count = SANDBOX_DESCRIPTORS;
	int descriptors[SANDBOX_DESCRIPTORS];
	struct codec_reader reader;
	struct image *image;
	uint64_t len;
	void *saved;

	if (!sandbox_receive_descriptors(SANDBOX_FD, descriptors, &count) ||
		!sandbox_receive(SANDBOX_FD, &len, sizeof(len)))
		_exit(EXIT_FAILURE);
	saved = xmalloc(len);
	if (!sandbox_receive(SANDBOX_FD, saved, len))
		_exit(EXIT_FAILURE);
	reader = codec_reader_from(saved, len);
	image = shared_image_open(&reader, descriptors, count, request_read, NULL);
	if (!image || !codec_at_end(&reader))
		_exit(EXIT_FAILURE);
	free(saved);
	return image;
}

/* For the first walk and all that follow. */
static void prepare(const struct evidence_job *given)
{
	walker.image = receive_image();
	/* Some file systems store local times. The result must not depend on this machine's zone. */
	setenv("TZ", "UTC0", 1);
	tzset();
	sandbox_limit(&(struct sandbox_limits){ .memory = given->limits.memory });
	watch_for_deadlock();
	confine(&(struct confine_rights){ 0 });
}

bool walk_work(const struct evidence_job *given, const struct volume *volume)
{
	struct walk_host host = { .size = given->size,
		.sector_size = given->sector_size,
		.read = read_image,
		.report = report };
	bool done;

	if (!walker.image)
		prepare(given);
	waiting = false;
	sandbox_allow_time(given->limits.cpu_seconds);
	walk(&host, given->work, volume);
	done = queue_message(WALK_DONE, NULL, 0) && flush();
	waiting = true; /* for the next job */
	return done;
}
