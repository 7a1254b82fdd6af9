#include "carve/job.h"

#include <stdlib.h>

#include "base/memory.h"
#include "carve/decide.h"

bool job_needs_no_outcome(const struct carve_job *job, const struct decider *decider)
{
	return decider_hides(decider, job->candidate.start) ||
	       decider_is_part(decider, &job->candidate);
}

/* Nobody counts what no carver checks. */
static bool is_limited(const struct job_context *context, const struct carve_job *job)
{
	return context->decider && context->rules->rules[job->candidate.rule].carver;
}

bool job_limit_work(const struct job_context *context, struct carve_job *job)
{
	job->work_max = UINT64_MAX;
	if (is_limited(context, job))
		job->work_max = job->force ? decider_work_cap(context->decider, &job->candidate)
					   : decider_work_ahead(
						     context->decider, &job->candidate, job->next);
	return job->work_max || job->force;
}

bool job_seems_spent(const struct job_context *context, const struct carve_job *job)
{
	return !job->force && is_limited(context, job) &&
	       decider_seems_spent(context->decider, &job->candidate, job->next);
}

bool job_needs_no_check(const struct carve_job *job, const struct decider *decider)
{
	return job_needs_no_outcome(job, decider) || decider_is_spent(decider, &job->candidate);
}

/* Its check took more than it might take ahead of its decision, which uses its outcome. */
static bool needs_more(const struct job_context *context, const struct carve_job *job)
{
	return job->outcome && job->outcome->work == UINT64_MAX && !job->force &&
	       job->work_max < decider_work_left(context->decider, &job->candidate) &&
	       !job_needs_no_check(job, context->decider);
}

bool job_may_be_decided(const struct job_context *context, struct carve_job *job)
{
	enum job_state state = job_state(job);

	if (state == JOB_CHECKED && needs_more(context, job)) {
		job_drop_outcome(context, job);
		job->force = true;
		job_set_state(job, JOB_WAITING);
		return false;
	}
	return state == JOB_CHECKED ||
	       (state == JOB_WAITING && job_needs_no_check(job, context->decider));
}

static size_t cost_of(const struct outcome *outcome)
{
	return sizeof(*outcome) + outcome_extra_len(outcome);
}

/* What its check took. */
static uint64_t work_of(const struct carve_job *job)
{
	return job->outcome->work == UINT64_MAX ? job->work_max : job->outcome->work;
}

void job_set_outcome(
	const struct job_context *context, struct carve_job *job, const struct outcome *outcome)
{
	job->outcome = xmalloc(sizeof(*job->outcome));
	*job->outcome = *outcome;
	atomic_fetch_add_explicit(context->outcomes_len, cost_of(outcome), memory_order_relaxed);
	if (context->decider)
		decider_begin_pending(context->decider, job->candidate.rule, work_of(job));
}

struct outcome *job_take_outcome(const struct job_context *context, struct carve_job *job)
{
	struct outcome *outcome = job->outcome;

	if (!outcome)
		return NULL;
	atomic_fetch_sub_explicit(
		context->outcomes_len, cost_of(job->outcome), memory_order_relaxed);
	if (context->decider)
		decider_end_pending(context->decider, job->candidate.rule, work_of(job));
	outcome_free(outcome);
	job->outcome = NULL;
	return outcome;
}

void job_drop_outcome(const struct job_context *context, struct carve_job *job)
{
	free(job_take_outcome(context, job));
}
