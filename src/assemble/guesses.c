#include "assemble/guesses.h"

/* A carver may count that share of a cluster as the file's own although it is another's. */
#define BEGUN_SHARE 16
#define BEGUN_MIN 128 /* bytes, a frame's, that it may count of a small one */

/* The number of a layout's pieces, less two. */
static size_t count_joints(const struct partial *partial, const struct step *step)
{
	uint64_t end = 0;
	size_t count = 0;

	for (; count < partial->extents.count && end < step->at; count++)
		end += partial->extents.runs[count].length;
	return count ? count - 1 : 0;
}

void guesses_note(struct guesses *guesses, const struct workbench *bench,
	const struct partial *partial, const struct step *step)
{
	size_t joints = count_joints(partial, step);
	struct guess *guess = &guesses->items[joints < GUESSES ? joints : GUESSES - 1];

	if (bench->verdict != CARVE_UNVERIFIED || bench->reached <= guess->reached ||
		bench->reached <= step->at || bench->reached < guesses->least ||
		bench->reached % bench->clusters->size < bench->clusters->size / BEGUN_SHARE)
		return;
	partial_copy(&guess->from, partial);
	guess->step = *step;
	guess->reached = bench->reached;
}

uint64_t guesses_least(const struct workbench *bench, const struct broken *broken)
{
	uint64_t size = bench->clusters->size, begun = size / BEGUN_SHARE;

	if (begun < BEGUN_MIN)
		begun = BEGUN_MIN;
	if (broken->verdict == CARVE_TRUNCATED)
		return broken->length;
	if (broken->verdict == CARVE_UNVERIFIED && broken->length % size < begun)
		return broken->length + begun;
	return UINT64_MAX;
}

void guesses_free(struct guesses *guesses)
{
	for (size_t i = 0; i < GUESSES; i++)
		partial_free(&guesses->items[i].from);
}
