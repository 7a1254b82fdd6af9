/* What confined processes can't do, though it works when nothing confines them. */
#include <criterion/criterion.h>

#include "base/confine.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempts.h"
#include "base/sandbox.h"
#include "temp.h"

TestSuite(confine, .init = temp_make, .fini = temp_remove);

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
	victim.beside = strdup(temp_at("beside"));
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
	remove(victim.beside);
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

/* What the other tests skip where it is missing. */
Test(confine, all_that_is_here_confines)
{
	const struct confine_layers *layers = sandbox_layers();
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct confine_layer seccomp;

	cr_expect(layers->limits);
	cr_expect_eq(layers->landlock, version < 0 ? 0 : version);
	cr_assert(confine_layer_at(layers, 2, &seccomp));
	cr_expect_str_eq(seccomp.name, "seccomp");
	cr_expect_eq(layers->seccomp, seccomp.built && prctl(PR_GET_SECCOMP) >= 0);
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
