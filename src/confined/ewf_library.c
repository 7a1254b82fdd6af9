/*
 * libewf, for what evidence/ewf.c does not read itself: what investigators typed in and software hashed, whose many
 * forms libewf knows best, and sets whose description of the medium can't be read or names chunks of an odd size.
 *
 * libewf's own read function fills a chunk that is missing or has a wrong checksum with zeros and
 * calls that a success; the list of such places that it keeps afterwards becomes quadratically
 * expensive. So chunks are read one by one with its lower functions, which report errors for each. A chunk is read
 * whole or not at all, which makes it the read unit.
 *
 * libewf of 2017 and later has different lower functions. There its plain read function is used,
 * chunk by chunk, and the list is consulted after each.
 */
#include "confined/served_work.h"

#include <libewf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/memory.h"
#include "base/text.h"
#include "evidence/ewf_job.h"

#define CHUNK_MAX (256u << 20)
#define VALUE_LEN 4096
/* A compressed chunk is smaller than the chunk, or it is its bytes and a checksum; some versions
 * extend the last one of a segment to the end of its section. */
#define STORED_SLACK 65536
/* It reads all tables of a set: some 3 GB for 1 TB. */
#define MEMORY ((uint64_t)16 << 30)

struct library {
	libewf_handle_t *handle;
	uint64_t size;
	uint32_t sector_size;
	size_t chunk_len;
	/* Room for a chunk as it is stored, and as it was. */
	uint8_t *stored, *plain;
	size_t stored_len;
	/* The chunk that was read last, for one may be larger than what is read at a time. */
	const uint8_t *last;
	uint64_t last_at; /* UINT64_MAX: none */
};

/* Refuses with the innermost of libewf's messages, a stack of lines with the cause first, each with its function's
 * name in front. */
static void refuse(struct served *served, const char *what, libewf_error_t *reason)
{
	char text[2048] = "", *start = text, *colon;

	if (reason)
		libewf_error_backtrace_sprint(reason, text, sizeof(text));
	text[strcspn(text, "\n")] = 0;
	colon = strstr(text, ": ");
	if (!strncmp(text, "lib", 3) && colon)
		start = colon + 2;
	served_refuse(served, "%s%s%s", what, *start ? "; libewf says: " : "", start);
}

/* ---- opening ------------------------------------------------------------------------------- */

/* The E01 in the message as a file that libewf can open; its descriptor, or -1. */
static int make_file(const struct ewf_job *job)
{
	int fd = memfd_create("burin", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, job->bytes, job->len) == (ssize_t)job->len)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The paths in the message; the caller frees the list. */
static char **list_paths(struct ewf_job *job)
{
	char **paths = xcalloc((size_t)job->path_count + 1, sizeof(*paths));
	size_t at = 0;

	for (uint32_t i = 0; i < job->path_count && at < job->len; i++) {
		paths[i] = job->bytes + at;
		at += strlen(paths[i]) + 1;
	}
	return paths;
}

/* Confines this process before libewf sees a byte. NULL: it can't open the set, and that was refused. */
static libewf_handle_t *open_handle(struct served *served, struct ewf_job *job)
{
	bool is_stub = !job->path_count;
	char *stub[] = { NULL, NULL }, **paths = is_stub ? stub : list_paths(job);
	int fd = is_stub ? make_file(job) : -1;
	libewf_handle_t *handle = NULL;
	libewf_error_t *reason = NULL;

	/* What has no name in any folder needs no right of its own. */
	confine(&(struct confine_rights){ .readable = (const char *const *)paths });
	if (is_stub)
		stub[0] = xasprintf("/proc/self/fd/%d", fd);
	if (libewf_handle_initialize(&handle, &reason) != 1) {
		refuse(served, "there is no memory", reason);
		return NULL;
	}
	if (libewf_handle_open(handle, paths, is_stub ? 1 : (int)job->path_count, LIBEWF_OPEN_READ,
		    &reason) == 1)
		return handle;
	refuse(served, "it is damaged or incomplete", reason);
	return NULL;
}

/* ---- what was typed in and hashed ---------------------------------------------------------- */

/* Header values are what the examiner typed in, and what the software added. The password's hash is
 * not reported. */
static void name_values(struct served *served, libewf_handle_t *handle)
{
	uint32_t count = 0;

	libewf_handle_set_header_values_date_format(handle, LIBEWF_DATE_FORMAT_ISO8601, NULL);
	if (libewf_handle_get_number_of_header_values(handle, &count, NULL) != 1)
		return;
	for (uint32_t i = 0; i < count; i++) {
		char name[64] = "", value[VALUE_LEN] = "", clean[VALUE_LEN];
		char line[VALUE_LEN + sizeof(name) + sizeof(EWF_VALUE) + 2];
		size_t name_len = 0;

		if (libewf_handle_get_header_value_identifier_size(handle, i, &name_len, NULL) !=
				1 ||
			name_len > sizeof(name) ||
			libewf_handle_get_header_value_identifier(
				handle, i, (uint8_t *)name, name_len, NULL) != 1 ||
			!strcmp(name, "password"))
			continue;
		if (libewf_handle_get_utf8_header_value(handle, (uint8_t *)name, strlen(name),
			    (uint8_t *)value, sizeof(value), NULL) != 1 ||
			!value[strspn(value, " ")])
			continue;
		snprintf(line, sizeof(line), EWF_VALUE " %s %s", name,
			text_clean(value, clean, sizeof(clean)));
		served_name(served, line);
	}
}

static void name_hash(
	struct served *served, libewf_handle_t *handle, const char *identifier, const char *word)
{
	char value[128] = "", line[160];

