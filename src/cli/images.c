#include "cli/images.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"

/* Extensions of images and of the first segments of sets. Case does not matter. */
static const char *const extensions[] = { "e01", "s01", "ex01", "raw", "dd", "img", "image", "bin",
	"001", "000", "0001", "aa", "aaa", "dmg", "iso", "vmdk", "vhd", "vhdx", "aff", "afd", "afm",
	"mem", "dump" };

static void add_path(struct images *images, char *path)
{
	images->paths =
		xgrow(images->paths, &images->capacity, images->count, sizeof(*images->paths));
	images->paths[images->count++] = path;
}

/* ---- folders ------------------------------------------------------------------------------- */

static int is_image_name(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	if (!dot || entry->d_name[0] == '.')
		return 0;
	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++)
		if (strcasecmp(dot + 1, extensions[i]) == 0)
			return 1;
	return 0;
}

/* Files that are named as left out. */
#define NAMED_MAX 20

static bool is_segment(const char *path, char *first);

static int is_other_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && !is_image_name(entry);
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Later segments belong to what was taken. */
static void say_left_out(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_other_file, by_name), left_out = 0;
	struct strbuf names = { 0 };

	for (int i = 0; i < count; i++) {
		char *path = xasprintf("%s/%s", folder, entries[i]->d_name), *first = xstrdup(path);

		if (!(is_segment(path, first) && access(first, F_OK) == 0) &&
			left_out++ < NAMED_MAX) {
			strbuf_text(&names, left_out > 1 ? ", " : "");
			strbuf_text(&names, entries[i]->d_name);
			strbuf_text(&names, is_folder(path) ? "/" : "");
		}
		free(first);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	strbuf_bytes(&names, "", 1);
	if (left_out)
		log_warn("%s: %d %s not taken for %s: %s%s", folder, left_out,
			left_out == 1 ? "entry is" : "entries are",
			left_out == 1 ? "an image" : "images", names.bytes,
			left_out > NAMED_MAX ? ", ..." : "");
	strbuf_free(&names);
}

static int add_folder(struct images *images, const char *folder, struct error *error)
{
	size_t before = images->count, len = strlen(folder);
	struct dirent **entries;
	int count = scandir(folder, &entries, is_image_name, by_name);

	if (count < 0)
		return error_set(error, EXIT_IO, errno, "cannot list the folder %s: %s", folder,
			strerror(errno));
	for (int i = 0; i < count; i++) {
		char *path = xasprintf("%s%s%s", folder, len && folder[len - 1] == '/' ? "" : "/",
			entries[i]->d_name);

		if (is_folder(path))
			free(path);
		else
			add_path(images, path);
		free(entries[i]);
	}
	free(entries);
	if (images->count > before) {
		say_left_out(folder);
		return 0;
	}
	return error_set(error, EXIT_IO, EINVAL,
		"the folder %s has no file with an image's extension (disk.E01, disk.dd, disk.001, "
		"...); name its images one by one",
		folder);
}

/* ---- words and lists ----------------------------------------------------------------------- */

static int add_matching(struct images *images, const char *pattern, struct error *error)
{
	glob_t found;
	int status = glob(pattern, 0, NULL, &found);

	if (status == GLOB_NOMATCH) { /* perhaps not a wildcard, but a name with such characters */
		add_path(images, xstrdup(pattern));
		return 0;
	}
	if (status)
		return error_set(
			error, EXIT_IO, EIO, "cannot list the files that match '%s'", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_path(images, xstrdup(found.gl_pathv[i]));
	globfree(&found);
	return 0;
}

int images_add(struct images *images, const char *word, struct error *error)
{
	struct stat info;

	if (stat(word, &info) == 0 && S_ISDIR(info.st_mode))
		return add_folder(images, word, error);
	if (lstat(word, &info) && errno == ENOENT && strpbrk(word, "*?["))
		return add_matching(images, word, error);
	add_path(images, xstrdup(word));
	return 0;
}

static int add_lines(struct images *images, const char *list, FILE *stream, struct error *error)
{
	char *line = NULL;
	size_t len = 0;
	ssize_t n;
	int status = 0;

	while (!status && (n = getline(&line, &len, stream)) > 0) {
		while (n > 0 && strchr("\r\n", line[n - 1]))
			line[--n] = '\0';
		if (n > 0)
			status = images_add(images, line, error);
	}
	if (!status && ferror(stream))
		status = error_set(error, EXIT_USAGE, errno,
			"cannot read the list of images %s: %s", list, strerror(errno));
	free(line);
	return status;
}

int images_add_list(struct images *images, const char *list, struct error *error)
{
	FILE *stream = fopen(list, "re");
	int status;

	if (!stream)
		return error_set(error, EXIT_USAGE, errno, "cannot read the list of images %s: %s",
			list, strerror(errno));
	status = add_lines(images, list, stream, error);
	fclose(stream);
	return status;
}

/* ---- the whole list ------------------------------------------------------------------------ */

/* Whether the name is that of a later segment: .E02 to .EZZ, .002 to .999. Then `first`, a copy of the
 * path, becomes the path of the first one. */
static bool is_segment(const char *path, char *first)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	size_t at = dot ? (size_t)(dot - path) : 0;

	if (!dot || (slash && dot < slash) || strlen(dot) != 4 || !isalnum((unsigned char)dot[2]) ||
		!isalnum((unsigned char)dot[3]))
		return false;
	if (isdigit((unsigned char)dot[1])) {
		if (strspn(dot + 1, "0123456789") != 3)
			return false;
		memcpy(first + at + 1, "001", 3);
	} else if (strchr("eEsS", dot[1])) {
		memcpy(first + at + 2, "01", 2);
	} else {
		return false;
	}
	return strcmp(first, path) != 0;
}

static bool has_path(const struct images *images, const char *path)
{
	for (size_t i = 0; i < images->count; i++)
		if (!strcmp(images->paths[i], path))
			return true;
	return false;
}

/* The same file, by whatever name, among the first `count`; files: what is known of each. */
static const char *same_file(const struct images *images, const struct stat *files, size_t count,
	const struct stat *file)
{
	for (size_t i = 0; i < count && S_ISREG(file->st_mode); i++)
		if (file->st_dev == files[i].st_dev && file->st_ino == files[i].st_ino)
			return images->paths[i];
	return NULL;
}

void images_finish(struct images *images)
{
	size_t kept = 0, count = images->count;
	bool *drop = xcalloc(count ? count : 1, sizeof(*drop));
	struct stat *files = xcalloc(count ? count : 1, sizeof(*files));

	for (size_t i = 0; i < count; i++) {
		char *first = xstrdup(images->paths[i]);

		drop[i] = is_segment(images->paths[i], first) && has_path(images, first);
		if (drop[i])
			log_info("%s is a later segment of %s", images->paths[i], first);
		free(first);
	}
	for (size_t i = 0; i < count; i++) {
		char *path = images->paths[i];
		const char *same;

		if (stat(path, &files[kept]))
			files[kept] = (struct stat){ 0 };
		same = drop[i] ? NULL : same_file(images, files, kept, &files[kept]);

		if (same)
			log_info("%s is %s, which is carved once", path, same);
		if (same || drop[i])
			free(path);
		else
			images->paths[kept++] = path;
	}
	images->count = kept;
	free(files);
	free(drop);
}

void images_free(struct images *images)
{
	for (size_t i = 0; i < images->count; i++)
		free(images->paths[i]);
	free(images->paths);
	*images = (struct images){ 0 };
}
