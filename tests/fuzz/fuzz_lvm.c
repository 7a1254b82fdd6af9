/* The text in which a physical volume of LVM describes its group, from hostile bytes: in a volume with
 * the checksums that go with it, whose logical volumes are listed, opened and read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

#include "base/endian.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct inner_place place = { .volume = { .length = sizeof(disk) } };
	struct memory_image outer;
	char *names, *rest, *name;

	make_volume(data, len < TEXT_MAX ? len : TEXT_MAX);
	memory_image_init(&outer, disk, sizeof(disk));
	names = inner_lvm.list(&outer.image, &place.volume, NULL, NULL);
	for (name = names ? strtok_r(names, "\n", &rest) : NULL; name;
		name = strtok_r(NULL, "\n", &rest)) {
		snprintf(place.name, sizeof(place.name), "%s", name);
		read_inner(&inner_lvm, &outer.image, &place);
	}
	free(names);
	return 0;
}
