/* Reports read back: whole, filtered, truncated, and hostile. */
#include <errno.h>

#include "base/version.h"
#include "report/report_reader.h"
#include "report_data.h"
#include "tier.h"

TestSuite(report_reader, .init = temp_make, .fini = temp_remove);

#define RUN "{\"record\":\"run\",\"schema\":1,\"image\":{\"path\":\"i.dd\",\"size\":100000}}\n"
#define REST "\"type\":\"t\",\"offset\":10,\"length\":30,\"runs\":[[10,20],[99990,10]]"
#define FILE_LINE "{\"record\":\"file\",\"path\":\"t/1\"," REST "}\n"

static struct report_reader *open_text(const char *text, struct error *error)
{
	struct report_reader *report = NULL;
	int status;

	temp_write("r.jsonl", text, strlen(text));
	status = report_reader_open(&report, AT_FDCWD, temp_at("r.jsonl"), error);
	cr_expect_eq(status == 0, report != NULL);
	cr_expect_eq(status == 0, error->code == 0);
	return report;
}

/* Reads to the end or the first error. Returns the last status. */
static int read_all(struct report_reader *report, unsigned *count, struct error *error)
{
	struct file_record file;
	int status;

	*count = 0;
	while ((status = report_reader_next(report, &file, error)) > 0)
		++*count;
	return status;
}

Test(report_reader, what_was_written_comes_back)
{
	struct run_record run = data_run();
	struct file_record wrote = data_file(), file;
	const struct report_reader_run *head;
	struct report_reader *report = NULL;
	struct report *writer = NULL;
	struct error error = { 0 };
	struct output_dir *output_dir = NULL;

	cr_assert_eq(output_dir_open(&output_dir, temp_at("out"), NULL), 0);
	cr_assert_eq(report_open(&writer, output_dir, &run, NULL), 0);
	cr_assert_eq(report_add(writer, &wrote, NULL), 0);
	cr_assert_eq(report_close(writer, &(struct summary_record){ 0 }, NULL), 0);
	cr_assert_eq(report_reader_open(&report, output_dir_fd(output_dir), "report.jsonl", &error),
		0, "%s", error.text);
	head = report_reader_run(report);
	cr_expect_str_eq(head->burin, burin_version);
	cr_expect_str_eq(head->image_path, "/evidence/disk.E01");
	cr_expect_str_eq(head->image_format, "ewf");
	cr_expect_eq(head->image_size, 1000000000000);
	cr_expect_str_eq(head->stored_md5, "0123456789abcdef0123456789abcdef");
	cr_expect_str_eq(head->stored_sha1, "");
	cr_expect_str_eq(head->rules_path, "conf/burin.conf");
	cr_expect_str_eq(head->rules_sha256, "ab");
	cr_expect_not(head->dry_run);

	cr_assert_eq(report_reader_next(report, &file, &error), 1, "%s", error.text);
	cr_expect_str_eq(file.path, wrote.path);
	cr_expect_str_eq(file.type, "png");
	cr_expect_eq(file.rule, 3);
	cr_expect_eq(file.offset, 123456);
	cr_expect_eq(file.length, 5000);
	cr_expect_str_eq(file.extension, "png");
	cr_expect_eq(file.status, FILE_TRUNCATED);
	cr_expect_eq(file.end, END_CARVER);
	cr_expect_str_eq(file.reason, wrote.reason);
	cr_assert_eq(file.run_count, 2);
	cr_expect_eq(file.runs[0].offset, 123456);
	cr_expect_eq(file.runs[0].length, 4096);
	cr_expect_eq(file.runs[1].offset, 900000000000);
	cr_expect_eq(file.runs[1].length, 904);
	cr_expect_eq(file.assembly.by, ASSEMBLY_NEAR);
	cr_expect_eq(file.assembly.tested, 1234);
	cr_expect_eq(file.assembly.evidence, 40);
	cr_assert_eq(file.assembly.doubt_count, 1);
	cr_expect_eq(file.assembly.doubt[0].offset, 4000);
	cr_expect_eq(file.assembly.doubt[0].length, 200);
	cr_expect_str_eq(file.hashes.md5, wrote.hashes.md5);
	cr_expect_str_eq(file.hashes.sha1, "");
	cr_expect_str_eq(file.hashes.sha256, wrote.hashes.sha256);
	cr_expect_eq(file.unreadable, 12);
	cr_expect_str_eq(file.title, "hol\xEF\xBF\xBDiday <1> & \"2\"");
	cr_expect_eq(file.time, wrote.time);
	cr_expect_not(file.chop);
	cr_expect(file.written);
	cr_expect_not(report_reader_saw_summary(report));
	cr_expect_eq(report_reader_next(report, &file, &error), 0);
	cr_expect(report_reader_saw_summary(report));
	cr_expect_eq(report_reader_next(report, &file, &error), 0, "the end stays the end");
	report_reader_close(report);
	report_reader_close(NULL);
	output_dir_close(output_dir);
}

