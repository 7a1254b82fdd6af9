/*
 * information.turtle names the objects in the file. The image's dataStream is a stream or a map; a map's entries
 * lead to streams, or to bytes that are all the same. A stream's chunks are in bevies, members of the ZIP file,
 * each with an index that has the place and length of each chunk.
 *
 * What was not acquired (aff4:UnreadableData, aff4:UnknownData) counts as unreadable, as bad sectors of an E01.
 */
#include "evidence/aff4.h"

#include <errno.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/memory.h"
#include "evidence/aff4_turtle.h"
#include "evidence/deflated.h"

#define TURTLE_MAX ((size_t)16 << 20)
#define MAP_MAX ((size_t)256 << 20)
#define TARGETS_MAX ((size_t)16 << 20)
#define OBJECTS_MAX 4096
#define CHUNK_MIN 512
#define CHUNK_MAX ((uint64_t)16 << 20)
#define BEVY_CHUNKS_MAX ((uint64_t)1 << 20)
#define INDEX_ENTRY_LEN 12
#define MAP_ENTRY_LEN 28
#define CACHED_CHUNKS 4

enum method {
	METHOD_UNKNOWN,
	METHOD_STORED,
	METHOD_ZLIB,
	METHOD_DEFLATE,
	METHOD_SNAPPY,
	METHOD_LZ4
};

struct object {
	char *urn, *data_stream;
	char *gap; /* of a map: what is between its entries; NULL: zeros */
	bool is_image, is_map, is_stream, is_logical, is_encrypted;
	bool has_size, has_method;
	uint64_t size, chunk_len, bevy_chunks;
	enum method method;
	/* The index of the bevy that was read last. */
	uint8_t *index;
	size_t index_len;
	uint64_t bevy;
	const struct aff4_member *member;
};

enum target_kind { TARGET_STREAM, TARGET_FILL, TARGET_UNREAD };

struct target {
	enum target_kind kind;
	uint8_t fill;
	struct object *stream;
};

struct map_entry {
	uint64_t at, len, target_at;
	uint32_t target;
};

struct cached_chunk {
	const struct object *stream; /* NULL: empty */
	uint64_t number, used;
	uint8_t *bytes;
	size_t len;
};

struct aff4 {
	struct aff4_zip *zip;
	char *volume; /* its name */
	struct object *objects;
	size_t object_count, object_capacity;
	struct target *targets;
	size_t target_count, target_capacity;
	struct map_entry *entries; /* rising; none of them overlap; between them is the gap */
	struct target gap;
	size_t entry_count;
	uint64_t size, uses;
	struct cached_chunk cache[CACHED_CHUNKS];
	const char *why; /* it can't be read */
};

/* ---- what it says of itself ---------------------------------------------------------------- */

/* The part of a name after its last # or /. */
static const char *short_name(const char *name)
{
	const char *hash = strrchr(name, '#'), *slash = strrchr(name, '/');

	return hash ? hash + 1 : slash ? slash + 1 : name;
}

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

static enum method method_of(const char *name)
{
	static const struct {
		const char *part;
		enum method method;
	} methods[] = { { "1950", METHOD_ZLIB }, { "1951", METHOD_DEFLATE },
		{ "snappy", METHOD_SNAPPY }, { "lz4", METHOD_LZ4 }, { "Null", METHOD_STORED },
		{ "stored", METHOD_STORED } };

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (strstr(name, methods[i].part))
			return methods[i].method;
	return METHOD_UNKNOWN;
}

static struct object *find_object(struct aff4 *aff4, const char *urn)
{
	for (size_t i = aff4->object_count; i-- > 0;) /* mostly the last */
		if (!strcmp(aff4->objects[i].urn, urn))
			return &aff4->objects[i];
	return NULL;
}

