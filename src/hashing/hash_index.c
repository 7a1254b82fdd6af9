/*
 * The file of an index, in little-endian numbers:
 *
 *     at  bytes
 *      0      8  "BURINSET"
 *      8      4  version: 1
 *     16      8  bytes of the list
 *     24     16  when the list was changed: seconds, nanoseconds
 *     40     32  SHA-256 of a sample of the list
 *     72     24  number of MD5, SHA-1 and SHA-256 digests
 *     96      8  lines of the list without a hash
 *    104      4  CRC-32 of all after the head
 *    124      4  CRC-32 of the 124 bytes before
 *    128         the digests of each kind, sorted
 *
 * It is read with pread, not mapped: a file that is cut short meanwhile is an error and no signal.
 * A hash is found by interpolation: digests are spread evenly, so one read of 4 KiB at a computed
 * place nearly always contains the place where it would be.
 *
 * Why not an SQLite table: with 50 million digests SQLite takes five times the processor time to
 * build it from an unsorted list, and what makes it faster, sorting the digests first
 * (digest_sort.h), is half of this (tests/bench/RESULTS.md).
 */
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

#include "base/endian.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "hashing/digest_sort.h"
#include "hashing/hash_list.h"

#define SUFFIX ".burin-index"
#define VERSION 1
#define HEAD_LEN 128
#define HEAD_CRC_AT 124
#define KINDS 3
#define BUFFER_LEN ((size_t)1 << 20)
/* Bytes that are read at once to find a hash. */
#define WINDOW_LEN ((size_t)4096)
/* A list is identified by this many bytes of its beginning, its middle and its end. */
#define SAMPLE_LEN ((size_t)65536)

/* In the order of the file. */
static const enum hash_kind kind_order[KINDS] = { HASH_MD5, HASH_SHA1, HASH_SHA256 };

struct index_head {
	uint64_t list_len, seconds, nanoseconds;
	uint8_t sample[32];
	uint64_t counts[KINDS];
	uint64_t ignored;
	uint32_t body_crc;
};

struct hash_index {
	int fd;
	struct index_head head;
};

/* ---- the head ------------------------------------------------------------------------------ */

static unsigned kind_place(enum hash_kind kind)
{
	return kind == HASH_MD5 ? 0 : kind == HASH_SHA1 ? 1 : 2;
}

static void pack_head(const struct index_head *head, uint8_t bytes[HEAD_LEN])
{
	memset(bytes, 0, HEAD_LEN);
	memcpy(bytes, "BURINSET", 8);
	endian_put(bytes + 8, VERSION, 4);
	endian_put(bytes + 16, head->list_len, 8);
	endian_put(bytes + 24, head->seconds, 8);
	endian_put(bytes + 32, head->nanoseconds, 8);
	memcpy(bytes + 40, head->sample, sizeof(head->sample));
	for (unsigned k = 0; k < KINDS; k++)
		endian_put(bytes + 72 + 8 * k, head->counts[k], 8);
	endian_put(bytes + 96, head->ignored, 8);
	endian_put(bytes + 104, head->body_crc, 4);
	endian_put(bytes + HEAD_CRC_AT, libdeflate_crc32(0, bytes, HEAD_CRC_AT), 4);
}

/* False: not an index of this version, or damaged. */
static bool unpack_head(const uint8_t bytes[HEAD_LEN], struct index_head *head)
{
	if (memcmp(bytes, "BURINSET", 8) != 0 || endian_u32(bytes + 8) != VERSION ||
		endian_u32(bytes + HEAD_CRC_AT) != libdeflate_crc32(0, bytes, HEAD_CRC_AT))
		return false;
	head->list_len = endian_u64(bytes + 16);
	head->seconds = endian_u64(bytes + 24);
	head->nanoseconds = endian_u64(bytes + 32);
	memcpy(head->sample, bytes + 40, sizeof(head->sample));
	for (unsigned k = 0; k < KINDS; k++)
		head->counts[k] = endian_u64(bytes + 72 + 8 * k);
	head->ignored = endian_u64(bytes + 96);
	head->body_crc = endian_u32(bytes + 104);
	return true;
}

/* Fills in what identifies the list, with counts of 0. Returns 0 or a negative errno with error
 * set. */
