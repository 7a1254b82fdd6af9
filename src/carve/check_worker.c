/*
 * The thread waits while its process checks, so that as many run as there are threads, and wakes up now and
 * then to see whether the check under way is still wanted. A batch goes there in one message and comes back
 * in one, unless it takes long. Messages come through a socket: what is read there is a copy, and the end of
 * the process ends it.
 *
 * The process is trusted as little as the evidence: outcomes are decoded and compared with what a check may
 * find; what it asks for it could read anyway; and how long it may compute is counted here, by the work that
 * it claims to have done, of which there is a most.
 */
#include "carve/check_worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sandbox.h"
#include "carve/ahead.h"
#include "carve/check_limits.h"
#include "carve/coded_codec.h"
#include "carvers/coded.h"
#include "evidence/extent_image.h"

/* How seldom its time is looked at. */
#define MEASURE_SECONDS 0.1
/* A check that is to be given up, and is not, costs the process. */
#define STOP_SECONDS 0.5
/* A crash that a candidate alone causes is no accident. */
#define CRASHES_MAX 2
/* What a check that crashed counts for its rule, so that an image full of them does not start a process for each
 * for ever. */
#define CRASH_WORK ((uint64_t)16 << 20)

/* A batch, or a part of it, that the process has. */
struct check_part {
	const struct check_request *requests;
	size_t begin, end, done; /* indexes; those before done have outcomes */
	uint64_t hidden_until;
	const struct check_listener *listener;
	/* Up to where the start of others may have waited for a check that ended with its process. */
	uint64_t waited;
};

struct check_worker {
	const struct check_workers *all;
	struct check_workers *own; /* the same, if it is freed with this one */
	unsigned number;           /* of the worker */
	struct checker_process process;
	struct view *view;   /* for what the process reserves */
	uint64_t next_check; /* its number */
	/* Of the part that the process has. */
	uint64_t first;    /* number of its first check */
	uint64_t stopping; /* number of the check that is to be given up; 0: none */
	double stopping_since;
	double watched, measured; /* when it was, seconds of the clock */
};

struct check_worker *check_worker_new(const struct check_workers *workers, unsigned number)
{
	struct check_worker *worker = xcalloc(1, sizeof(*worker));

	worker->all = workers;
	worker->number = number;
	worker->view = view_new();
	worker->next_check = 1;
	return worker;
}

struct check_worker *check_worker_alone(struct image *image, const struct rules *rules)
{
	struct check_workers *workers = check_workers_new(image, rules, true, 0, NULL, 0);
	struct check_worker *worker = check_worker_new(workers, 0);

	worker->own = workers;
	return worker;
}

void check_worker_dismiss(struct check_worker *worker)
{
	if (worker && worker->process.child)
		shutdown(worker->process.channel.fd, SHUT_RDWR);
}

void check_worker_free(struct check_worker *worker)
{
	if (!worker)
		return;
	checker_free(&worker->process);
	view_free(worker->view);
	check_workers_free(worker->own);
	free(worker);
}

/* ---- watching ------------------------------------------------------------------------------ */

/* The seconds of processor time for the work since its last outcomes. What it claims to have done is
 * at most what its checks may do. */
static double time_allowed(const struct check_worker *worker, const struct check_part *part)
{
	double claimed = (double)atomic_load(&worker->process.shared->work), most = 0;

	for (size_t i = part->done; i < part->end; i++)
		most += (double)view_work_most(part->requests[i].candidate->length);
	return (claimed < most ? claimed : most) / check_limits.work_a_second;
}

/* The check under way is not wanted, or none of the part is. False: it went on nevertheless. */
static bool stop_check(struct check_worker *worker, uint64_t number, bool all, double now)
{
	if (worker->stopping != number) {
		worker->stopping = number;
		worker->stopping_since = now;
		atomic_store(&worker->process.shared->stop, all ? CHECK_STOP_ALL : number);
	}
	return now - worker->stopping_since < STOP_SECONDS;
}

