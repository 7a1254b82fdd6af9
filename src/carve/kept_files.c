#include "carve/kept_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "evidence/extent_image.h"

/* Files that are warned about by name; the report has them all. */
#define WARNINGS_MAX 20
/* Threads of the pool for each that formats reports. */
#define POOL_SHARE 4
#define REPORT_THREADS_MIN 2
#define REPORT_THREADS_MAX 4
/* Files from the one that is used again to the one that is loaded meanwhile: other threads had it. */
#define EXPECTED 4
#define CACHE_LINE 64

/* Frees what it owns. Any thread. */
static void release_file(void *context, void *item)
{
	struct kept_file *file = item;

	(void)context;
	if (file->kept) {
		record_builder_release(&file->kept->record, &file->kept->room);
		free(file->kept);
	}
	free(file->plan.outcome);
}

/* Its memory is for the next file. */
static void add_spare(void *context, void *item)
{
	struct kept_files *files = context;

	files->spare = xgrow(
		files->spare, &files->spare_capacity, files->spare_count, sizeof(*files->spare));
	files->spare[files->spare_count++] = item;
}

void kept_files_drop(struct kept_files *files, struct kept_file *file)
{
	release_file(files, file);
	add_spare(files, file);
}

/* ---- records ------------------------------------------------------------------------------- */

static bool is_given(const struct kept_file *file)
{
	return file->kept && file->kept->given;
}

void kept_file_build(struct record_builder *record_builder, struct kept_file *file)
{
	struct file_record *record = &file->kept->record;
	bool written = record->written;

	if (is_given(file))
		return;
	record_builder_build(record_builder, &file->plan, record, &file->kept->room);
	record->written = written;
}

void kept_files_begin(const struct kept_files *files, struct kept_file *file)
{
	if (!file->kept) {
		file->kept = xmalloc(sizeof(*file->kept));
		file->kept->given = false;
		file->kept->record.path = NULL; /* until it is built */
		file->kept->record.runs = NULL;
	}
	file->kept->record.written = !files->options->dry_run;
}

void kept_files_save(
	const struct kept_files *files, const struct kept_file *file, struct codec_writer *writer)
{
	struct kept_record copy;

	if (is_given(file)) {
		file_record_save(&file->kept->record, writer);
		return;
	}
	record_builder_build(files->record_builder, &file->plan, &copy.record, &copy.room);
	file_record_save(&copy.record, writer);
	record_builder_release(&copy.record, &copy.room);
}

/* ---- the queue's source: its items are the files --------------------------------------------- */

static const struct file_record *open_record(void *context, void *item, void *scratch)
{
	const struct kept_files *files = context;
	const struct kept_file *file = item;
	struct kept_record *made = scratch;

	if (file->kept)
		return &file->kept->record;
	record_builder_build(files->record_builder, &file->plan, &made->record, &made->room);
	return &made->record;
}

static void close_record(void *context, void *item, void *scratch)
{
	const struct kept_file *file = item;
	struct kept_record *made = scratch;

	(void)context;
	if (!file->kept)
		record_builder_release(&made->record, &made->room);
}

static unsigned report_threads(const struct pool *pool)
{
	unsigned share = pool_threads(pool) / POOL_SHARE;

	return share < REPORT_THREADS_MIN   ? REPORT_THREADS_MIN
	       : share > REPORT_THREADS_MAX ? REPORT_THREADS_MAX
					    : share;
}

static struct report_queue *new_queue(struct kept_files *files, struct report *report)
{
	const struct report_queue_options options = {
		.report = report,
		.progress = files->options->progress,
		.threads = report_threads(files->options->pool),
		.failed = tracker_fail,
		.context = files->tracker,
		.source = { open_record, close_record, sizeof(struct kept_record), release_file,
			add_spare, files },
	};

	return report_queue_new(&options);
}

void kept_files_open(struct kept_files *files, const struct carving_options *options,
	struct record_builder *record_builder, struct tracker *tracker)
{
	*files = (struct kept_files){
		.options = options, .record_builder = record_builder, .tracker = tracker
	};
	if (!options->on_outcome)
		files->queue = new_queue(files, options->report);
}

void kept_files_close(struct kept_files *files)
{
	report_queue_free(files->queue); /* gives back what it has */
	while (files->spare_count)
		free(files->spare[--files->spare_count]);
	free(files->spare);
}

void kept_files_were_reported(
	struct kept_files *files, struct report *report, const struct file_sums *sums)
{
	report_queue_free(files->queue);
	files->queue = new_queue(files, report);
	files->sums = *sums;
}

/* ---- files --------------------------------------------------------------------------------- */

size_t kept_files_each(const struct kept_files *files)
{
	return sizeof(struct kept_file) + sizeof(struct outcome) +
	       (carving_reads_files(files->options) ? sizeof(struct kept_record) : 0);
}

