/* The text in which a physical volume of LVM describes its group, from hostile bytes: in a volume with
 * the checksums that go with it, whose logical volumes are listed, opened and read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

#include "base/endian.h"
#include "evidence/lvm_group.h"
#include "memory_image.h"
#include "fuzz/read_inner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define AREA_AT 4096
#define DATA_AT 65536
#define TEXT_MAX (DATA_AT - AREA_AT - 512)

static uint8_t disk[DATA_AT + 8192];

/* The label, its head with one area of data and one of text, and the text. */
static void make_volume(const uint8_t *text, size_t len)
{
	uint8_t *label = disk + 512, *area = disk + AREA_AT;

	memset(disk, 0, sizeof(disk));
	memcpy(label, "LABELONE", 8);
	endian_put(label + 20, 32, 4);
	memcpy(label + 24, "LVM2 001", 8);
	memset(label + 32, 'p', 32);
	endian_put(label + 72, DATA_AT, 8);
	endian_put(label + 104, AREA_AT, 8);
	endian_put(label + 112, DATA_AT - AREA_AT, 8);
	memcpy(area + 4, " LVM2 x[5A%r0N*>", 16);
	endian_put(area + 40, 512, 8);
	endian_put(area + 48, len, 8);
	/* As CRC-32, from another start and not inverted at the end. */
	endian_put(area + 56, ~libdeflate_crc32(~(uint32_t)0xf597a6cf, text, len), 4);
	memcpy(area + 512, text, len);
}

static int read_disk(void *context, uint64_t offset, void *buffer, size_t part_len)
{
	(void)context;
	memcpy(buffer, disk + offset, part_len);
	return 0;
}

static void open_volume(const struct lvm_source *source, const char *name)
{
	const struct volume volume = { .length = sizeof(disk) };
	struct memory_image outer;
	const char *why = NULL;
	struct image *image;
	size_t count;
	struct lvm_segment *segments = lvm_group_segments(source, name, &count, &why);

	if (!segments && !why)
		abort();
	image = segments ? inner_lvm.build(segments, count * sizeof(*segments), &volume) : NULL;
	memory_image_init(&outer, disk, sizeof(disk));
	if (image)
		read_all(image, &outer.image);
	free(segments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct lvm_source source = { sizeof(disk), read_disk, NULL };
	char *names, *rest, *name;

	make_volume(data, len < TEXT_MAX ? len : TEXT_MAX);
	names = lvm_group_names(&source);
	for (name = names ? strtok_r(names, "\n", &rest) : NULL; name;
		name = strtok_r(NULL, "\n", &rest))
		open_volume(&source, name);
	free(names);
	return 0;
}
