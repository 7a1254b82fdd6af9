#include "output/output_dir.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>

#include "base/memory.h"
#include "output/dirfd.h"
#include "temp.h"

TestSuite(output_dir, .init = temp_make, .fini = temp_remove);

static struct output_dir *open_at(const char *name)
{
	struct error error = { 0 };
	struct output_dir *output_dir = NULL;

	cr_assert_eq(output_dir_open(&output_dir, temp_at(name), &error), 0, "%s", error.text);
	return output_dir;
}

static void expect_refused(const char *path, int status, const char *words, const char *advice)
{
	struct error error = { 0 };
	struct output_dir *output_dir = NULL;

	cr_expect_eq(
		output_dir_open(&output_dir, path, &error), status, "%s: %s", path, error.text);
	cr_expect_null(output_dir);
	cr_expect_eq(error.code, EXIT_IO);
	cr_expect_not_null(strstr(error.text, words), "%s", error.text);
	cr_expect_not_null(strstr(error.text, advice), "%s", error.text);
	cr_expect_null(strchr(error.text, '\n'));
}

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	cr_assert_not_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

/* ---- opening ------------------------------------------------------------------------------- */

Test(output_dir, makes_the_folder_and_its_parents)
{
	struct output_dir *output_dir = open_at("a//b/c/");
	struct stat info;
	char *real = realpath(temp_at("a/b/c"), NULL);

	cr_assert_not_null(real);
	cr_expect_str_eq(output_dir_path(output_dir), real);
	cr_expect_eq(fstat(output_dir_fd(output_dir), &info), 0);
	cr_expect(S_ISDIR(info.st_mode));
	cr_expect_eq(count_entries(real), 0);
	free(real);
	output_dir_close(output_dir);
	output_dir_close(NULL);
}

Test(output_dir, takes_an_empty_folder_and_a_relative_path)
{
	struct error error = { 0 };
	struct output_dir *output_dir = NULL;

	cr_assert_eq(mkdir(temp_at("empty"), 0700), 0);
	cr_assert_eq(chdir(temp_path), 0);
	cr_assert_eq(output_dir_open(&output_dir, "empty", &error), 0, "%s", error.text);
	cr_expect_eq(output_dir_path(output_dir)[0], '/');
	output_dir_close(output_dir);
	cr_assert_eq(chdir("empty"), 0);
	cr_assert_eq(output_dir_open(&output_dir, ".", &error), 0, "%s", error.text);
	output_dir_close(output_dir);
	cr_assert_eq(chdir("/"), 0);
}

Test(output_dir, refuses_a_folder_that_is_not_empty)
{
	cr_assert_eq(mkdir(temp_at("full"), 0700), 0);
	temp_write("full/.hidden", "x", 1);
	expect_refused(temp_at("full"), -ENOTEMPTY, "not empty (it holds '.hidden')", "-o");
	expect_refused(temp_at("full"), -ENOTEMPTY, temp_at("full"), "new or empty folder");
}

Test(output_dir, refuses_files_and_links)
{
	temp_write("file", "x", 1);
	cr_assert_eq(mkdir(temp_at("folder"), 0700), 0);
	cr_assert_eq(symlink("folder", temp_at("link")), 0);
	cr_assert_eq(symlink("nowhere", temp_at("dangling")), 0);
	expect_refused(temp_at("file"), -ENOTDIR, "is a file, not a folder", "-o");
	expect_refused(temp_at("file/below"), -ENOTDIR, "Not a directory", "file/below");
	expect_refused(temp_at("link"), -ENOTDIR, "is a symbolic link", "folder it points to");
	expect_refused(temp_at("link///"), -ENOTDIR, "is a symbolic link", "folder it points to");
	expect_refused(temp_at("dangling"), -ENOTDIR, "is a symbolic link", "-o");
	expect_refused("", -ENOENT, "No such file", "output folder");
	cr_expect_eq(count_entries(temp_at("folder")), 0);
	cr_expect_eq(access(temp_at("nowhere"), F_OK), -1);
}

