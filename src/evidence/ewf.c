/*
 * E01 and S01. Their chunks are read by our own code (e01_set.c, e01_chunks.c), in any number of
 * threads and without a table in memory. What investigators typed in and the software hashed is
 * read by libewf, which knows its many forms best. Since libewf would read all tables of a set that
 * it opens, some 3 GB for a TB, it gets a small file in memory that has only the sections with such
 * data. Only where the description of the medium can't be read, or names chunks of an odd size, is
 * the set given to libewf as it is.
 *
 * libewf's own read function fills a chunk that is missing or has a wrong checksum with zeros and
 * calls that a success; the list of such places that it keeps afterwards becomes quadratically
 * expensive. So chunks are read one by one with its lower functions, which report errors for each:
 * fetching the compressed bytes changes the handle and is done under a lock; decompressing and
 * checking them does not touch the handle (it works on the caller's buffers alone) and runs outside
 * of it, in as many threads as read. A chunk is read whole or not at all, which makes it the read
 * unit.
 *
 * libewf of 2017 and later has different lower functions. There its plain read function is used,
 * chunk by chunk under the lock, and the list is consulted after each.
 */
#include <libewf.h>

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "evidence/backend.h"
#include "evidence/e01_chunks.h"
#include "evidence/e01_names.h"
#include "evidence/e01_set.h"

#define CHUNK_MAX (256u << 20)
#define VALUE_LEN 4096
/* A compressed chunk is smaller than the chunk, or it is its bytes and a checksum; some versions
 * extend the last one of a segment to the end of its section. */
#define STORED_SLACK 65536

struct ewf {
	struct image image;
	struct e01_set set;
	struct e01_chunks *chunks; /* NULL: libewf reads */
	libewf_handle_t *handle;
	pthread_mutex_t lock; /* over handle */
	size_t chunk_len;
};

static bool ewf_probe(const struct image_ends *ends)
{
	return e01_probe(ends->head, ends->head_len);
}

/* libewf's message is a stack of lines, the cause first, each with its function's name in front.
 * Frees *reason. */
static int ewf_failure(
	const char *path, const char *what, libewf_error_t **reason, struct error *error)
{
	char text[2048] = "", clean[512];
	char *start = text, *colon;

	if (*reason)
		libewf_error_backtrace_sprint(*reason, text, sizeof(text));
	libewf_error_free(reason);
	text[strcspn(text, "\n")] = 0;
	colon = strstr(text, ": ");
	if (!strncmp(text, "lib", 3) && colon)
		start = colon + 2;
	text_clean(start, clean, sizeof(clean));
	return error_set(error, EXIT_IO, EIO, "%s is an E01 image that %s%s%s", path, what,
		*clean ? "; libewf says: " : "", clean);
}

static void add_value(
	struct image_info *info, size_t *capacity, const char *name, const char *value)
{
	char clean[VALUE_LEN];

	text_clean(value, clean, sizeof(clean));
	info->values = xgrow(info->values, capacity, info->value_count, sizeof(*info->values));
	info->values[info->value_count++] =
		(struct image_value){ .name = xstrdup(name), .value = xstrdup(clean) };
}

/* Header values are what the examiner typed in, and what the software added. The password's hash is
 * not reported. */
static void read_values(struct ewf *ewf)
{
	struct image_info *info = &ewf->image.info;
	uint32_t count = 0;
	size_t capacity = 0;

	libewf_handle_set_header_values_date_format(ewf->handle, LIBEWF_DATE_FORMAT_ISO8601, NULL);
	if (libewf_handle_get_number_of_header_values(ewf->handle, &count, NULL) != 1)
		return;
	for (uint32_t i = 0; i < count; i++) {
		char name[64] = "", value[VALUE_LEN] = "";
		size_t name_len = 0;

		if (libewf_handle_get_header_value_identifier_size(
			    ewf->handle, i, &name_len, NULL) != 1 ||
			name_len > sizeof(name) ||
			libewf_handle_get_header_value_identifier(
				ewf->handle, i, (uint8_t *)name, name_len, NULL) != 1 ||
			!strcmp(name, "password"))
			continue;
		if (libewf_handle_get_utf8_header_value(ewf->handle, (uint8_t *)name, strlen(name),
			    (uint8_t *)value, sizeof(value), NULL) == 1 &&
			value[strspn(value, " ")])
			add_value(info, &capacity, name, value);
	}
}