Test(report_reader, missing_fields_are_empty)
{
	struct error error = { 0 };
	struct report_reader *report = open_text(RUN FILE_LINE, &error);
	struct file_record file;

	cr_assert_not_null(report, "%s", error.text);
	cr_expect_str_eq(report_reader_run(report)->burin, "");
	cr_expect_str_eq(report_reader_run(report)->rules_path, "");
	cr_assert_eq(report_reader_next(report, &file, &error), 1, "%s", error.text);
	cr_expect_str_eq(file.extension, "");
	cr_expect_eq(file.status, FILE_UNVERIFIED);
	cr_expect_str_eq(file.hashes.sha256, "");
	cr_expect_eq(file.time, 0);
	cr_expect(file.written);
	report_reader_close(report);
}

Test(report_reader, filtered_reports)
{
	static const struct {
		const char *text;
		unsigned count;
		bool summary;
	} cases[] = {
		{ RUN, 0, false },
		{ RUN "\n  \r\n" FILE_LINE "\n", 1, false },
		{ RUN "{\"record\":\"summary\"}\n" FILE_LINE, 1, true },
		{ RUN FILE_LINE FILE_LINE "{\"summary\":1,\"record\":\"summary\",\"new\":[]}", 2,
			true },
		{ RUN FILE_LINE "{\"record\":\"file\",\"path\":\"t/2\",", 1, false }, /* torn off */
		{ RUN FILE_LINE "{\"record\":\"summ", 1, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error error = { 0 };
		struct report_reader *report = open_text(cases[i].text, &error);
		unsigned count;

		cr_assert_not_null(report, "case %zu: %s", i, error.text);
		cr_expect_eq(read_all(report, &count, &error), 0, "case %zu: %s", i, error.text);
		cr_expect_eq(count, cases[i].count, "case %zu", i);
		cr_expect_eq(report_reader_saw_summary(report), cases[i].summary, "case %zu", i);
		report_reader_close(report);
	}
}

Test(report_reader, no_reports)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "", "is empty" },
		{ "\n", "r.jsonl:1: not a JSON record" },
		{ "hello\n", "r.jsonl:1: not a JSON record" },
		{ "[]\n", "each line must be a JSON object" },
		{ FILE_LINE, "first line must be the record of the run" },
		{ "{\"record\":1}\n", "'record' must be a text" },
		{ "{\"record\":\"run\"}\n", "'schema' must be a whole number" },
		{ "{\"record\":\"run\",\"schema\":2,\"image\":{\"size\":1}}\n",
			"has schema 2, this burin reads schema 1" },
		{ "{\"record\":\"run\",\"schema\":1}\n", "'size' must be a whole number" },
		{ "{\"record\":\"run\",\"schema\":1,\"image\":7}\n", "'image' must be an object" },
		{ "{\"record\":\"run\",\"schema\":1,\"image\":{\"size\":-1}}\n", "not negative" },
		{ "{\"record\":\"run\",\"schema\":1,\"image\":{\"size\":1.5}}\n", "whole number" },
		{ "{\"record\":\"run\",\"schema\":1,\"image\":{\"size\":99999999999999999999}}\n",
			"not a JSON record" },
		{ "{\"record\":\"run\",\"record\":\"run\",\"schema\":1}\n",
			"not a JSON record: duplicate" },
		{ "{\"record\":\"run\",\"schema\":1,\"image\":{\"size\":1,\"stored_hashes\":{"
		  "\"md5\":\"zz\"}}}\n",
			"'md5' must be 32 hexadecimal digits" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error error = { 0 };

		cr_expect_null(open_text(cases[i].text, &error), "case %zu", i);
		cr_expect_eq(error.code, EXIT_IO);
		cr_expect_not_null(
			strstr(error.text, cases[i].words), "case %zu: %s", i, error.text);
	}
}

