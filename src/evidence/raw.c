/*
 * Raw images: a file, the parts of a split one, a block device. Offsets in the image are offsets in
 * the files.
 *
 * A part has two descriptors: one through the page cache, opened at once, and one with O_DIRECT,
 * opened on first use. All stay open, since requests in flight use them; for sets of many parts the
 * limit on descriptors is raised.
 *
 * The page cache reads in pages: a bad sector makes its whole page unreadable, good neighbours
 * included. So a small request that fails is tried once more without the cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "evidence/backend.h"
#include "evidence/split.h"

#define SECTOR_LEN 512
#define DIRECT_RETRY_LEN 4096

enum { DIRECT_UNTRIED = -1, DIRECT_REFUSED = -2 };

struct raw_part {
	int fd, direct_fd; /* direct_fd: or one of the enum above */
	uint64_t start, len;
};

struct raw {
	struct image image;
	struct raw_part *parts;
	size_t count;         /* that are open */
	pthread_mutex_t lock; /* for opening direct descriptors */
};

/* Asked last, and accepts everything. */
static bool raw_probe(const struct image_ends *ends)
{
	(void)ends;
	return true;
}

static int measure_device(
	struct raw *raw, struct raw_part *part, const char *path, struct error *error)
{
	int sector_len;

	if (ioctl(part->fd, BLKGETSIZE64, &part->len))
		return error_set(error, EXIT_IO, EIO, "can't ask %s for its size: %s", path,
			strerror(errno));
	if (part->len == 0)
		return error_set(error, EXIT_IO, ENOMEDIUM,
			"the device %s has no bytes: is there a medium in it?", path);
	if (ioctl(part->fd, BLKSSZGET, &sector_len) == 0 && sector_len > 0)
		raw->image.info.sector_size = (uint32_t)sector_len;
	return 0;
}

static int measure_part(
	struct raw *raw, struct raw_part *part, const char *path, struct error *error)
{
	struct stat st;

	if (fstat(part->fd, &st))
		return error_set(
			error, EXIT_IO, EIO, "can't inspect %s: %s", path, strerror(errno));
	if (S_ISBLK(st.st_mode) && raw->image.info.path_count == 1)
		return measure_device(raw, part, path, error);
	if (!S_ISREG(st.st_mode))
		return error_set(error, EXIT_IO, EINVAL,
			"%s is not a regular file, but its name makes it a part of the image",
			path);
	if (st.st_size == 0)
		return error_set(error, EXIT_IO, ENODATA,
			"%s, a part of the image, is empty: copy it again", path);
	part->len = (uint64_t)st.st_size;
	return 0;
}

/* Adds a part after those that are open. */
static int open_part(struct raw *raw, const char *path, struct error *error)
{
	struct raw_part *part = &raw->parts[raw->count];

	/* O_NONBLOCK, in case the name is a pipe's, for which open would wait. Reads must wait. */
	part->fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (part->fd >= 0)
		fcntl(part->fd, F_SETFL, fcntl(part->fd, F_GETFL) & ~O_NONBLOCK);
	if (part->fd < 0)
		return error_set(error, EXIT_IO, errno, "can't open %s: %s%s", path,
			strerror(errno),
			errno == EMFILE ? "; raise the limit with `ulimit -n`" : "");
	part->direct_fd = DIRECT_UNTRIED;
	part->start = raw->image.info.size;
	raw->count++;
	return measure_part(raw, part, path, error);
}

static void raw_close(struct image *image)
{
	struct raw *raw = (struct raw *)image;

	for (size_t i = 0; i < raw->count; i++) {
		close(raw->parts[i].fd);
		if (raw->parts[i].direct_fd >= 0)
			close(raw->parts[i].direct_fd);
	}
	pthread_mutex_destroy(&raw->lock);
	free(raw->parts);
	free(raw);
}

static const char *format_of(const struct raw *raw)
{
	struct stat st;

	if (raw->count > 1)
		return "split raw";
	return fstat(raw->parts[0].fd, &st) == 0 && S_ISBLK(st.st_mode) ? "device" : "raw";
}

static int raw_open(
	struct image **image, const char *path, const struct image_ends *ends, struct error *error)
{
	struct raw *raw;
	struct image_info *info;
	char **paths;
	size_t count;
	int rc = split_find(path, &paths, &count, error);

	(void)ends;
	if (rc)
		return rc;
	raw = xcalloc(1, sizeof(*raw));
	raw->image.backend = &raw_backend;
	raw->parts = xcalloc(count, sizeof(*raw->parts));
	pthread_mutex_init(&raw->lock, NULL);
	info = &raw->image.info;
	info->sector_size = SECTOR_LEN;
	info->paths = paths;
	info->path_count = count;
	image_allow_descriptors(2 * count);
	for (size_t i = 0; i < count; i++) {
		rc = open_part(raw, paths[i], error);
		if (rc) {
			image_close(&raw->image);
			return rc;
		}
		info->size += raw->parts[i].len;
	}
	info->format = format_of(raw);
	raw->image.read_unit = info->sector_size;
	*image = &raw->image;
	return 0;
}