/* hex: room for the hash's digits and a zero; stays "" when the image stores no such hash. */
static void read_hash(struct ewf *ewf, const char *name, char *hex, size_t hex_len)
{
	char value[128] = "";

	if (libewf_handle_get_utf8_hash_value(ewf->handle, (const uint8_t *)name, strlen(name),
		    (uint8_t *)value, sizeof(value), NULL) != 1 ||
		strlen(value) != hex_len - 1 ||
		strspn(value, "0123456789abcdefABCDEF") != hex_len - 1)
		return;
	for (size_t i = 0; i < hex_len; i++)
		hex[i] = value[i] >= 'A' && value[i] <= 'F' ? (char)(value[i] | 0x20) : value[i];
}

static int read_geometry(struct ewf *ewf, const char *path, struct error *error)
{
	struct image_info *info = &ewf->image.info;
	libewf_error_t *reason = NULL;
	size64_t size = 0;
	size32_t chunk_len = 0;

	if (libewf_handle_get_media_size(ewf->handle, &size, &reason) != 1 ||
		libewf_handle_get_bytes_per_sector(ewf->handle, &info->sector_size, &reason) != 1 ||
		libewf_handle_get_chunk_size(ewf->handle, &chunk_len, &reason) != 1)
		return ewf_failure(path, "does not record its size", &reason, error);
	if (size == 0 || size > INT64_MAX || info->sector_size == 0 || chunk_len == 0 ||
		chunk_len > CHUNK_MAX)
		return ewf_failure(path,
			"holds no sectors, or is damaged where it records how many", &reason,
			error);
	info->size = size;
	ewf->chunk_len = ewf->image.read_unit = chunk_len;
	return 0;
}

static int open_handle(struct ewf *ewf, char *const *paths, size_t count, struct error *error)
{
	libewf_error_t *reason = NULL;

	if (libewf_handle_initialize(&ewf->handle, &reason) != 1)
		return ewf_failure(paths[0], "can't be opened", &reason, error);
	if (libewf_handle_open(ewf->handle, paths, (int)count, LIBEWF_OPEN_READ, &reason) != 1)
		return ewf_failure(paths[0], "is damaged or incomplete", &reason, error);
	return 0;
}

static void close_handle(struct ewf *ewf)
{
	if (!ewf->handle)
		return;
	libewf_handle_close(ewf->handle, NULL);
	libewf_handle_free(&ewf->handle, NULL);
}

static void read_descriptions(struct ewf *ewf)
{
	struct image_info *info = &ewf->image.info;

	read_values(ewf);
	read_hash(ewf, "MD5", info->stored_md5, sizeof(info->stored_md5));
	read_hash(ewf, "SHA1", info->stored_sha1, sizeof(info->stored_sha1));
}

/* An image whose acquisition data is missing or damaged is read all the same. */
static void open_common(struct ewf *ewf)
{
	struct e01_set *set = &ewf->set;
	struct image_info *info = &ewf->image.info;
	int fd = e01_make_stub(set->metadata, set->metadata_count);
	char path[32], *paths[] = { path };

	info->size = set->size;
	info->sector_size = set->sector_size;
	ewf->chunk_len = ewf->image.read_unit = set->chunk_len;
	ewf->chunks = e01_chunks_new(set);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && !open_handle(ewf, paths, 1, NULL))
		read_descriptions(ewf);
	else if (!set->damage)
		set->damage = xstrdup("its acquisition data can't be read");
	close_handle(ewf);
	if (fd >= 0)
		close(fd);
}

