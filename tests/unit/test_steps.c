/* The search for pieces, on an image in memory and for made-up formats. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/searcher.h"
#include "assemble/strategies.h"
#include "carvers/bytes.h"
#include "memory_image.h"

#define CLUSTER ((uint64_t)4096)
#define START (4 * CLUSTER)

static uint8_t content[64 * CLUSTER], file[12 * CLUSTER];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = { .size = CLUSTER, .end = sizeof(content) };

/* A run of the file, at a cluster of the image. */
static void plant(uint64_t from, uint64_t to, uint64_t cluster)
{
	memcpy(content + cluster * CLUSTER, file + from, to - from);
}

static void fill_file(uint32_t seed)
{
	for (size_t i = 0; i < sizeof(file); i++) {
		seed = seed * 1664525 + 1013904223;
		file[i] = (uint8_t)(seed >> 24);
	}
}

/* What the search puts together of the file that begins at START. */
static bool find(const struct carver *carver, const struct broken *broken, struct extents *extents)
{
	static char name[] = "x";
	const struct rule rule = {
		.name = name, .extension = name, .carver = carver, .max_size = 1 << 20
	};
	struct searcher *searcher = searcher_new(NULL, NULL, &clusters);
	struct workbench bench = { .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.searcher = searcher,
		.work_left = (uint64_t)1 << 28 };
	struct assembly assembly = { 0 };
	struct outcome outcome;
	bool found = find_anywhere(&bench, broken, extents, &outcome, &assembly);

	if (found)
		outcome_free(&outcome);
	view_free(bench.view);
	searcher_free(searcher);
	return found;
}

static void expect_runs(const struct extents *extents, const uint64_t (*runs)[2], size_t count)
{
	cr_assert_eq(extents->count, count, "%zu pieces", extents->count);
	for (size_t i = 0; i < count; i++) {
		cr_expect_eq(extents->runs[i].offset, runs[i][0] * CLUSTER, "piece %zu", i);
		cr_expect_eq(extents->runs[i].length, runs[i][1], "piece %zu", i);
	}
}

/* ---- records with a sum each ---------------------------------------------------------------- */

#define RECORD 9000
#define RECORDS 4

static uint32_t sum_of(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 1;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static enum verdict check_records(struct view *view, struct finding *finding)
{
	for (uint64_t at = 0; at < RECORDS * RECORD; at += RECORD) {
		const uint8_t *p = view_peek(view, at, RECORD);

		finding->length = at ? at : 1;
		if (!p || le32(p) != sum_of(p + 4, RECORD - 4))
			return verdict_because(CARVE_TRUNCATED, finding, "a wrong sum");
	}
	finding->length = RECORDS * RECORD;
	return CARVE_COMPLETE;
}

/* The second piece is shorter than a record: what follows it is noticed at the record's begin, in the piece's first
 * bytes, or before it. */
Test(steps, follow_a_piece_that_is_shorter_than_a_record)
{
	static const struct carver carver = { .name = "x", .check = check_records };
	static const struct broken broken = {
		.start = START, .length = 1, .verdict = CARVE_TRUNCATED
	};
	static const uint64_t runs[][2] = { { 4, 2 * CLUSTER }, { 9, CLUSTER },
		{ 12, RECORDS * RECORD - 3 * CLUSTER } };
	struct extents extents = { 0 };

	memset(content, 0xee, sizeof(content));
	fill_file(1);
	for (uint64_t at = 0; at < RECORDS * RECORD; at += RECORD) {
		uint32_t sum = sum_of(file + at + 4, RECORD - 4);

		memcpy(file + at, &sum, 4);
	}
	plant(0, 2 * CLUSTER, 4);
	plant(2 * CLUSTER, 3 * CLUSTER, 9);
	plant(3 * CLUSTER, RECORDS * RECORD, 12);
	cr_assert(find(&carver, &broken, &extents));
	expect_runs(&extents, runs, 3);
	extents_free(&extents);
}

/* ---- frames without an end ------------------------------------------------------------------ */

#define FRAME 100

static enum verdict check_frames(struct view *view, struct finding *finding)
{
	uint64_t at = 0;
	const uint8_t *p;

	while ((p = view_peek(view, at, 4)) && memcmp(p, "FRAM", 4) == 0)
		at += FRAME;
	finding->length = at < view_size(view) ? at : view_size(view);
	return verdict_because(at ? CARVE_UNVERIFIED : CARVE_REJECT, finding, "no frame");
}

/* Another file's frames fit at the same place of a frame as the file's own, and go on for longer. */
Test(steps, a_file_without_end_is_not_lengthened_by_another_ones_pieces)
{
	static const struct carver carver = { .name = "x", .check = check_frames };
	static const struct broken broken = {
		.start = START, .length = 2 * CLUSTER + 8, .verdict = CARVE_UNVERIFIED
	};
	static const uint64_t runs[][2] = { { 4, 2 * CLUSTER }, { 9, CLUSTER + 2012 } };
	struct extents extents = { 0 };

	memset(content, 0xee, sizeof(content));
	fill_file(2);
	for (uint64_t at = 0; at < sizeof(file); at += FRAME)
		memcpy(file + at, "FRAM", 4);
	plant(0, 2 * CLUSTER, 4);
	plant(2 * CLUSTER, 3 * CLUSTER + 2012, 9);
	plant(3 * CLUSTER, 5 * CLUSTER + 3000, 14);
	cr_assert(find(&carver, &broken, &extents));
	expect_runs(&extents, runs, 2);
	extents_free(&extents);
}