static void take_type(struct object *object, const char *type)
{
	static const char *const images[] = { "Image", "DiskImage", "ContiguousImage",
		"DiscontiguousImage", "MemoryImage", "VolatileMemoryImage", NULL };
	static const char *const logical[] = { "FileImage", "FolderImage", "Folder", NULL };

	object->is_image |= is_one_of(type, images);
	object->is_logical |= is_one_of(type, logical);
	object->is_map |= !strcmp(type, "Map");
	object->is_stream |= !strcmp(type, "ImageStream");
	object->is_encrypted |= !strcmp(type, "EncryptedStream");
}

static void take_statement(
	void *context, const char *subject, const char *predicate, const char *value)
{
	struct aff4 *aff4 = context;
	struct object *object = find_object(aff4, subject);
	const char *name = short_name(predicate);

	if (!object && aff4->object_count == OBJECTS_MAX) {
		aff4->why = "it has too many objects";
		return;
	}
	if (!object) {
		aff4->objects = xgrow(aff4->objects, &aff4->object_capacity, aff4->object_count,
			sizeof(*aff4->objects));
		object = &aff4->objects[aff4->object_count++];
		*object = (struct object){ .urn = xstrdup(subject) };
	}
	if (!strcmp(name, "a") || !strcmp(name, "type")) {
		take_type(object, short_name(value));
	} else if (!strcmp(name, "size")) {
		object->has_size = true;
		object->size = strtoull(value, NULL, 10);
	} else if (!strcmp(name, "chunkSize")) {
		object->chunk_len = strtoull(value, NULL, 10);
	} else if (!strcmp(name, "chunksInSegment")) {
		object->bevy_chunks = strtoull(value, NULL, 10);
	} else if (!strcmp(name, "compressionMethod")) {
		object->has_method = true;
		object->method = method_of(value);
	} else if (!strcmp(name, "dataStream") && !object->data_stream) {
		object->data_stream = xstrdup(value);
	} else if (!strcmp(name, "mapGapDefaultStream") && !object->gap) {
		object->gap = xstrdup(value);
	}
}

/* A member of that name, or of the object's and then that name; NULL: there is none. */
static const struct aff4_member *find_member(
	const struct aff4 *aff4, const char *urn, const char *rest)
{
	size_t volume_len = strlen(aff4->volume);
	char *full = xasprintf("%s%s", urn, rest);
	const struct aff4_member *member = aff4_zip_find(aff4->zip, full);

	if (!member && volume_len && !strncmp(full, aff4->volume, volume_len) &&
		full[volume_len] == '/')
		member = aff4_zip_find(aff4->zip, full + volume_len + 1);
	free(full);
	return member;
}

static bool read_description(struct aff4 *aff4)
{
	const struct aff4_member *name = aff4_zip_find(aff4->zip, "container.description");
	const struct aff4_member *turtle = aff4_zip_find(aff4->zip, "information.turtle");
	size_t len;
	char *text;

	aff4->volume = name ? (char *)aff4_zip_load(aff4->zip, name, AFF4_TERM_MAX, &len) : NULL;
	if (aff4->volume)
		aff4->volume[strcspn(aff4->volume, "\r\n \t")] = 0;
	else
		aff4->volume = xstrdup(aff4_zip_comment(aff4->zip));
	text = turtle ? (char *)aff4_zip_load(aff4->zip, turtle, TURTLE_MAX, &len) : NULL;
	if (!text)
		aff4->why = "its information.turtle can't be read";
	else if (!aff4_turtle_read(text, take_statement, aff4) && !aff4->why)
		aff4->why = "its information.turtle is damaged";
	free(text);
	return !aff4->why;
}

/* ---- streams ------------------------------------------------------------------------------- */

static bool check_stream(struct aff4 *aff4, const struct object *stream)
{
	if (!stream || !stream->is_stream)
		aff4->why =
			"a part of it is in another file, or of a kind that burin does not read";
	else if (stream->is_encrypted)
		aff4->why = "it is encrypted";
	else if (!stream->has_size || stream->size > INT64_MAX || stream->chunk_len < CHUNK_MIN ||
		 stream->chunk_len > CHUNK_MAX || !stream->bevy_chunks ||
		 stream->bevy_chunks > BEVY_CHUNKS_MAX)
		aff4->why = "its description is damaged or not of the AFF4 Standard 1.0";
	else if (stream->has_method && stream->method == METHOD_UNKNOWN)
		aff4->why = "it is compressed in a way that burin does not know";
	return !aff4->why;
}

