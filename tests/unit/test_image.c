/* Opening evidence: what is refused and with which message, split sets, unreadable places. */
#include "image_case.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "tier.h"

static void begin(void)
{
	log_set_level(LOG_ERROR);
	temp_make();
}

TestSuite(image, .init = begin, .fini = temp_remove, .timeout = TEST_HANGS);

/* The error's text must contain all of the given parts. */
static void refused(const char *path, int errnum, const char *piece, const char *other)
{
	struct error error = { 0 };
	struct image *image = NULL;
	int rc = image_open(&image, path, &error);

	cr_assert_eq(rc, -errnum, "%s: %d, %s", path, rc, error.text);
	cr_assert_null(image);
	cr_assert_eq(error.code, EXIT_IO);
	cr_assert_not_null(strstr(error.text, path), "%s", error.text);
	cr_assert_not_null(strstr(error.text, piece), "no '%s' in: %s", piece, error.text);
	cr_assert_not_null(strstr(error.text, other), "no '%s' in: %s", other, error.text);
}

/* ---- what is no image ---------------------------------------------------------------------- */

Test(image, missing_file)
{
	refused(temp_at("none.raw"), ENOENT, "can't open", "No such file");
}

Test(image, folder_is_refused)
{
	refused(temp_path, EINVAL, "is a folder", "block device");
}

Test(image, empty_file_is_refused)
{
	refused(write_file("empty.E01", "", 0), ENODATA, "is empty", "");
}

Test(image, pipe_is_refused_without_waiting, .timeout = TEST_HANGS)
{
	cr_assert_eq(mkfifo(temp_at("pipe"), 0600), 0);
	refused(temp_at("pipe"), EINVAL, "is a pipe", "");
}

Test(image, socket_is_refused)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	cr_assert_eq(chdir(temp_path), 0); /* the address has room for a short name only */
	strcpy(address.sun_path, "s");
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	refused(temp_at("s"), EINVAL, "is a socket", "");
	close(fd);
}

Test(image, character_device_is_refused)
{
	refused("/dev/zero", EINVAL, "is a character device", "");
}

/* Root may read everything, so it becomes another user for a while. */
Test(image, unreadable_file)
{
	const char *path = write_file("secret.raw", "x", 1);
	uid_t user = geteuid();

	cr_assert_eq(chmod(path, 0), 0);
	if (user == 0)
		cr_assert_eq(seteuid(65534), 0);
	refused(path, EACCES, "Permission denied", "run burin as");
	cr_assert_eq(seteuid(user), 0);
}

static void refused_head(
	const char *magic, size_t len, size_t offset, const char *name, const char *advice)
{
	uint8_t bytes[2048];

	fill(bytes, sizeof(bytes), 1);
	memcpy(bytes + offset, magic, len);
	refused(write_file("some.raw", bytes, sizeof(bytes)), EMEDIUMTYPE, name, advice);
}

Test(image, containers_are_refused_by_name)
{
	refused_head("AFFLIB", 6, 0, "AFF", "affconvert");
	refused_head("QFI\xfb\0\0\0\1", 8, 0, "QCOW", "qemu-img");
	refused_head("QFI\xfb\0\0\0\3", 8, 0, "encrypted qcow2", "qemu-img");
	refused_head("\x7f\x10\xda\xbe", 4, 64, "VDI", "qemu-img");
	refused_head("EVF2\r\n\x81\0", 8, 0, "Ex01", "ewfexport");
	refused_head("LEF2\r\n\x81\0", 8, 0, "Lx01", "files");
	refused_head("LVF\t\r\n\xff\0", 8, 0, "L01", "files");
}

Test(image, tiny_files_are_raw)
{
	const char *path = write_file("tiny", "QF", 2);
	struct image *image = opened(path);

	holds(image, (const uint8_t *)"QF", 2);
	image_close(image);
}

static void broken_head(const char *magic, size_t len, const char *name)
{
	uint8_t bytes[4096];

	fill(bytes, sizeof(bytes), 1);
	memcpy(bytes, magic, len);
	refused(write_file("some.raw", bytes, sizeof(bytes)), EIO, name, "can't be read as such");
}

Test(image, containers_with_nothing_behind_their_head)
{
	broken_head("AFF10\r\n", 8, "aff");
	broken_head("KDMV", 4, "vmdk");
	broken_head("COWD", 4, "vmdk");
	broken_head("# Disk DescriptorFile\nversion=1\n", 32, "vmdk");
	broken_head("conectix", 8, "vhd");
	broken_head("vhdxfile", 8, "vhdx");
}

