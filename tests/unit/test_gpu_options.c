/* What --gpus may say. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "scan/gpu_options.h"

static struct gpu_wanted parse(const char *text)
{
	struct gpu_wanted wanted;
	struct error error = { 0 };

	cr_assert_eq(gpu_wanted_parse(&wanted, text, &error), 0, "%s: %s", text, error.text);
	cr_assert_eq(error.code, 0);
	return wanted;
}

Test(gpu_options, nothing_means_the_first)
{
	struct gpu_wanted wanted = parse(NULL);

	cr_expect(!wanted.all && !wanted.listed);
	cr_expect_eq(wanted.count, 1);
}

Test(gpu_options, all)
{
	cr_expect(parse("all").all);
}

Test(gpu_options, a_number_is_how_many)
{
	struct gpu_wanted wanted = parse("3");

	cr_expect(!wanted.all && !wanted.listed);
	cr_expect_eq(wanted.count, 3);
	cr_expect_eq(parse("64").count, 64);
	cr_expect_eq(parse("08").count, 8);
}

Test(gpu_options, a_comma_makes_a_list)
{
	struct gpu_wanted wanted = parse("3,0,12");

	cr_expect(!wanted.all && wanted.listed);
	cr_assert_eq(wanted.count, 3);
	cr_expect_eq(wanted.ids[0], 3);
	cr_expect_eq(wanted.ids[1], 0);
	cr_expect_eq(wanted.ids[2], 12);
	wanted = parse("1,");
	cr_assert(wanted.listed && wanted.count == 1);
	cr_expect_eq(wanted.ids[0], 1);
}

static void expect_refused(const char *text, const char *why)
{
	struct gpu_wanted wanted;
	struct error error = { 0 };

	cr_expect_eq(gpu_wanted_parse(&wanted, text, &error), -EINVAL, "'%s'", text);
	cr_expect_eq(error.code, EXIT_USAGE);
	cr_expect_not_null(strstr(error.text, "--gpus"), "%s", error.text);
	cr_expect_not_null(strstr(error.text, why), "'%s': %s", text, error.text);
}

Test(gpu_options, anything_else_is_refused)
{
	static const char *const wrong[] = { "", "0", "65", "99999999999999999999", "-1", "+1",
		" 1", "1 ", "1.5", "ALL", "al", ",", ",1", "1,,2", "1,x", "1,-2", "0,99999",
		"two" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		expect_refused(wrong[i], "takes how many GPUs");
	expect_refused("2,1,2", "GPU 2 twice");
}

Test(gpu_options, as_many_as_there_may_be)
{
	char list[GPU_DEVICES_MAX * 4 + 8] = "";

	for (unsigned i = 0; i < GPU_DEVICES_MAX; i++)
		sprintf(list + strlen(list), "%u,", i);
	cr_expect_eq(parse(list).count, GPU_DEVICES_MAX);
	strcat(list, "64");
	expect_refused(list, "at most 64");
}
