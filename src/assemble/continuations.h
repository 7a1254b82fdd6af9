/*
 * Which clusters may follow a break in coded data (carvers/coded.h): the first bytes of nearly all others
 * show that they do not, and the carver would refuse them there, so that no trial has to be made of them.
 */
#ifndef BURIN_ASSEMBLE_CONTINUATIONS_H
#define BURIN_ASSEMBLE_CONTINUATIONS_H

#include "assemble/field.h"

struct continuations;

/* For the breaks of a partial file, which must outlive it. workbench_prepare was called for it. Never NULL. */
struct continuations *continuations_new(struct workbench *bench, const struct partial *partial);
/* The breaks of which steps come next, until it is called again: what is asked of a device is asked of all of them
 * together, and what is nearest to them of all breaks that the partial file has. They must stay as they are. */
void continuations_expect(
	struct continuations *continuations, const uint64_t *breaks, size_t count);
/* False: a trial of the step would be refused; it counts as made. known: what continuations_ask
 * answered, or none. */
bool continuations_may_follow(
	struct continuations *continuations, const struct step *step, enum answer known);
/* The same without counting, for several threads at a time, each with a view of its own. None where that is not known
 * yet. */
enum answer continuations_ask(
	const struct continuations *continuations, const struct step *step, struct view *view);
/* Whether continuations_ask may answer yes, by what is known without reading. */
bool continuations_is_open(const struct continuations *continuations, const struct step *step);
/* Whether it is known that all these steps with one gap would be refused. */
bool continuations_refuse(const struct continuations *continuations, const uint64_t *breaks,
	size_t count, int64_t gap);
/* If so, they count as continuations_may_follow would count them, and work is left after that. */
bool continuations_skip(
	struct continuations *continuations, const uint64_t *breaks, size_t count, int64_t gap);
/* The same of so many clusters on both sides of these breaks, that far from them, those outside the image aside: nothing
 * counts them. */
bool continuations_skip_around(struct continuations *continuations, const uint64_t *breaks,
	size_t count, uint64_t distance, uint64_t clusters);
/* NULL is fine. */
void continuations_free(struct continuations *continuations);

#endif
