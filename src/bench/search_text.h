/* The text that is searched in memory. */
#ifndef BURIN_BENCH_SEARCH_TEXT_H
#define BURIN_BENCH_SEARCH_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct image;
struct pattern_set;

struct bench_text {
	uint8_t *bytes; /* page-aligned */
	size_t len;
};

/* Allocates len bytes, more than 0, and GPU_BENCH_TEXT_PAD after them. */
int bench_text_take(struct bench_text *text, size_t len, struct error *error);
/* Twice is fine. */
void bench_text_free(struct bench_text *text);

/* Random bytes; the same for the same seed. */
void bench_text_random(struct bench_text *text, uint64_t seed);

/* The image's content: all of it when the text is as long, else pieces of 64 KiB from random places,
 * so that any length is like the whole. Bytes that can't be read are zeros. */
void bench_text_from(struct bench_text *text, struct image *image, uint64_t seed);

/* Puts patterns of the set (regexes aside), drawn at random, at random places: one in every
 * `distance` bytes. */
void bench_text_plant(
	struct bench_text *text, const struct pattern_set *set, uint64_t distance, uint64_t seed);

#endif
