/* What the three reports contain, to the letter where people and programs rely on it. */
#include <errno.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <libxml/xmlschemas.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "base/codec.h"
#include "report_data.h"

static void set_up(void)
{
	temp_make();
	setenv("TZ", "UTC", 1);
	tzset();
}

TestSuite(report, .init = set_up, .fini = temp_remove);

static const struct range bad_ranges[] = { { 512, 1024 }, { 900000000000, 512 } };

/* The run of report_data.h with one real file and one hostile one. */
static void write_reports(const char *name, const struct run_record *run)
{
	const struct ranges unreadable = { (struct range *)bad_ranges, 2, 2 };
	struct summary_record summary = { .files = 2,
		.bytes = 5001,
		.hits = 99,
		.unreadable = &unreadable,
		.damage = { &(struct damage){ 512, 1024, (char *)"a h\x01le" }, 1, 1 },
		.seconds_total = 1.25,
		.seconds_read_wait = 0.1,
		.finished = 1714564810,
		.scanned = 3ull << 30,
		.evidence = { .state = EVIDENCE_MISMATCH,
			.hashes = { .md5 = "d41d8cd98f00b204e9800998ecf8427e" },
			.sentence = "another MD5" },
		.problems = { "1536 bytes of the image could not be read", "a \x1B problem" },
		.exit = 1 };
	struct file_record file = data_file();
	struct file_record hostile = { .path = (char *)"x/1",
		.type = "x",
		.kind = "x",
		.offset = 1,
		.length = 1,
		.extension = "",
		.status = FILE_UNVERIFIED,
		.end = END_MAX_SIZE,
		.chop = true,
		.title = "]]><!--\xEF\xBF\xBF\n\x01\xE2\x80\xAE",
		.runs = &(struct range){ 1, 1 },
		.run_count = 1 };
	struct error error = { 0 };
	struct report *report = NULL;
	struct output_dir *output_dir = NULL;

	tally_add(&summary.by_type, "x", 1);
	tally_add(&summary.by_type, "png", 5000);
	tally_add(&summary.by_kind, "x", 1);
	tally_add(&summary.by_kind, "png", 5000);
	tally_add(&summary.rejected, "png: no IHDR", 0);
	tally_add(&summary.rejected, "bmp: size is zero", 0);
	tally_add(&summary.rejected, "png: no IHDR", 0);
	tally_add(&summary.skipped, "not aligned", 0);
	tally_add_many(&summary.checks, "png", 3, 70000);
	cr_assert_eq(output_dir_open(&output_dir, temp_at(name), &error), 0, "%s", error.text);
	cr_assert_eq(report_open(&report, output_dir, run, &error), 0, "%s", error.text);
	cr_assert_eq(report_add(report, &file, &error), 0, "%s", error.text);
	cr_assert_eq(report_add(report, &hostile, &error), 0, "%s", error.text);
	cr_assert_eq(report_close(report, &summary, &error), 0, "%s", error.text);
	cr_expect_eq(error.code, 0);
	tallies_free(&summary.by_type);
	tallies_free(&summary.by_kind);
	tallies_free(&summary.rejected);
	tallies_free(&summary.skipped);
	tallies_free(&summary.checks);
	output_dir_close(output_dir);
}

static void expect_text(const char *name, const char *expected)
{
	char *text = temp_read(name, NULL);
	size_t same = 0;

	while (text[same] && text[same] == expected[same])
		same++;
	cr_expect_str_eq(
		text, expected, "%s differs from byte %zu on: '%s'", name, same, text + same);
	free(text);
}

/* ---- tallies and names --------------------------------------------------------------------- */

Test(report, tallies_are_sorted_and_summed)
{
	static const char *const names[] = { "m", "c", "x", "c", "a", "x", "c", "" };
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < 8; i++)
		tally_add(&tallies, names[i], i);
	cr_assert_eq(tallies.count, 5);
	for (size_t i = 1; i < 5; i++)
		cr_expect_lt(strcmp(tallies.items[i - 1].name, tallies.items[i].name), 0);
	cr_expect_str_eq(tallies.items[2].name, "c");
	cr_expect_eq(tallies.items[2].count, 3);
	cr_expect_eq(tallies.items[2].bytes, 1 + 3 + 6);
	tallies_free(&tallies);
	cr_expect_eq(tallies.count, 0);
}

