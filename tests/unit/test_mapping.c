/* What a table inside a file shows of its pieces, on an image in memory and for a made-up format: a list of
 * places, each of which has a word and its number. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/mapping.h"
#include "assemble/strategies.h"
#include "base/memory.h"
#include "memory_image.h"

#define CLUSTER 512
#define PARTS 24
#define PART_LEN 100
#define LENGTH (PARTS * PART_LEN + 12)
#define WORD "part"
#define START ((uint64_t)8 * CLUSTER)

#define CONTENT_LEN (10000 * CLUSTER)

/* On the heap: the leak sanitizer reads all static arrays at each test's end. */
static uint8_t *content;

static struct memory_image evidence;

static void make_evidence(void)
{
	content = xcalloc(1, CONTENT_LEN);
	memory_image_init(&evidence, content, CONTENT_LEN);
}

static void free_evidence(void)
{
	free(content);
}

TestSuite(mapping, .init = make_evidence, .fini = free_evidence);

/* A part's word, its number, and bytes that only it has. */
static void fill_part(unsigned number, uint8_t bytes[PART_LEN])
{
	memset(bytes, 'a' + (int)number, PART_LEN);
	memcpy(bytes, WORD, 4);
	for (unsigned i = 4; i < 20; i++)
		bytes[i] = (uint8_t)(number * 37 + i * 11);
}

static void make_file(uint8_t file[LENGTH])
{
	memcpy(file, "list", 4);
	memset(file + 4, 0, 8);
	for (unsigned i = 0; i < PARTS; i++)
		fill_part(i, file + 12 + i * PART_LEN);
}

/* The list is at the start, where it gives all parts. */
static bool read_head(struct view *view, struct carve_table *table)
{
	const uint8_t *p = view_peek(view, 0, 4);

	if (!p || memcmp(p, "list", 4) != 0)
		return false;
	table->length = LENGTH;
	for (unsigned i = 0; i < PARTS; i++) {
		struct carve_anchor anchor = { .offset = 12 + (uint64_t)i * PART_LEN, .len = 20 };
		uint8_t bytes[PART_LEN];

		fill_part(i, bytes);
		memcpy(anchor.bytes, bytes, anchor.len);
		if (!table->add(table, &anchor))
			break;
	}
	return true;
}

/* Complete when all parts are there; the check of each proves it. */
static enum verdict check_list(struct view *view, struct finding *finding)
{
	for (unsigned i = 0; i < PARTS; i++) {
		uint64_t at = 12 + (uint64_t)i * PART_LEN;
		const uint8_t *p = view_peek(view, at, PART_LEN);
		uint8_t bytes[PART_LEN];

		fill_part(i, bytes);
		finding->length = at;
		if (!p || memcmp(p, bytes, PART_LEN) != 0)
			return verdict_because(
				CARVE_TRUNCATED, finding, "no part at %u", (unsigned)at);
		view_proved(view, at - 1, at + PART_LEN + 1, 64);
	}
	finding->length = LENGTH;
	return CARVE_COMPLETE;
}

static struct carve_map map = { .words = { { .len = 4, .bytes = WORD } }, .head = read_head };
static const struct carver carver = { .name = "list", .check = check_list, .map = &map };
static char name[] = "list";
static const struct rule rule = {
	.name = name, .extension = name, .carver = &carver, .max_size = 1 << 20
};

static struct clusters clusters = { .size = CLUSTER, .end = CONTENT_LEN };
static struct workbench bench;
static const struct broken broken = {
	.start = START, .length = CLUSTER, .verdict = CARVE_TRUNCATED
};

/* Plants the pieces of the file: from each offset in it up to the next one, at a cluster. */
static void plant(const uint64_t (*pieces)[2], size_t count)
{
	uint8_t file[LENGTH];

	memset(content, 0xee, CONTENT_LEN);
	make_file(file);
	for (size_t i = 0; i < count; i++) {
		uint64_t end = i + 1 < count ? pieces[i + 1][0] : LENGTH;

		memcpy(content + pieces[i][1], file + pieces[i][0], end - pieces[i][0]);
	}
}

static void begin(void)
{
	struct pool *pool = pool_new(1);
	struct inner_hits *hits = inner_hits_new();
	const struct inner_hits_source source = { &evidence.image, NULL, NULL };

	inner_hits_add_map(hits, &map);
	inner_hits_add_window(hits, 0, CONTENT_LEN);
	cr_assert(inner_hits_find(hits, &source, &clusters.taken, UINT64_MAX, pool, NULL));
	pool_free(pool);
	bench = (struct workbench){ .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.hits = hits,
		.work_left = 1 << 30 };
}

