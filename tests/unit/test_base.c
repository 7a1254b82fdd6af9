/* Sizes, ranges, the pool. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/ranges.h"
#include "base/size.h"

Test(size, reads_what_people_write)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = { { "0", 0 }, { "4096", 4096 }, { "0x10", 16 }, { "50M", 50 << 20 },
		{ "50m", 50 << 20 }, { "2GiB", 2ull << 30 }, { "1KB", 1024 }, { "3T", 3ull << 40 },
		{ "18446744073709551615", UINT64_MAX } };
	static const char *const bad[] = { "", "-1", "+1", " 1", "1.5M", "M", "10X", "10MM", "10iB",
		"1 M" };
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		cr_assert_eq(size_parse(good[i].text, &bytes), 0, "%s", good[i].text);
		cr_assert_eq(bytes, good[i].bytes, "%s", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_assert_eq(size_parse(bad[i], &bytes), -EINVAL, "'%s'", bad[i]);
	cr_assert_eq(size_parse("18446744073709551616", &bytes), -ERANGE);
	cr_assert_eq(size_parse("16777216T", &bytes), -ERANGE);
}

Test(size, prints_for_people)
{
	char text[16];

	cr_assert_str_eq(size_print(0, text), "0 bytes");
	cr_assert_str_eq(size_print(1023, text), "1023 bytes");
	cr_assert_str_eq(size_print(1536, text), "1.5 KiB");
	cr_assert_str_eq(size_print(UINT64_MAX, text), "16777216.0 TiB");
}

/* Against a plain map of bytes. */
Test(ranges, agree_with_a_byte_map)
{
	unsigned seed = 11;

	for (int round = 0; round < 300; round++) {
		struct ranges ranges = { 0 };
		char map[64] = { 0 };

		for (int i = 0; i < 12; i++) {
			unsigned at = (unsigned)rand_r(&seed) % 50,
				 len = (unsigned)rand_r(&seed) % 14;

			ranges_add(&ranges, at, len);
			memset(map + at, 1, len);
		}
		for (size_t i = 0; i < ranges.count; i++) {
			cr_assert_gt(ranges.items[i].length, 0);
			if (i)
				cr_assert_gt(ranges.items[i].offset,
					ranges.items[i - 1].offset + ranges.items[i - 1].length);
		}
		for (unsigned from = 0; from < 64; from++) {
			unsigned sum = 0;

			for (unsigned len = 0; from + len <= 64; len++) {
				cr_assert_eq(ranges_overlap(&ranges, from, len), sum);
				if (from + len < 64)
					sum += (unsigned)map[from + len];
			}
		}
		ranges_free(&ranges);
	}
}

/* This many falling ranges would take hours if each had to move those before it. */
Test(ranges, many_in_any_order_are_as_one_by_one)
{
	const size_t many = 1 << 21;
	struct range *items = malloc(many * sizeof(*items));
	struct ranges falling = { 0 };
	unsigned seed = 12;

	for (int round = 0; round < 300; round++) {
		struct ranges one = { 0 }, all = { 0 };

		for (size_t i = 0; i < 24; i++) {
			items[i].offset = (unsigned)rand_r(&seed) % 100;
			items[i].length = (unsigned)rand_r(&seed) % 6;
			ranges_add(&one, items[i].offset, items[i].length);
		}
		ranges_add_all(&all, items, 12);
		ranges_add_all(&all, NULL, 0);
		ranges_add_all(&all, items + 12, 12);
		cr_assert_eq(all.count, one.count);
		for (size_t i = 0; i < one.count; i++) {
			cr_assert_eq(all.items[i].offset, one.items[i].offset);
			cr_assert_eq(all.items[i].length, one.items[i].length);
		}
		ranges_free(&one);
		ranges_free(&all);
	}
	for (size_t i = 0; i < many; i++)
		items[i] = (struct range){ 2 * (many - i), 1 };
	ranges_add_all(&falling, items, many);
	cr_expect_eq(falling.count, many);
	cr_expect_eq(falling.items[0].offset, 2);
	ranges_free(&falling);
	free(items);
}

struct counting_job {
	struct pool_job job;
	struct pool *pool;
	atomic_uint *sum;
	unsigned depth;
};

static void count(struct pool_job *job, unsigned worker)
{
	struct counting_job *counting = (struct counting_job *)job;

	cr_assert_lt(worker, 3);
	atomic_fetch_add(counting->sum, 1);
	if (counting->depth--)
		pool_submit(counting->pool, POOL_SCAN, job);
}

Test(pool, runs_every_job_even_those_submitted_by_jobs)
{
	static struct counting_job jobs[500];
	struct pool *pool = pool_new(3);
	atomic_uint sum = 0;

	cr_assert_eq(pool_threads(pool), 3);
	for (unsigned i = 0; i < 500; i++) {
		jobs[i] = (struct counting_job){ { count, NULL }, pool, &sum, i % 4 };
		pool_submit(pool, (enum pool_priority)(i % POOL_PRIORITIES), &jobs[i].job);
	}
	pool_free(pool);
	cr_assert_eq(atomic_load(&sum), 500 / 4 * (1 + 2 + 3 + 4));
}