Test(report, names_of_status_and_end)
{
	cr_expect_str_eq(file_status_name(FILE_COMPLETE), "complete");
	cr_expect_str_eq(file_status_name(FILE_TRUNCATED), "truncated");
	cr_expect_str_eq(file_status_name(FILE_UNVERIFIED), "unverified");
	cr_expect_str_eq(file_end_name(END_CARVER), "carver");
	cr_expect_str_eq(file_end_name(END_LENGTH), "length");
	cr_expect_str_eq(file_end_name(END_FOOTER), "footer");
	cr_expect_str_eq(file_end_name(END_NEXT), "next");
	cr_expect_str_eq(file_end_name(END_MAX_SIZE), "max_size");
	cr_expect_str_eq(file_end_name(END_IMAGE), "image");
}

/* ---- audit.txt ----------------------------------------------------------------------------- */

#define BLANKS_60 "                                                            "

#define HEAD \
	"\nburin version " BURIN_VERSION \
	" audit file\nEvidence: another MD5" BLANKS_60 BLANKS_60 BLANKS_60 \
	"       \nStarted at Wed May  1 12:00:00 2024\nCommand line:\n" \
	"burin carve di\xEF\xBF\xBDsk.E01 \n\nOutput directory: /tmp/out\nConfiguration file: " \
	"conf/burin.conf\n\n" \
	"Opening target \"/evidence/disk.E01\"\n\nThe following files were carved:\n" \
	"File\t\t  Start\t\t\tChop\t\tLength\t\tExtracted From\n"

#define TAIL \
	"\n\nCompleted at Wed May  1 12:00:10 2024\n\nFiles carved: 2, 5001 bytes\n" \
	"            1  png, 5000 bytes\n            1  x, 1 bytes\n\nCandidates that were not " \
	"files:\n" \
	"            1  bmp: size is zero\n            2  png: no IHDR\n\nCandidates that were " \
	"left out:\n" \
	"            1  not aligned\n\nUnreadable ranges of the image (offset, length), zeros in " \
	"carved files:\n" \
	"          512           1024\n 900000000000            512\n\nWhy they can't be " \
	"read:\n          512           1024  a h\xEF\xBF\xBDle\n\nProblems:\n" \
	"  1536 bytes of the image could not be read\n  a \xEF\xBF\xBD problem\n\n" \
	"Scanned: 3.0 GiB, pattern hits: 99, exit code: 1\n"

Test(report, audit)
{
	struct run_record run = data_run();

	write_reports("out", &run);
	expect_text("out/audit.txt",
		HEAD "png/000000123456.png       123456\t\tNO             5000\t\tdisk.E01\n"
		     "x/1            1\t\tYES               1\t\tdisk.E01\n" TAIL);
}

Test(report, audit_in_compat_mode_has_bare_names)
{
	struct run_record run = data_run();

	run.compat_scalpel = true;
	write_reports("out", &run);
	expect_text("out/audit.txt",
		HEAD "000000123456.png       123456\t\tNO             5000\t\tdisk.E01\n"
		     "1            1\t\tYES               1\t\tdisk.E01\n" TAIL);
}

/* ---- report.jsonl -------------------------------------------------------------------------- */

/* The run's and the summary's record hold machine and build: here what is between two texts is cut out. */
static char *without(const char *line, const char *first, const char *last)
{
	const char *from = strstr(line, first),
		   *to = from ? strstr(from + strlen(first), last) : NULL;
	char *result = malloc(strlen(line) + 1);

	cr_assert_not_null(to);
	sprintf(result, "%.*s%s", (int)(from + strlen(first) - line), line, to);
	return result;
}

