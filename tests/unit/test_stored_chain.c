/* Content that is stored as it is: how well clusters go on, and chains of them on an image in memory. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/content_end.h"
#include "memory_image.h"
#include "strategy_case.h"

#define CLUSTER ((uint64_t)4096)
#define CLUSTERS 64
#define FILE_CLUSTERS 12
#define HEAD 44
#define BIT CONTENT_BIT
#define ROW 300

static uint8_t content[CLUSTERS * CLUSTER], file[FILE_CLUSTERS * CLUSTER];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = { .size = CLUSTER, .end = sizeof(content) };
static struct carve_stored stored;

static uint32_t state;

static int32_t draw(int32_t below)
{
	state = state * 1664525 + 1013904223;
	return (int32_t)((uint64_t)(state >> 8) * (uint32_t)below >> 24);
}

#define TONES 5

/* Tones, each turned by a fixed angle for a sample, in integers, with a little noise. */
static void make_samples(uint32_t seed, bool big_endian)
{
	static const int32_t turns[TONES] = { 211, 307, 463, 619, 787 };
	int64_t x[TONES], y[TONES] = { 0 };

	stored = (struct carve_stored){ .from = HEAD,
		.to = sizeof(file) - 1000,
		.length = sizeof(file) - 1000,
		.sample_len = 2,
		.channels = 1,
		.big_endian = big_endian };
	state = seed;
	memset(file, 0, sizeof(file));
	for (unsigned k = 0; k < TONES; k++)
		x[k] = 3000 << 8;
	for (size_t i = HEAD; i < stored.to; i += 2) {
		int32_t value = draw(16);

		for (unsigned k = 0; k < TONES; k++) {
			value += (int32_t)(x[k] >> 8);
			x[k] -= y[k] * turns[k] / 4096;
			y[k] += x[k] * turns[k] / 4096;
		}
		file[i + big_endian] = (uint8_t)value;
		file[i + !big_endian] = (uint8_t)(value >> 8);
	}
}

/* Pixels of three bytes that change from row to row and along it, and are a little noisy. */
static void make_pixels(uint32_t seed)
{
	uint8_t columns[ROW];

	stored = (struct carve_stored){ .from = HEAD,
		.to = sizeof(file) - 1000,
		.length = sizeof(file) - 1000,
		.row_len = ROW,
		.sample_len = 1,
		.channels = 3 };
	state = seed;
	for (size_t i = 0; i < ROW; i++)
		columns[i] = (uint8_t)(i < 3 ? draw(256) : columns[i - 3] + draw(41) - 20);
	memset(file, 0, sizeof(file));
	for (size_t i = HEAD; i < stored.to; i++) {
		uint8_t *column = &columns[(i - HEAD) % ROW];

		*column = (uint8_t)(*column + draw(7) - 3);
		file[i] = *column;
	}
}

static void fill_with_noise(uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)draw(256);
}

/* Bits for a cluster after the file's first `at` clusters. */
static int64_t bits_after(struct content_end *end, size_t at, const uint8_t *cluster)
{
	content_end_learn(end, file, at * CLUSTER, at * CLUSTER);
	return content_end_bits(end, cluster);
}

/* The cluster that follows has far more bits than any other, or noise, and a first look finds it. */
static void expect_next_is_best(void)
{
	struct content_end *end = content_end_new(&stored, CLUSTER);
	uint8_t noise[CLUSTER];
	int64_t rank;

	fill_with_noise(noise, sizeof(noise));
	for (size_t at = 1; at + 1 < FILE_CLUSTERS; at++) {
		int64_t next = bits_after(end, at, file + at * CLUSTER);

		cr_expect_gt(next, 20 * BIT, "%zu: %" PRId64, at, next);
		cr_expect(
			content_end_may_go_on(end, file + at * CLUSTER, CLUSTER, &rank), "%zu", at);
		cr_expect_lt(content_end_bits(end, noise), 0, "%zu", at);
		for (size_t other = 1; other + 1 < FILE_CLUSTERS; other++) {
			int64_t bits = content_end_bits(end, file + other * CLUSTER);

			cr_expect(other == at || bits < next - 16 * BIT,
				"%zu after %zu: %" PRId64 " of %" PRId64, other, at, bits, next);
		}
	}
	content_end_free(end);
}