Test(output_dir, refuses_what_it_may_not_write_to)
{
	cr_assert_eq(mkdir(temp_at("closed"), 0555), 0);
	if (geteuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
	expect_refused(temp_at("closed"), -EACCES, "Permission denied", "another folder with -o");
	expect_refused(
		temp_at("closed/new"), -EACCES, "Permission denied", "another folder with -o");
	if (geteuid() != getuid())
		cr_assert_eq(seteuid(getuid()), 0);
}

Test(output_dir, second_run_is_kept_out_until_the_first_ends)
{
	struct output_dir *first = open_at("out");

	cr_assert_geq(output_dir_create(first, "x", NULL), 0);
	expect_refused(temp_at("out"), -EBUSY, "another burin run is writing to", "-o");
	output_dir_close(first);
	expect_refused(temp_at("out"), -ENOTEMPTY, "not empty", "-o");
	cr_assert_eq(unlink(temp_at("out/x")), 0);
	output_dir_close(open_at("out"));
}

Test(output_dir, names_in_messages_are_clean)
{
	cr_assert_eq(mkdir(temp_at("full"), 0700), 0);
	temp_write("full/\x1B[2J\xFF", "x", 1);
	expect_refused(temp_at("full"), -ENOTEMPTY, "holds '\xEF\xBF\xBD[2J\xEF\xBF\xBD'", "-o");
}

/* ---- names --------------------------------------------------------------------------------- */

static char *name_of(struct output_dir *output_dir, const char *type, uint64_t offset,
	const char *label, const char *extension, unsigned digits)
{
	struct path_claim claim;

	output_dir_claim(output_dir, type, offset, extension, &claim);
	return output_dir_claimed_name(&claim, offset, label, extension, digits, NULL, 0);
}

static void expect_name(struct output_dir *output_dir, const char *type, uint64_t offset,
	const char *extension, const char *expected)
{
	char *name = name_of(output_dir, type, offset, "", extension, 8);

	cr_expect_str_eq(name, expected);
	cr_expect(dirfd_path_is_plain(name), "%s", name);
	free(name);
}

Test(output_dir, names)
{
	struct output_dir *output_dir = open_at("out");

	expect_name(output_dir, "png", 12345, "png", "png/00012345.png");
	expect_name(output_dir, "png", 12345, "png", "png/00012345-2.png");
	expect_name(output_dir, "png", 12345, "apng", "png/00012345.apng");
	expect_name(output_dir, "jpg", 12345, "png", "jpg/00012345.png");
	expect_name(output_dir, "png", 12345, "png", "png/00012345-3.png");
	expect_name(output_dir, "png", 12346, "png", "png/00012346.png");
	expect_name(output_dir, "raw", 0, "", "raw/00000000");
	expect_name(output_dir, "raw", 0, "", "raw/00000000-2");
	expect_name(output_dir, "raw", 123456789012, "", "raw/123456789012");
	expect_name(output_dir, "raw", UINT64_MAX, "", "raw/18446744073709551615");
	expect_name(output_dir, "zip", 7, "tar.gz", "zip/00000007.tar.gz");
	expect_name(output_dir, "", 7, "zip", "00000007.zip");
	expect_name(output_dir, "", 7, "zip", "00000007-2.zip");
	output_dir_close(output_dir);
}

static void expect_labelled(struct output_dir *output_dir, const char *label, const char *expected)
{
	char *name = name_of(output_dir, "jpeg", 7, label, "jpg", 8);

	cr_expect_str_eq(name, expected);
	cr_expect(dirfd_path_is_plain(name), "%s", name);
	free(name);
}

Test(output_dir, labels)
{
	struct output_dir *output_dir = open_at("out");
	char *label = malloc(1001);

	memset(label, 'y', 1000);
	label[1000] = '\0';
	expect_labelled(output_dir, "Golden hour", "jpeg/00000007_Golden_hour.jpg");
	expect_labelled(output_dir, "../../etc/passwd", "jpeg/00000007-2__._.._etc_passwd.jpg");
	expect_labelled(output_dir, "\xE2\x80\xAE<script>\n", "jpeg/00000007-3_____script__.jpg");
	label[80] = '\0';
	char *expected = xasprintf("jpeg/00000007-4_%s.jpg", label);
	label[80] = 'y';
	expect_labelled(output_dir, label, expected);
	free(expected);
	free(label);
	output_dir_close(output_dir);
}

Test(output_dir, hostile_names_stay_inside)
{
	struct output_dir *output_dir = open_at("out");
	char *name;

	expect_name(output_dir, "../x", 1, "../../y", "_._x/00000001._._.._y");
	expect_name(output_dir, "..", 1, "", "_./00000001");
	expect_name(output_dir, ".hidden", 1, ".", "_hidden/00000001._");
	expect_name(output_dir, "a/b\n", 1, "\xFF", "a_b_/00000001._");
	name = malloc(1001);
	memset(name, 'x', 1000);
	name[1000] = '\0';
	free(name_of(output_dir, name, 1, "", name, 4000000000u));
	char *cut = name_of(output_dir, name, 2, "", name, 4000000000u);
	cr_expect_eq(strlen(cut), 200 + 1 + 20 + 1 + 32);
	cr_expect(dirfd_path_is_plain(cut));
	free(cut);
	free(name);
	output_dir_close(output_dir);
}

Test(output_dir, ten_thousand_files_a_folder)
{
	struct output_dir *output_dir = open_at("out");

	for (uint64_t i = 0; i < 10000; i++) {
		char *name = name_of(output_dir, "t", i, "", "x", 8);

		cr_assert_eq(strncmp(name, "t/", 2), 0, "%s", name);
		free(name);
	}
	expect_name(output_dir, "t", 9999, "x", "t.2/00009999-2.x");
	for (uint64_t i = 10001; i < 20000; i++)
		free(name_of(output_dir, "t", i, "", "x", 8));
	expect_name(output_dir, "t", 20000, "x", "t.3/00020000.x");
	expect_name(output_dir, "u", 20000, "x", "u/00020000.x");
	output_dir_close(output_dir);
}

Test(output_dir, taken_folders_are_passed_over)
{
	struct output_dir *output_dir = open_at("out");

	output_dir_reserve(output_dir, "audit.txt");
	output_dir_reserve(output_dir, "audit.txt");
	expect_name(output_dir, "audit.txt", 1, "", "audit.txt.2/00000001");
	expect_name(output_dir, "t.2", 5, "x", "t.2/00000005.x");
	for (uint64_t i = 0; i < 10000; i++)
		free(name_of(output_dir, "t", i, "", "x", 8));
	expect_name(output_dir, "t", 10000, "x", "t.3/00010000.x");
	expect_name(output_dir, "a:b", 1, "", "a_b/00000001");
	expect_name(output_dir, "a;b", 1, "", "a_b.2/00000001");
	output_dir_close(output_dir);
}

/* ---- files --------------------------------------------------------------------------------- */

Test(output_dir, creates_exclusively)
{
	struct output_dir *output_dir = open_at("out");
	struct error error = { 0 };
	int fd = output_dir_create(output_dir, "a/b/c.txt", &error);
	char *text;

	cr_assert_geq(fd, 0, "%s", error.text);
	cr_expect_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	cr_expect_eq(write(fd, "hello", 5), 5);
	close(fd);
	cr_expect_eq(output_dir_create(output_dir, "a/b/c.txt", &error), -EEXIST);
	cr_expect_eq(error.code, EXIT_IO);
	cr_expect_not_null(strstr(error.text, "out/a/b/c.txt': File exists"), "%s", error.text);
	text = temp_read("out/a/b/c.txt", NULL);
	cr_expect_str_eq(text, "hello");
	free(text);
	output_dir_remove(output_dir, "a/b/c.txt");
	cr_expect_eq(access(temp_at("out/a/b/c.txt"), F_OK), -1);
	fd = output_dir_create(output_dir, "a/b/c.txt", &error);
	cr_expect_geq(fd, 0);
	close(fd);
	output_dir_close(output_dir);
}

Test(output_dir, files_get_their_names_when_they_are_whole)
{
	struct output_dir *output_dir = open_at("out");
	struct output_dir_file file, other;
	struct error error = { 0 };
	char *text;

	cr_assert_eq(output_dir_begin(output_dir, "a/b.txt", &file, &error), 0, "%s", error.text);
	cr_assert_eq(output_dir_begin(output_dir, "a/b.txt", &other, &error), 0, "%s", error.text);
	cr_expect_eq(write(file.fd, "hello", 5), 5);
	cr_expect_eq(access(temp_at("out/a/b.txt"), F_OK), -1);
	cr_expect_eq(count_entries(temp_at("out/a")), 2);
	cr_expect_eq(output_dir_finish(output_dir, "a/b.txt", &file, &error), 0, "%s", error.text);
	cr_expect_eq(output_dir_finish(output_dir, "a/b.txt", &other, &error), -EEXIST);
	cr_expect_not_null(strstr(error.text, "out/a/b.txt': File exists"), "%s", error.text);
	text = temp_read("out/a/b.txt", NULL);
	cr_expect_str_eq(text, "hello");
	free(text);
	cr_expect_eq(count_entries(temp_at("out/a")), 1);
	cr_assert_eq(output_dir_begin(output_dir, "a/c.txt", &file, &error), 0);
	output_dir_drop(&file);
	cr_expect_eq(count_entries(temp_at("out/a")), 1);
	cr_expect_eq(output_dir_begin(output_dir, "../c.txt", &file, &error), -EINVAL);
	output_dir_close(output_dir);
}

Test(output_dir, nothing_leads_out_of_the_folder)
{
	static const char *const bad[] = { "", "/etc/x", "../x", "a/../x", "a/./x", "./x", "a//x",
		"a/", "..", ".", "a\nb", "a/\x7F" };
	struct output_dir *output_dir = open_at("out");

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = { 0 };

		cr_expect_eq(
			output_dir_create(output_dir, bad[i], &error), -EINVAL, "'%s'", bad[i]);
		cr_expect_eq(error.code, EXIT_IO);
	}
	cr_assert_eq(mkdir(temp_at("other"), 0777), 0);
	cr_assert_eq(symlink("../other", temp_at("out/link")), 0);
	cr_assert_eq(symlink("../other/x", temp_at("out/file")), 0);
	cr_expect_lt(output_dir_create(output_dir, "link/x", NULL), 0);
	cr_expect_lt(output_dir_create(output_dir, "link/new/x", NULL), 0);
	cr_expect_lt(output_dir_create(output_dir, "file", NULL), 0);
	cr_expect_eq(count_entries(temp_at("other")), 0);
	temp_write("other/precious", "x", 1);
	output_dir_remove(output_dir, "link/precious");
	output_dir_remove(output_dir, "../other/precious");
	cr_expect_eq(access(temp_at("other/precious"), F_OK), 0);
	output_dir_close(output_dir);
}

