/*
 * burin's index of known hashes (hashing/hash_index.h) beside SQLite, on a list of random digests.
 *
 *     known_index LIST [--make N] [--kind md5|sha1] [--memory MIB] [--lookups N] [--only NAME]...
 *
 *   --make N    first write N random digests to LIST in hex, a line each (the same ones every time)
 *   --memory    MiB for sorting and for SQLite's page cache (default: 128, as burin uses)
 *   --lookups   warm lookups of each kind; a fiftieth of them cold (default: 1,000,000)
 *   --only      index, sorted, staged or unsorted; may be repeated (default: all of them)
 *
 * SQLite's table is `WITHOUT ROWID` with the digest as its primary key. `sorted`: digest_sort.h
 * sorts, SQLite gets the digests in rising order; `staged`: they go to a table without an order,
 * from where SQLite's own sorter takes them; `unsorted`: as they come. Every program reads the list
 * with the same parser, builds in a process of its own, and is asked for the same digests: half of
 * the lookups are for digests of the list, half for others. Cold: the file's pages are dropped from
 * the page cache after it has been opened. Take ratios of one run only.
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "hashing/digest_sort.h"
#include "hashing/hash_index.h"
#include "hashing/hash_list.h"

static struct {
	const char *list;
	enum hash_kind kind;
	size_t len, memory; /* bytes: of a digest; to use */
	uint64_t count, lookups;
} bench = { .kind = HASH_SHA1, .len = 20, .memory = (size_t)128 << 20, .lookups = 1000000 };

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "known_index: %s\n", what);
	exit(2);
}

/* ---- the digests --------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
	return x ^ (x >> 31);
}

/* The list's digests are those with a number below bench.count. */
static void make_digest(uint64_t number, uint8_t digest[32])
{
	for (unsigned i = 0; i < 4; i++) {
		uint64_t word = mix(number * 4 + i);

		memcpy(digest + 8 * i, &word, sizeof(word));
	}
}

static void make_list(void)
{
	static const char hex[] = "0123456789abcdef";
	FILE *file = fopen(bench.list, "w");
	uint8_t digest[32];
	char line[65];

	if (!file)
		fail("cannot write the list");
	for (uint64_t i = 0; i < bench.count; i++) {
		make_digest(i, digest);
		for (size_t b = 0; b < bench.len; b++) {
			line[2 * b] = hex[digest[b] >> 4];
			line[2 * b + 1] = hex[digest[b] & 15];
		}
		line[2 * bench.len] = '\n';
		fwrite(line, 1, 2 * bench.len + 1, file);
	}
	if (fclose(file))
		fail("cannot write the list");
}

/* ---- SQLite -------------------------------------------------------------------------------- */

struct database {
	sqlite3 *handle;
	sqlite3_stmt *statement;
};

static void run_sql(sqlite3 *handle, const char *text)
{
	char *message = NULL;

	if (sqlite3_exec(handle, text, NULL, NULL, &message) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", text, message);
		exit(2);
	}
}

/* cache: bytes of SQLite's page cache. */
static void open_database(struct database *database, const char *path, size_t cache)
{
	char text[160];

	if (sqlite3_open_v2(path, &database->handle,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
		    NULL) != SQLITE_OK)
		fail("cannot open the database");
	run_sql(database->handle, "PRAGMA page_size=4096; PRAGMA journal_mode=OFF;"
				  "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
				  "PRAGMA temp_store=FILE");
	snprintf(text, sizeof(text), "PRAGMA cache_size=-%zu", cache >> 10);
	run_sql(database->handle, text);
}

static void prepare(struct database *database, const char *text)
{
	if (sqlite3_prepare_v2(database->handle, text, -1, &database->statement, NULL) != SQLITE_OK)
		fail("cannot prepare a statement");
}

static int insert(void *context, const uint8_t *digest)
{
	struct database *database = context;

	sqlite3_bind_blob(database->statement, 1, digest, (int)bench.len, SQLITE_STATIC);
	if (sqlite3_step(database->statement) != SQLITE_DONE)
		fail(sqlite3_errmsg(database->handle));
	return sqlite3_reset(database->statement);
}

static int insert_from_list(void *context, enum hash_kind kind, const uint8_t *digest)
{
	(void)kind;
	return insert(context, digest);
}