static bool is_cancelled(const struct check_part *part)
{
	return part->listener->cancelled && part->listener->cancelled(part->listener->context);
}

/* Between messages. False: the process is to be ended. */
static bool watch(struct check_worker *worker, const struct check_part *part)
{
	double now = clock_seconds();
	uint64_t number, index;

	if (now - worker->watched < CHECKER_WATCH_SECONDS)
		return true;
	worker->watched = now;
	number = atomic_load(&worker->process.shared->number);
	index = part->begin + (number - worker->first);
	if (index >= part->done && index < part->end &&
		!part->listener->go_on(part->listener->context, (size_t)index,
			atomic_load(&worker->process.shared->reached)) &&
		!stop_check(worker, number, is_cancelled(part), now))
		return false;
	if (now - worker->measured < MEASURE_SECONDS)
		return true;
	worker->measured = now;
	return checker_measure(&worker->process, time_allowed(worker, part));
}

/* ---- what the process says ----------------------------------------------------------------- */

/* Whether the next check may be deferred: for one before it in the part, or because it is not wanted. Another one
 * would be asked for again and again. */
static bool may_be_deferred(const struct check_worker *worker, const struct check_part *part)
{
	const struct check_request *request = &part->requests[part->done];

	return (!request->force && part->done > part->begin) ||
	       request->candidate->start < part->hidden_until || worker->stopping;
}

static void end_check(struct check_part *part, struct outcome *outcome, uint64_t waited)
{
	if (part->waited > waited)
		waited = part->waited;
	part->waited = 0;
	part->listener->done(part->listener->context, part->done++, outcome, waited);
}

static bool take_outcome(
	struct check_worker *worker, struct check_part *part, struct codec_reader *body)
{
	const struct check_request *request = &part->requests[part->done];
	uint64_t size = image_info(worker->all->image)->size, waited = codec_get(body, UINT64_MAX);
	struct outcome outcome;

	if (codec_get_flag(body)) {
		if (!codec_ok(body) || !may_be_deferred(worker, part))
			return checker_fail(&worker->process, "gave an outcome that no check has");
		end_check(part, NULL, waited);
		return true;
	}
	outcome_load(&outcome, checker_keep_extension, body);
	if (!codec_ok(body) || outcome.crashed ||
		!outcome_fits(&outcome, request->candidate, size)) {
		outcome_free(&outcome);
		return checker_fail(&worker->process, "gave an outcome that no check has");
	}
	end_check(part, &outcome, waited);
	return true;
}

static bool take_outcomes(
	struct check_worker *worker, struct check_part *part, struct codec_reader *body)
{
	view_release(worker->view);
	do {
		if (part->done == part->end)
			return checker_fail(&worker->process, "broke the protocol");
		if (!take_outcome(worker, part, body))
			return false;
	} while (!codec_at_end(body));
	checker_note_progress(&worker->process);
	return true;
}

static bool give_bytes(struct check_worker *worker, struct codec_reader *body)
{
	bool cut = false;
	bool works = checker_give_bytes(&worker->process, worker->all->image, body, &cut);

	if (cut)
		stop_check(worker, atomic_load(&worker->process.shared->number), false,
			clock_seconds());
	return works;
}

static bool reserve(struct check_worker *worker, struct codec_reader *body)
{
	uint64_t bytes = codec_get(body, UINT64_MAX);

	if (!codec_at_end(body))
		return checker_fail(&worker->process, "broke the protocol");
	view_reserve(worker->view, bytes);
	return checker_answer(&worker->process, 0);
}

/* What it asks for. False: it failed, and how. */
static bool answer_message(struct check_worker *worker, uint32_t kind, struct codec_reader *body)
{
	switch (kind) {
	case CHECK_READ:
		return give_bytes(worker, body);
	case CHECK_RESERVE:
		return reserve(worker, body);
	case CHECK_NO_MEMORY:
		return checker_fail(
			&worker->process, "said that memory ran out, but there is enough");
	default:
		return checker_fail(&worker->process, "broke the protocol");
	}
}

