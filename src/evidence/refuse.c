/*
 * A container that was taken for a raw image would be scanned without complaint: compressed, out of
 * order, with the format's own tables in between, and the report's offsets would be offsets in the
 * container. So what is recognised and not read is refused, with the command that makes a raw image
 * of it.
 */
#include "evidence/refuse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct container {
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
static const char logical[] = "it holds files, not a disk; there is nothing to carve in it";

static const struct container containers[] = {
	{ "AFF", 0, MAGIC("AFF1"), with_aff },
	{ "AFF", 0, MAGIC("AFFLIB"), with_aff },
	{ "VMDK", 0, MAGIC("KDMV"), with_qemu },
	{ "VMDK (ESX)", 0, MAGIC("COWD"), with_qemu },
	{ "VMDK descriptor", 0, MAGIC("# Disk DescriptorFile"), with_qemu },
	{ "VHD", 0, MAGIC("conectix"), with_qemu },
	{ "VHDX", 0, MAGIC("vhdxfile"), with_qemu },
	{ "QCOW", 0, MAGIC("QFI\xfb"), with_qemu },
	{ "VDI", 64, MAGIC("\x7f\x10\xda\xbe"), with_qemu },
	{ "EWF2 (Ex01)", 0, MAGIC("EVF2\r\n\x81\0"), with_imager },
	{ "logical EWF2 (Lx01)", 0, MAGIC("LEF2\r\n\x81\0"), logical },
	{ "logical EWF (L01)", 0, MAGIC("LVF\t\r\n\xff\0"), logical },
};

static bool has_magic(const struct container *container, const uint8_t *head, size_t head_len)
{
	return head_len >= container->offset + container->magic_len &&
	       !memcmp(head + container->offset, container->magic, container->magic_len);
}

/* A fixed VHD is a raw image with a footer and nothing in front. The version and the unused offset
 * are looked at too, since a disk's last sector may hold any text. */
static bool is_vhd_footer(const uint8_t *tail, size_t tail_len)
{
	static const uint8_t version[4] = { 0, 1, 0, 0 };
	static const uint8_t no_offset[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	return tail_len == 512 && !memcmp(tail, "conectix", 8) &&
	       !memcmp(tail + 12, version, sizeof(version)) &&
	       !memcmp(tail + 16, no_offset, sizeof(no_offset));
}

static int refuse(const char *path, const struct container *container, struct error *error)
{
	return error_set(error, EXIT_IO, EMEDIUMTYPE,
		"%s is an image in the format %s, which burin does not read: %s", path,
		container->name, container->advice);
}

int refuse_container(const char *path, const uint8_t *head, size_t head_len, const uint8_t *tail,
	size_t tail_len, struct error *error)
{
	static const struct container fixed_vhd = { "VHD (fixed)", 0, "", 0, with_qemu };
	size_t count = sizeof(containers) / sizeof(containers[0]);

	for (size_t i = 0; i < count; i++)
		if (has_magic(&containers[i], head, head_len))
			return refuse(path, &containers[i], error);
	if (is_vhd_footer(tail, tail_len))
		return refuse(path, &fixed_vhd, error);
	return 0;
}
