/* FLAC: what proof needs, beside what the golden files show. */
#include "carver_case.h"
#include "memory_image.h"

#define PADDING_AT 104 /* in kinds.flac, 100 bytes */

Test(carver_flac, proof_needs_zeros_as_padding)
{
	struct bytes flac = bytes_of_file("tests/golden/flac/kinds.flac");
	struct view *view;
	struct finding found = { 0 };

	flac.data[PADDING_AT + 50] = 1;
	expect("flac", &flac, CARVE_COMPLETE, flac.len, NULL);
	view = view_new_memory(flac.data, flac.len);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("flac")->check(view, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, PADDING_AT + 50);
	view_free(view);
	free(flac.data);
}

#define MD5_AT 26 /* in STREAMINFO */

/* A thorough check of kinds.flac, in two pieces that meet at `joint`, with this MD5 of its samples. Returns the joint's bits. */
static uint32_t proof_by(const uint8_t md5[16], uint64_t joint, enum verdict expected)
{
	struct bytes flac = bytes_of_file("tests/golden/flac/kinds.flac");
	const struct range runs[] = { { 0, joint }, { joint, flac.len - joint } };
	struct memory_image evidence = MEMORY_IMAGE(flac.data, flac.len);
	struct view *view = view_new();
	struct finding found = { 0 };
	uint32_t bits;

	memcpy(flac.data + MD5_AT, md5, 16);
	view_point_runs(view, &evidence.image, runs, 2, flac.len);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("flac")->check(view, &found), expected, "%s", found.why);
	bits = view_proof(view, joint);
	view_free(view);
	free(flac.data);
	return bits;
}

/* All kinds of subframes are decoded: the MD5 is that of what FFmpeg decodes them to. */
Test(carver_flac, the_samples_md5_proves_joints)
{
	static const uint8_t none[16];
	uint8_t md5[16] = { 0x1c, 0x56, 0x48, 0x11, 0x5d, 0xc6, 0xba, 0x2b, 0x71, 0xc0, 0xe7, 0x0f,
		0x87, 0x57, 0x20, 0x54 };

	cr_expect_geq(proof_by(md5, 512, CARVE_COMPLETE), 128);
	cr_expect_eq(proof_by(md5, PADDING_AT + 50, CARVE_COMPLETE), 128);
	cr_expect_eq(proof_by(md5, PADDING_AT - 1, CARVE_COMPLETE), 0, "not of other metadata");
	cr_expect_lt(proof_by(none, 512, CARVE_COMPLETE), 128, "it is not stated");
	cr_expect_eq(proof_by(none, PADDING_AT + 50, CARVE_COMPLETE), 0);
	md5[15] ^= 1;
	cr_expect_lt(proof_by(md5, 512, CARVE_UNVERIFIED), 128);
}

enum {
	FRAME_1 = 600,
	FRAME_2 = 1053,
	HEAD_LEN = 6
}; /* in kinds.flac: two of its frames, and a header's length */

/* Checks the file in two pieces that meet in frame 1. *proof: that joint's bits. */
static enum verdict check_pieces(
	const struct bytes *flac, bool is_trial, struct finding *found, uint32_t *proof)
{
	const struct range runs[] = { { 0, FRAME_1 + 300 },
		{ FRAME_1 + 300, flac->len - FRAME_1 - 300 } };
	struct memory_image evidence = MEMORY_IMAGE(flac->data, flac->len);
	struct view *view = view_new();
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_point_runs(view, &evidence.image, runs, 2, flac->len);
	view_set_thorough(view, true);
	view_set_trial(view, is_trial);
	verdict = carver_find("flac")->check(view, found);
	*proof = view_proof(view, runs[0].length);
	view_free(view);
	return verdict;
}

/* Where a frame's header follows in order, it says that the one before is in its place, whatever follows it. */
Test(carver_flac, a_header_proves_a_joint_before_it)
{
	struct bytes flac = bytes_of_file("tests/golden/flac/kinds.flac");
	size_t len = flac.len;
	struct finding found;
	uint32_t proof;

	bytes_fill(&flac, 0, 16384); /* else the frame seems to be cut */
	memset(flac.data + MD5_AT, 0, 16);
	for (int is_trial = 0; is_trial < 2; is_trial++) {
		cr_expect_eq(check_pieces(&flac, is_trial, &found, &proof), CARVE_COMPLETE, "%s",
			found.why);
		cr_expect_eq(found.length, len);
		cr_expect_eq(proof, 16 + 30);
		flac.data[FRAME_2 + 200] ^= 1;
		cr_expect_eq(check_pieces(&flac, is_trial, &found, &proof), CARVE_TRUNCATED);
		cr_expect_eq(found.length, FRAME_2 + (is_trial ? HEAD_LEN : 0));
		cr_expect_eq(proof, 16 + 30);
		flac.data[FRAME_2 + 200] ^= 1;
	}
	flac.data[FRAME_2 + 4] ^= 1; /* its number, which the header's CRC covers */
	check_pieces(&flac, true, &found, &proof);
	cr_expect_eq(found.length, FRAME_1 + HEAD_LEN);
	cr_expect_eq(proof, 0);
	free(flac.data);
}

/* Other bytes in padding that goes on after the view are another file's. */
Test(carver_flac, padding_that_is_cut_is_zeros)
{
	struct bytes flac = bytes_of_file("tests/golden/flac/kinds.flac");
	struct finding found = { 0 };
	struct view *view;

	flac.data[PADDING_AT + 50] = 1;
	view = view_new_memory(flac.data, PADDING_AT + 80);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("flac")->check(view, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, PADDING_AT + 50);
	view_free(view);
	free(flac.data);
}
