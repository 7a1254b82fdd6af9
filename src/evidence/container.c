/*
 * AFF, VMDK, VHD and VHDX through The Sleuth Kit's image layer, which passes each to a library of
 * its own (libafflib, libvmdk, libvhdi), and AFF4 by our own reader (aff4.h), in a process of their own (served.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "evidence/aff.h"
#include "evidence/container_format.h"
#include "evidence/container_job.h"
#include "evidence/served.h"

/* libtsk reads in blocks of this size, all of which is lost if any of it is bad. */
#define BLOCK_LEN 65536
#define AFF4_UNIT_LEN 4096

static bool container_probe(const struct image_ends *ends)
{
	struct container_format format;

	return container_format_find(ends, &format);
}

/* libtsk's message is "what file: path: what", and where a library of its own knows more,
 * "(cause\nits effect...)" after it, the cause with its function's name in front. */
static void extract_reason(const char *said, char *reason, size_t len)
{
	const char *cause = strstr(said, "(lib"), *last = cause ? cause : said, *next;
	char line[512];

	while ((next = strstr(last, ": "))) {
		last = next + 2;
		if (cause)
			break;
	}
	snprintf(line, sizeof(line), "%s", last);
	line[strcspn(line, "\n")] = 0;
	text_clean(line, reason, len);
}

static int refuse_image(const char *path, const struct container_format *format, const char *said,
	struct error *error)
{
	char reason[512];

	extract_reason(said, reason, sizeof(reason));
	return error_set(error, EXIT_IO, EIO, "%s looks like %s but can't be read as such%s%s",
		path, format->name,
		!*reason                            ? ""
		: format->library == CONTAINER_AFF4 ? ": "
						    : "; its library says: ",
		reason);
}

/* *len: its bytes. */
static struct container *new_container(
	const char *path, enum container_library library, size_t *len)
{
	char *absolute = realpath(path, NULL);
	size_t path_len = strlen(absolute ? absolute : path) + 1;
	struct container *container = xmalloc(sizeof(*container) + path_len);

	container->library = library;
	memcpy(container->path, absolute ? absolute : path, path_len);
	*len = sizeof(*container) + path_len;
	free(absolute);
	return container;
}

static int container_open(
	struct image **image, const char *path, const struct image_ends *ends, struct error *error)
{
	struct served_image *served = xcalloc(1, sizeof(*served));
	struct image_info *info = &served->image.info;
	struct container_format format;
	char reason[512];
	int status;

	container_format_find(ends, &format);
	served->image.backend = &container_backend;
	served->image.read_unit = BLOCK_LEN;
	served->kind = "container";
	served->arg = new_container(path, format.library, &served->arg_len);
	served->unit = BLOCK_LEN;
	info->format = format.name;
	if (format.library == CONTAINER_AFF4) {
		served->kind = "aff4";
		served->unit = served->image.read_unit = AFF4_UNIT_LEN;
	}
	if (format.library == CONTAINER_AFF) {
		uint64_t page_len;

		aff_describe(path, info, &page_len);
		if (page_len > BLOCK_LEN)
			served->unit = page_len;
	}
	status = container_format_check(path, &format, ends, info, error);
	if (!status) {
		status = served_open(served, reason, sizeof(reason));
		if (status == -ENOENT)
			error_set(error, EXIT_IO, ENOENT, "can't open %s: %s", path, reason);
		else if (status)
			status = refuse_image(path, &format, reason, error);
	}
	if (status)
		image_close(&served->image);
	else
		*image = &served->image;
	return status;
}

const struct image_backend container_backend = {
	.name = "container",
	.probe = container_probe,
	.open = container_open,
	.read_at = served_read_at,
	.why = served_why,
	.close = served_close,
};
