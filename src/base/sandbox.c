/*
 * A child that is forked shares the parent's pages and needs no program of its own; one that executes a
 * program has addresses that nobody knows from the parent, and libraries that the parent need not load.
 */
#include "base/sandbox.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

/* Above all that a child keeps. */
#define HIGH_FD 16
/* The child's exit code when it cannot even start its job. */
#define FAILED 1

/* Waiting between two checks of a child, on average. */
#define CHECK_SECONDS 0.1

struct sandbox_child {
	pid_t pid;
	int fd;
	struct sandbox_patience patience;
	bool expected;       /* it has one */
	double cpu_end;      /* of its processor time */
	double until_check;  /* seconds of waiting */
	unsigned sleeps;     /* those that it has left */
	const char *problem; /* why the parent waits no longer; NULL: it does */
};

/* ---- in the child -------------------------------------------------------------------------- */

/* Bytes of writable memory that this process has now. A limit is set above that, because a program
 * with a GPU or a sanitizer has terabytes of addresses. */
static uint64_t data_in_use(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	uint64_t kib = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmData: %" SCNu64, &kib) == 1)
			break;
	if (status)
		fclose(status);
	return kib * 1024;
}

static void lower_limit(int what, uint64_t value)
{
	struct rlimit limits;

	if (getrlimit(what, &limits))
		return;
	limits.rlim_cur = value < limits.rlim_max ? value : limits.rlim_max;
	setrlimit(what, &limits);
}

void sandbox_limit(const struct sandbox_limits *limits)
{
	if (limits->cpu_seconds)
		lower_limit(RLIMIT_CPU, limits->cpu_seconds);
	if (limits->memory)
		lower_limit(RLIMIT_DATA, data_in_use() + limits->memory);
}

void sandbox_allow_time(unsigned seconds)
{
	struct rlimit limit;
	struct rusage used;

	if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &limit))
		return;
	limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds;
	setrlimit(RLIMIT_CPU, &limit);
}

/* Between a fork and the execution of a program only calls like these are allowed. */
static void set_descriptors(int fd, int shared)
{
	int null = open("/dev/null", O_RDWR);

	fd = fcntl(fd, F_DUPFD, HIGH_FD);
	shared = shared < 0 ? -1 : fcntl(shared, F_DUPFD, HIGH_FD);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	if (fd < 0 || dup2(fd, SANDBOX_FD) < 0)
		_exit(FAILED);
	if (shared >= 0)
		dup2(shared, SANDBOX_SHARED_FD);
	close_range(shared >= 0 ? SANDBOX_SHARED_FD + 1 : SANDBOX_FD + 1, ~0u, 0);
}

/* A signal to the group ends the parent, and that ends the child, whose end must not look like a
 * crash. */
static void reset_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE },
			 plain[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGALRM };
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		signal(plain[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What a child is to do: a job, or a program. */
struct work {
	int (*job)(int fd, void *arg);
	void *arg;
	const struct sandbox_limits *limits;
	const char *const *program; /* its arguments, the first is its path; NULL: the job */
	int shared;
};

static _Noreturn void run_child(const struct work *work, int fd)
{
	static char *const no_environment[] = { NULL };

	reset_signals();
	set_descriptors(fd, work->shared);
	if (work->program) {
		execve(work->program[0], (char *const *)work->program, no_environment);
		_exit(FAILED);
	}
	clearenv();
	sandbox_limit(work->limits);
	_exit(work->job(SANDBOX_FD, work->arg));
}

/* ---- in the parent ------------------------------------------------------------------------- */

static int start(struct sandbox_child **child, const struct work *work)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	/* One that executes a program needs no copy of this process's tables of pages. */
	pid = work->program ? vfork() : fork();
	if (pid < 0) {
		int errnum = errno;

		close(ends[0]);
		close(ends[1]);
		return -errnum;
	}
	if (!pid)
		run_child(work, ends[1]);
	close(ends[1]);
	*child = xmalloc(sizeof(**child));
	**child = (struct sandbox_child){ .pid = pid, .fd = ends[0] };
	return 0;
}

int sandbox_start(struct sandbox_child **child, int (*job)(int fd, void *arg), void *arg,
	const struct sandbox_limits *limits)
{
	return start(
		child, &(struct work){ .job = job, .arg = arg, .limits = limits, .shared = -1 });
}

int sandbox_execute(struct sandbox_child **child, const char *const *arguments, int shared)
{
	return start(child, &(struct work){ .program = arguments, .shared = shared });
}

void *sandbox_memory(size_t len, int *fd, const char **why)
{
	void *memory = MAP_FAILED;

	*fd = memfd_create("burin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd >= 0 && !ftruncate(*fd, (off_t)len) &&
		!fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (memory != MAP_FAILED)
		return memory;
	/* It counts as a file, though no disk has it. */
	*why = errno == EFBIG ? "the limit on the size of files (ulimit -f) leaves too little "
				"memory to share"
			      : strerror(errno);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return NULL;
}

int sandbox_socket(const struct sandbox_child *child)
{
	return child->fd;
}

static char *describe_end(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == SANDBOX_OTHER_VERSION)
		return xstrdup("it ran a program of another version than burin");
	if (WIFEXITED(status) && WEXITSTATUS(status) == SANDBOX_TOO_MUCH_MEMORY)
		return xstrdup("it took too much memory");
	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? xasprintf("it gave up (code %d)", WEXITSTATUS(status))
					   : NULL;
	if (WTERMSIG(status) == SIGXCPU)
		return xstrdup("it took too much processor time");
	if (WTERMSIG(status) == SIGALRM)
		return xstrdup("it made no progress");
	if (WTERMSIG(status) == SIGKILL)
		return xstrdup("it was killed");
	return xasprintf("it crashed (SIG%s)", sigabbrev_np(WTERMSIG(status)));
}

char *sandbox_end(struct sandbox_child *child)
{
	int status = 0;
	pid_t pid;
	char *how;

	close(child->fd); /* a child that waits for its parent ends by itself */
	for (int i = 0; (pid = waitpid(child->pid, &status, WNOHANG)) == 0 && i < 50; i++)
		usleep(i < 10 ? 200 : 2000);
	if (pid == 0) {
		kill(child->pid, SIGKILL);
		while ((pid = waitpid(child->pid, &status, 0)) < 0 && errno == EINTR)
			;
	}
	how = child->problem      ? xstrdup(child->problem)
	      : pid == child->pid ? describe_end(status)
				  : NULL;
	free(child);
	return how;
}

/* ---- waiting for a child ------------------------------------------------------------------- */

double sandbox_time_used(const struct sandbox_child *child)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(child->pid, &clock) || clock_gettime(clock, &used))
		return 0;
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Whether the thread runs, is ready to, or waits for a disk. */
static bool thread_is_awake(int tasks, const char *thread)
{
	char path[32], text[256] = "";
	const char *name_end;
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "%.20s/stat", thread);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	name_end = strrchr(text, ')');
	return len < 0 || !name_end || name_end[1] != ' ' || strchr("RD", name_end[2]);
}

