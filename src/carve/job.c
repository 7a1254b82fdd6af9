#include "carve/job.h"

#include <stdlib.h>

#include "base/memory.h"
#include "carve/decide.h"

bool job_needs_no_outcome(const struct carve_job *job, const struct decider *decider)
{
	return decider_hides(decider, job->candidate.start) ||
	       decider_is_part(decider, &job->candidate);
}

bool job_seems_spent(const struct job_context *context, const struct carve_job *job)
{
	return context->decider && !job->force &&
	       decider_seems_spent(context->decider, &job->candidate);
}

static size_t cost_of(const struct outcome *outcome)
{
	return sizeof(*outcome) + outcome_extra_len(outcome);
}

void job_set_outcome(
	const struct job_context *context, struct carve_job *job, const struct outcome *outcome)
{
	job->outcome = xmalloc(sizeof(*job->outcome));
	*job->outcome = *outcome;
	atomic_fetch_add_explicit(context->outcomes_len, cost_of(outcome), memory_order_relaxed);
	if (context->decider)
		decider_begin_pending(context->decider, job->candidate.rule, outcome);
}

void job_drop_outcome(const struct job_context *context, struct carve_job *job)
{
	if (!job->outcome)
		return;
	atomic_fetch_sub_explicit(
		context->outcomes_len, cost_of(job->outcome), memory_order_relaxed);
	if (context->decider)
		decider_end_pending(context->decider, job->candidate.rule, job->outcome);
	outcome_free(job->outcome);
	free(job->outcome);
	job->outcome = NULL;
}
