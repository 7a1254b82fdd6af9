/*
 * Samples of films and sound that were decoded, one after the other: what they prove of where a file's pieces meet.
 */
#ifndef BURIN_CARVERS_COMMON_SAMPLE_CHAIN_H
#define BURIN_CARVERS_COMMON_SAMPLE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "carver.h"

#define SAMPLE_CHAIN 8

/* A sample of any track that was decoded up to `to`. That it begins at `from` is known by the bytes before `known`. */
struct sample_link {
	uint64_t from, known, to;
};

/* The last ones. All zero before the first. Without pointers. */
struct sample_chain {
	struct sample_link links[SAMPLE_CHAIN];
	uint32_t count; /* of all: that of number n is links[n % SAMPLE_CHAIN] */
};

/* Adds the next one in the order of the file, and declares what that proves of the only joint in those before or between them
 * (view_proved): `bits` if no other one is between, else more_bits. */
void sample_chain_add(struct sample_chain *chain, struct view *view, const struct sample_link *link,
	unsigned bits, unsigned more_bits);

#define SAMPLE_SECTOR 512
#define SAMPLE_LENGTHS 4096 /* that are counted apart */

/* How many of a film's samples are alike, by where in a sector they end, and by length. All zero before the first. */
struct sample_likeness {
	size_t count;
	uint32_t ends[SAMPLE_SECTOR], lens[SAMPLE_LENGTHS];
};

void sample_likeness_add(struct sample_likeness *likeness, uint64_t end, uint64_t len);

/* What is left of bits where another place of the film may fit as well, as samples that end there or have that length are
 * common: half, or 0 if both are, or none was counted. */
unsigned sample_likeness_keeps(
	const struct sample_likeness *likeness, uint64_t end, uint64_t len, unsigned bits);

/* Adds a sample of video, whose place and length are those in a table. Of other clusters one in 9,000 or fewer, in each film of
 * those that were looked at, has a sample of that length there (tests/bench/RESULTS.md). */
void sample_chain_add_video(struct sample_chain *chain, struct view *view,
	const struct sample_likeness *likeness, const struct sample_link *link, uint64_t len);

#endif
