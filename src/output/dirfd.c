#include "output/dirfd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool component_is_plain(const char *part, size_t len)
{
	if (len == 0 || len > NAME_MAX)
		return false;
	if (part[0] == '.' && (len == 1 || (len == 2 && part[1] == '.')))
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)part[i] < 0x20 || part[i] == 0x7F)
			return false;
	return true;
}

bool dirfd_path_is_plain(const char *path)
{
	if (strlen(path) >= PATH_MAX)
		return false;
	for (;;) {
		size_t len = strcspn(path, "/");

		if (!component_is_plain(path, len))
			return false;
		if (!path[len])
			return true;
		path += len + 1;
	}
}

/* O_PATH: a folder that may be entered need not be readable. */
static int enter(int dir_fd, const char *part, bool make)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir_fd, part, flags);

	if (fd < 0 && errno == ENOENT && make) {
		if (mkdirat(dir_fd, part, 0777) &&
			errno != EEXIST) /* another thread may have been faster */
			return -errno;
		fd = openat(dir_fd, part, flags);
	}
	return fd < 0 ? -errno : fd;
}

int dirfd_parent(int dir_fd, const char *path, bool make, const char **base)
{
	char part[NAME_MAX + 1];
	const char *slash;
	int fd = dir_fd;

	if (!dirfd_path_is_plain(path))
		return -EINVAL;
	while ((slash = strchr(path, '/'))) {
		size_t len = (size_t)(slash - path);
		int next;

		memcpy(part, path, len);
		part[len] = '\0';
		next = enter(fd, part, make);
		if (fd != dir_fd)
			close(fd);
		if (next < 0)
			return next;
		fd = next;
		path = slash + 1;
	}
	*base = path;
	if (fd == dir_fd)
		fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

int dirfd_open(int dir_fd, const char *path, int flags, bool make)
{
	const char *base = NULL;
	int parent = dirfd_parent(dir_fd, path, make, &base), fd;

	if (parent < 0)
		return parent;
	fd = openat(parent, base, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		fd = -errno;
	close(parent);
	return fd;
}

int dirfd_rename(int dir_fd, const char *from, const char *to)
{
	if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A file system that can't do both at once. The folder is locked, so no other run
	 * interferes. */
	if (faccessat(dir_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dir_fd, from, dir_fd, to) ? -errno : 0;
}

int dirfd_unlink(int dir_fd, const char *path)
{
	const char *base = NULL;
	int parent = dirfd_parent(dir_fd, path, false, &base), status;

	if (parent < 0)
		return parent;
	status = unlinkat(parent, base, 0) ? -errno : 0;
	close(parent);
	return status;
}