Test(report, jsonl_to_the_letter)
{
	struct run_record run = data_run();
	char *text, *hostless, *stable;

	write_reports("out", &run);
	text = temp_read("out/report.jsonl", NULL);
	hostless = without(text, "\"host\":\"", "\"");
	stable = without(hostless, "\"commit\":", ",\"command\"");
	cr_expect_str_eq(stable,
		"{\"record\":\"run\",\"schema\":1,\"evidence\":\"mismatch\"  "
		",\"burin\":\"" BURIN_VERSION "\",\"commit\":,\"command\":[\"burin\",\"carve\","
		"\"di\xEF\xBF\xBDsk.E01\"],\"host\":\"\",\"started\":\"2024-05-01T12:00:00Z\","
		"\"output\":\"/tmp/out\",\"image\":{\"path\":\"/evidence/disk.E01\","
		"\"absolute\":null,"
		"\"paths\":[\"/evidence/disk.E01\",\"/evidence/disk.E02\"],\"format\":\"ewf\","
		"\"size\":1000000000000,\"sector_size\":512,\"hashes\":{},"
		"\"stored_hashes\":{\"md5\":\"0123456789abcdef0123456789abcdef\"},"
		"\"acquisition\":{\"case_number\":\"2024-17\",\"examiner_name\":\"J. \xC3\x96\"}},"
		"\"rules\":{\"path\":\"conf/"
		"burin.conf\",\"sha256\":\"ab\",\"count\":61,\"types\":null,\"format\":\"burin\","
		"\"files\":[\"conf/burin.conf\",\"conf/pictures.conf\"]},"
		"\"engine\":{\"name\":\"cpu\",\"kernel\":null,\"reason\":\"no "
		"GPU\",\"reader\":\"io_uring\","
		"\"threads\":2,\"chunk_size\":33554432},"
		"\"sandbox\":{\"limits\":false,\"landlock\":0,\"seccomp\":false,\"checks\":false},"
		"\"options\":{\"dry_run\":false,\"nested\":false,\"strict\":false,\"both\":false,"
		"\"compat\":null,"
		"\"space\":null,\"align\":512,\"offset\":0,\"length\":null,\"map\":null,\"max_"
		"files\":10,\"max_bytes\":null,"
		"\"max_files_type\":null,\"max_bytes_type\":null,\"hash\":[\"sha256\"],\"no_"
		"slack\":false,"
		"\"fragments\":\"near\",\"fragment_budget\":100}}\n"
		"{\"record\":\"file\",\"path\":\"png/"
		"000000123456.png\",\"type\":\"png\",\"kind\":\"png\",\"rule\":3,"
		"\"offset\":123456,\"length\":5000,\"extension\":\"png\",\"status\":\"truncated\","
		"\"end\":\"carver\",\"reason\":\"chunk CRC wrong at "
		"77\",\"runs\":[[123456,4096],[900000000000,904]],"
		"\"assembly\":{\"by\":\"near\",\"tested\":1234,\"evidence\":40,"
		"\"doubt\":[[4000,200]]},"
		"\"hashes\":{\"md5\":\"d41d8cd98f00b204e9800998ecf8427e\","
		"\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"},"
		"\"unreadable\":12,\"title\":\"hol\xEF\xBF\xBDiday <1> & \\\"2\\\"\","
		"\"time\":\"2000-02-29T00:00:00Z\",\"chop\":false,\"written\":true}\n"
		"{\"record\":\"file\",\"path\":\"x/"
		"1\",\"type\":\"x\",\"kind\":\"x\",\"rule\":0,\"offset\":1,\"length\":1,"
		"\"extension\":\"\",\"status\":\"unverified\",\"end\":\"max_size\",\"reason\":\"\","
		"\"runs\":[[1,1]],"
		"\"hashes\":{},\"unreadable\":0,"
		"\"title\":\"]]><!--\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\",\"time\":"
		"null,\"chop\":true,"
		"\"written\":false}\n"
		"{\"record\":\"summary\",\"files\":2,\"bytes\":5001,"
		"\"evidence\":{\"state\":\"mismatch\",\"hashes\":{\"md5\":"
		"\"d41d8cd98f00b204e9800998ecf8427e\"},\"sentence\":\"another MD5\"},"
		"\"by_type\":{\"png\":{\"files\":1,\"bytes\":5000},\"x\":{\"files\":1,\"bytes\":1}}"
		","
		"\"by_kind\":{\"png\":{\"files\":1,\"bytes\":5000},\"x\":{\"files\":1,\"bytes\":1}}"
		","
		"\"rejected\":{\"bmp: size is zero\":1,\"png: no IHDR\":2},\"skipped\":{\"not "
		"aligned\":1},"
		"\"checks\":{\"png\":{\"count\":3,\"work\":70000}},"
		"\"hits\":99,\"scanned\":3221225472,\"unreadable\":[[512,1024],[900000000000,512]],"
		"\"damage\":[{\"offset\":512,\"length\":1024,\"why\":\"a h\xEF\xBF\xBDle\"}],"
		"\"problems\":[\"1536 bytes of the image could not be read\",\"a \xEF\xBF\xBD "
		"problem\"],"
		"\"seconds\":{\"total\":1.25,\"start\":0.0,\"read_wait\":0.1,\"scan_wait\":0.0,"
		"\"carve_wait\":0."
		"0},"
		"\"finished\":\"2024-05-01T12:00:10Z\",\"signal\":0,\"exit\":1}\n");
	free(hostless);
	free(stable);
	free(text);
}

