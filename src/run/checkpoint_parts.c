/* THE TABLE of what a checkpoint holds: a row for each part of the run, in the order of the file. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "carve/checker_process.h"
#include "run/run_parts.h"
#include "run/signals.h"

#define RESUMPTIONS_MAX 1000000

static uint64_t image_size(const struct run *run)
{
	return image_info(run->session.scope.image)->size;
}

/* ---- sums ---------------------------------------------------------------------------------- */

static void save_position(void *context, struct codec_writer *writer)
{
	const struct run *run = context;

	codec_put(writer, run->position);
	codec_put(writer, run->session.summary.hits);
}

static int load_position(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;
	uint64_t begin = run->session.scope.begin;

	(void)error;
	run->position = codec_get(reader, image_size(run));
	run->session.summary.hits = codec_get(reader, UINT64_MAX);
	if (run->position < begin)
		codec_fail(reader);
	else
		run->session.summary.scanned = run->position - begin;
	return 0;
}

static void save_beginning(void *context, struct codec_writer *writer)
{
	struct run *run = context;

	evidence_hash_beginning(run->hash, run->position, false, &run->beginning);
	codec_put(writer, run->beginning.len);
	codec_put_text(writer, run->beginning.hashes.md5);
	codec_put_text(writer, run->beginning.hashes.sha1);
	codec_put_text(writer, run->beginning.hashes.sha256);
}

static int load_beginning(void *context, struct codec_reader *reader, struct error *error)
{
	struct evidence_beginning *beginning = &((struct run *)context)->beginning;
	struct hashes *hashes = &beginning->hashes;

	(void)error;
	beginning->len = codec_get(reader, ((struct run *)context)->position);
	codec_copy_text(reader, hashes->md5, sizeof(hashes->md5));
	codec_copy_text(reader, hashes->sha1, sizeof(hashes->sha1));
	codec_copy_text(reader, hashes->sha256, sizeof(hashes->sha256));
	return 0;
}

static void save_time(void *context, struct codec_writer *writer)
{
	const struct run *run = context;

	codec_put(writer, (uint64_t)((clock_seconds() - run->session.started) * 1000));
}

static int load_time(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;

	(void)error;
	run->session.started -= (double)codec_get(reader, INT64_MAX) / 1000;
	return 0;
}

static void save_tallies(void *context, struct codec_writer *writer)
{
	const struct run *run = context;

	tallies_save(&run->session.summary.rejected, writer);
	tallies_save(&run->session.summary.skipped, writer);
	tallies_save(&run->session.summary.by_type, writer);
	tallies_save(&run->session.summary.by_kind, writer);
}

static int load_tallies(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;

	(void)error;
	tallies_load(&run->session.summary.rejected, reader);
	tallies_load(&run->session.summary.skipped, reader);
	tallies_load(&run->session.summary.by_type, reader);
	tallies_load(&run->session.summary.by_kind, reader);
	return 0;
}

static void save_unread(void *context, struct codec_writer *writer)
{
	const struct run *run = context;

	ranges_save(&run->session.scope.unread, run->position, writer);
}

static int load_unread(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;

	(void)error;
	ranges_load(&run->session.scope.unread, image_size(run), reader);
	return 0;
}

static void save_problems(void *context, struct codec_writer *writer)
{
	const struct run *run = context;

	problems_save(&run->session.problems, writer);
}

static int load_problems(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;

	(void)error;
	problems_load(&run->session.problems, reader);
	return 0;
}

static void save_resumptions(void *context, struct codec_writer *writer)
{
	const struct run *run = context;
	const struct summary_record *summary = &run->session.summary;

	codec_put(writer, summary->resumed_count);
	for (size_t i = 0; i < summary->resumed_count; i++) {
		codec_put(writer, (uint64_t)summary->resumed[i].at);
		codec_put(writer, summary->resumed[i].position);
	}
}

