/*
 * Lists of hashes, and indexes of them, of hostile content. The first byte says which: a list of
 * any form, databases too, or an index that claims to be of a list that is there, its checksums
 * made right.
 */
#include <errno.h>
#include <libdeflate.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "hashing/hash_index.h"
#include "hashing/hash_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define HEAD_LEN 128
#define COUNTS_AT 72
#define LIST "d41d8cd98f00b204e9800998ecf8427e\n"

static int take(void *context, enum hash_kind kind, const uint8_t *digest)
{
	uint64_t *sum = context;

	for (size_t i = 0; i < hash_digest_len(kind); i++)
		*sum += digest[i];
	return 0;
}

static void try_list(const uint8_t *data, size_t len)
{
	uint64_t sum = 0;
	struct hash_list_reader reader = { .take = take, .context = &sum };
	struct error error = { 0 };
	char path[64];
	int fd = memfd_create("list", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (hash_list_read(path, &reader, &error) && !*error.text)
		abort();
	close(fd);
}

static void write_file(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file))
		abort();
}

/* The head of the list's true index. */
static void make_index(const char *list, const char *index, uint8_t head[HEAD_LEN])
{
	struct hash_index *made;
	struct error error = { 0 };
	FILE *file;

	write_file(list, LIST, sizeof(LIST) - 1);
	if (hash_index_open(&made, list, 4096, true, &error))
		abort();
	hash_index_close(made);
	file = fopen(index, "rb");
	if (!file || fread(head, 1, HEAD_LEN, file) != HEAD_LEN)
		abort();
	fclose(file);
}

static void put_crc(uint8_t *at, uint32_t crc)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(crc >> 8 * i);
}

static void try_index(const uint8_t *data, size_t len)
{
	static char folder[] = "/tmp/burin-fuzz-XXXXXX", list[64], path[80];
	static uint8_t head[HEAD_LEN];
	uint8_t *bytes = calloc(1, HEAD_LEN + len);
	struct hash_index *index;
	struct error error = { 0 };
	size_t body = len > 56 ? len - 56 : 0;

	if (!*list) {
		if (!mkdtemp(folder))
			abort();
		snprintf(list, sizeof(list), "%s/list", folder);
		snprintf(path, sizeof(path), "%s/list.burin-index", folder);
		make_index(list, path, head);
	}
	memcpy(bytes, head, HEAD_LEN);
	memcpy(bytes + COUNTS_AT, data, len < 32 ? len : 32);
	if (body)
		memcpy(bytes + HEAD_LEN, data + 56, body);
	put_crc(bytes + 104, libdeflate_crc32(0, bytes + HEAD_LEN, body));
	put_crc(bytes + 124, libdeflate_crc32(0, bytes, 124));
	write_file(path, bytes, HEAD_LEN + body);
	if (hash_index_open(&index, list, 4096, true, &error))
		abort(); /* an invalid index is made anew */
	for (unsigned kind = HASH_MD5; kind <= HASH_SHA256; kind *= 2) {
		if (hash_index_find(index, kind, head + 40) < 0)
			abort();
		if (body >= 32 && hash_index_find(index, kind, bytes + HEAD_LEN) < 0)
			abort();
	}
	hash_index_close(index);
	unlink(path);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	log_set_level(LOG_ERROR);
	if (!len)
		return 0;
	if (*data & 1)
		try_index(data + 1, len - 1);
	else
		try_list(data + 1, len - 1);
	return 0;
}
