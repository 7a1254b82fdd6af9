/*
 * The words of MPEG video's macroblocks: ISO/IEC 11172-2, annex B, and ISO/IEC 13818-2, annex B,
 * whose tables have the same words and some more. Only their lengths matter; levels and signs are
 * skipped.
 */
#include "mpeg_es_codes.h"

#define LONGEST 11 /* bits of a word */
#define STUFFING 34
#define ESCAPE 35

/* Table B.1: distances of macroblocks. */
static const struct code_word distances[] = { { 1, 1, 1 }, { 3, 3, 2 }, { 2, 3, 3 }, { 3, 4, 4 },
	{ 2, 4, 5 }, { 3, 5, 6 }, { 2, 5, 7 }, { 7, 7, 8 }, { 6, 7, 9 }, { 11, 8, 10 },
	{ 10, 8, 11 }, { 9, 8, 12 }, { 8, 8, 13 }, { 7, 8, 14 }, { 6, 8, 15 }, { 23, 10, 16 },
	{ 22, 10, 17 }, { 21, 10, 18 }, { 20, 10, 19 }, { 19, 10, 20 }, { 18, 10, 21 },
	{ 35, 11, 22 }, { 34, 11, 23 }, { 33, 11, 24 }, { 32, 11, 25 }, { 31, 11, 26 },
	{ 30, 11, 27 }, { 29, 11, 28 }, { 28, 11, 29 }, { 27, 11, 30 }, { 26, 11, 31 },
	{ 25, 11, 32 }, { 24, 11, 33 }, { 15, 11, STUFFING }, { 8, 11, ESCAPE }, { 0 } };

/* Tables B.2a to d: types of macroblocks, by the type of picture. */
static const struct code_word types[4][12] = {
	{ { 1, 1, MB_INTRA }, { 1, 2, MB_INTRA | MB_QUANT } },
	{ { 1, 1, MB_FORWARD | MB_PATTERN }, { 1, 2, MB_PATTERN }, { 1, 3, MB_FORWARD },
		{ 3, 5, MB_INTRA }, { 2, 5, MB_FORWARD | MB_PATTERN | MB_QUANT },
		{ 1, 5, MB_PATTERN | MB_QUANT }, { 1, 6, MB_INTRA | MB_QUANT } },
	{ { 2, 2, MB_FORWARD | MB_BACKWARD }, { 3, 2, MB_FORWARD | MB_BACKWARD | MB_PATTERN },
		{ 2, 3, MB_BACKWARD }, { 3, 3, MB_BACKWARD | MB_PATTERN }, { 2, 4, MB_FORWARD },
		{ 3, 4, MB_FORWARD | MB_PATTERN }, { 3, 5, MB_INTRA },
		{ 2, 5, MB_FORWARD | MB_BACKWARD | MB_PATTERN | MB_QUANT },
		{ 3, 6, MB_FORWARD | MB_PATTERN | MB_QUANT },
		{ 2, 6, MB_BACKWARD | MB_PATTERN | MB_QUANT }, { 1, 6, MB_INTRA | MB_QUANT } },
	{ { 1, 1, MB_INTRA } },
};

/* Table B.3: which of the six blocks are coded. */
static const struct code_word patterns[] = { { 7, 3, 60 }, { 13, 4, 4 }, { 12, 4, 8 },
	{ 11, 4, 16 }, { 10, 4, 32 }, { 19, 5, 12 }, { 18, 5, 48 }, { 17, 5, 20 }, { 16, 5, 40 },
	{ 15, 5, 28 }, { 14, 5, 44 }, { 13, 5, 52 }, { 12, 5, 56 }, { 11, 5, 1 }, { 10, 5, 61 },
	{ 9, 5, 2 }, { 8, 5, 62 }, { 15, 6, 24 }, { 14, 6, 36 }, { 13, 6, 3 }, { 12, 6, 63 },
	{ 23, 7, 5 }, { 22, 7, 9 }, { 21, 7, 17 }, { 20, 7, 33 }, { 19, 7, 6 }, { 18, 7, 10 },
	{ 17, 7, 18 }, { 16, 7, 34 }, { 31, 8, 7 }, { 30, 8, 11 }, { 29, 8, 19 }, { 28, 8, 35 },
	{ 27, 8, 13 }, { 26, 8, 49 }, { 25, 8, 21 }, { 24, 8, 41 }, { 23, 8, 14 }, { 22, 8, 50 },
	{ 21, 8, 22 }, { 20, 8, 42 }, { 19, 8, 15 }, { 18, 8, 51 }, { 17, 8, 23 }, { 16, 8, 43 },
	{ 15, 8, 25 }, { 14, 8, 37 }, { 13, 8, 26 }, { 12, 8, 38 }, { 11, 8, 29 }, { 10, 8, 45 },
	{ 9, 8, 53 }, { 8, 8, 57 }, { 7, 8, 30 }, { 6, 8, 46 }, { 5, 8, 54 }, { 4, 8, 58 },
	{ 7, 9, 31 }, { 6, 9, 47 }, { 5, 9, 55 }, { 4, 9, 59 }, { 3, 9, 27 }, { 2, 9, 39 },
	{ 1, 9, 0 }, { 0 } };

