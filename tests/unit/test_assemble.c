#include <criterion/criterion.h>

#include "assemble/assemble.h"

/* A small image may hold a broken file in each sector. */
Test(assemble, a_pass_is_bounded_however_many_files_are_broken)
{
	const uint64_t size = 64 << 20, bound = ((uint64_t)3 << 34) + 64 * size;

	for (uint64_t files = 1; files <= 1 << 18; files *= 2)
		for (unsigned share = 1; share <= 100; share += 33)
			cr_assert_leq(assemble_work(size, files, share), bound / files,
				"%u percent for %u files", share, (unsigned)files);
}

Test(assemble, few_files_get_enough_for_a_trial)
{
	for (uint64_t files = 1; files <= 10000; files *= 10)
		cr_assert_geq(assemble_work(files << 14, files, 1), 1u << 22);
}

/* The default's search, in an image of 1 MiB, takes no longer than the checks of a rule may. */
Test(assemble, a_small_image_is_searched_in_little_work)
{
	for (uint64_t files = 1; files <= 1 << 11; files++)
		cr_assert_leq(assemble_work(1 << 20, files, 3), (512u << 20) / files, "%u files",
			(unsigned)files);
}
