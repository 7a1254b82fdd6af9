/* burin's report.jsonl, read with the reader that verify and extract use. */
#include <fcntl.h>
#include <stdlib.h>

#include "base/memory.h"
#include "compare/listing.h"
#include "report/report_reader.h"

static void read_run(struct listing *listing, const struct report_reader_run *run)
{
	listing->tool = TOOL_BURIN;
	listing_set(&listing->version, run->burin);
	listing_set(&listing->image_path, run->image_path);
	listing_set(&listing->rules_path, run->rules_path);
	listing_set(&listing->rules_sha256, run->rules_sha256);
	listing_set(&listing->types, run->types);
	listing_set(&listing->space, run->space);
	listing->image_size = run->image_size;
	listing->both = run->both;
	listing->nested = run->nested;
	listing->strict = run->strict;
	listing->align = run->align;
	listing->range_offset = run->range_offset;
	listing->range_length = run->range_length;
}

static void add_file(struct listing *listing, const struct file_record *record)
{
	struct listed *file = listing_add(listing);

	listing_name(file, record->path);
	listing_set(&file->type, record->type);
	listing_set(&file->extension, record->extension);
	file->status = file_status_name(record->status);
	free(file->note);
	file->note = xasprintf("end by %s%s%s", file_end_name(record->end),
		*record->reason ? ": " : "", record->reason);
	file->offset = record->offset;
	file->length = record->length;
	file->hashes = record->hashes;
	file->chopped = record->end == END_MAX_SIZE;
	for (uint32_t i = 0; i < record->run_count; i++)
		listing_add_run(file, record->runs[i].offset, record->runs[i].length);
}

int listing_read_burin(struct listing *listing, struct error *error)
{
	struct report_reader *report;
	struct file_record record;
	int status = report_reader_open(&report, AT_FDCWD, listing->path, error);

	if (status)
		return status;
	read_run(listing, report_reader_run(report));
	while ((status = report_reader_next(report, &record, error)) > 0)
		add_file(listing, &record);
	listing->ended = report_reader_saw_summary(report);
	listing->skip_known = json_object_get(
		json_object_get(report_reader_summary_record(report), "skipped"), "known");
	report_reader_close(report);
	return status;
}
