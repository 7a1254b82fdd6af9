/*
 * The child sends messages, a head and the bytes that follow, to request bytes and to report what
 * it found. Both ends combine small ones. The child is trusted as little as the evidence: lengths
 * and offsets are checked here, the meaning by the receiver.
 */
#include "evidence/walk_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sandbox.h"

#define READ_MAX ((uint64_t)1 << 20)
#define READ_REQUEST 0x100 /* a kind of message besides enum walk_message: the child wants bytes */
#define POLL_MS 100
/* For combining messages at either end: there are several for each file. */
#define BUFFER_LEN 65536

/* A few bytes can put libtsk into an endless loop. Millions of files take minutes, and are on large
 * images. */
#define CPU_SECONDS_MIN 1
#define CPU_SECONDS_MAX 600
#define BYTES_PER_CPU_SECOND ((uint64_t)64 << 20)
#define MEMORY_MAX ((uint64_t)1 << 30)
/* libtsk can also be made to wait for itself. At this interval the child checks whether it has
 * slept, though it requested nothing; after this many times it will never wake up. */
#define CHECK_USECONDS 200000
#define CHECKS_ASLEEP 3
/* What the check itself takes, and more. */
#define ASLEEP_NSECONDS 10000000

struct message {
	uint32_t kind, len; /* len: bytes that follow */
};

struct request {
	uint64_t offset, len;
};

/* The child's state. */
struct walk_job {
	struct walk_host host; /* first: the host's pointer is ours */
	const struct walk_process *process;
	int fd;
	char unsent[BUFFER_LEN];
	size_t unsent_len;
};

/* The parent's state. */
struct listener {
	const struct walk_process *process;
	struct walk_end *end;
	bool refused;            /* one of its messages was not accepted */
	char buffer[BUFFER_LEN]; /* what came with an earlier message */
	size_t buffer_at, buffer_len;
	_Alignas(16) char bytes[READ_MAX];
};

/* ---- in the child -------------------------------------------------------------------------- */

/* It waits for the parent, which may be busy, and the evidence slow. */
static volatile sig_atomic_t waiting;

static bool flush(struct walk_job *job)
{
	bool sent;

	waiting = true;
	sent = sandbox_send(job->fd, job->unsent, job->unsent_len);
	waiting = false;
	job->unsent_len = 0;
	return sent;
}

static bool queue_message(struct walk_job *job, uint32_t kind, const void *bytes, size_t len)
{
	struct message message = { kind, (uint32_t)len };

	if (job->unsent_len + sizeof(message) + len > sizeof(job->unsent) && !flush(job))
		return false;
	memcpy(job->unsent + job->unsent_len, &message, sizeof(message));
	job->unsent_len += sizeof(message);
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
	struct request request = { offset, len };
	bool good;

	if (!queue_message(job, READ_REQUEST, &request, sizeof(request)) || !flush(job))
		return false;
	waiting = true;
	good = sandbox_receive(job->fd, buffer, len);
	waiting = false;
	return good;
}

/* Reports are small: WALK_RANGES_MAX ranges are the largest. */
static bool report(struct walk_host *host, enum walk_message what, const void *bytes, size_t len)
{
	return queue_message((struct walk_job *)host, what, bytes, len);
}

static int work(int fd, void *arg)
{
	struct walk_job *job = arg;

	job->fd = fd;
	/* Some file systems store local times. The result must not depend on this machine's zone. */
	setenv("TZ", "UTC0", 1);
	tzset();
	watch_for_deadlock();
	confine(&(struct confine_rights){ 0 });
	job->process->walk(&job->host, job->process->volume);
	return flush(job) ? 0 : 1;
}

/* ---- in this process ----------------------------------------------------------------------- */

static void set_problem(struct listener *listener, const char *text)
{
	snprintf(listener->end->problem, sizeof(listener->end->problem), "%s", text);
}

