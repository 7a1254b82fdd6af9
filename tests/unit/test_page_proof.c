/* What the pages of a database in pieces prove, on an image in memory. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/page_proof.h"
#include "memory_image.h"
#include "temp.h"

#define PAGE ((uint64_t)4096)
#define PAGES 256
#define ROWS 400
#define HEAD_AT 4   /* pages, in the image */
#define REST_AT 130 /* what is after the joint */
#define FREE_AT 2
#define TEXT_LEN 1200

static uint8_t content[PAGES * PAGE];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = { .size = PAGE, .end = sizeof(content), .voters.count = 20 };
static uint8_t *database, *newer, *other;
static size_t pages, joint = 20;  /* pages of the database before it */
static const char *fraction = ""; /* of a row's number */

static void run(sqlite3 *db, const char *sql)
{
	char *reason = NULL;

	cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, &reason), SQLITE_OK, "%s", reason);
}

static void make_text(unsigned seed, unsigned row, char text[TEXT_LEN])
{
	unsigned len = 20 + row * row * 7919 % 500 + (row % 10 == 7 ? 450 : 0);

	for (unsigned k = 0; k < len; k++)
		text[k] = (char)('a' + (row * 31 + k * k * (seed + 3) + seed * 7) % 26);
	text[len] = 0;
}

/* Texts of the seed's, whose lengths are the same for all seeds; those of others than 1 are blobs. */
static sqlite3 *make(unsigned seed, const char *index)
{
	char sql[2 * TEXT_LEN], text[TEXT_LEN];
	sqlite3 *db;

	cr_assert_eq(sqlite3_open(temp_at("db"), &db), SQLITE_OK);
	run(db, "PRAGMA page_size = 4096; BEGIN; CREATE TABLE a (id INTEGER PRIMARY KEY, text, "
		"hits);");
	run(db, index);
	for (unsigned i = 0; i < ROWS; i++) {
		make_text(seed, i, text);
		snprintf(sql, sizeof(sql), "INSERT INTO a VALUES (%u, CAST('%s' AS %s), %u%s)",
			i + 1, text, seed == 1 ? "TEXT" : "BLOB", 2000 + i, fraction);
		run(db, sql);
	}
	run(db, "COMMIT");
	return db;
}

static uint8_t *finish(sqlite3 *db, size_t *len)
{
	uint8_t *bytes;

	sqlite3_close(db);
	bytes = (uint8_t *)temp_read("db", len);
	cr_assert_eq(remove(temp_at("db")), 0);
	return bytes;
}

static void set_up_with(const char *index)
{
	sqlite3 *db;
	size_t len, same;

	temp_make();
	database = finish(make(1, index), &len);
	pages = len / PAGE;
	cr_assert_gt(pages, joint + 8);
	db = make(1, index);
	run(db, "UPDATE a SET hits = hits + 1");
	newer = finish(db, &same);
	cr_assert_eq(len, same);
	other = finish(make(2, index), &same);
	cr_assert_gt(same, (joint + 5) * PAGE);
	temp_remove();
}

static void tear_down(void)
{
	free(database);
	free(newer);
	free(other);
}

static void put_page(size_t at, const uint8_t *from, size_t page)
{
	memcpy(content + at * PAGE, from + page * PAGE, PAGE);
}

/* The database, in two pieces. */
static void plant(void)
{
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * i >> 7 ^ i >> 3);
	memcpy(content + HEAD_AT * PAGE, database, joint * PAGE);
	memcpy(content + REST_AT * PAGE, database + joint * PAGE, (pages - joint) * PAGE);
}

/* checked: what the joint has without pages. */
static uint32_t prove_with(uint64_t work, uint32_t checked)
{
	static char name[] = "sqlite";
	const struct rule rule = { .name = name,
		.extension = name,
		.carver = carver_find("sqlite"),
		.max_size = sizeof(content) };
	struct workbench bench = { .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.work_left = work };
	struct extents extents = { 0 };
	struct joint_bits bits = { .checked = checked };

	extents_add(&extents, HEAD_AT * PAGE, joint * PAGE);
	extents_add(&extents, REST_AT * PAGE, (pages - joint) * PAGE);
	page_proof_add(&bench, &extents, &bits);
	extents_free(&extents);
	view_free(bench.view);
	return bits.checked;
}

static uint32_t prove(void)
{
	return prove_with(1 << 24, 0);
}

static void set_up(void)
{
	set_up_with("SELECT 1");
}

TestSuite(page_proof, .fini = tear_down);

