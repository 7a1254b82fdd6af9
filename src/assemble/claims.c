#include "assemble/claims.h"

#include <stdlib.h>

#include "assemble/strategies.h"
#include "base/memory.h"

static int compare_claims(const void *a, const void *b)
{
	const struct assembled *left = *(struct assembled *const *)a;
	const struct assembled *right = *(struct assembled *const *)b;

	if (left->assembly.evidence != right->assembly.evidence)
		return left->assembly.evidence < right->assembly.evidence ? 1 : -1;
	if (left->is_whole != right->is_whole)
		return left->is_whole ? -1 : 1;
	if (left->assembly.doubt_count != right->assembly.doubt_count)
		return left->assembly.doubt_count < right->assembly.doubt_count ? -1 : 1;
	if (left->run_count != right->run_count)
		return left->run_count < right->run_count ? -1 : 1;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->rule < right->rule ? -1 : left->rule > right->rule;
}

static bool can_have(const struct clusters *clusters, const struct assembled *found)
{
	return clusters_all_free(clusters, found->runs, found->run_count);
}

/* The file system has its extents, so it may have clusters that others have, too: of a deleted file
 * some may have been given to another, which its reason says. */
static bool is_recorded(const struct assembled *found)
{
	const struct assembly *assembly = &found->assembly;

	return assembly->by == ASSEMBLY_FILE_SYSTEM &&
	       assembly->evidence + workbench_bits(assembly->tested) >= RECORD_BITS;
}

void claims_take(struct clusters *clusters, const struct assembled *found)
{
	for (uint32_t i = 0; i < found->run_count; i++)
		clusters_take(clusters, found->runs[i].offset, found->runs[i].length);
}

static void claim(struct clusters *clusters, struct assembled *found)
{
	if (is_recorded(found) || can_have(clusters, found))
		claims_take(clusters, found);
	else
		assembled_forget(found);
}

bool claims_make(struct clusters *clusters, struct pass_state *state, bool complete)
{
	struct assembled **claims = xcalloc(state->count, sizeof(struct assembled *));
	size_t count = 0;

	for (size_t i = 0; i < state->count; i++) {
		struct assembled *found = &state->found[i];

		if (found->runs && (found->outcome.verdict == CARVE_COMPLETE) == complete &&
			(!complete || found->pass == state->pass))
			claims[count++] = found;
	}
	if (count)
		qsort(claims, count, sizeof(struct assembled *), compare_claims);
	for (size_t i = 0; i < count; i++)
		claim(clusters, claims[i]);
	free(claims);
	return count != 0;
}

void claims_drop_overlapping(const struct clusters *clusters, struct pass_state *state)
{
	for (size_t i = 0; i < state->count; i++) {
		struct assembled *found = &state->found[i];

		if (found->runs && found->outcome.verdict != CARVE_COMPLETE &&
			!is_recorded(found) && !can_have(clusters, found))
			assembled_forget(found);
	}
}
