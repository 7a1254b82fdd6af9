/*
 * A database of a case: the tables run, file, extent and problem, with indices. A file may hold several
 * runs, and later exports add theirs; all that an export adds comes in one transaction, or not at all.
 *
 * A database that is there already may come from anywhere: it must say by its application_id that burin
 * made it, and its own views and triggers are off.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/exporter.h"

#define APPLICATION_ID 0x62726e31 /* "brn1" */

struct database {
	sqlite3 *handle;
	sqlite3_stmt *file, *extent;
	char *path;
	bool is_new;
	sqlite3_int64 run;
};

static const char schema[] =
	"CREATE TABLE run(id INTEGER PRIMARY KEY, output TEXT, image TEXT, image_absolute TEXT,"
	" image_format TEXT, image_size INTEGER, stored_md5 TEXT, stored_sha1 TEXT, evidence TEXT,"
	" burin TEXT, \"commit\" TEXT, command TEXT, host TEXT, started TEXT, finished TEXT,"
	" \"case\" TEXT, examiner TEXT, note TEXT, rules TEXT, rules_sha256 TEXT, types TEXT,"
	" files INTEGER, bytes INTEGER, \"exit\" INTEGER, UNIQUE(output, started, image));\n"
	"CREATE TABLE extent(file INTEGER NOT NULL REFERENCES file(id), number INTEGER NOT NULL,"
	" \"offset\" INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY(file, number)) WITHOUT"
	" ROWID;\n"
	"CREATE TABLE problem(run INTEGER NOT NULL REFERENCES run(id), text TEXT NOT NULL);\n";

static const char indices[] = "CREATE INDEX file_offset ON file(run, \"offset\");\n"
			      "CREATE INDEX file_kind ON file(kind);\n"
			      "CREATE INDEX file_fs_path ON file(fs_path);\n"
			      "CREATE INDEX file_time ON file(time);\n"
			      "CREATE INDEX file_modified ON file(modified);\n"
			      "CREATE INDEX file_md5 ON file(md5);\n"
			      "CREATE INDEX file_sha1 ON file(sha1);\n"
			      "CREATE INDEX file_sha256 ON file(sha256);\n";

static int failed(const struct database *database, struct error *error)
{
	return error_set(error, EXIT_IO, EIO, "cannot write the database '%.500s': %s",
		database->path, sqlite3_errmsg(database->handle));
}

static int execute(const struct database *database, const char *sql, struct error *error)
{
	return sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : failed(database, error);
}

static int prepare(const struct database *database, sqlite3_stmt **statement, const char *sql,
	struct error *error)
{
	return sqlite3_prepare_v2(database->handle, sql, -1, statement, NULL) == SQLITE_OK
		       ? 0
		       : failed(database, error);
}