static int sort_from_list(void *context, enum hash_kind kind, const uint8_t *digest)
{
	(void)kind;
	return digest_sort_add(context, digest);
}

static void read_list(int (*take)(void *, enum hash_kind, const uint8_t *), void *context)
{
	struct hash_list_reader reader = { .take = take, .context = context };
	struct error error = { 0 };

	if (hash_list_read(bench.list, &reader, &error))
		fail("cannot read the list");
}

/* Sorted digests only ever touch the last pages. */
#define SMALL_CACHE ((size_t)8 << 20)
#define TABLE "CREATE TABLE known (digest BLOB PRIMARY KEY) WITHOUT ROWID"

static void build_sorted(const char *path)
{
	struct digest_sort *sort = digest_sort_new(bench.len, bench.memory, "/tmp");
	struct database database;

	read_list(sort_from_list, sort);
	open_database(&database, path, SMALL_CACHE);
	run_sql(database.handle, TABLE "; BEGIN");
	prepare(&database, "INSERT INTO known VALUES (?1)");
	if (digest_sort_finish(sort, insert, &database))
		fail("cannot sort");
	digest_sort_free(sort);
	sqlite3_finalize(database.statement);
	run_sql(database.handle, "COMMIT");
	sqlite3_close(database.handle);
}

static void build_staged(const char *path)
{
	struct database database;

	open_database(&database, path, bench.memory);
	run_sql(database.handle, TABLE "; CREATE TEMP TABLE staged (digest BLOB); BEGIN");
	prepare(&database, "INSERT INTO staged VALUES (?1)");
	read_list(insert_from_list, &database);
	sqlite3_finalize(database.statement);
	run_sql(database.handle,
		"INSERT OR IGNORE INTO known SELECT digest FROM staged ORDER BY digest; COMMIT");
	sqlite3_close(database.handle);
}

static void build_unsorted(const char *path)
{
	struct database database;

	open_database(&database, path, bench.memory);
	run_sql(database.handle, TABLE "; BEGIN");
	prepare(&database, "INSERT OR IGNORE INTO known VALUES (?1)");
	read_list(insert_from_list, &database);
	sqlite3_finalize(database.statement);
	run_sql(database.handle, "COMMIT");
	sqlite3_close(database.handle);
}

static void *database_open(const char *path)
{
	struct database *database = xcalloc(1, sizeof(*database));

	open_database(database, path, bench.memory);
	prepare(database, "SELECT 1 FROM known WHERE digest = ?1");
	return database;
}

static bool database_find(void *context, const uint8_t *digest)
{
	struct database *database = context;
	int result;

	sqlite3_bind_blob(database->statement, 1, digest, (int)bench.len, SQLITE_STATIC);
	result = sqlite3_step(database->statement);
	sqlite3_reset(database->statement);
	return result == SQLITE_ROW;
}

static void database_close(void *context)
{
	struct database *database = context;

	sqlite3_finalize(database->statement);
	sqlite3_close(database->handle);
	free(database);
}

/* ---- burin's index ------------------------------------------------------------------------- */

static void *index_open(const char *path)
{
	struct hash_index *index;
	struct error error = { 0 };

	(void)path; /* it is found beside the list */
	if (hash_index_open(&index, bench.list, bench.memory, true, &error))
		fail("cannot open the index");
	return index;
}

static void index_close(void *context)
{
	hash_index_close(context);
}

static void build_index(const char *path)
{
	hash_index_close(index_open(path));
}

static bool index_find(void *context, const uint8_t *digest)
{
	return hash_index_find(context, bench.kind, digest) == 1;
}

/* ---- the comparison ------------------------------------------------------------------------ */

static int ignore_digest(void *context, enum hash_kind kind, const uint8_t *digest)
{
	(void)context;
	(void)kind;
	(void)digest;
	return 0;
}

static void build_nothing(const char *path)
{
	(void)path;
	read_list(ignore_digest, NULL);
}

static const struct method {
	const char *name, *suffix;
	void (*build)(const char *path);
	void *(*open)(const char *path);
	bool (*find)(void *context, const uint8_t *digest);
	void (*close)(void *context);
} methods[] = {
	{ "parse", NULL, build_nothing, NULL, NULL, NULL },
	{ "index", ".burin-index", build_index, index_open, index_find, index_close },
	{ "sorted", ".sorted.db", build_sorted, database_open, database_find, database_close },
	{ "staged", ".staged.db", build_staged, database_open, database_find, database_close },
	{ "unsorted", ".unsorted.db", build_unsorted, database_open, database_find,
		database_close },
};

