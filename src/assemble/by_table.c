/*
 * Many formats have tables of where their parts are: an archive's directory, a document's
 * cross-references. The parts that a table names are found in the image by the words that they begin
 * with, and the table itself, where it is at the file's end, by its own. Then most of a file in
 * pieces is known without any search, in whatever order the pieces are: only the joints are left,
 * between parts with different displacements.
 */
#include "assemble/mapping.h"
#include "assemble/strategies.h"

/* Tries what a table leads to. Where the anchors of several files look alike, the next best pieces are
 * tried, too, without the last one that turned out to be wrong. */
static bool try_source(struct workbench *bench, const struct broken *broken,
	const struct source *source, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct refused refused = { .count = 0 };
	struct mapping mapping;
	bool found = false;

	while (!found && mapping_make(bench, broken, source, &refused, &mapping)) {
		uint64_t last = mapping.items[mapping.count - 1].shift;

		found = mapping_solve(bench, broken, &mapping, extents, outcome, assembly);
		mapping_free(&mapping);
		if (refused.count == REFUSED_MAX || source->is_tail)
			break;
		refused.shifts[refused.count++] = last;
	}
	return found;
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
