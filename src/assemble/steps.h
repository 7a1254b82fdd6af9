/* Searches piece by piece: how, is the strategy's plan (plans.c). */
#ifndef BURIN_ASSEMBLE_STEPS_H
#define BURIN_ASSEMBLE_STEPS_H

#include "assemble/field.h"

/* How a strategy searches. */
struct plan {
	const struct cell *cells; /* that are tried, in order */
	size_t count;
	size_t alone; /* the first ones: after each of the others what all lead to is tried, too */
	size_t doubted;  /* the first ones: after the others also what chance would lead to */
	unsigned pieces; /* at most */
	bool only_sure; /* what breaks off anywhere, or where a joint may be at several places, is not taken */
};

/* As find of struct strategy. tail: where the file's end is, or NULL. */
bool steps_find(struct workbench *bench, const struct broken *broken, const struct tail *tail,
	const struct plan *plan, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly);

#endif
