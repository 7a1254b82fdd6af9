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
	{ "early AFF", 0, MAGIC("AFFLIB"), with_aff },
	{ "QCOW", 0, MAGIC("QFI\xfb"), with_qemu },
	{ "VDI", 64, MAGIC("\x7f\x10\xda\xbe"), with_qemu },
	{ "EWF2 (Ex01)", 0, MAGIC("EVF2\r\n\x81\0"), with_imager },
	{ "logical EWF2 (Lx01)", 0, MAGIC("LEF2\r\n\x81\0"), logical },
	{ "logical EWF (L01)", 0, MAGIC("LVF\t\r\n\xff\0"), logical },
};

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

int unsupported_container(
	const char *path, const uint8_t *head, size_t head_len, struct error *error)
{
	size_t count = sizeof(formats) / sizeof(formats[0]);

	for (size_t i = 0; i < count; i++)
		if (has_magic(&formats[i], head, head_len))
			return refuse_format(path, &formats[i], error);
	return 0;
}