bool sandbox_is_awake(const struct sandbox_child *child)
{
	struct dirent *entry;
	bool awake = false;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)child->pid);
	tasks = opendir(path);
	if (!tasks)
		return true;
	while (!awake && (entry = readdir(tasks)))
		awake = isdigit((unsigned char)*entry->d_name) &&
			thread_is_awake(dirfd(tasks), entry->d_name);
	closedir(tasks);
	return awake;
}

/* The next one comes after a time that the child can't know, or it would be awake just then. */
static void plan_check(struct sandbox_child *child)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	child->until_check = CHECK_SECONDS * (0.5 + (double)(now.tv_nsec / 64 % 1024) / 1024);
}

void sandbox_expect(struct sandbox_child *child, const struct sandbox_patience *patience)
{
	child->patience = *patience;
	child->expected = true;
	child->cpu_end = sandbox_time_used(child) + patience->cpu_seconds;
	child->sleeps = patience->sleeps;
	plan_check(child);
}

/* Whether it sleeps though it is its turn. It may have taken its turn, and gone to sleep, since it was polled. */
static bool is_idle(const struct sandbox_child *child, struct pollfd *wait)
{
	return !sandbox_is_awake(child) && poll(wait, 1, 0) == 0;
}

/* waits: it has not answered yet. False: the parent waits no longer. */
static bool check(struct sandbox_child *child, struct pollfd *wait, bool waits)
{
	if (sandbox_time_used(child) > child->cpu_end)
		child->problem = "it took too much processor time";
	else if (waits && is_idle(child, wait) && !child->sleeps--)
		child->problem = "it made no progress";
	else if (waits && child->patience.interrupted && child->patience.interrupted())
		child->problem = "interrupted";
	plan_check(child);
	return !child->problem;
}

/* Until bytes can be sent or received, or the child is gone. What counts is the time spent here: a child that
 * sends something now and then is checked as one that sends nothing. */
static bool await(struct sandbox_child *child, short events)
{
	struct pollfd wait = { .fd = child->fd, .events = events };

	while (!child->problem) {
		double since = clock_seconds();
		int ready =
			poll(&wait, 1, child->expected ? (int)(child->until_check * 1000) + 1 : -1);

		child->until_check -= clock_seconds() - since;
		if (child->expected && child->until_check <= 0 && !check(child, &wait, ready == 0))
			break;
		if (ready > 0)
			return true;
	}
	return false;
}

/* One call's worth; 0: the other end is gone, or patience is. child: NULL in a child itself, which waits for its
 * parent as long as that takes. */
static size_t receive_part(struct sandbox_child *child, int fd, void *bytes, size_t len)
{
	ssize_t n;

	do
		n = !child || await(child, POLLIN) ? recv(fd, bytes, len, child ? MSG_DONTWAIT : 0)
						   : 0;
	while (n < 0 && (errno == EINTR || (child && errno == EAGAIN)));
	return n < 0 ? 0 : (size_t)n;
}