static bool load_index(struct aff4 *aff4, struct object *stream, uint64_t bevy)
{
	const struct aff4_member *index;
	char rest[40];

	if (stream->index && stream->bevy == bevy)
		return true;
	free(stream->index);
	snprintf(rest, sizeof(rest), "/%08llu.index", (unsigned long long)bevy);
	index = find_member(aff4, stream->urn, rest);
	rest[strlen(rest) - strlen(".index")] = 0;
	stream->member = find_member(aff4, stream->urn, rest);
	stream->index = index && stream->member
				? aff4_zip_load(aff4->zip, index, BEVY_CHUNKS_MAX * INDEX_ENTRY_LEN,
					  &stream->index_len)
				: NULL;
	stream->bevy = bevy;
	return stream->index != NULL;
}

static bool read_number(const uint8_t **at, const uint8_t *end, uint32_t *number)
{
	*number = 0;
	for (unsigned shift = 0; shift < 32 && *at < end; shift += 7) {
		uint8_t byte = *(*at)++;

		*number |= (uint32_t)(byte & 127) << shift;
		if (!(byte & 128))
			return true;
	}
	return false;
}

/* Length of the element's bytes, and for a copy how far back they are; false: the element is cut. */
static bool read_element(const uint8_t **at, const uint8_t *end, size_t *len, size_t *back)
{
	uint8_t tag = *(*at)++;
	size_t extra = (tag & 3) == 3 ? 4 : tag & 3;

	*back = 0;
	*len = (tag >> 2) + 1;
	if (!(tag & 3)) {
		extra = *len > 60 ? *len - 60 : 0;
		if (extra > (size_t)(end - *at))
			return false;
		if (extra)
			*len = (size_t)endian_get(*at, (unsigned)extra) + 1;
		*at += extra;
		return *len <= (size_t)(end - *at);
	}
	if (extra > (size_t)(end - *at))
		return false;
	*back = (size_t)endian_get(*at, (unsigned)extra);
	if (extra == 1) {
		*len = ((tag >> 2) & 7) + 4;
		*back |= (size_t)(tag >> 5) << 8;
	}
	*at += extra;
	return *back != 0;
}

/* By Snappy's format_description.txt. The length of what is written; 0: it is damaged, or has no room. */
static size_t unpack_snappy(const uint8_t *at, size_t packed_len, uint8_t *to, size_t room)
{
	const uint8_t *end = at + packed_len;
	size_t done = 0, len, back;
	uint32_t total;

	if (!read_number(&at, end, &total) || total > room)
		return 0;
	while (at < end) {
		if (!read_element(&at, end, &len, &back) || len > total - done || back > done)
			return 0;
		if (back)
			for (size_t i = 0; i < len; i++)
				to[done + i] = to[done + i - back];
		else
			memcpy(to + done, at, len);
		at += back ? 0 : len;
		done += len;
	}
	return done == total ? done : 0;
}

static size_t unpack(
	enum method method, const uint8_t *packed, size_t packed_len, uint8_t *to, size_t room)
{
	size_t inflated;
	int len;

	switch (method) {
	case METHOD_ZLIB:
	case METHOD_DEFLATE:
		return inflate_whole(method == METHOD_ZLIB ? INFLATE_ZLIB : INFLATE_RAW, packed,
			       packed_len, to, room, &inflated)
			       ? inflated
			       : 0;
	case METHOD_SNAPPY:
		return unpack_snappy(packed, packed_len, to, room);
	case METHOD_LZ4:
		len = LZ4_decompress_safe(
			(const char *)packed, (char *)to, (int)packed_len, (int)room);
		return len > 0 ? (size_t)len : 0;
	default:
		return 0;
	}
}

