/* For tests of carvers: what checks prove of the joints of a file in pieces. */
#ifndef BURIN_TESTS_JOINTS_CASE_H
#define BURIN_TESTS_JOINTS_CASE_H

#include "carver_case.h"
#include "memory_image.h"

#define JOINTS_MAX 4

/* Checks the file in pieces that meet at these places, each of them after other bytes in the image, and sets the bits that prove each
 * joint. */
static __attribute__((unused)) enum verdict prove_joints(const char *carver,
	const struct bytes *bytes, const uint64_t *joints, size_t count, bool thorough,
	unsigned *bits)
{
	struct range runs[JOINTS_MAX + 1] = { { 0, joints[0] } };
	struct bytes image = { 0 };
	struct memory_image evidence;
	struct view *view = view_new();
	struct finding found = { 0 };
	enum verdict verdict;

	cr_assert_leq(count, JOINTS_MAX);
	bytes_add(&image, bytes->data, bytes->len);
	for (size_t i = 0; i < count; i++) {
		uint64_t end = i + 1 < count ? joints[i + 1] : bytes->len;

		bytes_fill(&image, 0, 4096);
		runs[i + 1] = (struct range){ image.len, end - joints[i] };
		bytes_add(&image, bytes->data + joints[i], end - joints[i]);
	}
	evidence = (struct memory_image)MEMORY_IMAGE(image.data, image.len);
	view_point_runs(view, &evidence.image, runs, count + 1, bytes->len);
	view_set_thorough(view, thorough);
	verdict = carver_find(carver)->check(view, &found);
	if (verdict != CARVE_COMPLETE)
		printf("%s\n", found.why);
	for (size_t i = 0; i < count; i++)
		bits[i] = view_proof(view, joints[i]);
	view_free(view);
	free(image.data);
	return verdict;
}

#endif
