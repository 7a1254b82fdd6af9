#include "mount/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/strbuf.h"

/* ---- reading the report -------------------------------------------------------------------- */

static void add_fact(struct strbuf *facts, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	strbuf_bytes(facts, name, strlen(name) + 1);
	strbuf_bytes(facts, value, strlen(value) + 1);
}

static void keep_facts(struct mounted_file *file, const struct file_record *record)
{
	struct strbuf facts = { 0 };
	char *offset = xasprintf("%ju", (uintmax_t)record->offset);

	add_fact(&facts, "offset", offset);
	add_fact(&facts, "kind", record->kind);
	add_fact(&facts, "status", file_status_name(record->status));
	add_fact(&facts, "reason", record->reason);
	add_fact(&facts, "fs_path", record->fs_path);
	add_fact(&facts, "title", record->title);
	add_fact(&facts, "md5", record->hashes.md5);
	add_fact(&facts, "sha1", record->hashes.sha1);
	add_fact(&facts, "sha256", record->hashes.sha256);
	free(offset);
	file->facts_len = facts.len;
	file->facts = realloc(facts.bytes, facts.len); /* of many files each byte counts */
	if (!file->facts)
		file->facts = facts.bytes;
}

static void keep_times(struct mounted_file *file, const struct file_record *record)
{
	bool original = file_record_is_original(record);

	for (enum fs_time time = 0; time < FS_TIME_COUNT && original; time++)
		file->times[time] = record->fs.times[time];
	file->times[FS_MODIFIED] = file_record_time(record);
}

/* date/2024/02/29, or date/unknown. */
static uint32_t date_folder(struct tree *tree, int64_t seconds)
{
	uint32_t folder = tree_folder(tree, TREE_ROOT, "date");
	time_t time = (time_t)seconds;
	char text[3][16];
	struct tm tm;

	if (seconds <= 0 || !gmtime_r(&time, &tm))
		return tree_folder(tree, folder, "unknown");
	snprintf(text[0], sizeof(text[0]), "%d", tm.tm_year + 1900);
	snprintf(text[1], sizeof(text[1]), "%02d", tm.tm_mon + 1);
	snprintf(text[2], sizeof(text[2]), "%02d", tm.tm_mday);
	for (int i = 0; i < 3; i++)
		folder = tree_folder(tree, folder, text[i]);
	return folder;
}

static void place(struct tree *tree, const struct file_record *record, int64_t time, uint32_t index)
{
	const char *base, *extension = record->extension;
	uint32_t folder =
		tree_folders(tree, tree_folder(tree, TREE_ROOT, "type"), record->path, &base);

	tree_add(tree, folder, base, extension, record->offset, false, index);
	tree_add(tree, date_folder(tree, time), base, extension, record->offset, false, index);
	if (!record->fs_path)
		return;
	folder = tree_folders(tree, tree_folder(tree, TREE_ROOT, "path"), record->fs_path, &base);
	tree_add(tree, folder, base, extension, record->offset, !file_record_is_original(record),
		index);
}

static void add_file(struct files *files, const struct file_record *record)
{
	struct mounted_file file = { .length = record->length, .run_count = record->run_count };

	file.runs = xcalloc(record->run_count ? record->run_count : 1, sizeof(*file.runs));
	memcpy(file.runs, record->runs, record->run_count * sizeof(*file.runs));
	keep_times(&file, record);
	keep_facts(&file, record);
	place(files->tree, record, file.times[FS_MODIFIED], (uint32_t)files->count);
	files->items = xgrow(files->items, &files->capacity, files->count, sizeof(*files->items));
	files->items[files->count++] = file;
	files->bytes += file.length;
}

int files_read(struct files *files, struct report_reader *report, struct error *error)
{
	struct file_record record;
	int status;

	files->tree = tree_new();
	while ((status = report_reader_next(report, &record, error)) > 0)
		add_file(files, &record);
	return status;
}

void files_free(struct files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->items[i].runs);
		free(files->items[i].facts);
	}
	free(files->items);
	tree_free(files->tree);
	*files = (struct files){ 0 };
}
