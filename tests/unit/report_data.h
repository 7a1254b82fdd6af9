/* A made-up run, for tests of the reports and of their reading side. */
#ifndef BURIN_TESTS_REPORT_DATA_H
#define BURIN_TESTS_REPORT_DATA_H

#include "assemble/assemble.h"
#include "report/report.h"
#include "run/carve_options.h"
#include "temp.h"

static char *data_paths[] = { (char *)"/evidence/disk.E01", (char *)"/evidence/disk.E02" };
static char *data_rules_files[] = { (char *)"conf/burin.conf", (char *)"conf/pictures.conf" };
static char *data_arguments[] = { (char *)"burin", (char *)"carve", (char *)"di\xFFsk.E01", NULL };
static struct image_value data_values[] = { { (char *)"case_number", (char *)"2024-17" },
	{ (char *)"examiner_name", (char *)"J. \xC3\x96" } };

static struct image_info data_image = { .format = "ewf",
	.size = 1000000000000,
	.sector_size = 512,
	.paths = data_paths,
	.path_count = 2,
	.stored_md5 = "0123456789abcdef0123456789abcdef",
	.values = data_values,
	.value_count = 2 };

static struct rules data_rules = { .path = (char *)"conf/burin.conf",
	.sha256 = "ab",
	.format = RULES_BURIN,
	.count = 61,
	.files = data_rules_files,
	.file_count = 2 };

static struct range data_runs[] = { { 123456, 4096 }, { 900000000000, 904 } };

static struct run_options data_options = {
	.hash_mask = HASH_SHA256,
	.align = 512,
	.decide.max_files = 10,
	.fragments = FRAGMENTS_NEAR,
	.fragment_budget = 100,
};

static __attribute__((unused)) struct run_record data_run(void)
{
	return (struct run_record){ .command_line = "burin carve di\xFFsk.E01",
		.arguments = data_arguments,
		.output_dir = "/tmp/out",
		.started = 1714564800,
		.image = &data_image,
		.image_path = "/evidence/disk.E01",
		.rules = &data_rules,
		.engine = "cpu",
		.kernel = NULL,
		.engine_reason = "no GPU",
		.reader = "io_uring",
		.threads = 2,
		.chunk_size = 33554432,
		.option_rows = carve_option_rows,
		.options = &data_options };
}

static __attribute__((unused)) struct file_record data_file(void)
{
	return (struct file_record){ .path = (char *)"png/000000123456.png",
		.type = "png",
		.kind = "png",
		.rule = 3,
		.offset = 123456,
		.length = 5000,
		.extension = "png",
		.status = FILE_TRUNCATED,
		.end = END_CARVER,
		.reason = "chunk CRC wrong at 77",
		.runs = data_runs,
		.run_count = 2,
		.assembly = { .by = ASSEMBLY_NEAR,
			.tested = 1234,
			.evidence = 40,
			.doubt_count = 1,
			.doubt = { { 4000, 200 } } },
		.hashes = { .md5 = "d41d8cd98f00b204e9800998ecf8427e",
			.sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85"
				  "5" },
		.unreadable = 12,
		.title = "hol\xFFiday <1> & \"2\"",
		.time = 951782400,
		.written = true };
}

/* Writes a report of count files, the i-th at offset 1000 * i, into the folder name. */
static __attribute__((unused)) void data_write(
	const char *name, const struct run_record *run, unsigned count)
{
	struct summary_record summary = {
		.files = count, .bytes = 10 * count, .finished = 1714564810
	};
	struct error error = { 0 };
	struct report *report = NULL;
	struct output_dir *output_dir = NULL;

	cr_assert_eq(output_dir_open(&output_dir, temp_at(name), &error), 0, "%s", error.text);
	cr_assert_eq(report_open(&report, output_dir, run, &error), 0, "%s", error.text);
	for (unsigned i = 0; i < count; i++) {
		struct range piece = { 1000 * i, 10 };
		struct file_record file = data_file();
		char path[64];

		snprintf(path, sizeof(path), "png/%u.png", i);
		file.path = path;
		file.offset = piece.offset;
		file.length = piece.length;
		file.runs = &piece;
		file.run_count = 1;
		file.assembly.doubt[0] = (struct range){ 2, 5 };
		file.unreadable = 0;
		cr_assert_eq(report_add(report, &file, &error), 0, "%s", error.text);
	}
	cr_assert_eq(report_close(report, &summary, &error), 0, "%s", error.text);
	output_dir_close(output_dir);
}

#endif
