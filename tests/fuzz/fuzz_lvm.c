/* The text in which a physical volume of LVM describes its group, from hostile bytes: in a volume with
 * the checksums that go with it, whose logical volumes are listed, opened and read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/log.h"
#include "evidence/backend.h"
#include "evidence/inner_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MOST_MEDIA ((uint64_t)1 << 20)
#define AREA_AT 4096
#define DATA_AT 65536
#define TEXT_MAX (DATA_AT - AREA_AT - 512)

static uint8_t disk[DATA_AT + 8192];

static uint32_t checksum(const uint8_t *bytes, size_t len)
{
	uint32_t crc = 0xf597a6cf;

	while (len--) {
		crc ^= *bytes++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

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
	endian_put(area + 56, checksum(text, len), 4);
	memcpy(area + 512, text, len);
}

static const char *input_path(void)
{
	static char path[64];

	if (!*path) {
		snprintf(path, sizeof(path), "/tmp/burin-fuzz-lvm-%ld", (long)getpid());
		log_set_level(LOG_ERROR);
	}
	return path;
}

static void read_all(struct image *image)
{
	static uint8_t buffer[70001];
	uint64_t size = image_info(image)->size;

	for (uint64_t at = 0; at < size && at < MOST_MEDIA; at += sizeof(buffer)) {
		size_t part_len = size - at < sizeof(buffer) ? (size_t)(size - at) : sizeof(buffer);

		if (image_read_around(image, at, buffer, part_len))
			free(image->backend->why(image, at));
	}
}

static void open_volume(struct image *outer, struct inner_place *place, const char *name)
{
	char how[INNER_HOW_LEN];
	const char *why = NULL;
	struct image *image;

	snprintf(place->name, sizeof(place->name), "%s", name);
	image = inner_lvm.open(outer, place, &why, how);
	if (!image && !why)
		abort();
	if (!image)
		return;
	image->outer = outer;
	read_all(image);
	image->outer = NULL;
	image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct inner_place place = { .volume = { .length = sizeof(disk) } };
	const struct image_ends ends = { .path = input_path() };
	FILE *file = fopen(input_path(), "wb");
	char *names, *rest, *name;
	struct image *outer;

	make_volume(data, len < TEXT_MAX ? len : TEXT_MAX);
	if (!file || fwrite(disk, 1, sizeof(disk), file) != sizeof(disk) || fclose(file) ||
		raw_backend.open(&outer, input_path(), &ends, NULL))
		abort();
	names = inner_lvm.list(outer, &place.volume, NULL, NULL);
	for (name = names ? strtok_r(names, "\n", &rest) : NULL; name;
		name = strtok_r(NULL, "\n", &rest))
		open_volume(outer, &place, name);
	free(names);
	image_close(outer);
	unlink(input_path());
	return 0;
}
