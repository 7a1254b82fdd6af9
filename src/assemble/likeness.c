#include "assemble/likeness.h"

#include <stddef.h>

void likeness_forget(struct likeness *likeness)
{
	affinity_free(likeness->affinity);
	affinity_free(likeness->before);
	likeness->affinity = likeness->before = NULL;
	code_breaks_free(likeness->codes);
	likeness->codes = NULL;
	likeness->codes_of = NULL;
}

/* What the partial file's content looks like, for steps that lead far. */
static struct affinity *learn(
	struct workbench *bench, const struct partial *partial, uint64_t length)
{
	struct affinity *affinity = affinity_new(bench);

	affinity_learn_file(affinity, bench, &partial->extents, 0, length);
	return affinity;
}

/* Whether another file likely has the cluster. What the file itself seemed to have may come later in it. */
static bool is_of_another(const struct likeness *likeness, uint64_t target)
{
	const struct broken *broken = likeness->broken;

	return clusters_is_head(likeness->bench->clusters, target) &&
	       (target < broken->start || target >= broken->start + broken->length);
}

bool likeness_is_unlikely(
	struct likeness *likeness, const struct partial *partial, const struct step *step)
{
	struct workbench *bench = likeness->bench;
	uint64_t target = step_target(bench->clusters, partial, step);
	struct affinity **affinity =
		step->at <= partial->same ? &likeness->before : &likeness->affinity;

	if (target == UINT64_MAX || is_of_another(likeness, target))
		return true;
	if (!*affinity)
		*affinity = learn(bench, partial,
			step->at <= partial->same ? partial->same : partial->reached);
	if (affinity_is_unlikely(*affinity, bench, target))
		return true;
	if (!likeness->codes_of) {
		likeness->codes_of = partial;
		likeness->codes = code_breaks_new(bench, partial);
	}
	return likeness->codes && likeness->codes_of == partial &&
	       !code_breaks_bits(likeness->codes, step);
}

enum answer likeness_ask(const struct likeness *likeness, const struct partial *partial,
	const struct step *step, struct view *view)
{
	const struct workbench *bench = likeness->bench;
	const struct affinity *affinity =
		step->at <= partial->same ? likeness->before : likeness->affinity;
	uint64_t target = step_target(bench->clusters, partial, step);
	enum answer answer;

	if (!affinity)
		return ANSWER_NONE;
	if (is_of_another(likeness, target))
		return ANSWER_YES;
	answer = affinity_ask(affinity, bench, target, view);
	return answer == ANSWER_NO && likeness->codes && likeness->codes_of == partial
		       ? code_breaks_ask(likeness->codes, step, view)
		       : answer;
}