static bool take_message(struct check_worker *worker, struct check_part *part, uint32_t kind,
	struct codec_reader *body)
{
	return kind == CHECK_OUTCOMES ? take_outcomes(worker, part, body)
				      : answer_message(worker, kind, body);
}

/* ---- checking ------------------------------------------------------------------------------ */

static bool give_part(struct check_worker *worker, const struct check_part *part)
{
	struct codec_writer *writer = &worker->process.writer;

	worker->first = worker->next_check;
	worker->next_check += part->end - part->begin;
	worker->watched = worker->measured = clock_seconds();
	checker_begin(&worker->process);
	worker->stopping = 0;
	atomic_store(&worker->process.shared->stop, 0);
	codec_put(writer, worker->number);
	codec_put(writer, worker->first);
	codec_put(writer, part->hidden_until);
	codec_put(writer, part->end - part->begin);
	for (size_t i = part->begin; i < part->end; i++) {
		codec_put(writer, part->requests[i].force);
		codec_put(writer, part->requests[i].work_max);
		codec_put(writer, part->requests[i].known_data);
		codec_put(writer, part->requests[i].known_end);
		candidate_save(part->requests[i].candidate, writer);
	}
	return channel_send(&worker->process.channel, CHECK_BATCH_IN, writer);
}

/* Those of a process that was ended because they were not wanted any more. */
static void defer_rest(struct check_part *part)
{
	while (part->done < part->end)
		end_check(part, NULL, 0);
}

/* What it was doing is over, for others too. */
static void end_process(struct check_worker *worker, struct check_part *part)
{
	uint64_t waited = 0;

	checker_end(&worker->process);
	view_release(worker->view);
	if (worker->all->defer)
		waited = defer_end(worker->all->defer, worker->number, 0);
	if (waited > part->waited)
		part->waited = waited;
}

static void place_of_check(const struct check_worker *worker, const struct candidate *candidate,
	struct lost_place *place)
{
	place->known = true;
	place->rule = candidate->rule;
	place->start = extent_image_to_evidence(worker->all->image, candidate->start);
}

/* The check under way is the one that the process names: it may be wrong, as it is not trusted. */
static void note_loss(const struct check_worker *worker, const struct check_part *part)
{
	uint64_t number = atomic_load(&worker->process.shared->number);
	uint64_t index = part->begin + (number - worker->first);
	struct lost_place place = { 0 };

	if (index >= part->done && index < part->end)
		place_of_check(worker, part->requests[index].candidate, &place);
	lost_processes_note(worker->all->lost, LOST_CHECKING, &place, worker->process.how);
}

/* 0: all of the part is done; 1: the process failed; -ENOMEM: memory ran out. */
static int run_part(struct check_worker *worker, struct check_part *part)
{
	bool works = give_part(worker, part);

	while (works && part->done < part->end) {
		struct codec_reader body;
		uint32_t kind;
		int got = channel_receive(&worker->process.channel, &kind, &body);

		if (got > 0 && kind == CHECK_NO_MEMORY && checker_memory_is_short())
			return -ENOMEM;
		if (got > 0)
			works = take_message(worker, part, kind, &body);
		works = works && got >= 0 && watch(worker, part);
	}
	if (works)
		return 0;
	end_process(worker, part);
	if (!worker->stopping) {
		note_loss(worker, part);
		return 1;
	}
	defer_rest(part);
	return 0;
}

/* Counted by the decider, and left out. */
static void give_up(struct check_worker *worker, struct check_part *part)
{
	struct lost_place place;
	struct outcome outcome = { .verdict = CARVE_REJECT, .work = CRASH_WORK, .crashed = true };

	snprintf(outcome.finding.why, sizeof(outcome.finding.why), "the check %s",
		worker->process.how);
	place_of_check(worker, part->requests[part->done].candidate, &place);
	lost_processes_explain(worker->all->lost, LOST_CHECKING, &place);
	end_check(part, &outcome, 0);
}

