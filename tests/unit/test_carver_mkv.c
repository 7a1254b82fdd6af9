/* Matroska in pieces: what blocks prove of a joint before them. */
#include <zlib.h>

#include "joints_case.h"

enum { CRC = 32, HEAD = 10, AGAIN = 6 };

#define BLOCKS 60

static void add_element(struct bytes *bytes, uint32_t id, int id_len, const struct bytes *content)
{
	bytes_add_be(bytes, id, id_len);
	bytes_add_be(bytes, UINT64_C(1) << 56 | content->len, 8);
	bytes_add(bytes, content->data, content->len);
}

static void add_value(struct bytes *bytes, uint32_t id, int id_len, uint64_t value, int len)
{
	struct bytes content = { 0 };

	bytes_add_be(&content, value, len);
	add_element(bytes, id, id_len, &content);
	free(content.data);
}

/* A master that begins with the CRC of the rest. */
static void add_checked(struct bytes *bytes, uint32_t id, struct bytes *content)
{
	struct bytes all = { 0 };
	uint32_t crc = (uint32_t)crc32(0, content->data, (uInt)content->len);

	bytes_add_be(&all, 0xbf84, 2);
	bytes_add_le(&all, crc, 4);
	bytes_add(&all, content->data, content->len);
	add_element(bytes, id, 4, &all);
	free(all.data);
	free(content->data);
	*content = (struct bytes){ 0 };
}

struct film {
	struct bytes bytes;
	uint64_t blocks[BLOCKS + 1]; /* where each begins, and the cluster's end */
};

/* A cluster of blocks, 40 ms apart but for one; with that many different lengths. */
static struct film make_film(unsigned lengths, unsigned late)
{
	struct film film = { 0 };
	struct bytes part = { 0 }, frame = { 0 }, segment = { 0 };

	add_value(&frame, 0xd7, 1, 1, 1);
	add_value(&frame, 0x83, 1, 1, 1);
	add_element(&part, 0xae, 1, &frame);
	add_checked(&segment, 0x1654ae6b, &part);
	add_value(&part, 0xe7, 1, 0, 1);
	for (unsigned i = 0; i < BLOCKS; i++) {
		film.blocks[i] = part.len;
		frame.len = 0;
		bytes_add_be(&frame, 0x81, 1);
		bytes_add_be(&frame, 40 * i + (i >= late ? 500 : 0), 2);
		bytes_add_be(&frame, 0, 1);
		bytes_add_random(&frame, i, 400 + 3 * (i * 7 % lengths));
		add_element(&part, 0xa3, 1, &frame);
	}
	film.blocks[BLOCKS] = part.len;
	for (unsigned i = 0; i <= BLOCKS; i++)
		film.blocks[i] += segment.len + 12 + 6;
	add_checked(&segment, 0x1f43b675, &part);
	frame.len = 0;
	add_value(&part, 0xb3, 1, 1, 1);
	add_element(&frame, 0xbb, 1, &part);
	add_element(&segment, 0x1c53bb6b, 4, &frame);
	part.len = 0;
	bytes_add(&part, "matroska", 8);
	frame.len = 0;
	add_element(&frame, 0x4282, 2, &part);
	add_element(&film.bytes, 0x1a45dfa3, 4, &frame);
	for (unsigned i = 0; i <= BLOCKS; i++)
		film.blocks[i] += film.bytes.len + 12;
	add_element(&film.bytes, 0x18538067, 4, &segment);
	free(part.data);
	free(frame.data);
	free(segment.data);
	return film;
}

static void expect_proof(const struct film *film, uint64_t first, uint64_t second,
	unsigned first_bits, unsigned second_bits)
{
	const uint64_t joints[] = { first, second };
	unsigned bits[2] = { 0 };

	cr_expect_eq(prove_joints("mkv", &film->bytes, joints, second ? 2 : 1, true, bits),
		CARVE_COMPLETE);
	cr_expect_eq(bits[0], first_bits, "%u", bits[0]);
	cr_expect_eq(bits[1], second_bits, "%u", bits[1]);
}

