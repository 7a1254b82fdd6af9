/* A process that was taken over, and tries what it must not: each attempt is one that works when nothing
 * confines it, which is tested too. */
#include "base/confine.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "temp.h"

TestSuite(confine, .init = temp_make, .fini = temp_remove);

/* The file that must not change, a listener of this machine, and another process. */
static struct {
	const char *path;
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
	return open(temp_at("new"), O_WRONLY | O_CREAT, 0600) >= 0;
}

static bool makes_folder(void)
{
	return mkdir(temp_at("folder"), 0700) == 0;
}

static bool links(void)
{
	return link(victim.path, temp_at("link")) == 0;
}

static bool renames(void)
{
	return rename(victim.path, temp_at("renamed")) == 0 &&
	       rename(temp_at("renamed"), victim.path) == 0;
}

static bool removes(void)
{
	return unlink(victim.path) == 0;
}

static bool changes_mode(void)
{
	return chmod(victim.path, 0) == 0;
}

static bool changes_mode_of_descriptor(void)
{
	return fchmod(victim.fd, 0) == 0;
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
	ATTEMPT(reads_memory_of_another, 1, true), ATTEMPT(limits_another, 0, false),
	ATTEMPT(forks, 0, false), ATTEMPT(executes, 1, false), ATTEMPT(makes_code, 0, false),
	ATTEMPT(makes_memory_code, 0, false), ATTEMPT(raises_its_limits, 0, true),
	ATTEMPT(removes, 1, false), /* the last: the others need the file */
};
#define ATTEMPTS (sizeof(attempts) / sizeof(*attempts))

/* ---- the attempts, confined and not -------------------------------------------------------- */

static _Noreturn void be_someone(void)
{
	for (;;)
		pause();
}

static void find_victims(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	temp_write("evidence", "not to be changed", 17);
	victim.path = strdup(temp_at("evidence"));
	victim.fd = open(victim.path, O_RDONLY);
	cr_assert_eq(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	cr_assert_eq(listen(listener, ATTEMPTS), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	victim.port = at.sin_port;
	victim.other = fork();
	if (victim.other == 0)
		be_someone();
}

/* As on a kernel that lacks the call: its number, and if first >= 0 only with that first argument. */
static void lack_call(unsigned number, int first)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)first, 0, first < 0 ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(2);
}

enum kernel { KERNEL, WITHOUT_LANDLOCK, WITHOUT_SECCOMP, UNCONFINED };

static void confine_on(enum kernel kernel)
{
	if (kernel == WITHOUT_LANDLOCK)
		lack_call(SYS_landlock_create_ruleset, -1);
	if (kernel == WITHOUT_SECCOMP) {
		lack_call(SYS_seccomp, -1);
		lack_call(SYS_prctl, PR_SET_SECCOMP);
	}
	if (kernel != UNCONFINED)
		confine(&(struct confine_rights){ 0 });
}

/* Whether it works in a process of its own. One that is killed, or that hangs, did not do it. */
static bool works(bool (*attempt)(void), enum kernel kernel)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		alarm(10);
		dup2(socket(AF_UNIX, SOCK_STREAM, 0), STDIN_FILENO);
		confine_on(kernel);
		_exit(attempt());
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static void refuses(enum kernel kernel, unsigned landlock, bool seccomp)
{
	struct stat before, after;

	find_victims();
	cr_assert_eq(stat(victim.path, &before), 0);
	for (size_t i = 0; i < ATTEMPTS; i++)
		if (seccomp || (attempts[i].landlock && attempts[i].landlock <= landlock))
			cr_expect_not(works(attempts[i].attempt, kernel), "%s", attempts[i].name);
	cr_assert_eq(stat(victim.path, &after), 0);
	cr_expect_eq(before.st_size, after.st_size);
	cr_expect_eq(before.st_ctim.tv_sec, after.st_ctim.tv_sec);
	cr_expect_eq(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
	kill(victim.other, SIGKILL);
}

Test(confine, what_a_hijacked_process_tries_is_refused)
{
	const struct confine_layers layers = *sandbox_layers();

	if (!layers.landlock && !layers.seccomp)
		cr_skip("nothing here can confine a process");
	refuses(KERNEL, layers.landlock, layers.seccomp);
}

Test(confine, seccomp_suffices)
{
	if (!sandbox_layers()->seccomp)
		cr_skip("there is no seccomp here");
	refuses(WITHOUT_LANDLOCK, 0, true);
}

Test(confine, landlock_suffices_for_files_and_processes)
{
	const struct confine_layers layers = *sandbox_layers();

	if (!layers.landlock)
		cr_skip("there is no Landlock here");
	refuses(WITHOUT_SECCOMP, layers.landlock, false);
}

/* Else the tests above show nothing. */
Test(confine, nothing_is_refused_without)
{
	find_victims();
	for (size_t i = 0; i < ATTEMPTS; i++)
		if (!attempts[i].may_fail)
			cr_expect(works(attempts[i].attempt, UNCONFINED), "%s", attempts[i].name);
	kill(victim.other, SIGKILL);
}

/* ---- what is kept -------------------------------------------------------------------------- */

/* Reads files below the folder, and nothing else. */
Test(confine, readable)
{
	int status;
	pid_t pid;

	if (!sandbox_layers()->landlock)
		cr_skip("there is no Landlock here");
	temp_write("outside", "x", 1);
	cr_assert_eq(mkdir(temp_at("folder"), 0755), 0);
	temp_write("folder/inside", "x", 1);
	pid = fork();
	if (pid == 0) {
		const char *const readable[] = { "/missing", temp_at("folder"), NULL };

		confine(&(struct confine_rights){ .readable = readable });
		_exit(open(temp_at("folder/inside"), O_RDONLY) >= 0 &&
					open(temp_at("outside"), O_RDONLY) < 0 &&
					open(temp_at("folder/inside"), O_RDWR) < 0 &&
					open(temp_at("folder/new"), O_RDWR | O_CREAT, 0600) < 0
				? 0
				: 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
}

/* ---- where a layer is missing -------------------------------------------------------------- */

static int ends_with(enum confine_mode mode, enum kernel kernel)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		confine_set_mode(mode);
		confine_on(kernel);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

Test(confine, a_process_that_lacks_a_required_layer_ends)
{
	const struct confine_layers layers = *sandbox_layers();

	cr_expect_eq(ends_with(CONFINE_REQUIRE, KERNEL) == 0, confine_is_complete(&layers));
	if (!layers.seccomp)
		cr_skip("there is no seccomp here");
	cr_expect_neq(ends_with(CONFINE_REQUIRE, WITHOUT_LANDLOCK), 0);
	cr_expect_neq(ends_with(CONFINE_REQUIRE, WITHOUT_SECCOMP), 0);
	cr_expect_eq(ends_with(CONFINE_AUTO, WITHOUT_LANDLOCK), 0);
}

Test(confine, off)
{
	confine_set_mode(CONFINE_OFF);
	find_victims();
	cr_expect(works(opens_to_write, KERNEL));
	kill(victim.other, SIGKILL);
}
