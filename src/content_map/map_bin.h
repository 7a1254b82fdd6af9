/*
 * OUT/map.bin, the content map: what kind of bytes each block of the evidence holds, for drawing
 * it. All numbers are little-endian.
 *
 *     at  bytes
 *      0      8  "BURINMAP"
 *      8      4  version: 1
 *     12      4  bytes of this head: 64; readers skip what a later version adds to it
 *     16      8  bytes of the evidence
 *     24      8  bytes of a block: a power of two, 4096 or more
 *     32      8  number of blocks, the last of which the evidence's end may cut short
 *     40      4  bytes of an entry: 2; readers skip what a later version adds at its end
 *     44      4  bytes of a sample, at most
 *     48     16  zeros
 *     64      2  for each block: its class (enum content_class, content_map/content.h), and the
 *                entropy of its sample in 1/32 bits a byte (255: 7.97 and more; 0 for what is all
 *                zero or was not read)
 *
 * A block is 4096 bytes, or as much more as keeps the file at 4 Mi blocks, which is 8 MiB. Its
 * sample is up to 64 snippets of 64 bytes: one at each multiple of 512 bytes, or of a 64th of the
 * block when that is more. Only to call a block zero all of its bytes are examined. Where only part
 * of the evidence was searched, its blocks are classified by the bytes that were read of them.
 */
#ifndef BURIN_CONTENT_MAP_MAP_BIN_H
#define BURIN_CONTENT_MAP_MAP_BIN_H

#include <stdint.h>

#define MAP_BIN_NAME "map.bin"
#define MAP_BIN_MAGIC "BURINMAP"
#define MAP_BIN_VERSION 1
#define MAP_BIN_HEAD_LEN 64
#define MAP_BIN_BLOCK_MIN 4096
#define MAP_BIN_BLOCKS_MAX ((uint64_t)4 << 20)
#define MAP_BIN_ENTRY_LEN 2

#endif
