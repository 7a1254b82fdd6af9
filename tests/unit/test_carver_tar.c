/* tar archives that are put together: checks go on at headers, and a trial ends where another archive's header is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carver_case.h"

enum { BLOCK = 512, MEMBERS = 8, DATA_LEN = 3 * BLOCK, MEMBER_LEN = BLOCK + DATA_LEN };

static void add_header(struct bytes *tar, unsigned number)
{
	char header[BLOCK] = { 0 };
	unsigned sum = 0;

	snprintf(header, 100, "folder/%u.txt", number);
	memcpy(header + 100,
		"0000644\0000000000\0000000000\00000000003000\00014000000000\0        0", 57);
	memcpy(header + 257, "ustar\00000", 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (uint8_t)header[i];
	snprintf(header + 148, 8, "%06o", sum);
	header[155] = ' ';
	bytes_add(tar, header, BLOCK);
}

static struct bytes make_tar(void)
{
	struct bytes tar = { 0 };

	for (unsigned i = 0; i < MEMBERS; i++) {
		add_header(&tar, i);
		for (unsigned n = 0; n < DATA_LEN; n++)
			bytes_fill(&tar, 'a' + (n * n + i) % 26, 1);
	}
	bytes_fill(&tar, 0, 10240 - tar.len % 10240);
	return tar;
}

static enum verdict check(const struct bytes *tar, const struct carve_state *state, bool is_trial,
	struct finding *found)
{
	const struct carver *carver = carver_find("tar");
	struct view *view = view_new_memory(tar->data, tar->len);
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_set_trial(view, is_trial);
	verdict = state ? carver->resume(view, state, found) : carver->check(view, found);
	view_free(view);
	return verdict;
}

Test(carver_tar, goes_on_at_headers)
{
	struct bytes tar = make_tar();
	struct view *saving = view_new_memory(tar.data, tar.len);
	struct finding found = { 0 }, from_state;

	view_keep_states(saving, BLOCK);
	cr_assert_eq(carver_find("tar")->check(saving, &found), CARVE_COMPLETE, "%s", found.why);
	for (unsigned i = 1; i < MEMBERS; i++) {
		const uint64_t at = (uint64_t)i * MEMBER_LEN;
		const struct carve_state *state = view_state_before(saving, at);
		uint8_t first = tar.data[0];

		cr_assert(state && state->offset == at);
		/* What is before the state is not looked at again. */
		tar.data[0] = 0xff;
		cr_expect_eq(check(&tar, state, false, &from_state), CARVE_COMPLETE);
		cr_expect_eq(from_state.length, found.length);
		tar.data[at] ^= 1;
		cr_expect_eq(check(&tar, state, true, &from_state), CARVE_TRUNCATED);
		cr_expect_eq(from_state.length, at - DATA_LEN);
		tar.data[at] ^= 1;
		tar.data[0] = first;
	}
	view_free(saving);
	free(tar.data);
}

Test(carver_tar, a_trial_ends_at_another_archives_header)
{
	struct bytes tar = make_tar(), other = { 0 };
	struct finding found;

	add_header(&other, 99);
	memcpy(tar.data + 2 * MEMBER_LEN + 2 * BLOCK, other.data, BLOCK);
	cr_expect_eq(check(&tar, NULL, false, &found), CARVE_UNVERIFIED);
	cr_expect_eq(found.length, tar.len);
	cr_expect_eq(check(&tar, NULL, true, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, 2 * MEMBER_LEN + BLOCK);
	free(tar.data);
	free(other.data);
}