	if (libewf_handle_get_utf8_hash_value(handle, (const uint8_t *)identifier,
		    strlen(identifier), (uint8_t *)value, sizeof(value), NULL) != 1)
		return;
	snprintf(line, sizeof(line), "%s %s", word, value);
	served_name(served, line);
}

static void name_all(struct served *served, libewf_handle_t *handle)
{
	name_values(served, handle);
	name_hash(served, handle, "MD5", EWF_MD5);
	name_hash(served, handle, "SHA1", EWF_SHA1);
}

static void list_descriptions(struct served *served, void *arg)
{
	libewf_handle_t *handle = open_handle(served, arg);

	if (handle)
		name_all(served, handle);
}

/* ---- serving a set ------------------------------------------------------------------------- */

static bool read_geometry(struct served *served, struct library *library)
{
	libewf_error_t *reason = NULL;
	size64_t size = 0;
	size32_t chunk_len = 0;

	if (libewf_handle_get_media_size(library->handle, &size, &reason) != 1 ||
		libewf_handle_get_bytes_per_sector(
			library->handle, &library->sector_size, &reason) != 1 ||
		libewf_handle_get_chunk_size(library->handle, &chunk_len, &reason) != 1) {
		refuse(served, "it does not record its size", reason);
		return false;
	}
	if (size == 0 || size > INT64_MAX || library->sector_size == 0 || chunk_len == 0 ||
		chunk_len > CHUNK_MAX) {
		refuse(served, "it holds no sectors, or is damaged where it records how many",
			NULL);
		return false;
	}
	library->size = size;
	library->chunk_len = chunk_len;
	return true;
}

static void *open_set(struct served *served, void *arg)
{
	struct library *library = xcalloc(1, sizeof(*library));
	char line[64];

	library->handle = open_handle(served, arg);
	if (!library->handle || !read_geometry(served, library))
		return NULL;
	library->last_at = UINT64_MAX;
	library->stored_len = 2 * library->chunk_len + STORED_SLACK;
	library->stored = xmalloc(library->stored_len);
	library->plain = xmalloc(library->chunk_len);
	served_set_size(served, library->size, library->sector_size);
	snprintf(line, sizeof(line), EWF_CHUNK_LEN " %zu", library->chunk_len);
	served_name(served, line);
	if (libewf_handle_segment_files_corrupted(library->handle, NULL))
		served_name(served, EWF_DAMAGED);
	name_all(served, library->handle);
	return library;
}

#if LIBEWF_VERSION < 20150000

/* Reads the chunk at offset, a multiple of the chunk's length; *data: its len bytes. */
static int read_chunk(struct library *library, uint64_t offset, size_t len, const uint8_t **data)
{
	uint8_t checksum_bytes[4];
	uint32_t checksum = 0;
	int8_t compressed = 0, has_checksum = 0;
	size_t plain_len = library->chunk_len;
	ssize_t got = -1;

	if (libewf_handle_seek_offset(library->handle, (off64_t)offset, SEEK_SET, NULL) >= 0)
		got = libewf_handle_read_chunk(library->handle, library->stored,
			library->stored_len, &compressed, checksum_bytes, &checksum, &has_checksum,
			NULL);
	if (got <= 0)
		return -EIO;
	got = libewf_handle_prepare_read_chunk(library->handle, library->stored, (size_t)got,
		library->plain, &plain_len, compressed, checksum, has_checksum, NULL);
	*data = compressed ? library->plain : library->stored;
	return got >= 0 && (size_t)got >= len ? 0 : -EIO;
}

#else

/* True when libewf lists a wrong checksum anywhere in the len bytes at offset. */
static bool is_bad(struct library *library, uint64_t offset, size_t len)
{
	uint32_t count = 0;
	uint64_t sector = offset / library->sector_size;
	uint64_t end = (offset + len - 1) / library->sector_size + 1;

	libewf_handle_get_number_of_checksum_errors(library->handle, &count, NULL);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t start = 0, sectors = 0;

		if (libewf_handle_get_checksum_error(library->handle, i, &start, &sectors, NULL) ==
				1 &&
			start < end && sector < start + sectors)
			return true;
	}
	return false;
}

static int read_chunk(struct library *library, uint64_t offset, size_t len, const uint8_t **data)
{
	*data = library->plain;
	return libewf_handle_read_buffer_at_offset(library->handle, library->plain, len,
		       (off64_t)offset, NULL) == (ssize_t)len &&
			       !is_bad(library, offset, len)
		       ? 0
		       : -EIO;
}

#endif

/* *data: the len bytes of the chunk at offset, which stay until another is read. */
static int find_chunk(struct library *library, uint64_t offset, size_t len, const uint8_t **data)
{
	int status = 0;

	if (library->last_at != offset) {
		library->last_at = UINT64_MAX;
		status = read_chunk(library, offset, len, &library->last);
		if (!status)
			library->last_at = offset;
	}
	*data = library->last;
	return status;
}

static int read_set(void *handle, uint64_t offset, void *buffer, size_t len)
{
	struct library *library = handle;
	uint8_t *to = buffer;

	while (len) {
		size_t skip = (size_t)(offset % library->chunk_len);
		uint64_t start = offset - skip;
		uint64_t left = start < library->size ? library->size - start : 0;
		size_t chunk_len = left < library->chunk_len ? (size_t)left : library->chunk_len;
		size_t part_len;
		const uint8_t *data;

		if (skip >= chunk_len || find_chunk(library, start, chunk_len, &data))
			return -EIO;
		part_len = chunk_len - skip < len ? chunk_len - skip : len;
		memcpy(to, data + skip, part_len);
		offset += part_len;
		to += part_len;
		len -= part_len;
	}
	return 0;
}

const struct served_kind served_ewf = {
	.name = "ewf",
	.memory = MEMORY,
	.confines_itself = true,
	.open = open_set,
	.read_at = read_set,
	.list = list_descriptions,
};
