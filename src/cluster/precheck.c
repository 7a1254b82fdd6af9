/*
 * Only rules with something to check count whose candidates need no footer, which may lie in another
 * unit. Each unit is paired by itself; candidates that start before it, by a header inside it, are
 * left to the coordinator.
 */
#include "cluster/precheck.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cluster/rpc_server.h"
#include "run/candidates.h"
#include "run/search.h"
#include "run/signals.h"

/* After this many hits the candidates that they settle are offered: that bounds the queues. */
#define HITS_AT_ONCE 64
/* Bytes of outcomes in a result; the coordinator asks for the rest. */
#define OUTCOMES_MAX ((size_t)2 << 20)
/* Bytes of results that wait, and what the end of a unit counts for among them. */
#define WAITING_MAX ((size_t)4 << 20)
#define UNIT_COST ((size_t)32 << 10)

struct waiting {
	struct waiting *next;
	struct cluster_result result;
	size_t outcome_room, outcomes_len; /* elements; bytes */
	uint64_t settled; /* what starts before this belongs to it or to an earlier one */
};

struct precheck {
	struct session *session;
	int (*send)(void *context, struct cluster_result *result);
	void *context;
	struct carving *carving;
	struct candidates *candidates; /* of the unit; NULL between units */
	struct waiting *first, **end;
	/* The first that outcomes may still belong to; NULL: it is yet to come. */
	struct waiting *open;
	size_t len; /* bytes that wait */
};

/* ---- outcomes ------------------------------------------------------------------------------ */

static void add_outcome(
	void *context, const struct candidate *candidate, const struct outcome *outcome)
{
	struct precheck *precheck = context;
	size_t cost = sizeof(struct cluster_outcome) + outcome_extra_len(outcome);
	struct waiting *waiting;
	struct cluster_result *result;

	/* The coordinator's rule may have more work left than this process's. */
	if (outcome->work == UINT64_MAX)
		return;
	while (precheck->open->settled <= candidate->start)
		precheck->open = precheck->open->next;
	waiting = precheck->open;
	result = &waiting->result;
	if (waiting->outcomes_len + cost > OUTCOMES_MAX)
		return;
	waiting->outcomes_len += cost;
	precheck->len += cost;
	result->outcomes = xgrow(result->outcomes, &waiting->outcome_room, result->outcome_count,
		sizeof(*result->outcomes));
	result->outcomes[result->outcome_count++] = (struct cluster_outcome){ candidate->start,
		candidate->rule, outcome_copy(outcome) };
}

static size_t cost_of(const struct waiting *waiting)
{
	const struct cluster_result *result = &waiting->result;

	return sizeof(*waiting) + result->hit_count * sizeof(*result->hits) +
	       result->unread_count * sizeof(*result->unread) + result->classes_len +
	       waiting->outcomes_len + (result->ends_unit ? UNIT_COST : 0);
}

static void free_waiting(struct waiting *waiting)
{
	struct cluster_result *result = &waiting->result;

	for (size_t i = 0; i < result->outcome_count; i++)
		outcome_free(&result->outcomes[i].outcome);
	free(result->outcomes);
	free((void *)result->hits);
	free((void *)result->unread);
	free((void *)result->classes);
	free(waiting);
}

/* ---- the queue of results ------------------------------------------------------------------ */

static struct waiting *enqueue(struct precheck *precheck, struct cluster_result *result)
{
	struct waiting *waiting = xcalloc(1, sizeof(*waiting));

	waiting->result = *result;
	waiting->settled = UINT64_MAX;
	precheck->len += cost_of(waiting);
	*precheck->end = waiting;
	precheck->end = &waiting->next;
	if (!precheck->open)
		precheck->open = waiting;
	return waiting;
}

static struct waiting *dequeue(struct precheck *precheck)
{
	struct waiting *waiting = precheck->first;

	precheck->first = waiting->next;
	if (!precheck->first)
		precheck->end = &precheck->first;
	if (precheck->open == waiting)
		precheck->open = waiting->next;
	precheck->len -= cost_of(waiting);
	return waiting;
}

static int send_ready(struct precheck *precheck)
{
	int status = 0;

	while (!status && precheck->first &&
		precheck->first->settled <= carving_decided_until(precheck->carving)) {
		struct waiting *waiting = dequeue(precheck);

		status = precheck->send(precheck->context, &waiting->result);
		free_waiting(waiting);
	}
	return status;
}

static int carving_failed(struct precheck *precheck, int status)
{
	precheck->session->error = *carving_error(precheck->carving);
	return status;
}

