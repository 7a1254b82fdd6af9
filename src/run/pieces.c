/*
 * Files in pieces, the end of a run: what the assembler has put together is written, and then the
 * reports are written a second time, in order, each file with one record. The record of a file that
 * broke off gives way to that of the file in pieces, and so do those of files inside a complete one.
 *
 * The reports of the scan stay as they are until the new ones are complete. Killed at any time, the
 * run is resumed from a checkpoint that knows only the old ones, and does this again: the last one is written before.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/confined.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "carve/copy.h"
#include "evidence/extent_image.h"
#include "report/report_reader.h"
#include "run/cluster.h"
#include "run/run_parts.h"
#include "run/signals.h"
#include "scan/scan.h"

static void note_decision(void *context, const struct decision *decision)
{
	assembler_note(context, decision);
}

/* Whether the scan uses GPUs, or would: where the run was resumed after its end, or the workers of a cluster search. */
static bool uses_gpu(const struct run *run)
{
	const struct run_options *options = run->session.options;
	const struct scan_engine *engine;
	struct error unused = { 0 };
	char reason[256];

	if (run->search)
		return search_will_use(run->search, "gpu");
	if (options->cluster)
		return options->engine && strcmp(options->engine, "gpu") == 0;
	engine = scan_engine_pick(options->engine, reason, sizeof(reason), &unused);
	return engine && strcmp(engine->name, "gpu") == 0;
}

static void note_pass(void *context, const struct assembler *assembler)
{
	const char *next = assembler_next_pass(assembler);

	log_debug("files in pieces: %s%s", next ? "the next pass is " : "all passes were made",
		next ? next : "");
	if (!next)
		checkpoint_hasten(((struct run *)context)->checkpoint); /* the last one */
	run_checkpoint_meanwhile(context);
}

/* The workers of a cluster are idle by then: theirs are not the threads that the coordinator has for their answers. */
static struct pool *passes_pool(struct run *run)
{
	const struct run_options *options = run->session.options;

	if (options->cluster)
		run->passes_pool = session_pool_new(
			options->threads ? options->threads : options->cluster->threads);
	return run->passes_pool ? run->passes_pool : run->session.pool;
}

void pieces_begin(struct run *run)
{
	struct session *session = &run->session;
	const struct run_options *options = session->options;
	struct assemble_options assemble = {
		.image = session->scope.image,
		.volumes = session->scope.volumes,
		.rules = options->rules,
		.level = (enum assemble_level)options->fragments,
		.strict = options->decide.strict,
		.budget = options->fragment_budget,
		.tool = uses_gpu(run) ? search_gpu : NULL,
		.devices = options->gpu.devices,
		.kept_text = run->search ? search_kept_text(run->search) : NULL,
		.interrupted = signals_interrupted,
		.lost = session->lost,
		.on_pass = note_pass,
		.context = run,
	};

	if (options->fragments == FRAGMENTS_OFF || options->scalpel)
		return;
	assemble.pool = passes_pool(run);
	run->assembler = assembler_new(&assemble);
	carving_watch_decisions(session->carving, note_decision, run->assembler);
}

/* ---- what was put together ----------------------------------------------------------------- */

struct pieces {
	struct run *run;
	const struct assembled *results;
	size_t count, next;
	struct file_record *records; /* of the results */
	struct ranges hidden;        /* by complete ones */
	struct strbuf discarded;     /* paths of files that gave way, a zero after each */
	struct file_sums sums;       /* of what the new reports have */
	struct tallies by_type, by_kind, skipped;
};

/* The verified parts of a complete file in pieces hide what starts there. */
static void hide_inside(struct pieces *pieces, const struct assembled *found)
{
	const struct ranges *unverified = &found->outcome.unverified;
	uint64_t at = 0; /* in the file */

	for (uint32_t i = 0; i < found->run_count; i++) {
		const struct range *run = &found->runs[i];

		for (uint64_t done = 0; done < run->length;) {
			const struct range *next = ranges_after(unverified, at + done);
			uint64_t len = run->length - done;

			if (next && next->offset <= at + done) {
				uint64_t rest = next->offset + next->length - (at + done);

				done += rest < len ? rest : len;
				continue;
			}
			if (next && next->offset - (at + done) < len)
				len = next->offset - (at + done);
			ranges_add(&pieces->hidden, run->offset + done, len);
			done += len;
		}
		at += run->length;
	}
}

static bool is_hidden(const struct pieces *pieces, const struct file_record *file)
{
	return !pieces->run->session.options->decide.nested &&
	       ranges_overlap(&pieces->hidden, file->offset, 1);
}

/* What the reader could not read of a file that is not read again. */
static void find_unreadable(const struct ranges *unreadable, struct file_record *record)
{
	for (uint32_t i = 0; i < record->run_count; i++) {
		const struct range *run = &record->runs[i];
		const struct range *first = ranges_after(unreadable, run->offset);
		uint64_t bytes = ranges_overlap(unreadable, run->offset, run->length);

		if (bytes && !record->unreadable)
			record->unreadable_at =
				first->offset > run->offset ? first->offset : run->offset;
		record->unreadable += bytes;
	}
}