Test(stored_chain, samples_go_on)
{
	make_samples(7, false);
	expect_next_is_best();
}

Test(stored_chain, pixels_go_on)
{
	make_pixels(8);
	expect_next_is_best();
}

Test(stored_chain, the_order_of_bytes_is_that_of_the_samples)
{
	struct content_end *end;
	int64_t little, wrong;

	make_samples(7, false);
	end = content_end_new(&stored, CLUSTER);
	little = bits_after(end, 5, file + 5 * CLUSTER);
	content_end_free(end);
	stored.big_endian = true;
	end = content_end_new(&stored, CLUSTER);
	wrong = bits_after(end, 5, file + 5 * CLUSTER);
	content_end_free(end);
	make_samples(7, true);
	end = content_end_new(&stored, CLUSTER);
	cr_expect_eq(bits_after(end, 5, file + 5 * CLUSTER), little);
	cr_expect_lt(wrong, little - 16 * BIT);
	content_end_free(end);
}

/* What shows nothing has few bits: too few bytes are known, or all bytes are the same. */
Test(stored_chain, nothing_is_known)
{
	struct content_end *end;
	int64_t rank;

	make_samples(7, false);
	end = content_end_new(&stored, CLUSTER);
	content_end_learn(end, file, 100, 100);
	cr_expect_not(content_end_is_known(end));
	cr_expect_eq(content_end_bits(end, file + CLUSTER), 0);
	content_end_free(end);
	make_pixels(8);
	memset(file, 200, sizeof(file));
	end = content_end_new(&stored, CLUSTER);
	cr_expect_leq(bits_after(end, 5, file + 5 * CLUSTER), 12 * BIT);
	cr_expect(content_end_is_known(end));
	/* Others of that colour may go on, too. */
	cr_expect(content_end_may_go_on(end, file + 7 * CLUSTER, CLUSTER, &rank));
	cr_expect_eq(rank, 0);
	memset(file + 7 * CLUSTER, 201, CLUSTER);
	cr_expect_not(content_end_may_go_on(end, file + 7 * CLUSTER, CLUSTER, &rank));
	content_end_free(end);
}

/* The loudest samples there are, of all lengths and channels, in clusters of all sizes; and rows of any length. */
Test(stored_chain, hostile_content)
{
	for (unsigned i = 0; i < 200; i++) {
		uint64_t size = (uint64_t)512 << draw(4);
		struct content_end *end;
		int64_t rank;
		size_t past;

		stored = (struct carve_stored){ .from = (uint64_t)draw(5000),
			.length = sizeof(file),
			.row_len = i % 2 ? 0 : 50 + (uint32_t)draw((int32_t)CONTENT_ROW_MAX - 50),
			.sample_len = (uint8_t)(i % 2 ? 1 + draw(4) : 1),
			.channels = (uint8_t)(1 + draw(CONTENT_CHANNELS)),
			.big_endian = draw(2),
			.is_unsigned = draw(2) };
		stored.to = stored.from + 1 + (uint64_t)draw((int32_t)(sizeof(file) - stored.from));
		for (size_t k = 0; k < sizeof(file); k++)
			file[k] = (uint8_t)(i % 3 ? (draw(2) ? 0x7f : 0x80) : draw(256));
		end = content_end_new(&stored, size);
		past = content_end_past(end);
		for (uint64_t at = size; at + size <= sizeof(file);
			at += size * (1 + (uint64_t)draw(4))) {
			size_t len = past < at ? past : (size_t)at;

			content_end_learn(end, file + at - len, len, at);
			content_end_bits(end, file + at);
			content_end_may_go_on(
				end, file + at, 1 + (size_t)draw((int32_t)size), &rank);
		}
		content_end_free(end);
	}
}

