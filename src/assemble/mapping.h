/*
 * From a table inside a file to what it shows of the file's pieces: which bytes of the file are where
 * in the image (mapping.c), and the pieces that follow from it (joints.c).
 */
#ifndef BURIN_ASSEMBLE_MAPPING_H
#define BURIN_ASSEMBLE_MAPPING_H

#include "assemble/workbench.h"

/* Bytes of a file that are known to be in one piece, as anchors at both ends are. */
struct stretch {
	uint64_t from, to;              /* in the file */
	uint64_t shift;                 /* what to add for the place in the image, modulo 2^64 */
	uint32_t first_bits, last_bits; /* of the anchors at its ends */
};

/* In order of the file; the first begins with it. Neighbours have different shifts. */
struct mapping {
	struct stretch *items;
	size_t count, capacity;
	uint64_t length; /* of the file; 0: not known */
};

/* A table that may be that of a broken file. */
struct source {
	bool is_tail;
	uint64_t offset;   /* of the tail's word, in the image */
	uint32_t bits;     /* of the anchors that are where the file begins */
	uint64_t distance; /* from the file's start */
};

#define SOURCES_MAX 4
#define REFUSED_MAX 8

/* Displacements that turned out to be wrong. */
struct refused {
	uint64_t shifts[REFUSED_MAX];
	size_t count;
};

/* Finds the tables that agree with what is at the file's start, the best first. Returns their number. */
size_t mapping_find_sources(
	struct workbench *bench, const struct broken *broken, struct source sources[SOURCES_MAX]);
/* Finds the pieces that hold the table's anchors, none with a displacement that was refused. False:
 * there is none, or only one; or the work is spent. */
bool mapping_make(struct workbench *bench, const struct broken *broken, const struct source *source,
	const struct refused *refused, struct mapping *mapping);
/* Searches the joints between the stretches. True: as struct strategy's find. */
bool mapping_solve(struct workbench *bench, const struct broken *broken,
	const struct mapping *mapping, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly);
void mapping_free(struct mapping *mapping);

#endif
