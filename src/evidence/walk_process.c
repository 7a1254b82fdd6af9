/*
 * The child asks and tells in messages: a head, and so many bytes behind it. Both ends gather small
 * ones. What it says of itself is believed as little as the evidence: lengths and places are
 * checked here, the meaning by whoever takes it.
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
#include <unistd.h>

#include "base/memory.h"
#include "base/sandbox.h"

#define READ_MAX ((uint64_t)1 << 20)
#define ASKS_READ 0x100 /* a kind of message beside enum told: the child wants bytes */
#define POLL_MS 100
/* Of what either end gathers: there are some messages for each file. */
#define BUFFER_LEN 65536

/* libtsk can be made to go round for ever by a few bytes. Millions of files take minutes, and lie
 * in large images. */
#define CPU_SECONDS_LEAST 1
#define CPU_SECONDS_MOST 600
#define BYTES_PER_CPU_SECOND ((uint64_t)64 << 20)
#define MEMORY_MAX ((uint64_t)1 << 30)
/* libtsk can also be made to wait for itself. So often it is looked at whether the child sleeps,
 * though it has asked for nothing; after so many times it never wakes up again. */
#define LOOK_USECONDS 200000
#define LOOKS_ASLEEP 3
/* What the look itself takes, and more. */
#define ASLEEP_NSECONDS 10000000

struct message {
	uint32_t kind, len; /* len: bytes that follow */
};

struct request {
	uint64_t offset, len;
};

/* What the child works with. */
struct job {
	struct walk_host host; /* first: the host's pointer is ours */
	const struct walk_process *process;
	int fd;
	char unsent[BUFFER_LEN];
	size_t unsent_len;
};

/* The child, as this process hears it. */
struct hearing {
	const struct walk_process *process;
	struct walk_end *end;
	bool refused;           /* something that it said was not taken */
	char ahead[BUFFER_LEN]; /* what came with an earlier message */
	size_t ahead_at, ahead_len;
	_Alignas(16) char bytes[READ_MAX];
};

/* ---- in the child -------------------------------------------------------------------------- */

/* It waits for the parent, who may be busy, and the evidence slow. */
static volatile sig_atomic_t asking;

static bool flush(struct job *job)
{
	bool sent;

	asking = true;
	sent = sandbox_send(job->fd, job->unsent, job->unsent_len);
	asking = false;
	job->unsent_len = 0;
	return sent;
}

static bool say(struct job *job, uint32_t kind, const void *bytes, size_t len)
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

/* Nanoseconds that this process has run, or was ready to run while others did; 0 where the kernel
 * doesn't tell. */
static uint64_t awake(void)
{
	int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	char text[128], *end;
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	uint64_t ran;

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	ran = strtoull(text, &end, 10);
	return ran + strtoull(end, NULL, 10);
}

static void look(int signal_number)
{
	static uint64_t before;
	static int asleep;
	uint64_t now = awake();

	asleep = now && !asking && now - before < ASLEEP_NSECONDS ? asleep + 1 : 0;
	before = now;
	if (asleep < LOOKS_ASLEEP)
		return;
	signal(signal_number, SIG_DFL);
	kill(getpid(), signal_number);
}