/* Bytes that a chunk holds: the stream's last one may be shorter. */
static size_t wanted_len(const struct object *stream, uint64_t number)
{
	uint64_t left = stream->size - number * stream->chunk_len;

	return (size_t)(left < stream->chunk_len ? left : stream->chunk_len);
}

/* Fills `to`, which has room for a chunk. */
static bool read_chunk(struct aff4 *aff4, struct object *stream, uint64_t number, uint8_t *to)
{
	uint64_t in_bevy = number % stream->bevy_chunks, at;
	size_t len, unpacked = 0;
	uint8_t *packed;

	if (!load_index(aff4, stream, number / stream->bevy_chunks) ||
		in_bevy >= stream->index_len / INDEX_ENTRY_LEN)
		return false;
	at = endian_u64(stream->index + in_bevy * INDEX_ENTRY_LEN);
	len = endian_u32(stream->index + in_bevy * INDEX_ENTRY_LEN + 8);
	if (len == stream->chunk_len || stream->method == METHOD_STORED || !stream->has_method)
		return len >= wanted_len(stream, number) && len <= stream->chunk_len &&
		       !aff4_zip_read(aff4->zip, stream->member, at, to, len);
	if (!len || len > 2 * stream->chunk_len)
		return false;
	packed = xmalloc(len);
	if (!aff4_zip_read(aff4->zip, stream->member, at, packed, len))
		unpacked = unpack(stream->method, packed, len, to, (size_t)stream->chunk_len);
	free(packed);
	return unpacked >= wanted_len(stream, number);
}

/* The chunk, from memory if it was read before; NULL: it can't be read. */
static const uint8_t *find_chunk(struct aff4 *aff4, struct object *stream, uint64_t number)
{
	struct cached_chunk *oldest = aff4->cache;

	for (size_t i = 0; i < CACHED_CHUNKS; i++) {
		struct cached_chunk *chunk = &aff4->cache[i];

		if (chunk->stream == stream && chunk->number == number) {
			chunk->used = ++aff4->uses;
			return chunk->bytes;
		}
		if (chunk->used < oldest->used)
			oldest = chunk;
	}
	oldest->stream = NULL;
	if (oldest->len < stream->chunk_len) {
		oldest->len = (size_t)stream->chunk_len;
		oldest->bytes = xreallocarray(oldest->bytes, oldest->len, 1);
	}
	if (!read_chunk(aff4, stream, number, oldest->bytes))
		return NULL;
	oldest->stream = stream;
	oldest->number = number;
	oldest->used = ++aff4->uses;
	return oldest->bytes;
}

static int read_stream(
	struct aff4 *aff4, struct object *stream, uint64_t offset, uint8_t *to, size_t len)
{
	if (offset > stream->size || len > stream->size - offset)
		return -EIO;
	while (len) {
		size_t inside = (size_t)(offset % stream->chunk_len);
		size_t part_len = (size_t)stream->chunk_len - inside;
		const uint8_t *chunk = find_chunk(aff4, stream, offset / stream->chunk_len);

		if (!chunk)
			return -EIO;
		if (part_len > len)
			part_len = len;
		memcpy(to, chunk + inside, part_len);
		offset += part_len;
		to += part_len;
		len -= part_len;
	}
	return 0;
}

/* ---- maps ---------------------------------------------------------------------------------- */

static bool find_target(struct aff4 *aff4, const char *urn, struct target *target)
{
	const char *name = short_name(urn);
	size_t prefix_len = strlen("SymbolicStream");
	char *end;

	*target = (struct target){ .kind = TARGET_FILL };
	if (strchr(urn, '#') && !strcmp(name, "Zero"))
		return true;
	if (strchr(urn, '#') && !strncmp(name, "SymbolicStream", prefix_len) &&
		strlen(name) == prefix_len + 2) {
		target->fill = (uint8_t)strtoul(name + prefix_len, &end, 16);
		return !*end;
	}
	if (strchr(urn, '#') && (!strcmp(name, "UnreadableData") || !strcmp(name, "UnknownData"))) {
		target->kind = TARGET_UNREAD;
		return true;
	}
	target->kind = TARGET_STREAM;
	target->stream = find_object(aff4, urn);
	return check_stream(aff4, target->stream);
}

