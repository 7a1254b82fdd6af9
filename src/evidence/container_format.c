/*
 * Formats by their first bytes, a fixed VHD by its last sector, because it is a raw image with a
 * footer, and an AFF4 by its comment, because its members may be in any order. A VMDK's description is text, in the file itself or a file of its own, and names the
 * files that hold the bytes.
 */
#include "evidence/container_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/backend.h"
#include "base/file.h"
#include "base/endian.h"
#include "base/memory.h"

/* A VMDK's description is a few lines long, plus one for each 2 GB in some kinds. */
#define TEXT_MAX ((size_t)1 << 20)
#define EXTENTS_MAX 4096
#define SECTOR_LEN 512
#define ZIP_NAME_AT 30
#define ZIP_END_LEN 22
#define VHD_TYPE_AT 60
#define VHD_DIFFERENCING 4
/* MS-VHDX: the first region table, and entries of it and of the metadata table. */
#define VHDX_REGIONS_AT ((uint64_t)192 << 10)
#define VHDX_TABLE_LEN ((size_t)64 << 10)
#define VHDX_ENTRY_LEN 32
#define VHDX_HAS_PARENT 2

struct magic {
	size_t at; /* in the file */
	const char *bytes;
	size_t len;
	struct container_format format;
};

#define MAGIC(text) text, sizeof(text) - 1

static const struct magic magics[] = {
	{ 0, MAGIC("AFF1"), { "aff", CONTAINER_AFF } },
	{ 0, MAGIC("KDMV"), { "vmdk", CONTAINER_VMDK } },
	{ 0, MAGIC("COWD"), { "vmdk", CONTAINER_VMDK } },
	{ 0, MAGIC("# Disk DescriptorFile"), { "vmdk", CONTAINER_VMDK } },
	{ 0, MAGIC("conectix"), { "vhd", CONTAINER_VHD } },
	{ 0, MAGIC("vhdxfile"), { "vhdx", CONTAINER_VHD } },
	/* The name of a ZIP file's first member. */
	{ ZIP_NAME_AT, MAGIC("container.description"), { "aff4", CONTAINER_AFF4 } },
	{ ZIP_NAME_AT, MAGIC("information.turtle"), { "aff4", CONTAINER_AFF4 } },
};

/* The version and the unused offset are checked too, because a disk's last sector may hold any
 * text. */
static bool is_fixed_vhd(const struct image_ends *ends)
{
	static const uint8_t version[4] = { 0, 1, 0, 0 };
	static const uint8_t no_offset[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const uint8_t *tail = ends->tail;

	return ends->tail_len == IMAGE_TAIL_LEN && !memcmp(tail, "conectix", 8) &&
	       !memcmp(tail + 12, version, sizeof(version)) &&
	       !memcmp(tail + 16, no_offset, sizeof(no_offset));
}

/* A ZIP file whose comment is the name of a volume of AFF4. */
static bool is_aff4(const struct image_ends *ends)
{
	static const char end[] = "PK\5\6", name[] = "aff4://";
	const uint8_t *at = ends->tail, *last = ends->tail + ends->tail_len;

	if (memcmp(ends->head, "PK\3\4", 4))
		return false;
	while ((at = memmem(at, (size_t)(last - at), end, sizeof(end) - 1))) {
		if (last - at > ZIP_END_LEN + (ptrdiff_t)sizeof(name) &&
			!memcmp(at + ZIP_END_LEN, name, sizeof(name) - 1))
			return true;
		at++;
	}
	return false;
}

bool container_format_find(const struct image_ends *ends, struct container_format *format)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		if (ends->head_len < magics[i].at + magics[i].len ||
			memcmp(ends->head + magics[i].at, magics[i].bytes, magics[i].len))
			continue;
		*format = magics[i].format;
		return true;
	}
	if (is_aff4(ends)) {
		*format = (struct container_format){ "aff4", CONTAINER_AFF4 };
		return true;
	}
	if (!is_fixed_vhd(ends))
		return false;
	*format = (struct container_format){ "vhd", CONTAINER_VHD };
	return true;
}

static int refuse_child(
	const char *path, const struct container_format *format, struct error *error)
{
	return error_set(error, EXIT_IO, EMEDIUMTYPE,
		"%s is a %s image of only the changes to another one, which burin does not combine"
		": convert it with `qemu-img convert -O raw FILE image.raw`",
		path, format->name);
}

/* Reads up to len bytes of the file at offset. Returns how many there are. */
static size_t read_part(const char *path, uint64_t offset, void *bytes, size_t len)
{
	int fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? 0 : file_read_at(fd, bytes, len, offset);

	if (fd >= 0)
		close(fd);
	return n < 0 ? 0 : (size_t)n;
}

/* ---- VMDK ---------------------------------------------------------------------------------- */