static void end(void)
{
	view_free(bench.view);
	inner_hits_free((struct inner_hits *)bench.hits);
}

/* Out of order, and with a copy of one part elsewhere, which alone makes no piece. */
Test(mapping, gives_each_part_to_the_piece_that_has_it)
{
	static const uint64_t pieces[][2] = { { 0, START }, { 2 * CLUSTER, 2 * CLUSTER },
		{ 4 * CLUSTER, 90 * CLUSTER } };
	struct source sources[SOURCES_MAX];
	struct refused refused = { .count = 0 };
	struct mapping mapping = { 0 };

	plant(pieces, 3);
	fill_part(3, content + 300 * CLUSTER + (12 + 3 * PART_LEN) % CLUSTER);
	begin();
	cr_assert_eq(mapping_find_sources(&bench, &broken, sources), 1);
	cr_expect_not(sources[0].is_tail);
	cr_assert(mapping_extend(&bench, &broken, &sources[0], &refused, &mapping));
	cr_assert_eq(mapping.count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct stretch *stretch = &mapping.items[i];

		cr_expect_eq(stretch->shift, pieces[i][1] - pieces[i][0], "piece %zu", i);
		cr_expect_geq(stretch->from + PART_LEN, pieces[i][0]);
	}
	cr_expect_eq(mapping.length, LENGTH);
	mapping_free(&mapping);
	end();
}

Test(mapping, leaves_out_a_displacement_that_was_refused)
{
	static const uint64_t pieces[][2] = { { 0, START }, { 3 * CLUSTER, 50 * CLUSTER } };
	struct source sources[SOURCES_MAX];
	struct refused refused = { .shifts = { 47 * CLUSTER }, .count = 1 };
	struct mapping mapping = { 0 };

	plant(pieces, 2);
	begin();
	cr_assert_eq(mapping_find_sources(&bench, &broken, sources), 1);
	cr_expect_not(mapping_extend(&bench, &broken, &sources[0], &refused, &mapping));
	refused.count = 0;
	cr_assert(mapping_extend(&bench, &broken, &sources[0], &refused, &mapping));
	cr_expect_eq(mapping.count, 2);
	mapping_free(&mapping);
	end();
}

Test(mapping, leads_to_the_whole_file)
{
	static const uint64_t pieces[][2] = { { 0, START }, { CLUSTER, 200 * CLUSTER },
		{ 3 * CLUSTER, 3 * CLUSTER } };
	struct extents extents = { 0 };
	struct assembly assembly = { 0 };
	struct outcome outcome;

	plant(pieces, 3);
	begin();
	cr_assert(find_by_table(&bench, &broken, &extents, &outcome, &assembly));
	cr_expect_eq(outcome.verdict, CARVE_COMPLETE);
	cr_assert_eq(extents.count, 3);
	for (size_t i = 0; i < 3; i++)
		cr_expect_eq(extents.runs[i].offset, pieces[i][1]);
	cr_expect_eq(assembly.doubt_count, 0);
	cr_expect_geq(assembly.evidence, 64);
	outcome_free(&outcome);
	extents_free(&extents);
	end();
}

/* The cluster size that is found where a file with this verdict seems to go on over all others. */
static uint64_t size_below(enum verdict verdict)
{
	struct clusters found = { .end = (uint64_t)1 << 20 };
	uint64_t size;

	for (uint64_t i = 0; i < 24; i++)
		clusters_add_start(&found, i * 4096, 4096, CARVE_TRUNCATED);
	clusters_add_start(&found, 24 * 4096, 1 << 19, verdict);
	for (uint64_t i = 1; i < 50; i++)
		clusters_add_start(&found, 24 * 4096 + i * 2560, 4096, CARVE_TRUNCATED);
	clusters_get_ready(&found);
	size = found.size;
	clusters_free(&found);
	return size;
}

Test(clusters, one_file_that_breaks_off_does_not_hide_where_others_start)
{
	cr_expect_eq(size_below(CARVE_TRUNCATED), 512);
	cr_expect_eq(size_below(CARVE_UNVERIFIED), 512);
	cr_expect_eq(size_below(CARVE_COMPLETE), 4096, "what starts in it is a part of it");
}