Test(page_proof, rows_prove_a_joint, .init = set_up)
{
	plant();
	cr_expect_gt(prove(), PROOF_BITS);
	cr_expect_eq(prove_with(20000, 0), 0); /* not all was looked at */
}

/* The same check may have linked pages. */
Test(page_proof, is_not_added_to_what_checks_prove, .init = set_up)
{
	uint32_t bits;

	plant();
	bits = prove();
	cr_expect_eq(prove_with(1 << 24, bits - 1), bits);
	cr_expect_eq(prove_with(1 << 24, bits + 1), bits + 1);
}

/* The old page would do as well, wherever it is. */
Test(page_proof, another_version_is_noticed, .init = set_up)
{
	for (size_t page = 3; page < pages; page++) {
		plant();
		put_page(FREE_AT, newer, page);
		cr_expect_eq(prove(), 0, "%zu", page);
	}
	/* So would the first one, which counts changes. */
	plant();
	put_page(FREE_AT, newer, 0);
	cr_expect_eq(prove(), 0);
	/* But not what other files have. */
	plant();
	put_page(FREE_AT, newer, joint);
	clusters_take(&clusters, FREE_AT * PAGE, PAGE);
	cr_expect_gt(prove(), PROOF_BITS);
	ranges_free(&clusters.taken);
}

Test(page_proof, a_copy_is_no_version, .init = set_up)
{
	plant();
	put_page(FREE_AT, database, 8);
	cr_expect_gt(prove(), PROOF_BITS);
	/* Unless pieces may be of that. */
	put_page(REST_AT - 1, database, joint - 1);
	cr_expect_eq(prove(), 0);
	plant();
	put_page(HEAD_AT + joint, database, joint);
	cr_expect_eq(prove(), 0);
}

/* A page of another database that has the same rows. */
Test(page_proof, a_joint_that_may_move_is_not_proved, .init = set_up)
{
	plant();
	put_page(FREE_AT, other, joint + 4);
	cr_expect_gt(prove(), PROOF_BITS);
	put_page(HEAD_AT + joint, other, joint);
	cr_expect_eq(prove(), 0);
	plant();
	put_page(REST_AT - 1, other, joint - 1);
	cr_expect_eq(prove(), 0);
	/* One that has others does not fit. */
	plant();
	put_page(REST_AT - 1, other, joint);
	cr_expect_gt(prove(), PROOF_BITS);
}

static void set_up_indexed(void)
{
	set_up_with("CREATE INDEX b ON a (text)");
}

Test(page_proof, an_index_proves_more, .init = set_up_indexed)
{
	plant();
	cr_expect_gt(prove(), 100);
}

/* Moves the joint to where the page before it ends with more than a sector of a row. */
static void find_joint(void)
{
	const uint8_t *page;

	clusters.finest = 512;
	do {
		page = database + joint++ * PAGE;
		cr_assert_lt(joint + 8, pages);
	} while (page[0] != 13 || PAGE - (page[8] << 8 | page[9]) < 512 + 8);
	plant();
}

/* Where clusters are smaller than pages a page may end with others' bytes, unless its values are unlike those of the database. */
Test(page_proof, values_show_where_a_joint_is, .init = set_up)
{
	uint8_t *end = content + REST_AT * PAGE - 512;

	find_joint();
	cr_expect_gt(prove(), PROOF_BITS);
	memset(end, 'a', 512); /* could be a text's end */
	cr_expect_eq(prove(), 0);
	end[100] = 0xff;
	cr_expect_gt(prove(), PROOF_BITS);
	end[100] = 0;
	cr_expect_gt(prove(), PROOF_BITS);
}

/* One text of many is not UTF-8. */
Test(page_proof, an_odd_text_is_doubted, .init = set_up)
{
	find_joint();
	cr_expect_gt(prove(), PROOF_BITS);
	content[REST_AT * PAGE + PAGE - 20] = 0;
	cr_expect_eq(prove(), 0);
}

static void set_up_reals(void)
{
	fraction = ".5";
	set_up();
	fraction = "";
}

Test(page_proof, numbers_show_where_a_joint_is, .init = set_up_reals)
{
	uint8_t *end = content + REST_AT * PAGE - 512;

	find_joint();
	memset(end, 'a', 512); /* could be a text's end, but as a number it is beyond all others */
	cr_expect_gt(prove(), PROOF_BITS);
	memcpy(end + 504, "\x40\xa0", 2);
	cr_expect_eq(prove(), 0);
}