size_t kept_files_len(const struct kept_files *files)
{
	return (size_t)files->waiting * kept_files_each(files);
}

static void prefetch(const struct kept_file *file)
{
	for (size_t at = 0; at < sizeof(*file); at += CACHE_LINE)
		__builtin_prefetch((const char *)file + at, 1);
}

struct kept_file *kept_files_add(struct kept_files *files, struct carve_job *job, uint64_t length)
{
	struct kept_file *file =
		files->spare_count ? files->spare[--files->spare_count] : xmalloc(sizeof(*file));

	if (files->spare_count >= EXPECTED)
		prefetch(files->spare[files->spare_count - EXPECTED]);
	file->job = job;
	file->length = length;
	file->status = 0;
	file->kept = NULL;
	file->plan.outcome = NULL;
	job->file = file;
	files->waiting++;
	return file;
}

struct kept_file *kept_files_add_given(
	struct kept_files *files, struct carve_job *job, struct file_record *record)
{
	struct kept_file *file = kept_files_add(files, job, record->length);

	file->kept = xmalloc(sizeof(*file->kept));
	file->kept->record = *record;
	file->kept->given = true;
	file->kept->expected = record->hashes;
	record->path = NULL;
	record->runs = NULL;
	return file;
}

static bool hash_differs(const char *expected, const char *computed)
{
	return *expected && *computed && strcmp(expected, computed) != 0;
}

static void compare_hashes(struct kept_files *files, struct kept_record *kept)
{
	struct file_record *record = &kept->record;
	const struct hashes *expected = &kept->expected, *computed = &record->hashes;

	if (!kept->given)
		return;
	if (!hash_differs(expected->md5, computed->md5) &&
		!hash_differs(expected->sha1, computed->sha1) &&
		!hash_differs(expected->sha256, computed->sha256))
		return;
	snprintf(record->reason, sizeof(record->reason),
		"the hash differs from that in the earlier report");
	record->known = record->alert = NULL; /* were those of the earlier report */
	if (files->mismatches++ < WARNINGS_MAX)
		log_warn("%s: the hash differs from that in the report", record->path);
}

static void warn_of_alert(const struct kept_files *files, const struct file_record *record)
{
	if (record->alert && files->sums.alert < WARNINGS_MAX)
		log_warn("%s is in the set of hashes %s", record->path, record->alert);
}

/* What the reader could not read of a file that is not read again: then the record is made here. */
static void find_unreadable(struct kept_files *files, struct kept_file *file)
{
	const struct ranges *unreadable = files->options->unreadable;
	uint64_t start = file->job->candidate.start;
	struct file_record *record;
	const struct range *first;
	uint64_t bytes = ranges_overlap(unreadable, start, file->length);

	if (!file->kept && bytes) {
		kept_files_begin(files, file);
		kept_file_build(files->record_builder, file);
	}
	if (!file->kept)
		return;
	record = &file->kept->record;
	record->unreadable = bytes;
	if (!bytes)
		return;
	first = ranges_after(unreadable, start);
	record->unreadable_at = extent_image_to_evidence(
		files->options->image, first->offset > start ? first->offset : start);
}

/* Its sums where no record exists. */
static void count_planned(struct kept_files *files, const struct kept_file *file)
{
	static const struct outcome unchecked;
	uint32_t rule = file->plan.candidate.rule;
	const char *kind = record_builder_kind(
		files->record_builder, rule, file->plan.outcome ? file->plan.outcome : &unchecked);

	files->sums.files++;
	files->sums.bytes += file->length;
	tally_add(files->options->by_type, files->options->rules->rules[rule].name, file->length);
	tally_add(files->options->by_kind, kind, file->length);
}

static void finish_record(struct kept_files *files, struct kept_record *kept)
{
	struct file_record *record = &kept->record;

	record_note_unreadable(record);
	compare_hashes(files, kept);
	warn_of_alert(files, record);
	file_sums_add(&files->sums, record);
	tally_add(files->options->by_type, record->type, record->length);
	tally_add(files->options->by_kind, record->kind, record->length);
}

void kept_files_report(struct kept_files *files, struct kept_file *file)
{
	if (file->status) {
		tally_add(files->options->skipped,
			file->status == -ECANCELED ? SKIPPED_BY_END : "could not be written", 0);
		kept_files_drop(files, file);
	} else if (file->kept && file->kept->record.left_out) {
		tally_add(files->options->skipped, SKIPPED_KNOWN, 0);
		kept_files_drop(files, file);
	} else {
		if (!carving_reads_files(files->options) && files->options->unreadable)
			find_unreadable(files, file);
		if (file->kept)
			finish_record(files, file->kept);
		else
			count_planned(files, file);
		report_queue_add(files->queue, file); /* it comes back */
	}
	files->waiting--;
}
