/*
 * stdio drops its buffer when a write fails. On a full disk that would take hundreds of records
 * with it, although the next moment there is room again: the run takes back the file that it could
 * not complete. So the FILE that the reports are printed to ends in memory, and only stream_flush
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

struct stream {
	struct output_dir *output_dir;
	char *name;
	int fd;
	FILE *file;
	char *pending; /* not yet in the file */
	size_t pending_len, capacity;
	struct timespec flushed;
};

static ssize_t gather(void *cookie, const char *bytes, size_t len)
{
	struct stream *stream = cookie;

	if (stream->capacity - stream->pending_len < len) {
		stream->capacity = (stream->pending_len + len) * 2;
		stream->pending = xreallocarray(stream->pending, stream->capacity, 1);
	}
	memcpy(stream->pending + stream->pending_len, bytes, len);
	stream->pending_len += len;
	return (ssize_t)len;
}

/* Takes over fd. */
static int wrap(struct stream **result, struct output_dir *output_dir, const char *name, int fd,
	struct error *error)
{
	struct stream *stream = xcalloc(1, sizeof(*stream));

	output_dir_reserve(output_dir, name);
	stream->output_dir = output_dir;
	stream->name = xstrdup(name);
	stream->fd = fd;
	stream->file = fopencookie(stream, "w", (cookie_io_functions_t){ .write = gather });
	if (!stream->file) {
		int status = output_dir_error(output_dir, name, errno, error);

		close(fd);
		free(stream->name);
		free(stream);
		return status;
	}
	*result = stream;
	return 0;
}

int stream_open(struct stream **stream, struct output_dir *output_dir, const char *name,
	struct error *error)
{
	int fd = output_dir_create(output_dir, name, error);

	return fd < 0 ? fd : wrap(stream, output_dir, name, fd, error);
}

/* Returns 0 or a negative errno, -EBADMSG for a file that is too short. */
static int cut_at(int fd, uint64_t len)
{
	struct stat info;

	if (fstat(fd, &info))
		return -errno;
	if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size < len)
		return -EBADMSG;
	if (ftruncate(fd, (off_t)len) || lseek(fd, (off_t)len, SEEK_SET) < 0)
		return -errno;
	return 0;
}

int stream_reopen(struct stream **stream, struct output_dir *output_dir, const char *name,
	uint64_t len, struct error *error)
{
	int fd = dirfd_open(output_dir_dir_fd(output_dir), name, O_RDWR, false);
	int status = fd < 0 ? fd : cut_at(fd, len);

	if (!status)
		return wrap(stream, output_dir, name, fd, error);
	if (fd >= 0)
		close(fd);
	if (status != -EBADMSG && status != -ENOENT)
		return output_dir_error(output_dir, name, -status, error);
	return error_set(error, EXIT_IO, -status,
		"'%s/%s' is not as the run that is resumed left it; carve again into another "
		"folder",
		output_dir_path(output_dir), name);
}

FILE *stream_file(struct stream *stream)
{
	return stream->file;
}

/* Returns 0 or a negative errno; what is left stays pending. */
static int write_pending(struct stream *stream)
{
	size_t done = 0;
	int status = 0;

	while (done < stream->pending_len && !status) {
		ssize_t len = write(stream->fd, stream->pending + done, stream->pending_len - done);

		if (len > 0)
			done += (size_t)len;
		else if (len == 0)
			status = -EIO;
		else if (errno != EINTR)
			status = -errno;
	}
	stream->pending_len -= done;
	memmove(stream->pending, stream->pending + done, stream->pending_len);
	return status;
}

int stream_flush(struct stream *stream, bool now, struct error *error)
{
	struct timespec time;
	int status;

	fflush(stream->file);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	if (stream->pending_len == 0)
		return 0;
	if (!now && stream->pending_len < FLUSH_LEN && time.tv_sec - stream->flushed.tv_sec < 2 &&
		(time.tv_sec == stream->flushed.tv_sec || time.tv_nsec < stream->flushed.tv_nsec))
		return 0;
	stream->flushed = time;
	status = write_pending(stream);
	return status ? output_dir_error(stream->output_dir, stream->name, -status, error) : 0;
}

void stream_forget(struct stream *stream)
{
	fflush(stream->file);
	stream->pending_len = 0;
}

uint64_t stream_len(const struct stream *stream)
{
	off_t len = lseek(stream->fd, 0, SEEK_CUR);

	return len < 0 ? 0 : (uint64_t)len;
}

int64_t stream_find(const struct stream *stream, const char *text)
{
	char head[HEAD_LEN];
	ssize_t len = pread(stream->fd, head, sizeof(head), 0);
	const char *place = len > 0 ? memmem(head, (size_t)len, text, strlen(text)) : NULL;

	if (len < 0)
		return -errno;
	return place ? place - head : -ENOENT;
}

int stream_put_at(struct stream *stream, uint64_t place, const char *text, struct error *error)
{
	/* It lies over what is on the disk already: there is room. */
	if (pwrite(stream->fd, text, strlen(text), (off_t)place) == (ssize_t)strlen(text))
		return 0;
	return output_dir_error(stream->output_dir, stream->name, errno ? errno : EIO, error);
}

int stream_close(struct stream *stream, struct error *error)
{
	int status = stream_flush(stream, true, error);

	fclose(stream->file);
	if (close(stream->fd) && errno != EINTR &&
		!status) /* network file systems tell of a full disk only now */
		status = output_dir_error(stream->output_dir, stream->name, errno, error);
	free(stream->pending);
	free(stream->name);
	free(stream);
	return status;
}
