/* Clusters that only what is known of their places tells apart, in an image in memory and for a made-up format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "memory_image.h"
#include "strategy_case.h"

#define CLUSTER ((uint64_t)4096)
#define CLUSTERS 64
#define ROWS 6 /* of the file */
#define WORK ((uint64_t)1 << 26)
#define TABLE 3

/* A file: each cluster begins with its kind and its number. The kinds of rows after the table are known only
 * from it. Kinds do not say which file's a cluster is, nor numbers, which only the check looks at. */
static uint8_t content[CLUSTERS * CLUSTER];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = { .size = CLUSTER, .end = sizeof(content) };
static enum verdict whole;
static bool proves;

static void put_cluster(size_t place, unsigned kind, unsigned number)
{
	uint8_t *p = content + place * CLUSTER;

	memset(p, 0x55, CLUSTER);
	p[0] = (uint8_t)kind;
	p[1] = (uint8_t)number;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	for (unsigned row = 0; row < ROWS; row++) {
		const uint8_t *p = view_peek(view, row * CLUSTER, CLUSTER);

		finding->length = row * CLUSTER;
		if (!p)
			return row ? CARVE_TRUNCATED : CARVE_REJECT;
		if (p[1] != row)
			return whole == CARVE_UNVERIFIED && row > 1 && p[1] == 99 ? CARVE_UNVERIFIED
										  : CARVE_TRUNCATED;
	}
	finding->length = ROWS * CLUSTER;
	if (proves)
		view_proved(view, 0, ROWS * CLUSTER, 64);
	return CARVE_COMPLETE;
}

struct known {
	bool has_table;
};

static void *begin(struct view *view, uint64_t *length, bool *is_whole, uint64_t *known)
{
	const uint8_t *p = view_peek(view, TABLE * CLUSTER, 2);
	struct known *table = malloc(sizeof(*table));

	table->has_table = p && p[0] == 10 + TABLE;
	*is_whole = table->has_table;
	*length = (table->has_table ? ROWS : TABLE + 1) * CLUSTER;
	*known = table->has_table;
	return table;
}

static void ask(const void *places, uint64_t from, size_t count, const uint8_t *bytes, size_t len,
	int *bits)
{
	const struct known *table = places;

	for (size_t n = 0; n < count; n++) {
		size_t row = (size_t)((from + n * len) / CLUSTER);

		bits[n] = row > TABLE && !table->has_table ? 0 : bytes[0] == 10 + row ? 160 : -160;
	}
}

static const struct carve_places places = { .begin = begin, .ask = ask, .end = free };
static const struct carver format = { .name = "x", .check = check, .places = &places };

/* The file's clusters are at these places of the image. */
static void make(const size_t at[ROWS])
{
	whole = CARVE_COMPLETE;
	memset(content, 0, sizeof(content));
	for (unsigned row = 0; row < ROWS; row++)
		put_cluster(at[row], 10 + row, row);
}

static struct strategy_result search(
	const struct carver *carver, enum verdict verdict, uint64_t start, struct extents *extents)
{
	const struct workbench bench = { .evidence = &evidence.image,
		.clusters = &clusters,
		.work_left = WORK,
		.is_last = true };
	const struct broken broken = {
		.start = start, .length = CLUSTER, .verdict = (uint32_t)verdict
	};

	return strategy_try(find_by_places, &bench, carver, &broken, extents);
}

static void expect_at(const struct extents *extents, const size_t at[ROWS])
{
	struct extents right = { 0 };

	for (unsigned row = 0; row < ROWS; row++)
		extents_add(&right, at[row] * CLUSTER, CLUSTER);
	cr_assert_eq(extents->count, right.count);
	cr_expect_eq(memcmp(extents->runs, right.runs, right.count * sizeof(*right.runs)), 0);
	extents_free(&right);
}

/* What is after the table in the file is known once it is found. */
Test(by_places, pieces_in_any_order)
{
	static const size_t at[ROWS] = { 20, 21, 40, 41, 8, 30 };
	struct extents extents = { 0 };
	struct strategy_result result;

	make(at);
	result = search(&format, CARVE_TRUNCATED, 20 * CLUSTER, &extents);
	cr_assert(result.found);
	cr_expect_eq(result.length, ROWS * CLUSTER);
	cr_expect_eq(result.assembly.evidence, 0); /* nothing proves it */
	cr_expect_eq(result.tested, 1);
	expect_at(&extents, at);
	extents_free(&extents);
}

/* The clusters before and after a joint have copies with which it would be elsewhere: a doubt, unless the joint is proved. */
Test(by_places, what_is_proved_has_no_doubt)
{
	static const size_t at[ROWS] = { 20, 21, 40, 41, 8, 30 };

	for (int i = 0; i < 2; i++) {
		struct extents extents = { 0 };
		struct strategy_result result;

		make(at);
		put_cluster(22, 12, 2);
		put_cluster(39, 11, 1);
		proves = i;
		result = search(&format, CARVE_TRUNCATED, 20 * CLUSTER, &extents);
		proves = false;
		cr_assert(result.found);
		cr_expect_eq(result.assembly.doubt_count, !i, "%u",
			(unsigned)result.assembly.doubt_count);
		cr_expect_eq(result.assembly.evidence, i ? 64 : 0);
		extents_free(&extents);
	}
}

