/*
 * Checkpoints: everything that the rest of a run depends on, as it is between two steps of the
 * conductor's thread. Nothing is waited for: checks and writes under way are saved as still to do,
 * and only the report is brought up to what is counted as reported. So the pipeline does not feel
 * it. What a large state costs is kept to a hundredth of the time by making the next one later.
 *
 * The order of a checkpoint: what run_left_put writes; the traits, by which another image, rule set
 * or option is told; then, when the reports had been begun, what save_state writes, which
 * run/run_resume.c reads in the same order.
 */
#include "run/run_state.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/version.h"
#include "run/carve_options.h"

#define SAMPLE_LEN ((size_t)65536)
/* The pause before the next is at least so many times as long as the last took, when that was more
 * than a moment. */
#define PAUSE_FACTOR 100
#define MOMENT 0.05

/* ---- traits -------------------------------------------------------------------------------- */

/* Takes over both. */
static void add(struct run_traits *traits, char *name, char *value)
{
	assert(traits->count < sizeof(traits->names) / sizeof(*traits->names));
	traits->names[traits->count] = name;
	traits->values[traits->count++] = value;
}

static void add_number(struct run_traits *traits, const char *name, uint64_t number)
{
	add(traits, xstrdup(name), xasprintf("%" PRIu64, number));
}

/* A hash of a piece of the image; "" when it can't be read now. */
static char *sample(struct image *image, uint64_t offset)
{
	uint64_t left = image_info(image)->size - offset;
	size_t len = left < SAMPLE_LEN ? (size_t)left : SAMPLE_LEN;
	struct hasher *hasher = hasher_new(HASH_SHA256);
	uint8_t *bytes = xmalloc(len);
	struct hashes hashes = { 0 };

	if (image_read_at(image, offset, bytes, len) == 0) {
		hasher_update(hasher, bytes, len);
		hasher_finish(hasher, &hashes);
	}
	hasher_free(hasher);
	free(bytes);
	return xstrdup(hashes.sha256);
}

static void add_image(struct run_traits *traits, struct image *image)
{
	const struct image_info *info = image_info(image);
	uint64_t last = info->size > SAMPLE_LEN ? info->size - SAMPLE_LEN : 0;

	add(traits, xstrdup("the image's format"), xstrdup(info->format));
	add_number(traits, "the image's size", info->size);
	add(traits, xstrdup("the image's stored MD5"), xstrdup(info->stored_md5));
	add(traits, xstrdup("the image's stored SHA-1"), xstrdup(info->stored_sha1));
	add(traits, xstrdup("the image's beginning"), sample(image, 0));
	add(traits, xstrdup("the image's middle"), sample(image, last / 2));
	add(traits, xstrdup("the image's end"), sample(image, last));
}

static void add_rules(struct run_traits *traits, const struct rules *rules)
{
	struct hasher *hasher = hasher_new(HASH_SHA256);
	struct hashes hashes;

	for (uint32_t r = 0; r < rules->count; r++)
		hasher_update(hasher, rules->rules[r].name, strlen(rules->rules[r].name) + 1);
	hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	add(traits, xstrdup("the content of the rule files"), xstrdup(rules->sha256));
	add(traits, xstrdup("the format of the rules"), xstrdup(rules_format_name(rules->format)));
	add(traits, xstrdup("the choice of types (--types)"), xstrdup(hashes.sha256));
	add_number(traits, "the number of patterns", rules->patterns.count);
}

static void add_options(struct run_traits *traits, const struct run_options *options)
{
	for (const struct option_row *row = carve_option_rows; row->name; row++)
		if (row->result)
			add(traits, xasprintf("--%s", row->name), option_text(row, options));
	add(traits, xstrdup("--known and --alert"), hash_sets_summary(options->sets));
}

void run_find_traits(struct run *run)
{
	struct run_traits *traits = &run->traits;

	add(traits, xstrdup("burin's version"), xstrdup(burin_version));
	add_image(traits, run->evidence);
	add_rules(traits, run->options->rules);
	add_options(traits, run->options);
}

void run_traits_free(struct run_traits *traits)
{
	while (traits->count) {
		free(traits->names[--traits->count]);
		free(traits->values[traits->count]);
	}
}

/* ---- saving -------------------------------------------------------------------------------- */

static void save_resumptions(const struct summary_record *summary, struct codec_writer *writer)
{
	codec_put(writer, summary->resumed_count);
	for (size_t i = 0; i < summary->resumed_count; i++) {
		codec_put(writer, (uint64_t)summary->resumed[i].at);
		codec_put(writer, summary->resumed[i].position);
	}
}