Test(report_reader, bad_file_records)
{
#define F(fields) "{\"record\":\"file\"," fields "}"
#define P(path) F("\"path\":\"" path "\"," REST)
#define R(length, runs) \
	F("\"path\":\"t/1\",\"type\":\"t\",\"offset\":10,\"length\":" length ",\"runs\":" runs)
#define X(extra) F("\"path\":\"t/1\"," REST "," extra)
	static const struct {
		const char *line, *words;
	} cases[] = {
		{ "nonsense", "not a JSON record" },
		{ "[1]", "each line must be a JSON object" },
		{ "{}", "'record' must be a text" },
		{ "{\"record\":\"dream\"}", "must be run, file or summary" },
		{ "{\"record\":\"run\",\"schema\":1}", "a second run's record" },
		{ P("/etc/passwd"), "'path' must be relative" },
		{ P("../x"), "'path' must be relative" },
		{ P("a/../../x"), "'path' must be relative" },
		{ P("a//x"), "'path' must be relative" },
		{ P("./x"), "'path' must be relative" },
		{ P("a/"), "'path' must be relative" },
		{ P(""), "'path' must be relative" },
		{ P("a\\nb"), "'path' must be relative" },
		{ P("a\\u0000b"), "not a JSON record" },
		{ P("a\\u202eb"), "'path' must be relative" },
		{ F(REST), "'path' must be a text" },
		{ F("\"path\":7," REST), "'path' must be a text" },
		{ F("\"path\":\"t/1\",\"offset\":1,\"length\":1,\"runs\":[[1,1]]"),
			"'type' must be a text" },
		{ F("\"path\":\"t/1\",\"type\":\"a/b\",\"offset\":1,\"length\":1,\"runs\":[[1,1]]"),
			"'type' must be a plain name" },
		{ F("\"path\":\"t/1\",\"type\":\"\",\"offset\":1,\"length\":1,\"runs\":[[1,1]]"),
			"'type' must be a plain name" },
		{ F("\"path\":\"t/1\",\"type\":\"t\",\"length\":1,\"runs\":[[1,1]]"),
			"'offset' must be a whole" },
		{ F("\"path\":\"t/"
		    "1\",\"type\":\"t\",\"offset\":100001,\"length\":1,\"runs\":[[1,1]]"),
			"'offset' is too large: 100001, at most 100000" },
		{ R("30", "7"), "'runs' must be a list" },
		{ R("30", "[[10,20]]"), "the runs hold 20 bytes, but 'length' is 30" },
		{ R("30", "[[10,31]]"), "the runs hold more than 'length', 30 bytes" },
		{ R("30", "[[10,20],[50,11]]"), "the runs hold more than 'length', 30 bytes" },
		{ R("30", "[]"), "the runs hold 0 bytes" },
		{ R("30", "[[10,30,1]]"), "run 1 must be [offset, length]" },
		{ R("30", "[10,30]"), "run 1 must be [offset, length]" },
		{ R("30", "[[10,20],[\"x\",10]]"), "run 2 must be [offset, length]" },
		{ R("30", "[[10,30],[5,0]]"), "run 2 must be [offset, length]" },
		{ R("30", "[[-10,30]]"), "run 1 must be [offset, length]" },
		{ R("30", "[[99971,30]]"), "run 1 exceeds the image: offset 99971, length "
					   "30, image size 100000" },
		{ R("30", "[[9223372036854775807,9223372036854775807]]"), "exceeds the image" },
		{ R("9223372036854775807", "[[1,9223372036854775807]]"), "exceeds the image" },
		{ R("-1", "[]"), "'length' must be a whole number" },
		{ R("1e2", "[[10,100]]"), "'length' must be a whole number" },
		{ X("\"assembly\":[]"), "'assembly' must be an object" },
		{ X("\"assembly\":{\"by\":\"luck\"}"), "'by' is unknown: 'luck'" },
		{ X("\"assembly\":{\"by\":\"near\",\"doubt\":[[25,6]]}"),
			"'doubt' must hold ranges of the file" },
		{ X("\"assembly\":{\"doubt\":[[0,1],[2,1],[4,1],[6,1],[8,1],[10,1],[12,1],[14,1],"
		    "[16,1]]}"),
			"'doubt' may hold at most 8 ranges" },
		{ X("\"rule\":4294967296"), "'rule' is too large" },
		{ X("\"rule\":\"png\""), "'rule' must be a whole number" },
		{ X("\"extension\":\"a/b\""), "'extension' must be a plain name" },
		{ X("\"extension\":\".x\""), "'extension' must be a plain name" },
		{ X("\"status\":\"perfect\\u001b\""),
			"'status' is unknown: 'perfect\xEF\xBF\xBD'" },
		{ X("\"end\":\"early\""), "'end' is unknown: 'early'" },
		{ X("\"hashes\":[]"), "'hashes' must be an object" },
		{ X("\"hashes\":{\"sha1\":\"da39\"}"), "'sha1' must be 40 hexadecimal digits" },
		{ X("\"hashes\":{\"md5\":\"g41d8cd98f00b204e9800998ecf8427e\"}"),
			"'md5' must be 32 hex" },
		{ X("\"hashes\":{\"md5\":17}"), "'md5' must be a text" },
		{ X("\"unreadable\":31"), "'unreadable' is too large: 31, at most 30" },
		{ X("\"title\":{}"), "'title' must be a text" },
		{ X("\"time\":\"yesterday\""), "'time' must look like" },
		{ X("\"chop\":1"), "'chop' must be true or false" },
		{ X("\"written\":\"no\""), "'written' must be true or false" },
		{ X("\"status\":\"complete\",\"status\":\"complete\""), "duplicate" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error error = { 0 };
		struct report_reader *report;
		char text[2048];
		unsigned count;

		snprintf(
			text, sizeof(text), "%s%s%s\n%s", RUN, FILE_LINE, cases[i].line, FILE_LINE);
		report = open_text(text, &error);
		cr_assert_not_null(report);
		cr_expect_eq(read_all(report, &count, &error), -EINVAL, "case %zu", i);
		cr_expect_eq(count, 1, "case %zu", i);
		cr_expect_eq(error.code, EXIT_IO);
		cr_expect_not_null(
			strstr(error.text, "r.jsonl:3: "), "case %zu: %s", i, error.text);
		cr_expect_not_null(
			strstr(error.text, cases[i].words), "case %zu: %s", i, error.text);
		report_reader_close(report);
	}
}

Test(report_reader, hashes_are_made_lower_case_and_nulls_are_missing)
{
	struct error error = { 0 };
	struct report_reader *report =
		open_text(RUN X("\"hashes\":{\"md5\":\"D41D8CD98F00B204E9800998ECF8427E\",\"sha1\":"
				"null},\"time\":null,\"chop\":null,"
				"\"title\":null,\"status\":null,\"rule\":null") "\n" X("\"hashes\":"
										       "null") "\n",
			&error);
	struct file_record file;

	cr_assert_not_null(report);
	cr_assert_eq(report_reader_next(report, &file, &error), 1, "%s", error.text);
	cr_expect_str_eq(file.hashes.md5, "d41d8cd98f00b204e9800998ecf8427e");
	cr_expect_str_eq(file.hashes.sha1, "");
	cr_assert_eq(report_reader_next(report, &file, &error), 1, "%s", error.text);
	cr_expect_str_eq(file.hashes.md5, "");
	report_reader_close(report);
}

Test(report_reader, dry_runs_wrote_nothing)
{
	struct run_record run = data_run();
	struct error error = { 0 };
	struct report_reader *report =
		open_text("{\"record\":\"run\",\"schema\":1,\"image\":{\"size\":100000},"
			  "\"options\":{\"dry_run\":true}}\n" FILE_LINE,
			&error);
	struct file_record file;

	cr_assert_not_null(report, "%s", error.text);
	cr_expect(report_reader_run(report)->dry_run);
	cr_assert_eq(report_reader_next(report, &file, &error), 1);
	cr_expect_not(file.written);
	report_reader_close(report);
	data_options.dry_run = true;
	data_write("out", &run, 1);
	cr_assert_eq(report_reader_open(&report, AT_FDCWD, temp_at("out/report.jsonl"), &error), 0);
	cr_expect(report_reader_run(report)->dry_run);
	report_reader_close(report);
}

/* A line of 5 MiB: text (the record's start), blanks, "}". */
static struct report_reader *open_long(const char *text, struct error *error)
{
	const size_t len = 5 << 20;
	char *long_text = malloc(len + 1);
	struct report_reader *report;

	memset(long_text, ' ', len);
	memcpy(long_text, RUN, strlen(RUN));
	memcpy(long_text + strlen(RUN), text, strlen(text));
	memcpy(long_text + len - strlen("}\n" FILE_LINE), "}\n" FILE_LINE, strlen("}\n" FILE_LINE));
	long_text[len] = '\0';
	report = open_text(long_text, error);
	free(long_text);
	return report;
}

Test(report_reader, endless_lines_are_refused_but_for_the_summary)
{
	struct error error = { 0 };
	struct report_reader *report =
		open_long("{\"record\":\"file\",\"path\":\"t/1\"," REST, &error);
	unsigned count;

	cr_assert_not_null(report, "%s", error.text);
	cr_expect_eq(read_all(report, &count, &error), -EINVAL);
	cr_expect_not_null(
		strstr(error.text, "r.jsonl:2: the record is longer than 4 MiB"), "%s", error.text);
	report_reader_close(report);

	error = (struct error){ 0 };
	report = open_long("{\"record\":\"summary\",\"unreadable\":[]", &error);
	cr_assert_not_null(report, "%s", error.text);
	cr_expect_eq(read_all(report, &count, &error), 0, "%s", error.text);
	cr_expect_eq(count, 1);
	cr_expect(report_reader_saw_summary(report));
	report_reader_close(report);
}

static void expect_closed(int dir_fd, const char *path, int status)
{
	struct report_reader *report = NULL;
	struct error error = { 0 };

	cr_expect_eq(report_reader_open(&report, dir_fd, path, &error), status, "%s: %s", path,
		error.text);
	cr_expect_null(report);
	cr_expect_eq(error.code, EXIT_IO);
	cr_expect_not_null(strstr(error.text, "cannot open the report"), "%s", error.text);
	cr_expect_not_null(strstr(error.text, path), "%s", error.text);
}

Test(report_reader, what_is_opened_and_what_not)
{
	int dir_fd = open(temp_path, O_RDONLY | O_DIRECTORY);
	struct report_reader *report = NULL;

	temp_write("real.jsonl", RUN, strlen(RUN));
	cr_assert_eq(symlink("real.jsonl", temp_at("link.jsonl")), 0);
	cr_assert_eq(mkfifo(temp_at("pipe"), 0600), 0);
	expect_closed(AT_FDCWD, temp_at("nothing"), -ENOENT);
	expect_closed(AT_FDCWD, temp_path, -EISDIR);
	expect_closed(dir_fd, "nothing", -ENOENT);
	expect_closed(dir_fd, "link.jsonl", -ELOOP);
	expect_closed(dir_fd, "pipe", -EINVAL);
	expect_closed(dir_fd, "../x", -EINVAL);
	cr_expect_eq(report_reader_open(&report, AT_FDCWD, temp_at("link.jsonl"), NULL), 0);
	report_reader_close(report);
	cr_expect_eq(report_reader_open(&report, dir_fd, "real.jsonl", NULL), 0);
	report_reader_close(report);
	close(dir_fd);
}

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Whether a component of the path is "..". */
static bool climbs(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at++)
		if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
			return true;
	return false;
}

