/* What a member of a Linux RAID array (md) says of itself and the array: the superblock, of any version. It is parsed
 * in burin-evidence and burin-filesystems; burin gets the struct, and trusts none of its numbers. */
#ifndef BURIN_EVIDENCE_MD_SUPERBLOCK_H
#define BURIN_EVIDENCE_MD_SUPERBLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MD_LINEAR (-1)
#define MD_SPARE UINT32_MAX /* of roles: holds no data */

struct md_superblock {
	uint8_t array[16]; /* its identifier */
	int32_t level;     /* of RAID, or MD_LINEAR */
	uint32_t layout, disks, role;
	uint64_t events;    /* how often the array changed: less for a member that was left out */
	uint64_t chunk_len; /* bytes; 0 for RAID 1 */
	uint64_t data_at, data_len; /* bytes, of the member */
	uint32_t reshaping;         /* not 0: two layouts at once */
};

/* read: fills the buffer with the volume's bytes at an offset inside it. length: the volume's. False: there
 * is no superblock whose checksum is right. */
bool md_superblock_read(bool (*read)(void *context, uint64_t offset, void *buffer, size_t len),
	void *context, uint64_t length, struct md_superblock *superblock);

#endif
