/* The codes of MPEG video's macroblocks, bit by bit: mpeg_es_codes.c, used by mpeg_es_slice.c. */
#ifndef BURIN_CARVERS_MEDIA_MPEG_ES_CODES_H
#define BURIN_CARVERS_MEDIA_MPEG_ES_CODES_H

#include <stdbool.h>

#include "cursor_bits.h"

enum mpeg_es_type { MB_QUANT = 1, MB_FORWARD = 2, MB_BACKWARD = 4, MB_PATTERN = 8, MB_INTRA = 16 };

/* How far the next macroblock is from the previous one: 0 if no code word matches. */
uint32_t mpeg_es_take_distance(struct cursor_bits *bits);

/* The type of a macroblock (of enum mpeg_es_type) in a picture of kind 1 to 4; which of six blocks
 * are coded, the first in the highest bit; a vector's motion, without its sign; the number of bits
 * of a DC coefficient's difference. All are negative if no code word matches. */
int mpeg_es_take_type(struct cursor_bits *bits, unsigned kind);
int mpeg_es_take_pattern(struct cursor_bits *bits);
int mpeg_es_take_motion(struct cursor_bits *bits);
int mpeg_es_take_mean(struct cursor_bits *bits, bool colour);

#define MPEG_ES_BLOCK_END (-1)
#define MPEG_ES_NO_WORD (-2)
#define MPEG_ES_ESCAPE 64

/* Which table of runs and levels to use: for a block's first word, for later words, or MPEG-2's
 * second table for intra blocks. */
enum mpeg_es_runs { MPEG_ES_RUNS_FIRST, MPEG_ES_RUNS, MPEG_ES_RUNS_INTRA };

/* Takes run and level. The run, MPEG_ES_ESCAPE if both follow in full, MPEG_ES_BLOCK_END, or
 * MPEG_ES_NO_WORD. */
int mpeg_es_take_run(struct cursor_bits *bits, enum mpeg_es_runs table);

#endif
