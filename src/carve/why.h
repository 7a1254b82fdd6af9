/*
 * Why a file was carved at an offset or not: each rule is tried there alone, with the same pairing,
 * checks and decision as in a run, and the result is explained in words.
 */
#ifndef BURIN_CARVE_WHY_H
#define BURIN_CARVE_WHY_H

#include "carve/check_worker.h"

enum why_state {
	WHY_NO_HEADER,    /* the header does not match there */
	WHY_NO_CANDIDATE, /* it does, but no footer follows in range, or the offset is not aligned */
	WHY_REJECTED,     /* a check failed */
	WHY_BEATEN,       /* a file, but another rule's file is carved there */
	WHY_CARVED,       /* unless it is inside a complete file */
};

const char *why_state_name(enum why_state state); /* "no header", ... */

struct why_answer {
	uint32_t rule;
	enum why_state state;
	uint32_t pattern; /* the header that matches there, or the one that agrees longest */
	uint64_t at;      /* WHY_NO_HEADER: offset in the image of the first byte that differs */
	char text[640];   /* in words: what was found, which check, which byte */
	struct outcome outcome; /* WHY_REJECTED, WHY_BEATEN, WHY_CARVED */
};

struct why_options {
	bool both;               /* Scalpel's -b */
	uint64_t align;          /* 0: none */
	const struct rule *only; /* NULL: all; else the others' answers are WHY_NO_HEADER */
	struct check_worker
		*worker; /* checks, with the same image and rules; NULL: this process does */
};

/* Tries every rule on a file that starts at `start`. answers: one a rule; the caller frees the
 * outcome of each with outcome_free. Reads as much as the rules' checks and footers need. Returns 0,
 * or a negative errno with error set when `start` is past the image's end or can't be read, or the
 * worker can't be started. */
int why_ask(struct why_answer *answers, struct image *image, const struct rules *rules,
	const struct why_options *options, uint64_t start, struct error *error);

#endif