/* Table B.4: motion, without its sign. */
static const struct code_word motions[] = { { 1, 1, 0 }, { 1, 2, 1 }, { 1, 3, 2 }, { 1, 4, 3 },
	{ 3, 6, 4 }, { 5, 7, 5 }, { 4, 7, 6 }, { 3, 7, 7 }, { 11, 9, 8 }, { 10, 9, 9 },
	{ 9, 9, 10 }, { 17, 10, 11 }, { 16, 10, 12 }, { 15, 10, 13 }, { 14, 10, 14 },
	{ 13, 10, 15 }, { 12, 10, 16 }, { 0 } };

/* Tables B.5a and b: bits of a DC coefficient's difference, for luminance and for colour. */
static const struct code_word means[2][13] = {
	{ { 4, 3, 0 }, { 0, 2, 1 }, { 1, 2, 2 }, { 5, 3, 3 }, { 6, 3, 4 }, { 14, 4, 5 },
		{ 30, 5, 6 }, { 62, 6, 7 }, { 126, 7, 8 }, { 254, 8, 9 }, { 510, 9, 10 },
		{ 511, 9, 11 }, { 0 } },
	{ { 0, 2, 0 }, { 1, 2, 1 }, { 2, 2, 2 }, { 6, 3, 3 }, { 14, 4, 4 }, { 30, 5, 5 },
		{ 62, 6, 6 }, { 126, 7, 7 }, { 254, 8, 8 }, { 510, 9, 9 }, { 1022, 10, 10 },
		{ 1023, 10, 11 }, { 0 } },
};

static int take_word(struct cursor_bits *bits, const struct code_word *words)
{
	return cursor_bits_take_word(bits, words, LONGEST);
}

uint32_t mpeg_es_take_distance(struct cursor_bits *bits)
{
	uint32_t distance = 0;
	int word;

	while ((word = take_word(bits, distances)) >= STUFFING && !cursor_bits_ran_out(bits))
		distance += word == ESCAPE ? 33 : 0;
	return word > 0 && word < STUFFING ? distance + (uint32_t)word : 0;
}

int mpeg_es_take_type(struct cursor_bits *bits, unsigned kind)
{
	return take_word(bits, types[kind - 1]);
}

int mpeg_es_take_pattern(struct cursor_bits *bits)
{
	return take_word(bits, patterns);
}

int mpeg_es_take_motion(struct cursor_bits *bits)
{
	return take_word(bits, motions);
}

int mpeg_es_take_mean(struct cursor_bits *bits, bool colour)
{
	return take_word(bits, means[colour]);
}

/* Tables B.14 and B.15 of MPEG-2, of which MPEG-1's B.5c to f are the first. The zeros before a
 * word's first one, and some bits after it, give its run. Words with seven zeros and more are the
 * same in both tables; those that B.15 leaves out are accepted there, too. */
static const uint8_t long_runs[5][16] = {
	{ 0, 8, 4, 0, 2, 7, 21, 20, 0, 19, 18, 1, 3, 0, 6, 17 },
	{ 10, 9, 5, 3, 2, 1, 1, 0, 0, 0, 0, 26, 25, 24, 23, 22 },
	{ 0 },
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1 },
	{ 1, 1, 1, 1, 6, 16, 15, 14, 13, 12, 11, 31, 30, 29, 28, 27 },
};