/* Writes the results' files, or in a dry run hashes them where that is needed. */
static int write_files(struct pieces *pieces, struct error *error)
{
	struct session *session = &pieces->run->session;
	const struct run_options *options = session->options;
	const struct ranges *unreadable = scope_unreadable(&session->scope);
	struct output_dir *output_dir = options->dry_run ? NULL : session->output_dir;
	struct copier copier;
	atomic_bool cancel = false;
	int status = 0;

	copier_init(&copier, options->hash_mask, options->sets);
	for (size_t i = 0; i < pieces->count && !status && !signals_caught(); i++) {
		struct file_record *record = &pieces->records[i];

		if (options->dry_run && !options->sets) {
			find_unreadable(unreadable, record);
		} else {
			record->written = output_dir != NULL;
			if (output_dir)
				output_dir_discard(output_dir, record->path);
			status = copy_file(&copier, session->scope.evidence, output_dir, record,
				&cancel, error);
		}
		record_note_unreadable(record);
	}
	copier_free(&copier);
	if (status == -ECANCELED) {
		*error = (struct error){ 0 };
		return -EINTR;
	}
	return status ? status : signals_caught() ? -EINTR : 0;
}

static void build_records(struct pieces *pieces)
{
	struct record_builder *builder = carving_record_builder(pieces->run->session.carving);

	pieces->records = xcalloc(pieces->count, sizeof(*pieces->records));
	for (size_t i = 0; i < pieces->count; i++) {
		const struct assembled *found = &pieces->results[i];

		record_builder_build_pieces(builder, found->rule, found->runs, found->run_count,
			&found->outcome, &found->assembly, &pieces->records[i]);
		if (found->outcome.verdict == CARVE_COMPLETE)
			hide_inside(pieces, found);
	}
}

/* ---- the reports --------------------------------------------------------------------------- */

static int add_record(struct pieces *pieces, struct report *again, const struct file_record *record,
	struct error *error)
{
	file_sums_add(&pieces->sums, record);
	tally_add(&pieces->by_type, record->type, record->length);
	tally_add(&pieces->by_kind, record->kind, record->length);
	return report_add(again, record, error);
}

/* Whether the offset in the evidence comes before the other in what was searched, in whose order the
 * reports are. */
static bool is_before(const struct pieces *pieces, uint64_t offset, uint64_t other)
{
	const struct image *image = pieces->run->session.scope.image;
	uint64_t at, other_at, len;

	if (!extent_image_find(image, offset, &at, &len))
		at = offset;
	if (!extent_image_find(image, other, &other_at, &len))
		other_at = other;
	return at < other_at;
}

/* The results that come before this offset and rule. */
static int add_results(struct pieces *pieces, struct report *again, uint64_t offset, uint32_t rule,
	struct error *error)
{
	int status = 0;

	for (; pieces->next < pieces->count && !status; pieces->next++) {
		const struct file_record *record = &pieces->records[pieces->next];

		if (is_before(pieces, offset, record->offset) ||
			(record->offset == offset && record->rule > rule))
			break;
		if (record->left_out)
			tally_add(&pieces->skipped, SKIPPED_KNOWN, 0);
		else
			status = add_record(pieces, again, record, error);
	}
	return status;
}

static bool is_replaced(const struct pieces *pieces, const struct file_record *file)
{
	const struct file_record *last = pieces->next ? &pieces->records[pieces->next - 1] : NULL;

	return last && last->offset == file->offset && last->rule == file->rule;
}

static int add_old(struct pieces *pieces, struct report *again, const struct file_record *file,
	struct error *error)
{
	int status = add_results(pieces, again, file->offset, file->rule, error);
	bool replaced = is_replaced(pieces, file);

	if (status)
		return status;
	if (!replaced && !is_hidden(pieces, file))
		return add_record(pieces, again, file, error);
	if (!replaced)
		tally_add(&pieces->skipped, "inside a complete file", 0);
	strbuf_bytes(&pieces->discarded, file->path, strlen(file->path) + 1);
	return 0;
}

static int fill_report(struct pieces *pieces, struct report *again, struct error *error)
{
	struct report_reader *reader = NULL;
	struct file_record file;
	int status = report_reader_open(&reader, output_dir_fd(pieces->run->session.output_dir),
		jsonl_reporter.file_name, error);

	while (!status && (status = report_reader_next(reader, &file, error)) > 0)
		status = add_old(pieces, again, &file, error);
	if (!status)
		status = add_results(pieces, again, UINT64_MAX, UINT32_MAX, error);
	report_reader_close(reader);
	return status;
}

static void discard_files(struct pieces *pieces)
{
	const struct strbuf *paths = &pieces->discarded;

	/* Without any there are no bytes, either. */
	for (size_t at = 0; at < paths->len; at += strlen(paths->bytes + at) + 1)
		output_dir_discard(pieces->run->session.output_dir, paths->bytes + at);
}

