#include "report/jsonl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fatal.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- values -------------------------------------------------------------------------------- */

static json_t *or_die(json_t *value)
{
	if (!value)
		fatal("out of memory for a report's record");
	return value;
}

json_t *jsonl_object(void)
{
	return or_die(json_object());
}

void jsonl_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(object, key, or_die(value)))
		or_die(NULL);
}

json_t *jsonl_array(void)
{
	return or_die(json_array());
}

void jsonl_append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, or_die(value)))
		or_die(NULL);
}

json_t *jsonl_number(uint64_t number)
{
	return json_integer(number > INT64_MAX ? INT64_MAX : (json_int_t)number);
}

int jsonl_write(FILE *stream, json_t *object)
{
	int status;

	flockfile(stream); /* several runs may write events at the same time */
	status = json_dumpf(object, stream, JSON_COMPACT | JSON_REAL_PRECISION(6));
	if (!status && fputc('\n', stream) == EOF)
		status = -1;
	funlockfile(stream);
	json_decref(object);
	return status ? -EIO : 0;
}

/* ---- a file's line ------------------------------------------------------------------------- */

/* Inline, so that the compiler knows the keys' lengths. */
#define FIELD static inline __attribute__((always_inline)) void

FIELD text_field(struct strbuf *line, const char *key, const char *text)
{
	strbuf_text(line, key);
	strbuf_json(line, text);
}

/* Of a name that is one of burin's own, where nothing has to be escaped. */
FIELD name_field(struct strbuf *line, const char *key, const char *name)
{
	strbuf_text(line, key);
	strbuf_text(line, name);
	strbuf_text(line, "\"");
}

FIELD number_field(struct strbuf *line, const char *key, uint64_t number)
{
	strbuf_text(line, key);
	strbuf_number(line, number > INT64_MAX ? INT64_MAX : number);
}

FIELD flag_field(struct strbuf *line, const char *key, bool flag)
{
	strbuf_text(line, key);
	strbuf_text(line, flag ? "true" : "false");
}

static void ranges_field(
	struct strbuf *line, const char *key, const struct range *ranges, uint32_t count)
{
	strbuf_text(line, key);
	for (uint32_t i = 0; i < count; i++) {
		number_field(line, i ? ",[" : "[", ranges[i].offset);
		number_field(line, ",", ranges[i].length);
		strbuf_text(line, "]");
	}
	strbuf_text(line, "]");
}

static void assembly_field(struct strbuf *line, const struct assembly *assembly)
{
	text_field(line, ",\"assembly\":{\"by\":", assembly_by_name(assembly->by));
	if (assembly->tested) {
		number_field(line, ",\"tested\":", assembly->tested);
		number_field(line, ",\"evidence\":", assembly->evidence);
	}
	if (assembly->doubt_count)
		ranges_field(line, ",\"doubt\":[", assembly->doubt, assembly->doubt_count);
	strbuf_text(line, "}");
}

static void hashes_field(struct strbuf *line, const struct hashes *hashes)
{
	const struct {
		const char *key, *digits;
	} all[] = {
		{ "\"md5\":", hashes->md5 },
		{ "\"sha1\":", hashes->sha1 },
		{ "\"sha256\":", hashes->sha256 },
	};
	const char *before = "";

	strbuf_text(line, ",\"hashes\":{");
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!*all[i].digits)
			continue;
		strbuf_text(line, before);
		text_field(line, all[i].key, all[i].digits);
		before = ",";
	}
	strbuf_text(line, "}");
}

/* The file of the image's file system that it begins in. */
static void fs_fields(struct strbuf *line, const char *path, const struct fs_file *fs)
{
	const char *before = "";

	text_field(line, ",\"fs_path\":", path);
	number_field(line, ",\"fs\":{\"volume\":", fs->volume);
	number_field(line, ",\"inode\":", fs->inode);
	number_field(line, ",\"attribute\":[", fs->type);
	number_field(line, ",", fs->id);
	number_field(line, "],\"size\":", fs->size);
	if (fs->has_offset)
		number_field(line, ",\"offset\":", fs->offset);
	strbuf_text(line, ",\"flags\":[");
	for (unsigned flag = 1; flag < 1u << FS_FLAG_COUNT; flag <<= 1) {
		if (!(fs->flags & flag))
			continue;
		text_field(line, before, fs_flag_name(flag));
		before = ",";
	}
	strbuf_text(line, "]");
	for (enum fs_time i = 0; i < FS_TIME_COUNT; i++) {
		char time[TEXT_TIME_LEN];

		if (!fs->times[i] || !text_time(fs->times[i], time))
			continue;
		strbuf_text(line, ",");
		strbuf_json(line, fs_time_name(i));
		text_field(line, ":", time);
	}
	strbuf_text(line, "}");
}

void jsonl_line_file(
	struct strbuf *line, const char *record, const char *image, const struct file_record *file)
{
	char time[TEXT_TIME_LEN];
	bool has_time = file->time != 0 && text_time(file->time, time);

	name_field(line, "{\"", record);
	strbuf_text(line, ":\"file\"");
	if (image)
		text_field(line, ",\"image\":", image);
	text_field(line, ",\"path\":", file->path);
	text_field(line, ",\"type\":", file->type);
	text_field(line, ",\"kind\":", file->kind);
	number_field(line, ",\"rule\":", file->rule);
	number_field(line, ",\"offset\":", file->offset);
	number_field(line, ",\"length\":", file->length);
	text_field(line, ",\"extension\":", file->extension);
	name_field(line, ",\"status\":\"", file_status_name(file->status));
	name_field(line, ",\"end\":\"", file_end_name(file->end));
	text_field(line, ",\"reason\":", file->reason);
	ranges_field(line, ",\"runs\":[", file->runs, file->run_count);
	if (file->assembly.by)
		assembly_field(line, &file->assembly);
	hashes_field(line, &file->hashes);
	number_field(line, ",\"unreadable\":", file->unreadable);
	if (file->overlaps)
		number_field(line, ",\"overlaps\":", file->outer);
	if (file->space != SPACE_NOT_KNOWN)
		text_field(line, ",\"allocated\":", file_space_name(file->space));
	if (file->fs_path)
		fs_fields(line, file->fs_path, &file->fs);
	if (file->known)
		text_field(line, ",\"known\":", file->known);
	if (file->alert)
		text_field(line, ",\"alert\":", file->alert);
	text_field(line, ",\"title\":", file->title);
	text_field(line, ",\"time\":", has_time ? time : NULL);
	flag_field(line, ",\"chop\":", file->chop);
	flag_field(line, ",\"written\":", file->written);
	strbuf_text(line, "}\n");
}