/* The description, which the caller frees; NULL: there is none. */
static char *vmdk_text(const char *path, const struct image_ends *ends)
{
	uint64_t at = 0, len = TEXT_MAX;
	char *text;

	if (!memcmp(ends->head, "COWD", 4))
		return NULL;
	if (!memcmp(ends->head, "KDMV", 4)) {
		at = endian_get(ends->head + 28, 8);
		len = endian_get(ends->head + 36, 8);
		if (!at || at > INT64_MAX / SECTOR_LEN || len > TEXT_MAX / SECTOR_LEN)
			return NULL;
		at *= SECTOR_LEN;
		len *= SECTOR_LEN;
	}
	text = xcalloc(1, (size_t)len + 1);
	read_part(path, at, text, (size_t)len);
	return text;
}

static bool vmdk_has_parent(const char *text)
{
	const char *at = strstr(text, "parentCID=");

	return at && strncasecmp(at + 10, "ffffffff", 8);
}

/* The file of the line `RW 4192256 FLAT "disk-f001.vmdk" 0`, relative to path; the caller frees it.
 * NULL: not such a line. */
static char *vmdk_extent(const char *path, const char *line)
{
	const char *slash = strrchr(path, '/'), *begin, *end;

	if (strncmp(line, "RW ", 3) && strncmp(line, "RDONLY ", 7))
		return NULL;
	begin = strchr(line, '"');
	end = begin ? strchr(begin + 1, '"') : NULL;
	if (!end || memchr(begin + 1, '\n', (size_t)(end - begin - 1)))
		return NULL;
	return xasprintf("%.*s%.*s", slash && begin[1] != '/' ? (int)(slash + 1 - path) : 0, path,
		(int)(end - begin - 1), begin + 1);
}

static void vmdk_paths(const char *path, const char *text, struct image_info *info)
{
	size_t capacity = info->path_count;

	while (text && info->path_count < EXTENTS_MAX) {
		char *extent = vmdk_extent(path, text);

		if (extent && access(extent, F_OK) == 0 && strcmp(extent, path)) {
			info->paths = xgrow(
				info->paths, &capacity, info->path_count, sizeof(*info->paths));
			info->paths[info->path_count++] = extent;
		} else {
			free(extent);
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
}

/* ---- VHD and VHDX -------------------------------------------------------------------------- */

static bool vhd_has_parent(const struct image_ends *ends)
{
	const uint8_t *footer = memcmp(ends->head, "conectix", 8) ? ends->tail : ends->head;

	return footer[VHD_TYPE_AT + 3] == VHD_DIFFERENCING;
}

/* The entry with the identifier, in a table of count entries; NULL: none. */
static const uint8_t *vhdx_entry(
	const uint8_t *entries, size_t count, size_t room, const uint8_t id[16])
{
	for (size_t i = 0; i < count && i < room / VHDX_ENTRY_LEN; i++)
		if (!memcmp(entries + i * VHDX_ENTRY_LEN, id, 16))
			return entries + i * VHDX_ENTRY_LEN;
	return NULL;
}

/* If the table can't be read, neither can the image, as its library will report. */
static bool vhdx_has_parent(const char *path)
{
	static const uint8_t metadata_id[16] = { 0x06, 0xa2, 0x7c, 0x8b, 0x90, 0x47, 0x9a, 0x4b,
		0xb8, 0xfe, 0x57, 0x5f, 0x05, 0x0f, 0x88, 0x6e };
	static const uint8_t file_id[16] = { 0x37, 0x67, 0xa1, 0xca, 0x36, 0xfa, 0x43, 0x4d, 0xb3,
		0xb6, 0x33, 0xf0, 0xaa, 0x44, 0xe7, 0x6b };
	uint8_t *table = xcalloc(1, VHDX_TABLE_LEN), flags[8] = { 0 };
	const uint8_t *entry = NULL;
	uint64_t at = 0;

	if (read_part(path, VHDX_REGIONS_AT, table, VHDX_TABLE_LEN) == VHDX_TABLE_LEN)
		entry = vhdx_entry(
			table + 16, endian_get(table + 8, 4), VHDX_TABLE_LEN - 16, metadata_id);
	if (entry) {
		at = endian_get(entry + 16, 8);
		entry = NULL;
		if (at < INT64_MAX / 2 &&
			read_part(path, at, table, VHDX_TABLE_LEN) == VHDX_TABLE_LEN)
			entry = vhdx_entry(table + 32, endian_get(table + 10, 2),
				VHDX_TABLE_LEN - 32, file_id);
	}
	if (entry)
		read_part(path, at + endian_get(entry + 16, 4), flags, sizeof(flags));
	free(table);
	return flags[4] & VHDX_HAS_PARENT;
}

int container_format_check(const char *path, const struct container_format *format,
	const struct image_ends *ends, struct image_info *info, struct error *error)
{
	char *text = format->library == CONTAINER_VMDK ? vmdk_text(path, ends) : NULL;
	bool has_parent = text && vmdk_has_parent(text);

	info->paths = xcalloc(1, sizeof(*info->paths));
	info->paths[info->path_count++] = xstrdup(path);
	if (text)
		vmdk_paths(path, text, info);
	free(text);
	if (format->library == CONTAINER_VHD)
		has_parent =
			strcmp(format->name, "vhdx") ? vhd_has_parent(ends) : vhdx_has_parent(path);
	return has_parent ? refuse_child(path, format, error) : 0;
}