static void save_state(struct run *run, struct codec_writer *writer)
{
	uint64_t files, bytes;

	codec_put(writer, run->position);
	codec_put(writer, run->summary.hits);
	codec_put(writer, (uint64_t)((clock_seconds() - run->started) * 1000));
	tallies_save(&run->summary.rejected, writer);
	tallies_save(&run->summary.skipped, writer);
	tallies_save(&run->summary.by_type, writer);
	ranges_save(&run->unread, run->position, writer);
	codec_put(writer, run->problem_count);
	for (size_t i = 0; i < run->problem_count; i++)
		codec_put_text(writer, run->problems[i]);
	save_resumptions(&run->summary, writer);
	carving_sums(run->carving, &files, &bytes);
	report_save(run->report, files, writer);
	pairing_save(run->pairing, writer);
	if (run->order)
		scalpel_order_save(run->order, writer);
	codec_put(writer, run->has_pending);
	if (run->has_pending)
		candidate_save(&run->pending, writer);
	run_save_map(run, writer);
	carving_save(run->carving, writer);
}

static int save(struct run *run, int fd)
{
	struct codec_writer *writer = codec_writer_new(fd);

	run_left_put(writer, false, run->record.image_path, run->options->arguments);
	codec_put(writer, run->traits.count);
	for (size_t i = 0; i < run->traits.count; i++)
		codec_put_text(writer, run->traits.values[i]);
	codec_put(writer, run->carving != NULL);
	if (run->carving)
		save_state(run, writer);
	return codec_writer_close(writer);
}

/* Without a new one the last one stays, so this is no reason to end the run. */
static void warn(struct run *run, int status)
{
	if (!run->checkpoint.warned)
		log_warn("%s: no checkpoint could be written: %s; %s", run->record.image_path,
			strerror(-status),
			run->carving ? "the last one stays" : "the run can't be resumed");
	run->checkpoint.warned = true;
}

static void write_checkpoint(struct run *run, bool sync)
{
	int fd = checkpoint_file_begin(run->checkpoint.checkpoint_file), status;

	if (fd == -EBUSY)
		return;
	if (fd < 0)
		return warn(run, fd);
	if (checkpoint_file_wait(run->checkpoint.checkpoint_file))
		warn(run, checkpoint_file_wait(run->checkpoint.checkpoint_file));
	status = save(run, fd);
	if (!status)
		status = fifo_store_status(run->store, NULL);
	if (!status)
		return checkpoint_file_commit(run->checkpoint.checkpoint_file, sync);
	checkpoint_file_drop(run->checkpoint.checkpoint_file);
	warn(run, status);
}

void run_begin_checkpoints(struct run *run)
{
	if (!run->options->checkpoint_interval)
		return;
	run->checkpoint.checkpoint_file = checkpoint_file_new(run->output_dir);
	run->checkpoint.next = clock_seconds() + (double)run->options->checkpoint_interval / 1000;
	if (!run->options->resume)
		write_checkpoint(run, false);
}

int run_pause(struct run *run, struct error *error)
{
	struct run_checkpoints *checkpoint = &run->checkpoint;
	double from = clock_seconds(), took, pause;
	int status;

	if (!checkpoint->checkpoint_file || checkpoint->loading || from < checkpoint->next ||
		checkpoint_file_is_busy(checkpoint->checkpoint_file))
		return 0;
	status = carving_flush(run->carving, error);
	if (status)
		return status;
	write_checkpoint(run, true);
	checkpoint->synced = true;
	took = clock_seconds() - from;
	pause = (double)run->options->checkpoint_interval / 1000;
	if (took > MOMENT && pause < took * PAUSE_FACTOR)
		pause = took * PAUSE_FACTOR;
	checkpoint->next = from + took + pause;
	checkpoint->spent += took;
	log_debug("%s: checkpoint at byte %" PRIu64 ", %.1f ms", run->record.image_path,
		run->position, took * 1000);
	return 0;
}

void run_last_checkpoint(struct run *run)
{
	if (!run->checkpoint.checkpoint_file || run->checkpoint.loading ||
		fifo_store_status(run->store, NULL))
		return;
	checkpoint_file_wait(run->checkpoint.checkpoint_file);
	run->checkpoint.warned = true; /* of what ends the run more is said elsewhere */
	if (carving_flush(run->carving, NULL) == 0)
		write_checkpoint(run, run->checkpoint.synced);
	checkpoint_file_wait(run->checkpoint.checkpoint_file);
}

bool run_end_checkpoints(struct run *run, bool finished)
{
	struct run_checkpoints *checkpoint = &run->checkpoint;
	bool resumable =
		checkpoint->checkpoint_file && !finished && (run->carving || run->options->resume);

	if (checkpoint->checkpoint_file && !resumable)
		checkpoint_file_remove(checkpoint->checkpoint_file, finished && checkpoint->synced);
	checkpoint_file_free(checkpoint->checkpoint_file);
	checkpoint->checkpoint_file = NULL;
	return resumable;
}
