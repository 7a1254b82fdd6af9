/* The codes of MPEG video's macroblocks, bit by bit: what mpv_codes.c gives mpv_slice.c. */
#ifndef BURIN_CARVERS_MEDIA_MPEG_ES_CODES_H
#define BURIN_CARVERS_MEDIA_MPEG_ES_CODES_H

#include <stdbool.h>

#include "cursor.h"

/* Bits from a cursor on, the first of a byte on top. Behind `end` they are zeros. */
struct mpeg_es_bits {
	struct cursor cursor;
	uint64_t end;
	uint64_t held; /* taken from the cursor and not yet used; the next one on top */
	unsigned held_count;
};

enum mpeg_es_type { MB_QUANT = 1, MB_FORWARD = 2, MB_BACKWARD = 4, MB_PATTERN = 8, MB_INTRA = 16 };

/* The next `count` bits, at most 32. */
uint32_t mpeg_es_take(struct mpeg_es_bits *bits, unsigned count);

/* Whether more was taken than there is. */
bool mpeg_es_ran_out(const struct mpeg_es_bits *bits);

/* How far the next macroblock is from the last: 0 when no word tells. */
uint32_t mpeg_es_take_distance(struct mpeg_es_bits *bits);

/* The type of a macroblock (of enum mpv_type) in a picture of kind 1 to 4; which of six blocks are
 * there, the first on top; a vector's motion, without its sign; the bits of a mean's difference.
 * All are negative when no word stands there. */
int mpeg_es_take_type(struct mpeg_es_bits *bits, unsigned kind);
int mpeg_es_take_pattern(struct mpeg_es_bits *bits);
int mpeg_es_take_motion(struct mpeg_es_bits *bits);
int mpeg_es_take_mean(struct mpeg_es_bits *bits, bool colour);

#define MPEG_ES_BLOCK_END (-1)
#define MPEG_ES_NO_WORD (-2)
#define MPEG_ES_ESCAPE 64

/* Which table of runs and levels is read: of a block's first word, of others, of MPEG-2's second
 * table for intra blocks. */
enum mpeg_es_runs { MPEG_ES_RUNS_FIRST, MPEG_ES_RUNS, MPEG_ES_RUNS_INTRA };

/* Run and level: the run, MPV_ESCAPE when both stand behind it in full, MPV_BLOCK_END, or
 * MPV_NO_WORD. */
int mpeg_es_take_run(struct mpeg_es_bits *bits, enum mpeg_es_runs table);

#endif
