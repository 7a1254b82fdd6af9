/* Blocks of LevelDB's tables, and the CRCs of its logs and tables. */
#ifndef BURIN_CARVERS_SYSTEM_LEVELDB_BLOCK_H
#define BURIN_CARVERS_SYSTEM_LEVELDB_BLOCK_H

#include <stdbool.h>

#include "carver.h"

/* After a block: its kind (1), its CRC (4). */
#define LEVELDB_TAIL_LEN 5

/* The CRC-32C as the formats store it. */
uint32_t leveldb_mask(uint32_t crc);

/* Reads a number in LEB128, of at most 9 bytes, at *p, before stop, and advances *p. False: there is none. */
bool leveldb_number(const uint8_t **p, const uint8_t *stop, uint64_t *number);

/* A block's place and length, without its tail. */
struct leveldb_handle {
	uint64_t at, len;
};

/* Reads one at *p, before stop, and advances *p. False: there is none. */
bool leveldb_handle_read(const uint8_t **p, const uint8_t *stop, struct leveldb_handle *handle);

/* Whether the block's CRC is right. */
bool leveldb_block_is_valid(struct view *view, const struct leveldb_handle *block);

/* The entries of a block of at most max bytes, decompressed: *len of them, to be freed. NULL: it is of another kind, does
 * not decompress, or is longer. */
uint8_t *leveldb_block_read(
	struct view *view, const struct leveldb_handle *block, size_t max, size_t *len);

#endif