/* Another database may have the same text at the same row. */
Test(page_proof, one_entry_shows_no_version, .init = set_up_indexed)
{
	char sql[2 * TEXT_LEN], text[TEXT_LEN];
	size_t len;
	sqlite3 *db;

	temp_make();
	db = make(2, "CREATE INDEX b ON a (text)");
	make_text(1, 0, text);
	snprintf(sql, sizeof(sql), "UPDATE a SET text = '%s', hits = 70000 WHERE id = 1", text);
	run(db, sql);
	free(other);
	other = finish(db, &len);
	for (size_t page = 1; page < len / PAGE; page++) {
		plant();
		put_page(FREE_AT, other, page);
		cr_expect_gt(prove(), PROOF_BITS, "%zu", page);
	}
	temp_remove();
}

/* ---- pages smaller than clusters ------------------------------------------------------------ */

#define SMALL ((uint64_t)512)
#define SMALL_COUNT 32 /* pages: two clusters on each side of the joint */

/* A made-up format: a page that is checked begins with its number. */
static bool is_checked[SMALL_COUNT];
static unsigned link_bits, found_bits; /* of links; found before */
static enum carve_kin small_kin;       /* of each page elsewhere */

static void *begin_small(struct view *view, uint32_t *page_len, uint32_t *count)
{
	(void)view;
	*page_len = SMALL;
	*count = SMALL_COUNT;
	return content;
}

static void link_small(const void *context,
	void (*add)(void *add_context, const struct carve_page_link *link), void *add_context)
{
	const struct carve_page_link link = {
		.page = 0, .other = SMALL_COUNT - 1, .bits = 16 * link_bits
	};

	(void)context;
	add(add_context, &link);
}

static bool may_be_small(const void *context, uint32_t page, const uint8_t *bytes)
{
	(void)context;
	return !is_checked[page] || (bytes && bytes[0] == page);
}

static unsigned no_bits(
	const void *context, const uint8_t *bytes, uint32_t page, uint32_t from, uint32_t to)
{
	(void)context, (void)bytes, (void)page, (void)from, (void)to;
	return 0;
}

static enum carve_kin any_kin(const void *context, const uint8_t *bytes)
{
	(void)context, (void)bytes;
	return small_kin;
}

static void end_small(void *context)
{
	(void)context;
}

static uint32_t prove_small(uint64_t compared)
{
	static const struct carve_pages small = { begin_small, link_small, may_be_small, no_bits,
		any_kin, end_small };
	static const struct carver carver = { .name = "x", .pages = &small };
	static char name[] = "x";
	const struct rule rule = { .name = name, .extension = name, .carver = &carver };
	struct workbench bench = { .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.compared = compared,
		.work_left = 1 << 24 };
	struct extents extents = { 0 };
	struct joint_bits bits = { .checked = found_bits };

	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = 0xff;
	for (uint32_t page = 0; page < SMALL_COUNT; page++)
		content[(page < 16 ? HEAD_AT : REST_AT - 2) * PAGE + page * SMALL] = (uint8_t)page;
	extents_add(&extents, HEAD_AT * PAGE, 2 * PAGE);
	extents_add(&extents, REST_AT * PAGE, 2 * PAGE);
	page_proof_add(&bench, &extents, &bits);
	extents_free(&extents);
	view_free(bench.view);
	return bits.checked;
}

/* A cluster is the file's if any of its pages is; but each cluster needs one. */
Test(page_proof, one_page_shows_of_a_cluster)
{
	static const uint32_t own[] = { 3, 10, 21, 30 };

	link_bits = 30;
	for (int i = 0; i < 4; i++)
		is_checked[own[i]] = true;
	cr_expect_eq(prove_small(0), 30);
	for (int i = 0; i < 4; i++) {
		is_checked[own[i]] = false;
		cr_expect_eq(prove_small(0), 0, "%d", i);
		is_checked[own[i]] = true;
	}
}

/* What proves a joint shows nothing of the rest: where the image has a page of another version, not all need be of one. */
Test(page_proof, checks_of_joints_show_no_version)
{
	is_checked[10] = is_checked[21] = true;
	found_bits = 40;
	cr_expect_eq(prove_small(0), 40);
	small_kin = CARVE_VERSION;
	cr_expect_eq(prove_small(0), 0);
	for (int i = 0; i < SMALL_COUNT; i++)
		is_checked[i] = true;
	cr_expect_eq(prove_small(0), 40, "nothing is unknown");
}

/* One of many places fits by chance. */
Test(page_proof, places_that_were_compared_count)
{
	link_bits = 30;
	is_checked[3] = is_checked[10] = is_checked[21] = is_checked[30] = true;
	cr_expect_eq(prove_small(1000), 30);
	cr_expect_eq(prove_small(2000), 0);
}
