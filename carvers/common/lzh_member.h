/* The members of LHA archives, for the lzh carver and for programs that carry an archive. */
#ifndef BURIN_CARVERS_COMMON_LZH_MEMBER_H
#define BURIN_CARVERS_COMMON_LZH_MEMBER_H

#include <stdbool.h>

#include "carver.h"

struct lzh_member {
	uint64_t at, end; /* of the header */
	uint64_t data_len;
	uint8_t level;
	bool coded;         /* with a Huffman code: all byte values are about equally frequent */
	uint8_t kind;       /* the digit or letter of its method */
	uint64_t plain_len; /* of what it decompresses to */
	bool has_data_crc;  /* CRC-16 of that */
	uint16_t data_crc;
	uint64_t crc_at; /* of the CRC-16 in an extended header; 0: none */
	uint16_t crc;
	int64_t time;
};

/* Reads the header of a member at `at`, with its checksums: false when there is none. See archives/lzh.c for its layout. */
bool lzh_read_member(struct view *view, uint64_t at, struct lzh_member *member);

/* Where the archive that starts at `start` ends: 0 when its members do not lead to an end. *proven: whether the last
 * member's bytes can be its own up to there. */
uint64_t lzh_end(struct view *view, uint64_t start, bool *proven);

#endif