static char *line_of(const char *name, unsigned number)
{
	char *text = temp_read(name, NULL), *line = text, *copy;

	while (number--)
		line = strchr(line, '\n') + 1;
	*strchr(line, '\n') = '\0';
	copy = strdup(line);
	free(text);
	return copy;
}

Test(report, large_numbers_are_plain_integers)
{
	struct run_record run = data_run();
	json_t *record, *options;
	char *line;

	run.chunk_size = (1ull << 53) + 1;
	data_options.offset = UINT64_MAX;
	data_options.length = INT64_MAX;
	data_options.dry_run = data_options.decide.nested = true;
	data_options.decide.strict = data_options.both = true;
	data_options.scalpel = 1;
	data_options.hash_mask = HASH_MD5 | HASH_SHA1 | HASH_SHA256;
	run.engine = NULL;
	run.started = 0;
	run.arguments = NULL;
	data_write("out", &run, 0);
	line = line_of("out/report.jsonl", 0);
	cr_expect_not_null(strstr(line, "\"chunk_size\":9007199254740993}"));
	record = json_loads(line, 0, NULL);
	options = json_object_get(record, "options");
	cr_expect_eq(json_integer_value(json_object_get(options, "offset")), INT64_MAX);
	cr_expect_eq(json_integer_value(json_object_get(options, "length")), INT64_MAX);
	cr_expect(json_is_true(json_object_get(options, "dry_run")));
	cr_expect(json_is_true(json_object_get(options, "strict")));
	cr_expect_str_eq(json_string_value(json_object_get(options, "compat")), "scalpel");
	cr_expect_eq(json_array_size(json_object_get(options, "hash")), 3);
	cr_expect(json_is_null(json_object_get(record, "started")));
	cr_expect_eq(json_array_size(json_object_get(record, "command")), 0);
	cr_expect(json_is_null(json_object_get(json_object_get(record, "engine"), "name")));
	json_decref(record);
	free(line);
}

