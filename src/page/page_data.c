/*
 * A row is a line of fields separated by tabs, and a part one long string of such lines that the
 * page splits: browsers parse a string at a gigabyte a second, and an array of a million values at
 * a tenth of that. Text is cleaned (base/text.h), so that it contains no tabs and line feeds.
 *
 * Up to PART_LEN bytes of rows become part of the page. More go to scripts beside it, because
 * scripts are what a page opened from disk may load.
 */
#include "page/page_data.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "output/dirfd.h"
#include "page/page.h"
#include "report/report.h"

#define PART_LEN ((size_t)4 << 20)
#define PART_NAME PAGE_DATA_DIR "%04u.js"

/* ---- script text --------------------------------------------------------------------------- */

void page_data_script_text(struct strbuf *line, const char *text)
{
	for (;;) {
		size_t plain = strcspn(text, "\"\\<\n\r\t");

		strbuf_bytes(line, text, plain);
		text += plain;
		if (!*text)
			return;
		switch (*text++) {
		case '"':
			strbuf_text(line, "\\\"");
			break;
		case '\\':
			strbuf_text(line, "\\\\");
			break;
		case '<': /* "</script" and "<!--" would have a meaning */
			strbuf_text(line, "\\x3c");
			break;
		case '\n':
			strbuf_text(line, "\\n");
			break;
		case '\r':
			strbuf_text(line, "\\r");
			break;
		default:
			strbuf_text(line, "\\t");
		}
	}
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Untrusted text. */
static void text_cell(struct strbuf *line, const char *text)
{
	char *clean = text_clean_copy(text);

	page_data_script_text(line, clean);
	free(clean);
	strbuf_text(line, "\\t");
}

static void number_cell(struct strbuf *line, uint64_t number)
{
	strbuf_number(line, number);
	strbuf_text(line, "\\t");
}

/* Empty for the usual case, one run that begins at the file's offset. */
static void runs_cell(struct strbuf *line, const struct file_record *file)
{
	if (file->run_count != 1 || file->runs[0].offset != file->offset) {
		for (uint32_t i = 0; i < file->run_count; i++) {
			strbuf_text(line, i ? "," : "");
			strbuf_number(line, file->runs[i].offset);
			strbuf_text(line, "+");
			strbuf_number(line, file->runs[i].length);
		}
		if (!file->run_count)
			strbuf_text(line, "-");
	}
	strbuf_text(line, "\\t");
}

static void time_cell(struct strbuf *line, const struct file_record *file)
{
	if (file->time < 0)
		strbuf_text(line, "-");
	if (file->time)
		strbuf_number(line, file->time < 0 ? -(uint64_t)file->time : (uint64_t)file->time);
	strbuf_text(line, "\\t");
}

/* A field that is a text, or just true. */
static void mark_cell(struct strbuf *line, const json_t *record, const char *key)
{
	const json_t *value = json_object_get(record, key);
	const char *text = json_string_value(value);

	text_cell(line, text ? text : json_is_true(value) ? "yes" : "");
}

static const char *record_text(const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));

	return text ? text : "";
}

/* Empty for a file in one piece, else how it was found, layouts that were tried, bits of evidence,
 * and where a joint is in doubt: "near 5000 30 4096+8192,65536+512". */
static void assembly_cell(struct strbuf *line, const struct assembly *assembly)
{
	if (assembly->by) {
		strbuf_text(line, assembly_by_name(assembly->by));
		strbuf_text(line, " ");
		strbuf_number(line, assembly->tested);
		strbuf_text(line, " ");
		strbuf_number(line, assembly->evidence);
	}
	for (uint32_t i = 0; i < assembly->doubt_count; i++) {
		strbuf_text(line, i ? "," : " ");
		strbuf_number(line, assembly->doubt[i].offset);
		strbuf_text(line, "+");
		strbuf_number(line, assembly->doubt[i].length);
	}
	strbuf_text(line, "\\t");
}

/* Numbers: volume, inode, attribute, its number, size, flags, times, and the offset if it is known.
 */
static void fs_cell(struct strbuf *line, const struct fs_file *fs)
{
	const uint64_t numbers[] = { fs->volume, fs->inode, fs->type, fs->id, fs->size, fs->flags,
		fs->times[FS_MODIFIED], fs->times[FS_ACCESSED], fs->times[FS_CHANGED],
		fs->times[FS_CREATED], fs->offset };
	size_t count = sizeof(numbers) / sizeof(*numbers) - !fs->has_offset;

	for (size_t i = 0; i < count; i++) {
		strbuf_text(line, i ? " " : "\\t");
		strbuf_number(line, numbers[i]);
	}
}

