/*
 * E01 and S01, through libewf.
 *
 * libewf's own read function fills a chunk whose checksum is wrong, or that no segment holds, with
 * zeros and calls that a success; the list of such places that it keeps afterwards grows
 * quadratically dear. So chunks are read one by one with its lower functions, which answer for
 * each: fetching the packed bytes changes the handle and is done under a lock; unpacking and
 * checking them does not touch the handle (it computes on the caller's buffers alone) and runs
 * outside of it, in as many threads as read. A chunk is read whole or not at all, which makes it
 * the granule.
 *
 * libewf of 2017 and later has other lower functions. There its plain one is used, chunk by chunk
 * under the lock, and the list is asked after each.
 */
#include <libewf.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "evidence/backend.h"
#include "evidence/segments.h"
#include "base/text.h"

#define CHUNK_MAX (256u << 20)
#define VALUE_LEN 4096
/* A packed chunk is smaller than the chunk, or its bytes and a checksum; the last one of a segment
 * is taken by some versions to reach to the end of its section. */
#define PACKED_SLACK 65536

struct ewf {
	struct image image;
	libewf_handle_t *handle;
	pthread_mutex_t lock; /* over handle */
	size_t chunk_len;
};

static bool ewf_probe(const uint8_t *head, size_t len)
{
	return segments_probe(head, len);
}

/* What libewf says is a stack of lines, the cause first, each with its function's name in front.
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

/* The segments' names. libewf knows the naming schema, but only for the usual extensions: any other
 * file stands alone. */
static void find_segments(const char *path, char ***paths, size_t *count)
{
	char **found = NULL;
	int found_count = 0;

	if (libewf_glob(path, strlen(path), LIBEWF_FORMAT_UNKNOWN, &found, &found_count, NULL) != 1)
		found_count = 0;
	*count = found_count > 0 ? (size_t)found_count : 1;
	*paths = xcalloc(*count, sizeof(**paths));
	if (found_count > 0)
		for (size_t i = 0; i < *count; i++)
			(*paths)[i] = xstrdup(found[i]);
	else
		(*paths)[0] = xstrdup(path);
	if (found)
		libewf_glob_free(found, found_count, NULL);
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
 * nobody's business. */
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

/* hex: as many digits as the hash has, and a zero; stays "" when the image stores no such hash. */
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
		return ewf_failure(path, "does not say how large it is", &reason, error);
	if (size == 0 || size > INT64_MAX || info->sector_size == 0 || chunk_len == 0 ||
		chunk_len > CHUNK_MAX)
		return ewf_failure(path, "holds no sectors, or is damaged where it says how many",
			&reason, error);
	info->size = size;
	ewf->chunk_len = ewf->image.granule = chunk_len;
	return 0;
}

static int open_handle(struct ewf *ewf, const char *path, struct error *error)
{
	struct image_info *info = &ewf->image.info;
	libewf_error_t *reason = NULL;

	if (libewf_handle_initialize(&ewf->handle, &reason) != 1)
		return ewf_failure(path, "can't be opened", &reason, error);
	image_allow_descriptors(info->path_count);
	if (libewf_handle_open(ewf->handle, info->paths, (int)info->path_count, LIBEWF_OPEN_READ,
		    &reason) != 1)
		return ewf_failure(path, "is damaged or incomplete", &reason, error);
	return read_geometry(ewf, path, error);
}

static void ewf_close(struct image *image)
{
	struct ewf *ewf = (struct ewf *)image;

	if (ewf->handle) {
		libewf_handle_close(ewf->handle, NULL);
		libewf_handle_free(&ewf->handle, NULL);
	}
	pthread_mutex_destroy(&ewf->lock);
	free(ewf);
}