static bool read_targets(struct aff4 *aff4, char *text)
{
	char *rest, *line = strtok_r(text, "\r\n", &rest);

	for (; line; line = strtok_r(NULL, "\r\n", &rest)) {
		aff4->targets = xgrow(aff4->targets, &aff4->target_capacity, aff4->target_count,
			sizeof(*aff4->targets));
		if (!find_target(aff4, line, &aff4->targets[aff4->target_count++]))
			return false;
	}
	return true;
}

static int compare_entries(const void *a, const void *b)
{
	uint64_t x = ((const struct map_entry *)a)->at, y = ((const struct map_entry *)b)->at;

	return x < y ? -1 : x > y;
}

static bool read_entries(struct aff4 *aff4, const uint8_t *bytes, size_t len)
{
	uint64_t end = 0;

	aff4->entries = xcalloc(len / MAP_ENTRY_LEN + 1, sizeof(*aff4->entries));
	for (; len >= MAP_ENTRY_LEN; bytes += MAP_ENTRY_LEN, len -= MAP_ENTRY_LEN)
		aff4->entries[aff4->entry_count++] = (struct map_entry){ endian_u64(bytes),
			endian_u64(bytes + 8), endian_u64(bytes + 16), endian_u32(bytes + 24) };
	qsort(aff4->entries, aff4->entry_count, sizeof(*aff4->entries), compare_entries);
	for (size_t i = 0; i < aff4->entry_count; i++) {
		const struct map_entry *entry = &aff4->entries[i];

		if (entry->target >= aff4->target_count || entry->at < end ||
			entry->at > INT64_MAX || entry->len > INT64_MAX ||
			entry->target_at > INT64_MAX)
			return false;
		end = entry->at + entry->len;
	}
	return !len;
}

static bool open_map(struct aff4 *aff4, const struct object *map)
{
	const struct aff4_member *index = find_member(aff4, map->urn, "/idx");
	const struct aff4_member *entries = find_member(aff4, map->urn, "/map");
	size_t len;
	uint8_t *bytes = index ? aff4_zip_load(aff4->zip, index, TARGETS_MAX, &len) : NULL;
	bool good = bytes && read_targets(aff4, (char *)bytes) &&
		    (!map->gap || find_target(aff4, map->gap, &aff4->gap));

	free(bytes);
	bytes = good && entries ? aff4_zip_load(aff4->zip, entries, MAP_MAX, &len) : NULL;
	good = bytes && read_entries(aff4, bytes, len);
	free(bytes);
	if (!good && !aff4->why)
		aff4->why = "its map is damaged";
	return good;
}

