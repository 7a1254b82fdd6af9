/* Chooses the reader by the report's first bytes, and sorts what it has read. */
#include "compare/listing.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

#define HEAD_LEN 4096

const char *listing_tool_name(enum listing_tool tool)
{
	static const char *const names[] = { "burin", "Scalpel", "Foremost", "PhotoRec", "DFXML" };

	return names[tool];
}

/* ---- making -------------------------------------------------------------------------------- */

void listing_set(char **place, const char *text)
{
	free(*place);
	*place = text_clean_copy(text ? text : "");
}

struct listed *listing_add(struct listing *listing)
{
	struct listed *file;

	listing->files =
		xgrow(listing->files, &listing->capacity, listing->count, sizeof(*listing->files));
	file = &listing->files[listing->count++];
	*file = (struct listed){ .status = "" };
	listing_set(&file->path, "");
	listing_set(&file->type, "");
	listing_set(&file->extension, "");
	listing_set(&file->note, "");
	return file;
}

void listing_name(struct listed *file, const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	listing_set(&file->path, path);
	listing_set(&file->extension, dot ? dot + 1 : "");
	for (char *c = file->extension; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	listing_set(&file->type, file->extension);
}

void listing_add_run(struct listed *file, uint64_t offset, uint64_t length)
{
	/* room for the next power of two */
	if (!(file->run_count & (file->run_count - 1)))
		file->runs = xreallocarray(
			file->runs, file->run_count ? file->run_count * 2 : 1, sizeof(*file->runs));
	file->runs[file->run_count++] = (struct range){ offset, length };
}

void listing_free(struct listing *listing)
{
	if (!listing)
		return;
	for (size_t i = 0; i < listing->count; i++) {
		struct listed *file = &listing->files[i];

		free(file->path);
		free(file->type);
		free(file->extension);
		free(file->note);
		free(file->runs);
	}
	free(listing->files);
	free(listing->path);
	free(listing->version);
	free(listing->image_path);
	free(listing->rules_path);
	free(listing->rules_sha256);
	free(listing->types);
	free(listing->space);
	free(listing);
}

static int by_place(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The report in a folder; any other path is the report itself. The caller frees it. */
static char *find_report(const char *path)
{
	static const char *const names[] = { "report.jsonl", "report.xml", "audit.txt", NULL };
	struct stat info;

	if (stat(path, &info) || !S_ISDIR(info.st_mode))
		return xstrdup(path);
	for (const char *const *name = names; *name; name++) {
		char *report = xasprintf("%s/%s", path, *name);

		if (access(report, F_OK) == 0)
			return report;
		free(report);
	}
	return xstrdup(path);
}

/* The first bytes of the file, ended by a zero. */
static int read_head(const char *path, char head[HEAD_LEN + 1], struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *clean = text_clean_copy(path);
	ssize_t len = fd < 0 ? -1 : read(fd, head, HEAD_LEN);
	int problem = errno;

	if (len >= 0)
		head[len] = '\0';
	else if (problem == EISDIR)
		error_set(error, EXIT_IO, problem,
			"there is no report.jsonl, report.xml or audit.txt in the folder '%.500s'; "
			"of a "
			"batch, name the folder of one image",
			clean);
	else
		error_set(error, EXIT_IO, problem, "cannot read '%.500s': %s", clean,
			strerror(problem));
	free(clean);
	if (fd >= 0)
		close(fd);
	return len < 0 ? -problem : 0;
}

static int read_by_content(struct listing *listing, const char *head, struct error *error)
{
	while (isspace((unsigned char)*head))
		head++;
	if (*head == '{')
		return listing_read_burin(listing, error);
	if (*head == '<' || strncmp(head, "\xef\xbb\xbf<", 4) == 0)
		return listing_read_dfxml(listing, error);
	if (strncmp(head, "Scalpel version", 15) == 0 || strncmp(head, "Foremost version", 16) == 0)
		return listing_read_audit(listing, error);
	if (strncmp(head, "burin version", 13) == 0)
		return error_set(error, EXIT_USAGE, EINVAL,
			"'%.500s' is burin's audit; give the report.jsonl beside it",
			listing->path);
	return error_set(error, EXIT_USAGE, EINVAL,
		"'%.500s' is not a report that burin can read: burin's report.jsonl, the "
		"audit.txt of Scalpel or Foremost, PhotoRec's report.xml",
		listing->path);
}

int listing_open(struct listing **result, const char *path, struct error *error)
{
	struct listing *listing = xcalloc(1, sizeof(*listing));
	char head[HEAD_LEN + 1];
	int status;

	listing->path = find_report(path);
	listing_set(&listing->version, "");
	listing_set(&listing->image_path, "");
	listing_set(&listing->rules_path, "");
	listing_set(&listing->rules_sha256, "");
	listing_set(&listing->types, "");
	listing_set(&listing->space, "");
	status = read_head(listing->path, head, error);
	if (!status)
		status = read_by_content(listing, head, error);
	if (status) {
		listing_free(listing);
		return status;
	}
	if (listing->count)
		qsort(listing->files, listing->count, sizeof(*listing->files), by_place);
	*result = listing;
	return 0;
}
