/*
 * Journals of ext3 and ext4 (kernel.org, ext4 Data Structures and Algorithms, "Journal (jbd2)"), as files or on a device.
 *
 *	file:   the superblock, in a block of its own; blocks of the log, a ring
 *	header: C03B3998, type (1 descriptor, 2 commit, 3 or 4 superblock, 5 revoke), number of the transaction (4 each)
 *	superblock, 1,024 bytes: header, length of a block, number of blocks, first block of the log, next transaction, where
 *	        the log begins (0: it is empty), error; of type 4: features (4 each, compatible, incompatible, read-only), UUID,
 *	        users (4), ...; at 50h the kind of checksum; at FCh CRC-32C
 *
 * Integers are big-endian. On a device of its own the blocks before the superblock are counted, too. Other blocks than those
 * with a header are copies of the file system's blocks, or zeros; they do not begin with the magic. burin checks the superblock, its
 * CRC if it has one, the headers of all blocks, and the transaction where the log begins. The copies are what nothing verifies, so a
 * journal is never complete.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "crc32c.h"
#include "walk.h"

#define SUPERBLOCK_LEN 1024
#define HEADER_LEN 12
#define CRC_AT 0xfc
#define CRC_BITS 32 /* see view_proved */
#define BLOCKS_MIN 16
#define BLOCKS_MAX (1u << 24)
#define FIRST_MAX 3 /* on a device with blocks of 1,024 bytes */
#define USERS_MAX 48
#define KNOWN_FEATURES 0x3f
#define CHECKSUMMED 0x18 /* versions 2 and 3 of checksums */

static const uint8_t magic[4] = { 0xc0, 0x3b, 0x39, 0x98 }, zeros[HEADER_LEN];

enum block_type { DESCRIPTOR = 1, COMMIT, SUPERBLOCK_1, SUPERBLOCK_2, REVOKE };

struct jbd2 {
	uint64_t block_len;
	uint32_t blocks; /* of the file, with the superblock's */
	uint32_t before; /* blocks before the superblock's, on a device */
	uint32_t first, start, sequence;
};

/* The CRC of a superblock, with zeros in its own place, which begins with ones and is not inverted. */
static uint32_t superblock_crc(const uint8_t *p)
{
	uint32_t crc = crc32c(crc32c(0, p, CRC_AT), zeros, 4);

	return ~crc32c(crc, p + CRC_AT + 4, SUPERBLOCK_LEN - CRC_AT - 4);
}

/* Reads the superblock: what is wrong with it, or NULL. */
static const char *read_superblock(struct view *view, struct jbd2 *jbd2)
{
	const uint8_t *p = view_peek(view, 0, SUPERBLOCK_LEN);
	uint32_t type = p ? be32(p + 4) : 0, blocks = p ? be32(p + 16) : 0;

	if (!p || memcmp(p, magic, sizeof(magic)) != 0 ||
		(type != SUPERBLOCK_1 && type != SUPERBLOCK_2))
		return "no superblock";
	*jbd2 = (struct jbd2){ .block_len = be32(p + 12),
		.first = be32(p + 20),
		.sequence = be32(p + 24),
		.start = be32(p + 28) };
	if (jbd2->block_len < 1024 || jbd2->block_len > 65536 ||
		jbd2->block_len & (jbd2->block_len - 1))
		return "no length of a block";
	if (!jbd2->first || jbd2->first > FIRST_MAX || blocks < BLOCKS_MIN || blocks > BLOCKS_MAX ||
		(jbd2->start && (jbd2->start < jbd2->first || jbd2->start >= blocks)))
		return "no places of the log";
	jbd2->before = jbd2->first - 1;
	jbd2->blocks = blocks - jbd2->before;
	if (type == SUPERBLOCK_1)
		return NULL;
	if (be32(p + 40) & ~(uint32_t)KNOWN_FEATURES || be32(p + 36) > 1 || be32(p + 44) ||
		be32(p + 64) > USERS_MAX)
		return "unknown features";
	if (be32(p + 40) & CHECKSUMMED && superblock_crc(p) != be32(p + CRC_AT))
		return "a superblock with another CRC";
	if (be32(p + 40) & CHECKSUMMED)
		view_proved(view, 0, SUPERBLOCK_LEN, CRC_BITS);
	return NULL;
}

/* Whether the header p can be of a block of a log. Its transaction may be any: where a file system was made anew, an older
 * journal's may be in blocks that were not written since. */
static bool valid_header(const uint8_t *p)
{
	uint32_t type = be32(p + 4);

	return memcmp(p, magic, sizeof(magic)) == 0 &&
	       (type == DESCRIPTOR || type == COMMIT || type == REVOKE);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct jbd2 jbd2;
	const char *problem = read_superblock(view, &jbd2);
	uint64_t size = view_size(view), at = 0, end;
	uint32_t headers = 0;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	end = jbd2.blocks * jbd2.block_len;
	for (uint32_t block = 1; block < jbd2.blocks; block++) {
		const uint8_t *p;
		bool begins;

		at = block * jbd2.block_len;
		p = view_peek(view, at, HEADER_LEN);
		if (!p)
			return walk_cut(view, finding, end,
				view_ends_with_image(view) && at + HEADER_LEN > size ? size : at);
		/* Where a log begins that debugfs wrote, there are zeros. */
		begins = jbd2.start && block == jbd2.start - jbd2.before &&
			 memcmp(p, zeros, HEADER_LEN) != 0;
		if (memcmp(p, magic, sizeof(magic)) != 0 && !begins)
			continue;
		if (!valid_header(p) || (begins && be32(p + 8) != jbd2.sequence)) {
			finding->length = at;
			return verdict_because(CARVE_TRUNCATED, finding,
				"no block of this journal at %" PRIu64, at);
		}
		headers++;
	}
	if (end > size)
		return walk_cut(view, finding, end, view_ends_with_image(view) ? size : at);
	finding->length = end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"nothing verifies what %" PRIu32 " blocks of %" PRIu32 " are copies of",
		jbd2.blocks - 1 - headers, jbd2.blocks);
}

const struct carver jbd2_carver = {
	.name = "jbd2",
	.summary = "ext3's and ext4's journals, by their blocks' headers",
	.check = check,
};
