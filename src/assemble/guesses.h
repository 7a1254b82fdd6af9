/*
 * Layouts of formats that do not show where they end. They are never complete; of each number of pieces the one
 * that goes furthest is kept, if the file ended at a cluster before.
 */
#ifndef BURIN_ASSEMBLE_GUESSES_H
#define BURIN_ASSEMBLE_GUESSES_H

#include "assemble/field.h"

#define GUESSES 4 /* that are kept: of two pieces, of three, of four, and of more */

/* What nobody can prove, but goes further than all else. */
struct guess {
	struct partial from; /* without extents: there is none */
	struct step step;
	uint64_t reached;
};

/* guesses_free when done. */
struct guesses {
	struct guess items[GUESSES]; /* of two pieces that which goes furthest, of three... */
	uint64_t least; /* bytes that a guess must reach; UINT64_MAX: the file is no candidate */
};

/* How far a layout must go that cannot be complete: further than the file did as it was found, if it broke off
 * there. One that ends within a cluster may have ended there. */
uint64_t guesses_least(const struct workbench *bench, const struct broken *broken);
/* The step, which was tried last, was not accepted as complete: it may be the best there is with as many pieces. */
void guesses_note(struct guesses *guesses, const struct workbench *bench,
	const struct partial *partial, const struct step *step);
void guesses_free(struct guesses *guesses);

#endif
