#include "hashing/hash_index.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "hashing/hash_index_make.h"
#include "hashing/hash_list.h"

#define BUFFER_LEN ((size_t)1 << 20)
/* Read at once when a hash is looked for. */
#define WINDOW_LEN ((size_t)4096)
#define SUFFIX ".burin-index"

struct hash_index {
	int fd;
	struct hash_index_head head;
};

/* ---- using one that is there --------------------------------------------------------------- */

static int check_body(int fd, uint64_t file_len, uint32_t expected)
{
	uint8_t *buffer = xmalloc(BUFFER_LEN);
	uint32_t crc = 0;
	int status = 0;

	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	for (uint64_t at = HASH_INDEX_HEAD_LEN; at < file_len && !status;) {
		size_t len = file_len - at < BUFFER_LEN ? (size_t)(file_len - at) : BUFFER_LEN;

		status = file_read_all_at(fd, buffer, len, at);
		crc = libdeflate_crc32(crc, buffer, len);
		at += len;
	}
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	free(buffer);
	return status ? status : crc == expected ? 0 : -EBADMSG;
}

/* Returns 0, or a negative errno where there is none that is whole and belongs to the list. */
static int use(struct hash_index *index, const char *path, const struct hash_index_head *list)
{
	uint8_t bytes[HASH_INDEX_HEAD_LEN];
	struct hash_index_head *head = &index->head;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	struct stat info;
	int status = fd < 0 || fstat(fd, &info) ? -errno : S_ISREG(info.st_mode) ? 0 : -EBADMSG;

	if (!status)
		status = file_read_all_at(fd, bytes, sizeof(bytes), 0);
	if (!status &&
		(!hash_index_head_unpack(bytes, head) || !hash_index_head_same_list(head, list) ||
			!hash_index_head_fits(head, (uint64_t)info.st_size)))
		status = -EBADMSG;
	if (!status)
		status = check_body(fd, (uint64_t)info.st_size, head->body_crc);
	if (!status)
		index->fd = fd;
	else if (fd >= 0)
		close(fd);
	return status;
}

/* Makes it under another name and gives it its own when it is whole. -EACCES, with no words: not in
 * this folder. */
static int make_at(struct hash_index *index, const char *path, const char *list_path, size_t memory,
	struct error *error)
{
	char *temporary = xasprintf("%s.%ld.part", path, (long)getpid());
	char *folder = xstrdup(path);
	int status;

	*strrchr(folder, '/') = '\0';
	unlink(temporary);
	index->fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	status = index->fd < 0 ? -EACCES
			       : hash_index_make(index->fd, &index->head, list_path,
					 *folder ? folder : "/", memory, error);
	if (!status && rename(temporary, path))
		status = error_set(error, EXIT_IO, errno, "cannot rename the index '%s': %s",
			temporary, strerror(errno));
	if (status && index->fd >= 0) {
		unlink(temporary);
		close(index->fd);
	}
	free(temporary);
	free(folder);
	return status;
}

/* For this run alone. */
static int make_unnamed(
	struct hash_index *index, const char *list_path, size_t memory, struct error *error)
{
	const char *folder = getenv("TMPDIR");
	char *path;
	int status;

	if (!folder || !*folder)
		folder = "/tmp";
	path = xasprintf("%s/burin-index-XXXXXX", folder);
	index->fd = mkostemp(path, O_CLOEXEC);
	if (index->fd < 0) {
		status = error_set(error, EXIT_IO, errno, "cannot make an index in %s: %s", folder,
			strerror(errno));
	} else {
		unlink(path);
		status = hash_index_make(index->fd, &index->head, list_path, folder, memory, error);
		if (status)
			close(index->fd);
	}
	free(path);
	return status;
}

/* Where the index lies that can't lie beside the list: in the cache, named by the list's path. NULL
 * when there is no cache. The caller frees it. */
static char *cache_path(const char *list_path)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct hasher *hasher = hasher_new(HASH_SHA256);
	struct hashes hashes;
	char *folder, *path;

	hasher_update(hasher, list_path, strlen(list_path));
	hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	if (cache && *cache == '/')
		folder = xasprintf("%s/burin", cache);
	else if (home && *home == '/')
		folder = xasprintf("%s/.cache/burin", home);
	else
		return NULL;
	*strrchr(folder, '/') = '\0'; /* only what would be missing in a fresh home is made */
	mkdir(folder, 0700);
	folder[strlen(folder)] = '/';
	mkdir(folder, 0700);
	path = xasprintf("%s/%.40s" SUFFIX, folder, hashes.sha256);
	free(folder);
	return path;
}

