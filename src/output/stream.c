/*
 * stdio drops its buffer when a write fails. On a full disk that would take hundreds of records
 * with it, although the next moment there is room again: the run takes back the file that it could
 * not complete. So the FILE that the reports are printed to ends in memory, and only stream_flush
 * writes, at the end of a record.
 */
#include "output/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

#define FLUSH_LEN ((size_t)256 * 1024)
#define HEAD_LEN 4096

struct stream {
	struct sink *sink;
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

int stream_open(struct stream **result, struct sink *sink, const char *name, struct error *error)
{
	int fd = sink_create(sink, name, error);
	struct stream *stream;

	if (fd < 0)
		return fd;
	sink_reserve(sink, name);
	stream = xcalloc(1, sizeof(*stream));
	stream->sink = sink;
	stream->name = xstrdup(name);
	stream->fd = fd;
	stream->file = fopencookie(stream, "w", (cookie_io_functions_t){ .write = gather });
	if (!stream->file) {
		int status = sink_error(sink, name, errno, error);

		close(fd);
		free(stream->name);
		free(stream);
		return status;
	}
	*result = stream;
	return 0;
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
	return status ? sink_error(stream->sink, stream->name, -status, error) : 0;
}

int stream_replace(struct stream *stream, const char *was, const char *text, struct error *error)
{
	char head[HEAD_LEN];
	ssize_t len = pread(stream->fd, head, sizeof(head), 0);
	char *place = len > 0 ? memmem(head, (size_t)len, was, strlen(was)) : NULL;

	if (len < 0)
		return sink_error(stream->sink, stream->name, errno, error);
	if (!place)
		return -ENOENT;
	/* It lies over what is on the disk already: there is room. */
	if (pwrite(stream->fd, text, strlen(was), place - head) != (ssize_t)strlen(was))
		return sink_error(stream->sink, stream->name, errno ? errno : EIO, error);
	return 0;
}

int stream_close(struct stream *stream, struct error *error)
{
	int status = stream_flush(stream, true, error);

	fclose(stream->file);
	if (close(stream->fd) && errno != EINTR &&
		!status) /* network file systems tell of a full disk only now */
		status = sink_error(stream->sink, stream->name, errno, error);
	free(stream->pending);
	free(stream->name);
	free(stream);
	return status;
}
