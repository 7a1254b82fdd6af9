/* Of APPNOTE.TXT: the list of members at the end (also ZIP64's), and stored and deflated members. */
#include "evidence/aff4_zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/memory.h"
#include "base/text.h"
#include "evidence/deflated.h"

#define END_LEN 22
#define COMMENT_MAX 65535
#define END64_LEN 56
#define LOCATOR_LEN 20
#define ENTRY_LEN 46
#define LOCAL_LEN 30
/* 100 TB in bevies of 32 MiB. */
#define LIST_MAX ((uint64_t)512 << 20)
#define EXTRA_ZIP64 1
#define FLAG_ENCRYPTED 1

struct aff4_zip {
	struct aff4_source source;
	struct aff4_member *members; /* by name */
	size_t count, capacity;
	char *comment;
};

static int read_at(const struct aff4_zip *zip, uint64_t offset, void *buffer, size_t len)
{
	if (offset > zip->source.size || len > zip->source.size - offset)
		return -EIO;
	return len ? zip->source.read(zip->source.context, offset, buffer, len) : 0;
}

/* ---- the list ------------------------------------------------------------------------------ */

/* Where the list is; false: there is none. */
static bool find_list(struct aff4_zip *zip, uint64_t *at, uint64_t *len)
{
	size_t tail_len = zip->source.size < END_LEN + COMMENT_MAX ? (size_t)zip->source.size
								   : END_LEN + COMMENT_MAX;
	uint64_t tail_at = zip->source.size - tail_len;
	uint8_t *tail = xmalloc(tail_len + 1), end[END64_LEN];
	size_t i = tail_len < END_LEN ? 0 : tail_len - END_LEN + 1;
	bool found = false;

	if (read_at(zip, tail_at, tail, tail_len))
		i = 0;
	while (i-- && !(found = !memcmp(tail + i, "PK\5\6", 4)))
		;
	if (found) {
		zip->comment = xasprintf("%.*s", (int)(tail_len - i - END_LEN), tail + i + END_LEN);
		*len = endian_u32(tail + i + 12);
		*at = endian_u32(tail + i + 16);
		if (i >= LOCATOR_LEN && !memcmp(tail + i - LOCATOR_LEN, "PK\6\7", 4) &&
			!read_at(zip, endian_u64(tail + i - LOCATOR_LEN + 8), end, sizeof(end)) &&
			!memcmp(end, "PK\6\6", 4)) {
			*len = endian_u64(end + 40);
			*at = endian_u64(end + 48);
		}
	}
	free(tail);
	return found;
}

static char *unescape(const uint8_t *bytes, size_t len)
{
	char *name = xmalloc(len + 1);
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		int high = len - i > 2 && bytes[i] == '%' ? hex_value((char)bytes[i + 1]) : -1;
		int low = high >= 0 ? hex_value((char)bytes[i + 2]) : -1;

		name[out++] = (char)(low < 0 ? bytes[i] : high << 4 | low);
		i += low < 0 ? 0 : 2;
	}
	name[out] = 0;
	return name;
}

/* Numbers that do not fit into the entry are in this field, in this order. */
static void take_zip64(const uint8_t *extra, size_t extra_len, struct aff4_member *member)
{
	uint64_t *const numbers[] = { &member->len, &member->packed_len, &member->head_at };

	while (extra_len >= 4) {
		size_t len = (size_t)endian_get(extra + 2, 2), at = 4;
		bool wanted = endian_get(extra, 2) == EXTRA_ZIP64;

		if (len > extra_len - 4)
			return;
		for (size_t i = 0; wanted && i < 3; i++)
			if (*numbers[i] == UINT32_MAX && at + 8 <= len + 4) {
				*numbers[i] = endian_u64(extra + at);
				at += 8;
			}
		extra += len + 4;
		extra_len -= len + 4;
	}
}