/* Its pages link all clusters to the first one, by some bits each. */
static unsigned link_bits;

static void *begin_pages(struct view *view, uint32_t *page_len, uint32_t *count)
{
	(void)view;
	*page_len = CLUSTER;
	*count = ROWS;
	return content;
}

static void link_pages(const void *context,
	void (*add)(void *add_context, const struct carve_page_link *link), void *add_context)
{
	(void)context;
	for (uint32_t row = 1; row < ROWS; row++) {
		const struct carve_page_link link = { .page = row, .bits = 16 * link_bits };

		add(add_context, &link);
	}
}

static bool is_own(const void *context, uint32_t page, const uint8_t *bytes)
{
	(void)context;
	return bytes && bytes[1] == page && bytes[CLUSTER - 1] == 0x55;
}

static unsigned no_bits(
	const void *context, const uint8_t *bytes, uint32_t page, uint32_t from, uint32_t to)
{
	(void)context, (void)bytes, (void)page, (void)from, (void)to;
	return 0;
}

static enum carve_kin no_kin(const void *context, const uint8_t *bytes)
{
	(void)context, (void)bytes;
	return CARVE_NO_KIN;
}

static void end_pages(void *context)
{
	(void)context;
}

/* Each piece was chosen among all clusters by what links show as well: 64 of them, six bits. */
Test(by_places, links_prove_what_was_chosen)
{
	static const size_t at[ROWS] = { 20, 21, 40, 41, 8, 30 };
	static const struct carve_pages pages = { begin_pages, link_pages, is_own, no_bits, no_kin,
		end_pages };
	static const struct carver linked = {
		.name = "x", .check = check, .places = &places, .pages = &pages
	};
	static const unsigned bits[] = { 25, 28 };

	for (int i = 0; i < 2; i++) {
		struct extents extents = { 0 };
		struct strategy_result result;

		make(at);
		link_bits = bits[i];
		result = search(&linked, CARVE_TRUNCATED, 20 * CLUSTER, &extents);
		cr_assert(result.found);
		cr_expect_eq(result.assembly.evidence, i ? link_bits : 0);
		expect_at(&extents, at);
		extents_free(&extents);
	}
}

/* Another file's cluster of the same kind is nearer: the check notices that, and the next best is tried. */
Test(by_places, what_the_carver_notices_is_less_likely)
{
	static const size_t at[ROWS] = { 20, 21, 40, 41, 8, 30 };
	struct extents extents = { 0 };
	struct strategy_result result;

	make(at);
	put_cluster(22, 12, 77);
	result = search(&format, CARVE_TRUNCATED, 20 * CLUSTER, &extents);
	cr_assert(result.found);
	cr_expect_gt(result.tested, 1);
	expect_at(&extents, at);
	extents_free(&extents);
}

/* Without the table, or where nothing fits, there is no path, and not for ever. */
Test(by_places, no_path)
{
	static const size_t at[ROWS] = { 20, 21, 40, 41, 8, 30 };
	static const struct carver without = { .name = "x", .check = check };
	struct extents extents = { 0 };

	make(at);
	put_cluster(41, 99, TABLE);
	cr_expect_not(search(&format, CARVE_TRUNCATED, 20 * CLUSTER, &extents).found);
	make(at);
	put_cluster(8, 14, 77);
	cr_expect_not(search(&format, CARVE_TRUNCATED, 20 * CLUSTER, &extents).found);
	cr_expect_not(search(&format, CARVE_TRUNCATED, 20 * CLUSTER + 512, &extents).found);
	make(at);
	cr_expect_not(search(&without, CARVE_TRUNCATED, 20 * CLUSTER, &extents).found);
	cr_expect_eq(extents.count, 0);
	extents_free(&extents);
}

/* A file that may be in one piece, but for what nothing verifies, is not given up for a path that is no likelier. */
Test(by_places, a_file_in_one_piece_stays)
{
	static const size_t at[ROWS] = { 20, 21, 22, 23, 24, 25 };
	struct extents extents = { 0 };

	make(at);
	cr_expect_not(search(&format, CARVE_TRUNCATED, 20 * CLUSTER, &extents).found);
	put_cluster(25, 15, 99);
	put_cluster(50, 15, 5);
	whole = CARVE_UNVERIFIED;
	cr_expect_not(search(&format, CARVE_UNVERIFIED, 20 * CLUSTER, &extents).found);
	cr_expect(search(&format, CARVE_TRUNCATED, 20 * CLUSTER, &extents).found);
	extents_free(&extents);
}

/* No cluster is in two places, nor one that a complete file has. */
Test(by_places, clusters_that_are_taken)
{
	static const size_t at[ROWS] = { 20, 21, 40, 41, 8, 30 };
	struct clusters free_ones = clusters;
	struct extents extents = { 0 };

	make(at);
	put_cluster(25, 14, 4);
	clusters_take(&clusters, 25 * CLUSTER, CLUSTER);
	clusters_take(&clusters, 24 * CLUSTER, CLUSTER);
	cr_assert(search(&format, CARVE_TRUNCATED, 20 * CLUSTER, &extents).found);
	expect_at(&extents, at);
	extents_free(&extents);
	ranges_free(&clusters.taken);
	clusters = free_ones;
}
