/*
 * Landlock is called by its system calls, which the C library does not wrap, with all rights that the
 * kernel's version of it knows: the headers of the machine that built burin may be older. It knows no
 * right for chmod, chown, setxattr or utime, and older versions none for truncating, so seccomp is not
 * merely a second lock on the same door. Its filter is a list of what is allowed, by names, which
 * libseccomp translates for each architecture; what a library tries beyond it fails like a missing
 * permission, which libraries expect, and does not kill it.
 *
 * For another architecture no macro is to be set: HAVE_SECCOMP says that libseccomp was found, and calls that the
 * architecture lacks are left out. Two things are to be looked at there: which argument of clone has the flags (the
 * first, but on s390 the second), and whether its C library computes with calls that are not listed here; those fail with
 * EPERM in `strace -f`, and the unit test `confine` and the cases of the command line then fail.
 */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/landlock.h>
#ifdef HAVE_SECCOMP
#include <seccomp.h>
#endif

static enum confine_mode chosen_mode = CONFINE_AUTO;

void confine_set_mode(enum confine_mode mode)
{
	chosen_mode = mode;
}

enum confine_mode confine_mode(void)
{
	return chosen_mode;
}

/* ---- limits -------------------------------------------------------------------------------- */

static bool allow_none(int what)
{
	return setrlimit(what, &(struct rlimit){ 0, 0 }) == 0;
}

/* Every descriptor that it has keeps working; new ones would have higher numbers. */
static bool set_limits(const struct confine_rights *rights)
{
	bool set = allow_none(RLIMIT_CORE);

	set &= allow_none(RLIMIT_FSIZE);
	if (!rights->threads && !rights->programs)
		set &= allow_none(RLIMIT_NPROC);
	if (!rights->readable)
		set &= allow_none(RLIMIT_NOFILE);
	return set;
}

/* ---- Landlock ------------------------------------------------------------------------------ */

/* The kernel's struct landlock_ruleset_attr, of which each version takes the first members. */
struct ruleset {
	uint64_t files, network, scopes;
};

/* All rights that a version has: the highest bits are MAKE_SYM, REFER, TRUNCATE, and IOCTL_DEV. */
static struct ruleset all_rights(unsigned version)
{
	static const unsigned file_bits[] = { 13, 14, 15, 15, 16 };
	unsigned last = sizeof(file_bits) / sizeof(*file_bits);

	return (struct ruleset){
		.files = ((uint64_t)1 << file_bits[(version < last ? version : last) - 1]) - 1,
		.network = version >= 4 ? 3 : 0, /* to bind and to connect */
		.scopes = version >= 6 ? 3 : 0,  /* abstract sockets, and signals */
	};
}

static size_t ruleset_len(unsigned version)
{
	return version >= 6   ? sizeof(struct ruleset)
	       : version >= 4 ? offsetof(struct ruleset, scopes)
			      : offsetof(struct ruleset, network);
}

static void allow_reading(int ruleset, const char *path, bool programs)
{
	struct landlock_path_beneath_attr below = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
		.parent_fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat info;

	if (below.parent_fd < 0)
		return;
	if (programs)
		below.allowed_access |= LANDLOCK_ACCESS_FS_EXECUTE;
	if (fstat(below.parent_fd, &info) == 0 && S_ISDIR(info.st_mode))
		below.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
	syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
	close(below.parent_fd);
}

/* Returns the version that confines this process; 0: none. */
static unsigned restrict_files(const struct confine_rights *rights)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct ruleset all;
	bool restricted;
	int ruleset;

	if (version < 1)
		return 0;
	all = all_rights((unsigned)version);
	ruleset =
		(int)syscall(SYS_landlock_create_ruleset, &all, ruleset_len((unsigned)version), 0);
	if (ruleset < 0)
		return 0;
	for (const char *const *path = rights->readable; path && *path; path++)
		allow_reading(ruleset, *path, rights->programs);
	restricted = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
	close(ruleset);
	return restricted ? (unsigned)version : 0;
}

/* ---- seccomp ------------------------------------------------------------------------------- */

#ifdef HAVE_SECCOMP

/* What needs no right: its memory, its time, its signals, and descriptors that it has. */
static const char *const computing[] = { "arch_prctl", "brk", "clock_getres", "clock_gettime",
	"clock_nanosleep", "close", "exit", "exit_group", "fadvise64", "fstat", "fstatfs", "futex",
	"getcpu", "getegid", "geteuid", "getgid", "getitimer", "getpid", "getppid", "getrandom",
	"getrlimit", "getrusage", "gettid", "gettimeofday", "getuid", "lseek", "madvise",
	"membarrier", "mremap", "munmap", "nanosleep", "newfstatat", "pipe", "pipe2", "poll",
	"ppoll", "pread64", "preadv", "read", "readv", "recvfrom", "recvmsg", "restart_syscall",
	"rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_getaffinity",
	"sched_yield", "sendmsg", "sendto", "set_robust_list", "set_tid_address", "setitimer",
	"sigaltstack", "sigreturn", "sysinfo", "time", "ugetrlimit", "uname", "write", "writev",
	NULL };
/* Of files and folders that Landlock lets it see. */
static const char *const looking[] = { "access", "faccessat", "faccessat2", "flock", "getcwd",
	"getdents64", "lstat", "readlink", "readlinkat", "stat", "statfs", "statx", NULL };
static const char *const executing[] = { "execve", "execveat", NULL };
/* Of fcntl: a process that may set the owner of a socket can have any signal sent to another. */
static const int descriptor_commands[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL,
	F_SETFL };