/* ---- chains -------------------------------------------------------------------------------- */

static bool describe(struct view *view, struct carve_stored *what)
{
	(void)view;
	*what = stored;
	return true;
}

static bool only_agrees;

static enum verdict check(struct view *view, struct finding *finding)
{
	if (view_size(view) < stored.length)
		return verdict_because(CARVE_TRUNCATED, finding, "short");
	finding->length = stored.length;
	view_unverified(view, stored.from, stored.to);
	if (!only_agrees)
		return CARVE_COMPLETE;
	view_agrees(view);
	return verdict_because(CARVE_UNVERIFIED, finding, "samples");
}

/* Where the file's pieces are in the image, in its order, in clusters. */
static const uint64_t layout[][2] = { { 4, 3 }, { 40, 4 }, { 20, 2 }, { 23, 3 } };

#define PIECES (sizeof(layout) / sizeof(*layout))

static void plant(void)
{
	const uint8_t *from = file;

	fill_with_noise(content, sizeof(content));
	for (size_t i = 0; i < PIECES; i++) {
		memcpy(content + layout[i][0] * CLUSTER, from, layout[i][1] * CLUSTER);
		from += layout[i][1] * CLUSTER;
	}
}

static struct strategy_result search(uint64_t work, struct extents *extents)
{
	static const struct carver carver = { .name = "x", .check = check, .stored = describe };
	static const struct broken broken = {
		.start = 4 * CLUSTER, .length = 5 * CLUSTER, .verdict = CARVE_TRUNCATED
	};
	const struct workbench bench = {
		.evidence = &evidence.image, .clusters = &clusters, .work_left = work
	};

	clusters_list_free(&clusters);
	return strategy_try(find_stored_chain, &bench, &carver, &broken, extents);
}

static void expect_chain(bool is_proved)
{
	struct extents extents = { 0 };
	struct strategy_result answer;
	uint8_t saved[CLUSTER];

	plant();
	answer = search(1 << 27, &extents);
	cr_assert(answer.found);
	cr_expect_eq(answer.length, stored.length);
	cr_expect_eq(answer.assembly.evidence >= PROOF_BITS, is_proved, "%" PRIu32,
		answer.assembly.evidence);
	cr_assert_eq(extents.count, PIECES, "%zu", extents.count);
	for (size_t i = 0; i < PIECES; i++)
		cr_expect_eq(extents.runs[i].offset, layout[i][0] * CLUSTER, "%zu", i);
	extents_free(&extents);
	/* Without work there is nothing. */
	answer = search(1 << 16, &extents);
	cr_expect_not(answer.found);
	cr_expect(answer.exhausted);
	extents_free(&extents);
	/* A cluster is overwritten, or another complete file's. */
	memcpy(saved, content + 41 * CLUSTER, CLUSTER);
	fill_with_noise(content + 41 * CLUSTER, CLUSTER);
	cr_expect_not(search(1 << 27, &extents).found);
	extents_free(&extents);
	memcpy(content + 41 * CLUSTER, saved, CLUSTER);
	clusters_take(&clusters, 41 * CLUSTER, CLUSTER);
	cr_expect_not(search(1 << 27, &extents).found);
	extents_free(&extents);
	ranges_free(&clusters.taken);
	clusters.taken = (struct ranges){ 0 };
	/* A copy of a cluster is no rival. */
	memcpy(content + 60 * CLUSTER, content + 42 * CLUSTER, CLUSTER);
	answer = search(1 << 27, &extents);
	cr_expect(answer.found);
	cr_expect_eq(extents.count, PIECES, "%zu", extents.count);
	extents_free(&extents);
}