static size_t send_part(struct sandbox_child *child, int fd, const void *bytes, size_t len)
{
	const int flags = MSG_NOSIGNAL | (child ? MSG_DONTWAIT : 0);
	ssize_t n;

	do
		n = !child || await(child, POLLOUT) ? send(fd, bytes, len, flags) : 0;
	while (n < 0 && (errno == EINTR || (child && errno == EAGAIN)));
	return n < 0 ? 0 : (size_t)n;
}

static bool receive_all(struct sandbox_child *child, int fd, void *bytes, size_t len)
{
	size_t done = 0, n = 1;

	for (; done < len && n; done += n)
		n = receive_part(child, fd, (char *)bytes + done, len - done);
	return done == len;
}

static bool send_all(struct sandbox_child *child, int fd, const void *bytes, size_t len)
{
	size_t done = 0, n = 1;

	for (; done < len && n; done += n)
		n = send_part(child, fd, (const char *)bytes + done, len - done);
	return done == len;
}

size_t sandbox_receive_some(struct sandbox_child *child, void *bytes, size_t len)
{
	return receive_part(child, child->fd, bytes, len);
}

bool sandbox_receive_from(struct sandbox_child *child, void *bytes, size_t len)
{
	return receive_all(child, child->fd, bytes, len);
}

bool sandbox_send_to(struct sandbox_child *child, const void *bytes, size_t len)
{
	return send_all(child, child->fd, bytes, len);
}

bool sandbox_send(int fd, const void *bytes, size_t len)
{
	return send_all(NULL, fd, bytes, len);
}

bool sandbox_receive(int fd, void *bytes, size_t len)
{
	return receive_all(NULL, fd, bytes, len);
}

/* ---- what confines them -------------------------------------------------------------------- */

/* Not in a process that has to be complete: it reports. */
static int report_layers(int fd, void *arg)
{
	struct confine_layers here;

	(void)arg;
	if (confine_mode() == CONFINE_REQUIRE)
		confine_set_mode(CONFINE_AUTO);
	here = confine(&(struct confine_rights){ 0 });
	return sandbox_send(fd, &here, sizeof(here)) ? 0 : FAILED;
}

static struct confine_layers layers;

static void try_layers(void)
{
	const struct sandbox_limits none = { 0 };
	struct sandbox_child *child = NULL;

	if (sandbox_start(&child, report_layers, NULL, &none))
		return;
	if (!sandbox_receive(sandbox_socket(child), &layers, sizeof(layers)))
		layers = (struct confine_layers){ 0 };
	free(sandbox_end(child));
}

const struct confine_layers *sandbox_layers(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, try_layers);
	return &layers;
}

/* "landlock (the kernel lacks it), seccomp (...)"; the caller frees it. */
static char *list_missing(void)
{
	struct confine_layer layer;
	char *list = xstrdup("");

	for (unsigned i = 0; confine_layer_at(sandbox_layers(), i, &layer); i++) {
		char *longer;

		if (layer.works)
			continue;
		longer =
			xasprintf("%s%s%s (%s)", list, *list ? ", " : "", layer.name, layer.reason);
		free(list);
		list = longer;
	}
	return list;
}

int sandbox_check(struct error *error)
{
	char *missing;
	int status = 0;

	if (confine_mode() == CONFINE_OFF || confine_is_complete(sandbox_layers()))
		return 0;
	missing = list_missing();
	if (confine_mode() == CONFINE_REQUIRE)
		status = error_set(error, EXIT_IO, EPERM,
			"--sandbox=require: what parses the evidence can't be confined by %s",
			missing);
	else
		log_warn("what parses the evidence is not confined by %s", missing);
	free(missing);
	return status;
}

/* One byte goes along: a message without bytes would be an end of file. */
union descriptor_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(SANDBOX_DESCRIPTORS * sizeof(int))];
};

bool sandbox_send_descriptors(int fd, const int *descriptors, size_t count)
{
	union descriptor_room room = { 0 };
	char byte = 0;
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (count) {
		message.msg_control = &room;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		room.align = (struct cmsghdr){ .cmsg_len = CMSG_LEN(count * sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&room.align), descriptors, count * sizeof(int));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) == 1;
}

bool sandbox_receive_descriptors(int fd, int *descriptors, size_t *count)
{
	union descriptor_room room;
	char byte;
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = { .msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &room,
		.msg_controllen = sizeof(room) };
	const struct cmsghdr *head;
	size_t came;

	if (recvmsg(fd, &message, 0) != 1 || message.msg_flags & MSG_CTRUNC)
		return false;
	head = CMSG_FIRSTHDR(&message);
	came = head ? (head->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	if (came > *count)
		return false;
	if (came)
		memcpy(descriptors, CMSG_DATA(head), came * sizeof(int));
	*count = came;
	return true;
}