static int open_any(struct hash_index *index, const char *list_path,
	const struct hash_index_head *list, size_t memory, struct error *error)
{
	char *paths[2] = { xasprintf("%s" SUFFIX, list_path), cache_path(list_path) };
	int status = -ENOENT;

	for (unsigned i = 0; i < 2 && status; i++)
		if (paths[i])
			status = use(index, paths[i], list);
	if (status) {
		index->head = *list;
		status = -EACCES;
	}
	for (unsigned i = 0; i < 2 && status == -EACCES && !error->code && index->fd < 0; i++)
		if (paths[i])
			status = make_at(index, paths[i], list_path, memory, error);
	if (status == -EACCES && !error->code)
		status = make_unnamed(index, list_path, memory, error);
	free(paths[0]);
	free(paths[1]);
	return status;
}

int hash_index_open(
	struct hash_index **result, const char *list_path, size_t memory, struct error *error)
{
	struct hash_index *index = xcalloc(1, sizeof(*index));
	char *path = realpath(list_path, NULL);
	struct error own = { 0 };
	struct hash_index_head list;
	int status;

	index->fd = -1;
	status = hash_index_head_of(path ? path : list_path, &list, &own);
	if (!status)
		status = open_any(index, path ? path : list_path, &list, memory, &own);
	free(path);
	if (!status) {
		*result = index;
		return 0;
	}
	free(index);
	if (error)
		*error = own;
	return status;
}

uint32_t hash_index_kinds(const struct hash_index *index)
{
	uint32_t mask = 0;

	for (unsigned k = 0; k < HASH_INDEX_KINDS; k++)
		if (index->head.counts[k])
			mask |= hash_index_kind_order[k];
	return mask;
}

uint64_t hash_index_count(const struct hash_index *index)
{
	return index->head.counts[0] + index->head.counts[1] + index->head.counts[2];
}

uint64_t hash_index_ignored(const struct hash_index *index)
{
	return index->head.ignored;
}

uint32_t hash_index_checksum(const struct hash_index *index)
{
	return index->head.body_crc;
}

/* ---- finding ------------------------------------------------------------------------------- */

static uint64_t prefix_of(const uint8_t *digest)
{
	uint64_t number;

	memcpy(&number, digest, sizeof(number));
	return be64toh(number);
}

/* Where in low .. high a digest would be if all were spread evenly between the two prefixes. */
static uint64_t guess(
	uint64_t low, uint64_t high, uint64_t wanted, uint64_t low_prefix, uint64_t high_prefix)
{
	double share;

	if (wanted <= low_prefix || high_prefix <= low_prefix)
		return low;
	share = (double)(wanted - low_prefix) / (double)(high_prefix - low_prefix);
	return share >= 1 ? high : low + (uint64_t)((double)(high - low) * share);
}

static int find_in(const uint8_t *digests, size_t count, size_t len, const uint8_t *digest)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = memcmp(digest, digests + middle * len, len);

		if (order == 0)
			return 1;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}

/* A window of neighbours is read at a guessed place; where it lies beside, the guess has halved the
 * rest at least every second time, so that a made-up list is no slower than a binary search. */
int hash_index_find(const struct hash_index *index, enum hash_kind kind, const uint8_t *digest)
{
	unsigned k = hash_index_kind_place(kind);
	size_t len = hash_digest_len(hash_index_kind_order[k]), window = WINDOW_LEN / len;
	uint64_t at = hash_index_body_at(&index->head, k), low = 0, high = index->head.counts[k];
	uint64_t wanted = prefix_of(digest), low_prefix = 0, high_prefix = UINT64_MAX;
	uint8_t digests[WINDOW_LEN];

	for (unsigned step = 0; low < high; step++) {
		uint64_t first = step % 2 ? low + (high - low) / 2
					  : guess(low, high, wanted, low_prefix, high_prefix);
		size_t count;
		int status;

		first = first - low < window / 2 ? low : first - window / 2;
		count = high - first < window ? (size_t)(high - first) : window;
		status = file_read_all_at(index->fd, digests, count * len, at + first * len);
		if (status)
			return status;
		if (memcmp(digest, digests, len) < 0) {
			high = first;
			high_prefix = prefix_of(digests);
		} else if (memcmp(digest, digests + (count - 1) * len, len) > 0) {
			low = first + count;
			low_prefix = prefix_of(digests + (count - 1) * len);
		} else {
			return find_in(digests, count, len, digest);
		}
	}
	return 0;
}

void hash_index_close(struct hash_index *index)
{
	if (!index)
		return;
	close(index->fd);
	free(index);
}
