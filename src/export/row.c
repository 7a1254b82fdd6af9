/* A file as a row: THE COLUMNS of all tables that burin exports. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/exporter.h"

static struct export_cell *add(struct export_row *row, const char *name)
{
	struct export_cell *cell = &row->cells[row->count++];

	assert(row->count <= EXPORT_CELLS_MAX);
	*cell = (struct export_cell){ .name = name };
	return cell;
}

/* text: NULL or "" for none. */
static void add_text(struct export_row *row, const char *name, const char *text)
{
	struct export_cell *cell = add(row, name);

	cell->is_null = !text || !*text;
	if (!cell->is_null)
		cell->text = row->texts[row->text_count++] = text_clean_copy(text);
}

static void add_number(struct export_row *row, const char *name, uint64_t number, bool is_known)
{
	struct export_cell *cell = add(row, name);

	cell->is_number = true;
	cell->is_null = !is_known;
	cell->number = number;
}

/* seconds: 0 for none. */
static void add_time(struct export_row *row, const char *name, int64_t seconds)
{
	char text[TEXT_TIME_LEN] = "";

	add_text(row, name, seconds && text_time(seconds, text) ? text : NULL);
}

static void add_original(struct export_row *row, const struct file_record *file)
{
	const struct fs_file *fs = &file->fs;
	bool known = file->fs_path != NULL;

	add_text(row, "fs_path", file->fs_path);
	add_number(row, "inode", fs->inode, known);
	add_number(row, "fs_size", fs->size, known);
	add_number(row, "fs_offset", fs->offset, known && fs->has_offset);
	add_number(row, "deleted", (fs->flags & FS_DELETED) != 0, known);
	for (enum fs_time time = 0; time < FS_TIME_COUNT; time++)
		add_time(row, fs_time_name(time), known ? fs->times[time] : 0);
}

void export_row_fill(struct export_row *row, const struct file_record *file)
{
	add_text(row, "path", file->path);
	add_text(row, "type", file->type);
	add_text(row, "kind", file->kind);
	add_text(row, "extension", file->extension);
	add_number(row, "offset", file->offset, true);
	add_number(row, "length", file->length, true);
	add_number(row, "pieces", file->run_count, true);
	add_text(row, "assembly", file->assembly.by ? assembly_by_name(file->assembly.by) : NULL);
	add_text(row, "status", file_status_name(file->status));
	add_text(row, "end", file_end_name(file->end));
	add_text(row, "reason", file->reason);
	add_number(row, "unreadable", file->unreadable, true);
	add_text(row, "allocated", file_space_name(file->space));
	add_original(row, file);
	add_text(row, "title", file->title);
	add_time(row, "time", file->time);
	add_text(row, "md5", file->hashes.md5);
	add_text(row, "sha1", file->hashes.sha1);
	add_text(row, "sha256", file->hashes.sha256);
	add_text(row, "known", file->known);
	add_text(row, "alert", file->alert);
	add_number(row, "written", file->written, true);
}

void export_row_clear(struct export_row *row)
{
	for (size_t i = 0; i < row->text_count; i++)
		free(row->texts[i]);
	row->count = row->text_count = 0;
}