/* Here, or where the coordinator is. */
static bool is_interrupted(void)
{
	return signals_interrupted() || rpc_server_is_cancelled();
}

/* Until no more than len bytes wait. */
static int drain_to(struct precheck *precheck, size_t len)
{
	int status = send_ready(precheck);

	while (!status && precheck->len > len && !is_interrupted()) {
		status = carving_decide_until(precheck->carving, precheck->first->settled);
		if (status)
			return carving_failed(precheck, status);
		status = send_ready(precheck);
	}
	return status;
}

int precheck_drain(struct precheck *precheck)
{
	return drain_to(precheck, 0);
}

/* ---- pairing and checking ------------------------------------------------------------------ */

static int start_unit(struct precheck *precheck, uint64_t offset)
{
	struct session *session = precheck->session;
	const struct candidates_options options = {
		.options = session->options,
		.scope = &session->scope,
		.begin = offset,
		.precheck = true,
		.rejected = &session->summary.rejected,
		.skipped = &session->summary.skipped,
	};

	return candidates_new(&precheck->candidates, &options, &session->error);
}

static int offer(struct precheck *precheck)
{
	int status = candidates_offer(
		precheck->candidates, precheck->carving, &precheck->session->error);

	return !status && candidates_refused(precheck->candidates) ? -ECANCELED : status;
}

/* What lies inside a file that was found is left out. */
static int pair_hits(struct precheck *precheck, const struct cluster_result *result)
{
	uint64_t hidden_until = carving_hidden_until(precheck->carving);
	size_t paired = 0;
	int status = 0;

	for (size_t i = 0; i < result->hit_count && !status; i++) {
		const struct cluster_hit *hit = &result->hits[i];

		if (hit->offset < hidden_until)
			continue;
		candidates_hit(precheck->candidates, hit->offset, hit->pattern, hit->len);
		if (++paired % HITS_AT_ONCE)
			continue;
		status = offer(precheck);
		hidden_until = carving_hidden_until(precheck->carving);
	}
	return status;
}

static int end_unit(struct precheck *precheck, uint64_t until)
{
	int status;

	candidates_finish(precheck->candidates);
	status = offer(precheck);
	carving_set_offered_until(precheck->carving, until);
	candidates_free(precheck->candidates);
	precheck->candidates = NULL;
	return status;
}

int precheck_add(struct precheck *precheck, uint64_t unit, struct cluster_result *result)
{
	struct waiting *waiting = enqueue(precheck, result);
	int status = precheck->candidates ? 0 : start_unit(precheck, unit);

	if (!status)
		status = pair_hits(precheck, result);
	if (status)
		return status;
	candidates_advance(precheck->candidates, result->until);
	status = result->ends_unit ? end_unit(precheck, result->until) : offer(precheck);
	waiting->settled =
		result->ends_unit ? result->until : candidates_reached(precheck->candidates);
	return status ? status : drain_to(precheck, WAITING_MAX);
}

int precheck_settle(struct precheck *precheck, uint64_t position)
{
	int status = carving_start_checks(precheck->carving, position);

	return status ? carving_failed(precheck, status) : send_ready(precheck);
}

/* ---- beginning and end --------------------------------------------------------------------- */

struct precheck *precheck_new(struct session *session,
	int (*send)(void *context, struct cluster_result *result), void *context)
{
	struct precheck *precheck = xcalloc(1, sizeof(*precheck));
	const struct carving_options carving = {
		.image = session->scope.image,
		.rules = session->options->rules,
		.pool = session->pool,
		.ahead = session->ahead,
		.confined = session_confines_checks(session),
		.lost = session->lost,
		.decide = { .nested = session->options->decide.nested,
			.searched_len = session->scope.end - session->scope.begin },
		.on_outcome = add_outcome,
		.context = precheck,
		.rejected = &session->summary.rejected,
		.skipped = &session->summary.skipped,
		.interrupted = is_interrupted,
	};

	precheck->session = session;
	precheck->send = send;
	precheck->context = context;
	precheck->end = &precheck->first;
	precheck->carving = carving_new(&carving);
	return precheck;
}

void precheck_hide(void *context, uint64_t until)
{
	struct precheck *precheck = context;

	carving_hide(precheck->carving, until);
}

void precheck_free(struct precheck *precheck)
{
	if (!precheck)
		return;
	carving_hide(precheck->carving, UINT64_MAX); /* ends checks under way */
	carving_cancel(precheck->carving);
	carving_free(precheck->carving);
	candidates_free(precheck->candidates);
	while (precheck->first)
		free_waiting(dequeue(precheck));
	free(precheck);
}
