#include "report/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "output/dirfd.h"
#include "report/folder.h"
#include "report/report.h"
#include "report/report_reader.h"
#include "base/text.h"

struct verify {
	int dir_fd;
	void (*each)(void *context, const char *name, enum verify_state state, const char *detail);
	void *context;
	struct verify_counts *counts;
	struct names listed; /* sorted before the folder is walked */
};

const char *verify_state_name(enum verify_state state)
{
	static const char *const names[VERIFY_STATES] = { "ok", "ok (size only)", "missing",
		"size differs", "hash differs", "unreadable", "not in the report" };

	return names[state];
}

bool verify_is_clean(const struct verify_counts *counts)
{
	for (int state = VERIFY_MISSING; state < VERIFY_STATES; state++)
		if (counts->files[state])
			return false;
	return true;
}

static void report_state(
	struct verify *verify, const char *name, enum verify_state state, const char *detail)
{
	char *clean = text_clean_copy(name);

	verify->counts->files[state]++;
	verify->each(verify->context, clean, state, detail);
	free(clean);
}

/* ---- files of the report ------------------------------------------------------------------- */

/* Which of the reported hashes differs, or NULL. */
static const char *different_hash(const struct hashes *reported, const struct hashes *found)
{
	if (strcmp(reported->md5, found->md5) != 0)
		return "MD5";
	if (strcmp(reported->sha1, found->sha1) != 0)
		return "SHA-1";
	if (strcmp(reported->sha256, found->sha256) != 0)
		return "SHA-256";
	return NULL;
}

static void check_content(struct verify *verify, const struct file_record *file, int fd)
{
	const struct hashes *reported = &file->hashes;
	uint32_t mask = (*reported->md5 ? HASH_MD5 : 0u) | (*reported->sha1 ? HASH_SHA1 : 0u) |
			(*reported->sha256 ? HASH_SHA256 : 0u);
	struct hasher *hasher;
	struct hashes found;
	const char *different;
	char detail[64];
	int status;

	if (!mask) {
		report_state(verify, file->path, VERIFY_SIZE_ONLY, "");
		return;
	}
	hasher = hasher_new(mask);
	status = folder_hash(fd, hasher, &verify->counts->bytes);
	hasher_finish(hasher, &found);
	hasher_free(hasher);
	different = different_hash(reported, &found);
	snprintf(detail, sizeof(detail), "%s differs", different ? different : "");
	if (status)
		report_state(verify, file->path, VERIFY_UNREADABLE, strerror(-status));
	else if (different)
		report_state(verify, file->path, VERIFY_HASH, detail);
	else
		report_state(verify, file->path, VERIFY_OK, "");
}

static void check_file(struct verify *verify, const struct file_record *file)
{
	/* O_NONBLOCK: a named pipe must not block us. */
	int fd = dirfd_open(verify->dir_fd, file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, false);
	struct stat info;
	char detail[96];

	if (fd == -ENOENT) {
		report_state(verify, file->path, VERIFY_MISSING, "");
		return;
	}
	if (fd < 0) {
		report_state(verify, file->path, VERIFY_UNREADABLE,
			fd == -ELOOP ? "a symbolic link" : strerror(-fd));
		return;
	}
	if (fstat(fd, &info)) {
		report_state(verify, file->path, VERIFY_UNREADABLE, strerror(errno));
	} else if (!S_ISREG(info.st_mode)) {
		report_state(verify, file->path, VERIFY_UNREADABLE, "not a plain file");
	} else if ((uint64_t)info.st_size != file->length) {
		snprintf(detail, sizeof(detail), "%" PRIu64 " bytes instead of %" PRIu64,
			(uint64_t)info.st_size, file->length);
		report_state(verify, file->path, VERIFY_SIZE, detail);
	} else {
		check_content(verify, file, fd);
	}
	close(fd);
}

static int check_files(struct verify *verify, struct report_reader *report, struct error *error)
{
	struct file_record file;
	int status;

	while ((status = report_reader_next(report, &file, error)) > 0) {
		names_add(&verify->listed, file.path);
		if (file.written)
			check_file(verify, &file);
	}
	verify->counts->run_was_complete = report_reader_saw_summary(report);
	return status;
}

/* ---- what else is there -------------------------------------------------------------------- */

static void report_unreadable(void *context, const char *path, int errnum)
{
	report_state(context, path, VERIFY_UNREADABLE, strerror(errnum));
}

static void report_unlisted(struct verify *verify)
{
	struct names all = { 0 };

	names_sort(&verify->listed);
	folder_list(verify->dir_fd, &all, report_unreadable, verify);
	for (size_t i = 0; i < all.count; i++)
		if (!report_owns(all.items[i]) && !names_hold(&verify->listed, all.items[i]))
			report_state(verify, all.items[i], VERIFY_UNLISTED, "");
	names_free(&all);
}

static int verify_report(struct verify *verify, const char *path, struct error *error)
{
	struct report_reader *report;
	int status = report_reader_open(&report, verify->dir_fd, jsonl_reporter.file_name, error);

	if (status == -ENOENT)
		return error_set(error, EXIT_IO, ENOENT,
			"'%s' holds no %s: it is not an output folder of burin", path,
			jsonl_reporter.file_name);
	if (status)
		return status;
	if (report_reader_run(report)->dry_run)
		status = error_set(error, EXIT_USAGE, EINVAL,
			"'%s' is of a dry run: there are no files to verify", path);
	else
		status = check_files(verify, report, error);
	if (!status)
		report_unlisted(verify);
	report_reader_close(report);
	return status;
}

int verify_folder(const char *path,
	void (*each)(void *context, const char *name, enum verify_state state, const char *detail),
	void *context, struct verify_counts *counts, struct error *error)
{
	struct verify verify = { .each = each, .context = context, .counts = counts };
	char *clean = text_clean_copy(path);
	int status;

	*counts = (struct verify_counts){ 0 };
	verify.dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (verify.dir_fd < 0) {
		status = error_set(error, EXIT_IO, errno, "cannot open the folder '%s': %s", clean,
			strerror(errno));
	} else {
		status = verify_report(&verify, clean, error);
		names_free(&verify.listed);
		close(verify.dir_fd);
	}
	free(clean);
	return status;
}