struct filter {
	scmp_filter_ctx context;
	bool failed;
};

/* Returns libseccomp's number of a call; a negative one where this architecture lacks it. */
static int call_number(const char *name)
{
	return seccomp_syscall_resolve_name(name);
}

static void allow(struct filter *filter, const char *const *names)
{
	for (; *names; names++)
		if (call_number(*names) >= 0)
			filter->failed |= seccomp_rule_add(filter->context, SCMP_ACT_ALLOW,
						  call_number(*names), 0) != 0;
}

/* Only when the argument's bits of the mask are those of the value. */
static void allow_if(
	struct filter *filter, const char *name, unsigned argument, uint64_t mask, uint64_t value)
{
	const struct scmp_arg_cmp condition = SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, mask, value);

	if (call_number(name) >= 0)
		filter->failed |= seccomp_rule_add_array(filter->context, SCMP_ACT_ALLOW,
					  call_number(name), 1, &condition) != 0;
}

/* Its limits may be read, but only that of processor time, which each request renews, be set: root could
 * raise any, and all processes can raise those that bound memory. */
static void allow_limits(struct filter *filter)
{
	const struct scmp_arg_cmp itself = SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, 0);
	const struct scmp_arg_cmp reading[] = { itself, SCMP_A2(SCMP_CMP_EQ, 0) };
	const struct scmp_arg_cmp time[] = { itself,
		SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, RLIMIT_CPU) };

	filter->failed |= seccomp_rule_add_array(filter->context, SCMP_ACT_ALLOW,
				  SCMP_SYS(prlimit64), 2, reading) != 0;
	filter->failed |= seccomp_rule_add_array(filter->context, SCMP_ACT_ALLOW,
				  SCMP_SYS(prlimit64), 2, time) != 0;
	allow_if(filter, "setrlimit", 0, UINT32_MAX, RLIMIT_CPU);
}

static void allow_rights(struct filter *filter, const struct confine_rights *rights)
{
	const uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
	const uint64_t executable = rights->code || rights->programs ? 0 : PROT_EXEC;

	allow(filter, computing);
	allow_if(filter, "mmap", 2, executable, 0);
	allow_if(filter, "mprotect", 2, executable, 0);
	/* Its own end by abort() and raise(). */
	allow_if(filter, "tgkill", 0, UINT32_MAX, (uint32_t)getpid());
	allow_limits(filter);
	allow_if(filter, "prctl", 0, UINT32_MAX, PR_SET_NAME);
	for (size_t i = 0; i < sizeof(descriptor_commands) / sizeof(*descriptor_commands); i++) {
		allow_if(filter, "fcntl", 1, UINT32_MAX, (uint64_t)descriptor_commands[i]);
		allow_if(filter, "fcntl64", 1, UINT32_MAX, (uint64_t)descriptor_commands[i]);
	}
	if (rights->readable) {
		allow(filter, looking);
		allow_if(filter, "open", 1, writing, 0);
		allow_if(filter, "openat", 2, writing, 0);
	}
	if (rights->programs)
		allow(filter, executing);
	if (!rights->threads)
		return;
	allow_if(filter, "clone", 0, CLONE_THREAD, CLONE_THREAD);
	/* Its arguments are in memory, which no filter sees; the C library then takes clone. */
	filter->failed |=
		seccomp_rule_add(filter->context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) != 0;
}

static bool restrict_calls(const struct confine_rights *rights)
{
	struct filter filter = { .context = seccomp_init(SCMP_ACT_ERRNO(EPERM)) };
	bool restricted;

	if (!filter.context)
		return false;
	/* Threads that a library started earlier, too. */
	seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_TSYNC, 1);
	allow_rights(&filter, rights);
	restricted = !filter.failed && seccomp_load(filter.context) == 0;
	seccomp_release(filter.context);
	return restricted;
}

static const bool have_filter = true;

#else

static const bool have_filter = false;

static bool restrict_calls(const struct confine_rights *rights)
{
	(void)rights;
	return false;
}

#endif

/* ---- all of it ----------------------------------------------------------------------------- */

bool confine_layer_at(
	const struct confine_layers *layers, unsigned index, struct confine_layer *layer)
{
	const struct confine_layer all[] = {
		{ "limits", "no new privileges, writing to files, or new processes", true,
			layers->limits, "the system refuses them" },
		{ "landlock", "no files to open, connections, or signals to others", true,
			layers->landlock > 0, "the kernel lacks it, or it is not enabled" },
		{ "seccomp", "no system calls but those that computing needs", have_filter,
			layers->seccomp,
			have_filter ? "the kernel refuses the filter"
				    : "burin was built without libseccomp" },
	};

	if (index >= sizeof(all) / sizeof(*all))
		return false;
	*layer = all[index];
	if (layer->works)
		layer->reason = "";
	return true;
}

bool confine_is_complete(const struct confine_layers *layers)
{
	return layers->limits && layers->landlock && layers->seccomp;
}

struct confine_layers confine(const struct confine_rights *rights)
{
	struct confine_layers layers = { 0 };

	if (chosen_mode == CONFINE_OFF)
		return layers;
	/* Without this, only root may go on; Landlock needs descriptors, which the limits end; and seccomp
	 * ends what all call. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
		layers.landlock = restrict_files(rights);
		layers.limits = set_limits(rights);
		layers.seccomp = restrict_calls(rights);
	}
	if (chosen_mode == CONFINE_REQUIRE && !confine_is_complete(&layers))
		_exit(EXIT_FAILURE);
	return layers;
}
