/*
 * stdio drops its buffer when a write fails. On a full disk that would lose hundreds of records,
 * although the next moment there is space again: the run removes the file that it could not
 * complete. So the FILE that the reports are printed to ends in memory, and only report_file_flush
 * writes, at the end of a record.
 */
#include "report/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "output/dirfd.h"

#define FLUSH_LEN ((size_t)256 * 1024)
#define HEAD_LEN 4096

struct report_file {
	struct output_dir *output_dir;
	char *name;
	int fd;
	FILE *stream;
	uint64_t kept_len; /* of a file that was opened again: what is kept of it */
	char *pending;     /* not yet in the file */
	size_t pending_len, capacity;
	struct timespec flushed;
};

static ssize_t collect(void *cookie, const char *bytes, size_t len)
{
	struct report_file *file = cookie;

	if (file->capacity - file->pending_len < len) {
		file->capacity = (file->pending_len + len) * 2;
		file->pending = xreallocarray(file->pending, file->capacity, 1);
	}
	memcpy(file->pending + file->pending_len, bytes, len);
	file->pending_len += len;
	return (ssize_t)len;
}

/* Takes ownership of fd. */
static int adopt(struct report_file **result, struct output_dir *output_dir, const char *name,
	int fd, struct error *error)
{
	struct report_file *file = xcalloc(1, sizeof(*file));

	output_dir_reserve(output_dir, name);
	file->output_dir = output_dir;
	file->name = xstrdup(name);
	file->fd = fd;
	file->stream = fopencookie(file, "w", (cookie_io_functions_t){ .write = collect });
	if (!file->stream) {
		int status = output_dir_error(output_dir, name, errno, error);

		close(fd);
		free(file->name);
		free(file);
		return status;
	}
	*result = file;
	return 0;
}

int report_file_open(struct report_file **file, struct output_dir *output_dir, const char *name,
	struct error *error)
{
	int fd = output_dir_create(output_dir, name, error);

	return fd < 0 ? fd : adopt(file, output_dir, name, fd, error);
}

/* Returns 0 or a negative errno, -EBADMSG for a file that is too short. */
static int check_len(int fd, uint64_t len)
{
	struct stat info;

	if (fstat(fd, &info))
		return -errno;
	return S_ISREG(info.st_mode) && (uint64_t)info.st_size >= len ? 0 : -EBADMSG;
}

int report_file_reopen(struct report_file **file, struct output_dir *output_dir, const char *name,
	uint64_t len, struct error *error)
{
	int fd = dirfd_open(output_dir_fd(output_dir), name, O_RDWR, false);
	int status = fd < 0 ? fd : check_len(fd, len);

	if (!status) {
		status = adopt(file, output_dir, name, fd, error);
		if (!status)
			(*file)->kept_len = len;
		return status;
	}
	if (fd >= 0)
		close(fd);
	if (status != -EBADMSG && status != -ENOENT)
		return output_dir_error(output_dir, name, -status, error);
	return error_set(error, EXIT_IO, -status,
		"'%s/%s' is not as the interrupted run left it; carve again into another "
		"folder",
		output_dir_path(output_dir), name);
}

int report_file_cut(struct report_file *file, struct error *error)
{
	off_t len = (off_t)file->kept_len;

	if (ftruncate(file->fd, len) || lseek(file->fd, len, SEEK_SET) < 0)
		return output_dir_error(file->output_dir, file->name, errno, error);
	return 0;
}

void report_file_set_name(struct report_file *file, const char *name)
{
	free(file->name);
	file->name = xstrdup(name);
}

FILE *report_file_stream(struct report_file *file)
{
	return file->stream;
}

/* Returns 0 or a negative errno; the rest stays pending. */
static int write_pending(struct report_file *file)
{
	size_t done = 0;
	int status = 0;

	while (done < file->pending_len && !status) {
		ssize_t len = write(file->fd, file->pending + done, file->pending_len - done);

		if (len > 0)
			done += (size_t)len;
		else if (len == 0)
			status = -EIO;
		else if (errno != EINTR)
			status = -errno;
	}
	file->pending_len -= done;
	memmove(file->pending, file->pending + done, file->pending_len);
	return status;
}

int report_file_flush(struct report_file *file, bool now, struct error *error)
{
	struct timespec time;
	int status;

	fflush(file->stream);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	if (file->pending_len == 0)
		return 0;
	if (!now && file->pending_len < FLUSH_LEN && time.tv_sec - file->flushed.tv_sec < 2 &&
		(time.tv_sec == file->flushed.tv_sec || time.tv_nsec < file->flushed.tv_nsec))
		return 0;
	file->flushed = time;
	status = write_pending(file);
	return status ? output_dir_error(file->output_dir, file->name, -status, error) : 0;
}

void report_file_forget(struct report_file *file)
{
	fflush(file->stream);
	file->pending_len = 0;
}

uint64_t report_file_len(const struct report_file *file)
{
	off_t len = lseek(file->fd, 0, SEEK_CUR);

	return len < 0 ? 0 : (uint64_t)len;
}

int64_t report_file_find(const struct report_file *file, const char *text)
{
	char head[HEAD_LEN];
	ssize_t len = pread(file->fd, head, sizeof(head), 0);
	const char *place = len > 0 ? memmem(head, (size_t)len, text, strlen(text)) : NULL;

	if (len < 0)
		return -errno;
	return place ? place - head : -ENOENT;
}

int report_file_put_at(
	struct report_file *file, uint64_t place, const char *text, struct error *error)
{
	/* It overwrites what is on the disk already: there is space. */
	if (pwrite(file->fd, text, strlen(text), (off_t)place) == (ssize_t)strlen(text))
		return 0;
	return output_dir_error(file->output_dir, file->name, errno ? errno : EIO, error);
}

int report_file_close(struct report_file *file, struct error *error)
{
	int status = report_file_flush(file, true, error);

	fclose(file->stream);
	if (close(file->fd) && errno != EINTR &&
		!status) /* network file systems report a full disk only here */
		status = output_dir_error(file->output_dir, file->name, errno, error);
	free(file->pending);
	free(file->name);
	free(file);
	return status;
}
