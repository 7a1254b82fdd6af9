#include "report/report_reader_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/dirfd.h"
#include "report/report.h"

static const char *status_name(int index)
{
	return file_status_name((enum file_status)index);
}

static const char *end_name(int index)
{
	return file_end_name((enum file_end)index);
}

static void fetch_path(
	struct json_fields *fields, struct report_reader_file *kept, struct file_record *file)
{
	const char *path = json_fields_text(fields, "path", NULL);
	char *clean = text_clean_copy(path);

	if (!dirfd_path_is_plain(path) || strcmp(path, clean) != 0)
		json_fields_fail(fields,
			"'path' must be relative, without '.', '..', empty parts or control "
			"characters");
	if (report_owns(path))
		json_fields_fail(fields, "'path' is one of burin's own files");
	free(kept->path);
	kept->path = clean;
	file->path = clean;
}

static bool fetch_pair(const json_t *pair, struct range *range)
{
	const json_t *offset = json_array_get(pair, 0), *length = json_array_get(pair, 1);

	if (json_array_size(pair) != 2 || !json_is_integer(offset) || !json_is_integer(length) ||
		json_integer_value(offset) < 0 || json_integer_value(length) <= 0)
		return false;
	range->offset = (uint64_t)json_integer_value(offset);
	range->length = (uint64_t)json_integer_value(length);
	return true;
}

static const char *by_name(int index)
{
	return assembly_by_name((enum assembly_by)index);
}

static void fetch_doubts(struct json_fields *fields, struct file_record *file)
{
	const json_t *array = json_object_get(fields->object, "doubt");
	size_t count = json_array_size(array);

	if (count > ASSEMBLY_DOUBTS_MAX)
		json_fields_fail(fields, "'doubt' may hold at most %d ranges", ASSEMBLY_DOUBTS_MAX);
	for (size_t i = 0; i < count && !fields->status; i++) {
		struct range *doubt = &file->assembly.doubt[file->assembly.doubt_count++];

		if (!fetch_pair(json_array_get(array, i), doubt) || doubt->offset > file->length ||
			doubt->length > file->length - doubt->offset)
			json_fields_fail(fields, "'doubt' must hold ranges of the file");
	}
}

static void fetch_assembly(struct json_fields *fields, struct file_record *file)
{
	struct assembly *assembly = &file->assembly;
	struct json_fields inner = json_fields_enter(fields, "assembly");

	assembly->by = (enum assembly_by)json_fields_choice(
		&inner, "by", "none", by_name, ASSEMBLY_SEARCH + 1);
	assembly->tested = json_fields_number(&inner, "tested", false, INT64_MAX);
	assembly->evidence = (uint32_t)json_fields_number(&inner, "evidence", false, UINT32_MAX);
	fetch_doubts(&inner, file);
	json_fields_leave(fields, &inner);
}

/* image_size: bytes; no run may exceed it. */
static void fetch_runs(struct json_fields *fields, struct report_reader_file *kept,
	uint64_t image_size, struct file_record *file)
{
	const json_t *array = json_object_get(fields->object, "runs");
	size_t count = json_array_size(array);
	uint64_t sum = 0;

	if (!json_is_array(array))
		json_fields_fail(fields, "'runs' must be a list of [offset, length]");
	for (size_t i = 0; i < count && !fields->status; i++) {
		struct range range;

		if (!fetch_pair(json_array_get(array, i), &range)) {
			json_fields_fail(fields,
				"run %zu must be [offset, length], whole numbers, length over 0",
				i + 1);
		} else if (range.offset > image_size || range.length > image_size - range.offset) {
			json_fields_fail(fields,
				"run %zu exceeds the image: offset %" PRIu64 ", length %" PRIu64
				", image size %" PRIu64,
				i + 1, range.offset, range.length, image_size);
		} else if (range.length > file->length - sum) {
			json_fields_fail(fields,
				"the runs hold more than 'length', %" PRIu64 " bytes",
				file->length);
		} else {
			sum += range.length;
			kept->runs = xgrow(kept->runs, &kept->run_capacity, i, sizeof(*kept->runs));
			kept->runs[i] = range;
		}
	}
	if (sum != file->length)
		json_fields_fail(fields,
			"the runs hold %" PRIu64 " bytes, but 'length' is %" PRIu64, sum,
			file->length);
	file->runs = kept->runs;
	file->run_count = (uint32_t)count;
}

static const char *space_name(int index)
{
	const char *name = file_space_name((enum file_space)index);

	return name ? name : "";
}