/* The first entry that ends after the offset; NULL: none. */
static const struct map_entry *find_entry(const struct aff4 *aff4, uint64_t offset)
{
	size_t low = 0, high = aff4->entry_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (aff4->entries[middle].at + aff4->entries[middle].len <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < aff4->entry_count ? &aff4->entries[low] : NULL;
}

static int read_target(
	struct aff4 *aff4, const struct target *target, uint64_t offset, uint8_t *to, size_t len)
{
	if (target->kind == TARGET_STREAM)
		return read_stream(aff4, target->stream, offset, to, len);
	if (target->kind == TARGET_UNREAD)
		return -EIO;
	memset(to, target->fill, len);
	return 0;
}

int aff4_read(struct aff4 *aff4, uint64_t offset, void *buffer, size_t len)
{
	uint8_t *to = buffer;

	if (offset > aff4->size || len > aff4->size - offset)
		return -EIO;
	while (len) {
		const struct map_entry *entry = find_entry(aff4, offset);
		bool inside = entry && entry->at <= offset;
		uint64_t end = inside ? entry->at + entry->len : entry ? entry->at : UINT64_MAX;
		size_t part_len = end - offset < len ? (size_t)(end - offset) : len;
		const struct target *target = inside ? &aff4->targets[entry->target] : &aff4->gap;
		uint64_t target_at = inside ? entry->target_at + (offset - entry->at) : offset;
		int status = read_target(aff4, target, target_at, to, part_len);

		if (status)
			return status;
		offset += part_len;
		to += part_len;
		len -= part_len;
	}
	return 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* The one object that is the disk. */
static struct object *find_disk(struct aff4 *aff4)
{
	struct object *disk = NULL, *map = NULL, *stream = NULL;
	size_t maps = 0, streams = 0;
	bool is_logical = false;

	for (size_t i = 0; i < aff4->object_count; i++) {
		struct object *object = &aff4->objects[i];

		is_logical |= object->is_logical;
		maps += object->is_map;
		streams += object->is_stream;
		map = object->is_map ? object : map;
		stream = object->is_stream ? object : stream;
		if (!object->is_image || !object->data_stream)
			continue;
		if (disk && strcmp(disk->data_stream, object->data_stream) != 0) {
			aff4->why = "it holds several images, of which burin reads none";
			return NULL;
		}
		disk = object;
	}
	if (is_logical)
		aff4->why = "it holds files, not a disk";
	else if (disk)
		disk = find_object(aff4, disk->data_stream);
	else if (maps == 1 || (!maps && streams == 1))
		disk = maps ? map : stream;
	if (!disk && !aff4->why)
		aff4->why = "it does not say which of its streams is the disk";
	return aff4->why ? NULL : disk;
}

/* A stream by itself is a map with one entry. */
static void map_stream(struct aff4 *aff4, struct object *stream)
{
	aff4->targets = xcalloc(1, sizeof(*aff4->targets));
	aff4->targets[0].stream = stream;
	aff4->target_count = 1;
	aff4->entries = xcalloc(1, sizeof(*aff4->entries));
	aff4->entries[0].len = stream->size;
	aff4->entry_count = 1;
}

/* pyaff4 writes no size of a map: it goes to the end of the last entry. */
static uint64_t size_of_map(const struct aff4 *aff4, const struct object *map)
{
	const struct map_entry *last =
		aff4->entry_count ? &aff4->entries[aff4->entry_count - 1] : NULL;

	return map->has_size || !last ? map->size : last->at + last->len;
}

static bool open_disk(struct aff4 *aff4)
{
	struct object *disk = find_disk(aff4);

	if (!disk)
		return false;
	if (!disk->is_map) {
		if (check_stream(aff4, disk))
			map_stream(aff4, disk);
	} else if (open_map(aff4, disk)) {
		disk->size = size_of_map(aff4, disk);
		if (disk->size > INT64_MAX)
			aff4->why = "its map has an impossible size";
	}
	aff4->size = disk->size;
	if (!aff4->why && !aff4->size)
		aff4->why = "it is empty";
	return !aff4->why;
}

struct aff4 *aff4_open(const struct aff4_source *source, char *reason, size_t reason_len)
{
	struct aff4 *aff4 = xcalloc(1, sizeof(*aff4));

	aff4->gap.kind = TARGET_FILL;
	aff4->zip = aff4_zip_open(source);
	if (aff4->zip && read_description(aff4) && open_disk(aff4))
		return aff4;
	snprintf(reason, reason_len, "%s",
		aff4->zip ? aff4->why : "the list at its end is damaged or missing");
	aff4_close(aff4);
	return NULL;
}

uint64_t aff4_size(const struct aff4 *aff4)
{
	return aff4->size;
}

void aff4_close(struct aff4 *aff4)
{
	if (!aff4)
		return;
	for (size_t i = 0; i < aff4->object_count; i++) {
		free(aff4->objects[i].urn);
		free(aff4->objects[i].data_stream);
		free(aff4->objects[i].gap);
		free(aff4->objects[i].index);
	}
	for (size_t i = 0; i < CACHED_CHUNKS; i++)
		free(aff4->cache[i].bytes);
	free(aff4->objects);
	free(aff4->targets);
	free(aff4->entries);
	free(aff4->volume);
	aff4_zip_close(aff4->zip);
	free(aff4);
}
