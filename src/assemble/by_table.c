/*
 * Many formats have tables of where their parts are: an archive's directory, a document's
 * cross-references. The parts that a table names are found in the image by the words that they begin
 * with, and the table itself, where it is at the file's end, by its own. Then most of a file in
 * pieces is known without any search, in whatever order the pieces are: only the joints are left,
 * between parts with different displacements.
 */
#include "assemble/mapping.h"
#include "assemble/strategies.h"

#define PIECES_MAX 64 /* that are found one after another */

/* Tries what a table leads to. Tables at the start may lead to more once another piece is known. Where the
 * anchors of several files look alike, the next best pieces are tried, too, without the last one that
 * turned out to be wrong. */
static bool try_source(struct workbench *bench, const struct broken *broken,
	const struct source *source, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct refused refused = { .count = 0 };
	struct mapping mapping = { 0 };
	enum solution solution = SOLUTION_WRONG;
	struct stretch last = { 0 }; /* of those that are known, as it is without what is refused */
	size_t known = 0;

	while (mapping_extend(bench, broken, source, &refused, &mapping)) {
		mapping_settle(bench, &mapping);
		solution = mapping_solve(bench, broken, &mapping, extents, outcome, assembly);
		if (solution == SOLUTION_WHOLE || source->is_tail || mapping.count > PIECES_MAX)
			break;
		if (solution == SOLUTION_PART) {
			known = mapping.count;
			last = mapping.items[known - 1];
			refused.count = 0;
			continue;
		}
		if (refused.count == REFUSED_MAX)
			break;
		refused.shifts[refused.count++] = mapping.items[mapping.count - 1].shift;
		mapping.count = known;
		if (known)
			mapping.items[known - 1] = last;
	}
	mapping_free(&mapping);
	return solution == SOLUTION_WHOLE;
}

bool find_by_table(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	struct source sources[SOURCES_MAX];
	size_t count;
	bool found = false;

	if (!bench->rule->carver->map ||
		broken->start % bench->clusters->size != bench->clusters->origin)
		return false; /* or inside another file */
	count = mapping_find_sources(bench, broken, sources);
	for (size_t i = 0; i < count && !found && workbench_goes_on(bench); i++)
		found = try_source(bench, broken, &sources[i], extents, outcome, assembly);
	return found;
}

/* Whether nothing verifies the content, and nothing proves the joints: it shows itself what follows (stored_chain.c). */
static bool is_guess(
	struct workbench *bench, const struct extents *extents, const struct assembly *assembly)
{
	struct carve_stored stored;

	return !workbench_is_proof(bench, assembly->evidence) &&
	       workbench_describe_stored(bench, extents, &stored);
}

bool find_by_sure_table(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	if (!find_by_table(bench, broken, extents, outcome, assembly))
		return false;
	if (!is_guess(bench, extents, assembly))
		return true;
	outcome_free(outcome);
	extents_clear(extents);
	*assembly = (struct assembly){ 0 };
	return false;
}

bool find_by_unsure_table(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	return bench->rule->carver->stored &&
	       find_by_table(bench, broken, extents, outcome, assembly);
}
