#include "base/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

/* The job's own place in the child's table of descriptors. */
#define JOB_FD 3
/* What the child ends with when its job failed without a crash. */
#define FAILED 1

struct confined {
	pid_t pid;
	int fd;
};

/* ---- in the child -------------------------------------------------------------------------- */

/* What this process may write to now, bytes. It is limited by what it has already: a program with
 * a GPU or a sanitizer has terabytes of addresses. */
static uint64_t data_now(void)
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

static void limit(int what, uint64_t value)
{
	struct rlimit limits;

	if (getrlimit(what, &limits))
		return;
	limits.rlim_cur = value < limits.rlim_max ? value : limits.rlim_max;
	setrlimit(what, &limits);
}

static void set_limits(const struct confined_limits *limits)
{
	if (limits->cpu_seconds)
		limit(RLIMIT_CPU, limits->cpu_seconds);
	if (limits->memory)
		limit(RLIMIT_DATA, data_now() + limits->memory);
	limit(RLIMIT_CORE, 0);
}

static void close_others(void)
{
	int null = open("/dev/null", O_RDWR);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	close_range(JOB_FD + 1, ~0u, 0);
}

/* Signals end the parent, which ends the child: its own end must not be taken for a crash. */
static void calm_signals(void)
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

static void live(
	int (*job)(int fd, void *arg), void *arg, const struct confined_limits *limits, int fd)
{
	calm_signals();
	if (dup2(fd, JOB_FD) < 0)
		_exit(FAILED);
	close_others();
	set_limits(limits);
	_exit(job(JOB_FD, arg));
}

/* ---- in the parent ------------------------------------------------------------------------- */

int confined_start(struct confined **confined, int (*job)(int fd, void *arg), void *arg,
	const struct confined_limits *limits)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (pid < 0) {
		int errnum = errno;

		close(ends[0]);
		close(ends[1]);
		return -errnum;
	}
	if (!pid)
		live(job, arg, limits, ends[1]);
	close(ends[1]);
	*confined = xmalloc(sizeof(**confined));
	**confined = (struct confined){ pid, ends[0] };
	return 0;
}

int confined_fd(const struct confined *confined)
{
	return confined->fd;
}

static char *how_it_ended(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? xasprintf("it gave up (code %d)", WEXITSTATUS(status))
					   : NULL;
	if (WTERMSIG(status) == SIGXCPU)
		return xstrdup("it took too much processor time");
	if (WTERMSIG(status) == SIGALRM)
		return xstrdup("it stood still");
	if (WTERMSIG(status) == SIGKILL)
		return xstrdup("it was ended");
	return xasprintf("it crashed (SIG%s)", sigabbrev_np(WTERMSIG(status)));
}

char *confined_end(struct confined *confined)
{
	int status = 0;
	pid_t pid;
	char *how;

	close(confined->fd); /* a child that waits for its parent ends by itself */
	for (int i = 0; (pid = waitpid(confined->pid, &status, WNOHANG)) == 0 && i < 50; i++)
		usleep(i < 10 ? 200 : 2000);
	if (pid == 0) {
		kill(confined->pid, SIGKILL);
		while ((pid = waitpid(confined->pid, &status, 0)) < 0 && errno == EINTR)
			;
	}
	how = pid == confined->pid ? how_it_ended(status) : NULL;
	free(confined);
	return how;
}

bool confined_send(int fd, const void *bytes, size_t len)
{
	const char *from = bytes;

	while (len) {
		ssize_t n = send(fd, from, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		len -= (size_t)n;
	}
	return true;
}

bool confined_receive(int fd, void *bytes, size_t len)
{
	char *to = bytes;

	while (len) {
		ssize_t n = recv(fd, to, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to += n;
		len -= (size_t)n;
	}
	return true;
}
