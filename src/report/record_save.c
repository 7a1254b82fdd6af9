/* Records in a checkpoint: counters, and files that were decided on and may not be complete yet. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/record.h"

/* The longest text from rules, carvers or names. */
#define TEXT_MAX ((size_t)1 << 16)

/* A new field must be saved and loaded below, unless it is found out when the file is written. */
_Static_assert(
	sizeof(struct file_record) == 1576, "record_save.c saves every field of a file's record");

void tallies_save(const struct tallies *tallies, struct codec_writer *writer)
{
	codec_put(writer, tallies->count);
	for (size_t i = 0; i < tallies->count; i++) {
		codec_put_text(writer, tallies->items[i].name);
		codec_put(writer, tallies->items[i].count);
		codec_put(writer, tallies->items[i].bytes);
	}
}

void tallies_load(struct tallies *tallies, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT64_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		char *name = codec_get_text(reader, TEXT_MAX);
		uint64_t times = codec_get(reader, UINT64_MAX);
		uint64_t bytes = codec_get(reader, UINT64_MAX);

		if (codec_ok(reader))
			tally_add_many(tallies, name, times, bytes);
		free(name);
	}
}

void runs_save(const struct range *runs, size_t count, struct codec_writer *writer)
{
	codec_put(writer, count);
	for (size_t i = 0; i < count; i++) {
		codec_put(writer, runs[i].offset);
		codec_put(writer, runs[i].length);
	}
}

void assembly_save(const struct assembly *assembly, struct codec_writer *writer)
{
	codec_put(writer, assembly->by);
	codec_put(writer, assembly->evidence);
	codec_put(writer, assembly->tested);
	runs_save(assembly->doubt, assembly->doubt_count, writer);
}

void assembly_load(struct assembly *assembly, uint64_t length, struct codec_reader *reader)
{
	assembly->by = (enum assembly_by)codec_get(reader, ASSEMBLY_SEARCH);
	assembly->evidence = (uint32_t)codec_get(reader, UINT32_MAX);
	assembly->tested = codec_get(reader, UINT64_MAX);
	assembly->doubt_count = (uint32_t)codec_get(reader, ASSEMBLY_DOUBTS_MAX);
	for (uint32_t i = 0; i < assembly->doubt_count; i++) {
		struct range *doubt = &assembly->doubt[i];

		doubt->offset = codec_get(reader, length);
		doubt->length = codec_get(reader, length - doubt->offset);
	}
}

static void save_fs(const struct fs_file *fs, struct codec_writer *writer)
{
	codec_put(writer, fs->type);
	codec_put(writer, fs->id);
	codec_put(writer, fs->flags);
	codec_put(writer, fs->volume);
	codec_put(writer, fs->inode);
	codec_put(writer, fs->size);
	codec_put(writer, fs->offset);
	codec_put(writer, fs->has_offset);
	for (size_t i = 0; i < FS_TIME_COUNT; i++)
		codec_put(writer, fs->times[i]);
}

static void load_fs(struct fs_file *fs, struct codec_reader *reader)
{
	fs->type = (uint32_t)codec_get(reader, UINT32_MAX);
	fs->id = (uint32_t)codec_get(reader, UINT32_MAX);
	fs->flags = (unsigned)codec_get(reader, (1u << FS_FLAG_COUNT) - 1);
	fs->volume = codec_get(reader, UINT64_MAX);
	fs->inode = codec_get(reader, UINT64_MAX);
	fs->size = codec_get(reader, UINT64_MAX);
	fs->offset = codec_get(reader, UINT64_MAX);
	fs->has_offset = codec_get_flag(reader);
	for (size_t i = 0; i < FS_TIME_COUNT; i++)
		fs->times[i] = (uint32_t)codec_get(reader, UINT32_MAX);
}