/* Runs an INSERT and makes it ready for the next row. */
static int insert(const struct database *database, sqlite3_stmt *statement, struct error *error)
{
	int result = sqlite3_step(statement), status;

	status = result == SQLITE_DONE ? 0 : failed(database, error);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return status;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Columns of the table of files, by an empty record; values: question marks for an INSERT instead. */
static char *file_columns(bool values)
{
	const struct file_record none = { 0 };
	struct export_row row = { 0 };
	struct strbuf text = { 0 };

	export_row_fill(&row, &none);
	for (size_t i = 0; i < row.count; i++) {
		const struct export_cell *cell = &row.cells[i];

		if (values)
			strbuf_text(&text, ", ?");
		else
			strbuf_print(&text, ", \"%s\" %s", cell->name,
				cell->is_number ? "INTEGER" : "TEXT");
	}
	export_row_clear(&row);
	return text.bytes;
}

static int create_tables(const struct database *database, struct error *error)
{
	char *columns = file_columns(false);
	char *sql = xasprintf("PRAGMA application_id = %d; PRAGMA user_version = 1;\n"
			      "CREATE TABLE file(id INTEGER PRIMARY KEY, run INTEGER NOT NULL"
			      " REFERENCES run(id)%s);\n%s",
		APPLICATION_ID, columns, schema);
	int status = execute(database, sql, error);

	free(sql);
	free(columns);
	return status ? status : execute(database, indices, error);
}

static sqlite3_int64 pragma(const struct database *database, const char *sql)
{
	sqlite3_stmt *statement;
	sqlite3_int64 value = -1;

	if (prepare(database, &statement, sql, NULL))
		return -1;
	if (sqlite3_step(statement) == SQLITE_ROW)
		value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return value;
}

static int check_old(const struct database *database, struct error *error)
{
	if (pragma(database, "PRAGMA application_id") == APPLICATION_ID &&
		pragma(database, "PRAGMA user_version") == 1)
		return 0;
	return error_set(error, EXIT_USAGE, EEXIST,
		"'%.500s' is there already and no database of burin's: name a new file",
		database->path);
}

static int prepare_inserts(struct database *database, struct error *error)
{
	char *values = file_columns(true);
	char *sql = xasprintf("INSERT INTO file VALUES(NULL, ?%s)", values);
	int status = prepare(database, &database->file, sql, error);

	if (!status)
		status = prepare(database, &database->extent,
			"INSERT INTO extent VALUES(?, ?, ?, ?)", error);
	free(sql);
	free(values);
	return status;
}

/* Creates the file, so that what another program makes at that moment is not taken over. */
static bool create_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int close_database(void *state, bool keep, struct error *error)
{
	struct database *database = state;
	int status = 0;

	sqlite3_finalize(database->file);
	sqlite3_finalize(database->extent);
	if (keep)
		status = execute(database, "COMMIT", error);
	sqlite3_close(database->handle); /* rolls back what was not committed */
	if (database->is_new && (!keep || status))
		unlink(database->path);
	free(database->path);
	free(database);
	return status;
}

static int begin(struct database *database, struct error *error)
{
	int status;

	if (sqlite3_open_v2(database->path, &database->handle,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
		    NULL) != SQLITE_OK)
		return error_set(error, EXIT_IO, EIO, "cannot open the database '%.500s': %s",
			database->path, sqlite3_errmsg(database->handle));
	sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(database->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(database->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(database->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	status = database->is_new ? 0 : check_old(database, error);
	if (!status)
		status = execute(database, "BEGIN EXCLUSIVE", error);
	if (!status && database->is_new)
		status = create_tables(database, error);
	return status ? status : prepare_inserts(database, error);
}

static int sqlite_open(void **state, const char *path, struct error *error)
{
	struct database *database = xcalloc(1, sizeof(*database));
	int status;

	database->path = xstrdup(path);
	database->is_new = create_file(path);
	status = begin(database, error);
	if (status)
		close_database(database, false, NULL);
	else
		*state = database;
	return status;
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* A text, a number, or words joined by blanks, at "image.path" in a record; null where it is missing. */
static void bind_field(sqlite3_stmt *statement, int column, const json_t *record, const char *field)
{
	const char *dot = strchr(field, '.');
	struct strbuf text = { 0 };
	const json_t *value, *word;
	size_t i;

	if (dot) {
		char *outer = strndup(field, (size_t)(dot - field));

		bind_field(statement, column, json_object_get(record, outer), dot + 1);
		free(outer);
		return;
	}
	value = json_object_get(record, field);
	if (json_is_integer(value))
		sqlite3_bind_int64(statement, column, json_integer_value(value));
	if (json_is_string(value))
		strbuf_clean(&text, json_string_value(value));
	json_array_foreach((json_t *)value, i, word) if (json_is_string(word))
	{
		strbuf_text(&text, i ? " " : "");
		strbuf_clean(&text, json_string_value(word));
	}
	if (text.bytes)
		sqlite3_bind_text(statement, column, text.bytes, (int)text.len, SQLITE_TRANSIENT);
	strbuf_free(&text);
}

/* The columns of run after id, in the run's record; the summary's fields follow with sqlite_run_end. */
static const char *const run_fields[] = { "output", "image.path", "image.absolute", "image.format",
	"image.size", "image.stored_hashes.md5", "image.stored_hashes.sha1", "evidence", "burin",
	"commit", "command", "host", "started", NULL, "case.number", "case.examiner", "case.note",
	"rules.path", "rules.sha256", "rules.types", NULL, NULL, NULL };

static bool holds_run(const struct database *database)
{
	return sqlite3_extended_errcode(database->handle) == SQLITE_CONSTRAINT_UNIQUE;
}

static int sqlite_run(
	void *state, const char *folder, const struct report_reader *report, struct error *error)
{
	struct database *database = state;
	const json_t *record = report_reader_run_record(report);
	sqlite3_stmt *statement;
	int status = prepare(database, &statement,
		"INSERT INTO run VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
		"?, ?, ?,"
		" ?, ?, ?)",
		error);

	if (status)
		return status;
	for (size_t i = 0; i < sizeof(run_fields) / sizeof(*run_fields); i++)
		if (run_fields[i])
			bind_field(statement, (int)i + 1, record, run_fields[i]);
	status = insert(database, statement, error);
	sqlite3_finalize(statement);
	if (status && holds_run(database))
		return error_set(error, EXIT_USAGE, EEXIST,
			"the run in '%.300s' is in '%.300s' already", folder, database->path);
	database->run = sqlite3_last_insert_rowid(database->handle);
	return status;
}

static int add_problems(
	const struct database *database, const json_t *problems, struct error *error)
{
	sqlite3_stmt *statement;
	int status = prepare(database, &statement, "INSERT INTO problem VALUES(?, ?)", error);
	size_t count = json_array_size(problems);

	for (size_t i = 0; i < count && !status; i++) {
		const char *text = json_string_value(json_array_get(problems, i));

		sqlite3_bind_int64(statement, 1, database->run);
		sqlite3_bind_text(statement, 2, text_clean_copy(text ? text : ""), -1, free);
		status = insert(database, statement, error);
	}
	sqlite3_finalize(statement);
	return status;
}

static int sqlite_run_end(void *state, const struct report_reader *report, struct error *error)
{
	static const char *const fields[] = { "finished", "files", "bytes", "exit" };
	const struct database *database = state;
	const json_t *summary = report_reader_summary_record(report);
	sqlite3_stmt *statement;
	int status = prepare(database, &statement,
		"UPDATE run SET finished = ?1, files = ?2, bytes = ?3, \"exit\" = ?4 WHERE id = ?5",
		error);

	if (status)
		return status;
	for (int i = 0; i < 4; i++)
		bind_field(statement, i + 1, summary, fields[i]);
	sqlite3_bind_int64(statement, 5, database->run);
	status = insert(database, statement, error);
	sqlite3_finalize(statement);
	return status ? status
		      : add_problems(database, json_object_get(summary, "problems"), error);
}

/* ---- files --------------------------------------------------------------------------------- */

static int add_extents(
	const struct database *database, const struct file_record *file, struct error *error)
{
	sqlite3_int64 id = sqlite3_last_insert_rowid(database->handle);
	int status = 0;

	for (uint32_t i = 0; i < file->run_count && !status; i++) {
		sqlite3_bind_int64(database->extent, 1, id);
		sqlite3_bind_int64(database->extent, 2, i);
		sqlite3_bind_int64(database->extent, 3, (sqlite3_int64)file->runs[i].offset);
		sqlite3_bind_int64(database->extent, 4, (sqlite3_int64)file->runs[i].length);
		status = insert(database, database->extent, error);
	}
	return status;
}

static int sqlite_file(void *state, const struct file_record *file, struct error *error)
{
	const struct database *database = state;
	struct export_row row = { 0 };
	int status;

	export_row_fill(&row, file);
	sqlite3_bind_int64(database->file, 1, database->run);
	for (size_t i = 0; i < row.count; i++) {
		const struct export_cell *cell = &row.cells[i];

		if (!cell->is_null && cell->is_number)
			sqlite3_bind_int64(database->file, (int)i + 2, (sqlite3_int64)cell->number);
		else if (!cell->is_null)
			sqlite3_bind_text(
				database->file, (int)i + 2, cell->text, -1, SQLITE_STATIC);
	}
	status = insert(database, database->file, error);
	export_row_clear(&row);
	return status ? status : add_extents(database, file, error);
}

const struct exporter sqlite_exporter = { .open = sqlite_open,
	.run = sqlite_run,
	.file = sqlite_file,
	.run_end = sqlite_run_end,
	.close = close_database };
