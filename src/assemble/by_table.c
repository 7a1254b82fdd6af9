/*
 * Many formats have tables of where their parts are: an archive's directory, a document's
 * cross-references. The parts that a table names are found in the image by the words that they begin
 * with, and the table itself, where it is at the file's end, by its own. Then most of a file in
 * pieces is known without any search, in whatever order the pieces are: only the joints are left,
 * between parts with different displacements.
 */
#include "assemble/mapping.h"
#include "assemble/strategies.h"

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
	for (size_t i = 0; i < count && !found && workbench_goes_on(bench); i++) {
		struct mapping mapping;

		if (!mapping_make(bench, broken, &sources[i], &mapping))
			continue;
		found = mapping_solve(bench, broken, &mapping, extents, outcome, assembly);
		mapping_free(&mapping);
	}
	return found;
}