/* Nothing of engine, threads, host, command or time may appear after the heads. */
Test(report, everything_after_the_head_is_the_same_for_other_engines)
{
	struct run_record one = data_run(), two = data_run();
	char *a, *b;

	two.engine = "reference";
	two.kernel = "warp";
	two.engine_reason = two.reader = NULL;
	two.threads = 64;
	two.chunk_size = 1 << 20;
	two.started = 1800000000;
	two.command_line = "burin -j 64";
	two.arguments = NULL;
	two.output_dir = "/elsewhere";
	write_reports("one", &one);
	write_reports("two", &two);
	for (unsigned i = 1; i < 3; i++) {
		a = line_of("one/report.jsonl", i);
		b = line_of("two/report.jsonl", i);
		cr_expect_str_eq(a, b);
		free(a);
		free(b);
	}
	a = temp_read("one/report.xml", NULL);
	b = temp_read("two/report.xml", NULL);
	cr_expect_str_eq(strstr(a, "</creator>"), strstr(b, "</creator>"));
	free(a);
	free(b);
	a = temp_read("one/audit.txt", NULL);
	b = temp_read("two/audit.txt", NULL);
	cr_expect_str_eq(strstr(a, "Opening target"), strstr(b, "Opening target"));
	free(a);
	free(b);
}

/* ---- report.xml ---------------------------------------------------------------------------- */

/* tests/dfxml.xsd, found relative to this file. */
static xmlSchemaParserCtxtPtr open_schema(void)
{
	const char *slash = strrchr(__FILE__, '/');
	char path[4096];

	snprintf(path, sizeof(path), "%.*s../dfxml.xsd", slash ? (int)(slash + 1 - __FILE__) : 0,
		__FILE__);
	return xmlSchemaNewParserCtxt(path);
}

static int validate(xmlDocPtr document)
{
	xmlSchemaParserCtxtPtr parser = open_schema();
	xmlSchemaPtr schema = xmlSchemaParse(parser);
	xmlSchemaValidCtxtPtr context = xmlSchemaNewValidCtxt(schema);
	int result;

	cr_assert_not_null(context);
	result = xmlSchemaValidateDoc(context, document);
	xmlSchemaFreeValidCtxt(context);
	xmlSchemaFree(schema);
	xmlSchemaFreeParserCtxt(parser);
	return result;
}

static void quiet(void *context, const char *format, ...)
{
	(void)context;
	(void)format;
}

Test(report, dfxml_is_valid)
{
	struct run_record run = data_run();
	xmlDocPtr document;
	char *text;
	size_t len;

	write_reports("out", &run);
	text = temp_read("out/report.xml", &len);
	document = xmlReadMemory(
		text, (int)len, "report.xml", NULL, XML_PARSE_NONET | XML_PARSE_PEDANTIC);
	cr_assert_not_null(document, "%s", text);
	cr_expect_eq(validate(document), 0, "%s", text);

	/* The check can fail: another element in front of the last one. */
	xmlSetGenericErrorFunc(NULL, quiet);
	xmlNewChild(xmlDocGetRootElement(document)->children->next, NULL, BAD_CAST "filename",
		BAD_CAST "x");
	cr_expect_neq(validate(document), 0);
	xmlFreeDoc(document);
	free(text);
	xmlCleanupParser();
}

Test(report, dfxml_to_the_letter_behind_the_creator)
{
	struct run_record run = data_run();
	char *text;

	write_reports("out", &run);
	text = temp_read("out/report.xml", NULL);
	cr_expect_str_eq(strstr(text, "</creator>"),
		"</creator>\n"
		" <source>\n"
		"  <!-- image: ewf, 1000000000000 bytes, sectors of 512 bytes, stored MD5 "
		"0123456789abcdef0123456789abcdef, stored SHA-1 none -->\n"
		"  <image_filename>/evidence/disk.E01</image_filename>\n"
		"  <image_filename>/evidence/disk.E02</image_filename>\n"
		"  <sectorsize>512</sectorsize>\n"
		"  <image_size>1000000000000</image_size>\n"
		" </source>\n"
		" <fileobject>\n"
		"  <filename>png/000000123456.png</filename>\n"
		"  <id>1</id>\n"
		"  <name_type>r</name_type>\n"
		"  <filesize>5000</filesize>\n"
		"  <byte_runs>\n"
		"   <byte_run file_offset=\"0\" img_offset=\"123456\" len=\"4096\"/>\n"
		"   <byte_run file_offset=\"4096\" img_offset=\"900000000000\" len=\"904\"/>\n"
		"  </byte_runs>\n"
		"  <hashdigest type=\"md5\">d41d8cd98f00b204e9800998ecf8427e</hashdigest>\n"
		"  <hashdigest "
		"type=\"sha256\">e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		"</hashdigest>\n"
		" </fileobject>\n"
		" <fileobject>\n"
		"  <filename>x/1</filename>\n"
		"  <id>2</id>\n"
		"  <name_type>r</name_type>\n"
		"  <filesize>1</filesize>\n"
		"  <byte_runs>\n"
		"   <byte_run file_offset=\"0\" img_offset=\"1\" len=\"1\"/>\n"
		"  </byte_runs>\n"
		" </fileobject>\n"
		" <!-- 2 files, 5001 bytes, exit code 1 -->\n"
		"</dfxml>\n");
	cr_expect_not_null(
		strstr(text, "<command_line>burin carve di\xEF\xBF\xBDsk.E01</command_line>"));
	cr_expect_not_null(strstr(text, "<start_time>2024-05-01T12:00:00Z</start_time>"));
	cr_expect_not_null(strstr(text, "<!-- evidence: another MD5  "));
	cr_expect_null(strstr(text, "has not finished"));
	cr_expect_not_null(strstr(text, "<dc:type>Carve Report</dc:type>"));
	free(text);
}