static int ewf_open(struct image **image, const char *path, struct error *error)
{
	struct ewf *ewf = xcalloc(1, sizeof(*ewf));
	struct image_info *info = &ewf->image.info;
	size_t damaged = 0;
	int rc;

	ewf->image.backend = &ewf_backend;
	pthread_mutex_init(&ewf->lock, NULL);
	info->format = "ewf";
	find_segments(path, &info->paths, &info->path_count);
	if (strcmp(path, info->paths[0]))
		rc = error_set(error, EXIT_IO, EINVAL,
			"%s is a later segment of its set: give the first one, %s", path,
			info->paths[0]);
	else
		rc = segments_check(info->paths, info->path_count, &damaged, error);
	if (!rc)
		rc = open_handle(ewf, path, error);
	if (rc) {
		image_close(&ewf->image);
		return rc;
	}
	if (damaged < info->path_count || libewf_handle_segment_files_corrupted(ewf->handle, NULL))
		info->damage = xasprintf("%s is cut off or damaged: what it lacks is read as zeros and "
					 "reported as unreadable",
			info->paths[damaged < info->path_count ? damaged : 0]);
	read_values(ewf);
	read_hash(ewf, "MD5", info->stored_md5, sizeof(info->stored_md5));
	read_hash(ewf, "SHA1", info->stored_sha1, sizeof(info->stored_sha1));
	*image = &ewf->image;
	return 0;
}

/* Room for one chunk as stored and one unpacked, for a thread that reads. */
struct scratch {
	uint8_t *packed, *plain;
	size_t packed_len;
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
		got = libewf_handle_read_chunk(ewf->handle, scratch->packed, scratch->packed_len,
			&compressed, checksum_bytes, &checksum, &has_checksum, NULL);
	pthread_mutex_unlock(&ewf->lock);
	if (got <= 0)
		return -EIO;
	got = libewf_handle_prepare_read_chunk(ewf->handle, scratch->packed, (size_t)got,
		scratch->plain, &plain_len, compressed, checksum, has_checksum, NULL);
	*data = compressed ? scratch->plain : scratch->packed;
	return got >= 0 && (size_t)got >= len ? 0 : -EIO;
}

#else

/* True when libewf notes a bad checksum anywhere in the len bytes at offset. Under the lock. */
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
	bool good;

	pthread_mutex_lock(&ewf->lock);
	good = libewf_handle_read_buffer_at_offset(
		       ewf->handle, scratch->plain, len, (off64_t)offset, NULL) == (ssize_t)len &&
	       !is_bad(ewf, offset, len);
	pthread_mutex_unlock(&ewf->lock);
	*data = scratch->plain;
	return good ? 0 : -EIO;
}

#endif

static int read_chunks(
	struct ewf *ewf, uint64_t offset, uint8_t *to, size_t len, struct scratch *scratch)
{
	while (len) {
		size_t skip = (size_t)(offset % ewf->chunk_len);
		uint64_t start = offset - skip, left = ewf->image.info.size - start;
		size_t chunk_len = left < ewf->chunk_len ? (size_t)left : ewf->chunk_len;
		size_t piece_len = chunk_len - skip < len ? chunk_len - skip : len;
		const uint8_t *data;
		int rc = read_chunk(ewf, start, chunk_len, scratch, &data);

		if (rc)
			return rc;
		memcpy(to, data + skip, piece_len);
		offset += piece_len;
		to += piece_len;
		len -= piece_len;
	}
	return 0;
}

static int ewf_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	struct ewf *ewf = (struct ewf *)image;
	struct scratch scratch = { .packed_len = 2 * ewf->chunk_len + PACKED_SLACK };
	int rc = -ENOMEM;

	scratch.packed = malloc(scratch.packed_len);
	scratch.plain = malloc(ewf->chunk_len);
	if (scratch.packed && scratch.plain)
		rc = read_chunks(ewf, offset, buffer, len, &scratch);
	free(scratch.packed);
	free(scratch.plain);
	return rc;
}

const struct image_backend ewf_backend = {
	.name = "ewf",
	.probe = ewf_probe,
	.open = ewf_open,
	.read_at = ewf_read_at,
	.close = ewf_close,
};