static void drop_pages(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("cannot open what was built");
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

/* Looks `lookups` digests up, of the list or not. Returns how many a second. */
static double find_many(const struct method *method, void *opened, uint64_t lookups, bool hits)
{
	double start = now(CLOCK_MONOTONIC);
	uint8_t digest[32];

	for (uint64_t i = 0; i < lookups; i++) {
		uint64_t number = mix(i ^ 0x5EED) % bench.count;

		make_digest(hits ? number : bench.count + number, digest);
		if (method->find(opened, digest) != hits)
			fail("a wrong answer");
	}
	return (double)lookups / (now(CLOCK_MONOTONIC) - start);
}

static double find_cold(const struct method *method, const char *path, bool hits)
{
	void *opened = method->open(path);
	double rate;

	drop_pages(path);
	rate = find_many(method, opened, bench.lookups / 50, hits);
	method->close(opened);
	return rate;
}

static void measure(const struct method *method, const char *path)
{
	double cold_hits, cold_misses, opening;
	struct stat info = { 0 };
	void *opened;

	stat(path, &info);
	drop_pages(path);
	opening = now(CLOCK_MONOTONIC);
	method->close(method->open(path));
	opening = now(CLOCK_MONOTONIC) - opening;
	cold_hits = find_cold(method, path, true);
	cold_misses = find_cold(method, path, false);
	opened = method->open(path);
	find_many(method, opened, bench.lookups, true);
	printf(" %8.0f %8.3f %10.0f %10.0f", (double)info.st_size / 1e6, opening, cold_hits,
		cold_misses);
	printf(" %10.0f", find_many(method, opened, bench.lookups, true));
	printf(" %10.0f\n", find_many(method, opened, bench.lookups, false));
	method->close(opened);
}

static void compare(const struct method *method)
{
	char *path = method->suffix ? xasprintf("%s%s", bench.list, method->suffix) : NULL;
	double start = now(CLOCK_MONOTONIC);
	struct rusage usage;
	int status;
	pid_t pid;

	if (path)
		unlink(path);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		method->build(path);
		_exit(0);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status)
		fail("building failed");
	printf("%-9s %8.1f %8.1f %8ld", method->name, now(CLOCK_MONOTONIC) - start,
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
		usage.ru_maxrss >> 10);
	if (path) {
		measure(method, path);
		unlink(path);
	} else {
		printf("\n");
	}
	fflush(NULL);
	free(path);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "make", 1, NULL, 'm' }, { "kind", 1, NULL, 'k' },
		{ "memory", 1, NULL, 'M' }, { "lookups", 1, NULL, 'l' }, { "only", 1, NULL, 'o' },
		{ NULL, 0, NULL, 0 } };
	uint32_t chosen = 0;
	struct stat info;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (option == 'm')
			bench.count = strtoull(optarg, NULL, 10);
		else if (option == 'k' && strcmp(optarg, "md5") == 0)
			bench.kind = HASH_MD5, bench.len = 16;
		else if (option == 'M')
			bench.memory = (size_t)strtoull(optarg, NULL, 10) << 20;
		else if (option == 'l')
			bench.lookups = strtoull(optarg, NULL, 10);
		else if (option == 'o')
			for (unsigned i = 0; i < sizeof(methods) / sizeof(*methods); i++)
				chosen |= (uint32_t)(strcmp(methods[i].name, optarg) == 0) << i;
	if (optind + 1 != argc)
		fail("which list? (see the top of tests/bench/known_index.c)");
	bench.list = argv[optind];
	if (bench.count)
		make_list();
	else if (stat(bench.list, &info) == 0)
		bench.count = (uint64_t)info.st_size / (2 * bench.len + 1);
	printf("%" PRIu64 " digests of %zu bytes, %zu MiB for sorting or caching\n", bench.count,
		bench.len, bench.memory >> 20);
	printf("%9s %8s %8s %8s %8s %8s %10s %10s %10s %10s\n", "", "build s", "cpu s", "peak MiB",
		"file MB", "open s", "cold hit/s", "cold mis/s", "warm hit/s", "warm mis/s");
	for (unsigned i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (!chosen || chosen >> i & 1)
			compare(&methods[i]);
	return 0;
}
