#include "cli/images.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/memory.h"

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

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
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
	if (images->count > before)
		return 0;
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

void images_free(struct images *images)
{
	for (size_t i = 0; i < images->count; i++)
		free(images->paths[i]);
	free(images->paths);
	*images = (struct images){ 0 };
}
