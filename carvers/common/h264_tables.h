/* Numbers of ITU-T H.264 that its slices are decoded by (h264_tables.c). */
#ifndef BURIN_CARVERS_COMMON_H264_TABLES_H
#define BURIN_CARVERS_COMMON_H264_TABLES_H

#include <stdint.h>

/* Contexts up to those of blocks of 8x8; the rest is for 4:4:4. */
#define H264_CONTEXTS 460

extern const int8_t h264_contexts[4][H264_CONTEXTS][2];
extern const uint8_t h264_lps[64][4];
extern const uint8_t h264_after_lps[64];
extern const uint8_t h264_significant_8x8[2][63];
extern const uint8_t h264_last_8x8[63];

/* A word of a prefix code; len 0: the table ends. */
struct h264_word {
	uint8_t bits, len, value;
};

#define H264_DC_TOKENS 4
extern const struct h264_word h264_tokens[5][63];
extern const struct h264_word h264_zeros[15][17];
extern const struct h264_word h264_dc_zeros[3][5];
extern const struct h264_word h264_runs[7][16];
extern const uint8_t h264_patterns[2][48];

#endif
