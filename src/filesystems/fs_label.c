/* From the specifications: where boot sectors and superblocks have names and serial numbers. */
#include "filesystems/fs_label.h"

#include <stdio.h>
#include <string.h>

#include "base/endian.h"

#define EXT_SUPERBLOCK 1024
#define ISO_DESCRIPTOR 32768
#define EXFAT_ENTRY_LEN 32
#define EXFAT_LABEL 0x83
#define NTFS_VOLUME_RECORD 3
#define NTFS_VOLUME_NAME 0x60

static bool read_at(
	struct walk_host *host, const struct volume *volume, uint64_t at, void *bytes, size_t len)
{
	if (at > volume->length || len > volume->length - at)
		return false;
	return host->read(host, volume->offset + at, bytes, len);
}

static uint32_t le(const uint8_t *bytes, unsigned width)
{
	return (uint32_t)endian_get(bytes, width);
}

/* A field of fixed width, filled up with blanks or zeros. */
static void copy_field(struct volume *volume, const uint8_t *bytes, size_t len)
{
	size_t end = strnlen((const char *)bytes, len);

	while (end && bytes[end - 1] == ' ')
		end--;
	memcpy(volume->label, bytes, end);
	volume->label[end] = 0;
}

/* Converts count units of UTF-16LE, at most 64, to UTF-8; surrogates become '?'. */
static void copy_utf16(struct volume *volume, const uint8_t *bytes, size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < count && i < 64 && at + 4 < sizeof(volume->label); i++) {
		uint32_t unit = le(bytes + 2 * i, 2);

		if (unit < 0x80) {
			volume->label[at++] = (char)unit;
		} else if (unit < 0x800) {
			volume->label[at++] = (char)(0xc0 | unit >> 6);
			volume->label[at++] = (char)(0x80 | (unit & 0x3f));
		} else if (unit < 0xd800 || unit > 0xdfff) {
			volume->label[at++] = (char)(0xe0 | unit >> 12);
			volume->label[at++] = (char)(0x80 | (unit >> 6 & 0x3f));
			volume->label[at++] = (char)(0x80 | (unit & 0x3f));
		} else {
			volume->label[at++] = '?';
		}
	}
	volume->label[at] = 0;
}

static void find_fat(struct walk_host *host, struct volume *volume)
{
	uint8_t boot[96];
	size_t at = strcmp(volume->file_system, "fat32") ? 0x27 : 0x43;

	if (!read_at(host, volume, 0, boot, sizeof(boot)))
		return;
	if (boot[at - 1] != 0x29 && boot[at - 1] != 0x28) /* no extended boot record */
		return;
	snprintf(volume->id, sizeof(volume->id), "%04X-%04X", le(boot + at + 2, 2),
		le(boot + at, 2));
	if (memcmp(boot + at + 4, "NO NAME    ", 11))
		copy_field(volume, boot + at + 4, 11);
}

static void find_exfat(struct walk_host *host, struct volume *volume)
{
	uint8_t boot[120], root[4096];
	uint64_t sector_len, cluster_len, at;

	if (!read_at(host, volume, 0, boot, sizeof(boot)))
		return;
	snprintf(volume->id, sizeof(volume->id), "%04X-%04X", le(boot + 102, 2), le(boot + 100, 2));
	if (boot[108] > 12 || boot[109] > 25 || le(boot + 96, 4) < 2)
		return;
	sector_len = UINT64_C(1) << boot[108];
	cluster_len = sector_len << boot[109];
	at = le(boot + 88, 4) * sector_len + (le(boot + 96, 4) - 2) * cluster_len;
	if (!read_at(host, volume, at, root, sizeof(root)))
		return;
	for (size_t i = 0; i < sizeof(root) && root[i]; i += EXFAT_ENTRY_LEN) {
		if (root[i] == EXFAT_LABEL && root[i + 1] <= 11) {
			copy_utf16(volume, root + i + 2, root[i + 1]);
			return;
		}
	}
}

/* The volume's name is an attribute of a file of its own, and short enough to be stored in the
 * file's record. */
static void find_ntfs(struct walk_host *host, struct volume *volume)
{
	uint8_t boot[96], record[1024];
	uint64_t cluster_len, record_len, table;
	size_t at;

	if (!read_at(host, volume, 0, boot, sizeof(boot)))
		return;
	snprintf(
		volume->id, sizeof(volume->id), "%08X%08X", le(boot + 0x4c, 4), le(boot + 0x48, 4));
	cluster_len = (uint64_t)le(boot + 0x0b, 2) * boot[0x0d];
	table = le(boot + 0x30, 4) * cluster_len; /* its upper half is 0 on any real volume */
	record_len = boot[0x40] > 127 ? UINT64_C(1) << ((256 - boot[0x40]) & 31)
				      : boot[0x40] * cluster_len;
	if (!read_at(host, volume, table + NTFS_VOLUME_RECORD * record_len, record,
		    sizeof(record)) ||
		memcmp(record, "FILE", 4))
		return;
	at = le(record + 0x14, 2);
	while (at + 24 <= sizeof(record)) {
		uint32_t len = le(record + at + 4, 4), name_len = le(record + at + 16, 4);
		size_t name = at + le(record + at + 20, 2);

		if (le(record + at, 4) == NTFS_VOLUME_NAME && name + name_len <= sizeof(record) &&
			name_len <= 128)
			copy_utf16(volume, record + name, name_len / 2);
		if (len < 24 || len > sizeof(record) || le(record + at, 4) >= NTFS_VOLUME_NAME)
			return;
		at += len;
	}
}

static void find_ext(struct walk_host *host, struct volume *volume)
{
	uint8_t block[136];
	char *to = volume->id;

	if (!read_at(host, volume, EXT_SUPERBLOCK, block, sizeof(block)))
		return;
	for (size_t i = 0; i < 16; i++)
		to += sprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			block[0x68 + i]);
	copy_field(volume, block + 0x78, 16);
}

static void find_iso(struct walk_host *host, struct volume *volume)
{
	uint8_t block[72];

	if (read_at(host, volume, ISO_DESCRIPTOR, block, sizeof(block)))
		copy_field(volume, block + 40, 32);
}

void fs_label_find(struct walk_host *host, struct volume *volume)
{
	if (!strncmp(volume->file_system, "fat", 3))
		find_fat(host, volume);
	else if (!strcmp(volume->file_system, "exfat"))
		find_exfat(host, volume);
	else if (!strcmp(volume->file_system, "ntfs"))
		find_ntfs(host, volume);
	else if (!strncmp(volume->file_system, "ext", 3))
		find_ext(host, volume);
	else if (!strcmp(volume->file_system, "iso9660"))
		find_iso(host, volume);
}