Test(carver_mkv, blocks_after_a_joint_prove_it)
{
	struct film film = make_film(20, BLOCKS);
	const uint64_t *at = film.blocks;
	unsigned bits;

	/* In a block, before one, and in the head of one. */
	expect_proof(&film, at[20] + 100, 0, CRC + HEAD + AGAIN, 0);
	expect_proof(&film, at[20], 0, CRC + HEAD + AGAIN, 0);
	expect_proof(&film, at[20] + 5, 0, CRC + HEAD + AGAIN, 0);
	/* In the cluster's first one; in its last one, whose end is the cluster's. */
	expect_proof(&film, at[0] + 100, 0, CRC + HEAD + AGAIN, 0);
	expect_proof(&film, at[BLOCKS - 1] + 100, 0, CRC, 0);
	expect_proof(&film, at[BLOCKS - 1] - 100, 0, CRC + HEAD + AGAIN, 0);
	/* With blocks between, with one head, and in the same one. */
	expect_proof(&film, at[20] + 100, at[30] + 100, CRC + HEAD + AGAIN, CRC + HEAD + AGAIN);
	expect_proof(&film, at[20] + 100, at[21] + 100, CRC + HEAD + AGAIN, CRC + HEAD + AGAIN);
	expect_proof(&film, at[20] + 100, at[20] + 300, CRC, CRC);
	expect_proof(&film, at[20] + 100, at[BLOCKS - 1] + 100, CRC + HEAD + AGAIN, CRC);
	/* Only where proof is wanted. */
	cr_expect_eq(prove_joints("mkv", &film.bytes, &at[20], 1, false, &bits), CARVE_COMPLETE);
	cr_expect_eq(bits, CRC);
	free(film.bytes.data);
}

Test(carver_mkv, blocks_prove_nothing_if_their_times_are_far_apart)
{
	struct film film = make_film(20, 31);

	expect_proof(&film, film.blocks[30] + 100, 0, CRC, 0);
	expect_proof(&film, film.blocks[31] + 100, 0, CRC + HEAD + AGAIN, 0);
	free(film.bytes.data);
}

Test(carver_mkv, blocks_of_equal_lengths_prove_nothing)
{
	struct film film = make_film(4, BLOCKS);

	expect_proof(&film, film.blocks[30] + 100, 0, CRC, 0);
	free(film.bytes.data);
}

/* The length of a block from another file: more than the cluster has, and perhaps than the image. */
static uint64_t valid_with_length(const struct film *film, unsigned block, uint64_t length)
{
	struct bytes bytes = { 0 };
	struct finding found;

	bytes_add(&bytes, film->bytes.data, film->bytes.len);
	for (int i = 0; i < 8; i++)
		bytes.data[film->blocks[block] + 1 + (unsigned)i] =
			(uint8_t)((UINT64_C(1) << 56 | length) >> (56 - 8 * i));
	cr_expect_eq(carve("mkv", bytes.data, bytes.len, &found), CARVE_TRUNCATED);
	free(bytes.data);
	return found.length;
}

Test(carver_mkv, a_block_longer_than_its_cluster_is_not_cut_off)
{
	struct film film = make_film(30, BLOCKS);
	struct finding found;
	uint64_t half = film.blocks[20] + 100;

	cr_expect_eq(
		valid_with_length(&film, 20, film.bytes.len - film.blocks[20]), film.blocks[20]);
	cr_expect_eq(valid_with_length(&film, 20, UINT64_C(1) << 40), film.blocks[20]);
	/* This one is. */
	cr_expect_eq(carve("mkv", film.bytes.data, half, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, half);
	free(film.bytes.data);
}

/* As above, of a cluster. */
Test(carver_mkv, a_cluster_longer_than_its_segment_is_refused_in_pieces)
{
	struct film film = make_film(30, BLOCKS);
	struct finding found;
	uint64_t cluster = film.blocks[0] - 12 - 6 - 10;

	cr_assert_eq(memcmp(film.bytes.data + cluster, "\x1f\x43\xb6\x75", 4), 0);
	film.bytes.data[cluster + 6] = 1;
	cr_expect_eq(
		carve_thoroughly("mkv", film.bytes.data, film.bytes.len, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, cluster, "%s", found.why);
	free(film.bytes.data);
}
