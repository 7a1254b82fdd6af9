/*
 * The Sleuth Kit's bodyfile, from which mactime and Plaso make timelines:
 *
 *     MD5|name|inode|mode|UID|GID|size|atime|mtime|ctime|crtime
 *
 * A file can have two lines: one with the times that the image's file system has for it, under its path
 * there, and one with the time that the file itself stores, as its last modification. What has neither
 * cannot be in a timeline. 0: not known.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "export/exporter.h"

/* The separator cannot be escaped. */
static void add_name(struct strbuf *line, const char *name)
{
	size_t from = line->len;

	strbuf_clean(line, name);
	for (size_t i = from; i < line->len; i++)
		if (line->bytes[i] == '|')
			line->bytes[i] = '_';
}

static void add_times(struct strbuf *line, const struct file_record *file, const char *type,
	uint64_t inode, uint64_t size, const int64_t times[FS_TIME_COUNT])
{
	static const enum fs_time order[] = { FS_ACCESSED, FS_MODIFIED, FS_CHANGED, FS_CREATED };

	strbuf_print(line, " (%s, %s at %" PRIu64 ")|%" PRIu64 "|%s/r---------|0|0|%" PRIu64, type,
		file_status_name(file->status), file->offset, inode,
		file->space == SPACE_IN_USE ? "r" : "-", size);
	for (size_t i = 0; i < FS_TIME_COUNT; i++) {
		strbuf_text(line, "|");
		strbuf_number(line, times[order[i]] > 0 ? (uint64_t)times[order[i]] : 0);
	}
	strbuf_text(line, "\n");
}

static void begin_line(struct text_export *body, const struct file_record *file)
{
	strbuf_text(&body->line, *file->hashes.md5 ? file->hashes.md5 : "0");
	strbuf_text(&body->line, "|");
	add_name(&body->line, body->image);
	strbuf_text(&body->line, "/");
}

static bool add_original(struct text_export *body, const struct file_record *file)
{
	int64_t times[FS_TIME_COUNT] = { 0 };
	bool any = false;

	for (enum fs_time time = 0; time < FS_TIME_COUNT && file->fs_path; time++) {
		times[time] = file->fs.times[time];
		any |= times[time] > 0;
	}
	if (!any)
		return false;
	begin_line(body, file);
	add_name(&body->line, file->fs_path);
	if (file->fs.flags & FS_DELETED)
		strbuf_text(&body->line, " (deleted)");
	add_times(&body->line, file, file->kind, file->fs.inode, file->fs.size, times);
	return true;
}

static bool add_stored(struct text_export *body, const struct file_record *file)
{
	const int64_t times[FS_TIME_COUNT] = { [FS_MODIFIED] = file->time };

	if (file->time <= 0)
		return false;
	begin_line(body, file);
	add_name(&body->line, file->path);
	strbuf_text(&body->line, ": time stored in the file");
	add_times(&body->line, file, file->kind, 0, file->length, times);
	return true;
}

static int body_file(void *state, const struct file_record *file, struct error *error)
{
	struct text_export *body = state;
	bool original = add_original(body, file), stored = add_stored(body, file);

	(void)error;
	strbuf_write(&body->line, body->stream);
	return !original && !stored;
}

const struct exporter bodyfile_exporter = { .file = body_file };
