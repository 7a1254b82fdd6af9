/* An output folder against its report. */
#include "report/verify.h"

#include <errno.h>

#include "report_data.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define RUN "{\"record\":\"run\",\"schema\":1,\"image\":{\"size\":100000}}\n"
#define ENTRY(path, length, hashes) \
	"{\"record\":\"file\",\"path\":\"" path \
	"\",\"type\":\"t\",\"offset\":0,\"length\":" length ",\"runs\":[[0," length \
	"]],\"hashes\":{" hashes "}}\n"

TestSuite(verify, .init = temp_make, .fini = temp_remove);

static char noted[4096];

static void note(void *context, const char *name, enum verify_state state, const char *detail)
{
	cr_expect_eq(context, noted);
	sprintf(noted + strlen(noted), "%s: %s%s%s\n", name, verify_state_name(state),
		*detail ? ": " : "", detail);
}

static struct verify_counts check(const char *name, const char *expected)
{
	struct verify_counts counts;
	struct error error = { 0 };

	noted[0] = '\0';
	cr_expect_eq(
		verify_folder(temp_at(name), note, noted, &counts, &error), 0, "%s", error.text);
	cr_expect_eq(error.code, 0);
	cr_expect_str_eq(noted, expected);
	return counts;
}

static void make_folder(const char *report)
{
	cr_assert_eq(mkdir(temp_at("out"), 0755), 0);
	cr_assert_eq(mkdir(temp_at("out/t"), 0755), 0);
	temp_write("out/report.jsonl", report, strlen(report));
	temp_write("out/audit.txt", "", 0);
	temp_write("out/report.xml", "", 0);
}

Test(verify, clean_folder)
{
	struct verify_counts counts;

	make_folder(RUN ENTRY(
		"t/1", "3", "\"md5\":\"900150983cd24fb0d6963f7d28e17f72\",\"sha256\":\"" ABC "\"")
			ENTRY("t/2", "3", "\"sha1\":\"A9993E364706816ABA3E25717850C26C9CD0D89D\"")
				ENTRY("t/0", "2", "") "{\"record\":\"summary\"}\n");
	temp_write("out/t/1", "abc", 3);
	temp_write("out/t/2", "abc", 3);
	temp_write("out/t/0", "xy", 2);
	counts = check("out", "t/1: ok\nt/2: ok\nt/0: ok (size only)\n");
	cr_expect(verify_is_clean(&counts));
	cr_expect_eq(counts.files[VERIFY_OK], 2);
	cr_expect_eq(counts.files[VERIFY_SIZE_ONLY], 1);
	cr_expect_eq(counts.bytes, 6);
	cr_expect(counts.run_was_complete);
}

Test(verify, everything_that_can_be_wrong)
{
	static const enum verify_state wrong[] = { VERIFY_MISSING, VERIFY_SIZE, VERIFY_HASH,
		VERIFY_UNREADABLE, VERIFY_UNLISTED };
	struct verify_counts counts;

	make_folder(RUN ENTRY("t/gone", "3", "") ENTRY("no/folder", "3", "") ENTRY("t/longer", "3",
		"") ENTRY("t/shorter", "3", "\"sha256\":\"" ABC "\"") ENTRY("t/other", "3",
		"\"sha256\":\"" ABC "\"") ENTRY("t/link", "3", "\"sha256\":\"" ABC "\"")
			ENTRY("d/x", "3", "\"sha256\":\"" ABC "\"") ENTRY("t/pipe", "3", "")
				ENTRY("t/dir", "3", ""));
	temp_write("out/t/longer", "abcd", 4);
	temp_write("out/t/shorter", "ab", 2);
	temp_write("out/t/other", "abd", 3);
	temp_write("secret", "abc", 3);
	cr_assert_eq(symlink("../../secret", temp_at("out/t/link")), 0);
	cr_assert_eq(mkdir(temp_at("outside"), 0755), 0);
	temp_write("outside/x", "abc", 3);
	cr_assert_eq(symlink("../outside", temp_at("out/d")), 0);
	cr_assert_eq(mkfifo(temp_at("out/t/pipe"), 0600), 0);
	cr_assert_eq(mkdir(temp_at("out/t/dir"), 0755), 0);
	temp_write("out/zzz", "", 0);
	temp_write("out/t/extra\n", "", 0);
	temp_write("out/t/audit.txt", "", 0);
	counts = check("out", "t/gone: missing\n"
			      "no/folder: missing\n"
			      "t/longer: size differs: 4 bytes instead of 3\n"
			      "t/shorter: size differs: 2 bytes instead of 3\n"
			      "t/other: hash differs: SHA-256 differs\n"
			      "t/link: unreadable: a symbolic link\n"
			      "d/x: unreadable: Not a directory\n"
			      "t/pipe: unreadable: not a plain file\n"
			      "t/dir: unreadable: not a plain file\n"
			      "d: not in the report\n"
			      "t/audit.txt: not in the report\n"
			      "t/extra\xEF\xBF\xBD: not in the report\n"
			      "zzz: not in the report\n");
	cr_expect_not(verify_is_clean(&counts));
	cr_expect_not(counts.run_was_complete);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct verify_counts one = { 0 };

		one.files[wrong[i]] = 1;
		cr_expect_not(verify_is_clean(&one));
		cr_expect_gt(counts.files[wrong[i]], 0);
	}
}