Test(clusters, what_may_be_the_rest_of_a_file_is_no_start)
{
	struct clusters found = { .end = (uint64_t)1 << 20 };

	for (uint64_t i = 0; i < 4; i++)
		clusters_add_start(&found, i * 8192, 4096, CARVE_UNVERIFIED);
	clusters_add_rest(&found, 8192);
	clusters_add_rest(&found, 24576);
	for (uint64_t i = 0; i < 8; i++)
		cr_expect_eq(clusters_is_start(&found, i * 4096), i == 0 || i == 4, "%d", (int)i);
	clusters_free(&found);
}

/* The cluster size that is found where of 100 files so many start at clusters of 4096, and the others at smaller ones. */
static uint64_t size_of_mixture(unsigned at_usual, uint64_t smaller)
{
	struct clusters found = { .end = (uint64_t)1 << 20 };
	uint64_t size;

	for (unsigned i = 0; i < 100; i++)
		clusters_add_start(&found, i * 4096 + (i < at_usual ? 0 : i % 7 * smaller), 4096,
			CARVE_TRUNCATED);
	clusters_get_ready(&found);
	size = found.size;
	clusters_free(&found);
	return size;
}

/* Of those at sectors nearly all are at 1024, too, by chance, but not because that is a volume's size. */
Test(clusters, volumes_of_several_sizes_have_the_smallest)
{
	cr_expect_eq(size_of_mixture(75, 512), 512);
	cr_expect_eq(size_of_mixture(95, 512), 4096, "few are not at clusters by chance");
	cr_expect_eq(size_of_mixture(0, 1024), 1024, "half of them are at 2048");
	cr_expect_eq(size_of_mixture(0, 2048), 2048);
}

#define CROWD 10000

/* Whose words are nowhere. */
static bool read_crowd(struct view *view, struct carve_table *table)
{
	struct carve_anchor anchor = { .len = 20, .bytes = "nowhere" };

	(void)view;
	for (unsigned i = 0; i < CROWD; i++) {
		anchor.offset = 12 + (uint64_t)i * PART_LEN;
		if (!table->add(table, &anchor))
			break;
	}
	return true;
}

Test(mapping, counts_anchors_as_work)
{
	static const struct carve_map crowded_map = { .words = { { .len = 4, .bytes = WORD } },
		.head = read_crowd };
	static const struct carver crowded = {
		.name = "crowd", .check = check_list, .map = &crowded_map
	};
	static const struct rule crowded_rule = {
		.name = name, .extension = name, .carver = &crowded, .max_size = 1 << 20
	};
	struct source sources[SOURCES_MAX];

	memset(content, 0xee, CONTENT_LEN);
	begin();
	bench.rule = &crowded_rule;
	mapping_find_sources(&bench, &broken, sources);
	cr_expect_geq((1 << 30) - bench.work_left, CROWD * 10);
	end();
}

static size_t bytes_read;

static int read_counted(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	bytes_read += len;
	return memory_image_read_at(image, offset, buffer, len);
}

/* Extends the mapping of a broken file in an image where each sector that is so many after another has the word where a part of the file could have it. */
static uint64_t extend_among_words(size_t step, uint8_t next)
{
	static const struct image_backend counted = { .name = "counted", .read_at = read_counted };
	struct refused refused = { .count = 0 };
	struct mapping mapping = { 0 };
	const struct source source = { .offset = START };
	uint64_t work;
	uint8_t file[LENGTH];

	make_file(file);
	memset(content, 0xee, CONTENT_LEN);
	for (size_t i = 0; i < CONTENT_LEN / CLUSTER; i += step) {
		uint8_t *sector = content + i * CLUSTER;

		for (size_t at = 0; at + PART_LEN < CLUSTER; at += 4)
			if ((at - 12) % PART_LEN == 0)
				memcpy(sector + at, file + at, 8), sector[at + 4] ^= next;
	}
	memcpy(content + START, file, CLUSTER);
	begin();
	bytes_read = 0;
	evidence.image.backend = &counted;
	mapping_extend(&bench, &broken, &source, &refused, &mapping);
	evidence.image.backend = &memory_image_backend;
	mapping_free(&mapping);
	work = (1 << 30) - bench.work_left;
	end();
	return work;
}

/* A unit stands for a few bytes, so that the time that a hostile image takes is bounded as the work is. */
Test(mapping, reads_what_it_counts)
{
	uint64_t work = extend_among_words(33, 0);

	cr_expect_gt(bytes_read, 100 * 300, "bytes around the hits: %zu", bytes_read);
	cr_expect_lt(
		bytes_read, work, "%zu bytes, %llu units", bytes_read, (unsigned long long)work);
}