/* ---- writing ------------------------------------------------------------------------------- */

static struct report *open_report(struct output_dir **output_dir)
{
	static struct run_record run;
	struct error error = { 0 };
	struct report *report = NULL;

	run = data_run();
	cr_assert_eq(output_dir_open(output_dir, temp_at("out"), &error), 0, "%s", error.text);
	cr_assert_eq(report_open(&report, *output_dir, &run, &error), 0, "%s", error.text);
	return report;
}

static unsigned count_lines(const char *name)
{
	char *text = temp_read(name, NULL);
	unsigned count = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		count++;
	free(text);
	return count;
}

Test(report, records_reach_the_file_while_the_run_goes_on)
{
	const struct summary_record summary = { 0 };
	struct file_record file = data_file();
	struct output_dir *output_dir = NULL;
	struct report *report = open_report(&output_dir);

	cr_expect_eq(count_lines("out/report.jsonl"), 1, "the head is there at once");
	cr_expect_eq(report_add(report, &file, NULL), 0);
	cr_expect_eq(report_flush(report, NULL), 0);
	cr_expect_eq(count_lines("out/report.jsonl"), 2);
	for (unsigned i = 0; i < 2000; i++)
		report_add(report, &file, NULL);
	cr_expect_gt(count_lines("out/report.jsonl"), 500, "more than 256 KiB don't wait");
	cr_expect_lt(count_lines("out/report.jsonl"), 2002, "but not a write for each record");
	cr_expect_eq(report_close(report, &summary, NULL), 0);
	cr_expect_eq(count_lines("out/report.jsonl"), 2003);
	output_dir_close(output_dir);
}

Test(report, second_report_into_the_folder_fails_with_its_name)
{
	struct run_record run = data_run();
	struct report *second = NULL;
	struct error error = { 0 };
	struct output_dir *output_dir = NULL;
	struct report *report = open_report(&output_dir);

	cr_expect_eq(report_open(&second, output_dir, &run, &error), -EEXIST);
	cr_expect_null(second);
	cr_expect_not_null(strstr(error.text, "out/audit.txt': File exists"), "%s", error.text);
	report_close(report, &(struct summary_record){ 0 }, NULL);
	output_dir_close(output_dir);
}

