/*
 * Why a file was carved at a place or not: each rule is asked there alone, with the same checks and
 * the same decision as in a run, and says what it found, in words.
 */
#ifndef BURIN_CARVE_WHY_H
#define BURIN_CARVE_WHY_H

#include "carve/check.h"

enum why_state {
	WHY_ELSEWHERE,    /* the header does not stand there */
	WHY_NO_CANDIDATE, /* it does, but no footer follows in range, or the place is not aligned */
	WHY_REJECTED,     /* a check failed */
	WHY_BEATEN,       /* a file, but another rule's is carved at this place */
	WHY_CARVED,       /* unless it lies inside a complete file */
};

const char *why_state_name(enum why_state state); /* "no header", ... */

struct why_answer {
	uint32_t rule;
	enum why_state state;
	uint32_t pattern; /* the header that stands there, or the one that agrees longest */
	uint64_t at;      /* WHY_ELSEWHERE: the first byte that does not agree, in the image */
	char text[256];   /* in words: what stands there, which check, which byte */
	struct outcome outcome; /* WHY_REJECTED, WHY_BEATEN, WHY_CARVED */
};

struct why_options {
	bool both;      /* Scalpel's -b */
	uint64_t align; /* 0: none */
};

/* Asks every rule about a file that starts at `start`, which lies in the image; answers: as many as
 * there are rules, the caller's. Reads as much as the rules' checks and footers need. -EIO with
 * error when the image could not be read there. */
int why_ask(struct why_answer *answers, struct image *image, const struct rules *rules,
	const struct why_options *options, uint64_t start, struct error *error);

#endif