/* The part that has offset, which is inside the image. */
static struct raw_part *part_at(struct raw *raw, uint64_t offset)
{
	size_t low = 0, high = raw->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (raw->parts[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return &raw->parts[low];
}

/* By way of the open one, so that it is the same file whatever has happened to its name. */
static int direct_descriptor(struct raw *raw, struct raw_part *part)
{
	char same[64];
	int fd;

	pthread_mutex_lock(&raw->lock);
	if (part->direct_fd == DIRECT_UNTRIED) {
		snprintf(same, sizeof(same), "/proc/self/fd/%d", part->fd);
		fd = image_open_file(same, O_RDONLY | O_CLOEXEC | O_DIRECT);
		part->direct_fd = fd >= 0 ? fd : DIRECT_REFUSED;
	}
	fd = part->direct_fd;
	pthread_mutex_unlock(&raw->lock);
	return fd >= 0 ? fd : -ENOTSUP;
}

/* Reads len bytes (at most DIRECT_RETRY_LEN) past the page cache. Fails for parts that aren't
 * aligned as the device wants; then the first failure stands. */
static int read_uncached(
	struct raw *raw, struct raw_part *part, uint64_t offset, void *buffer, size_t len)
{
	int fd = direct_descriptor(raw, part), rc = -EIO;
	void *aligned;

	if (fd < 0 || posix_memalign(&aligned, DIRECT_RETRY_LEN, DIRECT_RETRY_LEN))
		return -EIO;
	if (pread(fd, aligned, len, (off_t)offset) == (ssize_t)len) {
		memcpy(buffer, aligned, len);
		rc = 0;
	}
	free(aligned);
	return rc;
}

static int read_part(
	struct raw *raw, struct raw_part *part, uint64_t offset, void *buffer, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t got = pread(
			part->fd, (uint8_t *)buffer + done, len - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EIO && len <= DIRECT_RETRY_LEN)
			return read_uncached(raw, part, offset, buffer, len);
		if (got <= 0)
			return got < 0 ? -errno : -EIO; /* 0: the file has become shorter */
		done += (size_t)got;
	}
	return 0;
}

/* Of one part only. */
static int read_segment(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	struct raw *raw = state;
	struct raw_part *part = part_at(raw, offset);
	uint64_t in_part = offset - part->start;

	if (*len > part->len - in_part)
		*len = (size_t)(part->len - in_part);
	return read_part(raw, part, in_part, to, *len);
}

static int raw_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, read_segment);
}

static int raw_extent(struct image *image, uint64_t offset, bool direct, int *fd,
	uint64_t *fd_offset, uint64_t *len)
{
	struct raw *raw = (struct raw *)image;
	struct raw_part *part = part_at(raw, offset);

	*fd = direct ? direct_descriptor(raw, part) : part->fd;
	if (*fd < 0)
		return -ENOTSUP;
	*fd_offset = offset - part->start;
	*len = part->len - *fd_offset;
	return 0;
}

/* Whether as many bytes are stored as the file has: then to ask where there are none is of no use, and takes 0.1 s of 13 GiB in
 * memory. */
static bool is_stored(const struct stat *st)
{
	return st->st_size && (uint64_t)st->st_blocks >= ((uint64_t)st->st_size + 511) / 512;
}

/* The file system reports where nothing is stored. After the last stored byte it only answers
 * ENXIO, as it does past the end of a file that has become shorter: what was there is not a hole,
 * but can't be read. */
static bool raw_hole(struct image *image, uint64_t offset, uint64_t *len)
{
	struct raw *raw = (struct raw *)image;
	struct raw_part *part = part_at(raw, offset);
	uint64_t at = offset - part->start, end = part->len;
	off_t data, next;
	struct stat st;

	*len = end - at;
	if (!fstat(part->fd, &st) && S_ISREG(st.st_mode) && is_stored(&st))
		return false;
	data = lseek(part->fd, (off_t)at, SEEK_DATA);
	if (data < 0 && errno == ENXIO && !fstat(part->fd, &st) && (uint64_t)st.st_size > at)
		data = st.st_size;
	if (data > (off_t)at) {
		*len = ((uint64_t)data < end ? (uint64_t)data : end) - at;
		return true;
	}
	next = data < 0 ? -1 : lseek(part->fd, (off_t)at, SEEK_HOLE);
	if (next > (off_t)at && (uint64_t)next < end)
		end = (uint64_t)next;
	*len = end - at;
	return false;
}

const struct image_backend raw_backend = {
	.name = "raw",
	.probe = raw_probe,
	.open = raw_open,
	.read_at = raw_read_at,
	.extent = raw_extent,
	.hole = raw_hole,
	.close = raw_close,
};
