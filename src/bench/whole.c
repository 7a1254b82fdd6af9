#include "bench/whole.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "evidence/image.h"

#define FILE_LINE "{\"record\":\"file\""

/* ---- the folder ---------------------------------------------------------------------------- */

char *bench_folder_name(void)
{
	const char *base = getenv("TMPDIR");

	return xasprintf("%s/burin-bench-XXXXXX", base && *base ? base : "/tmp");
}

int bench_folder_make(struct bench_folder *folder, struct error *error)
{
	folder->path = bench_folder_name();
	if (mkdtemp(folder->path))
		return 0;
	error_set(error, EXIT_IO, errno,
		"cannot make the folder %s: %s; set TMPDIR to a folder that can be written to",
		folder->path, strerror(errno));
	free(folder->path);
	folder->path = NULL;
	return -EIO;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info;
	(void)type;
	(void)walk;
	remove(path);
	return 0;
}

static void remove_all(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void bench_folder_remove(struct bench_folder *folder)
{
	if (folder->path)
		remove_all(folder->path);
	free(folder->path);
	folder->path = NULL;
}

char *bench_folder_write(
	const struct bench_folder *folder, const struct bench_text *text, struct error *error)
{
	char *path = xasprintf("%s/data", folder->path);
	FILE *file = fopen(path, "wbe");
	bool good = file && fwrite(text->bytes, 1, text->len, file) == text->len;

	if (file && fclose(file))
		good = false;
	if (good)
		return path;
	error_set(error, EXIT_IO, errno,
		"cannot write %zu bytes to %s: %s; set TMPDIR to a folder with room for them",
		text->len, path, strerror(errno));
	remove(path);
	free(path);
	return NULL;
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t hash_line(uint64_t hash, const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)line[i]) * 0x100000001b3u;
	return hash;
}

/* The lines about files, their order included. */
static int read_lines(struct hit_tally *lines, const char *report, struct error *error)
{
	FILE *file = fopen(report, "re");
	char *line = NULL;
	size_t capacity = 0;
	ssize_t len;
	int failed;

	if (!file)
		return error_set(
			error, EXIT_IO, errno, "cannot read %s: %s", report, strerror(errno));
	*lines = (struct hit_tally){ 0, 0xcbf29ce484222325u };
	while ((len = getline(&line, &capacity, file)) > 0) {
		if (strncmp(line, FILE_LINE, strlen(FILE_LINE)) != 0)
			continue;
		lines->count++;
		lines->sum = hash_line(lines->sum, line, (size_t)len);
	}
	failed = ferror(file);
	free(line);
	fclose(file);
	return failed ? error_set(error, EXIT_IO, EIO, "cannot read %s", report) : 0;
}

int bench_whole_run(struct bench_whole *whole, const struct run_options *options, const char *image,
	const struct bench_folder *folder, struct error *error)
{
	char *output = xasprintf("%s/run", folder->path);
	char *report = xasprintf("%s/report.jsonl", output);
	int code = run_carve(options, image, output, &whole->sums);
	int status = 0;

	if (code > EXIT_PROBLEMS)
		status = error_set(error, code < EXIT_NO_ENGINE ? code : EXIT_NO_ENGINE, EIO,
			"the run ended with exit code %d", code);
	else
		status = read_lines(&whole->lines, report, error);
	remove_all(output);
	free(report);
	free(output);
	return status;
}

/* ---- the reader ---------------------------------------------------------------------------- */

static int read_slots(struct reader *reader, uint64_t *len)
{
	struct reader_slot *slot;
	int status;

	*len = 0;
	while ((status = reader_next(reader, &slot)) == 1) {
		*len += slot->len;
		reader_release(reader, slot);
	}
	return status;
}

double bench_read_file(
	const char *path, const struct reader_options *options, uint64_t *len, struct error *error)
{
	double from;
	struct reader *reader;
	struct image *image;
	int status = image_open(&image, path, error);

	if (status)
		return status;
	from = clock_seconds();
	status = reader_open(&reader, image, options, error);
	if (!status) {
		status = read_slots(reader, len);
		if (status)
			error_set(error, EXIT_IO, -status, "cannot read %s: %s", path,
				strerror(-status));
		reader_close(reader);
	}
	image_close(image);
	return status ? status : clock_seconds() - from;
}