/* Returns the entry's length; 0: it is not one. */
static size_t add_entry(struct aff4_zip *zip, const uint8_t *entry, size_t room)
{
	struct aff4_member member;
	size_t name_len, extra_len, len;
	uint64_t method;

	if (room < ENTRY_LEN || memcmp(entry, "PK\1\2", 4))
		return 0;
	name_len = (size_t)endian_get(entry + 28, 2);
	extra_len = (size_t)endian_get(entry + 30, 2);
	len = ENTRY_LEN + name_len + extra_len + (size_t)endian_get(entry + 32, 2);
	if (len > room)
		return 0;
	method = endian_get(entry + 10, 2);
	member = (struct aff4_member){ .head_at = endian_u32(entry + 42),
		.packed_len = endian_u32(entry + 20),
		.len = endian_u32(entry + 24),
		.stored = !method && !(entry[8] & FLAG_ENCRYPTED),
		.deflated = method == 8 && !(entry[8] & FLAG_ENCRYPTED) };
	take_zip64(entry + ENTRY_LEN + name_len, extra_len, &member);
	if (member.stored && member.len != member.packed_len)
		return len;
	member.name = unescape(entry + ENTRY_LEN, name_len);
	zip->members = xgrow(zip->members, &zip->capacity, zip->count, sizeof(*zip->members));
	zip->members[zip->count++] = member;
	return len;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct aff4_member *)a)->name, ((const struct aff4_member *)b)->name);
}

struct aff4_zip *aff4_zip_open(const struct aff4_source *source)
{
	struct aff4_zip *zip = xcalloc(1, sizeof(*zip));
	uint64_t at = 0, len = 0;
	uint8_t *list = NULL;

	zip->source = *source;
	if (find_list(zip, &at, &len) && len <= LIST_MAX && len <= source->size)
		list = malloc((size_t)len + 1);
	if (list && !read_at(zip, at, list, (size_t)len))
		for (size_t i = 0, entry_len = 1; entry_len; i += entry_len)
			entry_len = add_entry(zip, list + i, (size_t)len - i);
	free(list);
	if (!zip->count) {
		aff4_zip_close(zip);
		return NULL;
	}
	qsort(zip->members, zip->count, sizeof(*zip->members), compare);
	return zip;
}

const char *aff4_zip_comment(const struct aff4_zip *zip)
{
	return zip->comment;
}

/* ---- members ------------------------------------------------------------------------------- */

/* Its bytes are after a second head, which is read when it is wanted: a large image has many, far apart. */
static bool find_content(const struct aff4_zip *zip, struct aff4_member *member)
{
	uint64_t at = member->head_at + LOCAL_LEN;
	uint8_t head[LOCAL_LEN];

	if (read_at(zip, member->head_at, head, sizeof(head)) || memcmp(head, "PK\3\4", 4))
		return false;
	at += endian_get(head + 26, 2) + endian_get(head + 28, 2);
	if (at > zip->source.size || member->packed_len > zip->source.size - at)
		return false;
	member->at = at;
	return true;
}

const struct aff4_member *aff4_zip_find(const struct aff4_zip *zip, const char *name)
{
	const struct aff4_member key = { .name = (char *)name };
	struct aff4_member *member = bsearch(&key, zip->members, zip->count, sizeof(key), compare);

	return member && (member->at || find_content(zip, member)) ? member : NULL;
}

int aff4_zip_read(struct aff4_zip *zip, const struct aff4_member *member, uint64_t offset,
	void *buffer, size_t len)
{
	if (!member->stored || offset > member->len || len > member->len - offset)
		return -EIO;
	return read_at(zip, member->at + offset, buffer, len);
}

uint8_t *aff4_zip_load(
	struct aff4_zip *zip, const struct aff4_member *member, size_t max, size_t *len)
{
	uint8_t *bytes, *packed = NULL;
	size_t inflated;
	bool good = false;

	if (member->len > max || member->packed_len > max || (!member->stored && !member->deflated))
		return NULL;
	*len = (size_t)member->len;
	bytes = malloc(*len + 1);
	if (bytes && member->stored) {
		good = !read_at(zip, member->at, bytes, *len);
	} else if (bytes && (packed = malloc((size_t)member->packed_len + 1))) {
		good = !read_at(zip, member->at, packed, (size_t)member->packed_len) &&
		       inflate_whole(INFLATE_RAW, packed, (size_t)member->packed_len, bytes, *len,
			       &inflated) &&
		       inflated == *len;
	}
	free(packed);
	if (!good) {
		free(bytes);
		return NULL;
	}
	bytes[*len] = 0;
	return bytes;
}

void aff4_zip_close(struct aff4_zip *zip)
{
	if (!zip)
		return;
	for (size_t i = 0; i < zip->count; i++)
		free(zip->members[i].name);
	free(zip->members);
	free(zip->comment);
	free(zip);
}
