/*
 * Each image is a run of its own (run/run.h) with its own reader, engine and reports; the runs
 * share only the pool of threads that scans chunks, checks candidates and writes files. So the
 * files and reports are the same as if each image were carved alone.
 *
 * In a cluster (run/cluster.h) each process carves whole images as it would alone. The first
 * process hands them out, the largest first, so that no large image starts last and keeps everybody
 * waiting.
 *
 * Folders are named by the order of the list before anything is carved, so names do not depend on
 * which image finishes first.
 */
#include "cli/batch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/batch_summary.h"
#include "cli/command.h"
#include "evidence/image.h"
#include "evidence/inner.h"
#include "report/report.h"
#include "report/report_reader.h"
#include "run/checkpoint.h"
#include "run/cluster.h"
#include "run/problems.h"
#include "run/session.h"

struct batch {
	const struct run_options *options;
	struct batch_item *items;
	size_t *order; /* indexes of items, in the order in which they are started */
	size_t count;
	uint64_t *sizes;        /* of the images, bytes; NULL: nobody has asked */
	struct progress *whole; /* of all images, where several are carved at a time; NULL: none */
	_Atomic size_t next;
	time_t started;
};

/* ---- names --------------------------------------------------------------------------------- */

static bool is_taken(const struct batch *batch, size_t count, const char *folder, const char *name)
{
	if (batch_summary_owns(name))
		return true;
	for (size_t i = 0; i < count; i++)
		if (strcmp(batch->items[i].folder, folder) == 0)
			return true;
	return false;
}

/* OUT/NAME for the next image, with -2, -3 where that is taken. The caller frees it. */
static char *folder_of(
	const struct batch *batch, size_t count, const char *image, const char *output)
{
	char *name = inner_folder_name(image);
	char *folder = xasprintf("%s/%s", output, name);

	for (unsigned number = 2; is_taken(batch, count, folder, strrchr(folder, '/') + 1);
		number++) {
		free(folder);
		folder = xasprintf("%s/%s-%u", output, name, number);
	}
	free(name);
	return folder;
}

/* ---- carving ------------------------------------------------------------------------------- */