static int no_memory(
	const struct check_worker *worker, const struct check_part *part, struct error *error)
{
	const struct candidate *candidate = part->requests[part->done].candidate;

	return check_memory_error(error, &worker->all->rules->rules[candidate->rule], candidate);
}

int check_worker_check(struct check_worker *worker, const struct check_request *requests,
	size_t count, uint64_t hidden_until, const struct check_listener *listener,
	struct error *error)
{
	struct check_part part = { .requests = requests,
		.end = count,
		.hidden_until = hidden_until,
		.listener = listener };
	unsigned crashes = 0;
	int status = 0;

	while (part.done < count) {
		size_t before = part.done;

		status = worker->process.child
				 ? 0
				 : checker_start(&worker->process, worker->all, error);
		if (status)
			return status;
		part.begin = part.done;
		status = run_part(worker, &part);
		if (status < 0)
			return no_memory(worker, &part, error);
		if (part.done > before)
			crashes = 0;
		/* What was under way is not known for certain: from now on one at a time. */
		if (status && part.end == part.done + 1 && ++crashes == CRASHES_MAX) {
			give_up(worker, &part);
			crashes = 0;
		}
		part.end = part.done + (part.done < count);
	}
	return 0;
}

/* ---- describing ---------------------------------------------------------------------------- */

static bool give_candidates(
	struct check_worker *worker, const struct candidate *candidates, size_t count)
{
	struct codec_writer *writer = &worker->process.writer;

	worker->measured = clock_seconds();
	worker->stopping = 0;
	checker_begin(&worker->process);
	codec_put(writer, worker->next_check++);
	codec_put(writer, count);
	for (size_t i = 0; i < count; i++)
		candidate_save(&candidates[i], writer);
	return channel_send(&worker->process.channel, CHECK_DESCRIBE, writer);
}

/* The data begins in the image, after the start of its picture. */
static bool take_described(struct check_worker *worker, const struct candidate *candidates,
	size_t count, struct carve_coded **coded, struct codec_reader *body)
{
	uint64_t size = image_info(worker->all->image)->size;

	for (size_t i = 0; i < count && codec_ok(body); i++) {
		if (!codec_get_flag(body))
			continue;
		coded[i] = xmalloc(sizeof(*coded[i]));
		coded_load(coded[i], body);
		coded[i]->begins = true;
		if (!coded[i]->data || coded[i]->data >= size - candidates[i].start)
			codec_fail(body);
	}
	if (codec_at_end(body))
		return true;
	for (size_t i = 0; i < count; i++) {
		free(coded[i]);
		coded[i] = NULL;
	}
	return checker_fail(&worker->process, "broke the protocol");
}

/* Between messages, as `watch`. */
static bool watch_describing(struct check_worker *worker, size_t count)
{
	double now = clock_seconds();

	if (now - worker->measured < MEASURE_SECONDS)
		return true;
	worker->measured = now;
	return checker_measure(
		&worker->process, (double)count * AHEAD_WORK_MAX / check_limits.work_a_second);
}

bool check_worker_describe(struct check_worker *worker, const struct candidate *candidates,
	size_t count, struct carve_coded **coded)
{
	struct error error = { 0 };
	bool done = false, works;

	if (!worker->process.child && checker_start(&worker->process, worker->all, &error))
		return false;
	works = give_candidates(worker, candidates, count);
	while (works && !done) {
		struct codec_reader body;
		uint32_t kind;
		int got = channel_receive(&worker->process.channel, &kind, &body);

		done = got > 0 && kind == CHECK_DESCRIBED;
		if (done)
			works = take_described(worker, candidates, count, coded, &body);
		else if (got > 0)
			works = answer_message(worker, kind, &body);
		works = works && got >= 0 && watch_describing(worker, count);
	}
	if (!works)
		checker_end(&worker->process);
	view_release(worker->view);
	return works;
}
