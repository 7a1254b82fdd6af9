/*
 * A file system with one file, "disk", that mirrors another and fails as a dying disk does:
 *
 *     failing_file MOUNTPOINT FILE DELAY_MS OFFSET:LENGTH...
 *
 * Reads that touch one of the ranges take DELAY_MS and end with EIO. It stays in the foreground. With DIRECT in its
 * environment nothing is kept in the page cache, and long reads are cut into parts of 128 KiB, which are asked for one after
 * the other, as programs with the second version of libfuse do.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANGES_MAX 64

static int fd;
static long delay_ms;
static bool is_direct;
static struct {
	off_t offset, end;
} ranges[RANGES_MAX];
static int range_count;

static void *failing_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	if (!is_direct)
		return NULL;
	connection->max_read = 131072;
	connection->want &= ~(unsigned)FUSE_CAP_ASYNC_DIO;
	config->direct_io = 1;
	return NULL;
}

static int failing_getattr(const char *path, struct stat *info, struct fuse_file_info *file)
{
	struct stat mirrored;

	(void)file;
	memset(info, 0, sizeof(*info));
	if (strcmp(path, "/") == 0) {
		info->st_mode = S_IFDIR | 0755;
		info->st_nlink = 2;
		return 0;
	}
	if (strcmp(path, "/disk") != 0 || fstat(fd, &mirrored))
		return -ENOENT;
	info->st_mode = S_IFREG | 0444;
	info->st_nlink = 1;
	info->st_size = mirrored.st_size;
	return 0;
}

static int failing_open(const char *path, struct fuse_file_info *file)
{
	return strcmp(path, "/disk") != 0              ? -ENOENT
	       : (file->flags & O_ACCMODE) != O_RDONLY ? -EACCES
						       : 0;
}

static int failing_read(
	const char *path, char *buffer, size_t len, off_t offset, struct fuse_file_info *file)
{
	ssize_t got;

	(void)path;
	(void)file;
	for (int i = 0; i < range_count; i++)
		if (offset < ranges[i].end && offset + (off_t)len > ranges[i].offset) {
			usleep((useconds_t)delay_ms * 1000);
			return -EIO;
		}
	got = pread(fd, buffer, len, offset);
	return got < 0 ? -errno : (int)got;
}

static const struct fuse_operations operations = {
	.init = failing_init,
	.getattr = failing_getattr,
	.open = failing_open,
	.read = failing_read,
};

int main(int argc, char **argv)
{
	char *fuse_argv[] = { argv[0], (char *)"-f", argc > 1 ? argv[1] : NULL,
		(char *)"-omax_read=131072", NULL };

	if (argc < 4 || argc - 4 > RANGES_MAX || (fd = open(argv[2], O_RDONLY)) < 0) {
		fprintf(stderr, "usage: failing_file MOUNTPOINT FILE DELAY_MS OFFSET:LENGTH...\n");
		return 2;
	}
	delay_ms = atol(argv[3]);
	is_direct = getenv("DIRECT") != NULL;
	for (int i = 4; i < argc; i++) {
		long long offset, len;

		if (sscanf(argv[i], "%lld:%lld", &offset, &len) != 2)
			return 2;
		ranges[range_count].offset = offset;
		ranges[range_count++].end = offset + len;
	}
	return fuse_main(is_direct ? 4 : 3, fuse_argv, &operations, NULL);
}
