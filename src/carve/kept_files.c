#include "carve/kept_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "evidence/extent_image.h"

#define CACHE_LINE 64
/* Files that are warned about by name; the report has them all. */
#define WARNINGS_MAX 20

void kept_files_drop(struct kept_files *files, struct kept_file *file)
{
	/* Its memory is for the next file. */
	record_builder_release(&file->record, &file->room);
	free(file->expected);
	file->next = files->spare;
	files->spare = file;
}

/* The reports need it no more. */
static void free_reported(void *context, struct file_record *record)
{
	kept_files_drop(
		context, (struct kept_file *)((char *)record - offsetof(struct kept_file, record)));
}

static struct report_queue *new_queue(struct kept_files *files, struct report *report)
{
	return report_queue_new(report, files->options->progress, tracker_fail, files->tracker,
		free_reported, files);
}

void kept_files_open(
	struct kept_files *files, const struct carving_options *options, struct tracker *tracker)
{
	*files = (struct kept_files){ .options = options, .tracker = tracker };
	if (!options->on_outcome)
		files->queue = new_queue(files, options->report);
}

void kept_files_close(struct kept_files *files)
{
	struct kept_file *file;

	report_queue_free(files->queue); /* gives back what it has */
	while ((file = files->spare)) {
		files->spare = file->next;
		free(file);
	}
}

void kept_files_were_reported(
	struct kept_files *files, struct report *report, const struct file_sums *sums)
{
	report_queue_free(files->queue);
	files->queue = new_queue(files, report);
	files->sums = *sums;
}

/* Other threads had its memory, or so long ago that no cache has it. */
static void prefetch(const void *from, const void *end)
{
	for (const char *line = from; line < (const char *)end; line += CACHE_LINE)
		__builtin_prefetch(line, 1);
}

void kept_files_expect(const struct kept_file *file)
{
	prefetch(&file->next, file->record.reason + 1);
}

/* The next file to be used again, all of which is written to. */
static void prefetch_spare(const struct kept_file *file)
{
	prefetch(&file->next, file->record.reason + 1);
	prefetch(file->record.title, file->record.title + 1);
	prefetch(&file->record.hashes, &file->record.hashes + 1);
	prefetch(&file->room, &file->room + 1);
}

struct kept_file *kept_files_add(struct kept_files *files, struct carve_job *job)
{
	struct kept_file *file = files->spare;

	if (file)
		files->spare = file->next;
	else
		file = xmalloc(sizeof(*file));
	if (files->spare)
		prefetch_spare(files->spare);
	file->job = job;
	file->status = 0;
	file->expected = NULL;
	job->file = file;
	files->waiting++;
	return file;
}

static bool hash_differs(const char *expected, const char *computed)
{
	return *expected && *computed && strcmp(expected, computed) != 0;
}

static void compare_hashes(struct kept_files *files, struct kept_file *file)
{
	struct file_record *record = &file->record;
	const struct hashes *expected = file->expected, *computed = &record->hashes;

	if (!expected)
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

/* What the reader could not read of a file that is not read again. */
static void find_unreadable(const struct kept_files *files, struct kept_file *file)
{
	const struct ranges *unreadable = files->options->unreadable;
	uint64_t start = file->job->candidate.start;
	struct file_record *record = &file->record;
	const struct range *first;

	record->unreadable = ranges_overlap(unreadable, start, record->length);
	if (!record->unreadable)
		return;
	first = ranges_after(unreadable, start);
	record->unreadable_at = extent_image_to_evidence(
		files->options->image, first->offset > start ? first->offset : start);
}

void kept_files_report(struct kept_files *files, struct kept_file *file)
{
	struct file_record *record = &file->record;

	if (file->status) {
		tally_add(files->options->skipped,
			file->status == -ECANCELED ? SKIPPED_BY_END : "could not be written", 0);
		kept_files_drop(files, file);
	} else if (record->left_out) {
		tally_add(files->options->skipped, SKIPPED_KNOWN, 0);
		kept_files_drop(files, file);
	} else {
		if (!carving_reads_files(files->options) && files->options->unreadable)
			find_unreadable(files, file);
		record_note_unreadable(record);
		compare_hashes(files, file);
		warn_of_alert(files, record);
		file_sums_add(&files->sums, record);
		tally_add(files->options->by_type, record->type, record->length);
		tally_add(files->options->by_kind, record->kind, record->length);
		report_queue_add(files->queue, record); /* it comes back */
	}
	files->waiting--;
}
