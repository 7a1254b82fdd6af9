/*
 * Hashes from a SQLite database. It is opened for reading, with views, triggers and functions of
 * the database's own switched off: only rows of a plain table are read.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/hash_list.h"

/* No value of use is longer. */
#define VALUE_MAX 100000

static const char *const columns[] = { "sha256", "sha1", "md5" };
static const char *const tables[] = { "FILE", "METADATA", NULL };

static sqlite3 *open_database(const char *path)
{
	sqlite3 *database = NULL;

	if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
		SQLITE_OK) {
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

/* Of a table's columns, the strongest of hashes. table NULL: of any table. The caller frees *name,
 * the table's. NULL when there is none. */
static const char *find_column(sqlite3 *database, const char *table, char **name)
{
	static const char text[] =
		"SELECT m.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c "
		"WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND "
		"lower(c.name) = ?1 AND (?2 IS NULL OR upper(m.name) = ?2) LIMIT 1";
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns) && !found; i++) {
		sqlite3_stmt *statement = NULL;

		if (sqlite3_prepare_v2(database, text, -1, &statement, NULL) == SQLITE_OK &&
			sqlite3_bind_text(statement, 1, columns[i], -1, SQLITE_STATIC) ==
				SQLITE_OK &&
			sqlite3_bind_text(statement, 2, table, -1, SQLITE_STATIC) == SQLITE_OK &&
			sqlite3_step(statement) == SQLITE_ROW) {
			*name = xstrdup((const char *)sqlite3_column_text(statement, 0));
			found = columns[i];
		}
		sqlite3_finalize(statement);
	}
	return found;
}

static int take_value(sqlite3_stmt *statement, struct hash_list_reader *reader)
{
	const char *value = (const char *)sqlite3_column_blob(statement, 0);
	int len = sqlite3_column_bytes(statement, 0);
	enum hash_kind kind;
	uint8_t digest[32];

	if (!value || len <= 0 || !hash_digest_parse(value, (size_t)len, &kind, digest)) {
		reader->ignored++;
		return 0;
	}
	return reader->take(reader->context, kind, digest);
}

static int read_table(sqlite3 *database, const char *table, const char *column,
	struct hash_list_reader *reader, int *result)
{
	char *text = sqlite3_mprintf("SELECT \"%w\" FROM \"%w\"", column, table);
	sqlite3_stmt *statement = NULL;
	int status = 0;

	*result = sqlite3_prepare_v2(database, text, -1, &statement, NULL);
	while (*result == SQLITE_OK || *result == SQLITE_ROW) {
		*result = sqlite3_step(statement);
		if (*result != SQLITE_ROW)
			break;
		status = take_value(statement, reader);
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
	const char *column = NULL;
	char *table = NULL, clean[512];
	int status = 0, result = SQLITE_DONE;

	text_clean(path, clean, sizeof(clean));
	if (!database)
		return error_set(error, EXIT_USAGE, EIO, "cannot open the database '%s'", clean);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !column; i++)
		column = find_column(database, tables[i], &table);
	if (!column)
		status = error_set(error, EXIT_USAGE, EINVAL,
			"the database '%s' has no table with a column sha256, sha1 or md5", clean);
	else
		status = read_table(database, table, column, reader, &result);
	if (!status && result != SQLITE_DONE)
		status = error_set(error, EXIT_USAGE, EIO, "cannot read the database '%s': %s",
			clean, sqlite3_errstr(result));
	free(table);
	sqlite3_close(database);
	return status;
}
