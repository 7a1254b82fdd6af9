/*
 * Whether bytes can be those of prefix codes: such codes make all bytes about equally frequent, while in text, pixels,
 * programs or tables some bytes are much more frequent than others, although they decode as well. Three half kilobytes
 * in a row that are far from even, or eight kilobytes that are less so, are foreign, unless the file's own were similar.
 * Plain data of a fixed size.
 */
#ifndef BURIN_CARVERS_COMMON_EVENNESS_H
#define BURIN_CARVERS_COMMON_EVENNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENNESS_RING 64 /* bytes */

/* Zero-initialise. */
struct evenness {
	uint64_t fed;          /* bytes of the file up to there were added */
	uint64_t foreign_from; /* those in a row that are not even began there; 0: there are none */
	uint32_t own;          /* the sum of squares of the file's own that was least even */
	uint32_t sum;          /* of the counts' squares */
	uint16_t len;          /* bytes that are counted */
	uint8_t uneven;        /* half kilobytes in a row */
	uint8_t row;           /* half kilobytes of the eight kilobytes that are being added... */
	uint32_t row_sum, row_own; /* ...the sum of theirs, and the largest before */
	uint64_t row_from;         /* where these began to be uneven */
	bool is_foreign;
	uint16_t counts[256];
};

/* Adds the file's bytes up to `to`, of which the byte at `at` is ring[at % EVENNESS_RING]. Those that the ring no longer
 * has are left out. */
void evenness_add(struct evenness *evenness, const uint8_t ring[EVENNESS_RING], uint64_t to);
/* Adds the file's next bytes. */
void evenness_feed(struct evenness *evenness, const uint8_t *bytes, size_t len);
/* Bytes that follow are not coded, or belong to the codes' description. */
void evenness_skip(struct evenness *evenness, uint64_t to);

/* What was added is the file's own, all the same. */
void evenness_forgive(struct evenness *evenness);
/* The sum of the squares of how often each byte comes in len bytes, at most 65,535: about len + len * len / 256 in random ones, at
 * most len * len. */
uint64_t evenness_squares(const uint8_t *bytes, size_t len);
/* Whether the first half kilobyte of bytes that may go on with the file's own, of which that much was seen, is far from even. */
bool evenness_refuses(const struct evenness *evenness, const uint8_t *bytes, size_t len);

#endif