static bool serve(struct listener *listener, int fd, size_t len)
{
	struct image *image = listener->process->image;
	uint64_t size = image_info(image)->size;
	struct request request;

	if (len != sizeof(request))
		return false;
	memcpy(&request, listener->bytes, sizeof(request));
	if (request.len > READ_MAX || request.offset > size || request.len > size - request.offset)
		return false;
	image_read_around(image, request.offset, listener->bytes, (size_t)request.len);
	return sandbox_send(fd, listener->bytes, (size_t)request.len);
}

static bool handle_message(struct listener *listener, int fd, uint32_t kind, size_t len)
{
	const struct walk_process *process = listener->process;

	if (kind == READ_REQUEST)
		return serve(listener, fd, len);
	if (kind != WALK_PROBLEM)
		return process->on_message(
			process->context, (enum walk_message)kind, listener->bytes, len);
	snprintf(listener->end->problem, sizeof(listener->end->problem), "%.*s", (int)len,
		listener->bytes);
	return true;
}

/* Waits for the child's next message. False: the run is being interrupted. */
static bool await_message(struct listener *listener, int fd)
{
	bool (*interrupted)(void) = listener->process->interrupted;
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while (!interrupted || !interrupted())
		if (poll(&wait, 1, POLL_MS) > 0)
			return true;
	set_problem(listener, "interrupted");
	return false;
}

/* Receives all of len bytes; false at the end of the child's messages. */
static bool receive(struct listener *listener, int fd, void *bytes, size_t len)
{
	char *to = bytes;

	while (len) {
		size_t ready = listener->buffer_len - listener->buffer_at;
		size_t part_len = ready < len ? ready : len;
		ssize_t n;

		memcpy(to, listener->buffer + listener->buffer_at, part_len);
		listener->buffer_at += part_len;
		to += part_len;
		len -= part_len;
		if (!len)
			break;
		if (!await_message(listener, fd))
			return false;
		n = recv(fd, listener->buffer, sizeof(listener->buffer), 0);
		if (n <= 0)
			return false;
		listener->buffer_at = 0;
		listener->buffer_len = (size_t)n;
	}
	return true;
}

/* Until the child has sent everything. */
static void receive_messages(struct listener *listener, int fd)
{
	struct message message;

	while (receive(listener, fd, &message, sizeof(message))) {
		if (message.len > sizeof(listener->bytes) ||
			!receive(listener, fd, listener->bytes, message.len))
			return;
		if (!handle_message(listener, fd, message.kind, message.len)) {
			listener->refused = true;
			if (!*listener->end->problem)
				set_problem(listener, "it has more than burin keeps in memory");
			return;
		}
	}
}

static struct sandbox_limits limits_for(uint64_t size)
{
	uint64_t seconds = CPU_SECONDS_MIN + size / BYTES_PER_CPU_SECOND;

	return (struct sandbox_limits){
		.cpu_seconds = seconds < CPU_SECONDS_MAX ? (unsigned)seconds : CPU_SECONDS_MAX,
		.memory = MEMORY_MAX,
	};
}

static int start_child(struct sandbox_child **child, const struct walk_process *process)
{
	const struct image_info *info = image_info(process->image);
	struct sandbox_limits limits = limits_for(info->size);
	struct walk_job *job = xcalloc(1, sizeof(*job));
	int status;

	job->host = (struct walk_host){ .size = info->size,
		.sector_size = info->sector_size,
		.read = request_read,
		.report = report };
	job->process = process;
	status = sandbox_start(child, work, job, &limits);
	free(job);
	return status;
}

void walk_process_run(const struct walk_process *process, struct walk_end *end)
{
	struct listener *listener;
	struct sandbox_child *child;
	int status;
	char *how;

	*end = (struct walk_end){ 0 };
	status = start_child(&child, process);
	if (status) {
		snprintf(end->problem, sizeof(end->problem), "no process could be started: %s",
			strerror(-status));
		return;
	}
	listener = xcalloc(1, sizeof(*listener));
	listener->process = process;
	listener->end = end;
	receive_messages(listener, sandbox_socket(child));
	how = sandbox_end(child);
	end->died = how && !listener->refused;
	if (how && !*end->problem)
		set_problem(listener, how);
	free(how);
	free(listener);
}
