/*
 * One run over one image. The run's thread does everything that must happen in order: it takes the
 * hits of searched chunks in order of the image, pairs them, and offers the candidates to the
 * carving stage. All that takes time happens elsewhere: reading in the reader's threads, searching,
 * checking and writing in the pool's; or all of that in the workers of a cluster (run/cluster.h).
 */
#include "run/run.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "run/cluster.h"
#include "run/run_parts.h"

const struct cluster *the_cluster;

/* ---- the loop ------------------------------------------------------------------------------ */

/* The hits before position were paired. */
static void advance(struct run *run, uint64_t position, size_t hit_count)
{
	run->session.summary.hits += hit_count;
	candidates_advance(run->candidates, position);
	run->position = position;
}

/* As pair_next, in a run of one process. */
static int pair_chunk(struct run *run)
{
	const bool *want_lengths = candidates_want_lengths(run->candidates);
	const struct chunk *chunk;
	int status = search_next(run->search, &chunk, &run->session.error);

	if (status <= 0)
		return status;
	for (size_t i = 0; i < chunk->hit_count; i++) {
		const struct hit *hit = &chunk->hits[i];

		candidates_checked_hit(run->candidates, hit->offset, hit->pattern,
			want_lengths[hit->pattern] ? search_match_len(run->search, chunk, hit) : 0,
			hit->note ? sift_rule(run->sift, hit) : 0, hit->note);
	}
	advance(run, chunk->offset + chunk->until, chunk->hit_count);
	scope_note_unread(&run->session.scope, search_unreadable(run->search));
	search_done(run->search);
	return 1;
}

/* As pair_next, where workers search. They send what their checks found along with the hits. */
static int pair_result(struct run *run)
{
	const bool *want_lengths = candidates_want_lengths(run->candidates);
	double from = clock_seconds();
	struct session *session = &run->session;
	struct cluster_result result;
	int status = session->options->cluster->next(&result, &session->error);

	run->cluster_wait += clock_seconds() - from;
	if (status <= 0)
		return status == -EAGAIN ? 1 : status;
	for (size_t i = 0; i < result.hit_count; i++) {
		const struct cluster_hit *hit = &result.hits[i];

		candidates_hit(run->candidates, hit->offset, hit->pattern,
			want_lengths[hit->pattern] ? hit->len : 0);
	}
	advance(run, result.until, result.hit_count);
	for (size_t i = 0; i < result.unread_count; i++)
		ranges_add(
			&session->scope.unread, result.unread[i].offset, result.unread[i].length);
	for (size_t i = 0; i < result.outcome_count; i++)
		carving_add_precheck(session->carving, result.outcomes[i].start,
			result.outcomes[i].rule, &result.outcomes[i].outcome);
	status = content_map_apply(run->map, result.until, result.classes, result.classes_len);
	assert(!status); /* every process runs the same program */
	return 1;
}

/* Takes the next hits and pairs them. 1; 0: there are no more; else a negative errno. */
static int pair_next(struct run *run)
{
	if (run->session.options->cluster)
		return pair_result(run);
	return run->search ? pair_chunk(run) : 0;
}

static int carving_failed(struct run *run, int status)
{
	run->session.error = *carving_error(run->session.carving);
	return status;
}

/* Offers what the hits so far have settled to the carving stage, and waits while that has fallen so
 * far behind that the bytes it has yet to look at would soon be gone from the reader's ring. */
static int offer_candidates(struct run *run)
{
	struct carving *carving = run->session.carving;
	int status = carving_scanned(carving, run->position);

	if (status)
		return carving_failed(run, status);
	status = candidates_offer(run->candidates, carving, &run->session.error);
	if (status || !run->search)
		return status;
	status = carving_start_checks(carving, search_near(run->search, run->position));
	return status ? carving_failed(run, status) : 0;
}

/* Lines of the report reach the disk within about a second, also where nothing more is found. */
static int flush_report(struct run *run)
{
	double now = clock_seconds();

	scope_log_volumes(&run->session.scope);
	run->session.summary.scanned = run->position - run->session.scope.begin;
	progress_update(run->session.progress, run->session.summary.scanned);
	session_watch_output(&run->session);
	if (now - run->flushed < 1)
		return 0;
	run->flushed = now;
	return carving_flush(run->session.carving, &run->session.error);
}

