/*
 * A folder of evidence holds more than images, and not every image is called as images are. So each
 * file is taken for what it is, its content examined where its name does not say it, and what is not
 * taken is kept with the reason: an image that was overlooked must not look like one without files.
 */
#include "cli/images.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "evidence/image.h"
#include "evidence/recognise.h"

/* Lines about what was not taken. */
#define LOGGED_MAX 20
/* Folders in folders. */
#define DEPTH_MAX 64

/* Extensions of images and of the first segments of sets. Case does not matter. */
static const char *const extensions[] = { "e01", "s01", "ex01", "raw", "dd", "img", "image", "bin",
	"001", "000", "0001", "aa", "aaa", "dmg", "iso", "vmdk", "vhd", "vhdx", "qcow2", "vdi",
	"aff", "afd", "afm", "mem", "dump" };

static void add_path(struct images *images, char *path)
{
	images->paths =
		xgrow(images->paths, &images->capacity, images->count, sizeof(*images->paths));
	images->paths[images->count++] = path;
}

/* Takes over path and reason. */
static void leave_out(struct images *images, char *path, char *reason, bool found)
{
	images->not_taken = xgrow(images->not_taken, &images->not_taken_capacity,
		images->not_taken_count, sizeof(*images->not_taken));
	images->not_taken[images->not_taken_count++] =
		(struct image_not_taken){ path, reason, found };
}

/* ---- folders ------------------------------------------------------------------------------- */

static bool is_image_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

	if (!dot || (slash && dot <= slash + 1))
		return false;
	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++)
		if (strcasecmp(dot + 1, extensions[i]) == 0)
			return true;
	return false;
}

/* The carved files in it may be images, but are not evidence. */
static bool is_output_folder(const char *folder)
{
	static const char *const names[] = { "report.jsonl", "batch.json" };
	bool found = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *path = xasprintf("%s/%s", folder, names[i]);

		found |= access(path, F_OK) == 0;
		free(path);
	}
	return found;
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int search_folder(
	struct images *images, const char *folder, unsigned depth, struct error *error);

/* Takes over path. */
static int add_inner_folder(
	struct images *images, char *path, bool is_link, unsigned depth, struct error *error)
{
	const char *reason = !images->recursive       ? "a folder; --recursive searches it, too"
			     : is_link                ? "a link to a folder"
			     : depth == DEPTH_MAX     ? "a folder in too many folders"
			     : is_output_folder(path) ? "an output folder of burin"
						      : NULL;
	int status;

	if (reason) {
		leave_out(images, path, xstrdup(reason), true);
		return 0;
	}
	status = search_folder(images, path, depth + 1, error);
	free(path);
	return status;
}

/* Takes over path. */
static int add_entry(struct images *images, char *path, unsigned depth, struct error *error)
{
	struct stat link, info;
	const char *reason = NULL;
	char *first = NULL;

	if (lstat(path, &link) || stat(path, &info))
		reason = "it leads nowhere";
	else if (S_ISDIR(info.st_mode))
		return add_inner_folder(images, path, S_ISLNK(link.st_mode), depth, error);
	else if (!S_ISREG(info.st_mode))
		reason = "neither a file nor a folder";
	else if ((first = image_first_segment(path)))
		; /* images_finish says to which image it belongs */
	else if (!is_image_name(path) && !recognise_image(path))
		reason = info.st_size ? "not recognised as an image" : "it is empty";
	free(first);
	if (reason)
		leave_out(images, path, xstrdup(reason), true);
	else
		add_path(images, path);
	return 0;
}

static int search_folder(
	struct images *images, const char *folder, unsigned depth, struct error *error)
{
	size_t len = strlen(folder);
	struct dirent **entries;
	int count = scandir(folder, &entries, is_entry, by_name), status = 0;

	if (count < 0)
		return error_set(error, EXIT_IO, errno, "cannot list the folder %s: %s", folder,
			strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!status)
			status = add_entry(images,
				xasprintf("%s%s%s", folder,
					len && folder[len - 1] == '/' ? "" : "/",
					entries[i]->d_name),
				depth, error);
		free(entries[i]);
	}
	free(entries);
	return status;
}

