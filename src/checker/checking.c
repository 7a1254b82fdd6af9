/* Checks candidates, a batch at a time (carve/check_worker.h). */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fatal.h"
#include "base/memory.h"
#include "carve/ahead.h"
#include "carve/batch_work.h"
#include "carve/check.h"
#include "carve/defer.h"
#include "checker/checker.h"

/* Outcomes wait for others this long, or until there are this many bytes of them. */
#define FLUSH_SECONDS 0.001
#define FLUSH_LEN ((size_t)64 << 10)

static struct {
	struct view *view;
	struct view *describing; /* NULL: nothing was described yet */
	struct defer *defer;
	unsigned worker; /* which of those that share it this is now */
	uint64_t done;   /* work of the checks of the batch that have ended */
	struct batch_work *batch;
	struct codec_writer outcomes; /* not sent yet */
	double sent;
} work;

static void flush_outcomes(void)
{
	if (!work.outcomes.len)
		return;
	checker_transmit(CHECK_OUTCOMES, &work.outcomes);
	work.sent = clock_seconds();
}

/* A view's. An outcome that came later would give the memory back: it is the end of the check that had it. */
static bool reserve(void *context, uint64_t bytes)
{
	struct codec_writer question = { 0 };
	int status;

	(void)context;
	flush_outcomes();
	codec_put(&question, bytes);
	status = checker_ask(CHECK_RESERVE, &question, NULL, NULL);
	free(question.bytes);
	return !status;
}

/* The view's watcher. */
static bool may_go_on(void *context, uint64_t reached)
{
	(void)context;
	atomic_store_explicit(&checker.shared->reached, reached, memory_order_relaxed);
	atomic_store_explicit(
		&checker.shared->work, work.done + view_work_done(work.view), memory_order_relaxed);
	return defer_progress(work.defer, work.worker, reached) && !checker_is_stopped();
}

/* ---- checking ------------------------------------------------------------------------------ */

static void end_fatally(const char *sentence)
{
	(void)sentence;
	checker_end_without_memory(flush_outcomes);
}

/* burin has just looked whether the first one of a batch is to be deferred, and expects that it is not. */
static void check_one(struct codec_reader *request, bool first)
{
	bool force = codec_get_flag(request), checked;
	uint64_t work_max = codec_get(request, UINT64_MAX), waited = 0;
	uint64_t data = codec_get(request, UINT64_MAX), end = codec_get(request, UINT64_MAX);
	struct candidate candidate;
	struct outcome outcome;

	candidate_load(&candidate, &checker.rules, image_info(checker.image)->size, request);
	if (!codec_ok(request))
		_exit(EXIT_FAILURE);
	view_know_end(work.view, candidate.start, data, end);
	checked = batch_work_check(work.batch, work.defer, work.worker, work.view, checker.image,
		&checker.rules.rules[candidate.rule], &candidate, work_max, force, first, &outcome,
		&waited);
	if (checked && outcome.no_memory)
		checker_end_without_memory(flush_outcomes);
	/* It was stopped where the image can't be read: the next one is not. */
	if (!checked)
		image_forget_cut(checker.image);
	codec_put(&work.outcomes, waited);
	codec_put(&work.outcomes, !checked);
	if (checked) {
		outcome_save(&outcome, &work.outcomes);
		work.done += outcome.work == UINT64_MAX ? 0 : outcome.work;
		outcome_free(&outcome);
	}
}

static void check_batch(struct codec_reader *batch)
{
	unsigned worker = (unsigned)codec_get(batch, UINT_MAX);
	uint64_t first = codec_get(batch, UINT64_MAX), count;

	/* What is shared with nobody has one worker. */
	work.worker = checker.defer ? worker : 0;
	/* What was found before counts where decisions are made. */
	defer_end(work.defer, work.worker, 0);
	defer_hide(work.defer, codec_get(batch, UINT64_MAX));
	count = codec_get(batch, UINT32_MAX);
	work.done = 0;
	batch_work_begin(work.batch);
	work.sent = clock_seconds();
	for (uint64_t i = 0; i < count; i++) {
		checker.number = first + i;
		atomic_store(&checker.shared->work, work.done);
		atomic_store(&checker.shared->number, checker.number);
		check_one(batch, !i);
		if (work.outcomes.len > FLUSH_LEN || clock_seconds() - work.sent > FLUSH_SECONDS)
			flush_outcomes();
	}
	flush_outcomes();
}

/* ---- describing ---------------------------------------------------------------------------- */

static bool may_describe(void *context, uint64_t reached)
{
	(void)context;
	(void)reached;
	return !checker_is_stopped();
}

static void describe_candidates(struct codec_reader *batch)
{
	struct codec_writer answer = { 0 };
	uint64_t count;

	if (!work.describing) {
		work.describing = view_new();
		view_watch(work.describing, may_describe, NULL);
		view_reserve_by(work.describing, reserve);
	}
	checker.number = codec_get(batch, UINT64_MAX);
	atomic_store(&checker.shared->number, checker.number);
	count = codec_get(batch, AHEAD_ITEMS_MAX);
	for (uint64_t i = 0; i < count; i++) {
		struct candidate candidate;

		candidate_load(&candidate, &checker.rules, image_info(checker.image)->size, batch);
		if (!codec_ok(batch))
			_exit(EXIT_FAILURE);
		view_point(work.describing, checker.image, candidate.start, candidate.length);
		ahead_describe_for(work.describing, &checker.rules.rules[candidate.rule], &answer);
		image_forget_cut(checker.image);
	}
	checker_transmit(CHECK_DESCRIBED, &answer);
	free(answer.bytes);
}

_Noreturn void check_batches(void)
{
	struct codec_reader batch;
	uint32_t kind;

	work.defer =
		checker.defer ? checker.defer : defer_new(1, checker.nested, checker.rules.count);
	work.batch = batch_work_new(checker.rules.count);
	work.view = view_new();
	view_watch(work.view, may_go_on, NULL);
	view_reserve_by(work.view, reserve);
	fatal_redirect(end_fatally);
	for (;;) {
		checker_receive(&kind, &batch);
		if (kind == CHECK_DESCRIBE)
			describe_candidates(&batch);
		else if (kind == CHECK_BATCH_IN)
			check_batch(&batch);
		else
			_exit(EXIT_FAILURE);
	}
}