static const char *text_in(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static uint64_t number_in(const json_t *object, const char *name)
{
	json_int_t number = json_integer_value(json_object_get(object, name));

	return number > 0 ? (uint64_t)number : 0;
}

static void join_problems(struct run_sums *sums, const json_t *array)
{
	struct problems problems = { 0 };
	const json_t *problem;
	size_t i;

	json_array_foreach((json_t *)array, i, problem) if (json_is_string(problem))
		problems_add(&problems, xstrdup(json_string_value(problem)));
	problems_join(&problems, sums->problem, sizeof(sums->problem));
	problems_free(&problems);
}

/* The sums of a run that an earlier run of the batch has completed, from its report. */
static void read_sums(struct batch_item *item)
{
	char *path = xasprintf("%s/%s", item->folder, jsonl_reporter.file_name);
	struct run_sums *sums = &item->sums;
	struct report_reader *report;
	struct file_record file;

	if (report_reader_open(&report, AT_FDCWD, path, NULL) == 0) {
		const json_t *summary;

		sums->image_size = report_reader_run(report)->image_size;
		while (report_reader_next(report, &file, NULL) > 0)
			;
		summary = report_reader_summary_record(report);
		sums->files = number_in(summary, "files");
		sums->bytes = number_in(summary, "bytes");
		sums->scanned = number_in(summary, "scanned");
		sums->total = json_number_value(
			json_object_get(json_object_get(summary, "seconds"), "total"));
		sums->evidence =
			evidence_state_find(text_in(json_object_get(summary, "evidence"), "state"));
		join_problems(sums, json_object_get(summary, "problems"));
		report_reader_close(report);
	}
	free(path);
}

/* Resumes what an earlier run of the batch left in the folder; does nothing if that was complete. */
static int carve_item(struct run_options *options, struct batch_item *item)
{
	struct checkpoint_header header = { 0 };
	struct error error = { 0 };
	int kind = CHECKPOINT_NONE, code;

	if (options->resume && access(item->folder, F_OK) == 0)
		kind = checkpoint_find(&header, item->folder, &error);
	code = header.exit;
	checkpoint_header_free(&header);
	if (kind < 0) {
		log_error("%s", error.text);
		snprintf(item->sums.problem, sizeof(item->sums.problem), "%.500s", error.text);
		return error.code;
	}
	if (kind == CHECKPOINT_FINISHED) {
		log_info("%s: already complete; its files and reports are in %s", item->image,
			item->folder);
		read_sums(item);
		return code;
	}
	options->resume = kind == CHECKPOINT_RESUMABLE;
	return run_carve(options, item->image, item->folder, &item->sums);
}

/* The next one to start; NULL when there are no more. */
static struct batch_item *next_item(struct batch *batch, size_t *number)
{
	size_t i = signals_caught() ? batch->count : atomic_fetch_add(&batch->next, 1);

	if (i >= batch->count)
		return NULL;
	*number = batch->order[i];
	batch->items[*number].begun = true;
	return &batch->items[*number];
}

/* What can't be opened counts as empty: its run says why. */
static void find_sizes(struct batch *batch)
{
	batch->sizes = xcalloc(batch->count, sizeof(*batch->sizes));
	for (size_t i = 0; i < batch->count; i++) {
		struct image *image;

		if (image_open(&image, batch->items[i].image, NULL))
			continue;
		batch->sizes[i] = image_info(image)->size;
		image_close(image);
	}
}

static void carve_here(struct batch *batch, struct batch_item *item)
{
	struct run_options options = *batch->options;
	struct progress_part part;

	options.progress.label = item->image;
	if (batch->whole) {
		progress_part_begin(&part, batch->whole, batch->sizes[item - batch->items]);
		options.progress.quiet = true; /* one line for all */
		options.progress.listener = &part.listener;
	}
	item->exit = carve_item(&options, item);
	if (batch->whole)
		progress_part_end(&part);
}

static void *carve_some(void *arg)
{
	struct batch *batch = arg;
	struct batch_item *item;
	size_t number;

	while ((item = next_item(batch, &number)))
		carve_here(batch, item);
	return NULL;
}

/* ---- in a cluster -------------------------------------------------------------------------- */

/* The thread that feeds images to another process. */
struct share {
	struct batch *batch;
	unsigned rank;
	pthread_t thread;
	bool started;
};

static void *carve_elsewhere(void *arg)
{
	const struct share *share = arg;
	struct batch_item *item;
	size_t number;

	while ((item = next_item(share->batch, &number)))
		item->exit = the_cluster->carve(share->rank, number, &item->sums);
	return NULL;
}

static void carve_with_others(struct batch *batch)
{
	unsigned count = the_cluster->count;
	struct share *shares = xcalloc(count, sizeof(*shares));

	for (unsigned rank = 1; rank < count; rank++) {
		struct share *share = &shares[rank];

		*share = (struct share){ .batch = batch, .rank = rank };
		share->started = !pthread_create(&share->thread, NULL, carve_elsewhere, share);
	}
	carve_some(batch);
	for (unsigned rank = 1; rank < count; rank++)
		if (shares[rank].started)
			pthread_join(shares[rank].thread, NULL);
	the_cluster->end();
	free(shares);
}

/* Carves the images that the first process assigns to this one. */
static void carve_for_another(struct batch *batch)
{
	size_t number;

	while (the_cluster->image(&number)) {
		struct batch_item *item = &batch->items[number];

		carve_here(batch, item);
		the_cluster->carved(item->exit, &item->sums);
	}
}

static void largest_first(struct batch *batch)
{
	const uint64_t *sizes;

	find_sizes(batch);
	sizes = batch->sizes;
	for (size_t i = 0; i < batch->count; i++) {
		size_t at = i;

		for (; at && sizes[batch->order[at - 1]] < sizes[i]; at--)
			batch->order[at] = batch->order[at - 1];
		batch->order[at] = i;
	}
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Without events: each run sends its own. */
static struct progress *open_whole(struct batch *batch)
{
	const struct progress_options options = { 0 };
	uint64_t total = 0;

	find_sizes(batch);
	for (size_t i = 0; i < batch->count; i++)
		total += batch->sizes[i];
	return progress_open(&options, total);
}

/* The caller's thread takes part, so the batch completes even if no other thread can be started. */
static void carve_all(struct batch *batch, unsigned jobs)
{
	pthread_t *threads;
	unsigned started = 0;

	if (the_cluster && the_cluster->rank) {
		carve_for_another(batch);
		return;
	}
	if (the_cluster) {
		largest_first(batch);
		carve_with_others(batch);
		return;
	}
	if (jobs > batch->count)
		jobs = (unsigned)batch->count;
	if (jobs > 1 && !batch->options->progress.quiet)
		batch->whole = open_whole(batch);
	threads = xcalloc(jobs, sizeof(*threads));
	while (started + 1 < jobs && !pthread_create(&threads[started], NULL, carve_some, batch))
		started++;
	carve_some(batch);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	progress_close(batch->whole, 0);
	free(threads);
}

/* One after the other, when all threads have ended: making a page starts child processes. */
static void make_pages(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->items[i].begun)
			batch->items[i].exit =
				page_after_run(batch->items[i].folder, batch->items[i].exit);
}

static int worst_exit(const struct batch *batch)
{
	int worst = EXIT_CLEAN;
	size_t left = 0, first = 0;

	for (size_t i = batch->count; i-- > 0;) {
		if (batch->items[i].begun && batch->items[i].exit > worst)
			worst = batch->items[i].exit;
		if (!batch->items[i].begun) {
			left++;
			first = i;
		}
	}
	if (!left)
		return worst;
	log_warn("interrupted: %zu of %zu images were not started, the first of them %s", left,
		batch->count, batch->items[first].image);
	return 128 + signals_caught();
}

/* Whether resuming the batch has something to do here: what was not begun, or broke off, or could not
 * even begin, because its image could not be opened. */
static bool is_left(const struct batch_item *item)
{
	return !item->begun || checkpoint_exists(item->folder) ||
	       (item->exit == EXIT_IO && access(item->folder, F_OK));
}

/* A batch that did not complete all its images can be resumed as a whole. */
static void end_batch(const struct batch *batch, const char *output)
{
	bool left = false;

	for (size_t i = 0; i < batch->count; i++)
		left |= is_left(&batch->items[i]);
	if (!left)
		checkpoint_end_batch(output);
	else if (batch->options->checkpoint_interval)
		log_info("to resume: burin carve --resume %s", output);
}

static void name_items(struct batch *batch, const struct images *images, const char *output)
{
	batch->items = xcalloc(batch->count, sizeof(*batch->items));
	batch->order = xcalloc(batch->count, sizeof(*batch->order));
	for (size_t i = 0; i < batch->count; i++) {
		batch->order[i] = i;
		batch->items[i].image = images->paths[i];
		batch->items[i].folder = folder_of(batch, i, images->paths[i], output);
	}
}

static void free_items(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		free(batch->items[i].folder);
	free(batch->items);
	free(batch->order);
	free(batch->sizes);
}

int batch_carve(const struct run_options *options, const struct images *images, const char *output,
	unsigned jobs, bool html)
{
	struct run_options shared = *options;
	struct batch batch = { .options = &shared, .count = images->count, .started = time(NULL) };
	bool helps = the_cluster && the_cluster->rank;
	struct error error = { 0 };
	int code = EXIT_CLEAN;

	if (options->checkpoint_interval && !options->resume && !helps &&
		checkpoint_begin_batch(output, options->arguments, &error)) {
		log_error("%s", error.text);
		return error.code;
	}
	name_items(&batch, images, output);
	if (jobs > 1 || the_cluster)
		shared.progress.style = PROGRESS_LINES;
	if (the_cluster && !options->threads)
		shared.threads = the_cluster->threads;
	if (the_cluster && !options->gpu.devices)
		shared.gpu.devices = the_cluster->gpus;
	shared.pool = session_pool_new(shared.threads);
	inner_keep(true);
	carve_all(&batch, jobs);
	inner_keep(false);
	pool_free(shared.pool);
	if (!helps) {
		const struct batch_summary summary = {
			.items = batch.items,
			.count = batch.count,
			.images = images,
			.started = batch.started,
			.exit = worst_exit(&batch),
			.quiet = options->progress.quiet,
			.resumed = options->resume,
		};

		if (html)
			make_pages(&batch);
		code = batch_summary_write(&summary, output);
		if (html && page_of_batch(output))
			code = code > EXIT_IO ? code : EXIT_IO;
		end_batch(&batch, output);
	}
	free_items(&batch);
	return code;
}