struct creator {
	struct output_dir *output_dir;
	unsigned number;
	int failures;
};

static void *create_many(void *arg)
{
	struct creator *creator = arg;

	for (unsigned i = 0; i < 100; i++) {
		char name[64];
		int fd;

		snprintf(name, sizeof(name), "d%u/e%u/%u-%u", i, i % 7, i, creator->number);
		fd = output_dir_create(creator->output_dir, name, NULL);
		if (fd < 0)
			creator->failures++;
		else
			close(fd);
	}
	return NULL;
}

Test(output_dir, threads_share_new_folders)
{
	struct output_dir *output_dir = open_at("out");
	struct creator creators[4];
	pthread_t threads[4];

	for (unsigned i = 0; i < 4; i++) {
		creators[i] = (struct creator){ output_dir, i, 0 };
		cr_assert_eq(pthread_create(&threads[i], NULL, create_many, &creators[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		cr_expect_eq(creators[i].failures, 0);
	}
	cr_expect_eq(count_entries(temp_at("out")), 100);
	cr_expect_eq(count_entries(temp_at("out/d3/e3")), 4);
	output_dir_close(output_dir);
}

Test(output_dir, temporary_files_have_no_name)
{
	struct output_dir *output_dir = open_at("out");
	int first = output_dir_temporary(output_dir, NULL),
	    second = output_dir_temporary(output_dir, NULL);
	char text[4] = "";

	cr_assert_geq(first, 0);
	cr_assert_geq(second, 0);
	cr_expect_eq(count_entries(temp_at("out")), 0);
	cr_expect_eq(pwrite(first, "abc", 3, 1000000), 3);
	cr_expect_eq(pread(first, text, 3, 1000000), 3);
	cr_expect_str_eq(text, "abc");
	cr_expect_eq(pread(second, text, 3, 0), 0);
	close(first);
	close(second);
	output_dir_close(output_dir);
}

Test(output_dir, words_for_failed_writes)
{
	static const struct {
		int errnum;
		const char *words;
	} cases[] = {
		{ ENOSPC, "No space left on device; free some space or choose another folder with "
			  "-o" },
		{ EDQUOT, "your quota is used up" },
		{ EROFS, "Read-only file system; choose another folder with -o" },
		{ EFBIG, "allows no larger file" },
		{ EMFILE, "ulimit -n" },
		{ EIO, "Input/output error" },
	};
	struct output_dir *output_dir = open_at("out");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error error = { 0 };

		cr_expect_eq(output_dir_error(output_dir, "png/1.png", cases[i].errnum, &error),
			-cases[i].errnum);
		cr_expect_eq(error.code, EXIT_IO);
		cr_expect_not_null(strstr(error.text, cases[i].words), "%s", error.text);
		cr_expect_not_null(strstr(error.text, "/out/png/1.png'"), "%s", error.text);
	}
	output_dir_close(output_dir);
}
