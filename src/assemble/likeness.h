/* Whether what a step leads to looks like the partial file's own content, or another's. */
#ifndef BURIN_ASSEMBLE_LIKENESS_H
#define BURIN_ASSEMBLE_LIKENESS_H

#include "assemble/affinity.h"
#include "assemble/code_breaks.h"
#include "assemble/field.h"

/* likeness_forget when done, and before steps from another partial file. */
struct likeness {
	struct workbench *bench;
	const struct broken *broken;
	struct affinity *affinity; /* to the partial file; NULL: not learnt yet */
	struct affinity *before;   /* to it before its content changes; the same */
	struct code_breaks *
		codes; /* of the partial file that codes_of is; NULL: none, or not looked for yet */
	const struct partial *codes_of;
};

void likeness_forget(struct likeness *likeness);
/* Whether what a step leads to looks like the content of others, or a file begins there or before that
 * has it, or it does not go on with the file's codes. Before a change of the content it need not look like what is after it. */
bool likeness_is_unlikely(
	struct likeness *likeness, const struct partial *partial, const struct step *step);
/* The same without counting, for several threads at a time, each with a view of its own. None where it is not known
 * yet. */
enum answer likeness_ask(const struct likeness *likeness, const struct partial *partial,
	const struct step *step, struct view *view);

#endif
