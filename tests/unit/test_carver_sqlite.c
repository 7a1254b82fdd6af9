/* SQLite databases as the library writes them, and with pages of other places. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <string.h>

#include "carver_case.h"
#include "temp.h"

#define PAGE_LEN 4096
#define ROWS 3000 /* in each of two tables */

static uint8_t *database;
static size_t database_len;

static void run(sqlite3 *db, const char *sql)
{
	char *reason = NULL;

	cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, &reason), SQLITE_OK, "%s", reason);
}

/* Row numbers of the first table that are far apart, so that pages could change places with any other. */
static void set_up(void)
{
	char sql[200];
	sqlite3 *db;

	temp_make();
	cr_assert_eq(sqlite3_open(temp_at("db"), &db), SQLITE_OK);
	run(db, "PRAGMA page_size = 4096; BEGIN; CREATE TABLE a (id INTEGER PRIMARY KEY, text);"
		"CREATE TABLE b (text, number); CREATE INDEX c ON b (text);");
	for (int i = 0; i < ROWS; i++) {
		snprintf(sql, sizeof(sql),
			"INSERT INTO a VALUES (%d, 'row %d of the first table');"
			"INSERT INTO b VALUES ('row %d of the second', %d);",
			(i - ROWS / 2) * 7, i, i * 7919 % ROWS, i);
		run(db, sql);
	}
	run(db, "COMMIT; DELETE FROM a WHERE id % 5 = 0; DELETE FROM b WHERE number % 7 = 0;");
	sqlite3_close(db);
	database = (uint8_t *)temp_read("db", &database_len);
	temp_remove();
}

static void tear_down(void)
{
	free(database);
}

TestSuite(carver_sqlite, .init = set_up, .fini = tear_down);

static uint8_t kind_of(size_t page)
{
	return database[page * PAGE_LEN];
}

static void exchange(size_t a, size_t b)
{
	uint8_t page[PAGE_LEN];

	memcpy(page, database + a * PAGE_LEN, PAGE_LEN);
	memcpy(database + a * PAGE_LEN, database + b * PAGE_LEN, PAGE_LEN);
	memcpy(database + b * PAGE_LEN, page, PAGE_LEN);
}