static void look_now_and_then(void)
{
	const struct sigaction action = { .sa_handler = look, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, LOOK_USECONDS }, { 0, LOOK_USECONDS } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static bool ask(struct walk_host *host, uint64_t offset, void *buffer, size_t len)
{
	struct job *job = (struct job *)host;
	struct request request = { offset, len };
	bool good;

	if (!say(job, ASKS_READ, &request, sizeof(request)) || !flush(job))
		return false;
	asking = true;
	good = sandbox_receive(job->fd, buffer, len);
	asking = false;
	return good;
}

/* What is told is small: TOLD_RANGES ranges are the largest. */
static bool pass_on(struct walk_host *host, enum told what, const void *bytes, size_t len)
{
	return say((struct job *)host, what, bytes, len);
}

static int work(int fd, void *arg)
{
	struct job *job = arg;

	job->fd = fd;
	look_now_and_then();
	job->process->walk(&job->host, job->process->volume);
	return flush(job) ? 0 : 1;
}

/* ---- in this process ----------------------------------------------------------------------- */

static void set_problem(struct hearing *hearing, const char *text)
{
	snprintf(hearing->end->problem, sizeof(hearing->end->problem), "%s", text);
}

static bool serve(struct hearing *hearing, int fd, size_t len)
{
	struct image *image = hearing->process->image;
	uint64_t size = image_info(image)->size;
	struct request request;

	if (len != sizeof(request))
		return false;
	memcpy(&request, hearing->bytes, sizeof(request));
	if (request.len > READ_MAX || request.offset > size || request.len > size - request.offset)
		return false;
	image_read_around(image, request.offset, hearing->bytes, (size_t)request.len);
	return sandbox_send(fd, hearing->bytes, (size_t)request.len);
}

static bool take(struct hearing *hearing, int fd, uint32_t kind, size_t len)
{
	const struct walk_process *process = hearing->process;

	if (kind == ASKS_READ)
		return serve(hearing, fd, len);
	if (kind != TOLD_PROBLEM)
		return process->take(process->context, (enum told)kind, hearing->bytes, len);
	snprintf(hearing->end->problem, sizeof(hearing->end->problem), "%.*s", (int)len,
		hearing->bytes);
	return true;
}

/* Waits for the child's next word. False: somebody wants to end the run. */
static bool listen_for(struct hearing *hearing, int fd)
{
	bool (*interrupted)(void) = hearing->process->interrupted;
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while (!interrupted || !interrupted())
		if (poll(&wait, 1, POLL_MS) > 0)
			return true;
	set_problem(hearing, "interrupted");
	return false;
}

/* All of len bytes; false at the end of what the child says. */
static bool receive(struct hearing *hearing, int fd, void *bytes, size_t len)
{
	char *to = bytes;

	while (len) {
		size_t ready = hearing->ahead_len - hearing->ahead_at;
		size_t part_len = ready < len ? ready : len;
		ssize_t n;

		memcpy(to, hearing->ahead + hearing->ahead_at, part_len);
		hearing->ahead_at += part_len;
		to += part_len;
		len -= part_len;
		if (!len)
			break;
		if (!listen_for(hearing, fd))
			return false;
		n = recv(fd, hearing->ahead, sizeof(hearing->ahead), 0);
		if (n <= 0)
			return false;
		hearing->ahead_at = 0;
		hearing->ahead_len = (size_t)n;
	}
	return true;
}

/* Until the child has said all. */
static void hear(struct hearing *hearing, int fd)
{
	struct message message;

	while (receive(hearing, fd, &message, sizeof(message))) {
		if (message.len > sizeof(hearing->bytes) ||
			!receive(hearing, fd, hearing->bytes, message.len))
			return;
		if (!take(hearing, fd, message.kind, message.len)) {
			hearing->refused = true;
			if (!*hearing->end->problem)
				set_problem(
					hearing, "there is more of it than burin keeps in memory");
			return;
		}
	}
}

static struct sandbox_limits limits_for(uint64_t size)
{
	uint64_t seconds = CPU_SECONDS_LEAST + size / BYTES_PER_CPU_SECOND;

	return (struct sandbox_limits){
		.cpu_seconds = seconds < CPU_SECONDS_MOST ? (unsigned)seconds : CPU_SECONDS_MOST,
		.memory = MEMORY_MAX,
	};
}

static int start(struct sandbox_child **child, const struct walk_process *process)
{
	const struct image_info *info = image_info(process->image);
	struct sandbox_limits limits = limits_for(info->size);
	struct job *job = xcalloc(1, sizeof(*job));
	int status;

	job->host = (struct walk_host){
		.size = info->size, .sector_size = info->sector_size, .read = ask, .tell = pass_on
	};
	job->process = process;
	status = sandbox_start(child, work, job, &limits);
	free(job);
	return status;
}

void walk_process_run(const struct walk_process *process, struct walk_end *end)
{
	struct hearing *hearing;
	struct sandbox_child *child;
	int status;
	char *how;

	*end = (struct walk_end){ 0 };
	status = start(&child, process);
	if (status) {
		snprintf(end->problem, sizeof(end->problem), "no process for it: %s",
			strerror(-status));
		return;
	}
	hearing = xcalloc(1, sizeof(*hearing));
	hearing->process = process;
	hearing->end = end;
	hear(hearing, sandbox_socket(child));
	how = sandbox_end(child);
	end->died = how && !hearing->refused;
	if (how && !*end->problem)
		set_problem(hearing, how);
	free(how);
	free(hearing);
}