/* What follows their words in the image is kept with the hits. */
Test(mapping, reads_only_where_a_part_can_be)
{
	extend_among_words(1, 1);
	cr_expect_lt(bytes_read, 100 * 1024, "%zu", bytes_read);
}

/* The same where the format says which bytes differ most. */
Test(mapping, reads_only_where_the_key_is_a_parts)
{
	map.words[0].key_at = 8;
	extend_among_words(1, 0);
	cr_expect_lt(bytes_read, 100 * 1024, "%zu", bytes_read);
}

/* A part that is nearly everywhere shows no piece, and costs little; it is found where the others show one. */
Test(mapping, finds_what_is_in_too_many_places_where_other_parts_are)
{
	static const uint64_t pieces[][2] = { { 0, START }, { 4 * CLUSTER, 9990 * CLUSTER } };
	const uint64_t part = 21, at = 12 + part * PART_LEN;
	struct refused refused = { .count = 0 };
	struct mapping mapping = { 0 };
	const struct source source = { .offset = START };
	uint64_t work;

	plant(pieces, 2);
	for (uint64_t i = 20; i < 9900; i++)
		fill_part((unsigned)part, content + i * CLUSTER + at % CLUSTER);
	begin();
	cr_assert(mapping_extend(&bench, &broken, &source, &refused, &mapping));
	cr_assert_eq(mapping.count, 2);
	cr_expect_eq(mapping.items[1].shift, 9986 * CLUSTER);
	cr_expect_geq(mapping.items[1].to, at + 20);
	work = (1 << 30) - bench.work_left;
	cr_expect_lt(work, 5000 * 400, "%llu", (unsigned long long)work);
	mapping_free(&mapping);
	end();
}

/* A format of three places far from each other, of which each but the first proves the file before it. */
#define APART (2000 * CLUSTER)

static unsigned looks;

static enum verdict check_apart(struct view *view, struct finding *finding)
{
	static const uint64_t places[] = { 0, APART / 2, APART };

	looks++;
	for (size_t i = 0; i < 3; i++) {
		const uint8_t *p = view_peek(view, places[i], 4);

		finding->length = places[i];
		if (!p || memcmp(p, "here", 4) != 0)
			return verdict_because(CARVE_TRUNCATED, finding, "not here");
		view_proved(view, 0, places[i] + 4, 64);
	}
	finding->length = APART + 4;
	return CARVE_COMPLETE;
}

static const struct carver apart_carver = { .name = "apart", .check = check_apart, .map = &map };
static const struct rule apart_rule = {
	.name = name, .extension = name, .carver = &apart_carver, .max_size = CONTENT_LEN
};

/* Looks for the break before the last place; the one in the middle is where the piece that begins there has it, or nowhere. */
static enum solution solve_apart(bool has_middle, struct extents *extents)
{
	const uint64_t shift = START + 3000 * CLUSTER;
	struct stretch stretches[] = { { .to = 4, .shift = START, .own_bits = 32 },
		{ .from = APART, .to = APART + 4, .shift = shift, .own_bits = 32 } };
	struct mapping mapping = { .items = stretches, .count = 2, .length = APART + 4 };
	struct assembly assembly = { 0 };
	struct outcome outcome;
	enum solution solution;

	memset(content, 0xee, CONTENT_LEN);
	memcpy(content + START, "here", 4);
	memcpy(content + shift + APART, "here", 4);
	if (has_middle)
		memcpy(content + shift + APART / 2, "here", 4);
	begin();
	bench.rule = &apart_rule;
	looks = 0;
	solution = mapping_solve(&bench, &broken, &mapping, extents, &outcome, &assembly);
	if (solution == SOLUTION_WHOLE)
		outcome_free(&outcome);
	end();
	return solution;
}

/* A check that looks at nothing around a break says what comes of the breaks nearby, too. */
Test(mapping, breaks_between_places_that_are_looked_at_cost_no_check_each)
{
	struct extents extents = { 0 };

	cr_expect_eq(solve_apart(false, &extents), SOLUTION_WRONG);
	cr_expect_lt(looks, 50, "%u checks", looks);
	cr_expect_geq(bench.tested, 1999, "%u", (unsigned)bench.tested);
	cr_assert_eq(solve_apart(true, &extents), SOLUTION_WHOLE);
	cr_expect_lt(looks, 50, "%u checks", looks);
	cr_assert_eq(extents.count, 2);
	cr_expect_leq(extents.runs[0].length, APART / 2);
	extents_free(&extents);
}
