/*
 * Direct reads or the page cache? What is in the cache comes from there several times as fast as
 * from any device. What is not in it would only evict other programs' pages, and is copied once
 * more than necessary. So a sample of the range is requested, with the flag that says not to wait
 * for a device.
 */
#include <errno.h>
#include <sys/uio.h>

#include "base/file.h"
#include "evidence/reader_ring.h"

#define SAMPLES 64
/* Not worth the question. */
#define SMALL_LEN (8u << 20)

/* The order of READER_IO_CHOICES. */
enum reader_method reader_io_method(unsigned choice)
{
	static const enum reader_method methods[] = { READER_AUTO, READER_URING, READER_THREADS };

	return choice < sizeof(methods) / sizeof(*methods) ? methods[choice] : READER_AUTO;
}

enum reader_cache reader_io_cache(unsigned choice)
{
	return choice == 3 ? READER_DIRECT : choice == 4 ? READER_BUFFERED : READER_CACHE_AUTO;
}

bool reader_plan_files(struct image *image, uint64_t offset)
{
	uint64_t fd_offset, len;
	int fd;

	return image_extent(image, offset, false, &fd, &fd_offset, &len) == 0;
}

bool reader_plan_is_served(const struct image *image)
{
	const struct image_info *info = image_info(image);

	for (size_t i = 0; i < info->path_count; i++)
		if (file_path_is_served(info->paths[i]))
			return true;
	return false;
}

static bool is_cached(struct image *image, uint64_t offset)
{
	uint64_t fd_offset, len;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	int fd;

	if (image_extent(image, offset, false, &fd, &fd_offset, &len))
		return true;
	/* Only EAGAIN says that the device would have to be waited for; a file system that does not
	 * support the flag (EOPNOTSUPP) is better left to its cache. */
	return preadv2(fd, &iov, 1, (off_t)fd_offset, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

static bool mostly_cached(struct image *image, uint64_t begin, uint64_t finish)
{
	uint64_t step = (finish - begin) / SAMPLES;
	unsigned cached = 0;

	for (unsigned i = 0; i < SAMPLES; i++)
		cached += is_cached(image, begin + i * step + step / 2);
	return cached > SAMPLES / 2;
}

bool reader_plan_direct(
	struct image *image, uint64_t begin, uint64_t finish, enum reader_cache cache)
{
	uint64_t fd_offset, len;
	int fd;

	if (cache == READER_BUFFERED || image_extent(image, begin, true, &fd, &fd_offset, &len))
		return false;
	if (cache == READER_DIRECT)
		return true;
	return finish - begin > SMALL_LEN && !mostly_cached(image, begin, finish);
}