/* What it looks like and where it was taken, in millionths of a degree: "8f3c...0e 52520008,-13404954". */
static void picture_cell(struct strbuf *line, const struct thumb_facts *facts)
{
	if (facts->likeness)
		strbuf_print(line, "%016" PRIx64, facts->likeness);
	if (facts->has_place)
		strbuf_print(line, " %" PRId32 ",%" PRId32, facts->latitude, facts->longitude);
	strbuf_text(line, "\\t");
}

/* In the order of `fields` in page/assets/data.js. */
static void add_row(struct strbuf *line, const struct file_record *file, const json_t *record,
	const struct thumb *thumb, bool preview)
{
	char flags[5] = { file->chop ? 'c' : '-', file->written ? 'w' : '-',
		thumb->state ? thumb->state : '-', preview ? 'p' : '-', 0 };

	text_cell(line, file->path);
	text_cell(line, file->type);
	number_cell(line, file->rule);
	number_cell(line, file->offset);
	number_cell(line, file->length);
	text_cell(line, file->extension);
	text_cell(line, file_status_name(file->status));
	text_cell(line, file_end_name(file->end));
	text_cell(line, file->reason);
	runs_cell(line, file);
	text_cell(line, file->hashes.md5);
	text_cell(line, file->hashes.sha1);
	text_cell(line, file->hashes.sha256);
	number_cell(line, file->unreadable);
	text_cell(line, record_text(record, "allocated"));
	text_cell(line, record_text(record, "fs_path"));
	text_cell(line, file->title);
	time_cell(line, file);
	mark_cell(line, record, "known");
	mark_cell(line, record, "alert");
	assembly_cell(line, &file->assembly);
	text_cell(line, file->kind);
	picture_cell(line, &thumb->facts);
	strbuf_text(line, flags);
	if (json_is_object(json_object_get(record, "fs")))
		fs_cell(line, &file->fs);
	strbuf_text(line, "\\n");
}

/* ---- parts --------------------------------------------------------------------------------- */

static int fail(const char *path, int errnum, struct error *error)
{
	return error_set(error, EXIT_IO, errnum, "cannot write '%s': %s", path, strerror(errnum));
}

int page_data_create(int dir_fd, const char *path, FILE **file, struct error *error)
{
	int status = dirfd_unlink(dir_fd, path), fd;

	if (status && status != -ENOENT)
		return fail(path, -status, error);
	fd = dirfd_open(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL, true);
	if (fd < 0)
		return fail(path, -fd, error);
	*file = fdopen(fd, "w");
	if (!*file) {
		status = errno;
		close(fd);
		return fail(path, status, error);
	}
	return 0;
}

void page_data_remove(int dir_fd, const char *folder, const char *suffix)
{
	int fd = dirfd_open(dir_fd, folder, O_RDONLY | O_DIRECTORY, false);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		size_t digits = strspn(entry->d_name + 1, "0123456789");

		if (entry->d_name[0] == 'p' && digits &&
			!strcmp(entry->d_name + 1 + digits, suffix))
			unlinkat(fd, entry->d_name, 0);
	}
	closedir(dir);
}

int page_data_close(FILE *file, const char *path, struct error *error)
{
	bool bad = ferror(file);

	errno = 0;
	if (fclose(file) || bad)
		return fail(path, errno ? errno : EIO, error);
	return 0;
}

static int write_part(struct page_data *data, struct error *error)
{
	char path[64];
	FILE *file;
	int status;

	snprintf(path, sizeof(path), PART_NAME, data->part_count + 1);
	status = page_data_create(data->dir_fd, path, &file, error);
	if (status)
		return status;
	fputs("burin.part(\"", file);
	strbuf_write(&data->part, file);
	fputs("\");\n", file);
	data->part_count++;
	return page_data_close(file, path, error);
}

int page_data_add(struct page_data *data, const struct file_record *file, const json_t *record,
	const struct thumb *thumb, bool preview, struct error *error)
{
	add_row(&data->part, file, record, thumb, preview);
	return data->part.len >= PART_LEN ? write_part(data, error) : 0;
}

int page_data_finish(struct page_data *data, struct error *error)
{
	char path[64];
	int status = 0;

	if (data->part_count && data->part.len)
		status = write_part(data, error);
	for (unsigned i = data->part_count + 1;; i++) {
		snprintf(path, sizeof(path), PART_NAME, i);
		if (dirfd_unlink(data->dir_fd, path))
			break;
	}
	if (!data->part_count)
		unlinkat(data->dir_fd, PAGE_DATA_DIR, AT_REMOVEDIR);
	return status;
}

void page_data_free(struct page_data *data)
{
	strbuf_free(&data->part);
}