Test(image, changes_to_another_image_are_refused)
{
	static const char text[] = "# Disk DescriptorFile\nversion=1\nparentCID=12345678\n";
	uint8_t bytes[4096] = "conectix";

	refused(write_file("child.vmdk", text, sizeof(text)), EMEDIUMTYPE, "only the changes",
		"qemu-img");
	bytes[63] = 4;
	refused(write_file("child.vhd", bytes, sizeof(bytes)), EMEDIUMTYPE, "only the changes",
		"qemu-img");
}

Test(image, fixed_vhd_is_known_by_its_footer)
{
	uint8_t bytes[2048];
	struct image *image;

	fill(bytes, sizeof(bytes), 2);
	memcpy(bytes + 1536, "conectix", 8);
	image = opened(write_file("text.raw", bytes, sizeof(bytes))); /* a sector with that word */
	image_close(image);
	memcpy(bytes + 1536 + 12, "\0\1\0\0", 4);
	memset(bytes + 1536 + 16, 0xff, 8);
	refused(write_file("disk.raw", bytes, sizeof(bytes)), EIO, "vhd", "can't be read as such");
}

/* ---- raw ----------------------------------------------------------------------------------- */

Test(image, raw_file)
{
	uint8_t bytes[100001];
	struct image *image;
	const struct image_info *info;
	uint64_t offset, len;
	int fd;

	fill(bytes, sizeof(bytes), 3);
	image = opened(write_file("disk.raw", bytes, sizeof(bytes)));
	info = image_info(image);
	cr_assert_str_eq(info->format, "raw");
	cr_assert_eq(info->sector_size, 512);
	cr_assert_eq(info->path_count, 1);
	cr_assert_str_eq(info->paths[0], temp_at("disk.raw"));
	cr_assert_str_eq(info->stored_md5, "");
	cr_assert_eq(info->value_count, 0);
	holds(image, bytes, sizeof(bytes));
	cr_assert_eq(image_extent(image, 1000, false, &fd, &offset, &len), 0);
	cr_assert_eq(offset, 1000);
	cr_assert_eq(len, 99001);
	cr_assert_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	cr_assert_eq(image_extent(image, sizeof(bytes), false, &fd, &offset, &len), -EINVAL);
	image_close(image);
	image_close(NULL);
}

/* Parts of 700, 701, ... bytes of one pattern, named by format from number `first` on. */
static struct image *opened_parts(
	const char *format, int first, int count, uint8_t *bytes, size_t *len)
{
	char name[32];

	*len = 0;
	for (int i = 0; i < count; i++) {
		fill(bytes + *len, 700 + (size_t)i, (uint64_t)i);
		snprintf(name, sizeof(name), format, first + i);
		write_file(name, bytes + *len, 700 + (size_t)i);
		*len += 700 + (size_t)i;
	}
	snprintf(name, sizeof(name), format, first);
	return opened(temp_at(name));
}

static void is_split(const char *format, int first, int count)
{
	uint8_t bytes[20 * 800];
	size_t len;
	struct image *image = opened_parts(format, first, count, bytes, &len);

	cr_assert_str_eq(image_info(image)->format, "split raw");
	cr_assert_eq(image_info(image)->path_count, (size_t)count);
	holds(image, bytes, len);
	image_close(image);
}

Test(image, split_by_numbers)
{
	is_split("a.%03d", 1, 5);
	is_split("b.%03d", 0, 5);
	is_split("c.%02d", 1, 12);
	is_split("d.dd.%03d", 1, 3);
	is_split("e.%04d", 1, 2);
	is_split("f.a%c", 'a', 20);
	is_split("G.A%c", 'A', 3);
}

static void touch(const char *name)
{
	write_file(name, name, strlen(name));
}

/* Opens the first of the names and expects all of them, and nothing else. */
static void is_set(const char *const *names, size_t count)
{
	struct image *image;

	for (size_t i = 0; i < count; i++)
		touch(names[i]);
	image = opened(temp_at(names[0]));
	cr_assert_eq(image_info(image)->path_count, count);
	for (size_t i = 0; i < count; i++)
		cr_assert_str_eq(image_info(image)->paths[i], temp_at(names[i]));
	image_close(image);
}

Test(image, split_with_letters_rolls_over)
{
	char names[30][32];
	const char *list[30];

	for (int i = 0; i < 30; i++) {
		snprintf(names[i], sizeof(names[i]), "x.a%c%c", 'a' + i / 26, 'a' + i % 26);
		list[i] = names[i];
	}
	is_set(list, 30);
}

