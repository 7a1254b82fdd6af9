/*
 * A part is sorted in place by its first byte, then each bucket by the next (an "American flag"
 * radix sort); the depth is bounded by the length of a digest. Parts are merged with a heap.
 */
#include "hashing/digest_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

#define DIGEST_MAX 32
/* Below this many, insertion sort is faster. */
#define FEW 24
/* Each part's buffer when all are merged, at least. */
#define MERGE_BUFFER_MIN ((size_t)4096)

struct sorted_part {
	uint64_t at, left; /* in the temporary file: bytes */
	uint8_t *buffer;
	size_t used, filled; /* bytes of the buffer */
};

struct digest_sort {
	size_t len, capacity, count; /* bytes of a digest; digests */
	uint8_t *digests;
	const char *folder;
	int fd;           /* of the temporary file; -1: none yet */
	uint64_t written; /* bytes */
	struct sorted_part *parts;
	size_t part_count, part_capacity;
};

struct digest_sort *digest_sort_new(size_t digest_len, size_t memory, const char *folder)
{
	struct digest_sort *sort = xcalloc(1, sizeof(*sort));

	sort->len = digest_len;
	sort->capacity = memory / digest_len < 64 ? 64 : memory / digest_len;
	sort->digests = malloc(sort->capacity * digest_len);
	sort->folder = folder;
	sort->fd = -1;
	if (sort->digests)
		return sort;
	free(sort);
	return NULL;
}

void digest_sort_free(struct digest_sort *sort)
{
	if (!sort)
		return;
	if (sort->fd >= 0)
		close(sort->fd);
	free(sort->parts);
	free(sort->digests);
	free(sort);
}

/* ---- sorting a part ------------------------------------------------------------------------ */

static void swap(uint8_t *a, uint8_t *b, size_t len)
{
	uint8_t saved[DIGEST_MAX];

	memcpy(saved, a, len);
	memcpy(a, b, len);
	memcpy(b, saved, len);
}

static void sort_few(uint8_t *digests, size_t count, size_t len)
{
	uint8_t saved[DIGEST_MAX];

	for (size_t i = 1; i < count; i++) {
		size_t at = i;

		memcpy(saved, digests + i * len, len);
		for (; at && memcmp(digests + (at - 1) * len, saved, len) > 0; at--)
			memcpy(digests + at * len, digests + (at - 1) * len, len);
		memcpy(digests + at * len, saved, len);
	}
}

/* All agree in their first `byte` bytes. */
static void sort_by(uint8_t *digests, size_t count, size_t len, size_t byte)
{
	size_t begin[257] = { 0 }, next[256];

	if (byte == len)
		return;
	if (count <= FEW)
		return sort_few(digests, count, len);
	for (size_t i = 0; i < count; i++)
		begin[digests[i * len + byte] + 1]++;
	for (unsigned value = 0; value < 256; value++) {
		next[value] = begin[value];
		begin[value + 1] += begin[value];
	}
	for (unsigned value = 0; value < 256; value++)
		while (next[value] < begin[value + 1]) {
			uint8_t *digest = digests + next[value] * len;
			unsigned there = digest[byte];

			if (there == value)
				next[value]++;
			else
				swap(digest, digests + next[there]++ * len, len);
		}
	for (unsigned value = 0; value < 256; value++)
		if (begin[value + 1] - begin[value] > 1)
			sort_by(digests + begin[value] * len, begin[value + 1] - begin[value], len,
				byte + 1);
}

/* ---- parts --------------------------------------------------------------------------------- */

static int open_temporary(const char *folder)
{
	int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0)
		return fd;
	path = xasprintf("%s/.burin-sort-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unlink(path);
	free(path);
	return fd;
}

