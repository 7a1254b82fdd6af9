/*
 * Which clusters likely go on with codes that break off (struct carve_codes): most of those of other files do not, and a look at a
 * few hundred bytes costs a tenth of a trial.
 */
#ifndef BURIN_ASSEMBLE_CODE_BREAKS_H
#define BURIN_ASSEMBLE_CODE_BREAKS_H

#include "assemble/field.h"

struct code_breaks;

/* For the breaks of a partial file, which must outlive it. workbench_prepare was called for it. NULL: the carver does not know. */
struct code_breaks *code_breaks_new(struct workbench *bench, const struct partial *partial);
/* Whether anything is known of what goes on after the break. */
bool code_breaks_knows(struct code_breaks *breaks, uint64_t at);
/* The bits that speak for what a step leads to: 0 if it unlikely goes on with the codes, 1 if that is not known. Cheap when
 * asked again. */
unsigned code_breaks_bits(struct code_breaks *breaks, const struct step *step);
/* Whether they are 0, without counting, for several threads at a time, each with a view of its own. None where the break was not
 * described yet. */
enum answer code_breaks_ask(
	const struct code_breaks *breaks, const struct step *step, struct view *view);
/* Looks that found something unlikely since the last call, and the bytes that they took. */
uint64_t code_breaks_take_refused(struct code_breaks *breaks, uint64_t *bytes);
/* NULL is fine. */
void code_breaks_free(struct code_breaks *breaks);

#endif
