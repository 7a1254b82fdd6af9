/*
 * From a table inside a file to what it shows of the file's pieces: which bytes of the file are where
 * in the image (mapping.c), and the pieces that follow from it (joints.c).
 */
#ifndef BURIN_ASSEMBLE_MAPPING_H
#define BURIN_ASSEMBLE_MAPPING_H

#include "assemble/field.h"

/* Bytes of a file that are known to be in one piece, as anchors at both ends are. */
struct stretch {
	uint64_t from, to;    /* in the file */
	uint64_t shift;       /* what to add for the place in the image, modulo 2^64 */
	uint32_t own_bits;    /* of its anchors that are nowhere else in the image */
	bool has_joint;       /* where the piece begins was found: */
	uint64_t joint;       /* there, in the file */
	uint64_t least, most; /* those places that were accepted */
	uint32_t bits;        /* that prove the joint */
	uint32_t chance;      /* of as many trials, by which it was found, in bits */
	uint32_t near;        /* the same of those that only had other breaks */
};

/* In order of the file; the first begins with it. Neighbours have different shifts. Zero-initialise;
 * mapping_free when done. */
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
/* Adds the pieces that hold the table's anchors, none with a displacement that was refused, to those that
 * are known: the mapping is empty, or all of its joints were found. False: there is none, or the work
 * is spent; the mapping is as before. */
bool mapping_extend(struct workbench *bench, const struct broken *broken,
	const struct source *source, const struct refused *refused, struct mapping *mapping);

/* How far two offsets, or displacements modulo 2^64, are apart. */
uint64_t mapping_distance(uint64_t a, uint64_t b);
/* Whether the anchor's bytes are there in the image. */
bool mapping_is_there(struct workbench *bench, const struct carve_anchor *anchor, uint64_t offset);
/* Whether the anchor says all of the key that hits of its word have (inner_hits_at), which begins that many bytes after the word does: *key. */
bool mapping_key(const struct carve_anchor *anchor, size_t key_at, uint32_t *key);

/* Before that, where the pieces of a table meet in bytes that have a sum: finds the joints, and pieces in between
 * (sum_joints.c). */
void mapping_settle(struct workbench *bench, struct mapping *mapping);

/* What came of a mapping. */
enum solution {
	SOLUTION_WRONG,
	SOLUTION_PART,  /* its joints were found, but the file goes on after its last stretch */
	SOLUTION_WHOLE, /* as when struct strategy's find returns true */
};

/* Searches the joints between the stretches. */
enum solution mapping_solve(struct workbench *bench, const struct broken *broken,
	struct mapping *mapping, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly);
/* The pieces with the joints as they are, all of which were found; the last one up to the mapping's length,
 * or the image's end. False: one is not in the image. */
bool mapping_lay_out(
	const struct workbench *bench, const struct mapping *mapping, struct extents *extents);
/* Finds where the file's end is by its tables, if that is not where it would be in one piece. */
bool mapping_find_tail(struct workbench *bench, const struct broken *broken, struct tail *tail);
void mapping_free(struct mapping *mapping);

#endif
