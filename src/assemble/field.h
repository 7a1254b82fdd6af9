/*
 * Where a file may go on: a partial file is what is put together so far; a step is a break, where its
 * last piece ends in the file, and a gap, from there to where the next piece begins in the evidence.
 * All steps with one gap move what follows by as much, so they differ only in where the break is.
 */
#ifndef BURIN_ASSEMBLE_FIELD_H
#define BURIN_ASSEMBLE_FIELD_H

#include "assemble/workbench.h"

/* The file's end, where a table is that was found elsewhere in the image. */
struct tail {
	uint64_t from;   /* in the file, at a cluster; 0: there is none */
	uint64_t shift;  /* what to add for the place in the image, modulo 2^64 */
	uint64_t length; /* of the file; 0: not known */
};

/* Which breaks: the one before the place where the carver noticed something, and the one after it if the carver looked at
 * what is after that; the one where the content changes before; others next to the first one, others close to it, those
 * before, those after. */
enum break_zone {
	ZONE_HERE,
	ZONE_CHANGE,
	ZONE_NEXT,
	ZONE_CLOSE,
	ZONE_BEFORE,
	ZONE_AFTER,
	ZONE_COUNT
};

/* The breaks of a partial file, the likeliest first, zone by zone. */
struct breaks {
	uint64_t *items;
	size_t count;
	size_t ends[ZONE_COUNT]; /* of each zone, in items */
};

struct partial {
	struct extents extents; /* all pieces; the last goes on over all that may follow */
	uint64_t joint;         /* where the last piece begins, in the file */
	uint64_t reached, seen; /* bytes that the carver validated, and that it looked at */
	uint64_t
		same; /* of the bytes reached, those before a cluster like another file's; 0: not looked for */
	bool fits; /* the content on both sides of the last joint does; false: or it was not looked at */
	bool was_followed;    /* all that it leads to was tried */
	size_t tried;         /* of the plan's cells, so many with steps from it */
	struct tail tail;     /* the last run of extents, unless pieces reach it */
	struct breaks breaks; /* where it may break off; none before they are looked for */
};

struct step {
	uint64_t at; /* the break: bytes of the file before it */
	int64_t gap; /* bytes; negative: the next piece lies before */
};

/* How far around a break the next piece is looked for. Each excludes those before it. */
enum ring {
	RING_FEW,  /* a few clusters after the break */
	RING_NEAR, /* soon after the break */
	RING_BOTH, /* some hundred clusters on both sides */
	RING_WIDE, /* some thousand clusters on both sides */
	RING_ALL,  /* all of the image */
	RING_TAIL, /* that of the file's tail alone */
	RING_END,  /* such that the rest of the file ends a few clusters before its beginning */
};

/* Which steps: those that may be likely; those to clusters that are likely another file's, late, and not far; the former, with
 * a part of the work at most, as others are likelier where that does not suffice. */
enum steps_kind { LIKELY, UNLIKELY, BRIEFLY };

/* Steps that are tried together: from some breaks, to some distance. */
struct cell {
	enum ring ring;
	enum break_zone zone;
	enum steps_kind kind;
};

/* The file as the scan found it: in one piece, which goes on over the free clusters after it, up to the tail. False:
 * there are too few of these. tail: or NULL. */
bool partial_begin(const struct clusters *clusters, const struct broken *broken,
	const struct tail *tail, struct partial *partial);
void partial_free(struct partial *partial);
/* All but the breaks; of what `to` had nothing is left. */
void partial_copy(struct partial *to, const struct partial *from);

/* Finds the breaks in the last piece. */
void partial_find_breaks(const struct clusters *clusters, struct partial *partial);
/* Leaves out the break with this index. */
void breaks_drop(struct breaks *breaks, size_t index);

/* Whether a ring has so few gaps that all of them are tried before one is judged. */
bool ring_is_near(enum ring ring);
/* The gap with this number, counted from 0, of a ring up to RING_ALL. False: there is no further one. */
bool ring_gap(const struct clusters *clusters, enum ring ring, uint64_t number, int64_t *gap);

/* The same of a cell: from any break in the last piece. */
bool cell_gap(const struct clusters *clusters, const struct partial *partial,
	const struct cell *cell, uint64_t number, int64_t *gap);

/* Whether the gaps [number, number + 2 * count) lead to `count` clusters on each side of a break, of which the nearest are
 * *distance clusters from it. False: to others, or that is not so simple. */
bool cell_is_around(const struct clusters *clusters, const struct cell *cell, uint64_t number,
	uint64_t count, uint64_t *distance);

/* Where the next piece would begin in the evidence. UINT64_MAX: outside it. */
uint64_t step_target(
	const struct clusters *clusters, const struct partial *partial, const struct step *step);
/* Lays out the partial file's pieces up to the break, then what follows the gap and is free, up to the tail. False:
 * no piece can begin there: a complete file has it, or this one, or another file starts. */
bool step_lay_out(const struct clusters *clusters, const struct partial *partial,
	const struct step *step, struct extents *extents);

#endif