/* As GNU split names its output when there are more parts than two letters or digits can number. */
Test(image, split_widens_its_suffixes)
{
	static char names[26 * 25 + 2][32];
	const char *list[26 * 25 + 2];

	for (int i = 0; i < 26 * 25; i++)
		snprintf(names[i], sizeof(names[i]), "x.%c%c", 'a' + i / 26, 'a' + i % 26);
	strcpy(names[650], "x.zaaa");
	strcpy(names[651], "x.zaab");
	for (int i = 0; i < 652; i++)
		list[i] = names[i];
	is_set(list, 652);
	for (int i = 0; i < 90; i++)
		snprintf(names[i], sizeof(names[i]), "y.%02d", i);
	strcpy(names[90], "y.9000");
	strcpy(names[91], "y.9001");
	is_set(list, 92);
}

Test(image, more_than_a_thousand_parts)
{
	static char names[1100][32];
	static const char *list[1100];
	struct rlimit limit;

	for (int i = 0; i < 1100; i++) {
		snprintf(names[i], sizeof(names[i]), "disk.%03d", i + 1);
		list[i] = names[i];
	}
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 256;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < 2000)
		return; /* too few descriptors are allowed here */
	is_set(list, 1100);
}

Test(image, a_lone_first_part_is_a_raw_file)
{
	const char *name = "disk.001";

	is_set(&name, 1);
	name = "disk.aa";
	is_set(&name, 1);
	name = "disk.1";
	touch("disk.2");
	is_set(&name, 1);
}

Test(image, names_that_only_look_like_parts)
{
	const char *name = "disk.dd";

	touch("disk.aa");
	touch("disk.gz");
	is_set(&name, 1);
	name = "disk.aa";
	is_set(&name, 1);
	name = "year.2024";
	touch("year.2023");
	is_set(&name, 1);
}

Test(image, missing_middle_parts)
{
	touch("a.001");
	touch("a.003");
	refused(temp_at("a.001"), ENOENT, "is missing", "a.003");
	touch("b.001");
	touch("b.002");
	touch("b.017");
	touch("b.005");
	refused_set("b.001", "b.002 is missing", "b.005");
	touch("c.aa");
	touch("c.ab");
	touch("c.ad");
	refused_set("c.aa", "c.ab is missing", "c.ad");
}

Test(image, missing_middle_part_in_the_current_folder)
{
	struct error error = { 0 };
	struct image *image;

	touch("a.001");
	touch("a.003");
	cr_assert_eq(chdir(temp_path), 0);
	cr_assert_eq(image_open(&image, "a.001", &error), -ENOENT);
	cr_assert_not_null(strstr(error.text, "a.003"));
}

Test(image, later_parts_are_refused)
{
	touch("a.001");
	touch("a.002");
	refused(temp_at("a.002"), EINVAL, "later part", "a.001");
	touch("b.000");
	touch("b.001");
	refused(temp_at("b.001"), EINVAL, "later part", "b.000");
	touch("c.aa");
	touch("c.ab");
	touch("c.ac");
	refused(temp_at("c.ac"), EINVAL, "later part", "c.aa");
}

Test(image, bad_parts_are_refused)
{
	const char *parts[] = { "a.002", "b.002", "c.002" };
	struct error error = { 0 };
	struct image *image;

	touch("a.001");
	write_file(parts[0], "", 0);
	touch("b.001");
	cr_assert_eq(mkdir(temp_at(parts[1]), 0700), 0);
	touch("c.001");
	cr_assert_eq(mkfifo(temp_at(parts[2]), 0600), 0);
	cr_assert_eq(image_open(&image, temp_at("a.001"), &error), -ENODATA);
	cr_assert_not_null(strstr(error.text, "a.002, a part of the image, is empty"));
	cr_assert_eq(image_open(&image, temp_at("b.001"), &error), -EINVAL);
	cr_assert_not_null(strstr(error.text, "b.002 is not a regular file"));
	cr_assert_eq(image_open(&image, temp_at("c.001"), &error), -EINVAL);
	cr_assert_not_null(strstr(error.text, "c.002 is not a regular file"));
}

/* ---- what can't be read -------------------------------------------------------------------- */

/* Reads that touch [bad_from, bad_to) fail, on a descriptor without O_DIRECT those of its pages. */
off_t bad_from, bad_to;

