/*
 * How well a cluster goes on where the content of a file breaks off that is stored as it is: samples or rows of pixels.
 * Bits are in favour of its bytes following those before, against any others; all is counted in integers, so that every
 * machine decides alike.
 */
#ifndef BURIN_ASSEMBLE_CONTENT_END_H
#define BURIN_ASSEMBLE_CONTENT_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carvers/carver.h"

#define CONTENT_BIT 16                                 /* what a bit counts */
#define CONTENT_PAST ((size_t)64 << 10)                /* bytes before a place that are looked at */
#define CONTENT_ROW_MAX ((uint32_t)(CONTENT_PAST / 3)) /* bytes of a row that are understood */
#define CONTENT_CHANNELS 8

struct content_end;

/* stored: of the file, whose row_len and channels are in bounds. size: of a cluster. Never NULL. */
struct content_end *content_end_new(const struct carve_stored *stored, uint64_t size);
/* Bytes before a place that it learns from, CONTENT_PAST at most. */
size_t content_end_past(const struct content_end *end);
/* Of the file the `len` bytes before `at` are known, CONTENT_PAST at most. Learns from those that are content. */
void content_end_learn(struct content_end *end, const uint8_t *past, size_t len, uint64_t at);
/* Whether that was enough to judge clusters. */
bool content_end_is_known(const struct content_end *end);
/* A first look at a cluster of which the first `len` bytes are known: false if it hardly goes on. rank: the higher, the
 * better it does; 0: it may, as clusters at other places of the file. */
bool content_end_may_go_on(
	struct content_end *end, const uint8_t *cluster, size_t len, int64_t *rank);
/* Whether the inside of a cluster of samples, of which the first `len` bytes are known, is like what is before the place, whether or
 * not it goes on there. */
bool content_end_is_like(struct content_end *end, const uint8_t *cluster, size_t len);
/* CONTENT_BITs for the cluster, of size bytes. Content that the place is unknown for, or too little of it: 0. */
int64_t content_end_bits(struct content_end *end, const uint8_t *cluster);
/* NULL is fine. */
void content_end_free(struct content_end *end);

#endif
