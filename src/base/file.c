#include "base/file.h"

#include <errno.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FUSE_MAGIC 0x65735546

ssize_t file_read_at(int fd, void *buffer, size_t len, uint64_t offset)
{
	size_t done = 0;

	if (offset > (uint64_t)INT64_MAX - len)
		return -EIO;
	while (done < len) {
		ssize_t n = pread(fd, (uint8_t *)buffer + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int file_read_all_at(int fd, void *buffer, size_t len, uint64_t offset)
{
	ssize_t n = file_read_at(fd, buffer, len, offset);

	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EIO;
}

bool file_is_served(int fd)
{
	struct statfs info;

	return !fstatfs(fd, &info) && info.f_type == FUSE_MAGIC;
}

bool file_path_is_served(const char *path)
{
	struct statfs info;

	return !statfs(path, &info) && info.f_type == FUSE_MAGIC;
}

int file_write(int fd, const void *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = write(fd, (const uint8_t *)bytes + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

int file_write_at(int fd, const void *bytes, size_t len, uint64_t offset)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(
			fd, (const uint8_t *)bytes + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}