static int identify_list(const char *path, struct index_head *head, struct error *error)
{
	struct hasher *hasher = hasher_new(HASH_SHA256);
	uint8_t *bytes = xmalloc(SAMPLE_LEN);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct hashes hashes = { 0 };
	enum hash_kind kind;
	struct stat info;
	int status = fd < 0 || fstat(fd, &info) ? -errno : S_ISREG(info.st_mode) ? 0 : -EINVAL;
	char clean[512];

	for (unsigned i = 0; i < 3 && !status; i++) { /* its beginning, middle and end */
		uint64_t len = (uint64_t)info.st_size;
		size_t part = len < SAMPLE_LEN ? (size_t)len : SAMPLE_LEN;

		status = file_read_all_at(fd, bytes, part, (len - part) / 2 * i);
		hasher_update(hasher, bytes, part);
	}
	if (fd >= 0)
		close(fd);
	hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	free(bytes);
	if (status)
		return error_set(error, EXIT_USAGE, -status,
			"cannot read the list of hashes '%s': %s",
			text_clean(path, clean, sizeof(clean)),
			status == -EINVAL ? "it is not a plain file" : strerror(-status));
	*head = (struct index_head){ .list_len = (uint64_t)info.st_size,
		.seconds = (uint64_t)info.st_mtim.tv_sec,
		.nanoseconds = (uint64_t)info.st_mtim.tv_nsec };
	hash_digest_parse(hashes.sha256, 64, &kind, head->sample);
	return 0;
}

/* Whether the counts match a file of this length, to the byte. */
static bool counts_fit(const struct index_head *head, uint64_t file_len)
{
	uint64_t left = file_len < HEAD_LEN ? 0 : file_len - HEAD_LEN;

	for (unsigned k = 0; k < KINDS; k++) {
		uint64_t len = hash_digest_len(kind_order[k]);

		if (head->counts[k] > left / len)
			return false;
		left -= head->counts[k] * len;
	}
	return left == 0 && file_len >= HEAD_LEN;
}

static bool is_same_list(const struct index_head *a, const struct index_head *b)
{
	return a->list_len == b->list_len && a->seconds == b->seconds &&
	       a->nanoseconds == b->nanoseconds &&
	       memcmp(a->sample, b->sample, sizeof(a->sample)) == 0;
}

/* Where the digests of a kind begin, bytes. place: of the kind in the order. */
static uint64_t body_at(const struct index_head *head, unsigned place)
{
	uint64_t at = HEAD_LEN;

	for (unsigned k = 0; k < place; k++)
		at += head->counts[k] * hash_digest_len(kind_order[k]);
	return at;
}

/* ---- making an index ----------------------------------------------------------------------- */

struct making {
	int fd;
	struct index_head *head;
	const char *folder;
	size_t memory;
	struct digest_sort *sorts[KINDS]; /* NULL: there was none of the kind */
	unsigned kind;                    /* being written */
	uint8_t *buffer;
	size_t used;
	uint64_t at;
};

static int sort_digest(void *context, enum hash_kind kind, const uint8_t *digest)
{
	struct making *making = context;
	unsigned k = kind_place(kind);

	if (!making->sorts[k])
		making->sorts[k] =
			digest_sort_new(hash_digest_len(kind), making->memory, making->folder);
	return making->sorts[k] ? digest_sort_add(making->sorts[k], digest) : -ENOMEM;
}

static int flush(struct making *making)
{
	struct index_head *head = making->head;
	int status = file_write_at(making->fd, making->buffer, making->used, making->at);

	head->body_crc = libdeflate_crc32(head->body_crc, making->buffer, making->used);
	making->at += making->used;
	making->used = 0;
	return status;
}

static int write_digest(void *context, const uint8_t *digest)
{
	struct making *making = context;
	size_t len = hash_digest_len(kind_order[making->kind]);
	int status = making->used + len > BUFFER_LEN ? flush(making) : 0;

	memcpy(making->buffer + making->used, digest, len);
	making->used += len;
	making->head->counts[making->kind]++;
	return status;
}

static int write_index(struct making *making)
{
	uint8_t bytes[HEAD_LEN];
	int status = 0;

	making->buffer = xmalloc(BUFFER_LEN);
	making->at = HEAD_LEN;
	for (making->kind = 0; making->kind < KINDS && !status; making->kind++)
		if (making->sorts[making->kind])
			status = digest_sort_finish(
				making->sorts[making->kind], write_digest, making);
	if (!status)
		status = flush(making);
	pack_head(making->head, bytes);
	if (!status)
		status = file_write_at(making->fd, bytes, sizeof(bytes), 0);
	free(making->buffer);
	return status;
}

/* Writes the index into fd, an empty file, and fills in the rest of head. folder: for temporary
 * files. memory: bytes to use, for each kind of hash. Logs that it is made. Returns 0 or a negative
 * errno with error set: the list can't be read or contains no hash, or the index can't be written. */
static int write_index_of(int fd, struct index_head *head, const char *list_path,
	const char *folder, size_t memory, struct error *error)
{
	struct making making = { .fd = fd, .head = head, .folder = folder, .memory = memory };
	struct hash_list_reader reader = { .take = sort_digest, .context = &making };
	char clean[512];
	int status;

	text_clean(list_path, clean, sizeof(clean));
	log_info("%s: making an index of its hashes", clean);
	status = hash_list_read(list_path, &reader, error);
	head->ignored = reader.ignored;
	if (!status && !making.sorts[0] && !making.sorts[1] && !making.sorts[2])
		status = error_set(error, EXIT_USAGE, EINVAL,
			"'%s' contains no MD5, SHA-1 or SHA-256 as a separate word in any line",
			clean);
	else if (!status)
		status = write_index(&making);
	for (unsigned k = 0; k < KINDS; k++)
		digest_sort_free(making.sorts[k]);
	if (status && !error->code)
		error_set(error, EXIT_IO, -status, "cannot make the index of '%s': %s", clean,
			strerror(-status));
	return status;
}