Test(verify, one_bit_in_a_large_file)
{
	size_t len = (3 << 20) + 17;
	char *bytes = calloc(1, len), *line;
	struct hasher *hasher = hasher_new(HASH_SHA256);
	struct hashes hashes;
	struct verify_counts counts;

	hasher_update(hasher, bytes, len);
	hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	cr_assert_gt(asprintf(&line,
			     "{\"record\":\"run\",\"schema\":1,\"image\":{\"size\":100000000}}\n"
			     "{\"record\":\"file\",\"path\":\"t/"
			     "1\",\"type\":\"t\",\"offset\":0,\"length\":%zu,"
			     "\"runs\":[[0,%zu]],\"hashes\":{\"sha256\":\"%s\"}}\n",
			     len, len, hashes.sha256),
		0);
	make_folder(line);
	temp_write("out/t/1", bytes, len);
	counts = check("out", "t/1: ok\n");
	cr_expect_eq(counts.bytes, len);
	bytes[len - 1] ^= 1;
	temp_write("out/t/1", bytes, len);
	check("out", "t/1: hash differs: SHA-256 differs\n");
	free(line);
	free(bytes);
}

Test(verify, what_a_run_wrote)
{
	struct run_record run = data_run();
	struct verify_counts counts;

	data_write("out", &run, 2);
	counts = check("out", "png/0.png: missing\npng/1.png: missing\n");
	cr_expect(counts.run_was_complete);
}

static void expect_error(const char *name, int status, const char *words)
{
	struct verify_counts counts;
	struct error error = { 0 };

	noted[0] = '\0';
	cr_expect_eq(verify_folder(temp_at(name), note, noted, &counts, &error), status, "%s",
		error.text);
	cr_expect_neq(error.code, 0);
	cr_expect_not_null(strstr(error.text, words), "%s", error.text);
}

Test(verify, errors)
{
	struct run_record run = data_run();

	expect_error("nothing", -ENOENT, "cannot open the folder");
	temp_write("file", "", 0);
	expect_error("file", -ENOTDIR, "cannot open the folder");
	cr_assert_eq(mkdir(temp_at("empty"), 0755), 0);
	expect_error(
		"empty", -ENOENT, "holds no report.jsonl: it is not an output folder of burin");
	cr_assert_eq(symlink("../file", temp_at("empty/report.jsonl")), 0);
	expect_error("empty", -ELOOP, "cannot open the report");
	make_folder(RUN ENTRY("../escape", "3", ""));
	expect_error("out", -EINVAL, "report.jsonl:2: 'path' must be relative");
	cr_expect_str_eq(noted, "");
	data_options.dry_run = true;
	data_write("dry", &run, 1);
	expect_error("dry", -EINVAL, "is of a dry run: there are no files to verify");
}
