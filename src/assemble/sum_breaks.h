/*
 * Where pieces of a file meet in the bytes of one CRC, or of one sum of words: by arithmetic (sum_breaks.c has how), without
 * a trial for each place.
 */
#ifndef BURIN_ASSEMBLE_SUM_BREAKS_H
#define BURIN_ASSEMBLE_SUM_BREAKS_H

#include "assemble/mapping.h"

#define SUM_BITS 32
#define SUM_HITS_MAX 8 /* ways in which a CRC agrees */

/* Pieces that follow the known one, with which the CRC agrees. */
struct sum_hit {
	size_t count; /* 1 or 2 */
	struct stretch pieces[2];
};

struct sum_breaks {
	struct workbench *bench;
	struct mapping *
		mapping; /* what is known: the file up to the last piece of it; set by the caller, */
	struct carve_sum sum; /* and so is this */
	const struct carve_map *map;
	enum crc_order order;
	uint64_t size;   /* of a cluster */
	uint64_t first;  /* possible break, in the file */
	size_t last;     /* number of the last one: m */
	uint32_t *known; /* A(k) / X^k, for k up to known_high */
	uint32_t *rest;  /* T(k), for k from rest_low on */
	size_t known_high, rest_low;
	uint32_t to_first; /* undoes the bytes after the first break */
	/* A piece between two others would have its cluster for the first break there in the image; low, after high: anywhere. */
	int64_t low, high;
	struct sum_hit hits[SUM_HITS_MAX];
	size_t hit_count;
	bool too_many;         /* hits */
	struct crc_hits found; /* by a device */
};

/* For the file of a workbench whose carver has a map with sums. */
void sum_breaks_init(struct sum_breaks *search, struct workbench *bench);
/* Finds where a piece may end in the bytes of search->sum. There are no hits yet. */
void sum_breaks_place(struct sum_breaks *search);
/* After that, before the trials. True: sum_breaks_close when they are done; false: there can't be any. */
bool sum_breaks_open(struct sum_breaks *search);
void sum_breaks_close(struct sum_breaks *search);
/* One break, and a piece with that displacement to the end. */
void sum_breaks_try_one(struct sum_breaks *search, uint64_t shift);
/* Two breaks, a piece anywhere in between, and one with that displacement to the end; unless chance would agree more than `most`
 * times in 2^bits. */
void sum_breaks_try_two(struct sum_breaks *search, uint64_t shift, uint64_t most, unsigned bits);
/* One break, and a piece to the end anywhere. */
void sum_breaks_try_ends(struct sum_breaks *search);
/* Gives the displacements with which all of the bytes are right in one piece, after sum_breaks_place. */
void sum_breaks_find_whole(
	struct sum_breaks *search, void (*add)(void *context, uint64_t shift), void *context);
/* Adds a hit, unless it is known, or the file can't have these pieces. */
void sum_breaks_add(struct sum_breaks *search, const struct sum_hit *hit);
/* Lays out what is known, and these pieces after it. False: one is not in the image. */
bool sum_breaks_lay_out(
	struct sum_breaks *search, const struct sum_hit *hit, struct extents *extents);
/* Adds a hit's pieces to what is known. */
void sum_hit_add(struct mapping *mapping, const struct sum_hit *hit);

#endif
