/*
 * Landlock, by its three system calls, which the C library does not wrap. Every right to files that
 * its first version knows is taken, and reading and running are given back where they are needed.
 */
#include "base/fence.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* LANDLOCK_ACCESS_FS_EXECUTE is the first right, MAKE_SYM the last of version 1. */
#define ALL_RIGHTS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define FILE_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE)

static void allow(int rules, int fd, uint64_t rights)
{
	struct landlock_path_beneath_attr below = { .allowed_access = rights, .parent_fd = fd };

	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
}

static void allow_folder(int rules, const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return;
	allow(rules, fd, FILE_RIGHTS | LANDLOCK_ACCESS_FS_READ_DIR);
	close(fd);
}

void fence_files(const char *const *folders, int fd)
{
	struct landlock_ruleset_attr attributes = { .handled_access_fs = ALL_RIGHTS };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (rules < 0)
		return;
	for (; *folders; folders++)
		allow_folder(rules, *folders);
	if (fd >= 0)
		allow(rules, fd, LANDLOCK_ACCESS_FS_READ_FILE);
	syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
}
