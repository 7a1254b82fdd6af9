/* Blocks of digital video (IEC 61834-2, SMPTE 314M), each of which says where in a frame it is. */
#ifndef BURIN_CARVERS_COMMON_DV_FRAME_H
#define BURIN_CARVERS_COMMON_DV_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define DV_BLOCK_LEN 80
#define DV_SEQUENCE_BLOCKS 150
#define DV_SEQUENCE_LEN (DV_SEQUENCE_BLOCKS * DV_BLOCK_LEN)
#define DV_HEAD_LEN 8

/* p: DV_HEAD_LEN bytes. How many sequences a frame has that begins so, or 0. */
unsigned dv_frame_sequences(const uint8_t *p);
/* Whether the block, of which p has the first three bytes, can be number `index` (below DV_SEQUENCE_BLOCKS) of this sequence. */
bool dv_is_block(const uint8_t *p, unsigned index, unsigned sequence);

#endif
