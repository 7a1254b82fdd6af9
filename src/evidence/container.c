/*
 * AFF, VMDK, VHD and VHDX through The Sleuth Kit's image layer, which passes each to a library of
 * its own (libafflib, libvmdk, libvhdi), in a process of its own (served.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tsk/libtsk.h>

#include "base/memory.h"
#include "base/text.h"
#include "evidence/aff.h"
#include "evidence/container_format.h"
#include "evidence/served.h"

/* libtsk reads in blocks of this size, all of which is lost if any of it is bad. */
#define BLOCK_LEN 65536
/* libafflib would keep 32 pages of 16 MiB. */
#define AFF_PAGES "2"

/* What the process is to open. */
struct container {
	enum container_library library;
	char path[]; /* absolute: libafflib would take some words in front for a protocol */
};

/* ---- in the process that works ------------------------------------------------------------- */

static void *open_library(struct served *served, void *arg)
{
	static const TSK_IMG_TYPE_ENUM types[] = { [CONTAINER_AFF] = TSK_IMG_TYPE_AFF_ANY,
		[CONTAINER_VMDK] = TSK_IMG_TYPE_VMDK_VMDK,
		[CONTAINER_VHD] = TSK_IMG_TYPE_VHD_VHD };
	const struct container *container = arg;
	TSK_IMG_INFO *info;

	setenv("AFFLIB_CACHE_PAGES", AFF_PAGES, 1);
	info = tsk_img_open_utf8_sing(container->path, types[container->library], 0);
	if (info)
		served_set_size(
			served, info->size > 0 ? (uint64_t)info->size : 0, info->sector_size);
	else
		served_refuse(served, "%s", tsk_error_get_errstr());
	return info;
}

static int read_library(void *handle, uint64_t offset, void *buffer, size_t len)
{
	return tsk_img_read(handle, (TSK_OFF_T)offset, buffer, len) == (ssize_t)len ? 0 : -EIO;
}

/* Its other parts are there. A file may name parts elsewhere, but it is not believed. */
static char *find_folder(const void *arg)
{
	const struct container *container = arg;
	const char *slash = strrchr(container->path, '/');

	return xasprintf("%.*s", slash ? (int)(slash - container->path) + 1 : 0, container->path);
}

static const struct served_kind served_container = {
	.memory = (uint64_t)1 << 30,
	.folder = find_folder,
	.open = open_library,
	.read_at = read_library,
};

/* ---- in burin ------------------------------------------------------------------------------ */

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
		path, format->name, *reason ? "; its library says: " : "", reason);
}

static struct container *new_container(const char *path, enum container_library library)
{
	char *absolute = realpath(path, NULL);
	size_t len = strlen(absolute ? absolute : path) + 1;
	struct container *container = xmalloc(sizeof(*container) + len);

	container->library = library;
	memcpy(container->path, absolute ? absolute : path, len);
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
	served->kind = &served_container;
	served->arg = new_container(path, format.library);
	served->unit = BLOCK_LEN;
	info->format = format.name;
	if (format.library == CONTAINER_AFF) {
		uint64_t page_len;

		aff_describe(path, info, &page_len);
		if (page_len > BLOCK_LEN)
			served->unit = page_len;
	}
	status = container_format_check(path, &format, ends, info, error);
	if (!status && served_open(served, reason, sizeof(reason)))
		status = refuse_image(path, &format, reason, error);
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
	.close = served_close,
};
