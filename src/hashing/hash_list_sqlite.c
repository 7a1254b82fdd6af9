/*
 * Hashes from an SQLite database. It is opened read-only, with the database's own views, triggers
 * and functions disabled: only rows of a plain table are read.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/text.h"
#include "hashing/hash_list.h"

/* No useful value is longer. */
#define VALUE_MAX 100000

/* The strongest first. */
static const char *const columns[] = { "sha256", "sha1", "md5" };
#define COLUMNS (sizeof(columns) / sizeof(*columns))
static const enum hash_kind kinds[] = { HASH_MD5, HASH_SHA1, HASH_SHA256 };
static const char *const tables[] = { "FILE", "METADATA", NULL };

/* The path as a URI. Without a write-ahead log that belongs to it, the database is declared
 * immutable: otherwise SQLite wants to write beside some databases, which may be on a read-only
 * disk. */
static char *uri_of(const char *path)
{
	char *log = sqlite3_mprintf("%s-wal", path), *uri = xmalloc(strlen(path) * 3 + 32),
	     *to = uri;
	struct stat info;
	bool logged = stat(log, &info) == 0 && info.st_size > 0;

	to += sprintf(to, "file:");
	for (; *path; path++)
		to += sprintf(to, strchr("?#%", *path) ? "%%%02X" : "%c", (unsigned)*path);
	if (!logged)
		strcpy(to, "?immutable=1");
	sqlite3_free(log);
	return uri;
}

static sqlite3 *open_database(const char *path)
{
	sqlite3 *database = NULL;
	char *uri = uri_of(path);
	int result = sqlite3_open_v2(
		uri, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);

	free(uri);
	if (result != SQLITE_OK) {
		sqlite3_close(database);
		return NULL;
	}
	sqlite3_limit(database, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return database;
}

/* A table with the column. table NULL: any. The caller frees it; NULL when there is none. */
static char *find_table(sqlite3 *database, const char *table, const char *column)
{
	static const char text[] =
		"SELECT m.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE "
		"m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND lower(c.name) = ?1 AND "
		"(?2 IS NULL OR upper(m.name) = upper(?2)) LIMIT 1";
	sqlite3_stmt *statement = NULL;
	char *name = NULL;

	if (sqlite3_prepare_v2(database, text, -1, &statement, NULL) == SQLITE_OK &&
		sqlite3_bind_text(statement, 1, column, -1, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_bind_text(statement, 2, table, -1, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_step(statement) == SQLITE_ROW)
		name = xstrdup((const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return name;
}

/* The table to read, and which of the columns it has. The caller frees it; NULL: none. */
static char *choose_table(sqlite3 *database, bool has[COLUMNS])
{
	char *chosen = NULL;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (size_t c = 0; c < COLUMNS && !chosen; c++)
			chosen = find_table(database, tables[i], columns[c]);
	for (size_t c = 0; c < COLUMNS && chosen; c++) {
		char *same = find_table(database, chosen, columns[c]);

		has[c] = same != NULL;
		free(same);
	}
	return chosen;
}

/* As hex, or binary. */
static bool parse_value(
	sqlite3_stmt *statement, int column, enum hash_kind *kind, uint8_t digest[32])
{
	bool binary = sqlite3_column_type(statement, column) == SQLITE_BLOB;
	const char *value = (const char *)sqlite3_column_blob(statement, column);
	size_t len = (size_t)sqlite3_column_bytes(statement, column);

	if (!value || !len)
		return false;
	if (hash_digest_parse(value, len, kind, digest))
		return true;
	for (size_t i = 0; binary && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (hash_digest_len(kinds[i]) == len) {
			memcpy(digest, value, len);
			*kind = kinds[i];
			return true;
		}
	return false;
}

static int take_row(sqlite3_stmt *statement, struct hash_list_reader *reader)
{
	enum hash_kind kind;
	uint8_t digest[32];

	for (int column = 0; column < (int)COLUMNS; column++)
		if (parse_value(statement, column, &kind, digest))
			return reader->take(reader->context, kind, digest);
	reader->ignored++;
	return 0;
}

static int read_table(sqlite3 *database, const char *table, const bool has[COLUMNS],
	struct hash_list_reader *reader, int *result)
{
	char *text = sqlite3_mprintf("SELECT %s, %s, %s FROM \"%w\"", has[0] ? columns[0] : "NULL",
		has[1] ? columns[1] : "NULL", has[2] ? columns[2] : "NULL", table);
	sqlite3_stmt *statement = NULL;
	int status = 0;

	*result = sqlite3_prepare_v2(database, text, -1, &statement, NULL);
	while (*result == SQLITE_OK || *result == SQLITE_ROW) {
		*result = sqlite3_step(statement);
		if (*result != SQLITE_ROW)
			break;
		status = take_row(statement, reader);
		if (status)
			break;
	}
	sqlite3_finalize(statement);
	sqlite3_free(text);
	return status;
}

int hash_list_read_sqlite(const char *path, struct hash_list_reader *reader, struct error *error)
{
	sqlite3 *database = open_database(path);
	bool has[COLUMNS] = { false };
	char *table, clean[512];
	int status = 0, result = SQLITE_DONE;

	text_clean(path, clean, sizeof(clean));
	if (!database)
		return error_set(error, EXIT_USAGE, EIO, "cannot open the database '%s'", clean);
	table = choose_table(database, has);
	if (!table)
		status = error_set(error, EXIT_USAGE, EINVAL,
			"the database '%s' has no table with a column sha256, sha1 or md5", clean);
	else
		status = read_table(database, table, has, reader, &result);
	if (!status && result != SQLITE_DONE)
		status = error_set(error, EXIT_USAGE, EIO, "cannot read the database '%s': %s",
			clean, sqlite3_errstr(result));
	free(table);
	sqlite3_close(database);
	return status;
}