/* Both tables' words of two to four zeros: one length each, except those of two. */
static const struct {
	uint8_t two[4], two_more[8], three[4], four[4];
} short_runs[2] = {
	{ { 0, 0, 4, 3 }, { 13, 0, 12, 11, 3, 1, 0, 10 }, { 7, 6, 1, 5 }, { 2, 9, 0, 8 } },
	{ { 0, 2, 1, 3 }, { 1, 11, 0, 0, 13, 12, 3, 1 }, { 0, 0, 4, 5 }, { 7, 8, 6, 2 } },
};

/* Takes a word of `len` bits and its sign. */
static int take_run(struct cursor_bits *bits, unsigned len, int value)
{
	cursor_bits_take(bits, (int)len + 1);
	return value;
}

/* Takes a word of table B.14 that begins with a one, or with one zero; next: 17 bits. */
static int take_common(struct cursor_bits *bits, uint32_t next, bool first)
{
	if (next >> 16) {
		if (first)
			return take_run(bits, 1, 0);
		if (next >> 15 == 3)
			return take_run(bits, 2, 0);
		cursor_bits_take(bits, 2);
		return MPEG_ES_BLOCK_END;
	}
	if (next >> 14 == 3)
		return take_run(bits, 3, 1);
	return take_run(bits, 4, next >> 13 & 1 ? 2 : 0);
}

/* The same for table B.15. */
static int take_common_intra(struct cursor_bits *bits, uint32_t next)
{
	static const uint8_t seven[5] = { 9, 1, 10, 0, 0 };
	static const uint8_t eight[6] = { 0, 0, 2, 4, 0, 0 };

	if (next >> 15 == 2)
		return take_run(bits, 2, 0);
	if (next >> 14 == 6)
		return take_run(bits, 3, 0);
	if (next >> 13 == 14)
		return take_run(bits, 5, 0);
	if (next >> 13 == 15 && (next >> 10 & 7) < 5)
		return take_run(bits, 7, seven[next >> 10 & 7]);
	if (next >> 13 == 15)
		return take_run(bits, 8, eight[(next >> 9 & 15) - 10]);
	if (next >> 14 == 2)
		return take_run(bits, 3, 1);
	if (next >> 13 == 7)
		return take_run(bits, 4, 0);
	cursor_bits_take(bits, 4);
	return MPEG_ES_BLOCK_END;
}

/* Takes a word with six zeros. */
static int take_six(struct cursor_bits *bits, uint32_t next, bool intra)
{
	static const uint8_t six[8] = { 16, 5, 0, 2, 1, 15, 14, 4 };
	static const uint8_t intra_six[8] = { 5, 5, 14, 14, 2, 16, 15, 15 };
	unsigned more = next >> 7 & 7;

	if (intra)
		return take_run(bits, more == 4 || more == 5 ? 10 : 9, intra_six[more]);
	return take_run(bits, 10, six[more]);
}

int mpeg_es_take_run(struct cursor_bits *bits, enum mpeg_es_runs table)
{
	bool intra = table == MPEG_ES_RUNS_INTRA;
	uint32_t next = cursor_bits_peek(bits, 17), two;
	unsigned zeros = next ? (unsigned)__builtin_clz(next) - 15 : 17;

	if (zeros < 2)
		return intra ? take_common_intra(bits, next)
			     : take_common(bits, next, table == MPEG_ES_RUNS_FIRST);
	/* Two bits after the first one. */
	two = zeros < 15 ? next >> (14 - zeros) & 3 : 0;
	if (zeros == 2 && two == 0)
		return take_run(bits, 8, short_runs[intra].two_more[next >> 9 & 7]);
	if (zeros == 2)
		return take_run(bits, 5, short_runs[intra].two[two]);
	if (zeros == 3)
		return take_run(bits, 6, short_runs[intra].three[two]);
	if (zeros == 4)
		return take_run(bits, 7, short_runs[intra].four[two]);
	if (zeros == 5) {
		cursor_bits_take(bits, 6);
		return MPEG_ES_ESCAPE;
	}
	if (zeros == 6)
		return take_six(bits, next, intra);
	if (zeros > 11)
		return MPEG_ES_NO_WORD;
	return take_run(bits, zeros + 5, long_runs[zeros - 7][next >> (12 - zeros) & 15]);
}