/* The checkpoint that says how long the reports were may yet turn out to be damaged. */
Test(report, nothing_is_written_before_a_run_continues)
{
	const struct run_record run = data_run();
	const struct summary_record summary = { .exit = EXIT_IO };
	struct codec_reader nothing = codec_reader_from((const uint8_t[7]){ 0 }, 7);
	struct output_dir *output_dir = NULL;
	struct report *report = open_report(&output_dir);
	char *before[REPORT_PARTS];
	static const char *const names[REPORT_PARTS] = { "out/audit.txt", "out/report.jsonl",
		"out/report.xml" };

	report_close(report, &summary, NULL);
	for (size_t i = 0; i < REPORT_PARTS; i++)
		before[i] = temp_read(names[i], NULL);
	cr_assert_eq(report_reopen(&report, output_dir, &run, &nothing, NULL), 0);
	cr_assert_not_null(report);
	cr_expect_eq(report_flush(report, NULL), 0);
	report_close(report, &summary, NULL);
	output_dir_close(output_dir);
	for (size_t i = 0; i < REPORT_PARTS; i++) {
		char *after = temp_read(names[i], NULL);

		cr_expect_str_eq(after, before[i], "%s", names[i]);
		free(before[i]);
		free(after);
	}
}

static void limit_file_size(rlim_t size)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A disk that is full for a while, simulated by a limit on file sizes. */
Test(report, full_disk_loses_no_record_that_a_later_moment_has_room_for)
{
	const struct summary_record summary = { .files = 1500, .exit = 3 };
	struct file_record file = data_file();
	struct error error = { 0 };
	struct output_dir *output_dir = NULL;
	struct report *report = open_report(&output_dir);
	unsigned reported = 0;
	int status = 0;
	char *text;

	signal(SIGXFSZ, SIG_IGN);
	limit_file_size(100000);
	while (!status && reported < 1500) {
		status = report_add(report, &file, &error);
		reported++;
	}
	cr_assert_eq(status, -EFBIG);
	cr_assert_lt(reported, 1500);
	cr_expect_eq(error.code, EXIT_IO);
	cr_expect_not_null(strstr(error.text, "/out/"), "%s", error.text);
	cr_expect_not_null(strstr(error.text, "File too large; "), "%s", error.text);
	while (reported++ < 1500)
		report_add(report, &file, NULL);
	limit_file_size(RLIM_INFINITY);
	cr_expect_eq(report_close(report, &summary, &error), 0, "%s", error.text);
	cr_expect_eq(count_lines("out/report.jsonl"), 1 + 1500 + 1);
	text = temp_read("out/report.jsonl", NULL);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		json_t *record = json_loads(line, 0, NULL);

		cr_expect_not_null(record, "%s", line);
		json_decref(record);
	}
	free(text);
	text = temp_read("out/report.xml", NULL);
	cr_expect_not_null(strstr(text, "<id>1500</id>"));
	cr_expect_not_null(strstr(text, "</dfxml>"));
	free(text);
	output_dir_close(output_dir);
}

Test(report, full_disk_that_stays_full_is_told_at_the_end)
{
	const struct summary_record summary = { .exit = 3 };
	struct file_record file = data_file();
	struct error error = { 0 };
	struct output_dir *output_dir = NULL;
	struct report *report = open_report(&output_dir);
	char *text;

	signal(SIGXFSZ, SIG_IGN);
	limit_file_size(2500);
	for (unsigned i = 0; i < 10; i++)
		report_add(report, &file, NULL);
	cr_expect_eq(report_close(report, &summary, &error), -EFBIG);
	cr_expect_not_null(strstr(error.text, "File too large"), "%s", error.text);
	limit_file_size(RLIM_INFINITY);
	text = temp_read("out/audit.txt", NULL);
	cr_expect_not_null(strstr(text, "Completed at"), "the short one is complete");
	free(text);
	output_dir_close(output_dir);
}

Test(report, owns_its_names)
{
	static const char *const own[] = { "report.jsonl", "report.xml", "audit.txt", "report.html",
		"report.data/0001.js", "report.data", "thumbs", "thumbs/p00000001.jpg", "map.bin",
		"map.bin/x", OUTPUT_DIR_CHECKPOINT };
	static const char *const free[] = { "thumb/1.jpg", "thumbs.2/1.db", "x/report.html",
		"report", "map.bin2" };

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		cr_expect(report_owns(own[i]), "%s", own[i]);
	for (size_t i = 0; i < sizeof(free) / sizeof(*free); i++)
		cr_expect_not(report_owns(free[i]), "%s", free[i]);
}
