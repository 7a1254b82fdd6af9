/* Sorting digests in parts: the same as at once, each once, in order. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "hashing/digest_sort.h"

#define LEN 20

struct seen {
	size_t count;
	uint8_t last[LEN];
};

static int take(void *context, const uint8_t *digest)
{
	struct seen *seen = context;

	if (seen->count && memcmp(seen->last, digest, LEN) >= 0)
		return -ERANGE;
	memcpy(seen->last, digest, LEN);
	seen->count++;
	return 0;
}

static size_t sort_some(size_t count, unsigned distinct, size_t memory)
{
	struct digest_sort *sort = digest_sort_new(LEN, memory, "/tmp");
	struct seen seen = { 0 };

	for (size_t i = 0; i < count; i++) {
		uint32_t number = (uint32_t)(i * 7919 % distinct) * 2654435761u;
		uint8_t digest[LEN] = { 0 };

		memcpy(digest + (number & 8), &number, sizeof(number));
		cr_assert_eq(digest_sort_add(sort, digest), 0);
	}
	cr_assert_eq(digest_sort_finish(sort, take, &seen), 0);
	digest_sort_free(sort);
	return seen.count;
}

Test(digest_sort, in_parts_and_whole)
{
	static const size_t memories[] = { 1 << 20, 20000, 64 * LEN };

	for (size_t m = 0; m < 3; m++) {
		cr_assert_eq(sort_some(0, 1, memories[m]), 0);
		cr_assert_eq(sort_some(1, 1, memories[m]), 1);
		cr_assert_eq(sort_some(3000, 1, memories[m]), 1);
		cr_assert_eq(sort_some(3000, 3001, memories[m]), 3000);
		cr_assert_eq(sort_some(3000, 500, memories[m]), 500);
	}
}

Test(digest_sort, hands_on_what_take_returns)
{
	struct digest_sort *sort = digest_sort_new(LEN, 0, "/no/such/folder");
	struct seen seen = { .count = 1 };
	uint8_t digest[LEN] = { 0 };

	cr_assert_eq(digest_sort_add(sort, digest), 0);
	cr_assert_eq(digest_sort_finish(sort, take, &seen), -ERANGE);
	for (unsigned i = 1; i < 64; i++)
		cr_assert_eq(digest_sort_add(sort, digest), 0);
	cr_assert_eq(digest_sort_add(sort, digest), -ENOENT, "it needs a temporary file now");
	digest_sort_free(sort);
}