static int add_folder(struct images *images, const char *folder, struct error *error)
{
	size_t before = images->count;
	int status = search_folder(images, folder, 0, error);

	images->folders = true;
	if (status || images->count > before)
		return status;
	return error_set(error, EXIT_IO, EINVAL,
		"the folder %s has no file that is an image by its content or its name (disk.E01, "
		"disk.dd, disk.001, ...)%s; name its images one by one",
		folder, images->recursive ? "" : "; --recursive searches the folders in it, too");
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

static int refuse_list(const char *list, struct error *error)
{
	return error_set(error, EXIT_USAGE, EINVAL,
		"%s is not a list of images, because it is not text; -i (--list) takes a file with "
		"one image per line, and an image itself is given without -i",
		list);
}

/* Reads the whole list before anything of it is opened, so that an image that was given for a list is
 * refused, and nothing that its bytes may name is looked at. Ends each line with a zero. */
static int read_list(struct strbuf *text, const char *list, FILE *stream, struct error *error)
{
	size_t line_len = 0;
	int c;

	while ((c = getc(stream)) != EOF) {
		line_len = c == '\n' ? 0 : line_len + 1;
		if (c == '\0' || line_len > PATH_MAX)
			return refuse_list(list, error);
		strbuf_bytes(text, c == '\n' ? "" : &(char){ (char)c }, 1);
	}
	strbuf_bytes(text, "", 1);
	if (!ferror(stream))
		return 0;
	return error_set(error, EXIT_USAGE, errno, "cannot read the list of images %s: %s", list,
		strerror(errno));
}

/* Without blanks and a carriage return around it; "" for a comment. */
static char *trim_line(char *line)
{
	size_t len;

	line += strspn(line, " \t\r");
	for (len = strlen(line); len && strchr(" \t\r", line[len - 1]); len--)
		line[len - 1] = '\0';
	return *line == '#' ? line + len : line;
}

int images_add_list(struct images *images, const char *list, struct error *error)
{
	FILE *stream = strcmp(list, "-") == 0 ? stdin : fopen(list, "re");
	struct strbuf text = { 0 };
	int status;

	if (!stream)
		return error_set(error, EXIT_USAGE, errno, "cannot read the list of images %s: %s",
			list, strerror(errno));
	status = read_list(&text, list, stream, error);
	for (size_t at = 0, next; at < text.len && !status; at = next) {
		char *line = text.bytes + at;

		next = at + strlen(line) + 1;
		line = trim_line(line);
		status = *line ? images_add(images, line, error) : 0;
	}
	strbuf_free(&text);
	if (stream != stdin)
		fclose(stream);
	return status;
}

/* ---- the whole list ------------------------------------------------------------------------ */

static bool has_path(const struct images *images, const char *path)
{
	for (size_t i = 0; i < images->count; i++)
		if (!strcmp(images->paths[i], path))
			return true;
	return false;
}

/* Calls leave with each path and the reason why it is not an image of its own (which the caller of
 * `reason_of` takes over), and keeps the others in their order. */
static void sift(
	struct images *images, char *(*reason_of)(struct images *, size_t, void *), void *arg)
{
	size_t kept = 0;
	char **reasons = xcalloc(images->count ? images->count : 1, sizeof(*reasons));

	for (size_t i = 0; i < images->count; i++)
		reasons[i] = reason_of(images, i, arg);
	for (size_t i = 0; i < images->count; i++) {
		if (reasons[i])
			leave_out(images, images->paths[i], reasons[i], false);
		else
			images->paths[kept++] = images->paths[i];
	}
	images->count = kept;
	free(reasons);
}

static char *is_later_segment(struct images *images, size_t number, void *arg)
{
	char *first = image_first_segment(images->paths[number]), *reason = NULL;

	(void)arg;
	if (first && has_path(images, first))
		reason = xasprintf("a later segment of %s", first);
	free(first);
	return reason;
}

/* The files that are known, and which image each belongs to. */
struct known_file {
	dev_t device;
	ino_t inode;
	const char *path;
	bool is_part; /* of the image at path; else it is the image */
};

struct known_files {
	struct known_file *items;
	size_t count, capacity;
};

static void note_file(struct known_files *files, const char *file, const char *path, bool is_part)
{
	struct stat info;

	if (stat(file, &info) || !S_ISREG(info.st_mode))
		return;
	files->items = xgrow(files->items, &files->capacity, files->count, sizeof(*files->items));
	files->items[files->count++] =
		(struct known_file){ info.st_dev, info.st_ino, path, is_part };
}

static char *is_known_file(struct images *images, size_t number, void *arg)
{
	struct known_files *files = arg;
	const char *path = images->paths[number];
	struct stat info;

	if (stat(path, &info) || !S_ISREG(info.st_mode))
		return NULL;
	for (size_t i = 0; i < files->count; i++) {
		const struct known_file *file = &files->items[i];

		if (info.st_dev == file->device && info.st_ino == file->inode)
			return xasprintf(file->is_part
						 ? "a part of %s"
						 : "the same file as %s, which is carved once",
				file->path);
	}
	note_file(files, path, path, false);
	return NULL;
}

/* The files of data that a VMDK's description names have its extension, too. */
static void note_parts(const struct images *images, struct known_files *files)
{
	for (size_t i = 0; i < images->count; i++) {
		const char *path = images->paths[i], *dot = strrchr(path, '.');
		struct image *image;

		if (!dot || strcasecmp(dot, ".vmdk") || image_open(&image, path, NULL))
			continue;
		for (size_t k = 1; k < image_info(image)->path_count; k++)
			note_file(files, image_info(image)->paths[k], path, true);
		image_close(image);
	}
}

void images_finish(struct images *images)
{
	struct known_files files = { 0 };

	sift(images, is_later_segment, NULL);
	note_parts(images, &files);
	sift(images, is_known_file, &files);
	free(files.items);
}

static void add_found(void *context, char *path)
{
	add_path(context, path);
}

/* An image with nothing in it that opens may be one for which the key is another. loud: it is so with all
 * of them. */
static void say_nothing_found(const char *path, const struct inner_wanted *wanted, bool loud)
{
	const char *what = wanted->volumes
				   ? "no LVM, no array, no compressed or sparse files, and no "
				     "encrypted volume for which there is a key"
				   : "no such shadow copy";

	if (loud)
		log_warn("%s: there is nothing in it that can be opened: %s", path, what);
	else
		log_info("%s: there is nothing in it that can be opened: %s", path, what);
}

/* Of a path that names an inner image nothing more is opened. */
void images_open(struct images *images, const struct inner_wanted *wanted)
{
	struct inner_beside beside = { .paths = images->paths, .count = images->count };
	struct inner_wanted among = *wanted;
	struct images all = { 0 };
	bool *empty = xcalloc(images->count ? images->count : 1, sizeof(*empty));

	among.beside = &beside;
	for (size_t i = 0; i < images->count; i++) {
		char *path = images->paths[i];

		add_path(&all, path);
		if (inner_is_path(path))
			continue;
		inner_find(path, &among, add_found, &all);
		empty[i] = all.paths[all.count - 1] == path;
	}
	for (size_t i = 0; i < images->count; i++)
		if (empty[i])
			say_nothing_found(images->paths[i], wanted, all.count == images->count);
	free(empty);
	free(beside.members);
	free(images->paths);
	images->paths = all.paths;
	images->count = all.count;
	images->capacity = all.capacity;
}

void images_log(const struct images *images)
{
	size_t logged = 0, count = 0;

	for (size_t i = 0; i < images->not_taken_count; i++) {
		const struct image_not_taken *each = &images->not_taken[i];

		if (!each->found)
			log_info("%s: not taken as an image of its own: %s", each->path,
				each->reason);
		else if (count++ < LOGGED_MAX && ++logged)
			log_warn("%s: not taken for an image: %s", each->path, each->reason);
	}
	if (count > logged)
		log_warn("%zu more were not taken for images; batch.json lists them all",
			count - logged);
}

void images_free(struct images *images)
{
	for (size_t i = 0; i < images->count; i++)
		free(images->paths[i]);
	free(images->paths);
	for (size_t i = 0; i < images->not_taken_count; i++) {
		free(images->not_taken[i].path);
		free(images->not_taken[i].reason);
	}
	free(images->not_taken);
	*images = (struct images){ 0 };
}