ssize_t pread(int fd, void *buffer, size_t len, off_t offset)
{
	off_t from = bad_from, to = bad_to;

	if (to > from && !(fcntl(fd, F_GETFL) & O_DIRECT)) {
		from = from / 4096 * 4096;
		to = (to + 4095) / 4096 * 4096;
	}
	if (offset < to && from < offset + (off_t)len) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, buffer, len, offset);
}

Test(image, bad_sectors_are_read_around)
{
	static uint8_t bytes[300000], buffer[300000];
	struct image *image;
	uint64_t offset, len;
	bool direct;
	int fd;

	fill(bytes, sizeof(bytes), 4);
	image = opened(write_file("disk.raw", bytes, sizeof(bytes)));
	direct = !image_extent(image, 0, true, &fd, &offset, &len);
	bad_from = 300 * 512 + 17;
	bad_to = 300 * 512 + 18;
	cr_assert_eq(image_read_at(image, 0, buffer, sizeof(bytes)), -EIO);
	memset(bytes + (direct ? 300 * 512 : 37 * 4096), 0, direct ? 512 : 4096);
	cr_assert_eq(image_read_around(image, 0, buffer, sizeof(bytes)), direct ? 512 : 4096);
	cr_assert_arr_eq(buffer, bytes, sizeof(bytes));
	cr_assert_eq(image_read_around(image, 300 * 512 + 10, buffer, 50), 50);
	cr_assert_eq(image_read_around(image, 299 * 512, buffer, 512), direct ? 0 : 512);
	bad_from = 0;
	bad_to = 1 << 30;
	cr_assert_eq(image_read_around(image, 5, buffer, 1000), 1000);
	bad_to = 0;
	image_close(image);
}

Test(image, reading_around_the_end)
{
	uint8_t bytes[1000], buffer[2000];
	struct image *image;

	fill(bytes, sizeof(bytes), 5);
	image = opened(write_file("disk.raw", bytes, sizeof(bytes)));
	memset(buffer, 1, sizeof(buffer));
	cr_assert_eq(image_read_around(image, 900, buffer, 2000), 1900);
	cr_assert_arr_eq(buffer, bytes + 900, 100);
	for (int i = 100; i < 2000; i++)
		cr_assert_eq(buffer[i], 0);
	cr_assert_eq(image_read_around(image, 1u << 31, buffer, 10), 10);
	image_close(image);
}

Test(image, file_that_becomes_shorter)
{
	uint8_t bytes[5000], buffer[5000];
	const char *path;
	struct image *image;

	fill(bytes, sizeof(bytes), 6);
	path = write_file("disk.raw", bytes, sizeof(bytes));
	image = opened(path);
	cr_assert_eq(truncate(path, 3000), 0);
	cr_assert_eq(image_read_at(image, 0, buffer, 5000), -EIO);
	cr_assert_eq(image_read_at(image, 0, buffer, 3000), 0);
	cr_assert_eq(image_read_around(image, 0, buffer, 5000), 5000 - 2560);
	cr_assert_arr_eq(buffer, bytes, 2560);
	image_close(image);
}

Test(image, nothing_is_under_a_file)
{
	struct image *image = opened(write_file("disk.raw", "x", 1));

	cr_assert_eq(image_shares_device(image, temp_path), IMAGE_APART);
	cr_assert_eq(image_shares_device(image, "/proc"), IMAGE_APART);
	cr_assert_eq(image_shares_device(image, temp_at("none")), IMAGE_APART);
	image_close(image);
}

static void expect_change(struct image *image, const char *piece)
{
	char *changed = image_changed(image);

	cr_assert_not_null(changed);
	cr_expect_not_null(strstr(changed, piece), "%s", changed);
	free(changed);
}

Test(image, changes_meanwhile)
{
	static const struct timespec times[2] = { { 1, 0 }, { 2, 0 } };
	char bytes[4096] = "some evidence";
	const char *path = write_file("image.dd", bytes, sizeof(bytes));
	struct error error = { 0 };
	struct image *image;

	cr_assert_eq(image_open(&image, path, &error), 0, "%s", error.text);
	cr_expect_null(image_changed(image));
	cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	expect_change(image, "its time of modification is another");
	cr_assert_eq(truncate(path, 5000), 0);
	expect_change(image, "its size is another");
	cr_assert_eq(unlink(path), 0);
	expect_change(image, "another file has taken its place");
	write_file("image.dd", bytes, sizeof(bytes));
	image_close(image);
}
