#include "hashing/hash_index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/text.h"
#include "hashing/hash_list.h"

#define VERSION 1
#define HEAD_CRC_AT 124
/* A list is told by so many bytes of its beginning, its middle and its end. */
#define SAMPLE_LEN ((size_t)65536)

const enum hash_kind hash_index_kind_order[HASH_INDEX_KINDS] = { HASH_MD5, HASH_SHA1, HASH_SHA256 };

unsigned hash_index_kind_place(enum hash_kind kind)
{
	return kind == HASH_MD5 ? 0 : kind == HASH_SHA1 ? 1 : 2;
}

void hash_index_head_pack(const struct hash_index_head *head, uint8_t bytes[HASH_INDEX_HEAD_LEN])
{
	memset(bytes, 0, HASH_INDEX_HEAD_LEN);
	memcpy(bytes, "BURINSET", 8);
	endian_put(bytes + 8, VERSION, 4);
	endian_put(bytes + 16, head->list_len, 8);
	endian_put(bytes + 24, head->seconds, 8);
	endian_put(bytes + 32, head->nanoseconds, 8);
	memcpy(bytes + 40, head->sample, sizeof(head->sample));
	for (unsigned k = 0; k < HASH_INDEX_KINDS; k++)
		endian_put(bytes + 72 + 8 * k, head->counts[k], 8);
	endian_put(bytes + 96, head->ignored, 8);
	endian_put(bytes + 104, head->body_crc, 4);
	endian_put(bytes + HEAD_CRC_AT, libdeflate_crc32(0, bytes, HEAD_CRC_AT), 4);
}

bool hash_index_head_unpack(const uint8_t bytes[HASH_INDEX_HEAD_LEN], struct hash_index_head *head)
{
	if (memcmp(bytes, "BURINSET", 8) != 0 || endian_u32(bytes + 8) != VERSION ||
		endian_u32(bytes + HEAD_CRC_AT) != libdeflate_crc32(0, bytes, HEAD_CRC_AT))
		return false;
	head->list_len = endian_u64(bytes + 16);
	head->seconds = endian_u64(bytes + 24);
	head->nanoseconds = endian_u64(bytes + 32);
	memcpy(head->sample, bytes + 40, sizeof(head->sample));
	for (unsigned k = 0; k < HASH_INDEX_KINDS; k++)
		head->counts[k] = endian_u64(bytes + 72 + 8 * k);
	head->ignored = endian_u64(bytes + 96);
	head->body_crc = endian_u32(bytes + 104);
	return true;
}

int hash_index_head_of(const char *path, struct hash_index_head *head, struct error *error)
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
	*head = (struct hash_index_head){ .list_len = (uint64_t)info.st_size,
		.seconds = (uint64_t)info.st_mtim.tv_sec,
		.nanoseconds = (uint64_t)info.st_mtim.tv_nsec };
	hash_digest_parse(hashes.sha256, 64, &kind, head->sample);
	return 0;
}

bool hash_index_head_fits(const struct hash_index_head *head, uint64_t file_len)
{
	uint64_t left = file_len < HASH_INDEX_HEAD_LEN ? 0 : file_len - HASH_INDEX_HEAD_LEN;

	for (unsigned k = 0; k < HASH_INDEX_KINDS; k++) {
		uint64_t len = hash_digest_len(hash_index_kind_order[k]);

		if (head->counts[k] > left / len)
			return false;
		left -= head->counts[k] * len;
	}
	return left == 0 && file_len >= HASH_INDEX_HEAD_LEN;
}

bool hash_index_head_same_list(const struct hash_index_head *a, const struct hash_index_head *b)
{
	return a->list_len == b->list_len && a->seconds == b->seconds &&
	       a->nanoseconds == b->nanoseconds &&
	       memcmp(a->sample, b->sample, sizeof(a->sample)) == 0;
}

uint64_t hash_index_body_at(const struct hash_index_head *head, unsigned place)
{
	uint64_t at = HASH_INDEX_HEAD_LEN;

	for (unsigned k = 0; k < place; k++)
		at += head->counts[k] * hash_digest_len(hash_index_kind_order[k]);
	return at;
}