Test(carver_sqlite, is_complete_as_written)
{
	struct finding found;

	cr_assert_eq(
		carve("sqlite", database, database_len, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(found.length, database_len);
}

/* Each page of a tree with any other one of its kind: the rows of one of them are not its parent's. */
Test(carver_sqlite, a_page_of_another_place_is_noticed)
{
	size_t count = database_len / PAGE_LEN, tried = 0;

	for (size_t a = 1; a < count; a++)
		for (size_t b = a + 1; b < count; b++) {
			struct finding found;

			if (kind_of(a) != 13 || kind_of(b) != 13)
				continue;
			exchange(a, b);
			cr_assert_eq(carve("sqlite", database, database_len, &found),
				CARVE_TRUNCATED, "%zu and %zu", a, b);
			exchange(a, b);
			tried++;
		}
	cr_expect_gt(tried, 1000);
}

static enum verdict go_on(const struct carve_state *state, struct finding *found, uint64_t *work)
{
	struct view *view = view_new_memory(database, database_len);
	enum verdict verdict;

	memset(found, 0, sizeof(*found));
	verdict = carver_find("sqlite")->resume(view, state, found);
	if (view_starts_over(view)) {
		memset(found, 0, sizeof(*found));
		verdict = carver_find("sqlite")->check(view, found);
	}
	*work = view_work_done(view);
	view_free(view);
	return verdict;
}

/* With each state of a file that breaks off, whatever pages follow: the same as without, for less work. */
Test(carver_sqlite, a_check_goes_on)
{
	struct carve_state states[VIEW_STATES];
	size_t at = database_len / PAGE_LEN / 2, count;
	uint8_t *broken = calloc(database_len, 1);
	struct view *view = view_new_memory(broken, database_len);
	struct finding found, again;
	uint64_t work;

	cr_assert_not_null(broken);
	memcpy(broken, database, database_len);
	memset(broken + at * PAGE_LEN, 0xee, PAGE_LEN);
	memset(&found, 0, sizeof(found));
	view_keep_states(view, PAGE_LEN);
	cr_expect_eq(carver_find("sqlite")->check(view, &found), CARVE_TRUNCATED);
	count = view_take_states(view, states);
	view_free(view);
	cr_assert_gt(count, 2);
	for (int other = 0; other < 3; other++) {
		size_t a = database_len / PAGE_LEN - 1, b = at + 1;

		if (other)
			exchange(other == 1 ? a : at + 2, b);
		for (size_t i = 0; i < count; i++) {
			enum verdict verdict = carve("sqlite", database, database_len, &found);

			cr_expect_eq(go_on(&states[i], &again, &work), verdict);
			cr_expect_eq(again.length, found.length);
			cr_expect_str_eq(again.why, found.why);
			cr_expect(other || i + 1 < count || work < 3 * database_len / 4);
		}
		if (other)
			exchange(other == 1 ? a : at + 2, b);
	}
	for (size_t i = 0; i < count; i++)
		free((void *)states[i].data);
	free(broken);
}

/* Where pieces are put together, one may end inside a page: cells before that are valid. */
Test(carver_sqlite, a_part_of_a_page_is_valid)
{
	size_t tried = 0;

	for (size_t page = 2; page < database_len / PAGE_LEN; page++) {
		size_t at = page * PAGE_LEN, half = at + PAGE_LEN / 2;
		uint8_t saved[PAGE_LEN / 2];
		struct finding found = { 0 };
		struct view *view;

		if (kind_of(page) != 13)
			continue;
		memcpy(saved, database + half, sizeof(saved));
		memset(database + half, 0xee, sizeof(saved));
		view = view_new_memory(database, database_len);
		view_set_thorough(view, true);
		cr_expect_eq(carver_find("sqlite")->check(view, &found), CARVE_TRUNCATED);
		cr_expect(found.length <= half && found.length >= at, "%zu", page);
		tried += found.length > half - 200;
		view_free(view);
		cr_expect_eq(carve("sqlite", database, database_len, &found), CARVE_TRUNCATED);
		cr_expect_eq(found.length, at); /* a scan does not look for it */
		memcpy(database + half, saved, sizeof(saved));
	}
	cr_expect_gt(tried, 20, "%zu", tried);
}

#define FAR_PAGES ((size_t)100000) /* of 512 bytes */
#define CHILDREN 50

static void put(uint8_t *to, uint32_t value, unsigned len)
{
	while (len--)
		*to++ = (uint8_t)(value >> 8 * len);
}

/* The work of a database of many pages, of which the first has children so many pages apart. */
static uint64_t work_of_children(uint32_t apart)
{
	struct bytes bytes = { .data = calloc(FAR_PAGES, 512), .len = FAR_PAGES * 512 };
	uint8_t *page = bytes.data;
	uint64_t work;

	memcpy(page, "SQLite format 3\0\2\0\1\1\0\x40\x20\x20", 24);
	put(page + 24, 1, 4);
	put(page + 28, FAR_PAGES, 4);
	put(page + 44, 4, 4);
	put(page + 56, 1, 4);
	put(page + 92, 1, 4);
	page[100] = 5;
	put(page + 103, CHILDREN, 2);
	put(page + 105, 512 - 5 * CHILDREN, 2);
	put(page + 108, 2, 4);
	for (uint32_t i = 0; i < CHILDREN; i++) {
		size_t at = 512 - 5 * (i + 1);

		put(page + 112 + 2 * i, (uint32_t)at, 2);
		put(page + at, 3 + i * apart, 4);
		page[at + 4] = (uint8_t)(i + 1);
	}
	work = carve_work("sqlite", &bytes, UINT64_MAX - 1);
	free(bytes.data);
	return work;
}

/* A header can state any number of pages, and a page can refer to any of them: what is kept of them is memory that has to be
 * cleared. */
Test(carver_sqlite, pages_that_are_referred_to_count_as_work)
{
	uint64_t near = work_of_children(1), far = work_of_children(1100);

	cr_expect_lt(near, 60000, "%llu", (unsigned long long)near);
	cr_expect_gt(far, near + CHILDREN * 300, "%llu and %llu", (unsigned long long)near,
		(unsigned long long)far);
}

/* Firefox's databases have pages of 32 KiB and grow in steps of 512 KiB. */
Test(carver_sqlite, firefox_fills_with_zeros)
{
	static const int page_lens[] = { 32768, 16384 };

	for (int i = 0; i < 2; i++) {
		struct bytes bytes = { 0 };
		char sql[100];
		size_t len, grown;
		uint8_t *data;
		sqlite3 *db;

		temp_make();
		cr_assert_eq(sqlite3_open(temp_at("db"), &db), SQLITE_OK);
		snprintf(sql, sizeof(sql),
			"PRAGMA page_size = %d; CREATE TABLE a (b); INSERT INTO a VALUES (1)",
			page_lens[i]);
		run(db, sql);
		sqlite3_close(db);
		data = (uint8_t *)temp_read("db", &len);
		temp_remove();
		bytes_add(&bytes, data, len);
		free(data);
		grown = i ? len : 512 << 10;
		bytes_fill(&bytes, 0, (512 << 10) - len);
		bytes_fill(&bytes, 1, 4096);
		expect("sqlite", &bytes, CARVE_COMPLETE, grown, NULL);
		free(bytes.data);
	}
}
