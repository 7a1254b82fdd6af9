/*
 * A container that was taken for a raw image would be scanned without complaint: compressed, out of
 * order, with the format's own tables in between, and the report's offsets would be offsets in the
 * container. So formats that are recognised but not read are refused, with the command that
 * converts them to a raw image.
 */
#include "evidence/unsupported.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/endian.h"
#include "base/memory.h"

struct format {
	const char *name;
	size_t offset; /* of the magic in the file's head */
	const char *magic;
	size_t magic_len;
	const char *advice; /* what to do with FILE */
};

#define MAGIC(text) text, sizeof(text) - 1

static const char with_qemu[] = "convert it with `qemu-img convert -O raw FILE image.raw`";
static const char with_aff[] = "convert it with `affconvert -r -e raw FILE`";
static const char with_imager[] =
	"convert it to E01 or raw with FTK Imager, EnCase or a newer libewf's `ewfexport FILE`";
static const char logical[] = "it holds files, not a disk, so there is nothing to carve";

static const struct format formats[] = {
	{ "AD1", 0, MAGIC("ADSEGMENTEDFILE"),
		"it holds files, not a disk; export them, or a disk image, with FTK Imager" },
	{ "early AFF", 0, MAGIC("AFFLIB"), with_aff },
	{ "QCOW (version 1)", 0, MAGIC("QFI\xfb\0\0\0\1"), with_qemu },
	{ "EWF2 (Ex01)", 0, MAGIC("EVF2\r\n\x81\0"), with_imager },
	{ "logical EWF2 (Lx01)", 0, MAGIC("LEF2\r\n\x81\0"), logical },
	{ "logical EWF (L01)", 0, MAGIC("LVF\t\r\n\xff\0"), logical },
};

/* These are carved all the same: parts of them are as they were. */
static const struct format partly_known[] = {
	{ "a memory image in LiME's format", 0, MAGIC("EMiL"),
		"ranges of memory with headers between them: offsets are those in the file" },
	{ "a hibernation file of Windows", 0, MAGIC("hibr"), "most of it is compressed" },
	{ "a hibernation file of Windows", 0, MAGIC("HIBR"), "most of it is compressed" },
	{ "a hibernation file of Windows", 0, MAGIC("wake"), "most of it is compressed" },
	{ "a hibernation file of Windows", 0, MAGIC("WAKE"), "most of it is compressed" },
	{ "a crash dump of Windows", 0, MAGIC("PAGEDUMP"),
		"some kinds are compressed, others leave out pages" },
	{ "a crash dump of Windows", 0, MAGIC("PAGEDU64"),
		"some kinds are compressed, others leave out pages" },
};

/* An image that was compressed as a whole is called as images are, with one more suffix. */
static const struct format compressed[] = {
	{ ".gz", 0, MAGIC("\x1f\x8b\x08"), "unpack it with `gzip -dk FILE`" },
	{ ".xz", 0, MAGIC("\xfd\x37zXZ\0"), "unpack it with `xz -dk FILE`" },
	{ ".zst", 0, MAGIC("\x28\xb5\x2f\xfd"), "unpack it with `zstd -d FILE`" },
	{ ".bz2", 0, MAGIC("BZh"), "unpack it with `bzip2 -dk FILE`" },
	{ ".lz4", 0, MAGIC("\x04\x22\x4d\x18"), "unpack it with `lz4 -d FILE`" },
	{ ".7z", 0, MAGIC("7z\xbc\xaf\x27\x1c"), "unpack it with `7z x FILE`" },
	{ ".zip", 0, MAGIC("PK\3\4"), "unpack it with `unzip FILE`" },
};
#define ZIP_NAME_LEN_AT 26
#define ZIP_NAME_AT 30

static const char *const image_suffixes[] = { ".dd", ".raw", ".img", ".image", ".bin", ".001",
	".e01", ".iso", ".dmg", ".vmdk", ".vhd", ".vhdx", ".qcow2", ".vdi", ".aff", ".mem", ".vmem",
	".dsk" };

static bool has_magic(const struct format *format, const uint8_t *head, size_t head_len)
{
	return head_len >= format->offset + format->magic_len &&
	       !memcmp(head + format->offset, format->magic, format->magic_len);
}

static int refuse_format(const char *path, const struct format *format, struct error *error)
{
	return error_set(error, EXIT_IO, EMEDIUMTYPE,
		"%s is an image in the format %s, which burin does not read: %s", path,
		format->name, format->advice);
}

bool unsupported_is_image_name(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(image_suffixes) / sizeof(*image_suffixes); i++) {
		size_t suffix_len = strlen(image_suffixes[i]);

		if (len > suffix_len &&
			!strncasecmp(name + len - suffix_len, image_suffixes[i], suffix_len))
			return true;
	}
	return false;
}

/* A ZIP's first member is called as images are. */
static bool zip_has_image(const uint8_t *head, size_t head_len)
{
	size_t len = head_len >= ZIP_NAME_AT ? (size_t)endian_get(head + ZIP_NAME_LEN_AT, 2) : 0;

	return len && len <= head_len - ZIP_NAME_AT &&
	       unsupported_is_image_name((const char *)head + ZIP_NAME_AT, len);
}

/* Other compressed files are evidence like any other. */
static bool is_compressed_image(
	const char *path, const uint8_t *head, size_t head_len, const struct format **found)
{
	for (size_t i = 0; i < sizeof(compressed) / sizeof(*compressed); i++) {
		size_t len = strlen(path), suffix_len = strlen(compressed[i].name);

		if (!has_magic(&compressed[i], head, head_len))
			continue;
		*found = &compressed[i];
		return (len > suffix_len &&
			       !strcasecmp(path + len - suffix_len, compressed[i].name) &&
			       unsupported_is_image_name(path, len - suffix_len)) ||
		       (!strcmp(compressed[i].name, ".zip") && zip_has_image(head, head_len));
	}
	return false;
}

int unsupported_container(
	const char *path, const uint8_t *head, size_t head_len, struct error *error)
{
	size_t count = sizeof(formats) / sizeof(formats[0]);
	const struct format *found;

	for (size_t i = 0; i < count; i++)
		if (has_magic(&formats[i], head, head_len))
			return refuse_format(path, &formats[i], error);
	if (is_compressed_image(path, head, head_len, &found))
		return error_set(error, EXIT_IO, EMEDIUMTYPE,
			"%s is a compressed image (%s), in which nothing can be carved: %s", path,
			found->name + 1, found->advice);
	return 0;
}

char *unsupported_caution(const char *path, const uint8_t *head, size_t head_len)
{
	for (size_t i = 0; i < sizeof(partly_known) / sizeof(*partly_known); i++)
		if (has_magic(&partly_known[i], head, head_len))
			return xasprintf("%s is %s, which is carved as it is: %s", path,
				partly_known[i].name, partly_known[i].advice);
	return NULL;
}
