/*
 * Decodes a sequential scan at three places at once, in one thread. A lookup has to wait for the one before
 * it, as only that shows where the next code begins; more lanes, each a third of what is loaded further on, use
 * the time. A later one starts at some bit as if a picture began there, and is wrong at first. But codes synchronize
 * themselves: after some hundred bytes it is at the same bit as a decoder that came from the start, in the
 * same block of an MCU. When a lane gets to where the next one began, both soon have the start of a
 * block in common; from there on the next one did what this one would do.
 *
 * So that none waits for a mispredicted branch at the end of each block, a lane goes from block to block
 * without one, and notes only where each starts. The DCs are taken afterwards, from those places.
 */
#ifndef BURIN_CARVERS_PICTURES_JPEG_JPEG_LANES_H
#define BURIN_CARVERS_PICTURES_JPEG_JPEG_LANES_H

#include "jpeg_lookup.h"

struct jpeg_decoder;

#define JPEG_MCU_BLOCKS (16 * JPEG_COMPONENTS)
#define JPEG_LANES 3
#define JPEG_LANE_BITS 12
/* The change of a DC by the bits that it begins with; NONE: it has more. */
#define JPEG_CHANGE_BITS 11
#define JPEG_CHANGE_NONE INT16_MIN
/* Starts of blocks that a lane notes at a time. */
#define JPEG_LANE_STARTS 4096
#define JPEG_LANE_SPARE 64

/* What a lane needs to know of a block of each MCU. */
struct jpeg_lane_block {
	const uint16_t *ac;
	const uint16_t *next_dc; /* of the block after it */
	const struct jpeg_lane_block *next;
	const int16_t *changes;
};

/* Entries are coefficients << 8 | bits, as in struct jpeg_many, but for a block's end and for bits without a
 * whole code (jpeg_lanes.c). Those of dc have a DC, and the coefficients after it. */
struct jpeg_lanes {
	bool usable;         /* the tables are those of the scan */
	unsigned misses;     /* twice the rounds that were of little use, less the others */
	uint32_t blocks_min; /* that have to be left for lanes to begin */
	uint32_t overlap;    /* bytes that a lane decodes beyond where the next one began */
	uint32_t distance;   /* at most, between their beginnings */
	struct jpeg_lane_block blocks[JPEG_MCU_BLOCKS];
	uint16_t ac[JPEG_COMPONENTS][1 << JPEG_LANE_BITS];
	uint16_t dc[JPEG_COMPONENTS][1 << JPEG_LANE_BITS];
	int16_t changes[JPEG_COMPONENTS][1 << JPEG_CHANGE_BITS];
	uint32_t starts[JPEG_LANES][JPEG_LANE_STARTS + JPEG_LANE_SPARE];
};

/* Builds the tables for a scan whose large lookup tables are built. */
void jpeg_lanes_prepare(struct jpeg_decoder *d);

/* Decodes MCUs of a sequential scan, some of them so. As jpeg_decoder's run, but counts the work itself. */
bool jpeg_lanes_run(struct jpeg_decoder *d, uint64_t mcus);

#endif