static int spill(struct digest_sort *sort)
{
	size_t len = sort->count * sort->len;
	int status;

	if (sort->fd < 0 && (sort->fd = open_temporary(sort->folder)) < 0)
		return sort->fd;
	sort_by(sort->digests, sort->count, sort->len, 0);
	status = file_write(sort->fd, sort->digests, len);
	if (status)
		return status;
	sort->parts =
		xgrow(sort->parts, &sort->part_capacity, sort->part_count, sizeof(*sort->parts));
	sort->parts[sort->part_count++] = (struct sorted_part){ .at = sort->written, .left = len };
	sort->written += len;
	sort->count = 0;
	return 0;
}

int digest_sort_add(struct digest_sort *sort, const uint8_t *digest)
{
	int status = sort->count == sort->capacity ? spill(sort) : 0;

	if (!status)
		memcpy(sort->digests + sort->count++ * sort->len, digest, sort->len);
	return status;
}

/* ---- merging ------------------------------------------------------------------------------- */

static const uint8_t *head(const struct sorted_part *part)
{
	return part->buffer + part->used;
}

/* Brings the part's next digest into its buffer. 1, 0 when there is none, or a negative errno. */
static int refill(struct digest_sort *sort, struct sorted_part *part, size_t buffer_len)
{
	size_t wanted = part->left < buffer_len ? (size_t)part->left : buffer_len;
	int status;

	if (part->used < part->filled)
		return 1;
	part->used = part->filled = 0;
	status = file_read_all_at(sort->fd, part->buffer, wanted, part->at);
	if (status)
		return status;
	part->filled = wanted;
	part->at += wanted;
	part->left -= wanted;
	return wanted != 0;
}

/* The parts form a heap: none has a smaller head than its parent, the one at half its index. */
static void sift_down(struct digest_sort *sort, size_t at)
{
	for (;;) {
		size_t least = at;
		struct sorted_part saved;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < sort->part_count &&
				memcmp(head(&sort->parts[child]), head(&sort->parts[least]),
					sort->len) < 0)
				least = child;
		if (least == at)
			return;
		saved = sort->parts[at];
		sort->parts[at] = sort->parts[least];
		sort->parts[least] = saved;
		at = least;
	}
}

/* Takes the first part off the heap when it is used up. */
static int advance(struct digest_sort *sort, size_t buffer_len)
{
	int got;

	sort->parts[0].used += sort->len;
	got = refill(sort, &sort->parts[0], buffer_len);
	if (got < 0)
		return got;
	if (!got)
		sort->parts[0] = sort->parts[--sort->part_count];
	sift_down(sort, 0);
	return 0;
}

static int merge(
	struct digest_sort *sort, int (*take)(void *context, const uint8_t *digest), void *context)
{
	size_t buffer_len = sort->capacity / sort->part_count * sort->len;
	uint8_t last[DIGEST_MAX];
	bool any = false;
	int status = 0;

	if (buffer_len < MERGE_BUFFER_MIN && sort->part_count > 64)
		return -EFBIG;
	for (size_t i = 0; i < sort->part_count; i++) {
		sort->parts[i].buffer = sort->digests + i * buffer_len;
		status = refill(sort, &sort->parts[i], buffer_len);
		if (status < 0)
			return status;
	}
	status = 0;
	for (size_t i = sort->part_count / 2 + 1; i-- > 0;)
		sift_down(sort, i);
	while (sort->part_count && !status) {
		const uint8_t *digest = head(&sort->parts[0]);

		if (!any || memcmp(last, digest, sort->len) != 0)
			status = take(context, digest);
		any = true;
		memcpy(last, digest, sort->len);
		if (!status)
			status = advance(sort, buffer_len);
	}
	return status;
}

int digest_sort_finish(
	struct digest_sort *sort, int (*take)(void *context, const uint8_t *digest), void *context)
{
	int status = 0;

	if (sort->part_count) {
		status = sort->count ? spill(sort) : 0;
		return status ? status : merge(sort, take, context);
	}
	sort_by(sort->digests, sort->count, sort->len, 0);
	for (size_t i = 0; i < sort->count && !status; i++)
		if (!i || memcmp(sort->digests + (i - 1) * sort->len, sort->digests + i * sort->len,
				  sort->len) != 0)
			status = take(context, sort->digests + i * sort->len);
	return status;
}
