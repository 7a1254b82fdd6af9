#include "hashing/hash_index_make.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "hashing/digest_sort.h"
#include "hashing/hash_list.h"

#define BUFFER_LEN ((size_t)1 << 20)

struct making {
	int fd;
	struct hash_index_head *head;
	const char *folder;
	size_t memory;
	struct digest_sort *sorts[HASH_INDEX_KINDS]; /* NULL: none of the kind was met */
	unsigned kind;                               /* that is written */
	uint8_t *buffer;
	size_t used;
	uint64_t at;
};

static int sort_digest(void *context, enum hash_kind kind, const uint8_t *digest)
{
	struct making *making = context;
	unsigned k = hash_index_kind_place(kind);

	if (!making->sorts[k])
		making->sorts[k] =
			digest_sort_new(hash_digest_len(kind), making->memory, making->folder);
	return making->sorts[k] ? digest_sort_add(making->sorts[k], digest) : -ENOMEM;
}

static int flush(struct making *making)
{
	struct hash_index_head *head = making->head;
	int status = file_write_at(making->fd, making->buffer, making->used, making->at);

	head->body_crc = libdeflate_crc32(head->body_crc, making->buffer, making->used);
	making->at += making->used;
	making->used = 0;
	return status;
}

static int write_digest(void *context, const uint8_t *digest)
{
	struct making *making = context;
	size_t len = hash_digest_len(hash_index_kind_order[making->kind]);
	int status = making->used + len > BUFFER_LEN ? flush(making) : 0;

	memcpy(making->buffer + making->used, digest, len);
	making->used += len;
	making->head->counts[making->kind]++;
	return status;
}

static int write_index(struct making *making)
{
	uint8_t bytes[HASH_INDEX_HEAD_LEN];
	int status = 0;

	making->buffer = xmalloc(BUFFER_LEN);
	making->at = HASH_INDEX_HEAD_LEN;
	for (making->kind = 0; making->kind < HASH_INDEX_KINDS && !status; making->kind++)
		if (making->sorts[making->kind])
			status = digest_sort_finish(
				making->sorts[making->kind], write_digest, making);
	if (!status)
		status = flush(making);
	hash_index_head_pack(making->head, bytes);
	if (!status)
		status = file_write_at(making->fd, bytes, sizeof(bytes), 0);
	free(making->buffer);
	return status;
}

int hash_index_make(int fd, struct hash_index_head *head, const char *list_path, const char *folder,
	size_t memory, struct error *error)
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
			"'%s' holds no MD5, SHA-1 or SHA-256 as a word of its own in any line",
			clean);
	else if (!status)
		status = write_index(&making);
	for (unsigned k = 0; k < HASH_INDEX_KINDS; k++)
		digest_sort_free(making.sorts[k]);
	if (status && !error->code)
		error_set(error, EXIT_IO, -status, "cannot make the index of '%s': %s", clean,
			strerror(-status));
	return status;
}