static int load_resumptions(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;
	struct summary_record *summary = &run->session.summary;
	uint64_t count = codec_get(reader, RESUMPTIONS_MAX);

	(void)error;
	summary->resumed = xcalloc(count, sizeof(*summary->resumed));
	for (; summary->resumed_count < count && codec_ok(reader); summary->resumed_count++) {
		struct resumption *resumption = &summary->resumed[summary->resumed_count];

		resumption->at = (int64_t)codec_get(reader, UINT64_MAX);
		resumption->position = codec_get(reader, INT64_MAX);
	}
	return 0;
}

/* ---- reports ------------------------------------------------------------------------------- */

static void save_report(void *context, struct codec_writer *writer)
{
	const struct run *run = context;

	report_save(run->session.report, carving_sums(run->session.carving)->files, writer);
}

static int load_report(void *context, struct codec_reader *reader, struct error *error)
{
	struct session *session = &((struct run *)context)->session;

	return report_reopen(
		&session->report, session->output_dir, &session->record, reader, error);
}

/* ---- stages -------------------------------------------------------------------------------- */

static void save_candidates(void *context, struct codec_writer *writer)
{
	candidates_save(((struct run *)context)->candidates, writer);
}

static int load_candidates(void *context, struct codec_reader *reader, struct error *error)
{
	return candidates_load(((struct run *)context)->candidates, reader, error);
}

static void save_map(void *context, struct codec_writer *writer)
{
	content_map_save(((struct run *)context)->map, writer);
}

static int load_map(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;

	(void)error;
	content_map_load(run->map, run->position, signals_interrupted, reader);
	return 0;
}

static void save_carving(void *context, struct codec_writer *writer)
{
	carving_save(((struct run *)context)->session.carving, writer);
}

static int load_carving(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;

	(void)error;
	carving_load(run->session.carving, reader);
	return 0;
}

static void save_lost(void *context, struct codec_writer *writer)
{
	const struct run *run = context;

	lost_processes_save(run->session.lost, writer);
}

static int load_lost(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;

	(void)error;
	lost_processes_load(run->session.lost, reader);
	return 0;
}

static void save_pieces(void *context, struct codec_writer *writer)
{
	const struct run *run = context;

	if (run->assembler)
		assembler_save(run->assembler, writer);
}

static int load_pieces(void *context, struct codec_reader *reader, struct error *error)
{
	struct run *run = context;

	(void)error;
	if (run->assembler)
		assembler_load(run->assembler, checker_keep_extension, reader);
	return 0;
}

const struct checkpoint_part run_checkpoint_parts[] = {
	{ "position", CHECKPOINT_SUMS, save_position, load_position },
	{ "beginning of the evidence", CHECKPOINT_SUMS, save_beginning, load_beginning },
	{ "time", CHECKPOINT_SUMS, save_time, load_time },
	{ "tallies", CHECKPOINT_SUMS, save_tallies, load_tallies },
	{ "unread ranges", CHECKPOINT_SUMS, save_unread, load_unread },
	{ "problems", CHECKPOINT_SUMS, save_problems, load_problems },
	{ "resumptions", CHECKPOINT_SUMS, save_resumptions, load_resumptions },
	{ "reports", CHECKPOINT_REPORT, save_report, load_report },
	{ "candidates", CHECKPOINT_STATE, save_candidates, load_candidates },
	{ "content map", CHECKPOINT_STATE, save_map, load_map },
	{ "carving stage", CHECKPOINT_STATE, save_carving, load_carving },
	{ "lost processes", CHECKPOINT_STATE, save_lost, load_lost },
	{ "files in pieces", CHECKPOINT_STATE, save_pieces, load_pieces },
	{ NULL, CHECKPOINT_STATE, NULL, NULL },
};

/* ---- writing one --------------------------------------------------------------------------- */

/* A checkpoint counts as reported what the reports hold: they are flushed before. */
int run_checkpoint_if_due(struct run *run, struct error *error)
{
	int status;

	if (!checkpoint_is_due(run->checkpoint))
		return 0;
	status = carving_flush(run->session.carving, error);
	if (!status)
		checkpoint_write(run->checkpoint, run->position);
	return status;
}

void run_checkpoint_meanwhile(void *run)
{
	run_checkpoint_if_due(run, NULL);
}