/* All hits were paired. */
static int finish_carving(struct run *run)
{
	struct carving *carving = run->session.carving;
	int status;

	candidates_finish(run->candidates);
	status = carving_scanned(carving, UINT64_MAX);
	if (status)
		return carving_failed(run, status);
	status = candidates_offer(run->candidates, carving, &run->session.error);
	if (status || signals_caught())
		return status;
	assert(!candidates_refused(run->candidates));
	status = carving_finish(carving);
	if (status || signals_caught())
		return status ? carving_failed(run, status) : 0;
	if (run_has_passes(run)) { /* which may take hours */
		checkpoint_hasten(run->checkpoint);
		status = run_checkpoint_if_due(run, &run->session.error);
	}
	return status ? status : run_pieces(run);
}

/* The whole story: next hits, pair, offer candidates, flush the report, checkpoint if due. */
static int carve(struct run *run)
{
	int status = 0;

	while (!signals_caught() && (status = pair_next(run)) > 0) {
		if ((status = offer_candidates(run)) || (status = flush_report(run)) ||
			(status = run_checkpoint_if_due(run, &run->session.error)))
			break;
	}
	if (!status && !signals_caught())
		status = finish_carving(run);
	return status;
}

/* ---- setting up ---------------------------------------------------------------------------- */

static void new_checkpoint(struct run *run)
{
	const struct run_options *options = run->session.options;
	const struct checkpoint_options checkpoint = {
		.image_path = run->session.image_path,
		.arguments = options->arguments,
		.traits = &run->traits,
		.output_dir = run->session.output_dir,
		.interval = options->checkpoint_interval,
		.parts = run_checkpoint_parts,
		.run = run,
	};

	run->checkpoint = checkpoint_new(&checkpoint);
}

/* Loads what the set-up needs to know first, above all the position. */
static int begin_resuming(struct run *run, const char *output)
{
	struct session *session = &run->session;
	int status = output_dir_reopen(&session->output_dir, output, &session->error);

	if (status)
		return status;
	new_checkpoint(run);
	return checkpoint_resume(run->checkpoint, &session->error);
}

static int begin_output(struct run *run, const char *output)
{
	int status = session_open_output(&run->session, output);

	if (!status)
		new_checkpoint(run);
	return status;
}

static uint64_t reading_end(const struct run *run)
{
	const struct session *session = &run->session;
	uint64_t end = scope_reading_end(&session->scope, session->options->rules);

	return scope_is_empty(&session->scope) || end < run->position ? run->position : end;
}

/* Whether what the engine has on a GPU is of use after the scan: for files in pieces that may be anywhere. */
static bool keeps_text(const struct session *session)
{
	const struct rules *rules = session->options->rules;

	if (session->options->fragments != FRAGMENTS_SEARCH ||
		session->scope.image != session->scope.evidence)
		return false;
	for (uint32_t i = 0; i < rules->count; i++)
		if (rules->rules[i].carver && rules->rules[i].carver->coded)
			return true;
	return false;
}

/* A run that is resumed after its search had come to the end needs no engine, nor does the
 * coordinator of a cluster, whose workers have theirs. */
static int open_search(struct run *run)
{
	struct session *session = &run->session;
	struct quick_options quick = { session->options->rules, session->scope.image,
		session->options->scalpel, 0, session_confines_checks(session) };
	struct search_options search = { session->options, &session->scope, session->pool,
		&session->problems, NULL, NULL, session_confines_checks(session),
		keeps_text(session), session->options->fragments != FRAGMENTS_SEARCH };
	uint64_t length = reading_end(run) - run->position;
	int status;

	if (!length || session->options->cluster)
		return 0;
	quick.threads = pool_threads(session->pool);
	session->rejections = rejections_new();
	run->sift = search.sift = sift_new(&quick, session->rejections, session->pool);
	session->ahead = search.ahead = ahead_new(
		session->options->rules, session->scope.image, quick.threads, search.shared);
	run->search = search_new(&search);
	status = search_pick_engine(run->search, length, &session->error);
	return status ? status : search_open(run->search, run->position, length, &session->error);
}

static int create_spill(void *context, struct error *error)
{
	const struct run *run = context;

	return output_dir_temporary(run->session.output_dir, error);
}

