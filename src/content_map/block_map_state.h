/* What the files of block_map*.c share; nobody else includes this. */
#ifndef BURIN_CONTENT_MAP_BLOCK_MAP_STATE_H
#define BURIN_CONTENT_MAP_BLOCK_MAP_STATE_H

#include "content_map/block_map.h"

struct block_map {
	uint64_t evidence_len, block_len, block_count;
	uint64_t spacing;       /* of a sample's pieces */
	uint16_t *entries;      /* class, and entropy * 256 */
	struct block_part open; /* joined so far of a block that may have more */
};

#endif
