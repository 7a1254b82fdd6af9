/*
 * Version 1 is at the start (1.1), 4 KiB after it (1.2) or at the end (1.0) of the member; version 0.90 at
 * the end. All numbers are little-endian here; 0.90 has those of its machine, which was one such.
 */
#include "evidence/md_superblock.h"

#include <string.h>

#include "base/endian.h"

#define MAGIC 0xa92b4efc
#define SECTOR_LEN 512
#define LEN 4096
#define ALIGN_90 65536
#define DISKS_MAX 512

#define V1_HEAD_LEN 256
#define V1_CHECKSUM_AT 216
#define V1_ROLES_AT 256
#define V1_RESHAPING 4
#define V1_ROLE_MAX 0xfff0 /* from here on: spare, faulty, journal */

#define V90_CHECKSUM_AT 152
#define V90_THIS_DISK_AT 3968

static uint32_t get32(const uint8_t *bytes, size_t at)
{
	return endian_u32(bytes + at);
}

/* Sectors as bytes; more than any disk has where they overflow. */
static uint64_t sectors(const uint8_t *bytes, size_t at)
{
	uint64_t count = endian_u64(bytes + at);

	return count > (uint64_t)INT64_MAX / SECTOR_LEN ? INT64_MAX : count * SECTOR_LEN;
}

/* The sum of all words but that of the sum itself. */
static uint32_t checksum(const uint8_t *bytes, size_t len, size_t skip)
{
	uint64_t sum = 0;

	for (size_t at = 0; at + 4 <= len; at += 4)
		if (at != skip)
			sum += get32(bytes, at);
	if (len % 4)
		sum += endian_get(bytes + len / 4 * 4, 2);
	return (uint32_t)sum + (uint32_t)(sum >> 32);
}

static bool parse_v1(const uint8_t *bytes, struct md_superblock *superblock)
{
	uint32_t number = get32(bytes, 160), role_count = get32(bytes, 220);
	uint32_t role;

	if (role_count > (LEN - V1_ROLES_AT) / 2 ||
		checksum(bytes, V1_HEAD_LEN + 2 * (size_t)role_count, V1_CHECKSUM_AT) !=
			get32(bytes, V1_CHECKSUM_AT))
		return false;
	memcpy(superblock->array, bytes + 16, 16);
	role = number < role_count ? (uint32_t)endian_get(bytes + V1_ROLES_AT + 2 * number, 2)
				   : V1_ROLE_MAX;
	superblock->role = role < V1_ROLE_MAX ? role : MD_SPARE;
	superblock->reshaping = get32(bytes, 8) & V1_RESHAPING;
	superblock->level = (int32_t)get32(bytes, 72);
	superblock->layout = get32(bytes, 76);
	superblock->chunk_len = (uint64_t)get32(bytes, 88) * SECTOR_LEN;
	superblock->disks = get32(bytes, 92);
	superblock->events = endian_u64(bytes + 200);
	superblock->data_at = sectors(bytes, 128);
	superblock->data_len = superblock->level > 0 ? sectors(bytes, 80) : sectors(bytes, 136);
	return true;
}

static bool parse_v90(const uint8_t *bytes, uint64_t at, struct md_superblock *superblock)
{
	if (checksum(bytes, LEN, V90_CHECKSUM_AT) != get32(bytes, V90_CHECKSUM_AT))
		return false;
	memcpy(superblock->array, bytes + 20, 4);
	memcpy(superblock->array + 4, bytes + 52, 12);
	superblock->level = (int32_t)get32(bytes, 28);
	superblock->layout = get32(bytes, 256);
	superblock->chunk_len = get32(bytes, 260);
	superblock->disks = get32(bytes, 40);
	superblock->role = get32(bytes, V90_THIS_DISK_AT + 12);
	superblock->events = endian_u64(bytes + 156);
	superblock->data_at = 0;
	superblock->data_len = superblock->level > 0 ? (uint64_t)get32(bytes, 32) * 1024 : at;
	return true;
}

static bool read_at(bool (*read)(void *context, uint64_t offset, void *buffer, size_t len),
	void *context, uint64_t at, struct md_superblock *superblock)
{
	uint8_t bytes[LEN];

	if (!read(context, at, bytes, sizeof(bytes)) || get32(bytes, 0) != MAGIC)
		return false;
	*superblock = (struct md_superblock){ 0 };
	if (get32(bytes, 4) == 1)
		return sectors(bytes, 144) == at && parse_v1(bytes, superblock);
	return get32(bytes, 4) == 0 && get32(bytes, 8) == 90 && parse_v90(bytes, at, superblock);
}

bool md_superblock_read(bool (*read)(void *context, uint64_t offset, void *buffer, size_t len),
	void *context, uint64_t length, struct md_superblock *superblock)
{
	uint64_t places[4] = { 8 * SECTOR_LEN, 0 };
	size_t count = 2;

	if (length < 4 * ALIGN_90)
		return false;
	places[count++] = (length / SECTOR_LEN - 16) / 8 * 8 * SECTOR_LEN;
	places[count++] = length / ALIGN_90 * ALIGN_90 - ALIGN_90;
	for (size_t i = 0; i < count; i++)
		if (read_at(read, context, places[i], superblock))
			return superblock->disks && superblock->disks <= DISKS_MAX &&
			       (superblock->role == MD_SPARE ||
				       superblock->role < superblock->disks);
	return false;
}