static int check_claims(const struct e01_set *set, struct error *error)
{
	struct e01_section section;

	for (size_t i = 0; i < set->segment_count; i++)
		if (e01_claims_too_much(set->segments[i].fd, set->segments[i].size, &section))
			return error_set(error, EXIT_IO, EINVAL,
				"%s can't be read: its description of the medium is damaged, "
				"and its section '%s' at offset "
				"%" PRIu64 " claims to hold %" PRIu64 " bytes",
				set->segments[i].path, section.type, section.offset, section.len);
	return 0;
}

static int open_unusual(struct ewf *ewf, struct error *error)
{
	struct image_info *info = &ewf->image.info;
	int rc = check_claims(&ewf->set, error);

	if (!rc)
		rc = open_handle(ewf, info->paths, info->path_count, error);
	if (!rc)
		rc = read_geometry(ewf, info->paths[0], error);
	if (rc)
		return rc;
	if (!ewf->set.damage && libewf_handle_segment_files_corrupted(ewf->handle, NULL))
		ewf->set.damage = xasprintf("%s is damaged: missing data is read as zeros and "
					    "reported as unreadable",
			info->paths[0]);
	read_descriptions(ewf);
	return 0;
}

static void ewf_close(struct image *image)
{
	struct ewf *ewf = (struct ewf *)image;

	e01_chunks_free(ewf->chunks);
	e01_set_close(&ewf->set);
	close_handle(ewf);
	pthread_mutex_destroy(&ewf->lock);
	free(ewf);
}

/* Sorts the paths by the segments' numbers, which may differ from the order of their names. */
static void order_paths(struct ewf *ewf)
{
	char **ordered = xcalloc(ewf->set.segment_count, sizeof(*ordered));

	for (size_t i = 0; i < ewf->set.segment_count; i++)
		ordered[i] = (char *)ewf->set.segments[i].path;
	memcpy(ewf->image.info.paths, ordered, ewf->set.segment_count * sizeof(*ordered));
	free(ordered);
}

static int open_set(struct ewf *ewf, const char *path, struct error *error)
{
	struct image_info *info = &ewf->image.info;
	int rc;

	e01_find_names(path, &info->paths, &info->path_count);
	if (strcmp(path, info->paths[0]))
		return error_set(error, EXIT_IO, EINVAL,
			"%s is a later segment of its set: give the first one, %s", path,
			info->paths[0]);
	image_allow_descriptors(2 * info->path_count);
	rc = e01_set_open(&ewf->set, info->paths, info->path_count, error);
	if (rc)
		return rc;
	order_paths(ewf);
	if (!ewf->set.common)
		return open_unusual(ewf, error);
	open_common(ewf);
	return 0;
}

static int ewf_open(
	struct image **image, const char *path, const struct image_ends *ends, struct error *error)
{
	struct ewf *ewf = xcalloc(1, sizeof(*ewf));
	int rc;

	(void)ends;
	ewf->image.backend = &ewf_backend;
	ewf->image.info.format = "ewf";
	pthread_mutex_init(&ewf->lock, NULL);
	rc = open_set(ewf, path, error);
	if (rc) {
		image_close(&ewf->image);
		return rc;
	}
	if (ewf->set.damage)
		ewf->image.info.damage = xstrdup(ewf->set.damage);
	*image = &ewf->image;
	return 0;
}

/* Room for one chunk as stored and one decompressed, for one thread. */
struct scratch {
	uint8_t *stored, *plain;
	size_t stored_len;
};

#if LIBEWF_VERSION < 20150000

/* Reads the chunk at offset, a multiple of the chunk's length; *data: its len bytes, in one of
 * scratch's buffers. */
static int read_chunk(
	struct ewf *ewf, uint64_t offset, size_t len, struct scratch *scratch, const uint8_t **data)
{
	uint8_t checksum_bytes[4];
	uint32_t checksum = 0;
	int8_t compressed = 0, has_checksum = 0;
	size_t plain_len = ewf->chunk_len;
	ssize_t got = -1;

