/*
 * E01 and S01. Their chunks are read by our own code (e01_set.c, e01_chunks.c), in any number of
 * threads and without a table in memory. What investigators typed in and the software hashed is
 * read by libewf, which knows its many forms best, in burin-evidence (confined/ewf_library.c). Since libewf would read
 * all tables of a set that it opens, some 3 GB for a TB, it gets a small file that has only the sections with such
 * data. Only where the description of the medium can't be read, or names chunks of an odd size, is
 * the set given to libewf as it is.
 */
#include <errno.h>
#include <inttypes.h>
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
#include "evidence/ewf_job.h"
#include "evidence/served.h"

/* libewf reads all tables when it opens a set. */
#define OPEN_CPU_SECONDS 600
#define CHUNK_MAX (256u << 20)

struct ewf {
	struct image image;
	struct e01_set set;
	struct e01_chunks *chunks;
};

static bool ewf_probe(const struct image_ends *ends)
{
	return e01_probe(ends->head, ends->head_len);
}

/* ---- what libewf says ---------------------------------------------------------------------- */

/* text: a name and a value, which were cleaned by a process that is not trusted. */
static void add_value(struct image_info *info, char *text)
{
	char *value = strchr(text, ' ');

	if (!value)
		return;
	*value++ = 0;
	info->values = xreallocarray(info->values, info->value_count + 1, sizeof(*info->values));
	info->values[info->value_count++] =
		(struct image_value){ text_clean_copy(text), text_clean_copy(value) };
}

/* hex: room for the hash's digits and a zero; stays as it is when the value is no such hash. */
static void take_hash(const char *value, char *hex, size_t hex_len)
{
	if (strlen(value) != hex_len - 1 || strspn(value, "0123456789abcdefABCDEF") != hex_len - 1)
		return;
	for (size_t i = 0; i < hex_len; i++)
		hex[i] = value[i] >= 'A' && value[i] <= 'F' ? (char)(value[i] | 0x20) : value[i];
}

/* A line of burin-evidence's answer. */
static void take_line(struct image *image, char *line, bool *damaged)
{
	struct image_info *info = &image->info;
	char *value = strchr(line, ' ');

	if (value)
		*value++ = 0;
	else
		value = line + strlen(line);
	if (!strcmp(line, EWF_VALUE)) {
		add_value(info, value);
	} else if (!strcmp(line, EWF_MD5)) {
		take_hash(value, info->stored_md5, sizeof(info->stored_md5));
	} else if (!strcmp(line, EWF_SHA1)) {
		take_hash(value, info->stored_sha1, sizeof(info->stored_sha1));
	} else if (!strcmp(line, EWF_CHUNK_LEN)) {
		unsigned long len = strtoul(value, NULL, 10);

		if (len && len <= CHUNK_MAX)
			image->read_unit = (uint32_t)len;
	} else if (!strcmp(line, EWF_DAMAGED)) {
		*damaged = true;
	}
}

/* Frees the lines. True: they say that the set is damaged. */
static bool take_lines(struct image *image, char *lines)
{
	bool damaged = false;
	char *rest;

	for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		take_line(image, line, &damaged);
	free(lines);
	return damaged;
}

static const struct image_backend library_backend = {
	.name = "ewf",
	.read_at = served_read_at,
	.why = served_why,
	.close = served_close,
};

/* A set that libewf is asked about, with len bytes for the message. */
static struct served_image *new_served(uint32_t path_count, const void *bytes, size_t len)
{
	struct served_image *served = xcalloc(1, sizeof(*served));
	struct ewf_job *job = xmalloc(sizeof(*job) + len);

	job->path_count = path_count;
	job->len = (uint32_t)len;
	if (len)
		memcpy(job->bytes, bytes, len);
	served->image.backend = &library_backend;
	served->kind = "ewf";
	served->unit = 1;
	served->arg = job;
	served->arg_len = sizeof(*job) + len;
	served->open_cpu_seconds = OPEN_CPU_SECONDS;
	return served;
}

