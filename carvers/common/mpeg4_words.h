/* The words for coefficients of MPEG-4 video: mpeg4_words.c, used by mpeg4_video.c. */
#ifndef BURIN_CARVERS_COMMON_MPEG4_WORDS_H
#define BURIN_CARVERS_COMMON_MPEG4_WORDS_H

#include <stdint.h>

/* ISO/IEC 14496-2, tables B.17 (inter) and B.16 (intra), by the next 12 bits: first those from 512 on, of which the
 * first 7 decide, then from 128 on the first 10, then all. A word's length << 12, last << 11, run << 5, level. 0: no word;
 * level 0: the escape. */
#define MPEG4_COEFFICIENTS 336
extern const uint16_t mpeg4_coefficients[2][MPEG4_COEFFICIENTS];

/* Tables B.22 and B.21: the longest run that a word has, of inter and intra, by whether it is the last, and its level. */
extern const uint8_t mpeg4_longest_runs[2][2][32];

#endif