/* NULL when it is missing, empty or of another type. Cleaned when it is written. */
static const char *optional_text(struct json_fields *fields, const char *key)
{
	const char *text = json_string_value(json_object_get(fields->object, key));

	return text && *text ? text : NULL;
}

static void fetch_time(struct json_fields *fields, struct file_record *file)
{
	const char *text = json_fields_text(fields, "time", "");

	if (*text && !text_time_parse(text, &file->time))
		json_fields_fail(fields, "'time' must look like 2024-05-01T12:00:00Z");
}

static unsigned fetch_fs_flags(const struct json_fields *fields)
{
	json_t *array = json_object_get(fields->object, "flags");
	unsigned flags = 0;

	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *name = json_string_value(json_array_get(array, i));

		for (unsigned flag = 1; name && flag < 1u << FS_FLAG_COUNT; flag <<= 1)
			if (!strcmp(name, fs_flag_name(flag)))
				flags |= flag;
	}
	return flags;
}

static void fetch_fs(struct json_fields *fields, struct fs_file *fs)
{
	struct json_fields inner = json_fields_enter(fields, "fs");
	const json_t *attribute = json_object_get(inner.object, "attribute");

	*fs = (struct fs_file){
		.type = (uint32_t)json_integer_value(json_array_get(attribute, 0)),
		.id = (uint32_t)json_integer_value(json_array_get(attribute, 1)),
	};
	fs->flags = fetch_fs_flags(&inner);
	fs->volume = json_fields_number(&inner, "volume", false, INT64_MAX);
	fs->inode = json_fields_number(&inner, "inode", false, INT64_MAX);
	fs->size = json_fields_number(&inner, "size", false, INT64_MAX);
	fs->has_offset = json_object_get(inner.object, "offset") != NULL;
	fs->offset = json_fields_number(&inner, "offset", false, INT64_MAX);
	for (enum fs_time i = 0; i < FS_TIME_COUNT; i++) {
		const char *text = json_fields_text(&inner, fs_time_name(i), "");
		int64_t time = 0;

		if (*text && text_time_parse(text, &time) && time > 0 && time <= UINT32_MAX)
			fs->times[i] = (uint32_t)time;
	}
	json_fields_leave(fields, &inner);
}

void report_reader_file_fetch(struct report_reader_file *kept, struct json_fields *fields,
	const struct report_reader_run *run, struct file_record *file)
{
	struct json_fields hashes;

	fetch_path(fields, kept, file);
	file->type = json_fields_name(fields, "type", NULL);
	file->kind = json_fields_name(fields, "kind", file->type);
	file->rule = (uint32_t)json_fields_number(fields, "rule", false, UINT32_MAX);
	file->offset = json_fields_number(fields, "offset", true, run->image_size);
	file->length = json_fields_number(fields, "length", true, INT64_MAX);
	file->extension = json_fields_name(fields, "extension", "");
	file->status = (enum file_status)json_fields_choice(
		fields, "status", "unverified", status_name, FILE_UNVERIFIED + 1);
	file->end = (enum file_end)json_fields_choice(
		fields, "end", "max_size", end_name, END_IMAGE + 1);
	text_clean(json_fields_text(fields, "reason", ""), file->reason, sizeof(file->reason));
	fetch_runs(fields, kept, run->image_size, file);
	fetch_assembly(fields, file);
	hashes = json_fields_enter(fields, "hashes");
	json_fields_hash(&hashes, "md5", file->hashes.md5, sizeof(file->hashes.md5));
	json_fields_hash(&hashes, "sha1", file->hashes.sha1, sizeof(file->hashes.sha1));
	json_fields_hash(&hashes, "sha256", file->hashes.sha256, sizeof(file->hashes.sha256));
	json_fields_leave(fields, &hashes);
	file->unreadable = json_fields_number(fields, "unreadable", false, file->length);
	file->space = (enum file_space)json_fields_choice(
		fields, "allocated", "", space_name, SPACE_COUNT);
	file->fs_path = optional_text(fields, "fs_path");
	fetch_fs(fields, &file->fs);
	file->known = optional_text(fields, "known");
	file->alert = optional_text(fields, "alert");
	text_clean(json_fields_text(fields, "title", ""), file->title, sizeof(file->title));
	fetch_time(fields, file);
	file->overlaps = json_object_get(fields->object, "overlaps") != NULL;
	file->outer = json_fields_number(fields, "overlaps", false, UINT64_MAX);
	file->chop = json_fields_flag(fields, "chop", false);
	file->written = json_fields_flag(fields, "written", !run->dry_run);
}

void report_reader_file_free(struct report_reader_file *kept)
{
	free(kept->path);
	free(kept->runs);
}