/* ---- opening an index ---------------------------------------------------------------------- */

static int check_body(int fd, uint64_t file_len, uint32_t expected)
{
	uint8_t *buffer = xmalloc(BUFFER_LEN);
	uint32_t crc = 0;
	int status = 0;

	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	for (uint64_t at = HEAD_LEN; at < file_len && !status;) {
		size_t len = file_len - at < BUFFER_LEN ? (size_t)(file_len - at) : BUFFER_LEN;

		status = file_read_all_at(fd, buffer, len, at);
		crc = libdeflate_crc32(crc, buffer, len);
		at += len;
	}
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	free(buffer);
	return status ? status : crc == expected ? 0 : -EBADMSG;
}

/* Returns 0, or a negative errno where there is no intact index of the list. */
static int open_existing(struct hash_index *index, const char *path, const struct index_head *list)
{
	uint8_t bytes[HEAD_LEN];
	struct index_head *head = &index->head;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	struct stat info;
	int status = fd < 0 || fstat(fd, &info) ? -errno : S_ISREG(info.st_mode) ? 0 : -EBADMSG;

	if (!status)
		status = file_read_all_at(fd, bytes, sizeof(bytes), 0);
	if (!status && (!unpack_head(bytes, head) || !is_same_list(head, list) ||
			       !counts_fit(head, (uint64_t)info.st_size)))
		status = -EBADMSG;
	if (!status)
		status = check_body(fd, (uint64_t)info.st_size, head->body_crc);
	if (!status)
		index->fd = fd;
	else if (fd >= 0)
		close(fd);
	return status;
}

/* Makes it under another name and renames it when it is complete. -EACCES without an error set:
 * this folder is not writable. */
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
			       : write_index_of(index->fd, &index->head, list_path,
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
		status = write_index_of(index->fd, &index->head, list_path, folder, memory, error);
		if (status)
			close(index->fd);
	}
	free(path);
	return status;
}

/* The path of an index that can't be next to its list: in the cache, named by the list's path. NULL
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
	*strrchr(folder, '/') = '\0'; /* creates only what a fresh home may lack */
	mkdir(folder, 0700);
	folder[strlen(folder)] = '/';
	mkdir(folder, 0700);
	path = xasprintf("%s/%.40s" SUFFIX, folder, hashes.sha256);
	free(folder);
	return path;
}

static int open_any(struct hash_index *index, const char *list_path, const struct index_head *list,
	size_t memory, bool keep, struct error *error)
{
	char *paths[2] = { xasprintf("%s" SUFFIX, list_path), cache_path(list_path) };
	int status = -ENOENT;

	for (unsigned i = 0; i < 2 && status; i++)
		if (paths[i])
			status = open_existing(index, paths[i], list);
	if (status) {
		index->head = *list;
		status = -EACCES;
	}
	for (unsigned i = 0; i < 2 && status == -EACCES && !error->code && index->fd < 0; i++)
		if (keep && paths[i])
			status = make_at(index, paths[i], list_path, memory, error);
	if (status == -EACCES && !error->code)
		status = make_unnamed(index, list_path, memory, error);
	free(paths[0]);
	free(paths[1]);
	return status;
}

int hash_index_open(struct hash_index **result, const char *list_path, size_t memory, bool keep,
	struct error *error)
{
	struct hash_index *index = xcalloc(1, sizeof(*index));
	char *path = realpath(list_path, NULL);
	struct error own = { 0 };
	struct index_head list;
	int status;

	index->fd = -1;
	status = identify_list(path ? path : list_path, &list, &own);
	if (!status)
		status = open_any(index, path ? path : list_path, &list, memory, keep, &own);
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

	for (unsigned k = 0; k < KINDS; k++)
		if (index->head.counts[k])
			mask |= kind_order[k];
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

/* Where in low .. high a digest would be if digests were spread evenly between the two prefixes. */
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

/* Reads a window of neighbours at a guessed place. Every second guess is the middle, so that even a
 * list made to mislead takes at most twice as long as a binary search. */
int hash_index_find(const struct hash_index *index, enum hash_kind kind, const uint8_t *digest)
{
	unsigned k = kind_place(kind);
	size_t len = hash_digest_len(kind_order[k]), window = WINDOW_LEN / len;
	uint64_t at = body_at(&index->head, k), low = 0, high = index->head.counts[k];
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