/* An image whose acquisition data is missing or damaged is read all the same. */
static void read_descriptions(struct ewf *ewf)
{
	struct e01_set *set = &ewf->set;
	size_t len;
	uint8_t *stub = e01_make_stub(set->metadata, set->metadata_count, &len);
	struct served_image *served = new_served(0, stub, len);
	char reason[512];
	char *lines = served_list(served, reason, sizeof(reason));

	if (lines)
		take_lines(&ewf->image, lines);
	else if (!set->damage)
		set->damage = xasprintf("its acquisition data can't be read: %s", reason);
	served_close(&served->image);
	free(stub);
}

static void open_common(struct ewf *ewf)
{
	struct e01_set *set = &ewf->set;

	ewf->image.info.size = set->size;
	ewf->image.info.sector_size = set->sector_size;
	ewf->image.read_unit = set->chunk_len;
	ewf->chunks = e01_chunks_new(set);
	read_descriptions(ewf);
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

/* The message with all paths, absolute. */
static struct served_image *serve_paths(const struct image_info *info)
{
	struct served_image *served;
	char *bytes = NULL;
	size_t len = 0;

	for (size_t i = 0; i < info->path_count; i++) {
		char *absolute = realpath(info->paths[i], NULL);
		const char *path = absolute ? absolute : info->paths[i];
		size_t path_len = strlen(path) + 1;

		bytes = xreallocarray(bytes, len + path_len, 1);
		memcpy(bytes + len, path, path_len);
		len += path_len;
		free(absolute);
	}
	served = new_served((uint32_t)info->path_count, bytes, len);
	free(bytes);
	return served;
}

/* The set as an image that libewf reads. It takes over what is known of the set. */
static int open_unusual(struct ewf *ewf, struct image **image, struct error *error)
{
	int status = check_claims(&ewf->set, error);
	struct served_image *served;
	struct image_info *info;
	char reason[512];

	if (status)
		return status;
	served = serve_paths(&ewf->image.info);
	info = &served->image.info;
	*info = ewf->image.info;
	ewf->image.info = (struct image_info){ 0 };
	info->damage = ewf->set.damage ? xstrdup(ewf->set.damage) : NULL;
	status = served_open(served, reason, sizeof(reason));
	if (status) {
		error_set(error, EXIT_IO, -status, "%s is an E01 image that can't be read: %s",
			info->paths[0], reason);
		image_close(&served->image);
		return status;
	}
	served->image.read_unit = info->sector_size;
	if (take_lines(&served->image, served_names(served)) && !info->damage)
		info->damage = xasprintf("%s is damaged: missing data is read as zeros and "
					 "reported as unreadable",
			info->paths[0]);
	served->unit = served->image.read_unit;
	*image = &served->image;
	return 0;
}

/* ---- the backend --------------------------------------------------------------------------- */

static void ewf_close(struct image *image)
{
	struct ewf *ewf = (struct ewf *)image;

	e01_chunks_free(ewf->chunks);
	e01_set_close(&ewf->set);
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
	if (!rc)
		order_paths(ewf);
	return rc;
}

static int ewf_open(
	struct image **image, const char *path, const struct image_ends *ends, struct error *error)
{
	struct ewf *ewf = xcalloc(1, sizeof(*ewf));
	int rc;

	(void)ends;
	ewf->image.backend = &ewf_backend;
	ewf->image.info.format = "ewf";
	rc = open_set(ewf, path, error);
	if (rc || !ewf->set.common) {
		if (!rc)
			rc = open_unusual(ewf, image, error);
		image_close(&ewf->image);
		return rc;
	}
	open_common(ewf);
	if (ewf->set.damage)
		ewf->image.info.damage = xstrdup(ewf->set.damage);
	*image = &ewf->image;
	return 0;
}

static int ewf_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return e01_chunks_read(((struct ewf *)image)->chunks, offset, buffer, len);
}

static char *ewf_why(struct image *image, uint64_t offset)
{
	return e01_chunks_why(((struct ewf *)image)->chunks, offset);
}

const struct image_backend ewf_backend = {
	.name = "ewf",
	.probe = ewf_probe,
	.open = ewf_open,
	.read_at = ewf_read_at,
	.why = ewf_why,
	.close = ewf_close,
};
