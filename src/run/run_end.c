/* The end of a run, whatever came before: problems, sums, reports, and what the person is told. */
#include "run/run_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/size.h"

static void collect_problems(struct run *run)
{
	const struct ranges *unreadable = run_unreadable(run);

	if (run->summary.evidence.state == EVIDENCE_MISMATCH)
		run_add_problem(run, xstrdup(run->summary.evidence.sentence));
	if (run->evidence && image_info(run->evidence)->damage)
		run_add_problem(run, xstrdup(image_info(run->evidence)->damage));
	if (unreadable && unreadable->count) {
		run_add_problem(
			run, xasprintf("%" PRIu64
				       " bytes of the image, in %zu %s, could not be read and "
				       "count as zeros",
				     ranges_bytes(unreadable), unreadable->count,
				     unreadable->count == 1 ? "place" : "places"));
	} else if (run->carving && carving_unreadable(run->carving)) {
		run_add_problem(
			run, xasprintf("carved files hold %" PRIu64 " bytes that could not be read "
				       "and are zeros",
				     carving_unreadable(run->carving)));
	}
	if (run->carving && carving_mismatches(run->carving))
		run_add_problem(run,
			xasprintf("%" PRIu64 " files have other hashes than the report that they "
				  "come from: the image has changed",
				carving_mismatches(run->carving)));
	if (run->carving && carving_quota_reached(run->carving))
		run_add_problem(
			run, xasprintf("a quota was reached, so files were found and not carved; "
				       "the summary counts them under 'quota'"));
	if (run_caught_signal())
		run_add_problem(
			run, xasprintf("interrupted by SIG%s after %" PRIu64 " bytes",
				     sigabbrev_np(run_caught_signal()), run->summary.scanned));
	if (run->error.code)
		run_add_problem(run, xstrdup(run->error.text));
}

static int exit_code(const struct run *run)
{
	if (run->error.code)
		return run->error.code;
	if (run_caught_signal())
		return 128 + run_caught_signal();
	return run->problem_count ? EXIT_PROBLEMS : EXIT_CLEAN;
}

/* The reader's list only grows, at its end. */
void run_note_unread(struct run *run)
{
	const struct ranges *read = run->reader ? reader_unreadable(run->reader) : NULL;
	const struct range *last = read && read->count ? &read->items[read->count - 1] : NULL;

	if (!last || last->offset + last->length == run->unread_noted)
		return;
	run->unread_noted = last->offset + last->length;
	for (size_t i = 0; i < read->count; i++)
		ranges_add(&run->unread, read->items[i].offset, read->items[i].length);
}

/* Nothing that was found is dropped in silence: what an early end leaves undone is counted. */
static void count_undecided(struct run *run)
{
	uint64_t count = run->has_pending;

	if (run->pairing)
		count += pairing_pending(run->pairing);
	if (run->order)
		count += scalpel_order_pending(run->order);
	tally_add_many(&run->summary.skipped, SKIPPED_BY_END, count, 0);
}

static void note_ranks(struct run *run)
{
	const struct run_cluster *cluster = run->options->cluster;
	struct summary_record *summary = &run->summary;

	if (!cluster)
		return;
	summary->ranks = xcalloc(cluster->count, sizeof(*summary->ranks));
	summary->rank_count = cluster->count;
	for (unsigned rank = 0; rank < cluster->count; rank++)
		cluster->spent(rank, &summary->ranks[rank]);
}

