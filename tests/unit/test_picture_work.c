/*
 * Decoding pictures counts as work (view_work): a few bytes can describe many samples, so without
 * that a small file of hostile pictures would keep burin busy for hours.
 */
#include "carver_case.h"

#include <glob.h>
#include <stdio.h>

static struct bytes read_golden(const char *path)
{
	struct bytes bytes = { 0 };
	uint8_t buffer[4096];
	char full[300];
	size_t len;
	FILE *file;

	snprintf(full, sizeof(full), "tests/golden/%s", path);
	file = fopen(full, "rb");
	cr_assert_not_null(file, "can't read %s: run the tests from the source folder", full);
	while ((len = fread(buffer, 1, sizeof(buffer), file)) > 0)
		bytes_add(&bytes, buffer, len);
	fclose(file);
	return bytes;
}

static uint64_t work_of(const char *carver, const struct bytes *bytes, uint64_t max)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding found = { 0 };
	uint64_t work;

	view_limit_work(view, max);
	carver_find(carver)->check(view, &found);
	work = view_work_done(view);
	view_free(view);
	return work;
}

/* The work of each picture is a multiple of the samples that it decodes to, and a check whose work
 * is limited ends. */
Test(picture_work, decoding_counts)
{
	static const struct {
		const char *carver, *path;
		uint64_t min;
	} cases[] = {
		{ "jxl", "jxl/groups.jxl", 50000 },
		{ "jxl", "jxl/progressive.jxl", 200000 },
		{ "jxl", "jxl/prefix.jxl", 30000 },
		{ "webp", "webp/lossless.webp", 25000 },
		{ "webp", "webp/lossy.webp", 5000 },
		{ "bmp", "bmp/rgb.bmp", 40000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = read_golden(cases[i].path);
		uint64_t work = work_of(cases[i].carver, &bytes, UINT64_MAX - 1);

		cr_assert_gt(
			work, cases[i].min, "%s: %llu", cases[i].path, (unsigned long long)work);
		cr_assert_lt(work, 8 * cases[i].min, "%s: %llu", cases[i].path,
			(unsigned long long)work);
		cr_assert_eq(work_of(cases[i].carver, &bytes, work / 2), UINT64_MAX, "%s",
			cases[i].path);
		free(bytes.data);
	}
}

/* Wherever a check's work is spent, nothing more can be looked at: no carver may take that for what
 * the file's structure rules out. */
Test(picture_work, any_check_ends_wherever_its_work_is_spent)
{
	glob_t found;

	cr_assert_eq(glob("tests/golden/*/*.expected", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char carver[64], path[200];
		struct bytes bytes;
		uint64_t work;

		cr_assert_eq(
			sscanf(found.gl_pathv[i], "tests/golden/%63[^/]/%199s", carver, path), 2);
		snprintf(path, sizeof(path), "%s", found.gl_pathv[i] + strlen("tests/golden/"));
		path[strlen(path) - strlen(".expected")] = '\0';
		if (!carver_find(carver))
			continue;
		bytes = read_golden(path);
		work = work_of(carver, &bytes, UINT64_MAX - 1);
		for (uint64_t part = 1; part <= 24 && work < (8 << 20); part++)
			work_of(carver, &bytes, work * part / 25);
		free(bytes.data);
	}
	globfree(&found);
}