static int open_candidates(struct run *run)
{
	struct session *session = &run->session;
	const struct candidates_options options = {
		.options = session->options,
		.scope = &session->scope,
		.create_spill = create_spill,
		.context = run,
		.rejected = &session->summary.rejected,
		.skipped = &session->summary.skipped,
	};

	return candidates_new(&run->candidates, &options, &session->error);
}

/* Waits until all workers have joined. They check and write: one thread for their answers is
 * enough here. */
static int begin_cluster(struct run *run, const char *output, const char **engine)
{
	struct session *session = &run->session;
	const struct run_options *options = session->options;
	const struct cluster_begin begin = {
		.options = options,
		.image_path = session->image_path,
		.output = output,
		.traits = &run->traits,
		.position = run->position,
		.end = reading_end(run),
		.output_dir = options->dry_run ? NULL : session->output_dir,
	};
	int status;

	if (!options->cluster)
		return 0;
	run->cluster_begun = true;
	status = options->cluster->begin(&begin, engine, &session->error);
	return status ? status : session_open_pool(session, 1);
}

static int open_report(struct run *run, const char *cluster_engine)
{
	struct session *session = &run->session;
	struct run_record *record = &session->record;

	session_fill_record(session, session->scope.end - session->scope.begin);
	if (run->search) {
		record->engine = search_engine_name(run->search);
		record->kernel = search_kernel(run->search);
		record->engine_reason = search_engine_reason(run->search);
		record->reader = reader_method_name(search_reader(run->search));
	} else if (session->options->cluster) {
		record->engine = cluster_engine;
		record->engine_reason = session->options->cluster->summary;
	}
	if (!session->options->resume)
		return session_open_report(session);
	if (checkpoint_has_parts(run->checkpoint))
		return checkpoint_load(run->checkpoint, CHECKPOINT_REPORT, &session->error);
	for (size_t i = 0; i < REPORT_PARTS; i++) /* begun after the checkpoint was written */
		output_dir_discard(session->output_dir, reporters[i]->file_name);
	return session_open_report(session);
}

/* The hash gets the slots that the search has read. */
static int start_hash(struct run *run)
{
	struct session *session = &run->session;
	struct reader *reader = run->search ? search_reader(run->search) : NULL;
	unsigned slots = run->search ? search_slots(run->search) : 0;
	const struct evidence_hash_options hash = { session->options, &session->scope, reader,
		slots, run->position, &session->summary.evidence, &run->beginning,
		&session->problems };

	return evidence_hash_start(&run->hash, &hash, &session->error);
}

/* So does the map. */
static void attach_hash_and_map(struct run *run)
{
	struct session *session = &run->session;
	struct reader *reader = run->search ? search_reader(run->search) : NULL;
	unsigned slots = run->search ? search_slots(run->search) : 0;
	const struct content_map_options map = { session->scope.image, session->scope.begin,
		run->position, reader, slots, session->pool };

	if (!session->options->no_content_map)
		run->map = content_map_new(&map);
	if (run->search)
		search_attach(run->search, run->hash, run->map);
}

/* Continues where the checkpoint says. */
static int act_on_checkpoint(struct run *run)
{
	struct session *session = &run->session;
	int status = checkpoint_has_parts(run->checkpoint)
			     ? report_continue(session->report, &session->error)
			     : 0;

	if (status)
		return status;
	progress_resume(session->progress, carving_sums(session->carving)->files,
		clock_seconds() - session->started);
	progress_update(session->progress, session->summary.scanned);
	status = carving_resume(session->carving);
	if (status)
		return carving_failed(run, status);
	checkpoint_loaded(run->checkpoint);
	return 0;
}

/* Nothing is done for the checkpoint's sake before all of it was loaded: it may be damaged, or
 * somebody may have changed it. */
static int finish_resuming(struct run *run)
{
	struct session *session = &run->session;
	struct summary_record *summary = &session->summary;
	int status = checkpoint_load(run->checkpoint, CHECKPOINT_STATE, &session->error);

	summary->resumed = xreallocarray(
		summary->resumed, summary->resumed_count + 1, sizeof(*summary->resumed));
	summary->resumed[summary->resumed_count++] =
		(struct resumption){ time(NULL), run->position };
	if (!status)
		return act_on_checkpoint(run);
	content_map_free(run->map);
	run->map = NULL;
	return status;
}

