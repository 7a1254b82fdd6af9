/* What a process tries that was taken over: each attempt is one that works when nothing confines it. */
#ifndef BURIN_TESTS_ATTEMPTS_H
#define BURIN_TESTS_ATTEMPTS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* The file that must not change, a listener of this machine, and another process. */
static struct {
	const char *path, *beside; /* beside: a path in the same folder, of nothing */
	in_port_t port;
	pid_t other;
	int fd; /* of the file, for reading */
} victim;

/* ---- what it tries ------------------------------------------------------------------------- */

static bool opens_to_read(void)
{
	return open(victim.path, O_RDONLY) >= 0;
}

static bool opens_to_write(void)
{
	return open(victim.path, O_WRONLY) >= 0;
}

static bool opens_again_to_write(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", victim.fd);
	return open(path, O_WRONLY) >= 0;
}

static bool truncates_by_opening(void)
{
	return open(victim.path, O_RDONLY | O_TRUNC) >= 0;
}

static bool truncates(void)
{
	return truncate(victim.path, 1) == 0;
}

static bool creates(void)
{
	return open(victim.beside, O_WRONLY | O_CREAT, 0600) >= 0;
}

static bool makes_folder(void)
{
	return mkdir(victim.beside, 0700) == 0;
}

static bool links(void)
{
	return link(victim.path, victim.beside) == 0;
}

static bool renames(void)
{
	return rename(victim.path, victim.beside) == 0 && rename(victim.beside, victim.path) == 0;
}

static bool removes(void)
{
	return unlink(victim.path) == 0;
}

static bool changes_mode(void)
{
	return chmod(victim.path, 0) == 0;
}

/* Only of a file: where the descriptor was closed, its number may by now be that of /dev/null. */
static bool changes_mode_of_descriptor(void)
{
	struct stat status;

	return fstat(victim.fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       fchmod(victim.fd, 0) == 0;
}

static bool changes_owner(void)
{
	return chown(victim.path, getuid(), getgid()) == 0;
}

static bool changes_time(void)
{
	return utimensat(AT_FDCWD, victim.path, NULL, 0) == 0;
}

static bool makes_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool sends_datagram(void)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = victim.port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return sendto(fd, "x", 1, 0, (const struct sockaddr *)&to, sizeof(to)) == 1;
}

static bool connects(void)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = victim.port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0;
}

static bool kills(void)
{
	return kill(victim.other, 0) == 0;
}

static bool kills_through_a_socket(void)
{
	return fcntl(STDIN_FILENO, F_SETOWN, victim.other) == 0;
}

static bool traces(void)
{
	return ptrace(PTRACE_SEIZE, victim.other, NULL, NULL) == 0;
}

static bool reads_memory_of_another(void)
{
	static char here[16];
	const struct iovec to = { here, sizeof(here) }, from = { &victim, sizeof(here) };

	return process_vm_readv(victim.other, &to, 1, &from, 1, 0) > 0;
}

/* What is there already, if the other one is a copy of this process; else it is most likely not mapped there. */
static bool writes_memory_of_another(void)
{
	const struct iovec here = { &victim, sizeof(victim.path) };

	return process_vm_writev(victim.other, &here, 1, &here, 1, 0) > 0;
}

static bool limits_another(void)
{
	const struct rlimit none = { 0, 0 };

	return prlimit(victim.other, RLIMIT_CORE, &none, NULL) == 0;
}

static bool forks(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0;
}

/* The program ends with the code for what works. */
static bool executes(void)
{
	execl("/bin/sh", "sh", "-c", "exit 1", (char *)NULL);
	return false;
}

static bool makes_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

static bool makes_memory_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool raises_its_limits(void)
{
	const struct rlimit more = { 100, 100 };

	return setrlimit(RLIMIT_NOFILE, &more) == 0;
}

static bool raises_its_memory(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit))
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_DATA, &limit) == 0;
}

#define ATTEMPT(function, landlock, may_fail) \
	{ \
#function, function, landlock, may_fail \
	}

static const struct {
	const char *name;
	bool (*attempt)(void);
	unsigned landlock; /* the version that refuses it without seccomp; 0: none does */
	bool may_fail; /* even when nothing confines it: another process is not ours to look into */
} attempts[] = {
	ATTEMPT(opens_to_read, 1, false), ATTEMPT(opens_to_write, 1, false),
	ATTEMPT(opens_again_to_write, 1, false), ATTEMPT(truncates_by_opening, 1, false),
	ATTEMPT(truncates, 3, false), ATTEMPT(creates, 1, false), ATTEMPT(makes_folder, 1, false),
	ATTEMPT(links, 1, false), ATTEMPT(renames, 1, false), ATTEMPT(changes_mode, 0, false),
	ATTEMPT(changes_mode_of_descriptor, 0, false), ATTEMPT(changes_owner, 0, false),
	ATTEMPT(changes_time, 0, false), ATTEMPT(makes_socket, 1, false),
	ATTEMPT(sends_datagram, 1, false), ATTEMPT(connects, 1, false), ATTEMPT(kills, 6, false),
	ATTEMPT(kills_through_a_socket, 0, false), ATTEMPT(traces, 1, true),
	ATTEMPT(reads_memory_of_another, 1, true), ATTEMPT(writes_memory_of_another, 1, true),
	ATTEMPT(limits_another, 0, false), ATTEMPT(forks, 0, false), ATTEMPT(executes, 1, false),
	ATTEMPT(makes_code, 0, false), ATTEMPT(makes_memory_code, 0, false),
	ATTEMPT(raises_its_limits, 0, true), ATTEMPT(raises_its_memory, 0, false),
	ATTEMPT(removes, 1, false), /* the last: the others need the file */
};
#define ATTEMPTS (sizeof(attempts) / sizeof(*attempts))

#endif