Test(stored_chain, samples_are_put_together)
{
	make_samples(7, false);
	expect_chain(true);
	/* The same of a file that only agrees to its end (view_agrees). */
	make_samples(7, true);
	only_agrees = true;
	expect_chain(true);
}

/* Inside a piece the sound is another one from a cluster on. As it goes on so nowhere else, it is taken. */
Test(stored_chain, samples_may_change_with_a_cluster)
{
	struct extents extents = { 0 };

	make_samples(7, false);
	for (size_t i = 5 * CLUSTER; i < stored.to; i += 2) {
		uint16_t value = (uint16_t)(file[i] | file[i + 1] << 8);

		value = (uint16_t)-value;
		file[i] = (uint8_t)value;
		file[i + 1] = (uint8_t)(value >> 8);
	}
	plant();
	cr_expect(search(1 << 27, &extents).found);
	cr_expect_eq(extents.count, PIECES, "%zu", extents.count);
	extents_free(&extents);
}

/* A piece begins with the last few samples: the chunk after them shows which. */
Test(stored_chain, a_chunk_after_samples_shows_its_piece)
{
	struct extents extents = { 0 };
	uint8_t *chunk;

	make_samples(7, false);
	stored.to = 9 * CLUSTER + 20;
	chunk = file + stored.to;
	memcpy(chunk, "LIST", 4);
	chunk[4] = (uint8_t)(stored.length - stored.to - 8);
	chunk[5] = (uint8_t)((stored.length - stored.to - 8) >> 8);
	chunk[6] = chunk[7] = 0;
	plant();
	cr_expect(search(1 << 27, &extents).found);
	cr_expect_eq(extents.count, PIECES, "%zu", extents.count);
	extents_free(&extents);
	/* One that would be longer than the file is none. */
	chunk[6] = 1;
	plant();
	search(1 << 27, &extents);
	cr_expect_neq(extents.count, PIECES);
	extents_free(&extents);
}

/* The chain, which nothing proves. */
static void expect_no_proof(const char *what)
{
	struct extents extents = { 0 };
	struct strategy_result answer = search(1 << 27, &extents);

	cr_expect(answer.found, "%s", what);
	cr_expect_lt(answer.assembly.evidence, PROOF_BITS, "%s: %" PRIu32, what,
		answer.assembly.evidence);
	extents_free(&extents);
}

Test(stored_chain, samples_are_not_proved_if_they_may_go_on_elsewhere)
{
	/* What is before a piece is another version of what should be there. */
	make_samples(7, false);
	plant();
	for (size_t i = 0; i < CLUSTER; i += 2)
		content[39 * CLUSTER + i] = (uint8_t)(file[2 * CLUSTER + i] ^ 1);
	for (size_t i = 1; i < CLUSTER; i += 2)
		content[39 * CLUSTER + i] = file[2 * CLUSTER + i];
	expect_no_proof("a version");
	/* The sound goes on after what the header says. */
	make_samples(7, false);
	stored.to = stored.length -= 800;
	plant();
	expect_no_proof("an end");
	/* Nothing shows where it ends. */
	make_samples(7, false);
	stored.to = stored.length = sizeof(file);
	plant();
	expect_no_proof("no end");
}

/* A cluster that follows the one before it is another file's, though nothing is heard there. */
Test(stored_chain, samples_are_not_proved_where_they_are_silent)
{
	make_samples(7, false);
	memset(file + 6 * CLUSTER - 80, 0, 160);
	plant();
	expect_no_proof("silence");
}

Test(stored_chain, pixels_are_put_together)
{
	make_pixels(8);
	expect_chain(false);
}

/* Where a piece begins all is of one colour, as at the edges of what a picture shows. */
Test(stored_chain, plain_pixels_are_put_together)
{
	make_pixels(8);
	memset(file + layout[0][1] * CLUSTER - 3 * ROW, 255, 5 * ROW);
	expect_chain(false);
}
