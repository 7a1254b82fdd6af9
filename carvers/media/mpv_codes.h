/* The codes of MPEG video's macroblocks, bit by bit: what mpv_codes.c gives mpv_slice.c. */
#ifndef BURIN_CARVERS_MEDIA_MPV_CODES_H
#define BURIN_CARVERS_MEDIA_MPV_CODES_H

#include <stdbool.h>

#include "cursor.h"

/* Bits from a cursor on, the first of a byte on top. Behind `end` they are zeros. */
struct mpv_bits {
	struct cursor cursor;
	uint64_t end;
	uint64_t held; /* taken from the cursor and not yet used; the next one on top */
	unsigned held_count;
};

enum mpv_type { MPV_QUANT = 1, MPV_FORWARD = 2, MPV_BACKWARD = 4, MPV_PATTERN = 8, MPV_INTRA = 16 };

/* The next `count` bits, at most 32. */
uint32_t mpv_take(struct mpv_bits *bits, unsigned count);

/* Whether more was taken than there is. */
bool mpv_ran_out(const struct mpv_bits *bits);

/* How far the next macroblock is from the last: 0 when no word tells. */
uint32_t mpv_take_distance(struct mpv_bits *bits);

/* The type of a macroblock (of enum mpv_type) in a picture of kind 1 to 4; which of six blocks are
 * there, the first on top; a vector's motion, without its sign; the bits of a mean's difference.
 * All are negative when no word stands there. */
int mpv_take_type(struct mpv_bits *bits, unsigned kind);
int mpv_take_pattern(struct mpv_bits *bits);
int mpv_take_motion(struct mpv_bits *bits);
int mpv_take_mean(struct mpv_bits *bits, bool colour);

#define MPV_BLOCK_END (-1)
#define MPV_NO_WORD (-2)
#define MPV_ESCAPE 64

/* Which table of runs and levels is read: of a block's first word, of others, of MPEG-2's second
 * table for intra blocks. */
enum mpv_runs { MPV_RUNS_FIRST, MPV_RUNS, MPV_RUNS_INTRA };

/* Run and level: the run, MPV_ESCAPE when both stand behind it in full, MPV_BLOCK_END, or
 * MPV_NO_WORD. */
int mpv_take_run(struct mpv_bits *bits, enum mpv_runs table);

#endif
