/* Takes up a run where its last checkpoint left it (run/run_checkpoint.c). What the checkpoint says is
 * held against what is there now, and against what can be, before it is used. */
#include "run/run_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#define MOST_TEXT ((size_t)1 << 16)
#define MOST_RESUMPTIONS 1000000

static int damaged(struct run *run)
{
	return error_set(&run->error, EXIT_IO, EBADMSG,
		"the checkpoint in %s is damaged; carve again into another folder",
		output_dir_path(run->output_dir));
}

/* "" stands for what could not be read, then or now. */
static bool differs(const char *was, const char *is)
{
	return *was && *is && strcmp(was, is) != 0;
}

static int compare_traits(struct run *run, struct codec_reader *reader)
{
	const struct run_traits *traits = &run->traits;
	uint64_t count = codec_get(reader, UINT64_MAX);
	int status = 0;

	for (size_t i = 0; i < traits->count && !status && codec_ok(reader); i++) {
		char *was = codec_get_text(reader, MOST_TEXT);

		if (codec_ok(reader) && (differs(was, traits->values[i]) || count != traits->count))
			status = error_set(&run->error, EXIT_USAGE, EINVAL,
				"the run in %s can't be resumed: %s differs (it was '%s' and is "
				"'%s')",
				output_dir_path(run->output_dir), traits->names[i], was,
				traits->values[i]);
		free(was);
	}
	return status;
}

static void add_resumption(struct summary_record *summary, int64_t at, uint64_t position)
{
	summary->resumed = xreallocarray(
		summary->resumed, summary->resumed_count + 1, sizeof(*summary->resumed));
	summary->resumed[summary->resumed_count++] = (struct resumption){ at, position };
}

static void load_resumptions(struct run *run, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, MOST_RESUMPTIONS);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		int64_t at = (int64_t)codec_get(reader, UINT64_MAX);

		add_resumption(&run->summary, at, codec_get(reader, INT64_MAX));
	}
}

static void load_problems(struct run *run, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT64_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++)
		run_add_problem(run, codec_get_text(reader, MOST_TEXT));
}

/* Up to where the reports come in. */
static void load_sums(struct run *run, struct codec_reader *reader)
{
	uint64_t size = image_info(run->image)->size;

	run->position = codec_get(reader, size);
	run->summary.hits = codec_get(reader, UINT64_MAX);
	run->started -= (double)codec_get(reader, INT64_MAX) / 1000;
	tallies_load(&run->summary.rejected, reader);
	tallies_load(&run->summary.skipped, reader);
	tallies_load(&run->summary.by_type, reader);
	ranges_load(&run->unread, size, reader);
	load_problems(run, reader);
	load_resumptions(run, reader);
	if (run->position < run->range_start)
		return codec_fail(reader);
	run->summary.scanned = run->position - run->range_start;
}

int run_begin_resuming(struct run *run, const char *output)
{
	struct run_checkpoints *checkpoint = &run->checkpoint;
	struct run_left left = { 0 };
	int status = output_dir_reopen(&run->output_dir, output, &run->error);

	checkpoint->loading = true;
	if (status)
		return status;
	checkpoint->fd = run_left_open(
		output_dir_fd(run->output_dir), output, &checkpoint->reader, &run->error);
	if (checkpoint->fd == -ENOENT)
		return error_set(&run->error, EXIT_USAGE, ENOENT, "%s holds no checkpoint", output);
	if (checkpoint->fd < 0)
		return checkpoint->fd;
	run_left_get(&left, checkpoint->reader);
	run_left_free(&left);
	status = compare_traits(run, checkpoint->reader);
	checkpoint->begun = codec_get_flag(checkpoint->reader);
	if (!status && checkpoint->begun)
		load_sums(run, checkpoint->reader);
	if (!status && !codec_ok(checkpoint->reader))
		status = damaged(run);
	return status;
}

int run_reopen_report(struct run *run)
{
	struct codec_reader *reader = run->checkpoint.reader;
	int status;

	if (!run->checkpoint.begun) { /* what there is of them was begun behind the checkpoint */
		for (size_t i = 0; i < REPORT_PARTS; i++)
			output_dir_discard(run->output_dir, reporters[i]->file_name);
		return report_open(&run->report, run->output_dir, &run->record, &run->error);
	}
	status = report_reopen(&run->report, run->output_dir, &run->record, reader, &run->error);
	return status || codec_ok(reader) ? status : damaged(run);
}

static int load_state(struct run *run, struct codec_reader *reader)
{
	uint64_t size = image_info(run->image)->size, files, bytes;
	int status;

	pairing_load(run->pairing, reader);
	if (run->order)
		scalpel_order_load(run->order, size, reader);
	run->has_pending = codec_get_flag(reader);
	if (run->has_pending)
		candidate_load(&run->pending, run->options->rules, size, reader);
	run_load_map(run, reader);
	if (!codec_ok(reader))
		return damaged(run);
	status = carving_load(run->carving, reader);
	if (status)
		run->error = *carving_error(run->carving);
	else if (!codec_at_end(reader))
		status = damaged(run);
	carving_sums(run->carving, &files, &bytes);
	progress_resume(run->progress, files, clock_seconds() - run->started);
	return status ? status : fifo_store_status(run->store, &run->error);
}

int run_finish_resuming(struct run *run)
{
	struct run_checkpoints *checkpoint = &run->checkpoint;
	int status = 0;

	if (checkpoint->begun)
		status = load_state(run, checkpoint->reader);
	else
		carving_remove_leftovers(run->carving);
	add_resumption(&run->summary, time(NULL), run->position);
	run_end_resuming(run);
	checkpoint->loading = status != 0;
	progress_update(run->progress, run->summary.scanned);
	return status;
}

void run_end_resuming(struct run *run)
{
	if (!run->checkpoint.reader)
		return;
	codec_reader_close(run->checkpoint.reader);
	run->checkpoint.reader = NULL;
	close(run->checkpoint.fd);
}