	pthread_mutex_lock(&ewf->lock);
	if (libewf_handle_seek_offset(ewf->handle, (off64_t)offset, SEEK_SET, NULL) >= 0)
		got = libewf_handle_read_chunk(ewf->handle, scratch->stored, scratch->stored_len,
			&compressed, checksum_bytes, &checksum, &has_checksum, NULL);
	pthread_mutex_unlock(&ewf->lock);
	if (got <= 0)
		return -EIO;
	got = libewf_handle_prepare_read_chunk(ewf->handle, scratch->stored, (size_t)got,
		scratch->plain, &plain_len, compressed, checksum, has_checksum, NULL);
	*data = compressed ? scratch->plain : scratch->stored;
	return got >= 0 && (size_t)got >= len ? 0 : -EIO;
}

#else

/* True when libewf lists a wrong checksum anywhere in the len bytes at offset. Under the lock. */
static bool is_bad(struct ewf *ewf, uint64_t offset, size_t len)
{
	uint32_t count = 0;
	uint64_t sector = offset / ewf->image.info.sector_size;
	uint64_t end = (offset + len - 1) / ewf->image.info.sector_size + 1;

	libewf_handle_get_number_of_checksum_errors(ewf->handle, &count, NULL);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t start = 0, sectors = 0;

		if (libewf_handle_get_checksum_error(ewf->handle, i, &start, &sectors, NULL) == 1 &&
			start < end && sector < start + sectors)
			return true;
	}
	return false;
}

static int read_chunk(
	struct ewf *ewf, uint64_t offset, size_t len, struct scratch *scratch, const uint8_t **data)
{
	bool ok;

	pthread_mutex_lock(&ewf->lock);
	ok = libewf_handle_read_buffer_at_offset(
		     ewf->handle, scratch->plain, len, (off64_t)offset, NULL) == (ssize_t)len &&
	     !is_bad(ewf, offset, len);
	pthread_mutex_unlock(&ewf->lock);
	*data = scratch->plain;
	return ok ? 0 : -EIO;
}

#endif

static int read_chunks(
	struct ewf *ewf, uint64_t offset, uint8_t *to, size_t len, struct scratch *scratch)
{
	while (len) {
		size_t skip = (size_t)(offset % ewf->chunk_len);
		uint64_t start = offset - skip, left = ewf->image.info.size - start;
		size_t chunk_len = left < ewf->chunk_len ? (size_t)left : ewf->chunk_len;
		size_t part_len = chunk_len - skip < len ? chunk_len - skip : len;
		const uint8_t *data;
		int rc = read_chunk(ewf, start, chunk_len, scratch, &data);

		if (rc)
			return rc;
		memcpy(to, data + skip, part_len);
		offset += part_len;
		to += part_len;
		len -= part_len;
	}
	return 0;
}

static int ewf_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	struct ewf *ewf = (struct ewf *)image;
	struct scratch scratch = { .stored_len = 2 * ewf->chunk_len + STORED_SLACK };
	int rc = -ENOMEM;

	if (ewf->chunks)
		return e01_chunks_read(ewf->chunks, offset, buffer, len);
	scratch.stored = malloc(scratch.stored_len);
	scratch.plain = malloc(ewf->chunk_len);
	if (scratch.stored && scratch.plain)
		rc = read_chunks(ewf, offset, buffer, len, &scratch);
	free(scratch.stored);
	free(scratch.plain);
	return rc;
}

static char *ewf_why(struct image *image, uint64_t offset)
{
	struct ewf *ewf = (struct ewf *)image;

	return ewf->chunks ? e01_chunks_why(ewf->chunks, offset) : NULL;
}

const struct image_backend ewf_backend = {
	.name = "ewf",
	.probe = ewf_probe,
	.open = ewf_open,
	.read_at = ewf_read_at,
	.why = ewf_why,
	.close = ewf_close,
};