void file_sums_save(const struct file_sums *sums, struct codec_writer *writer)
{
	codec_put(writer, sums->files);
	codec_put(writer, sums->bytes);
	codec_put(writer, sums->unreadable);
	codec_put(writer, sums->known);
	codec_put(writer, sums->alert);
}

void file_sums_load(struct file_sums *sums, struct codec_reader *reader)
{
	sums->files = codec_get(reader, UINT64_MAX);
	sums->bytes = codec_get(reader, UINT64_MAX);
	sums->unreadable = codec_get(reader, UINT64_MAX);
	sums->known = codec_get(reader, UINT64_MAX);
	sums->alert = codec_get(reader, UINT64_MAX);
}

void file_record_save(const struct file_record *record, struct codec_writer *writer)
{
	codec_put_text(writer, record->path);
	codec_put(writer, record->rule);
	codec_put(writer, record->offset);
	codec_put(writer, record->length);
	codec_put_text(writer, record->extension);
	codec_put_text(writer, record->kind);
	codec_put(writer, record->status);
	codec_put(writer, record->end);
	codec_put_text(writer, record->reason);
	runs_save(record->runs, record->run_count, writer);
	assembly_save(&record->assembly, writer);
	codec_put_text(writer, record->title);
	codec_put(writer, record->space);
	codec_put(writer, record->fs_path != NULL);
	codec_put_text(writer, record->fs_path ? record->fs_path : "");
	save_fs(&record->fs, writer);
	codec_put(writer, (uint64_t)record->time);
	codec_put(writer, (uint64_t)record->file_time);
	codec_put(writer, record->overlaps);
	codec_put(writer, record->outer);
	codec_put(writer, record->chop);
}

static const char *get_kept(struct strpool *texts, struct codec_reader *reader)
{
	char *text = codec_get_text(reader, TEXT_MAX);
	const char *kept = strpool_keep(texts, text);

	free(text);
	return kept;
}

/* They are inside the image and add up to the file's length. */
static void load_runs(struct file_record *record, uint64_t limit, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT32_MAX), left = record->length;
	size_t capacity = 0;

	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct range run = { .offset = codec_get(reader, limit) };

		run.length =
			codec_get(reader, limit - run.offset < left ? limit - run.offset : left);
		left -= run.length;
		record->runs =
			xgrow(record->runs, &capacity, record->run_count, sizeof(*record->runs));
		record->runs[record->run_count++] = run;
	}
	if (left)
		codec_fail(reader);
}

void file_record_load(struct file_record *record, const struct rules *rules, uint64_t limit,
	struct strpool *texts, struct codec_reader *reader)
{
	const char *fs_path;
	bool has_fs_path;

	*record = (struct file_record){ .path = codec_get_text(reader, TEXT_MAX) };
	record->rule = (uint32_t)codec_get(reader, rules->count - 1);
	record->type = rules->rules[record->rule].name;
	record->offset = codec_get(reader, limit);
	record->length = codec_get(reader, limit);
	record->extension = get_kept(texts, reader);
	record->kind = get_kept(texts, reader);
	record->status = (enum file_status)codec_get(reader, FILE_UNVERIFIED);
	record->end = (enum file_end)codec_get(reader, END_IMAGE);
	codec_copy_text(reader, record->reason, sizeof(record->reason));
	load_runs(record, limit, reader);
	assembly_load(&record->assembly, record->length, reader);
	codec_copy_text(reader, record->title, sizeof(record->title));
	record->space = (enum file_space)codec_get(reader, SPACE_COUNT - 1);
	has_fs_path = codec_get_flag(reader);
	fs_path = get_kept(texts, reader);
	record->fs_path = has_fs_path ? fs_path : NULL;
	load_fs(&record->fs, reader);
	record->time = (int64_t)codec_get(reader, UINT64_MAX);
	record->file_time = (int64_t)codec_get(reader, UINT64_MAX);
	record->overlaps = codec_get_flag(reader);
	record->outer = codec_get(reader, limit);
	record->chop = codec_get_flag(reader);
}