static int set_up(struct run *run, const char *output)
{
	struct session *session = &run->session;
	const struct run_options *options = session->options;
	const char *cluster_engine = "none";
	double began = session->started; /* a run that is resumed began earlier */
	int status = scope_open(&session->scope, options, session->image_path, true,
		&session->problems, &session->error);

	if (status)
		return status;
	if (signals_caught()) /* the volumes may not all be known: nothing may depend on them */
		return -EINTR;
	run->position = session->scope.begin;
	traits_find(&run->traits, options, session->scope.evidence);
	if ((options->resume && (status = begin_resuming(run, output))) ||
		(!options->cluster && (status = session_open_pool(session, options->threads))) ||
		(status = open_search(run)) || (status = open_candidates(run)) ||
		(!options->resume && (status = begin_output(run, output))) ||
		(status = begin_cluster(run, output, &cluster_engine)))
		return status;
	checkpoint_begin(run->checkpoint);
	if ((status = start_hash(run)) || (status = open_report(run, cluster_engine)))
		return status;
	attach_hash_and_map(run);
	session_start_carving(session, run_checkpoint_meanwhile, run);
	pieces_begin(run);
	checkpoint_begin_parts(run->checkpoint);
	session->summary.seconds_start = clock_seconds() - began;
	return options->resume ? finish_resuming(run) : 0;
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Nothing that was found is dropped silently: what an early end leaves undecided is counted. */
static void finish_summary(struct run *run)
{
	struct session *session = &run->session;
	struct summary_record *summary = &session->summary;
	const struct cluster *cluster = session->options->cluster;
	struct error error = { 0 };

	if (run->search) {
		if (search_reader(run->search))
			scope_note_unread(&session->scope, search_unreadable(run->search));
		search_waits(run->search, &summary->seconds_read_wait, &summary->seconds_scan_wait);
		summary->engine_count = search_shares(run->search, &summary->engines);
	}
	if (content_map_finish(run->map, scope_unreadable(&session->scope), session->output_dir,
		    &summary->content, &error) &&
		!session->error.code)
		session->error = error;
	if (run->candidates)
		tally_add_many(
			&summary->skipped, SKIPPED_BY_END, candidates_waiting(run->candidates), 0);
	if (!cluster)
		return;
	summary->seconds_scan_wait = run->cluster_wait;
	summary->ranks = xcalloc(cluster->count, sizeof(*summary->ranks));
	summary->rank_count = cluster->count;
	for (unsigned rank = 0; rank < cluster->count; rank++)
		cluster->spent(rank, &summary->ranks[rank]);
}

/* What was done for files in pieces is done again, by the last checkpoint. */
static void stop_early(struct run *run)
{
	if (!run->has_ended && carving_flush(run->session.carving, NULL) == 0)
		checkpoint_write_last(run->checkpoint);
	carving_cancel(run->session.carving);
}

static void close_run(struct run *run)
{
	if (run->cluster_begun)
		run->session.options->cluster->end();
	session_stop_carving(&run->session);
	search_close(run->search);
	sift_free(run->sift);
	assembler_free(run->assembler);
	pool_free(run->passes_pool);
	candidates_free(run->candidates);
	traits_free(&run->traits);
	session_close(&run->session);
}

int run_carve(const struct run_options *options, const char *image_path, const char *output,
	struct run_sums *sums)
{
	struct run run = { 0 };
	struct session *session = &run.session;
	int status, code;

	session_init(session, options, image_path);
	status = set_up(&run, output);
	if (!status)
		status = carve(&run);
	scope_end_volumes(&session->scope, status || signals_caught());
	evidence_hash_beginning(run.hash, run.position, true, &run.beginning);
	evidence_hash_finish(run.hash, !run.search || search_is_complete(run.search), status != 0);
	run.hash = NULL;
	if (session->carving && (status || signals_caught()))
		stop_early(&run);
	session_fail(session, status);
	finish_summary(&run);
	code = session_report(session);
	if (checkpoint_end(run.checkpoint, session->whole) && session->carving)
		log_info(
			"to resume: burin carve --resume %s", output_dir_path(session->output_dir));
	if (run.reported_again && session->whole)
		report_remove_old(session->output_dir);
	if (sums) {
		session_sums(session, sums);
		sums->unsuited = run.search && search_is_unsuited(run.search);
		snprintf(sums->kernel, sizeof(sums->kernel), "%s",
			run.search ? search_kernel(run.search) : "");
	}
	close_run(&run);
	return code;
}