static void take_tallies(struct pieces *pieces)
{
	struct summary_record *summary = &pieces->run->session.summary;

	tallies_free(&summary->by_type);
	summary->by_type = pieces->by_type;
	pieces->by_type = (struct tallies){ 0 };
	tallies_free(&summary->by_kind);
	summary->by_kind = pieces->by_kind;
	pieces->by_kind = (struct tallies){ 0 };
	for (size_t i = 0; i < pieces->skipped.count; i++)
		tally_add_many(&summary->skipped, pieces->skipped.items[i].name,
			pieces->skipped.items[i].count, 0);
}

/* From here on no signal ends it: it takes no longer than reading the report. */
static int report_again(struct pieces *pieces, struct error *error)
{
	struct session *session = &pieces->run->session;
	struct report *again = NULL;
	int status = carving_flush(session->carving, error);

	if (!status)
		status = report_open_again(&again, session->output_dir, &session->record, error);
	if (status)
		return status;
	status = fill_report(pieces, again, error);
	if (status) {
		report_drop_again(again);
		return status;
	}
	status = report_replace(session->report, again, error);
	if (status)
		return status;
	session->report = again;
	pieces->run->reported_again = true;
	carving_was_reported(session->carving, again, &pieces->sums);
	take_tallies(pieces);
	discard_files(pieces);
	return 0;
}

static void free_pieces(struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++) {
		free(pieces->records[i].path);
		free(pieces->records[i].runs);
	}
	free(pieces->records);
	ranges_free(&pieces->hidden);
	strbuf_free(&pieces->discarded);
	tallies_free(&pieces->by_type);
	tallies_free(&pieces->by_kind);
	tallies_free(&pieces->skipped);
}

static int report_results(struct run *run)
{
	struct pieces pieces = { .run = run };
	struct session *session = &run->session;
	int status;

	pieces.results = assembler_results(run->assembler, &pieces.count);
	if (!pieces.count)
		return 0;
	run->has_ended = true;
	build_records(&pieces);
	status = write_files(&pieces, &session->error);
	if (!status)
		status = report_again(&pieces, &session->error);
	free_pieces(&pieces);
	return status;
}

/* What was not tried is counted. */
static void count_untried(struct run *run)
{
	struct tallies *skipped = &run->session.summary.skipped;
	uint64_t unfinished = assembler_unfinished(run->assembler);
	uint64_t left_out = assembler_left_out(run->assembler);

	if (unfinished)
		tally_add_many(skipped, "fragment budget", unfinished, 0);
	if (left_out)
		tally_add_many(skipped, "too many broken files", left_out, 0);
}

static void note_crashes(struct run *run, const char *how)
{
	struct session *session = &run->session;
	struct strbuf places = { 0 };
	size_t count;
	const struct crashed *files = assembler_crashed(run->assembler, &count);

	for (size_t i = 0; i < count; i++)
		strbuf_print(&places, "%s%" PRIu64 " (%s)", i ? ", " : "", files[i].start,
			session->options->rules->rules[files[i].rule].name);
	if (count)
		problems_add(&session->problems,
			xasprintf("%zu broken %s left as found, because putting %s together "
				  "crashed: at %s",
				count, count == 1 ? "file is" : "files are",
				count == 1 ? "it" : "them", places.bytes));
	if (*how)
		problems_add(&session->problems,
			xasprintf("no files in pieces were put together, because the process that "
				  "does so %s",
				how));
	strbuf_free(&places);
}

/* All processes of a cluster make them. */
static void deal_passes(struct run *run)
{
	const struct cluster *cluster = run->session.options->cluster;
	struct codec_writer task = { 0 };

	if (!cluster || cluster->count < 2)
		return;
	assembler_end_scan(run->assembler);
	assembler_save_task(run->assembler, &task);
	assembler_set_others(run->assembler, cluster->deal_passes(&task));
	free(task.bytes);
}

/* Returns -EINTR where it was interrupted. how: as for confined_passes_make. */
static int make_passes(struct run *run, char how[CONFINED_HOW_LEN])
{
	int status;

	*how = 0;
	if (!run_has_passes(run))
		return 0;
	deal_passes(run);
	status = passes_make(
		run->assembler, run->session.record.checks_confined, how, &run->session.error);
	if (status == -ENOLINK && signals_caught())
		return -EINTR;
	if (status == -ENOLINK)
		error_set(&run->session.error, EXIT_IO, ENOLINK,
			"another process could not go on with files in pieces; resume the run");
	return status;
}

bool run_has_passes(const struct run *run)
{
	return run->assembler && assembler_has_pass(run->assembler);
}

int run_pieces(struct run *run)
{
	char how[CONFINED_HOW_LEN];
	int status = make_passes(run, how);

	if (status)
		return status == -EINTR ? 0 : status;
	if (!run->assembler || signals_caught())
		return 0;
	status = report_results(run);
	if (status)
		return status;
	/* Not before: a checkpoint is about the time before the reports, and what is counted would be counted again. */
	note_crashes(run, how);
	count_untried(run);
	return 0;
}