/* Whatever is accepted must be within the bounds that the header promises. */
static void check_record(const struct file_record *file, uint64_t size)
{
	uint64_t sum = 0;

	cr_assert_neq(file->path[0], '/');
	cr_assert_not(climbs(file->path), "%s", file->path);
	for (uint32_t i = 0; i < file->run_count; i++) {
		cr_assert_leq(file->runs[i].offset, size);
		cr_assert_leq(file->runs[i].length, size - file->runs[i].offset);
		sum += file->runs[i].length;
	}
	cr_assert_eq(sum, file->length);
	cr_assert_leq(file->unreadable, file->length);
}

Test(report_reader, random_damage)
{
	static const char junk[] = "{}[]\",:0123456789.-eE\\u\n/truefalsn\xFF\x00";
	uint64_t seed = test_seed(), state = seed;
	struct run_record run = data_run();
	unsigned accepted = 0;
	char *whole, *text;
	size_t len;

	fprintf(stderr, "seed %lu\n", (unsigned long)seed);
	data_write("out", &run, 5);
	whole = temp_read("out/report.jsonl", &len);
	text = malloc(len);
	for (unsigned round = 0; round < test_tier(200, 700, 15000); round++) {
		struct report_reader *report = NULL;
		struct file_record file;

		memcpy(text, whole, len);
		for (unsigned hits = next_random(&state) % 4; hits; hits--)
			text[next_random(&state) % len] =
				junk[next_random(&state) % (sizeof(junk) - 1)];
		temp_write("r.jsonl", text, round % 3 ? len : next_random(&state) % len);
		if (report_reader_open(&report, AT_FDCWD, temp_at("r.jsonl"), NULL))
			continue;
		while (report_reader_next(report, &file, NULL) > 0) {
			check_record(&file, report_reader_run(report)->image_size);
			accepted++;
		}
		report_reader_close(report);
	}
	cr_expect_gt(accepted, 100, "seed %lu", (unsigned long)seed);
	free(text);
	free(whole);
}
