/*
 * Trials of a cell that threads without a file make, before their turn. What they come to is taken as if it had been
 * found in its turn, and only then counted, so that nothing depends on them.
 */
#ifndef BURIN_ASSEMBLE_TRIALS_AHEAD_H
#define BURIN_ASSEMBLE_TRIALS_AHEAD_H

#include "assemble/continuations.h"
#include "assemble/likeness.h"

struct trials_ahead;

/* What is to be tried: all must outlive struct trials_ahead. */
struct steps_ahead {
	struct workbench *bench;
	const struct likeness *likeness;
	/* Where they are: another partial file that is followed meanwhile has its own. */
	struct continuations *const *continuations;
	const struct partial *partial;
	const struct cell *cell;
	const uint64_t *breaks; /* at least one */
	size_t width;           /* their number */
};

/* What is found ahead of a step's turn. */
struct step_ahead {
	enum answer follows; /* whether the target may follow the break */
	struct workbench_ahead checks;
};

/* Never NULL. */
struct trials_ahead *trials_ahead_new(const struct steps_ahead *steps);
/* Has trials from this gap on made, if threads wait. Not for the first, which learns what decides. */
void trials_ahead_look(struct trials_ahead *ahead, uint64_t gap);
/* What was made ahead of the step with that gap and the break of that number, or NULL. */
const struct step_ahead *trials_ahead_find(
	const struct trials_ahead *ahead, uint64_t gap, size_t number);
void trials_ahead_free(struct trials_ahead *ahead);

#endif
