/* Pieces of files of codes, in an image in memory. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "assemble/by_codes.h"
#include "carver_case.h"
#include "memory_image.h"
#include "strategy_case.h"

#define CLUSTER ((size_t)4096)
#define CLUSTERS 64
#define START (4 * CLUSTER)
#define FIRST (5 * CLUSTER) /* of the file, then the rest... */
#define REST (30 * CLUSTER) /* ...is there in the image */
#define WORK ((uint64_t)1 << 28)

static uint8_t content[CLUSTERS * CLUSTER];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));

static bool find(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	return by_codes_find(bench, broken, false, extents, outcome, assembly);
}

static bool find_near_by(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	return by_codes_find(bench, broken, true, extents, outcome, assembly);
}

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* By gzip: returns its length. */
static size_t compress_text(
	const uint8_t *text, size_t len, int strategy, uint8_t *file, size_t most)
{
	z_stream stream = { 0 };

	cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, strategy), Z_OK);
	stream.next_in = (uint8_t *)text;
	stream.avail_in = (uInt)len;
	stream.next_out = file;
	stream.avail_out = (uInt)most;
	cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return most - stream.avail_out;
}

static void add_words(uint8_t *text, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		text[i] = (uint8_t)(i % 7 == 6  ? ' '
				    : i % 7 % 2 ? "aeiou"[draw(&seed, 5)]
						: "bcdfghklmprst"[draw(&seed, 13)]);
}

/* The whole gzip file is found, and its second piece at that place. */
static void expect_two_pieces(bool (*strategy)(struct workbench *, const struct broken *,
				      struct extents *, struct outcome *, struct assembly *),
	struct workbench *bench, const struct broken *broken, size_t len, uint64_t second)
{
	struct extents extents = { 0 };
	struct strategy_result result =
		strategy_try(strategy, bench, carver_find("gz"), broken, &extents);

	cr_assert(result.found);
	cr_expect_eq(result.length, len);
	cr_assert_eq(extents.count, 2);
	cr_expect_eq(extents.runs[1].offset, second);
	extents_free(&extents);
}

/* Another file's carver accepted what is after its break, in which a piece of this file is. */
Test(by_codes, finds_a_piece_that_another_file_seems_to_have)
{
	static uint8_t text[20 * CLUSTER], file[20 * CLUSTER];
	struct bytes noise = { 0 };
	struct clusters clusters = { .size = CLUSTER, .end = sizeof(content) };
	struct workbench bench = {
		.evidence = &evidence.image, .clusters = &clusters, .work_left = WORK
	};
	struct broken broken = { .start = START, .length = FIRST, .verdict = CARVE_TRUNCATED };
	size_t len;

	add_words(text, sizeof(text), 9);
	len = compress_text(text, sizeof(text), Z_DEFAULT_STRATEGY, file, sizeof(file));
	cr_assert(len > FIRST + 2 * CLUSTER && REST + len - FIRST < sizeof(content));
	bytes_add_random(&noise, 1, sizeof(content));
	memcpy(content, noise.data, sizeof(content));
	memcpy(content + START, file, FIRST);
	memcpy(content + REST, file + FIRST, len - FIRST);
	clusters_add_head(&clusters, REST - 4 * CLUSTER, 20 * CLUSTER);
	clusters_list_free(&clusters);
	expect_two_pieces(find, &bench, &broken, len, REST);
	clusters_free(&clusters);
	free(noise.data);
}

/* The file's own codes look foreign long before its break, which is where codes are no longer valid. */
Test(by_codes, finds_a_break_long_after_what_only_looks_foreign)
{
	static uint8_t text[70 * CLUSTER], file[70 * CLUSTER];
	const size_t first = 30 * CLUSTER, rest = 38 * CLUSTER, change = 16 * CLUSTER;
	struct bytes noise = { 0 };
	struct clusters clusters = { .size = CLUSTER, .end = sizeof(content) };
	struct workbench bench = {
		.evidence = &evidence.image, .clusters = &clusters, .work_left = WORK
	};
	struct broken broken = { .start = 0, .length = first, .verdict = CARVE_TRUNCATED };
	uint32_t seed = 3;
	size_t len;

	/* Letters in no order. */
	add_words(text, sizeof(text), 9);
	for (size_t i = change; i < sizeof(text); i++)
		text[i] = text[draw(&seed, (uint32_t)change)];
	len = compress_text(text, sizeof(text), Z_HUFFMAN_ONLY, file, sizeof(file));
	cr_assert(len > first + CLUSTER && rest + len - first < sizeof(content));
	bytes_add_random(&noise, 1, sizeof(content));
	memcpy(content, noise.data, sizeof(content));
	memcpy(content, file, first);
	memcpy(content + rest, file + first, len - first);
	clusters_list_free(&clusters);
	expect_two_pieces(find_near_by, &bench, &broken, len, rest);
	clusters_free(&clusters);
	free(noise.data);
}