/* Completes the reports; a failure to write them becomes the run's error when it is the first. */
static void finish_report(struct run *run)
{
	struct summary_record *summary = &run->summary;
	struct error error = { 0 };

	if (run->options->progress.json && (fflush(stdout) || ferror(stdout)) && !run->error.code)
		error_set(&run->error, EXIT_IO, EPIPE,
			"cannot write the events to standard output: its reader is gone or its "
			"disk is full");
	run_note_unread(run);
	run_finish_map(run);
	count_undecided(run);
	collect_problems(run);
	if (run->carving) {
		carving_sums(run->carving, &summary->files, &summary->bytes);
		carving_marks(run->carving, &summary->known, &summary->alert);
	}
	summary->sets = run->options->sets != NULL;
	if (!*summary->evidence.sentence)
		snprintf(summary->evidence.sentence, sizeof(summary->evidence.sentence),
			"not hashed");
	summary->unreadable = run_unreadable(run);
	if (summary->unreadable)
		damages_collect(&summary->damage, run->evidence, summary->unreadable);
	summary->seconds_total = clock_seconds() - run->started;
	summary->seconds_start = run->set_up;
	summary->seconds_read_wait = run->read_wait;
	summary->seconds_scan_wait = run->scan_wait;
	summary->seconds_carve_wait = run->carving ? carving_waited(run->carving) : 0;
	note_ranks(run);
	summary->finished = time(NULL);
	summary->signal = run_caught_signal();
	summary->exit = exit_code(run);
	if (run->report && report_close(run->report, summary, &error) && !run->error.code)
		run->error = error;
}

static void tell(const struct run *run, const char *image_path)
{
	char size[16];

	for (size_t i = 0; i < run->problem_count; i++)
		if (strcmp(run->problems[i], run->error.text) != 0)
			log_warn("%s: %s", image_path, run->problems[i]);
	if (run->error.code)
		log_error("%s", run->error.text);
	if (run->summary.evidence.state == EVIDENCE_MATCH ||
		run->summary.evidence.state == EVIDENCE_HASHED)
		log_info("%s: %s", image_path, run->summary.evidence.sentence);
	if (run->summary.alert)
		log_warn("%s: %" PRIu64 " %s in a set of wanted hashes (--alert)", image_path,
			run->summary.alert, run->summary.alert == 1 ? "file is" : "files are");
	if (run->report)
		log_info("%s: %" PRIu64 " %s, %s%s; %s in %s", image_path, run->summary.files,
			run->summary.files == 1 ? "file" : "files",
			size_print(run->summary.bytes, size),
			run->options->dry_run ? ", found and not written" : "",
			run->options->dry_run ? "the reports are" : "they and the reports are",
			output_dir_path(run->output_dir));
}

/* The problems in one line. */
static void join_problems(const struct run *run, char *text, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < run->problem_count && used < len; i++)
		used += (size_t)snprintf(
			text + used, len - used, "%s%s", i ? "; " : "", run->problems[i]);
}

static void fill_sums(const struct run *run, struct run_sums *sums)
{
	const struct summary_record *summary = &run->summary;

	*sums = (struct run_sums){
		.files = summary->files,
		.bytes = summary->bytes,
		.scanned = summary->scanned,
		.hits = summary->hits,
		.total = summary->seconds_total,
		.start = summary->seconds_start,
		.read_wait = summary->seconds_read_wait,
		.scan_wait = summary->seconds_scan_wait,
		.carve_wait = summary->seconds_carve_wait,
		.image_size = run->image ? image_info(run->image)->size : 0,
		.evidence = summary->evidence.state,
		.unsuited = run->unsuited,
	};
	join_problems(run, sums->problem, sizeof(sums->problem));
	if (run->scan && run->engine->kernel)
		snprintf(sums->kernel, sizeof(sums->kernel), "%s", run->engine->kernel(run->scan));
}

int run_end(struct run *run, const char *image_path, struct run_sums *sums)
{
	int code;

	finish_report(run);
	code = exit_code(run);
	if (!run->progress) /* it ended before there was something to show: whoever reads events hears of that */
		run->progress = progress_open(&run->options->progress, 0);
	progress_close(run->progress, code);
	tell(run, image_path);
	if (run_end_checkpoints(run, !run->error.code && !run_caught_signal()) && run->carving)
		log_info("to go on with it: burin carve --resume %s",
			output_dir_path(run->output_dir));
	if (sums)
		fill_sums(run, sums);
	run_free(run);
	return code;
}
